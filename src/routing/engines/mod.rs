//! The routing engines, one file each; listed in [`ENGINES`](super::ENGINES).

pub mod dimension_order;
pub mod fat_tree;
pub mod lash;
mod legal;
pub mod min_hop;
mod rings;
mod root;
pub mod segment;
pub mod spanning_tree;
pub mod turn_prohibition;
mod turns;
pub mod up_down;
mod up_order;
