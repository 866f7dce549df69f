//! The parts that scenarios can name: topologies, routing engines, patterns, arrival processes, slot sources.
//!
//! The registries are enumerated, so a new part is drawn here from its first day; a part that cannot do without
//! arguments needs them here.

use super::strata::{Scale, Stratum, threads};
use super::{
    Case, Dice, Drawn, admission, bound, dropping, finish, management, options, plainness, plan,
    probe, standing, timing, wormhole,
};
use crate::structure::mixed::{Mix, mixed};
use std::path::Path;
use std::sync::Arc;
use virtlane::ids::HostId;
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::routing::{ENGINES, LaneBudget, Routes, RoutingError};
use virtlane::topology::{BuildContext, ChannelTiming, Graph, TOPOLOGIES};
use virtlane::traffic::{
    OfferedProcess, PATTERNS, PROCESSES, Pattern, PatternContext, Process, ProcessContext,
    SLOT_SOURCES, SlotSource,
};
use virtlane::units::Clock;

/// The engine that is not drawn: tables from a file fit one fabric only.
const LEFT_OUT: &str = "TableImport";

/// Engines that are drawn.
pub(crate) fn engines() -> Vec<&'static str> {
    ENGINES.names().filter(|&name| name != LEFT_OUT).collect()
}

/// Small samples of each topology.
fn topology_arguments(name: &str) -> &'static [&'static str] {
    match name {
        "Clos" => &["(n: 2, r: 3)", "(n: 3, r: 4)"],
        "Complete" => &["(switches: 4, hosts_per_switch: 2)"],
        "ConcentratedMesh" => &["(radix: [4, 4], block: [1, 1])"],
        "Dragonfly" => &["(p: 1, a: 3, h: 1, g: 4)"],
        "EdgeList" => &["(links: [(0, 1), (2, 1), (2, 3), (3, 0)], hosts: [0, 2, 2, 3])"],
        "EnrichedTree" => &["(k: 2, n: 2, width: 2)"],
        "GraphMl" => &["(file: \"tests/networks/petersen.graphml\", hosts_per_switch: 1)"],
        "HyperX" => &["(sizes: [3, 2], multiplicity: [2, 1], hosts_per_switch: 2)"],
        "Hypercube" => &["(dimensions: 3)", "(dimensions: 4)"],
        "Ibnetdiscover" => &["(file: \"assets/fabrics/loginoff_8sw.ibnetdiscover\")"],
        "Ibsim" => &["(file: \"tests/opensm/irr_16_d4_s1/irr_16_d4_s1.net\")"],
        "Irregular" => &["(switches: 8, degree: 3, hosts_per_switch: 2)"],
        "KAryNFly" => &["(k: 2, n: 3)", "(k: 3, n: 2)"],
        "KAryNTree" => &["(k: 2, n: 3)", "(k: 3, n: 2)", "(k: 4, n: 2)"],
        "Kautz" => &["(degree: 2, k: 2)"],
        "LeafSpine" => &["(leaves: 4, spines: 2, hosts_per_leaf: 3, parallel_links: 2)"],
        "Mesh" => &["(radix: [3, 3])", "(radix: [4, 4])"],
        "Petersen" => &["(hosts_per_switch: 1)"],
        "Ring" => &["(switches: 5, hosts_per_switch: 2)"],
        "Star" => &["(leaves: 3, hosts_per_leaf: 2, parallel_links: 2)"],
        "Torus" => &["(radix: [4, 3])", "(radix: [3, 2, 2])"],
        "Tree" => &["(arity: 2, levels: 3, parallel: [2, 4])"],
        "Xgft" => &["(children: [3, 2], parents: [1, 2], parallel: [1, 2])"],
        name => panic!("give `{name}` a sample argument here"),
    }
}

fn topology(dice: &mut Dice, seed: u64, name: &str) -> Graph {
    let text = dice.pick(topology_arguments(name));
    named_topology(seed, name, text)
}

/// A topology with these arguments.
pub(super) fn named_topology(seed: u64, name: &str, text: &str) -> Graph {
    let entry = TOPOLOGIES.find(name).expect("registered");
    let topology = (entry.build)(Arguments { text }).expect("arguments fit");
    let context = BuildContext {
        seed,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 160_000_000_000,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base: Path::new(""),
    };
    topology.build(&context).expect("a graph")
}

/// Tables or a routing function of an engine, with the lanes they need at least, where it takes the graph.
fn routes(
    dice: &mut Dice,
    seed: u64,
    engine: &str,
    graph: &Graph,
    service_levels: u8,
) -> Option<(Routes, u8)> {
    let entry = ENGINES.find(engine).expect("registered");
    let offers_lanes = entry.parameters.iter().any(|known| known.name == "lanes");
    let text = if offers_lanes && dice.chance(50) {
        "(lanes: Any)"
    } else {
        "()"
    };
    let engine = (entry.build)(Arguments { text }).expect("no arguments needed");
    let first = dice.between(1, 6) as u8;
    for lanes in first..=15 {
        let budget = LaneBudget {
            lanes,
            service_levels,
        };
        match engine.route(graph, budget, seed, Path::new("")) {
            Ok(routes) => return Some((routes, lanes)),
            Err(RoutingError::TooFewLanes { .. }) => {}
            Err(RoutingError::Unsupported { .. }) => return None,
            Err(error) => panic!("{}: {error}", entry.name),
        }
    }
    None
}

/// What a seed decides: whether the fast path is meant, and the mode; with an engine or a topology. In turn, so that
/// cases in a row hold all of them.
fn stratum(seed: u64) -> (Stratum, Option<&'static str>, Option<&'static str>) {
    let (engines, topologies) = (engines(), TOPOLOGIES.names().collect::<Vec<_>>());
    let turn = (seed / 2) as usize;
    let (engine, topology) = if seed.is_multiple_of(2) {
        (Some(engines[turn % engines.len()]), None)
    } else {
        (None, Some(topologies[turn % topologies.len()]))
    };
    // moves on with every pass, lest an engine keeps its threads
    let number = seed / 2 + (turn / engines.len()) as u64;
    let stratum = Stratum {
        plain: number.is_multiple_of(2),
        scale: Scale::Usual,
        threads: threads(number / 2),
        feature: None,
        attempt: 0,
    };
    (stratum, engine, topology)
}

/// The case of a seed with a topology and an engine that scenarios can name.
pub(crate) fn shipped_case(seed: u64) -> Case<Routes> {
    let mut dice = Dice(stream(seed, Purpose::Topology, 2));
    let (stratum, engine, name) = stratum(seed);
    let (family, uniform) = plainness(&mut dice, stratum.plain);
    let service_levels = dice.between(1, 3) as u8;
    let (engines, topologies) = (engines(), TOPOLOGIES.names().collect::<Vec<_>>());
    let (name, graph, routes, lanes) = loop {
        let name = name.unwrap_or_else(|| dice.pick(&topologies));
        let engine = engine.unwrap_or_else(|| dice.pick(&engines));
        let mut graph = topology(&mut dice, seed, name);
        if seed % 3 == 1 {
            // under other numbers: its structure is found in the graph
            graph = mixed(&graph, Mix::All, seed).recognised();
        }
        if let Some((routes, lanes)) = routes(&mut dice, seed, engine, &graph, service_levels) {
            break (name, graph, routes, lanes);
        }
    };
    let graph = timing::timed(&mut dice, &graph, uniform);
    let is_adaptive = matches!(routes, Routes::Adaptive(_));
    let drawn = Drawn {
        seed,
        family,
        service_levels,
        management: family.may_have_vl15() && !stratum.plain && !is_adaptive && dice.chance(25),
    };
    let cycles = stratum.scale.cycles(&mut dice) * 2 / 3;
    let mut plan = plan(&mut dice, &drawn, &graph, cycles);
    plan.title = format!("{} on {name}, random case {seed}", routes.engine());
    probe(&mut plan, routes.tables().is_some(), 0);
    if !stratum.plain {
        bound(&mut plan, 0);
    }
    plan.switch = drawn.switch_options(&mut dice, lanes, &plan);
    if routes.tables().is_some() {
        admission::add(&mut plan, 0);
    }
    if let Routes::Adaptive(adaptive) = &routes {
        let selection = adaptive.routing.selection();
        options::allow_adaptive(&mut plan.switch, selection);
        dropping::add(&mut plan, 0);
        if !stratum.plain {
            // few cases have an engine of this kind
            wormhole::add_to(&mut plan, Some(selection), 100, 0);
        }
    }
    let mut case = finish(&mut dice, &stratum, plan, graph, routes, cycles);
    if let Routes::Adaptive(adaptive) = &case.routing
        && !stratum.plain
    {
        let selection = adaptive.routing.selection();
        standing::add(&mut case, selection, &stratum);
        management::add(&mut case, 0);
    }
    case
}

/// A pattern that fits the hosts, with its name.
pub(super) fn pattern(
    dice: &mut Dice,
    graph: &Graph,
    hosts: &[HostId],
    seed: u64,
    class: usize,
) -> (&'static str, Arc<dyn Pattern>) {
    let names: Vec<_> = PATTERNS.names().collect();
    let count = graph.hosts().len() as u32;
    let context = PatternContext {
        graph,
        hosts,
        ranks: hosts,
        seed,
        class,
    };
    for _ in 0..20 {
        let name = dice.pick(&names);
        let host = dice.between(0, count - 1);
        let text = match name {
            "AllTo" => format!("(target: {host}, self_traffic: {})", dice.chance(50)),
            "BadDragon" => {
                let divisors = (1..count).filter(|size| count.is_multiple_of(*size));
                let size = dice.pick(&divisors.collect::<Vec<_>>());
                format!(
                    "(group_hosts: {size}, by: {})",
                    dice.between(1, count / size - 1)
                )
            }
            "HotSpot" => {
                let (other, own) = ((host + 1) % count, dice.chance(50));
                let weights = format!("[{}, {}]", dice.between(1, 3), dice.between(1, 3));
                let fraction = dice.between(1, 9);
                format!(
                    "(targets: [{host}, {other}], weights: {weights}, fraction: 0.{fraction}, self_traffic: {own})"
                )
            }
            "Pairs" => {
                let other = (host + dice.between(0, count - 1)) % count;
                format!("(pairs: [({host}, {other}), ({other}, {host})], self_traffic: true)")
            }
            "Shift" => format!("(by: {})", dice.between(1, count - 1)),
            _ => format!("(self_traffic: {})", dice.chance(50)),
        };
        let entry = PATTERNS.find(name).expect("registered");
        // many fit some numbers of hosts or some topologies only
        if let Ok(pattern) = (entry.build)(Arguments { text: &text }, &context) {
            return (name, pattern);
        }
    }
    ("none that fits", Arc::new(super::ToOne(HostId(0))))
}

/// An arrival process with its name; `saturating`: one that always has a packet.
pub(super) fn process(
    dice: &mut Dice,
    mean_size: f64,
    saturating: bool,
) -> (&'static str, OfferedProcess) {
    let name = process_name(dice, saturating);
    let load = format!("load: 0.{:02}", dice.between(2, 90));
    let text = process_arguments(dice, name, &load, mean_size);
    let context = ProcessContext {
        mean_size,
        cycles_per_flit: dice.pick(&[1, 1, 2]),
    };
    (name, offered(name, &text, context))
}

/// Ticks of slots, of any load up to that of the whole link.
pub(super) fn ticks(dice: &mut Dice, context: ProcessContext) -> Arc<dyn Process> {
    let name = process_name(dice, false);
    // a flow has one tick of many
    let (least, most) = dice.pick(&[(1, 20), (20, 99), (100, 100), (100, 100)]);
    let load = f64::from(dice.between(least, most)) / 100.0;
    let mean_interval = context.mean_size * f64::from(context.cycles_per_flit);
    let text = process_arguments(dice, name, &format!("load: {load}"), mean_interval);
    offered(name, &text, context).process
}

fn process_name(dice: &mut Dice, saturating: bool) -> &'static str {
    let names: Vec<_> = PROCESSES
        .names()
        .filter(|&name| (name == "Saturating") == saturating)
        .collect();
    dice.pick(&names)
}

/// Arguments of a process; `interval`: mean cycles of a packet on the link.
fn process_arguments(dice: &mut Dice, name: &str, load: &str, interval: f64) -> String {
    match name {
        "Saturating" => String::from("()"),
        "OnOff" => format!("({load}, burst: {})", dice.between(1, 8)),
        "NormalGaps" => {
            // packets of one flit leave a cut normal law no room at high loads
            let load = format!("load: 0.{:02}", dice.between(2, 60));
            dice.pick(&[format!("({load})"), format!("({load}, deviation: 0.5)")])
        }
        "NormalPoisson" => {
            let window = dice.pick(&[1, 2, 5]) * (1100.0 * interval).ceil() as u32;
            format!("({load}, window: {window})")
        }
        "SelfSimilar" => {
            // slots of one cycle and more for packets of one flit
            let load = format!("load: 0.{:02}", dice.between(2, 40));
            let shape = dice.pick(&["1.2", "1.5", "1.9"]);
            dice.pick(&[
                format!("({load}, shape: {shape})"),
                format!("({load}, shape: {shape}, sources: 3, per_slot: 0.7, burst: 6)"),
                format!("({load}, mode: Legacy)"),
            ])
        }
        "ConstantRate" => dice.pick(&[format!("({load})"), format!("({load}, phase: Zero)")]),
        _ => format!("({load})"),
    }
}

fn offered(name: &str, text: &str, context: ProcessContext) -> OfferedProcess {
    let entry = PROCESSES.find(name).expect("registered");
    (entry.build)(Arguments { text }, context).expect("arguments fit")
}

/// What says whether a flow sends in a tick of its slot.
pub(super) fn slot_source(dice: &mut Dice) -> Arc<dyn SlotSource> {
    let names: Vec<_> = SLOT_SOURCES.names().collect();
    let name = dice.pick(&names);
    let text = match name {
        "Chance" => {
            let percent = dice.pick(&[5, 30, 60, 90, 100]);
            format!("(probability: {})", f64::from(percent) / 100.0)
        }
        "SelfSimilar" => {
            let per_slot = dice.pick(&[0.3, 0.5, 0.8]);
            dice.pick(&[
                format!("(per_slot: {per_slot})"),
                String::from("(mode: Legacy)"),
            ])
        }
        name => panic!("give `{name}` arguments here"),
    };
    let entry = SLOT_SOURCES.find(name).expect("registered");
    (entry.build)(Arguments { text: &text })
        .expect("arguments fit")
        .source
}
