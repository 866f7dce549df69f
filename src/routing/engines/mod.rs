//! The routing engines, one file each; listed in [`ENGINES`](super::ENGINES).

pub mod dimension_order;
pub mod direction_order;
pub mod dragonfly_minimal;
pub mod fat_tree;
mod grid_tables;
pub mod min_hop;
mod one_hop_dimensions;
mod rings;
mod root;
pub mod up_down;
