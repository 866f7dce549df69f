//! What the traffic of a scenario can reach at most, from routes and patterns alone.
//!
//! Processes and packet sizes do not matter. Of a random permutation it is the bound of the one drawn for the seed.

use super::Resolved;
use crate::plan::ClassPlan;
use crate::routing::loads::bound::{Bound, bound};
use crate::routing::loads::demand::Demand;

/// The bounds of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Of every host sending to all others alike, a fraction of the rate of each host's own link.
    pub uniform: Option<Bound>,
    /// Of each class that draws packets, by its name, as if it were alone; likewise.
    pub classes: Vec<(String, Bound)>,
    /// Of all of them together, when there are several.
    pub together: Option<Together>,
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
    /// The bounds of a scenario; of senders and receivers alone when routing is adaptive. Cost: one pass over the ways
    /// for each demand that differs from the ones before it.
    pub fn of(resolved: &Resolved) -> Self {
        let graph = &resolved.layout.graph;
        let (tables, sink) = (
            resolved.routes.ports(),
            resolved.plan.host.sink_cycles_per_flit,
        );
        let all = Demand::uniform(graph);
        // not every pair has a way
        let uniform = match resolved.proof.unreachable_pairs {
            0 => bound(graph, tables, &all, sink),
            _ => None,
        };
        let of = |demand: &Demand| {
            if *demand == all {
                uniform
            } else {
                bound(graph, tables, demand, sink)
            }
        };
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
        let one = |class: &&ClassPlan| Some((class.name.clone(), of(&demand(&[*class], None))?));
        let largest = drawn.iter().map(|class| class.load).fold(0.0, f64::max);
        let together = || {
            let bound = of(&demand(&drawn, Some(largest)))?;
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
            uniform,
            classes: drawn.iter().filter_map(one).collect(),
            together: (drawn.len() > 1).then(together).flatten(),
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
    let mut demand = Demand::none(graph.hosts().len());
    for class in plan.classes.iter().filter(|class| is_meant(class)) {
        if !is_lasting(class) {
            return None;
        }
        demand.add(graph, &*class.pattern, &class.hosts, class.load);
    }
    let tables = resolved.routes.tables();
    bound(graph, tables, &demand, plan.host.sink_cycles_per_flit)
}
