//! Random cases whose flows have routes of their own (D66): by the policies of scenarios, and any ways through any graph.

use super::strata::{Kind, Scale, Stratum};
use super::{Case, Dice, Drawn, admission, bound, draw, dropping, fabric, finish, plainness};
use super::{plan, probe, shipped, timing, wormhole};
use virtlane::control::Algorithm;
use virtlane::fluid::network::{Builder, UNIT};
use virtlane::fluid::rates::SOLVERS;
use virtlane::fluid::routes::{Ends, POLICIES, Ways};
use virtlane::ids::{ChannelId, HostId};
use virtlane::plan::{FlowPlan, Limit, Plan};
use virtlane::registry::Arguments;
use virtlane::routing::{LaneBudget, Tables};
use virtlane::topology::{Graph, Shape};

/// Small trees that policies are for: topology and arguments.
const TREES: [(&str, &str); 7] = [
    ("KAryNTree", "(k: 2, n: 2)"),
    ("KAryNTree", "(k: 2, n: 3)"),
    ("KAryNTree", "(k: 3, n: 2)"),
    ("EnrichedTree", "(k: 2, n: 2, width: 2)"),
    ("EnrichedTree", "(k: 2, n: 3, width: 1)"),
    ("EnrichedTree", "(k: 3, n: 2, width: 1)"),
    ("EnrichedTree", "(k: 4, n: 2, width: 1)"),
];

/// The case of a seed whose flows have routes of their own.
pub(crate) fn case_with_routes(seed: u64) -> Case {
    let stratum = Stratum::of(Kind::OwnRoutes, seed);
    draw(seed, 1 << 44, &stratum, with_routes)
}

fn with_routes(seed: u64, stratum: &Stratum, mut dice: Dice) -> Case {
    let (family, uniform) = plainness(&mut dice, stratum.plain);
    let (lanes, ports) = stratum.scale.lanes_and_ports(&mut dice);
    let service_levels = dice.between(1, 4) as u8;
    let graph = match stratum.scale {
        Scale::Usual | Scale::Long if dice.chance(70) => {
            let (name, text) = dice.pick(&TREES);
            shipped::named_topology(seed, name, text)
        }
        scale => fabric::graph(&mut dice, scale, ports),
    };
    let graph = timing::timed(&mut dice, &graph, uniform);
    let rank = fabric::levels(&graph);
    let budget = LaneBudget {
        lanes,
        service_levels,
    };
    let of_level = dice.between(1, u32::from(lanes)) as u8;
    let (graph, tables) = fabric::up_down_on(&mut dice, graph, &rank, budget, (1, of_level));
    let drawn = Drawn {
        seed,
        family,
        service_levels,
        management: family.may_have_vl15() && !stratum.plain && dice.chance(25) && lanes < 32,
    };
    let cycles = stratum.scale.cycles(&mut dice);
    let mut turn = 0;
    let mut plan = loop {
        let mut plan = plan(&mut dice, &drawn, &graph, cycles);
        probe(&mut plan, true, stratum.attempt);
        if !stratum.plain {
            bound(&mut plan, stratum.attempt);
        }
        plan.switch = drawn.switch_options(&mut dice, lanes, &plan);
        admission::add(&mut plan, 64 * stratum.attempt + turn);
        turn += 1;
        if !plan.flows.is_empty() && plan.admission.is_none() && !looks(&mut plan) {
            break plan;
        }
    };
    dropping::add(&mut plan, stratum.attempt);
    if !stratum.plain {
        wormhole::add_to_routes(&mut plan, stratum.attempt);
    }
    enter(&mut dice, &graph, &tables, &mut plan);
    let case = finish(&mut dice, stratum, plan, graph, tables, cycles);
    Case { fork: None, ..case }
}

/// Whether algorithms look at their switches (D51) that cannot do without.
fn looks(plan: &mut Plan) -> bool {
    let controls = plan.classes.iter_mut();
    let mut controls = controls.filter_map(|class| class.control.as_mut());
    controls.any(|control| {
        if let Algorithm::Erratic(machines) = &mut control.algorithm {
            machines.looks = None;
        }
        control.algorithm.looks().is_some()
    })
}

/// Gives all flows routes, and often rates on them; the title tells which.
fn enter(dice: &mut Dice, graph: &Graph, tables: &Tables, plan: &mut Plan) {
    let names: &[&str] = match graph.shape() {
        Shape::EnrichedTree(_) => &["Static", "Ascent", "ForcedDir", "ForcedDir", "FreeDir"],
        Shape::Tree(_) => &["Static", "Ascent", "Ascent"],
        _ => &["Static"],
    };
    let chance = if names.len() > 1 { 30 } else { 85 };
    let (name, routes) = if dice.chance(chance) {
        let flows = plan.flows.iter();
        let ways = flows.map(|flow| any_way(dice, graph, (flow.source, flow.destination)));
        ("chance", ways.collect())
    } else {
        let name = dice.pick(names);
        (name, by_policy(dice, name, graph, tables, plan))
    };
    plan.title = format!("{}, routes by {name}", plan.title);
    if dice.chance(50) {
        limit(dice, graph, &routes, plan);
        plan.title = format!("{}, limits by a solver", plan.title);
    }
    plan.routes_of_flows = Some(routes.into_iter().collect());
}

/// Routes of a policy that scenarios can name.
fn by_policy(
    dice: &mut Dice,
    name: &str,
    graph: &Graph,
    tables: &Tables,
    plan: &Plan,
) -> Vec<Vec<ChannelId>> {
    let ties = dice.pick(&["Random", "Lowest", "Digit"]);
    let hops = dice.pick(&["0", "1", "1", "2", "8", "None"]);
    let text = match name {
        "Static" => String::from("()"),
        "Ascent" => format!("(ties: {ties})"),
        _ => format!("(ties: {ties}, hops: {hops})"),
    };
    let build = POLICIES.find(name).expect("its own name").build;
    let policy = build(Arguments { text: &text }).expect("arguments fit");
    let ways = Ways {
        graph,
        tables: Some(tables),
    };
    let flows = plan.flows.iter().map(ends);
    let flows: Vec<Ends> = flows.collect();
    let routes = policy.routes(&ways, &flows, plan.seed);
    let routes = routes.unwrap_or_else(|error| panic!("{name}{text}: {error}"));
    let ids = |flow| routes.of(flow).iter().map(|&id| ChannelId(id)).collect();
    (0..flows.len()).map(ids).collect()
}

fn ends(flow: &FlowPlan) -> Ends {
    Ends {
        source: flow.source,
        destination: flow.destination,
        weight: flow.weight,
        level: flow.level,
    }
}

/// A way between two hosts that takes no channel twice.
fn any_way(dice: &mut Dice, graph: &Graph, (from, to): (HostId, HostId)) -> Vec<ChannelId> {
    let (home, port) = graph.attachment(to).expect("a switch");
    let last = graph.port_channel(home, port).expect("connected");
    let (longest, wander) = (dice.between(2, 9) as usize, dice.pick(&[0, 0, 40]));
    let to_home = fabric::distances(graph, home);
    loop {
        let mut route = vec![graph.host_channel(from)];
        while let Some(at) = graph.channel(route[route.len() - 1]).to.switch() {
            if at == home && (route.len() > longest || !dice.chance(wander)) {
                route.push(last);
                break;
            }
            let is_free = |id: &ChannelId| !route.contains(id);
            let next = graph.neighbors(at).filter_map(|(port, _, other)| {
                let id = graph.port_channel(at, port)?;
                // straight on when it has wandered enough
                let is_nearer = to_home[other.index()] < to_home[at.index()];
                (is_free(&id) && (is_nearer || route.len() < longest)).then_some(id)
            });
            let next: Vec<ChannelId> = next.collect();
            if next.is_empty() {
                break;
            }
            route.push(dice.pick(&next));
        }
        if route.ends_with(&[last]) {
            return route;
        }
    }
}

/// Limits of flows that have none, by a solver on these routes (F1, F4, D66).
fn limit(dice: &mut Dice, graph: &Graph, routes: &[Vec<ChannelId>], plan: &mut Plan) {
    let channels = graph.channels().iter();
    let capacities = channels.map(|channel| UNIT / u128::from(channel.timing.cycles_per_flit));
    let mut network = Builder::new(capacities.collect());
    for (number, (flow, route)) in (0..).zip(plan.flows.iter().zip(routes)) {
        let application = flow.phase.unwrap_or(1000 + number);
        let ids = route.iter().map(|id| id.0);
        network.flow(flow.weight.into(), application, ids);
    }
    let solvers: Vec<_> = SOLVERS.names().collect();
    let solver = SOLVERS.find(dice.pick(&solvers)).expect("its own name");
    let rates = (solver.build.solve)(&network.build(), plan.seed).expect("small");
    for (flow, rate) in plan.flows.iter_mut().zip(rates.rates) {
        let class = &plan.classes[usize::from(flow.class)];
        let is_free = flow.limit == Limit::None && flow.changes.is_empty();
        let rate = rate_of_limit(rate);
        // what D30 allows
        let least = 2 * u64::from(class.size.largest());
        if is_free && class.control.is_none() && rate > least {
            flow.limit = Limit::Rate(rate);
        }
    }
}

/// D66: a rate of a solver as that of a limit \[2^-32 flits per cycle\].
pub(crate) fn rate_of_limit(rate: u128) -> u64 {
    // both are multiples of 2^24, so that nothing overflows
    let exact = rate * (1 << 8) / (UNIT >> 24);
    let most = exact.min(1 << 32);
    (most as u64).max(1)
}
