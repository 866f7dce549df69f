//! Random small fabrics, options and traffic, reproducible by one number.
//!
//! [`case`] and [`adaptive_case`] draw everything from one stream of their seed: a failing case is named by its seed
//! alone. Graphs and tables are made in `fabric`, adaptive routing functions in `adaptive`, traffic in `traffic`;
//! here are the options.

mod adaptive;
mod fabric;
mod traffic;

pub(crate) use adaptive::Adaptive;

pub(crate) use traffic::{Saturating, ToOne};

use virtlane::measure::Observe;
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::HighPriorityLimit;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::routing::Tables;
use virtlane::routing::adaptive::Selection;
use virtlane::scenario::Plan;
use virtlane::scenario::plan::{
    BufferSharing, Forwarding, HostOptions, InputSpeedup, Matching, OutputArbitration, Phases,
    Queues, SwitchOptions,
};
use virtlane::topology::Graph;

/// One run to compare, routed by tables or adaptively.
#[derive(Clone, Debug)]
pub(crate) struct Case<R = Tables> {
    pub(crate) plan: Plan,
    pub(crate) graph: Graph,
    pub(crate) routing: R,
    /// Cycles to simulate.
    pub(crate) cycles: u64,
}

/// The stream that draws a case.
pub(crate) struct Dice(pub(crate) Stream);

impl Dice {
    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + below(&mut self.0, high - low + 1)
    }

    /// True with a chance of `percent`.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        below(&mut self.0, 100) < percent
    }

    /// One of the values.
    pub(crate) fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[below(&mut self.0, values.len() as u32) as usize].clone()
    }
}

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut dice = Dice(stream(seed, Purpose::Topology, 0));
    let lanes = dice.between(1, 4) as u8;
    let service_levels = dice.between(1, 4) as u8;
    let (graph, tables) = fabric::fabric(&mut dice, lanes, service_levels);
    // the ring may need more lanes than were drawn
    let lanes = tables.guarantees.lanes_needed.max(lanes);
    let management = dice.chance(25);
    let (mut plan, cycles) = plan(&mut dice, seed, &graph, service_levels, management);
    plan.switch = switch_options(&mut dice, lanes, management, plan.largest_packet());
    Case {
        plan,
        graph,
        routing: tables,
        cycles,
    }
}

/// The adaptively routed case of a seed.
pub(crate) fn adaptive_case(seed: u64) -> Case<Adaptive> {
    let mut dice = Dice(stream(seed, Purpose::Topology, 1));
    let service_levels = dice.between(1, 4) as u8;
    let graph = fabric::graph(&mut dice);
    let mut routing = adaptive::random_adaptive(&mut dice, &graph);
    let width = routing.function.width();
    let lanes = (width * dice.pick(&[1, 1, 2, 3]) + dice.pick(&[0, 0, 1])).clamp(width, 15);
    let (mut plan, cycles) = plan(&mut dice, seed, &graph, service_levels, false);
    plan.switch = switch_options(&mut dice, lanes, false, plan.largest_packet());
    allow_adaptive(&mut plan.switch, routing.function.selection());
    // lanes that share their space wait for each other
    routing.deadlock_free &= plan.switch.sharing == BufferSharing::PerLane;
    Case {
        plan,
        graph,
        routing,
        cycles,
    }
}

/// Takes away what D20 excludes: VOQ, and for open engines input-first, speed-up and `reserve`.
fn allow_adaptive(options: &mut SwitchOptions, selection: Selection) {
    options.queues = Queues::Fifo;
    if selection == Selection::Open {
        options.matching = Matching::OutputFirst;
        options.input_speedup = InputSpeedup::Limited(1);
        options.reserve = false;
    }
}

/// Traffic and hosts, with default switches, and the cycles to simulate.
fn plan(
    dice: &mut Dice,
    seed: u64,
    graph: &Graph,
    service_levels: u8,
    management: bool,
) -> (Plan, u64) {
    let classes = traffic::classes(dice, graph, service_levels, management);
    let cycles = u64::from(dice.between(200, 1500));
    let mut plan = Plan {
        title: format!("random case {seed}"),
        seed,
        flit_bytes: dice.pick(&[8, 16, 32, 64, 100]),
        reference_rate: 10_000_000_000,
        switch: SwitchOptions::default(),
        host: host_options(dice),
        classes,
        phases: Phases {
            measure: cycles,
            drain_limit: 0,
            watchdog: 1_000_000,
            ..Phases::default()
        },
        allow_deadlock: true,
        observe: Observe::default(),
        workloads: Vec::new(),
    };
    if dice.chance(35) {
        traffic::add_messages(dice, graph, service_levels, &mut plan);
    }
    (plan, cycles)
}

fn host_options(dice: &mut Dice) -> HostOptions {
    HostOptions {
        sink_cycles_per_flit: dice.chance(25).then(|| dice.between(1, 4)),
        source_queue: dice.chance(30).then(|| dice.between(1, 5)),
    }
}

/// Options in every combination that D1-D18 allow: unlimited speed-up and `reserve` not with
/// input-first, `reserve` not with random arbitration, no VL15 with a pool, one kind of output buffer, at least one cycle of
/// delay.
fn switch_options(
    dice: &mut Dice,
    lanes: u8,
    management_lane: bool,
    largest: u16,
) -> SwitchOptions {
    use OutputArbitration::{FirstComeFirstServed, OldestFirst, Random, RoundRobin};
    let output_arbitration = dice.pick(&[
        RoundRobin,
        RoundRobin,
        FirstComeFirstServed,
        OldestFirst,
        Random,
    ]);
    let matching = if dice.chance(30) {
        Matching::InputFirst
    } else {
        Matching::OutputFirst
    };
    let output_first = matching == Matching::OutputFirst;
    let largest = u32::from(largest);
    let mut options = SwitchOptions {
        lanes,
        management_lane,
        lane_capacity: dice.pick(&[largest, largest + 1, 2 * largest, 4 * largest]),
        queues: dice.pick(&[Queues::Fifo, Queues::Fifo, Queues::Voq]),
        sharing: BufferSharing::PerLane,
        input_speedup: if output_first && dice.chance(25) {
            InputSpeedup::Unlimited
        } else {
            InputSpeedup::Limited(dice.pick(&[1, 1, 2, 3]))
        },
        output_buffer: dice.pick(&[0, 0, 0, 1, 2, 5, 16]),
        output_lane_buffer: 0,
        matching,
        iterations: dice.pick(&[1, 1, 2, 3]),
        output_arbitration,
        reserve: output_first && output_arbitration != Random && dice.chance(25),
        forwarding: if dice.chance(25) {
            Forwarding::StoreAndForward
        } else {
            Forwarding::CutThrough
        },
        routing_delay: dice.between(0, 3),
        allocation_delay: dice.pick(&[0, 0, 1, 2]),
        crossbar_delay: dice.pick(&[0, 0, 1, 3]),
        credit_latency: dice.chance(50).then(|| dice.between(1, 5)),
        vl_arbitration: dice.chance(40).then(|| vl_tables(dice, lanes)),
        marking_threshold: dice.chance(50).then(|| dice.between(0, 20)),
    };
    if !management_lane && dice.chance(20) {
        options.sharing = BufferSharing::PortPool;
    }
    if options.routing_delay + options.allocation_delay + options.crossbar_delay == 0 {
        options.routing_delay = 1;
    }
    if options.output_buffer == 0 {
        options.output_lane_buffer = output_lane_buffer(dice, &options, largest);
    }
    options
}

/// Flits of each output lane. A packet larger than the buffer needs X + 1 of them: its next flit sets off when
/// a place comes free and takes X cycles, while the channel sends on.
fn output_lane_buffer(dice: &mut Dice, options: &SwitchOptions, largest: u32) -> u32 {
    match dice.pick(&[0, 0, 0, 1, 2, 5, 16, 40]) {
        0 => 0,
        places if places >= largest => places,
        places => places.max(options.crossbar_delay + 1),
    }
}

/// Tables in which every lane has an entry with a weight, plus some entries more.
fn vl_tables(dice: &mut Dice, lanes: u8) -> VlArbitrationTables {
    let (mut high, mut low) = (Vec::new(), Vec::new());
    for lane in 0..lanes {
        let entry = (lane, dice.between(1, 12) as u8);
        if dice.chance(50) {
            high.push(entry);
        } else {
            low.push(entry);
        }
    }
    for _ in 0..dice.between(0, 3) {
        let entry = (
            dice.between(0, u32::from(lanes) - 1) as u8,
            dice.between(0, 5) as u8,
        );
        let table = if dice.chance(50) { &mut high } else { &mut low };
        let place = dice.between(0, table.len() as u32) as usize;
        table.insert(place, entry);
    }
    let limit = match dice.between(0, 3) {
        0 => HighPriorityLimit::Unlimited,
        1 => HighPriorityLimit::Packets(dice.between(0, 4)),
        _ => HighPriorityLimit::Units(dice.between(0, 2) as u8),
    };
    VlArbitrationTables { high, low, limit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use virtlane::ids::{ChannelId, SlId, VlId};

    /// Every path exists, stays within the lanes, and no cycle of (channel, lane) dependencies appears.
    #[test]
    fn every_case_is_routed_without_a_cycle() {
        for seed in 0..300 {
            let Case {
                plan,
                graph,
                routing: tables,
                ..
            } = case(seed);
            let mut after: BTreeMap<(ChannelId, VlId), Vec<(ChannelId, VlId)>> = BTreeMap::new();
            for source in graph.host_ids() {
                for destination in graph.host_ids().filter(|&host| host != source) {
                    for sl in 0..plan.service_level_count() {
                        let path = tables.path(&graph, source, destination, SlId(sl));
                        let path = path.unwrap_or_else(|| panic!("seed {seed}: no path"));
                        assert!(path.iter().all(|hop| hop.1.0 < plan.switch.lanes));
                        for hop in path.windows(2) {
                            after.entry(hop[0]).or_default().push(hop[1]);
                        }
                    }
                }
            }
            // take away what depends on nothing until nothing is left
            loop {
                let known: Vec<_> = after.keys().copied().collect();
                let before = after.len();
                after.retain(|_, next| next.iter().any(|hop| known.binary_search(hop).is_ok()));
                if after.len() == before {
                    break;
                }
            }
            assert!(after.is_empty(), "seed {seed} can deadlock");
        }
    }

    /// The draw of adaptive cases leaves nothing out.
    #[test]
    fn adaptive_cases_are_of_every_kind() {
        let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..300 {
            let case = adaptive_case(seed);
            let function = &case.routing.function;
            let name = format!("{function:?}");
            let name = name.split([' ', '{']).next().unwrap_or_default();
            let free = case.routing.deadlock_free;
            let kind = format!("{name} {:?} {free}", function.selection());
            *kinds.entry(kind).or_default() += 1;
        }
        // hops as lanes: four selections, enough lanes or not; open with escape, and addresses: own lanes or a pool
        assert_eq!(kinds.len(), 12, "{kinds:?}");
        assert!(kinds.values().all(|&count| count >= 4), "{kinds:?}");
    }

    #[test]
    fn a_seed_names_one_case() {
        let text = |seed| format!("{:?}", case(seed));
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
