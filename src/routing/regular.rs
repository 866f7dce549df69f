//! Lets engines that are made for regular topologies route fabrics whose structure was found, or that lack some links.
//!
//! Guarantees: the routes are those that the engine gives the topology of a generator, told in the fabric's own numbers of
//! switches, hosts, ports and channels.
//! Fails with: [`RoutingError::Unsupported`] that says what the fabric is and what of it is missing, for engines that need
//! all of it.
//! Cost: that of the engine, and O(switches * hosts) for tables; adaptive routing looks numbers up at every question.
//!
//! # Algorithm
//! 1. The first structure of the fabric whose shape the engine takes ([`Need`]) is its *model*; engines for any fabric
//!    route the fabric as it is.
//! 2. The engine routes the model, without the missing links where it can do without some.
//! 3. Tables are renumbered; the questions of adaptive routing are, and their answers.

use super::adaptive::{Adaptive, AdaptiveRouting, Candidate, Course, Leg, Legs, Local, Selection};
use super::entries::{Builder, Entries};
use super::{
    AdaptiveEngine, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables, UNREACHABLE,
};
use crate::ids::{ChannelId, SwitchId};
use crate::topology::structure::{SOUGHT, Structure};
use crate::topology::{Endpoint, Graph, Shape};
use std::path::Path;
use std::sync::Arc;

/// What an engine has of the regular structure of a fabric.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Registered name of the engine.
    pub engine: &'static str,
    /// Whether it takes a shape.
    pub takes: fn(&Shape) -> bool,
    /// Which links of it must be there.
    pub links: Links,
}

/// Links of a regular topology that an engine needs.
#[derive(Clone, Copy, Debug)]
pub enum Links {
    /// All; without one it routes the fabric as any other.
    AllOrAny,
    /// All; the sentence says why, and what to use instead.
    All(&'static str),
    /// Of such a shape not all between switches: it asks which are there. Of others all; the sentence says why.
    Some(fn(&Shape) -> bool, &'static str),
    /// As `Some` of any shape; where all are there it finds its own coordinates.
    SomeOrOwn,
}

/// What engines say that can do without links, but not without nodes.
const NODES: &str =
    "only links between switches may be missing; use `UpDown()`, which routes any connected fabric";

/// Whether a shape is a regular tree.
pub fn is_tree(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Tree(_) | Shape::Xgft(_) | Shape::EnrichedTree(_)
    )
}

/// Whether a shape has coordinates of which a hop changes one.
pub fn has_dimensions(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Grid(_) | Shape::Hypercube(_) | Shape::HyperX(_)
    )
}

/// Whether a shape is a mesh; a hypercube is one of two switches in every dimension.
pub fn is_mesh(shape: &Shape) -> bool {
    match shape {
        Shape::Grid(grid) => !grid.wrap.contains(&true),
        shape => matches!(shape, Shape::Hypercube(_)),
    }
}

/// What an engine says of a fabric that is none of what it is made for, such as `mesh or torus`; where no structure is known this
/// is what was looked for. `UpDown()` is told to route it.
pub fn is_no(engine: &'static str, graph: &Graph, wanted: &str) -> RoutingError {
    const ANY: &str = "use `UpDown()`, which routes any connected fabric";
    is_no_with(engine, graph, wanted, ANY)
}

/// The same with other advice.
pub fn is_no_with(engine: &'static str, graph: &Graph, wanted: &str, advice: &str) -> RoutingError {
    let is_known = *graph.shape() != Shape::Irregular || !graph.structures().is_empty();
    let sought = [" ", SOUGHT].concat();
    let sought = if is_known { "" } else { &sought };
    RoutingError::unsupported(engine, format!("it is no {wanted}{sought}; {advice}"))
}

/// The model that an engine routes instead of the fabric.
struct Model {
    structure: Arc<Structure>,
    /// Without the missing links.
    graph: Graph,
    /// Channel of `graph`, `[channel]`.
    channels: Vec<ChannelId>,
    /// First of a switch in `own_ports`.
    first_port: Vec<u32>,
    /// Port of the fabric for each of `graph`; 0 where nothing is connected.
    own_ports: Vec<u16>,
}

/// The model of a fabric for an engine; `None` when it routes the fabric itself.
fn model(graph: &Graph, need: Option<Need>) -> Result<Option<Model>, RoutingError> {
    let Some(need) = need else {
        return Ok(None);
    };
    let takes = |structure: &&Arc<Structure>| (need.takes)(structure.shape());
    let Some(structure) = graph.structures().iter().find(takes) else {
        return Ok(None);
    };
    let refused = |why: &str| {
        let reason = format!("it is {}; {why}", structure.told());
        Err(RoutingError::unsupported(need.engine, reason))
    };
    let numbering = structure.numbering();
    let is_whole = structure.missing().is_empty();
    match need.links {
        Links::AllOrAny if !is_whole => return Ok(None),
        Links::SomeOrOwn if is_whole => return Ok(None),
        Links::All(why) if !is_whole => return refused(why),
        Links::Some(..) | Links::SomeOrOwn if !numbering.has_all_nodes() => return refused(NODES),
        Links::Some(shape, why) if !is_whole && !shape(structure.shape()) => return refused(why),
        _ => {}
    }
    let rest = numbering.rest_of(structure.model());
    Ok(Some(Model::new(graph, Arc::clone(structure), rest)))
}

impl Model {
    fn new(own: &Graph, structure: Arc<Structure>, graph: Graph) -> Self {
        let whole = structure.model();
        let numbering = structure.numbering();
        let mut first_port = Vec::with_capacity(graph.switches().len());
        let mut ports = 0;
        for node in graph.switches() {
            first_port.push(ports);
            ports += u32::from(node.port_count);
        }
        let mut own_ports = vec![0; ports as usize];
        let channel = |channel: ChannelId| {
            let from = whole.channel(numbering.channel(channel)).from;
            match (from, own.channel(channel).from) {
                (Endpoint::Switch(switch, port), Endpoint::Switch(_, own_port)) => {
                    let slot = first_port[switch.index()] + u32::from(port) - 1;
                    own_ports[slot as usize] = own_port;
                    graph.port_channel(switch, port).unwrap_or_default()
                }
                (Endpoint::Host(host), _) => graph.host_channel(host),
                (Endpoint::Switch(..), Endpoint::Host(_)) => ChannelId::default(),
            }
        };
        let channels = own.channel_ids().map(channel).collect();
        Self {
            structure,
            graph,
            channels,
            first_port,
            own_ports,
        }
    }

    /// Tables of the model as tables of the fabric.
    fn tables(&self, own: &Graph, tables: Tables) -> Tables {
        let numbering = self.structure.numbering();
        let switches = own.switches().len();
        let of = tables.row_switches(&self.graph);
        let row = |row: usize| match row {
            row if row < switches => numbering.switch(SwitchId::from(row)).index(),
            row => row,
        };
        let mut own_rows = vec![0; of.len()];
        for place in 0..of.len() {
            own_rows[row(place)] = place as u32;
        }
        let hosts = own.host_ids().map(|host| numbering.host(host).index());
        let hosts: Vec<usize> = hosts.collect();
        let moved = |table: &Entries, entry: &dyn Fn(SwitchId, u8) -> u8| {
            let mut own = Builder::new(hosts.len());
            for row in (0..table.rows()).map(row) {
                let entries = hosts
                    .iter()
                    .map(|&host| entry(of[row], table.get(row, host)));
                own.push(&entries.collect::<Vec<u8>>());
            }
            own.finish()
        };
        let port = |switch: SwitchId, port: u8| match port {
            UNREACHABLE => UNREACHABLE,
            port => match self.own_port(switch, u16::from(port)) {
                0 => UNREACHABLE,
                own => own as u8,
            },
        };
        let channels = |values: &[u32]| -> Vec<u32> {
            let channels = self.channels.iter();
            channels
                .filter_map(|channel| values.get(channel.index()).copied())
                .collect()
        };
        let mut remarks = vec![("routed as".to_owned(), self.structure.told())];
        remarks.extend(tables.remarks.iter().cloned());
        let input_row = channels(&tables.input_row);
        let input_row = input_row.into_iter().map(|row| match row {
            u32::MAX => row,
            row => own_rows[row as usize],
        });
        Tables {
            next: moved(&tables.next, &port),
            input_row: input_row.collect(),
            hop_layer: moved(&tables.hop_layer, &|_, layer| layer),
            path_layer: moved(&tables.path_layer, &|_, layer| layer),
            lanes: LaneMap {
                by_output: channels(&tables.lanes.by_output),
                by_input: channels(&tables.lanes.by_input),
                ..tables.lanes
            },
            remarks,
            ..tables
        }
    }

    /// The refusal of an engine, which says what the fabric is when links are missing.
    fn refused(&self, error: RoutingError) -> RoutingError {
        match error {
            RoutingError::Unsupported { engine, reason }
                if !self.structure.missing().is_empty() =>
            {
                RoutingError::unsupported(
                    engine,
                    format!("it is {}; {reason}", self.structure.told()),
                )
            }
            error => error,
        }
    }

    /// Port of the fabric; 0 where nothing is connected.
    fn own_port(&self, switch: SwitchId, port: u16) -> u16 {
        let slot = self.first_port[switch.index()] as usize + usize::from(port) - 1;
        self.own_ports.get(slot).copied().unwrap_or(0)
    }
}

/// Tables of an engine, by the structure of the fabric where it needs one.
///
/// # Errors
/// Those of the engine; when it needs links that are missing.
pub(super) fn tables(
    engine: &(impl RoutingEngine + ?Sized),
    graph: &Graph,
    budget: LaneBudget,
    seed: u64,
    base: &Path,
) -> Result<Tables, RoutingError> {
    Ok(match model(graph, engine.need())? {
        None => engine.route_from(graph, budget, seed, base)?,
        Some(model) => {
            let tables = engine.route_from(&model.graph, budget, seed, base);
            let tables = tables.map_err(|error| model.refused(error))?;
            model.tables(graph, tables)
        }
    })
}

/// Adaptive routing of an engine, by the structure of the fabric where it needs one.
///
/// # Errors
/// Those of the engine; when it needs links that are missing.
pub(super) fn adaptive(
    engine: &(impl AdaptiveEngine + ?Sized),
    graph: &Graph,
    budget: LaneBudget,
) -> Result<Adaptive, RoutingError> {
    let Some(model) = model(graph, engine.need())? else {
        return engine.adapt(graph, budget);
    };
    let adaptive = engine.adapt(&model.graph, budget);
    let adaptive = adaptive.map_err(|error| model.refused(error))?;
    if adaptive.routing.legs().is_none() {
        return engine.adapt(graph, budget);
    }
    let numbering = model.structure.numbering();
    let switches = graph.switch_ids().map(|switch| numbering.switch(switch));
    let own = model.graph.switch_ids();
    let own = own.map(|switch| numbering.own_switch(switch).unwrap_or_default());
    let told = ("routed as".to_owned(), model.structure.told());
    let legs = Renumbered {
        routing: Arc::clone(&adaptive.routing),
        switches: switches.collect(),
        own_switches: own.collect(),
        first_port: model.first_port,
        own_ports: model.own_ports,
    };
    let mut own = adaptive.with_legs(graph, legs)?;
    own.remarks.insert(0, told);
    Ok(own)
}

/// A routing function asked in other numbers than its own.
#[derive(Debug)]
struct Renumbered {
    /// One that is written leg by leg.
    routing: Arc<dyn AdaptiveRouting>,
    /// Its switch, `[switch]`.
    switches: Vec<SwitchId>,
    /// The switch of each of its own.
    own_switches: Vec<SwitchId>,
    /// First of a switch of its own in `own_ports`.
    first_port: Vec<u32>,
    own_ports: Vec<u16>,
}

impl Renumbered {
    fn legs(&self) -> &dyn Legs {
        self.routing.legs().expect("written leg by leg")
    }

    /// Ports of the fabric for those of a switch of the function.
    fn ports(&self, switch: SwitchId) -> &[u16] {
        &self.own_ports[self.first_port[switch.index()] as usize..]
    }
}

/// What a departing packet looks at, asked in the numbers of the function.
struct Elsewhere<'a> {
    local: &'a mut dyn Local,
    ports: &'a [u16],
}

impl Local for Elsewhere<'_> {
    fn load(&self, port: u16, lane: u8) -> u32 {
        self.local.load(self.ports[usize::from(port) - 1], lane)
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.local.below(bound)
    }
}

impl Legs for Renumbered {
    fn width(&self) -> u8 {
        self.legs().width()
    }

    fn selection(&self) -> Selection {
        self.legs().selection()
    }

    fn words(&self) -> u16 {
        self.legs().words()
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let [source, home] = [source, home].map(|switch| self.switches[switch.index()]);
        let ports = self.ports(source);
        let course = self
            .legs()
            .depart(source, home, &mut Elsewhere { local, ports });
        match course.via {
            Course::DIRECT => course,
            via => Course {
                via: self.own_switches[via as usize].0,
                ..course
            },
        }
    }

    fn starts(&self, source: SwitchId, goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        let [source, goal] = [source, goal].map(|switch| self.switches[switch.index()]);
        self.legs().starts(source, goal, leg, found);
    }

    fn chances(&self, source: SwitchId, home: SwitchId) -> Option<Vec<(u16, f64)>> {
        let [source, home] = [source, home].map(|switch| self.switches[switch.index()]);
        self.legs().chances(source, home)
    }

    fn stays_between(&self) -> bool {
        self.legs().stays_between()
    }

    fn hand_over(&self, word: u16) -> u16 {
        self.legs().hand_over(word)
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let [at, goal] = [at, goal].map(|switch| self.switches[switch.index()]);
        let before = found.len();
        self.legs().ways(at, goal, word, found);
        let ports = self.ports(at);
        for candidate in &mut found[before..] {
            candidate.port = ports[usize::from(candidate.port) - 1];
        }
    }
}
