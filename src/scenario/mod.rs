//! Text to plan.

pub mod plan;

pub use plan::Plan;
