//! Engines for networks of dimensions, and the tables they share.

pub mod dimension_order;
pub mod direction_order;
mod express_mesh;
mod grid_tables;
mod one_hop_dimensions;
mod rings;
