//! Small parts for tests: a line of switches, shortest paths on it, one pattern, one process.

use super::super::Parts;
use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter, Registry};
use crate::rng::Stream;
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::{
    BuildContext, BuildTopology, Endpoint, Graph, GraphBuilder, Topology, TopologyError,
};
use crate::traffic::{
    BuildPattern, BuildProcess, Gap, OfferedProcess, Pattern, PatternContext, Process,
    ProcessContext, ProcessState, Receivers, Share,
};
use crate::units::BitRate;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

pub(super) fn parts() -> Parts<'static> {
    Parts {
        topologies: &TOPOLOGIES,
        engines: &ENGINES,
        patterns: &PATTERNS,
        processes: &PROCESSES,
        ..Parts::registered()
    }
}

const fn entry<B>(name: &'static str, parameters: &'static [Parameter], build: B) -> Entry<B> {
    Entry {
        name,
        aliases: &[],
        summary: "for tests",
        parameters,
        guarantees: &[],
        references: &[],
        build,
    }
}

static TOPOLOGIES: Registry<BuildTopology> = Registry {
    kind: "topology",
    entries: &[
        entry("KAryNTree", &[], |arguments: Arguments<'_>| line(arguments)),
        entry("Line", &[PER_SWITCH], |arguments: Arguments<'_>| {
            line(arguments)
        }),
    ],
    unclear: &[],
};
const PER_SWITCH: Parameter = Parameter {
    name: "hosts",
    kind: "integer >= 0",
    default: Some("1"),
    summary: "Hosts per switch",
};
static ENGINES: Registry<BuildEngine> = Registry {
    kind: "routing engine",
    entries: &[Entry {
        aliases: &["shortest"],
        ..entry("Shortest", &[], |_: Arguments<'_>| {
            Ok(Engine::tables(Shortest))
        })
    }],
    unclear: &[],
};
static PATTERNS: Registry<BuildPattern> = Registry {
    kind: "traffic pattern",
    entries: &[entry(
        "Next",
        &[],
        |_: Arguments<'_>, context: &PatternContext<'_>| {
            Ok(Arc::new(Next(context.graph.hosts().len() as u32)))
        },
    )],
    unclear: &[],
};
static PROCESSES: Registry<BuildProcess> = Registry {
    kind: "arrival process",
    entries: &[entry(
        "Once",
        &[],
        |arguments: Arguments<'_>, _: ProcessContext| {
            let Load { load } = arguments.parse()?;
            Ok(OfferedProcess {
                process: Arc::new(Once),
                load,
            })
        },
    )],
    unclear: &[],
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    load: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    switches: u32,
    #[serde(default = "one")]
    hosts: u32,
    #[serde(default)]
    rate: Option<BitRate>,
}

fn one() -> u32 {
    1
}

fn line(arguments: Arguments<'_>) -> Result<Box<dyn Topology>, ArgumentError> {
    Ok(Box::new(arguments.parse::<Line>()?))
}

impl Topology for Line {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        if self.switches == 0 {
            return Err(TopologyError::Parameter {
                parameter: "switches",
                reason: "`0`: expected at least 1".into(),
            });
        }
        let mut builder = GraphBuilder::new();
        let port_count = self.hosts as u16 + 2;
        for number in 0..self.switches {
            let switch = builder.add_switch(format!("S{number}"), 0, port_count);
            for index in 0..self.hosts {
                let host = builder.add_host(format!("H{number}.{index}"), 0);
                let end = Endpoint::Switch(switch, index as u16 + 3);
                builder.connect(Endpoint::Host(host), end, context.host_link)?;
            }
            if number > 0 {
                let from = Endpoint::Switch(crate::ids::SwitchId(number - 1), 1);
                builder.connect(from, Endpoint::Switch(switch, 2), context.switch_link)?;
            }
        }
        builder.build()
    }

    fn own_rates(&self, _base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        Ok(self.rate.into_iter().collect())
    }
}

#[derive(Debug)]
struct Shortest;

impl RoutingEngine for Shortest {
    fn route(&self, graph: &Graph, budget: LaneBudget, _: u64) -> Result<Tables, RoutingError> {
        let mut next = Vec::new();
        for switch in graph.switch_ids() {
            for host in graph.host_ids() {
                let attached = graph.attachment(host);
                next.push(match attached {
                    Some((other, port)) if other == switch => port as u8,
                    Some((other, _)) if other > switch => 1,
                    _ => 2,
                });
            }
        }
        let guarantees = Guarantees {
            minimal: true,
            deadlock_free: true,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::on_one_lane(
            graph, "Shortest", next, budget, guarantees,
        ))
    }
}

#[derive(Debug)]
struct Next(u32);

impl Pattern for Next {
    fn destination(&self, source: HostId, _: &mut Stream) -> Option<HostId> {
        Some(HostId((source.0 + 1) % self.0))
    }
    fn sends(&self, _: HostId) -> bool {
        true
    }
    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        let to = Receivers::One(HostId((source.0 + 1) % self.0));
        vec![Share { part: 1.0, to }]
    }
}

#[derive(Debug)]
struct Once;

impl Process for Once {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }
    fn gap(&self, _: &mut ProcessState, _: &mut Stream) -> Gap {
        Gap::Never
    }
}
