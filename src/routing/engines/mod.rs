//! The routing engines, one file each; listed in [`ENGINES`](super::ENGINES).

pub mod adaptive;
pub mod destination_tag;
pub mod dfsssp;
pub mod dragonfly_minimal;
pub mod fat_tree;
pub mod grid;
pub mod lash;
mod legal;
pub mod min_hop;
pub mod mp_lash;
pub mod opensm;
pub mod opensm_ftree;
mod root;
mod root_by_load;
pub mod segment;
pub mod spanning_tree;
pub mod sssp;
pub mod table_import;
mod table_lanes;
mod torn_tree;
pub mod turn_prohibition;
mod turns;
pub mod up_down;
mod up_order;
