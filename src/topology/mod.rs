//! What is connected to what: topologies build a [`Graph`].
//!
//! Pure: no ECS, no clock. Reading a fabric file is the only input.

pub mod builder;
pub mod edge_list;
mod edge_list_text;
pub mod export;
mod fabric_file;
pub mod graph;
mod grid;
pub mod ibnetdiscover;
mod ibnetdiscover_records;
pub mod irregular;
pub mod irregular_generators;
pub mod k_ary_n_tree;
pub mod limits;
pub mod link_rate;
pub mod mesh;
pub mod survey;
pub mod torus;

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::units::{BitRate, Clock};
use std::path::Path;

pub use builder::GraphBuilder;
pub use graph::{Channel, ChannelTiming, Endpoint, Graph, Shape};
pub use survey::Survey;

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

    /// Rates of links that have one of their own \[bit/s\], so that a reference rate can be chosen of which
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
    entries: &[
        edge_list::ENTRY,
        ibnetdiscover::ENTRY,
        irregular::ENTRY,
        k_ary_n_tree::ENTRY,
        mesh::ENTRY,
        torus::ENTRY,
    ],
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Reference links of 10 Gbit/s, files from the folder of the repository.
    pub(crate) fn context() -> BuildContext<'static> {
        BuildContext {
            seed: 1,
            clock: Clock {
                flit_bytes: 64,
                reference_rate: 10_000_000_000,
            },
            switch_link: ChannelTiming::default(),
            host_link: ChannelTiming::default(),
            base: Path::new(env!("CARGO_MANIFEST_DIR")),
        }
    }

    /// Every registered topology, built with arguments of its own and a reference rate that fits.
    pub(crate) fn samples() -> Vec<(&'static str, Graph)> {
        let build = |entry: &'static crate::registry::Entry<BuildTopology>| {
            let text = match entry.name {
                "EdgeList" => {
                    "(links: [(0, 1), (2, 1, \"5 Gbit/s\", \"/\", \"2 cycles\")], hosts: [0, 2])"
                }
                "Ibnetdiscover" => "(file: \"assets/fabrics/loginoff_8sw.ibnetdiscover\")",
                "Irregular" => "(switches: 32, degree: 4, hosts_per_switch: 4, seed: None)",
                "KAryNTree" => "(k: 3, n: 3)",
                "Mesh" => "(radix: [4, 3])",
                "Torus" => "(radix: [4, 2, 3], hosts_per_switch: 2)",
                name => panic!("give `{name}` a sample argument here"),
            };
            let mut context = context();
            let topology = (entry.build)(Arguments { text }).unwrap();
            let mut rates = topology.own_rates(context.base).unwrap();
            rates.push(BitRate(context.clock.reference_rate));
            context.clock.reference_rate = link_rate::reference_rate(&rates).unwrap().0;
            let unknown = Arguments {
                text: "(no_such_key: 1)",
            };
            assert!((entry.build)(unknown).is_err());
            (entry.name, topology.build(&context).unwrap())
        };
        TOPOLOGIES.entries.iter().map(build).collect()
    }

    #[test]
    fn every_topology_keeps_the_rules() {
        assert!(TOPOLOGIES.names().is_sorted());
        for (topology, graph) in samples() {
            let switches = graph.switches().iter().map(|node| &node.name);
            let hosts = graph.hosts().iter().map(|node| &node.name);
            let mut names = HashSet::new();
            for name in switches.chain(hosts) {
                assert!(names.insert(name), "{topology}: {name} twice");
            }
            for id in graph.channel_ids() {
                let (channel, back) = (graph.channel(id), graph.channel(id.reverse()));
                assert_eq!((channel.from, channel.to), (back.to, back.from));
                let registered = match channel.from {
                    Endpoint::Switch(switch, port) => graph.port_channel(switch, port),
                    Endpoint::Host(host) => Some(graph.host_channel(host)),
                };
                assert_eq!(registered, Some(id), "{topology}");
            }
            assert!(
                graph
                    .switches()
                    .iter()
                    .all(|node| node.port_count <= limits::MAX_PORTS)
            );
            assert!(
                graph
                    .host_ids()
                    .all(|host| graph.attachment(host).is_some())
            );
            assert_eq!(Survey::new(&graph).components.len(), 1, "{topology}");
        }
    }
}
