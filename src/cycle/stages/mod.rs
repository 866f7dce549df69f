//! The stages of the core, one file each; [`cycle`](crate::cycle) has their order.

pub mod arbitrate;
pub mod consume;
pub mod credits;
pub mod cross;
pub mod deliver;
pub mod forget;
pub mod generate;
pub mod inject;
pub mod post;
pub mod receive;
pub mod route;
