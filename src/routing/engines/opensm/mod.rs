//! Routing engines that give the same tables as OpenSM, entry by entry.
//!
//! They are for comparing with real fabrics; the engines of the parent folder have the better defaults.
//! Switches are sorted by GUID and hosts have LIDs, see [`Identities`](crate::routing::identities::Identities).
//! What OpenSM draws at random (which of several lanes of one layer a path takes, the balancing of layers) is
//! left out or done in a fixed way; each engine says so.

mod counting;
pub mod dfsssp;
pub mod dor;
pub mod lash;
mod lash_layers;
pub mod min_hop;
pub mod sssp;
pub(super) mod subnet;
pub mod torus_2qos;
pub mod up_down;

#[cfg(test)]
mod oracle;
