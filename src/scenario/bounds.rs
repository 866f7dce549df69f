//! What the traffic of a scenario can reach at most, from routes and patterns alone.
//!
//! Processes and packet sizes do not matter. Of a random permutation it is the bound of the one drawn for the seed.

use super::Resolved;
use super::credit_loops::{self, Loops};
use super::offered::{Part, of_flow};
use crate::ids::{ChannelId, SlId};
use crate::plan::{ClassPlan, FlowPlan, Forwarding};
use crate::routing::Routes;
use crate::routing::loads::bound::{Bound, Inner, Limits, Router, bound};
use crate::routing::loads::demand::Demand;
use crate::routing::loads::lane_loads::LaneLoads;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Loads closer together than this part are the same: a part of the classes does not count as what limits all.
const SAME: f64 = 1e-9;

/// The bounds of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Of every host sending to all others alike, packets of the classes on all their data lanes together, a fraction of the
    /// rate of each host's own link.
    pub uniform: Option<Bound>,
    /// Of each class that draws packets, by its name, as if it were alone; likewise.
    pub classes: Vec<(String, Bound)>,
    /// Of all of them together, when there are several.
    pub together: Option<Together>,
    /// What the bounds rest on between switches.
    pub inner: Inner,
}

/// The bound of several classes whose loads grow in proportion.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// Load of each class at the bound, by its name.
    pub loads: Vec<(String, f64)>,
    /// The bound, in units of the largest of these loads in the scenario.
    pub bound: Bound,
}

impl Bounds {
    /// The bounds of a scenario, credit loops among them. Cost: one pass over the ways for each demand.
    pub fn of(resolved: &Resolved) -> Self {
        let graph = &resolved.layout.graph;
        let data: Vec<&ClassPlan> = resolved.plan.classes.iter().collect();
        let data: Vec<_> = data.into_iter().filter(|class| !class.management).collect();
        // not every pair has a way
        let uniform = match resolved.proof.unreachable_pairs {
            0 => of_group(resolved, resolved.router_of(&data), (&data, true), &|_| {
                Demand::uniform(graph)
            }),
            _ => (None, Inner::Expected),
        };
        let drawn = resolved.plan.classes.iter();
        let drawn: Vec<&ClassPlan> = drawn
            .filter(|class| {
                class.messages.is_none() && class.answers.is_none() && class.flows.is_none()
            })
            .collect();
        let one = |class: &&ClassPlan| {
            let bound = alike(resolved, &[*class], None)?;
            Some((class.name.clone(), bound))
        };
        Self {
            uniform: uniform.0,
            classes: drawn.iter().filter_map(one).collect(),
            together: (drawn.len() > 1)
                .then(|| Together::of(resolved, &drawn))
                .flatten(),
            inner: uniform.1,
        }
    }
}

impl Together {
    fn of(resolved: &Resolved, classes: &[&ClassPlan]) -> Option<Self> {
        let largest = classes.iter().map(|class| class.load).fold(0.0, f64::max);
        let of = |classes: &[&ClassPlan]| alike(resolved, classes, Some(largest));
        let groups = credit_loops::groups(resolved, classes);
        let mut bound = of(classes)?;
        for group in groups.iter().filter(|group| group.len() < classes.len()) {
            bound = of(group)
                .filter(|found| found.load < bound.load * (1.0 - SAME))
                .unwrap_or(bound);
        }
        let load = |class: &&ClassPlan| {
            let load = class.load / largest * bound.load;
            (class.name.clone(), load)
        };
        Some(Self {
            loads: classes.iter().map(load).collect(),
            bound,
        })
    }
}

/// The bound of what classes draw, all of them at full load or, with a unit, each at its own load in that unit.
fn alike(resolved: &Resolved, classes: &[&ClassPlan], unit: Option<f64>) -> Option<Bound> {
    let router = resolved.router_of(classes);
    of_group(resolved, router, (classes, false), &|level| {
        drawn(resolved, classes, unit, level)
    })
    .0
}

/// What classes draw; with a service level those alone of which all packets have it.
fn drawn(
    resolved: &Resolved,
    classes: &[&ClassPlan],
    unit: Option<f64>,
    level: Option<SlId>,
) -> Demand {
    let graph = &resolved.layout.graph;
    let mut demand = Demand::none(graph.hosts().len());
    let is_meant = |class: &ClassPlan| {
        level.is_none_or(|level| !class.management && class.service_levels[..] == [level])
    };
    for class in classes.iter().filter(|class| is_meant(class)) {
        let load = unit.map_or(1.0, |unit| class.load / unit);
        demand.add(graph, &*class.pattern, &class.hosts, load);
    }
    demand
}

/// Adds what the flows of classes, or those with a service level alone, offer, as far as it is known.
fn add_flows(
    demand: &mut Demand,
    resolved: &Resolved,
    classes: &[&ClassPlan],
    (part, level): (Part, Option<SlId>),
) {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let is_of = |class: &ClassPlan| classes.iter().any(|one| std::ptr::eq(*one, class));
    let is_meant: Vec<bool> = plan.classes.iter().map(is_of).collect();
    // limits alone are set against what their flows get
    let has_process = |flow: &FlowPlan| plan.load_of(flow).is_some();
    let is_beside = classes.iter().any(|class| class.flows.is_none());
    let has_limits = is_beside || plan.flows.iter().any(has_process);
    let offers = |flow: &&FlowPlan| has_limits || has_process(flow);
    let is_data = |flow: &FlowPlan| !plan.classes[usize::from(flow.class)].management;
    let has_level =
        |flow: &&FlowPlan| level.is_none_or(|level| flow.level == level && is_data(flow));
    for flow in plan
        .flows
        .iter()
        .filter(|flow| is_meant[usize::from(flow.class)])
        .filter(offers)
        .filter(has_level)
    {
        if let Some(offered) = of_flow(plan, graph, flow, part) {
            demand.add_flow(flow.source, flow.destination, offered.rate);
        }
    }
}

/// The bound of a demand, all of it or that on a service level, whose packets are of these classes, wherever they go if they go
/// anywhere: channels, sinks, the credit loops of all their lanes together, and those of single lanes where packets have one.
fn of_group(
    resolved: &Resolved,
    router: Router<'_>,
    (classes, is_anywhere): (&[&ClassPlan], bool),
    demand: &dyn Fn(Option<SlId>) -> Demand,
) -> (Option<Bound>, Inner) {
    let time = |channel| time_of_flit(resolved, classes, channel);
    let limits = Limits {
        time: &time,
        ..Limits::of_sink(resolved.plan.host.sink_cycles_per_flit)
    };
    let graph = &resolved.layout.graph;
    if classes.is_empty() {
        return bound(graph, router, &demand(None), limits);
    }
    let mut loops = Loops::of(resolved, classes);
    if is_anywhere {
        loops = loops.anywhere();
    }
    let at = |channel| Some(loops.at(channel));
    let of_all = Limits {
        loops: &at,
        ..limits
    };
    let (whole, inner) = bound(graph, router, &demand(None), of_all);
    let lane = loops.of_each_lane().filter(|_| !is_anywhere);
    let lane = lane.and_then(|lane| of_lanes(resolved, router, (classes, &lane), limits, demand));
    let is_less = |lane: &Bound| whole.is_none_or(|whole| lane.load < whole.load * (1.0 - SAME));
    (lane.filter(is_less).or(whole), inner)
}

/// The bound of the loops of single lanes, where tables tell the lane of every packet: of those whose service level is known.
fn of_lanes(
    resolved: &Resolved,
    router: Router<'_>,
    (classes, lane): (&[&ClassPlan], &Loops<'_>),
    limits: Limits<'_>,
    demand: &dyn Fn(Option<SlId>) -> Demand,
) -> Option<Bound> {
    resolved.routes.tables()?;
    let Router::Tables(tables) = router else {
        return None;
    };
    let graph = &resolved.layout.graph;
    let data = classes.iter().filter(|class| !class.management);
    let levels = data.flat_map(|class| class.service_levels.iter().copied());
    let levels: BTreeSet<SlId> = levels.collect();
    let demands = levels.into_iter().map(|level| (level, demand(Some(level))));
    let loops = |channel| Some(lane.at(channel));
    let limits = Limits {
        loops: &loops,
        ..limits
    };
    LaneLoads::of(graph, tables, demands).bound(graph, limits)
}

/// How long a flit of these classes keeps a channel at least, in the mean: with what link-level retry repeats, and where an output
/// buffer is so small that a packet is granted only after the one before it has crossed (D10) \[cycles\].
fn time_of_flit(resolved: &Resolved, classes: &[&ClassPlan], channel: ChannelId) -> f64 {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let sizes = classes.iter().flat_map(|class| class.size.entries());
    let times = sizes.map(|(size, _)| plan.time_of_flit(graph, channel, *size));
    let time = times.reduce(f64::min).unwrap_or(0.0);
    let (switch, timing) = (&plan.switch, graph.channel(channel).timing);
    let kept = u64::from(switch.output_buffer) * u64::from(timing.cycles_per_flit);
    let is_whole = switch.output_buffer > 0 && switch.forwarding != Forwarding::Wormhole;
    if !is_whole || graph.channel(channel).from.switch().is_none() {
        return time;
    }
    let bubble = u64::from(switch.crossbar_delay).saturating_sub(kept);
    let largest = classes.iter().map(|class| class.size.largest()).max();
    time.max(f64::from(timing.cycles_per_flit) + bubble as f64 / f64::from(largest.unwrap_or(1)))
}

/// The bound of these classes together, a factor of the loads they have, flows with a process or a limit among them. `None` where expected loads do not say what is
/// offered in the long run: of messages, sources that always have a packet waiting, and a limited number of packets.
pub fn headroom(
    resolved: &Resolved,
    is_meant: impl Fn(&ClassPlan) -> bool,
    part: Part,
) -> Option<Bound> {
    let is_lasting = |class: &ClassPlan| {
        class.messages.is_none() && class.packets_per_host.is_none() && !class.is_backlogged()
    };
    let classes: Vec<&ClassPlan> = resolved.plan.classes.iter().collect();
    let classes: Vec<_> = classes
        .into_iter()
        .filter(|class| is_meant(class))
        .collect();
    if !classes.iter().all(|class| is_lasting(class)) {
        return None;
    }
    let plan = &resolved.plan;
    let has_own_ways = !plan.flows.is_empty() && (plan.routes_of_flows.is_some() || plan.sets_up());
    let router = match &resolved.routes {
        Routes::Tables(tables) if !has_own_ways => Router::Tables(tables),
        _ => Router::Unknown,
    };
    let of = |classes: &[&ClassPlan]| {
        let demand = |level| {
            let mut demand = drawn(resolved, classes, Some(1.0), level);
            add_flows(&mut demand, resolved, classes, (part, level));
            demand
        };
        of_group(resolved, router, (classes, false), &demand).0
    };
    let groups = credit_loops::groups(resolved, &classes);
    let groups = groups.iter().filter(|group| group.len() < classes.len());
    let held = groups.filter(|group| Loops::of(resolved, group).may_hold());
    let held = held.filter_map(|group| of(group).filter(|bound| bound.credit_loop.is_some()));
    let least = held.min_by(by_load);
    [of(&classes), least].into_iter().flatten().min_by(by_load)
}

fn by_load(one: &Bound, other: &Bound) -> Ordering {
    one.load.total_cmp(&other.load)
}
