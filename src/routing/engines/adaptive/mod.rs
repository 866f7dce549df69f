//! The engines that route while packets travel, one file each, and the geometry they share.

pub mod ascent;
pub mod cqr;
mod dimensions;
pub mod goal;
pub mod minimal;
pub mod planar_adaptive;
mod quadrants;
pub mod romm;
mod shortest;
pub mod ugal;
pub mod valiant;
pub mod xy_yx;
