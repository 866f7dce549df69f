//! Virtlane: a parallel, cycle-accurate simulator of lossless cluster fabrics.

pub mod cli;
pub mod error;
pub mod ids;
pub mod qos;
pub mod references;
pub mod registry;
pub mod rng;
pub mod routing;
pub mod scenario;
pub mod topology;
pub mod traffic;
pub mod units;
