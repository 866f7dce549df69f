//! What the traffic of a scenario can reach at most, from routes and patterns alone.
//!
//! Processes and packet sizes do not matter. Of a random permutation it is the bound of the one drawn for the seed.

use super::Resolved;
use super::credit_loops::Loops;
use crate::plan::ClassPlan;
use crate::routing::Routes;
use crate::routing::loads::bound::{Bound, Inner, Limits, Router, bound};
use crate::routing::loads::demand::Demand;
use std::cmp::Ordering;

/// The bounds of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Of every host sending to all others alike, a fraction of the rate of each host's own link.
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
    /// The bounds of a scenario; those of classes know their credit loops. Cost: one pass over the ways for each demand.
    pub fn of(resolved: &Resolved) -> Self {
        let graph = &resolved.layout.graph;
        let router = router(&resolved.routes);
        let limits = Limits::of_sink(resolved.plan.host.sink_cycles_per_flit);
        // not every pair has a way
        let uniform = match resolved.proof.unreachable_pairs {
            0 => bound(graph, router, &Demand::uniform(graph), limits),
            _ => (None, Inner::Expected),
        };
        let of = |demand: &Demand, limits: Limits<'_>| bound(graph, router, demand, limits).0;
        let demand = |classes: &[&ClassPlan], unit: Option<f64>| {
            let mut demand = Demand::none(graph.hosts().len());
            for class in classes {
                let load = unit.map_or(1.0, |unit| class.load / unit);
                demand.add(graph, &*class.pattern, &class.hosts, load);
            }
            demand
        };
        let drawn = resolved.plan.classes.iter();
        let drawn: Vec<&ClassPlan> = drawn
            .filter(|class| class.messages.is_none() && class.answers.is_none())
            .collect();
        let one = |class: &&ClassPlan| {
            let loops = Loops::of(resolved, class);
            let loops = |channel| Some(loops.at(channel));
            let limits = Limits {
                loops: &loops,
                ..limits
            };
            let bound = of(&demand(&[*class], None), limits)?;
            Some((class.name.clone(), bound))
        };
        let classes: Vec<_> = drawn.iter().filter_map(one).collect();
        let largest = drawn.iter().map(|class| class.load).fold(0.0, f64::max);
        let together = || {
            let mut bound = of(&demand(&drawn, Some(largest)), limits)?;
            for (name, alone) in &classes {
                let mut its = drawn.iter().filter(|class| class.name == *name);
                let load = alone.load / (its.next()?.load / largest);
                if load < bound.load {
                    bound = Bound { load, ..*alone };
                }
            }
            let load = |class: &&ClassPlan| {
                let load = class.load / largest * bound.load;
                (class.name.clone(), load)
            };
            Some(Together {
                loads: drawn.iter().map(load).collect(),
                bound,
            })
        };
        Self {
            uniform: uniform.0,
            together: (drawn.len() > 1).then(together).flatten(),
            classes,
            inner: uniform.1,
        }
    }
}

/// The bound of these classes together, a factor of the loads they have. `None` where expected loads do not say what is
/// offered in the long run: of messages, sources that always have a packet waiting, and a limited number of packets.
pub fn headroom(resolved: &Resolved, is_meant: impl Fn(&ClassPlan) -> bool) -> Option<Bound> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let is_lasting = |class: &ClassPlan| {
        class.messages.is_none() && class.packets_per_host.is_none() && !class.is_backlogged()
    };
    let router = match &resolved.routes {
        Routes::Tables(tables) => Router::Tables(tables),
        Routes::Adaptive(_) => Router::Unknown,
    };
    let limits = Limits::of_sink(plan.host.sink_cycles_per_flit);
    let mut demand = Demand::none(graph.hosts().len());
    let mut least: Option<Bound> = None;
    for class in plan.classes.iter().filter(|class| is_meant(class)) {
        if !is_lasting(class) {
            return None;
        }
        demand.add(graph, &*class.pattern, &class.hosts, class.load);
        let loops = Loops::of(resolved, class);
        if !loops.matter() {
            continue;
        }
        let mut alone = Demand::none(graph.hosts().len());
        alone.add(graph, &*class.pattern, &class.hosts, class.load);
        let loops = |channel| Some(loops.at(channel));
        let limits = Limits {
            loops: &loops,
            ..limits
        };
        let bound = bound(graph, router, &alone, limits).0;
        let held = bound.filter(|bound| bound.credit_loop.is_some());
        least = [least, held].into_iter().flatten().min_by(by_load);
    }
    let all = bound(graph, router, &demand, limits).0;
    [all, least].into_iter().flatten().min_by(by_load)
}

fn by_load(one: &Bound, other: &Bound) -> Ordering {
    one.load.total_cmp(&other.load)
}

/// What tells the ways of packets.
fn router(routes: &Routes) -> Router<'_> {
    match (routes.ports(), routes.adaptive()) {
        (Some(tables), _) => Router::Tables(tables),
        (None, Some(adaptive)) => Router::Function(&*adaptive.routing),
        (None, None) => Router::Unknown,
    }
}
