//! Virtlane: a parallel, cycle-accurate simulator of lossless cluster fabrics.

pub mod cli;
pub mod cycle;
pub mod error;
pub mod fabric;
pub mod ids;
pub mod measure;
pub mod qos;
pub mod references;
pub mod registry;
pub mod report;
pub mod rng;
pub mod routing;
pub mod run;
pub mod scenario;
pub mod topology;
pub mod traffic;
pub mod units;
