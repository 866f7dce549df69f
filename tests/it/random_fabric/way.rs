//! How the engine runs a case: what changes no result, and forks.

use super::strata::Stratum;
use super::{Dice, flows, traffic};
use virtlane::plan::{ClassPlan, Plan};
use virtlane::topology::Graph;

/// How the engine runs a case; the results are the same in every way.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) shards: usize,
    pub(crate) threads: usize,
    /// At this cycle the state is saved, and another simulation goes on with it, on that many threads.
    pub(crate) resume: Option<(u64, usize)>,
    /// Cycles in which a window ends.
    pub(crate) stops: Vec<u64>,
}

impl Way {
    /// In one shard on one thread, from the start to the end.
    pub(crate) fn alone() -> Self {
        Self {
            shards: 1,
            threads: 1,
            resume: None,
            stops: Vec::new(),
        }
    }
}

/// A run that starts with the fabric of another.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) cycle: u64,
    /// Another seed, other patterns and processes, other limits, weights, windows and stops of flows, another measurement;
    /// the same network.
    pub(crate) plan: Plan,
}

fn cycle(dice: &mut Dice, cycles: u64) -> u64 {
    u64::from(dice.between(1, cycles as u32 - 1))
}

/// A way to run that many cycles.
pub(super) fn way(dice: &mut Dice, stratum: &Stratum, cycles: u64) -> Way {
    let resume = dice.chance(60);
    let is_resumed = stratum.feature.as_ref().map_or(resume, |feature| feature.1);
    Way {
        // threads without a shard do nothing
        shards: dice
            .pick(&[1, 1, 1, 2, 3, 4, 5, 6, 7, 7])
            .max(stratum.threads),
        threads: stratum.threads,
        resume: is_resumed.then(|| (cycle(dice, cycles), dice.pick(&[1, 1, 2, 3]))),
        stops: (0..dice.pick(&[0, 0, 1, 3]))
            .map(|_| cycle(dice, cycles))
            .collect(),
    }
}

/// Now and then a fork, in the warm-up of both runs, oftener where a class reserves, as few of these may have one; messages and
/// admission exclude it.
pub(super) fn fork(dice: &mut Dice, plan: &Plan, graph: &Graph, cycles: u64) -> Option<Fork> {
    let may_fork =
        plan.workloads.is_empty() && plan.admission.is_none() && plan.phases.warmup >= 10;
    let reserves = plan.classes.iter().any(ClassPlan::reserves);
    if !may_fork || !dice.chance(if reserves { 60 } else { 25 }) {
        return None;
    }
    let cycle = u64::from(dice.between(5, plan.phases.warmup as u32));
    let mut plan = plan.clone();
    plan.seed += 1_000_000;
    traffic::change(dice, graph, plan.seed, &mut plan.classes);
    if !plan.flows.is_empty() {
        flows::change(dice, graph, &mut plan);
    }
    plan.phases.warmup = u64::from(dice.between(cycle as u32, cycles as u32 - 1));
    plan.phases.measure = u64::from(dice.between(1, (cycles - plan.phases.warmup) as u32));
    Some(Fork { cycle, plan })
}
