//! Text to plan: scenario files, their changes on the command line, and what they mean.
//!
//! `Document` (text) `-> Scenario` (typed values) `-> Resolved` (plan, graph, tables, proof).

mod admissible;
mod base;
pub mod bounds;
pub mod claimed;
mod class_lanes;
pub mod credit_loops;
pub mod document;
pub mod expectation;
pub mod flow_lane;
pub mod identity;
pub mod names;
pub mod offered;
pub mod pairs;
pub mod print;
pub mod prove;
mod quick;
pub mod resolve;
pub mod round_trips;
pub mod sections;
pub mod service;
pub mod shipped;
pub mod syntax;
pub mod uncounted;

#[cfg(test)]
mod tests;

use crate::metrics;

pub use document::Document;
pub use expectation::Expectation;
pub use resolve::fluid::FluidScenario;
pub use resolve::fluid_flows::{FluidFlow, FluidFlows};
pub use resolve::{Known, Layout, Parts, Resolved, unreachable_pairs};
pub use sections::Scenario;
pub use syntax::ScenarioError;
