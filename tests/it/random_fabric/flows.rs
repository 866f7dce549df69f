//! Random flows (D27 to D33): ends, limits and their changes, windows, processes, sizes; and how hosts choose among them.

use super::{Dice, control, levels, slots, traffic, waits};
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{
    AppPhase, ClassPlan, FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Plan, Scheduler, Unit, Window,
};
use virtlane::topology::{Endpoint, Graph};
use virtlane::traffic::{OfferedProcess, Process, SizeDistribution};

/// All schedulers.
pub(super) const SCHEDULERS: [Scheduler; 8] = [
    Scheduler::Fifo,
    Scheduler::RoundRobin,
    Scheduler::WeightedRoundRobin(Unit::Flits),
    Scheduler::WeightedRoundRobin(Unit::Packets),
    Scheduler::ShortestRemaining,
    Scheduler::VirtualClock,
    Scheduler::Paced,
    Scheduler::LeakyBucket,
];

/// A process of a flow; its load is told to nobody.
fn offered(process: Arc<dyn Process>) -> OfferedProcess {
    let load = 0.0;
    OfferedProcess { process, load }
}

/// What the flows of a case have in common.
struct Common {
    hosts: u32,
    /// Hosts that most of them start at.
    busy: Vec<HostId>,
    /// Whether delays may limit them.
    delays: bool,
    /// Least delay of a window \[cycles\].
    least: u32,
    /// Cycles in which something is measured, or before.
    horizon: u32,
    /// Chances of what a flow may have \[percent\].
    limited: u32,
    /// What rates are divided by, so that the sum of them leaves time on the channel or not.
    slower: u64,
    windowed: u32,
    made: u32,
}

/// One or two classes with flows, as the first or the last ones (with messages, which name their classes by number, as
/// the last ones); now and then without any other traffic, often with control, and some with slots.
pub(super) fn add(dice: &mut Dice, graph: &Graph, management: bool, plan: &mut Plan) {
    let levels = u32::from(plan.service_level_count());
    let has_messages = !plan.workloads.is_empty();
    if !has_messages && dice.chance(30) {
        plan.classes.clear();
    }
    plan.host.scheduler = dice.pick(&SCHEDULERS);
    plan.host.flow_queue = dice.chance(40).then(|| dice.between(1, 4));
    let last = plan.classes.len();
    let first = if has_messages {
        last
    } else {
        dice.pick(&[0, last])
    };
    let common = common(dice, graph, plan);
    let most = dice.pick(&[1, 3, 8, 8, 20, 40]);
    for index in 0..dice.between(1, 2.min(most)) as usize {
        let size = traffic::sizes(dice);
        let number = first + index;
        // two classes have `most` flows together
        let count = dice.between(1, most.div_ceil(2));
        let flows = (0..count).map(|_| flow(dice, &common, number as u16, &size));
        plan.flows.extend(flows);
        let (name, hosts) = (format!("flows {index}"), graph.host_ids().collect());
        let level = SlId(dice.between(0, levels - 1) as u8);
        let all = levels::several(dice, level, levels);
        levels::give(&mut plan.flows, number, &all);
        let class = ClassPlan {
            flows: Some(count.into()),
            ..ClassPlan::silent(name, hosts, size, all)
        };
        plan.classes.insert(number, class);
    }
    if dice.chance(30) {
        phases(dice, &common, plan);
    }
    waits::add(graph, plan);
    slots::add(graph, plan);
    if dice.chance(80) {
        control::add(dice, graph, (levels, management), plan);
    }
}

fn common(dice: &mut Dice, graph: &Graph, plan: &Plan) -> Common {
    let hosts = graph.hosts().len() as u32;
    let takes_rates = plan.host.scheduler.takes_rates();
    let chance = |dice: &mut Dice| dice.pick(&[0, 40, 70, 100]);
    Common {
        hosts,
        busy: (0..dice.between(1, 3))
            .map(|_| HostId(dice.between(0, hosts - 1)))
            .collect(),
        delays: !takes_rates,
        least: least_delay(graph),
        horizon: (plan.phases.warmup + plan.phases.measure) as u32,
        // without a limit a flow has the rate of the channel
        limited: if takes_rates && dice.chance(70) {
            100
        } else {
            chance(dice)
        },
        slower: dice.pick(&[1, 2, 6, 20]),
        windowed: chance(dice) / 2,
        made: chance(dice) / 2,
    }
}

/// Smallest latency of a channel between two switches, 1 if there is none.
fn least_delay(graph: &Graph) -> u32 {
    let channels = graph.channels().iter();
    let between = channels.filter(|channel| {
        let ends = [channel.from, channel.to];
        ends.iter().all(|end| matches!(end, Endpoint::Switch(..)))
    });
    let latencies = between.map(|channel| channel.timing.latency);
    latencies.min().unwrap_or(1)
}

/// A flow of a class of these sizes.
fn flow(dice: &mut Dice, common: &Common, class: u16, size: &SizeDistribution) -> FlowPlan {
    let source = if dice.chance(70) {
        dice.pick(&common.busy)
    } else {
        HostId(dice.between(0, common.hosts - 1))
    };
    let latest = dice.pick(&[0, 0, 40, 400]);
    let start = u64::from(dice.between(0, latest.min(common.horizon)));
    let largest = u32::from(size.largest());
    let is_limited = dice.chance(common.limited);
    let made = dice.chance(common.made);
    FlowPlan {
        class,
        source,
        destination: traffic::other(common.hosts, source, &mut dice.0),
        level: SlId::default(),
        start,
        stop: dice
            .chance(20)
            .then(|| start + u64::from(dice.between(1, 600))),
        flits: match dice.between(0, 9) {
            0..5 => None,
            5..8 => Some(dice.between(1, 5 * largest).into()),
            _ => Some(dice.between(1, 400).into()),
        },
        weight: dice.between(1, 9) as u16,
        limit: if is_limited {
            limit(dice, common, largest)
        } else {
            Limit::None
        },
        changes: if is_limited && dice.chance(70) {
            changes(dice, common, largest)
        } else {
            Arc::new([])
        },
        window: dice.chance(common.windowed).then(|| Window {
            packets: dice.between(1, 6),
            delay: u64::from(common.least + dice.pick(&[0, 1, 7, 60])),
        }),
        process: made.then(|| offered(traffic::process(dice, size.mean(), false).1)),
        after: Box::default(),
        phase: None,
        application: None,
    }
}

/// One or two applications, of which some flows are phases (D50).
fn phases(dice: &mut Dice, common: &Common, plan: &mut Plan) {
    let sizes: Vec<u32> = (plan.classes.iter())
        .map(|class| class.size.largest().into())
        .collect();
    let share = dice.pick(&[50, 80, 100]);
    for application in ["a", "b"].iter().take(dice.between(1, 2) as usize) {
        let most = dice.between(0, 4);
        let mut chosen: Vec<(u32, usize)> = Vec::new();
        for (id, flow) in plan.flows.iter().enumerate() {
            if flow.phase.is_none() && dice.chance(share) {
                chosen.push((dice.between(0, most), id));
            }
        }
        chosen.sort_unstable();
        let mut last = None;
        for (number, id) in chosen {
            if last != Some(number) {
                let number = match plan.app_phases.last() {
                    Some(before) if last.is_some() => before.number + 1,
                    _ => 0,
                };
                plan.app_phases.push(AppPhase {
                    application: String::from(*application),
                    number,
                    first_start: u64::MAX,
                });
                last = Some(number);
            }
            let place = plan.app_phases.len() - 1;
            let phase = &mut plan.app_phases[place];
            let flow = &mut plan.flows[id];
            let largest = sizes[usize::from(flow.class)];
            flow.phase = Some(place as u32);
            (flow.stop, flow.process, flow.changes) = (None, None, Arc::new([]));
            flow.flits = Some(dice.between(1, 3 * largest).into());
            if phase.number > 0 {
                flow.start = u64::from(common.least + dice.pick(&[0, 1, 9, 70]));
            }
            phase.first_start = phase.first_start.min(flow.start);
        }
    }
}

/// What the plan of a fork may have of its own (D64).
pub(super) fn change(dice: &mut Dice, graph: &Graph, plan: &mut Plan) {
    let common = common(dice, graph, plan);
    let share = dice.pick(&[20, 50, 100]);
    let (flows, classes) = (&mut plan.flows, &plan.classes);
    for flow in flows {
        let class = &classes[usize::from(flow.class)];
        let largest = u32::from(class.size.largest());
        let asks = class.requests.is_some();
        let is_bound = flow.phase.is_some() || !flow.after.is_empty() || asks;
        if class.control.is_none() && dice.chance(share) {
            flow.limit = limit(dice, &common, largest);
        }
        if class.control.is_none() && !is_bound && dice.chance(share) {
            flow.changes = changes(dice, &common, largest);
        }
        if dice.chance(share) {
            flow.weight = dice.between(1, 9) as u16;
        }
        if let Some(window) = &mut flow.window
            && dice.chance(share)
        {
            window.packets = dice.between(1, 6);
            window.delay = u64::from(common.least + dice.pick(&[0, 1, 7, 60]));
        }
        if class.slots.is_none() && !is_bound && dice.chance(share) {
            let stop = flow.start + u64::from(dice.between(1, 900));
            flow.stop = dice.chance(50).then_some(stop);
        }
        if flow.process.is_some() && dice.chance(share) {
            flow.process = Some(offered(traffic::process(dice, class.size.mean(), false).1));
        }
    }
}

/// A limit under which a packet of `largest` flits may go within 2^31 cycles, or never.
fn limit(dice: &mut Dice, common: &Common, largest: u32) -> Limit {
    if common.delays && dice.chance(30) {
        let most = dice.pick(&[0, 5, 40, (1 << 14) - 1]);
        return Limit::Delay {
            entry: dice.between(0, most) as u16,
            shift: dice.between(0, 3) as u8,
        };
    }
    let whole = ONE_FLIT_PER_CYCLE;
    let least = 2 * u64::from(largest) + 1;
    Limit::Rate(match dice.between(0, 25) {
        0 | 20.. => 0,
        1 => least,
        2 => whole,
        3 => whole.div_ceil(3),
        4 => return Limit::None,
        5..8 => whole / u64::from(dice.between(1, 32)) / common.slower,
        8 => whole / u64::from(dice.between(64, 4000)) + least,
        // any part of a flit per cycle
        _ => (u64::from(dice.between(0, u32::MAX - 1)) / common.slower).max(least),
    })
}

/// Limits from later cycles on.
fn changes(dice: &mut Dice, common: &Common, largest: u32) -> Arc<[(u64, Limit)]> {
    let mut cycles: Vec<u64> = (0..dice.between(1, 4))
        .map(|_| dice.between(0, common.horizon).into())
        .collect();
    cycles.sort_unstable();
    cycles.dedup();
    let cycles = cycles.into_iter();
    cycles
        .map(|cycle| (cycle, limit(dice, common, largest)))
        .collect()
}
