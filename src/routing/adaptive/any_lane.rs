//! Forwarding tables whose lanes are classes: a packet keeps to its port and takes any free lane of the class.
//!
//! Guarantees: as free of deadlock as the tables. On lanes of one class packets go the same ways, and a lane of a class
//! is waited for only by those who would wait for the class: a circle of lanes would be a circle of classes, which the
//! proof of the tables rules out. Channels of hosts are in no circle, so packets take any lane there.
//! Not in order: packets of one flow may overtake each other on different lanes.
//! Cost: one entry per (switch port, layer) beside the tables.

use super::{Adaptive, AdaptiveRouting, Candidate, Course, Local, Selection};
use crate::ids::{HostId, SlId, SwitchId};
use crate::registry::Parameter;
use crate::routing::{
    AdaptiveEngine, Engine, Guarantees, LaneBudget, Proof, RoutingEngine, RoutingError, Tables,
    VerifyError, VerifyOptions, regular,
};
use crate::topology::Graph;
use serde::Deserialize;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Lane of a hop, as engines with tables offer it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Lanes {
    /// Told by the service level and the engine's layers, as InfiniBand does.
    #[default]
    Fixed,
    /// Any free one of those that are safe, as flit simulators do.
    Any,
}

impl Lanes {
    /// The parameter of engines that offer the choice.
    pub const PARAMETER: Parameter = Parameter {
        name: "lanes",
        kind: "Fixed or Any",
        default: Some("Fixed"),
        summary: "lane of a hop: told by the service level (InfiniBand), or any free one that is safe (flit \
                  simulators; packets may overtake each other)",
    };

    /// The engine that routes by the tables of `engine`, registered as `name`, on these lanes.
    pub fn engine(self, name: &'static str, engine: impl RoutingEngine + 'static) -> Engine {
        match self {
            Self::Fixed => Engine::tables(engine),
            Self::Any => Engine::adaptive(OnAnyLane { name, engine }),
        }
    }
}

/// An engine whose lanes become classes.
#[derive(Debug)]
struct OnAnyLane<E> {
    name: &'static str,
    engine: E,
}

impl<E: RoutingEngine> AdaptiveEngine for OnAnyLane<E> {
    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        // of one service level the lanes of the tables are numbered from 0: these are the classes
        let one = LaneBudget {
            service_levels: 1,
            ..budget
        };
        let tables = regular::tables(&self.engine, graph, one, 0, Path::new(""))?;
        if !tables.input_row.is_empty() || !tables.lanes.by_input.is_empty() {
            let reason = "`lanes: Any` needs ports and lanes that do not depend on the input";
            return Err(RoutingError::unsupported(self.name, reason));
        }
        let classes = tables.guarantees.lanes_needed.max(1);
        let groups = budget.service_levels.clamp(1, budget.lanes / classes);
        let width = budget.lanes / groups;
        let remarks = [
            vec![(
                "lanes".to_owned(),
                format!(
                    "any free one of a class; {classes} classes in {width} lanes of a service level"
                ),
            )],
            tables.remarks.clone(),
        ];
        let guarantees = Guarantees {
            in_order: false,
            ..tables.guarantees
        };
        Ok(Adaptive {
            engine: tables.engine.clone(),
            routing: Arc::new(AnyLane::new(graph, tables, classes, width)?),
            guarantees,
            remarks: remarks.concat(),
        })
    }
}

/// The routing function; the word of a packet is its path layer.
pub struct AnyLane {
    tables: Tables,
    /// Classes of lanes, numbered from 0 like the lanes of the tables.
    classes: u8,
    width: u8,
    /// Class of `[(first of the switch + port - 1) * layers + layer]`.
    class: Vec<u8>,
    /// Entry of port 1 of every switch.
    first_port: Vec<u32>,
    /// Switch and port of every host.
    homes: Vec<(SwitchId, u16)>,
}

impl fmt::Debug for AnyLane {
    /// All that packets do follows from the tables and the width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyLane")
            .field("tables", &self.tables.next.checksum())
            .field("hop_layer", &self.tables.hop_layer.checksum())
            .field("path_layer", &self.tables.path_layer.checksum())
            .field("class", &self.class)
            .field("width", &self.width)
            .finish_non_exhaustive()
    }
}

impl AnyLane {
    fn new(graph: &Graph, tables: Tables, classes: u8, width: u8) -> Result<Self, RoutingError> {
        let home = |host| {
            let home = graph.attachment(host);
            home.ok_or_else(|| RoutingError::Unreachable {
                from: String::from("any switch"),
                to: graph.hosts()[host.index()].name.clone(),
            })
        };
        let homes = graph.host_ids().map(home).collect::<Result<_, _>>()?;
        let (mut class, mut first_port) = (Vec::new(), Vec::new());
        for switch in graph.switch_ids() {
            first_port.push((class.len() / usize::from(tables.lanes.layers)) as u32);
            let ports = graph.switches()[switch.index()].port_count;
            for port in 1..=ports {
                let channel = graph.port_channel(switch, port);
                class.extend((0..tables.lanes.layers).map(|layer| {
                    channel.map_or(0, |out| tables.lanes.injection_lane(out, SlId(0), layer).0)
                }));
            }
        }
        Ok(Self {
            tables,
            classes,
            width,
            class,
            first_port,
            homes,
        })
    }

    /// The tables: ports are theirs, and lanes of service level 0 are the classes.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Classes of lanes.
    pub fn classes(&self) -> u8 {
        self.classes
    }

    /// Lanes of a class: they share the group as evenly as can be.
    fn lanes(&self, class: u8) -> Range<u8> {
        let edge =
            |class: u8| (u16::from(class) * u16::from(self.width) / u16::from(self.classes)) as u8;
        edge(class)..edge(class + 1)
    }
}

/// The proof of the tables with one lane per class, and that there are lanes for every class.
///
/// # Errors
/// As [`crate::routing::verify()`].
pub(super) fn verify(
    graph: &Graph,
    any: &AnyLane,
    options: &VerifyOptions<'_>,
) -> Result<Proof, VerifyError> {
    if any.width > options.lanes || any.width < any.classes {
        return Err(VerifyError::Malformed {
            engine: any.tables.engine.clone(),
            reason: format!(
                "groups of {} lanes for {} classes, the switches have {}",
                any.width, any.classes, options.lanes
            ),
        });
    }
    let classes = VerifyOptions {
        service_levels: &[SlId(0)],
        lanes: any.classes,
        ..*options
    };
    crate::routing::verify(graph, &any.tables, &classes)
}

impl AdaptiveRouting for AnyLane {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn depart(&self, source: SwitchId, destination: HostId, _local: &mut dyn Local) -> Course {
        Course {
            via: Course::DIRECT,
            word: u16::from(self.tables.path_layer(source, destination)),
        }
    }

    fn candidates(
        &self,
        at: SwitchId,
        destination: HostId,
        course: Course,
        found: &mut Vec<Candidate>,
    ) {
        found.clear();
        let (home, own) = self.homes[destination.index()];
        let (port, lanes) = if at == home {
            (own, 0..self.width)
        } else {
            let row = at.index();
            let Some(port) = self.tables.next_port(row, destination) else {
                return;
            };
            let layer = course.word as usize + usize::from(self.tables.hop_layer(row, destination));
            let entry = self.first_port[row] as usize + usize::from(port) - 1;
            let class = self.class[entry * usize::from(self.tables.lanes.layers) + layer];
            (port, self.lanes(class))
        };
        found.extend(lanes.map(|lane| Candidate {
            port,
            lane,
            escape: true,
        }));
    }

    fn any_lane(&self) -> Option<&AnyLane> {
        Some(self)
    }
}
