//! The routing engines, one file each; listed in [`ENGINES`](super::ENGINES).

pub mod dimension_order;
pub mod fat_tree;
pub mod min_hop;
mod rings;
mod root;
pub mod up_down;
