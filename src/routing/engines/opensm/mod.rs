//! Routing engines that give the same tables as OpenSM, entry by entry.
//!
//! They are for comparing with real fabrics; the engines of the parent folder have the better defaults.
//! Switches are sorted by GUID and hosts have LIDs, see [`Identities`](crate::routing::identities::Identities).
//! What OpenSM draws at random (which of several lanes of one layer a path takes, the balancing of layers) is
//! left out or done in a fixed way; each engine says so.
//!
//! There is no Nue. With several lanes its tables cannot be told from the fabric: a graph partitioner (METIS) decides
//! which destinations share a lane, draws do where OpenSM is built without it. With one lane they depend on every step of
//! its search through the channel dependencies (order of ties, ways back out of dead ends, the tree it falls back
//! on), which would have to be followed one by one; that is not done, and something like it would only look the same.
//! Tables of an OpenSM that runs Nue are read by `TableImport` and proved; `Dfsssp`, `Lash` and `UpDown` route the same
//! fabrics.

mod counting;
pub mod dfsssp;
pub mod dor;
pub mod lash;
mod lash_layers;
pub mod min_hop;
pub mod sssp;
pub(super) mod subnet;
pub mod torus_2qos;
mod torus_config;
mod torus_labels;
mod torus_placing;
mod torus_size;
pub mod up_down;

#[cfg(test)]
mod oracle;
