//! Trees, ordinary and fat, most of them special cases of one: the extended generalised fat tree.

pub mod clos;
pub mod enriched_tree;
pub mod k_ary_n_tree;
pub mod leaf_spine;
pub mod star;
pub mod tree;
pub mod xgft;
