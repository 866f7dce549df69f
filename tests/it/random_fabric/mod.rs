//! Random small fabrics, options and traffic, reproducible by one number.
//!
//! [`case`], [`adaptive_case`] and [`shipped_case`] draw everything from one stream of their seed: a failing case is named
//! by its seed alone. What of it the seed decides without a draw is in `strata`: a case is drawn again until it has the
//! features (`features`) that its stratum demands. Graphs and tables are made in `fabric`, their times in `timing`, adaptive
//! routing functions in `adaptive`, cases whose flows have routes of their own in `own_routes`, those whose flows set them up by
//! packets in `set_up`, options in `options`, traffic in `traffic`, `flows`, `levels`, `waits`, `slots`, `control`, `admission`, `dropping`,
//! `wormhole`, `claims`, `standing` and `management`; `shipped` takes the parts that scenarios can
//! name, `way` draws how the engine runs a case.

mod adaptive;
mod admission;
mod claims;
mod control;
mod dropping;
mod fabric;
mod features;
mod flows;
mod levels;
mod management;
mod options;
mod own_routes;
mod retry;
mod set_up;
mod shipped;
mod slots;
mod standing;
mod strata;
mod timing;
mod traffic;
mod waits;
mod way;
mod wormhole;

pub(crate) use adaptive::Adaptive;
pub(crate) use claims::settle_claims;
use control::{bound, probe};
pub(crate) use features::{
    ADMISSION, BESIDE_ROUTES, BESIDE_SET_UPS, CLAIMS, CLAIMS_OF_CANDIDATES, CLAIMS_ON_TABLES,
    DROPPING, DROPPING_OF_CHOICES, FLOWS, HALF_WAY_OF_CHOICES, MARKS_BEHIND_LANES, OPEN_HALF_WAY,
    QUEUES_OF_ROUTES, QUEUES_OF_SET_UPS, RETRY, RETRY_ON_TABLES, ROUTES, SCHEDULERS, SET_UPS,
    STANDING, STANDING_ON_ANY_LANE, VL15_BESIDE_CHOICES, VL15_OF_CHOICES, WORMHOLE_CHOICES,
    WORMHOLE_HALF_WAY, WORMHOLE_HOSTS, WORMHOLE_HOSTS_OF_CHOICES, WORMHOLE_OPTIONS,
    WORMHOLE_OPTIONS_OF_CHOICES, WORMHOLE_QUEUES, WORMHOLE_QUEUES_OF_CHOICES, WORMHOLE_REQUESTS,
    WORMHOLE_ROUTES, WORMHOLE_SET_UPS, WORMHOLE_VL15, features,
};
pub(crate) use own_routes::case_with_routes;
pub(crate) use set_up::case_with_set_ups;
pub(crate) use shipped::{engines, shipped_case};
pub(crate) use strata::{Kind, standing_seed, wanted};
pub(crate) use traffic::{Given, Saturating, ToOne};
pub(crate) use way::{Fork, Way};

use crate::reference::Routing;
use options::Family;
use strata::{Scale, Stratum};
use virtlane::measure::observe::{Observe, Sample};
use virtlane::plan::{BufferSharing, InputTurns, Phases, Plan, SwitchOptions};
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::routing::Tables;
use virtlane::topology::Graph;

/// One run to compare, routed by tables or adaptively.
#[derive(Clone, Debug)]
pub(crate) struct Case<R = Tables> {
    pub(crate) plan: Plan,
    pub(crate) graph: Graph,
    pub(crate) routing: R,
    /// Cycles to simulate.
    pub(crate) cycles: u64,
    /// From some cycle on another run goes on with the state of the fabric.
    pub(crate) fork: Option<Fork>,
    /// How the engine runs it.
    pub(crate) way: Way,
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

/// Which options a case has, and whether its channels run at one pace: as the fast path where the stratum says so,
/// elsewhere not both, now and then one alone, and often with one family of options at one pace.
fn plainness(dice: &mut Dice, plain: bool) -> (Family, bool) {
    if plain {
        return (Family::Plain, true);
    }
    match dice.between(0, 99) {
        0..10 => (Family::Plain, false),
        10..52 => (Family::single(dice), true),
        _ => (Family::All, dice.chance(30)),
    }
}

/// The first draw for a seed that has what its stratum demands; `number` tells kinds of cases apart.
fn draw<R>(
    seed: u64,
    number: u64,
    stratum: &Stratum,
    case: fn(u64, &Stratum, Dice) -> Case<R>,
) -> Case<R>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let dice = |attempt: u64| Dice(stream(seed, Purpose::Topology, number + 3 * attempt));
    let mut cases = (0..200_000).map(|attempt| {
        let stratum = Stratum {
            attempt,
            ..stratum.clone()
        };
        case(seed, &stratum, dice(attempt))
    });
    let fits = |case: &Case<R>| match &stratum.feature {
        Some((name, _)) => features(case).contains(name),
        None => true,
    };
    let found = cases.find(fits);
    found.unwrap_or_else(|| panic!("no random case has {:?}", stratum.feature))
}

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    draw(seed, 0, &Stratum::of(Kind::Tables, seed), tables_case)
}

fn tables_case(seed: u64, stratum: &Stratum, mut dice: Dice) -> Case {
    let (family, uniform) = plainness(&mut dice, stratum.plain);
    let (lanes, ports) = stratum.scale.lanes_and_ports(&mut dice);
    let service_levels = dice.between(1, 4) as u8;
    let (graph, tables) = fabric::fabric(&mut dice, stratum.scale, ports, lanes, service_levels);
    let graph = timing::timed(&mut dice, &graph, uniform);
    // the ring may need more lanes than were drawn
    let lanes = tables.guarantees.lanes_needed.max(lanes);
    let management = family.may_have_vl15() && !stratum.plain && dice.chance(25) && lanes < 32;
    let drawn = Drawn {
        seed,
        family,
        service_levels,
        management,
    };
    let cycles = stratum.scale.cycles(&mut dice);
    let mut plan = plan(&mut dice, &drawn, &graph, cycles);
    probe(&mut plan, true, stratum.attempt);
    if !stratum.plain {
        bound(&mut plan, stratum.attempt);
    }
    plan.switch = drawn.switch_options(&mut dice, lanes, &plan);
    admission::add(&mut plan, stratum.attempt);
    dropping::add(&mut plan, stratum.attempt);
    if !stratum.plain {
        wormhole::add(&mut plan, None, stratum.attempt);
    }
    finish(&mut dice, stratum, plan, graph, tables, cycles)
}

/// The adaptively routed case of a seed.
pub(crate) fn adaptive_case(seed: u64) -> Case<Adaptive> {
    draw(
        seed,
        1,
        &Stratum::of(Kind::Adaptive, seed),
        adaptively_routed,
    )
}

fn adaptively_routed(seed: u64, stratum: &Stratum, mut dice: Dice) -> Case<Adaptive> {
    let (family, uniform) = plainness(&mut dice, stratum.plain);
    let (most, ports) = stratum.scale.lanes_and_ports(&mut dice);
    let service_levels = dice.between(1, 4) as u8;
    let graph = fabric::graph(&mut dice, stratum.scale, ports);
    let graph = timing::timed(&mut dice, &graph, uniform);
    let mut routing = adaptive::random_adaptive(&mut dice, &graph);
    let width = routing.function.width();
    let mut lanes = width * dice.pick(&[1, 1, 2, 3]) + dice.pick(&[0, 0, 1]);
    if let Scale::Wide(_) = stratum.scale {
        lanes = most;
    }
    let drawn = Drawn {
        seed,
        family,
        service_levels,
        management: false,
    };
    let cycles = stratum.scale.cycles(&mut dice);
    let mut plan = plan(&mut dice, &drawn, &graph, cycles);
    probe(&mut plan, false, stratum.attempt);
    if !stratum.plain {
        bound(&mut plan, stratum.attempt);
    }
    plan.switch = drawn.switch_options(&mut dice, lanes.clamp(width, 32), &plan);
    let selection = routing.function.selection();
    options::allow_adaptive(&mut plan.switch, selection);
    dropping::add(&mut plan, stratum.attempt);
    if !stratum.plain && stratum.queues().is_none() {
        wormhole::add(&mut plan, Some(selection), stratum.attempt);
    }
    // lanes that share their space, or an input, wait for each other, and so may requests and answers
    let is_bounded = plan.bounded().next().is_some();
    let is_apart = plan.switch.sharing == BufferSharing::PerLane
        && plan.switch.input_turns == InputTurns::Flits;
    routing.deadlock_free &= is_apart && !is_bounded;
    let mut case = finish(&mut dice, stratum, plan, graph, routing, cycles);
    if !stratum.plain {
        standing::add(&mut case, selection, stratum);
        management::add(&mut case, stratum.attempt);
    }
    case
}

/// What was drawn for a case before its traffic.
struct Drawn {
    seed: u64,
    family: Family,
    service_levels: u8,
    management: bool,
}

impl Drawn {
    fn switch_options(&self, dice: &mut Dice, lanes: u8, plan: &Plan) -> SwitchOptions {
        let largest = plan.largest_packet();
        options::family_options(dice, lanes, self.management, largest, self.family)
    }
}

/// Traffic, hosts and measurement, with default switches.
fn plan(dice: &mut Dice, drawn: &Drawn, graph: &Graph, cycles: u64) -> Plan {
    let classes = traffic::classes(dice, drawn, graph);
    let warmup = if dice.chance(15) {
        0
    } else {
        u64::from(dice.between(0, cycles as u32 * 2 / 3))
    };
    let mut plan = Plan {
        title: format!("random case {}", drawn.seed),
        seed: drawn.seed,
        flit_bytes: dice.pick(&[8, 16, 32, 64, 64, 64, 100, 4096, 1 << 16, 1 << 30]),
        reference_rate: 10_000_000_000,
        switch: SwitchOptions::default(),
        host: options::host_options(dice, drawn.family),
        classes,
        phases: Phases {
            warmup,
            measure: u64::from(dice.between(1, (cycles - warmup) as u32)),
            drain_limit: 0,
            watchdog: 1_000_000,
            ..Phases::default()
        },
        allow_deadlock: true,
        allow_unreachable: false,
        observe: Observe {
            queues: !drawn.seed.is_multiple_of(3),
            congestion: None,
            ..Observe::default()
        },
        workloads: Vec::new(),
        flows: Vec::new(),
        link_retry: None,
        routes_of_flows: None,
        admission: None,
        management_tables: None,
        app_phases: Vec::new(),
    };
    if dice.chance(35) {
        traffic::add_messages(dice, graph, drawn.service_levels, &mut plan);
    }
    if dice.chance(42) {
        flows::add(dice, graph, drawn.management, &mut plan);
    }
    if dice.chance(25) {
        observe_packets(dice, &mut plan);
    }
    plan
}

/// Observes packet by packet, most classes.
fn observe_packets(dice: &mut Dice, plan: &mut Plan) {
    let mut most = || plan.classes.iter().map(|_| dice.chance(75)).collect();
    plan.observe = Observe {
        packets: Sample::All,
        flows: true,
        percentiles: most(),
        hops: true,
        classes: most(),
        ..plan.observe
    };
}

/// Adds claims, and draws how the case is run.
fn finish<R>(
    dice: &mut Dice,
    stratum: &Stratum,
    mut plan: Plan,
    graph: Graph,
    routing: R,
    cycles: u64,
) -> Case<R> {
    let mut answers = plan.classes[plan.first_answers()..].iter();
    assert!(
        answers.all(|class| class.answers.is_some()),
        "answers come last"
    );
    if stratum.plain {
        claims::add_usual(&mut plan);
    } else {
        claims::add(&mut plan, stratum.attempt);
        retry::add(&mut plan, stratum.attempt);
    }
    Case {
        fork: way::fork(dice, &plan, &graph, cycles),
        way: way::way(dice, stratum, cycles),
        plan,
        graph,
        routing,
        cycles,
    }
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
        for seed in 0..900 {
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
        assert!(kinds.values().all(|&count| count >= 3), "{kinds:?}");
    }

    #[test]
    fn a_seed_names_one_case() {
        let text = |seed| format!("{:?}", case(seed));
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
