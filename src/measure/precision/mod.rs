//! How sure a number is: confidence intervals over replications.

pub mod replications;

pub use replications::{Interval, replications, student_t};

/// Confidence level of every interval that is reported without one.
pub const CONFIDENCE: f64 = 0.95;
