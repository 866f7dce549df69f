//! Fabrics from a few numbers: trees, grids, dragonflies and the others, one file each.

pub mod complete;
pub mod dragonfly;
pub mod grid;
pub mod hyper_x;
pub mod hypercube;
pub mod irregular;
pub mod k_ary_n_fly;
pub mod kautz;
mod parameters;
pub mod petersen;
pub mod trees;
mod wiring;
