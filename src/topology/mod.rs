//! What is connected to what: topologies build a [`Graph`].
//!
//! Pure: no ECS, no clock. Reading a fabric file is the only input.

pub mod builder;
pub mod graph;

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::units::{BitRate, Clock};
use std::path::Path;

pub use builder::GraphBuilder;
pub use graph::{Channel, ChannelTiming, Endpoint, Graph, Shape};

/// What every topology needs to know beside its own parameters.
#[derive(Clone, Copy, Debug)]
pub struct BuildContext<'a> {
    /// Seed of the scenario.
    pub seed: u64,
    /// Flit size and reference rate, for links with a rate of their own.
    pub clock: Clock,
    /// Timing of links between switches, unless the topology says otherwise.
    pub switch_link: ChannelTiming,
    /// Timing of links to hosts, unless the topology says otherwise.
    pub host_link: ChannelTiming,
    /// Folder that relative file names start from.
    pub base: &'a Path,
}

/// A way to connect switches and hosts, with its parameters.
pub trait Topology: std::fmt::Debug + Send + Sync {
    /// Builds the graph; the same parameters and context give the same graph.
    ///
    /// # Errors
    /// When the parameters or the file do not describe a graph.
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError>;

    /// Rates of links that have one of their own [bit/s], so that a reference rate can be chosen of which
    /// each is a whole fraction; empty when all links are as the context says.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn own_rates(&self, _base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        Ok(Vec::new())
    }
}

/// Makes a topology from its arguments.
pub type BuildTopology = fn(Arguments<'_>) -> Result<Box<dyn Topology>, ArgumentError>;

/// Every topology a scenario can name. New ones: one file, one `mod` line, one line here.
pub static TOPOLOGIES: Registry<BuildTopology> = Registry {
    kind: "topology",
    entries: &[],
};

/// Every way a topology can be impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A graph needs at least one switch.
    #[error("the topology has no switch")]
    Empty,
    /// A host is not cabled to a switch.
    #[error("host {host} is not connected to a switch")]
    LooseHost {
        /// Name of the host.
        host: String,
    },
    /// A link cannot be made.
    #[error("link from {from} to {to}: {reason}")]
    Link {
        /// One end.
        from: String,
        /// The other end.
        to: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A parameter makes no sense.
    #[error("`{parameter}`: {reason}")]
    Parameter {
        /// Name of the parameter as written in the scenario.
        parameter: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// A fabric file is wrong; `line` counts from 1, 0 = the whole file.
    #[error("{file}{}: {reason}", if *line == 0 { String::new() } else { format!(":{line}") })]
    File {
        /// Path as given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}
