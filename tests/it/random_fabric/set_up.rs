//! Random cases whose flows set their routes up by packets (D67): trees with horizontal links or without, tables of several
//! kinds, and everything beside that the decision does not exclude.

use super::flows::SCHEDULERS;
use super::strata::{Kind, Scale, Stratum};
use super::{Case, Dice, Drawn, admission, draw, dropping, fabric, finish, plainness};
use super::{levels, plan, probe, shipped, timing, traffic, wormhole};
use virtlane::control::{ALGORITHMS, Algorithm, ControlContext, WHOLE_LINK};
use virtlane::ids::{HostId, SlId, SwitchId};
use virtlane::plan::{ClassPlan, Control, FlowPlan, Plan};
use virtlane::registry::Arguments;
use virtlane::routing::entries::Entries;
use virtlane::routing::{LaneBudget, Tables};
use virtlane::topology::{Graph, Shape};
use virtlane::traffic::SizeDistribution;
use virtlane::units::Clock;

/// Small trees: topology and arguments.
const TREES: [(&str, &str); 11] = [
    ("KAryNTree", "(k: 2, n: 2)"),
    ("KAryNTree", "(k: 2, n: 3)"),
    ("KAryNTree", "(k: 3, n: 2)"),
    ("EnrichedTree", "(k: 2, n: 2, width: 2)"),
    ("EnrichedTree", "(k: 2, n: 3, width: 1)"),
    ("EnrichedTree", "(k: 2, n: 3, width: 2)"),
    ("EnrichedTree", "(k: 2, n: 4, width: 1)"),
    ("EnrichedTree", "(k: 3, n: 2, width: 1)"),
    ("EnrichedTree", "(k: 3, n: 2, width: 3)"),
    ("EnrichedTree", "(k: 4, n: 2, width: 1)"),
    ("EnrichedTree", "(k: 4, n: 2, width: 2)"),
];

/// Trees with many hosts.
const CROWDED: [(&str, &str); 4] = [
    ("KAryNTree", "(k: 4, n: 2)"),
    ("KAryNTree", "(k: 8, n: 2)"),
    ("EnrichedTree", "(k: 5, n: 2, width: 2)"),
    ("EnrichedTree", "(k: 3, n: 3, width: 1)"),
];

/// The case of a seed whose flows set up their routes.
pub(crate) fn case_with_set_ups(seed: u64) -> Case {
    let stratum = Stratum::of(Kind::SetUps, seed);
    draw(seed, 1 << 45, &stratum, with_set_ups)
}

fn with_set_ups(seed: u64, stratum: &Stratum, mut dice: Dice) -> Case {
    let (family, _) = plainness(&mut dice, stratum.plain);
    let (lanes, ports) = stratum.scale.lanes_and_ports(&mut dice);
    let service_levels = dice.between(1, 4) as u8;
    let graph = tree(&mut dice, seed, stratum.scale, ports);
    let graph = timing::timed(&mut dice, &graph, true);
    let budget = LaneBudget {
        lanes,
        service_levels,
    };
    let (graph, tables) = tables(&mut dice, graph, budget);
    let drawn = Drawn {
        seed,
        family,
        service_levels,
        management: family.may_have_vl15() && !stratum.plain && dice.chance(40) && lanes < 32,
    };
    let cycles = stratum.scale.cycles(&mut dice);
    let mut turn = 0;
    let mut plan = loop {
        let mut plan = plan(&mut dice, &drawn, &graph, cycles);
        probe(&mut plan, false, stratum.attempt);
        admission::add(&mut plan, 64 * stratum.attempt + turn);
        turn += 1;
        if plan.admission.is_none() && !is_excluded(&mut plan) {
            break plan;
        }
    };
    for _ in 0..dice.pick(&[1, 1, 1, 1, 2]) {
        add(
            &mut dice,
            &graph,
            (service_levels.into(), drawn.management),
            &mut plan,
        );
    }
    plan.switch = drawn.switch_options(&mut dice, lanes, &plan);
    dropping::add(&mut plan, stratum.attempt);
    if !stratum.plain {
        wormhole::add_to_routes(&mut plan, stratum.attempt);
    }
    let case = finish(&mut dice, stratum, plan, graph, tables, cycles);
    Case { fork: None, ..case }
}

/// A tree; wide ones have many links between neighbours, or many hosts.
fn tree(dice: &mut Dice, seed: u64, scale: Scale, ports: u32) -> Graph {
    match scale {
        Scale::Wide(_) if dice.chance(50) => {
            shipped::named_topology(seed, "KAryNTree", &format!("(k: {ports}, n: 1)"))
        }
        Scale::Wide(_) => {
            let text = format!("(k: 2, n: 2, width: {})", ports - 2);
            shipped::named_topology(seed, "EnrichedTree", &text)
        }
        Scale::Crowded => {
            let (name, text) = dice.pick(&CROWDED);
            shipped::named_topology(seed, name, text)
        }
        Scale::Usual | Scale::Long => {
            let (name, text) = dice.pick(&TREES);
            shipped::named_topology(seed, name, text)
        }
    }
}

/// Tables of one layer: up by any of the shortest ways, then straight down; or now and then along a chain first, always
/// towards higher numbers.
fn tables(dice: &mut Dice, graph: Graph, budget: LaneBudget) -> (Graph, Tables) {
    let of_level = dice.between(1, budget.lanes.into()) as u8;
    // roots come first: those above have lower numbers
    let rank: Vec<_> = graph.switch_ids().map(|switch| (0, switch.0)).collect();
    let (graph, mut tables) = fabric::up_down_on(dice, graph, &rank, budget, (1, of_level));
    if let Shape::EnrichedTree(shape) = graph.shape()
        && dice.chance(35)
    {
        let share = dice.pick(&[10, 40, 100]);
        let (hosts, mut next) = (tables.host_count, tables.next.to_vec());
        for (place, port) in next.iter_mut().enumerate() {
            let at = SwitchId((place / hosts % tables.switch_count) as u32);
            let host = (place % hosts) as u32;
            let level = shape.tree.level(at);
            let length = shape.chain_length(level);
            let is_below = shape.tree.word(at) / length == host / (length * shape.tree.arity);
            if is_below && shape.place(at) + 1 < length && dice.chance(share) {
                let first = shape.first_horizontal_port(level);
                *port = (first + dice.between(0, shape.width - 1)) as u8;
            }
        }
        tables.next = Entries::new(&next, hosts);
    }
    (graph, tables)
}

/// Whether algorithms are shared or look at their switches (D67) that cannot do without.
fn is_excluded(plan: &mut Plan) -> bool {
    let controls = plan.classes.iter_mut();
    let mut controls = controls.filter_map(|class| class.control.as_mut());
    controls.any(|control| {
        if let Algorithm::Erratic(machines) = &mut control.algorithm {
            (machines.looks, machines.shared) = (None, false);
        }
        control.algorithm.looks().is_some() || control.algorithm.is_shared()
    })
}

/// A class that sets up, and the class of its control packets, on one of so many service levels or on VL15.
fn add(dice: &mut Dice, graph: &Graph, (levels, management): (u32, bool), plan: &mut Plan) {
    if plan.flows.is_empty() {
        plan.host.scheduler = dice.pick(&SCHEDULERS);
    }
    let number = plan.first_answers() as u16;
    let (size, answer) = (traffic::sizes(dice), dice.pick(&[1, 1, 1, 2, 4]));
    let mut flows = flows(dice, graph, number, &size);
    let hosts = || graph.host_ids().collect();
    let level = SlId(dice.between(0, levels - 1) as u8);
    let all = levels::several(dice, level, levels);
    levels::give(&mut flows, number.into(), &all);
    let class = ClassPlan {
        flows: Some(flows.len() as u64),
        ..ClassPlan::silent(format!("set-ups {number}"), hosts(), size, all)
    };
    let name = format!("answers to {number}");
    let level = SlId(dice.between(0, levels - 1) as u8);
    let of_answers = levels::of_answers(dice, level, &class);
    let size = SizeDistribution::fixed(answer);
    let answers = ClassPlan {
        answers: Some(number),
        ..ClassPlan::silent(name, hosts(), size, of_answers)
    };
    // classes of answers stay the last ones
    for control in plan
        .classes
        .iter_mut()
        .filter_map(|class| class.control.as_mut())
    {
        control.answers += 1;
    }
    plan.classes.insert(number.into(), class);
    plan.classes.push(answers);
    plan.flows.extend(flows);
    let last = plan.classes.len() - 1;
    plan.classes[last].management = management && dice.chance(65);
    let algorithm = algorithm(dice, plan, number.into(), answer);
    plan.classes[usize::from(number)].control = Some(Control {
        algorithm,
        answers: last as u16,
        transport: None,
        queue: None,
    });
    if plan.observe.is_on() {
        for observed in [&mut plan.observe.classes, &mut plan.observe.percentiles] {
            observed.insert(number.into(), true);
            observed.push(true);
        }
    }
}

fn algorithm(dice: &mut Dice, plan: &Plan, number: usize, answer: u16) -> Algorithm {
    let text = format!(
        "(hops: {}, free: {}, cache: {}, connections: {}, release: {})",
        dice.pick(&["0", "1", "1", "2", "8", "None", "None"]),
        dice.chance(50),
        dice.pick(&["0", "1", "1", "2", "8", "None", "None", "None"]),
        dice.pick(&["Flows", "Pairs"]),
        dice.pick(&["Acknowledged", "LastPacket", "AtOnce"]),
    );
    let class = &plan.classes[number];
    let context = ControlContext {
        clock: Clock {
            flit_bytes: plan.flit_bytes,
            reference_rate: plan.reference_rate,
        },
        smallest: class.size.smallest(),
        largest: class.size.largest(),
        answer,
        peak: None,
        link: WHOLE_LINK,
    };
    let build = ALGORITHMS.find("SetUp").expect("its own name").build;
    let made = build(Arguments { text: &text }, context);
    made.unwrap_or_else(|mistake| panic!("SetUp{text}: {mistake}"))
}

/// Flows between hosts of which some are busy, so that counters differ and pairs have several flows.
fn flows(dice: &mut Dice, graph: &Graph, class: u16, size: &SizeDistribution) -> Vec<FlowPlan> {
    let hosts = graph.hosts().len() as u32;
    let count = dice.pick(&[1, 3, 8, 15, 15, 30, 40]);
    let mut some = |most: u32| -> Vec<HostId> {
        let count = dice.between(1, most.min(hosts));
        (0..count)
            .map(|_| HostId(dice.between(0, hosts - 1)))
            .collect()
    };
    let (sources, destinations) = (some(6), some(4));
    let [from_busy, to_busy] = [0, 1].map(|_| dice.pick(&[0, 60, 90]));
    let latest = dice.pick(&[0, 0, 40, 400]);
    let longest = u32::from(size.largest().min(40)) * dice.pick(&[1, 3, 3, 8]);
    let heaviest = dice.pick(&[1, 4, 4, 9, 65_535]);
    let mut flow = || {
        let any = HostId(dice.between(0, hosts - 1));
        let source = if dice.chance(from_busy) {
            dice.pick(&sources)
        } else {
            any
        };
        let busy = dice.pick(&destinations);
        let destination = if dice.chance(to_busy) && busy != source {
            busy
        } else {
            traffic::other(hosts, source, &mut dice.0)
        };
        FlowPlan {
            start: dice.between(0, latest).into(),
            flits: Some(dice.between(1, longest).into()),
            weight: dice.between(1, heaviest) as u16,
            ..FlowPlan::backlogged(class, source, destination)
        }
    };
    (0..count).map(|_| flow()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::can_wait_in_a_circle;

    /// Whatever their tables and choices, set-ups and all other packets go up, along a chain, and down.
    #[test]
    fn no_case_waits_in_a_circle() {
        for seed in 0..60 {
            let case = case_with_set_ups(seed);
            let waits = can_wait_in_a_circle(&case.graph, &case.routing);
            assert!(!waits, "seed {seed}");
        }
    }
}
