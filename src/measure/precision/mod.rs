//! How sure a number is: confidence intervals over replications and over batches, the end of the warm-up, growth.
//!
//! Everything here is a function of counters of the simulation alone, so what a run decides by it (when to
//! measure, when to stop) is the same for any number of threads and shards.

pub mod batch_means;
pub mod replications;
pub mod series;
pub mod stationarity;
pub mod warm_up;

pub use batch_means::{BatchMeans, batch_means};
pub use replications::{Interval, replications, student_t};
pub use series::{Batch, BatchSeries};
pub use warm_up::warm_up;

/// Confidence level of every interval that is reported without one.
pub const CONFIDENCE: f64 = 0.95;
