//! What is connected to what: topologies build a [`Graph`].
//!
//! Pure: no ECS, no clock. Reading a fabric file is the only input.

pub mod faults;
pub mod formats;
pub mod generators;
pub mod graph;
pub mod structure;
pub mod survey;

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::units::{BitRate, Clock};
use generators::{grid, trees};
use std::path::Path;

pub use graph::builder::GraphBuilder;
pub use graph::link_kind::LinkKind;
pub use graph::{Channel, ChannelTiming, Endpoint, Graph, Shape};
pub use structure::Structure;
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
        trees::clos::ENTRY,
        generators::complete::ENTRY,
        grid::concentrated_mesh::ENTRY,
        generators::dragonfly::ENTRY,
        formats::edge_list::ENTRY,
        trees::enriched_tree::ENTRY,
        formats::graph_ml::ENTRY,
        generators::hyper_x::ENTRY,
        generators::hypercube::ENTRY,
        formats::ibnetdiscover::ENTRY,
        formats::ibsim::ENTRY,
        generators::irregular::ENTRY,
        generators::k_ary_n_fly::ENTRY,
        trees::k_ary_n_tree::ENTRY,
        generators::kautz::ENTRY,
        trees::leaf_spine::ENTRY,
        grid::mesh::ENTRY,
        generators::petersen::ENTRY,
        grid::ring::ENTRY,
        trees::star::ENTRY,
        grid::torus::ENTRY,
        trees::tree::ENTRY,
        trees::xgft::ENTRY,
    ],
    unclear: &[],
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
    use proptest::prelude::*;
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

    /// A graph of a registered topology, such as `Star(leaves: 3)`.
    pub(crate) fn built(text: &str, context: &BuildContext<'_>) -> Graph {
        let (name, _) = text.split_once('(').unwrap();
        let text = &text[name.len()..];
        let build = TOPOLOGIES.find(name).unwrap().build;
        let graph = build(Arguments { text }).unwrap().build(context);
        graph.unwrap_or_else(|error| panic!("{name}{text}: {error}"))
    }

    /// Every registered topology, built with arguments of its own and a reference rate that fits.
    pub(crate) fn samples() -> Vec<(&'static str, Graph)> {
        let build = |entry: &'static crate::registry::Entry<BuildTopology>| {
            let text = match entry.name {
                "EdgeList" => {
                    "(links: [(0, 1), (2, 1, \"5 Gbit/s\", \"/\", \"2 cycles\")], hosts: [0, 2])"
                }
                "Ibnetdiscover" => "(file: \"assets/fabrics/loginoff_8sw.ibnetdiscover\")",
                "Ibsim" => "(file: \"tests/opensm/irr_16_d4_s1/irr_16_d4_s1.net\")",
                "Irregular" => "(switches: 32, degree: 4, hosts_per_switch: 4, seed: None)",
                "Clos" => "(n: 3, r: 4, form: StrictlyNonBlocking, folded: false)",
                "ConcentratedMesh" => "(radix: [4, 4], express_length: 2)",
                "Complete" => "(switches: 6, hosts_per_switch: 2)",
                "Dragonfly" => "(p: 2, a: 4, h: 2, g: 5, arrangement: Palmtree)",
                "EnrichedTree" => "(k: 3, n: 3, width: 2)",
                "GraphMl" => "(file: \"tests/networks/petersen.graphml\", hosts_per_switch: 2)",
                "HyperX" => "(sizes: [3, 4], multiplicity: [2, 1], hosts_per_switch: 2)",
                "Hypercube" => "(dimensions: 4)",
                "Kautz" => "(degree: 2, k: 2)",
                "LeafSpine" => "(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)",
                "Petersen" => "(hosts_per_switch: 3)",
                "Ring" => "(switches: 5)",
                "Star" => "(leaves: 4, hosts_per_leaf: 2, parallel_links: 2)",
                "Tree" => "(arity: 2, levels: 3, parallel: [2, 4])",
                "Xgft" => "(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
                "KAryNFly" => "(k: 2, n: 4)",
                "KAryNTree" => "(k: 3, n: 3)",
                "Mesh" => "(radix: [4, 3])",
                "Torus" => "(radix: [4, 2, 3], hosts_per_switch: 2)",
                name => panic!("give `{name}` a sample argument here"),
            };
            let mut context = context();
            let topology = (entry.build)(Arguments { text }).unwrap();
            let mut rates = topology.own_rates(context.base).unwrap();
            rates.push(BitRate(context.clock.reference_rate));
            context.clock.reference_rate = graph::link_rate::reference_rate(&rates).unwrap().0;
            let unknown = Arguments {
                text: "(no_such_key: 1)",
            };
            assert!((entry.build)(unknown).is_err());
            (entry.name, topology.build(&context).unwrap())
        };
        TOPOLOGIES.entries.iter().map(build).collect()
    }

    /// What holds for every graph of every topology.
    fn assert_rules(topology: &str, graph: &Graph) {
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
                .all(|node| node.port_count <= graph::limits::MAX_PORTS)
        );
        assert!(
            graph
                .host_ids()
                .all(|host| graph.attachment(host).is_some())
        );
        assert_eq!(Survey::new(graph).components.len(), 1, "{topology}");
    }

    #[test]
    fn every_topology_keeps_the_rules() {
        assert!(TOPOLOGIES.names().is_sorted());
        for (topology, graph) in samples() {
            assert_rules(topology, &graph);
        }
    }

    /// Arguments of a topology with numbers `a`, `b` and `c`, of which some make no sense.
    fn arguments(name: &str, [a, b, c]: [u32; 3]) -> Option<String> {
        Some(match name {
            "Clos" => format!("(n: {a}, r: {b}, m: {c})"),
            "Complete" | "Ring" => format!("(switches: {a}, hosts_per_switch: {b})"),
            "ConcentratedMesh" => {
                let express = c % 2 == 0;
                format!(
                    "(radix: [{a}, {b}], block: [{c}, 2], express: {express}, express_length: {a})"
                )
            }
            "Dragonfly" => format!("(p: {a}, a: {b}, h: {c})"),
            "EnrichedTree" => format!("(k: {a}, n: {}, width: {c})", b % 4),
            "HyperX" => {
                format!("(sizes: [{a}, {b}], multiplicity: [{c}, 1], hosts_per_switch: {c})")
            }
            "Hypercube" => format!("(dimensions: {a}, hosts_per_switch: {b})"),
            "Irregular" => format!(
                "(switches: {a}, degree: {b}, links: {}, generator: Uniform)",
                a.saturating_add(c)
            ),
            "KAryNFly" | "KAryNTree" => format!("(k: {a}, n: {})", b % 4),
            "Kautz" => format!("(degree: {a}, k: {}, hosts_per_switch: {c})", b % 4),
            "LeafSpine" => {
                format!("(leaves: {a}, spines: {b}, hosts_per_leaf: {c}, parallel_links: {a})")
            }
            "Mesh" => format!("(radix: [{a}, {b}], hosts_per_switch: {c}, host_ports: LowestFree)"),
            "Star" => format!("(leaves: {a}, hosts_per_leaf: {b}, parallel_links: {c})"),
            "Torus" => format!("(radix: [{a}, {b}], hosts_per_switch: {c})"),
            "Tree" => format!("(arity: {a}, levels: {}, hosts_per_leaf: {c})", b % 4),
            "Xgft" => format!(
                "(children: [{a}, {b}, {c}], parents: [1, {c}, {a}], parallel: [1, 2, {b}])"
            ),
            _ => return None,
        })
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_proper_graph_or_an_error(
            entry in 0..TOPOLOGIES.entries.len(),
            numbers in prop::array::uniform3(0u32..9),
        ) {
            let entry = &TOPOLOGIES.entries[entry];
            if let Some(text) = arguments(entry.name, numbers) {
                let topology = (entry.build)(Arguments { text: &text }).unwrap();
                match topology.build(&context()) {
                    Ok(graph) => assert_rules(&text, &graph),
                    Err(error) => {
                        let error = error.to_string();
                        prop_assert!(error.contains("expected"), "{}{}: {}", entry.name, text, error);
                    }
                }
            }
        }

        #[test]
        fn huge_numbers_are_refused(
            entry in 0..TOPOLOGIES.entries.len(),
            numbers in prop::array::uniform3(100_000u32..),
        ) {
            let entry = &TOPOLOGIES.entries[entry];
            if let Some(text) = arguments(entry.name, numbers.map(|number| number - 9)) {
                let topology = (entry.build)(Arguments { text: &text });
                prop_assert!(topology.is_err() || topology.unwrap().build(&context()).is_err());
            }
        }
    }
}
