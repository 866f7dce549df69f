//! The regular structure of a fabric that is not written as one: imported, or with failed links.
//!
//! Guarantees: a structure is what a generator of this program makes, link by link and host by host, but for the links
//! that it says are missing; a fabric that is something else has none. Which switch has which coordinates depends on
//! names and GUIDs, not on the order of a file: other choices give the same fabric with other names.
//! Cost: O(links log switches) for each topology that the counts admit (`forms.rs`), a few as a rule.
//!
//! # Algorithm
//! 1. What can be counted tells a few topologies with their parameters (`forms.rs`).
//! 2. Each is generated and matched with the fabric (`matching.rs`); dimensions are then put in the order in which the
//!    first steps along them are named.
//! 3. A fabric that is no topology as it stands may be one with a link missing (`completion.rs`).
//!
//! A fabric may be several topologies at once; engines take the first that they are made for. They route the *model*,
//! the fabric in the generator's numbering, and what they find is told in the fabric's own numbers, of ports too.
//! A graph built by a generator has a [`Shape`] and no structure, until something of it fails.

mod completion;
mod dimensions;
mod forms;
mod leaf_spine;
mod matching;
mod names;
mod net;
mod numbering;
mod told;
mod trees;

use super::graph::{Graph, Shape};
use super::{BuildContext, ChannelTiming, TOPOLOGIES};
use crate::ids::LinkId;
use crate::registry::Arguments;
use crate::units::Clock;
use net::Net;
use std::path::Path;
use std::sync::Arc;

pub use numbering::Numbering;

/// What regular topologies are looked for, behind the words for one.
pub const SOUGHT: &str = "as it stands or with at most 3 missing links (1 where switches equally far from the hosts differ in their links; \
     a quarter of those of a leaf-spine network)";

/// A topology that a fabric is, but for what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The complete topology, with the names and the timing of the fabric where it has them.
    model: Arc<Graph>,
    /// The topology as a scenario writes it.
    form: String,
    /// Whether it was found in the graph; else it is that of a generator.
    is_found: bool,
    /// What is where.
    numbering: Numbering,
}

impl Structure {
    /// The complete topology in the generator's numbering.
    pub fn model(&self) -> &Graph {
        &self.model
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        self.model.shape()
    }

    /// The topology as a scenario writes it, such as `KAryNTree(k: 4, n: 3)`.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// Which switch, host and port of the fabric is which of the model.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Links of the model that the fabric has not, those of missing switches and hosts too.
    pub fn missing(&self) -> &[LinkId] {
        self.numbering.missing()
    }

    /// The structure of a graph that was built with a shape, of which only some is left; `None` when it had no shape.
    pub(super) fn of_rest(graph: &Graph, rest: &Graph) -> Option<Self> {
        let form = graph.form().map(str::to_owned);
        (*graph.shape() != Shape::Irregular).then(|| Self {
            numbering: Numbering::by_name(graph, rest),
            model: Arc::new(graph.clone()),
            form: form.unwrap_or_default(),
            is_found: false,
        })
    }

    /// The same, of a fabric of which only some is left.
    pub(super) fn without(&self, whole: &Graph, rest: &Graph) -> Self {
        Self {
            numbering: self.numbering.without(&self.model, whole, rest),
            ..self.clone()
        }
    }
}

impl Graph {
    /// The topologies that this graph is though it was not built as one, the first ones first.
    pub fn structures(&self) -> &[Arc<Structure>] {
        &self.structures
    }

    /// Why nothing is known of the structure of this graph; `None` when something is.
    pub fn why_irregular(&self) -> Option<String> {
        if self.shape != Shape::Irregular || !self.structures.is_empty() {
            return None;
        }
        let net = Net::new(self, &Net::by_name(self));
        Some(match completion::find(&net) {
            Err(ways) => format!(
                "none: links are missing, and {ways} ways to put them back make a regular topology"
            ),
            Ok(_) => format!("none found: it is no regular topology {SOUGHT}"),
        })
    }

    /// The same graph with the structures found in it, when it has no shape.
    #[must_use]
    pub fn recognised(mut self) -> Self {
        if self.shape == Shape::Irregular && self.structures.is_empty() {
            self.structures = find(&self).into_iter().map(Arc::new).collect();
        }
        self
    }
}

/// The structures of a graph.
fn find(graph: &Graph) -> Vec<Structure> {
    let order = Net::by_name(graph);
    let net = Net::new(graph, &order);
    let exact = exact(&net);
    let readings = if exact.is_empty() {
        completion::find(&net).unwrap_or_default()
    } else {
        exact
    };
    readings
        .into_iter()
        .filter_map(|reading| {
            let places = reading.switches.iter().map(|&place| order[place as usize]);
            let (model, numbering) =
                numbering::fit(reading.model, graph, &places.collect::<Vec<_>>())?;
            Some(Structure {
                model: Arc::new(model),
                form: reading.form,
                is_found: true,
                numbering,
            })
        })
        .collect()
}

/// A topology, and the switch of a plain graph that is each of its own.
struct Reading {
    form: String,
    model: Graph,
    switches: Vec<u32>,
}

/// The topologies that a plain graph is, those of one shape once.
fn exact(net: &Net) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    for form in forms::of(net) {
        let Some(model) = generate(&form) else {
            continue;
        };
        let is_known = |reading: &Reading| {
            reading.model.shape() == model.shape() && *model.shape() != Shape::Irregular
        };
        if readings.iter().any(is_known) {
            continue;
        }
        let own: Vec<u32> = (0..model.switches().len() as u32).collect();
        if let Some(switches) = matching::find(&Net::new(&model, &own), net) {
            readings.push(dimensions::ordered(Reading {
                form,
                model,
                switches,
            }));
        }
    }
    readings
}

/// The graph of a topology, on links of any timing.
fn generate(form: &str) -> Option<Graph> {
    let (name, arguments) = form.split_at(form.find('(')?);
    let topology = (TOPOLOGIES.find(name)?.build)(Arguments { text: arguments }).ok()?;
    let context = BuildContext {
        seed: 1,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 10_000_000_000,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base: Path::new(""),
    };
    topology.build(&context).ok()
}
