//! Every engine on many graphs: promises kept, published numbers met.

mod acceptance;
pub(super) mod conformance;
pub(super) mod graphs;
mod set_up;
pub(super) mod shape_conformance;
mod static_contention;
mod timing;
