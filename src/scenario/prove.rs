//! The last step before a run: is what the routing engine promises true, and does it hold for requests and their answers?

use crate::ids::{HostId, SlId, VlId};
use crate::plan::{BufferSharing, ClassPlan, Plan};
use crate::routing::adaptive::first_lane;
use crate::routing::proof::answers::HostDependencies;
use crate::routing::proof::dependency_graph::describe_cycle;
use crate::routing::{
    Beside, OwnRoute, Proof, Routes, SetUpRoutes, Tables, VerifyError, VerifyOptions, adaptive,
    verify_with,
};
use crate::topology::Graph;
use std::collections::{BTreeMap, BTreeSet};

/// Why routes are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// They may deadlock.
    #[error("{what}; the channels that may wait in a circle:\n{circle}")]
    Circle {
        /// What may, in words.
        what: String,
        /// The channels that may wait in a circle, line by line.
        circle: String,
    },
    /// They do not do what their engine promises, or leave a pair without a way.
    #[error("{0}")]
    Wrong(String),
}

/// VL15 and data go different ways through inputs that either of them keeps.
const KEPT: &str = "with `input_turns: Packets` packets of VL15, which go by tables of their own beside this engine, and packets that choose wait for \
                    each other's inputs, and nothing shows that they do not in a circle: use `input_turns: Flits`, or `allow_deadlock: true`";

/// Checks the routes for the lanes and service levels of the plan.
///
/// # Errors
/// Names the wrong path or the broken promise; routes that may deadlock are an error unless the plan says
/// `allow_deadlock`.
pub fn prove(graph: &Graph, routes: &Routes, plan: &Plan) -> Result<Proof, Refusal> {
    let service_levels = proved_levels(plan);
    let options = VerifyOptions {
        service_levels: &service_levels,
        lanes: plan.switch.lanes,
        pool_shared: plan.switch.joins_lanes(),
        senders: None,
        receivers: None,
        allow_unreachable: plan.allow_unreachable,
    };
    let tables = match routes {
        Routes::Tables(tables) => tables,
        Routes::Adaptive(routes) => {
            // packets on their way need one for every pair
            let whole = VerifyOptions {
                allow_unreachable: false,
                ..options
            };
            let proof = adaptive::verify(graph, routes, &whole);
            let proof = proof.map_err(|error| Refusal::Wrong(error.to_string()))?;
            refuse_cycle(graph, &proof, plan, "the data lanes")?;
            if let Some(tables) = &plan.management_tables {
                if options.pool_shared && !plan.allow_deadlock {
                    return Err(Refusal::Wrong(String::from(KEPT)));
                }
                let own = VerifyOptions {
                    service_levels: &[SlId(0)],
                    pool_shared: true,
                    ..whole
                };
                prove_management(graph, tables, &own, &Beside::default(), plan)?;
            }
            return Ok(proof);
        }
    };
    let (routes, set_ups) = (own_routes(plan), set_ups(plan));
    let [data, management] = [0, 1].map(|lanes| Beside {
        routes: &routes[lanes],
        set_ups: &set_ups[lanes],
    });
    let proof = verify_with(graph, tables, &options, &data)
        .map_err(|error| Refusal::Wrong(refuse(&error, plan)))?;
    refuse_cycle(graph, &proof, plan, "the data lanes")?;
    if plan.classes.iter().any(|class| class.management) && !options.pool_shared {
        // VL15 is one lane: layers do not help there
        let merged = VerifyOptions {
            pool_shared: true,
            ..options
        };
        prove_management(graph, tables, &merged, &management, plan)?;
    }
    Ok(proof)
}

/// The same of VL15, by its tables.
fn prove_management(
    graph: &Graph,
    tables: &Tables,
    options: &VerifyOptions<'_>,
    beside: &Beside<'_>,
    plan: &Plan,
) -> Result<(), Refusal> {
    let proof = verify_with(graph, tables, options, beside);
    let proof = proof.map_err(|error| Refusal::Wrong(error.to_string()))?;
    refuse_cycle(graph, &proof, plan, "VL15")
}

/// Service levels of data, ascending: those that routes are proved for.
pub(super) fn proved_levels(plan: &Plan) -> Vec<SlId> {
    let mut service_levels: Vec<SlId> = plan
        .classes
        .iter()
        .filter(|class| !class.management)
        .flat_map(|class| class.service_levels.iter().copied())
        .collect();
    service_levels.sort_unstable();
    service_levels.dedup();
    if service_levels.is_empty() {
        service_levels.push(SlId(0));
    }
    service_levels
}

/// Routes that flows have of their own, with the service levels of what goes over them: in data lanes, and on VL15.
fn own_routes(plan: &Plan) -> [Vec<OwnRoute<'_>>; 2] {
    let (mut data, mut management) = (Vec::new(), Vec::new());
    let Some(routes) = &plan.routes_of_flows else {
        return [data, management];
    };
    for (flow, channels) in plan.flows.iter().zip(routes.iter()) {
        let class = &plan.classes[usize::from(flow.class)];
        data.push(OwnRoute {
            channels,
            level: class.level_of(flow),
        });
        let control = class.control.as_ref();
        let probing =
            control.filter(|control| control.algorithm.probes() && control.transport.is_none());
        if let Some(control) = probing {
            let answers = &plan.classes[usize::from(control.answers)];
            let level = answers.level_of(flow);
            let list = if answers.management {
                &mut management
            } else {
                &mut data
            };
            list.push(OwnRoute { channels, level });
        }
    }
    [data, management]
}

/// Routes that may be set up, by the service levels of data and of set-ups: in data lanes, and on VL15.
pub(super) fn set_ups(plan: &Plan) -> [Vec<SetUpRoutes>; 2] {
    let mut lists = [Vec::new(), Vec::new()];
    for class in &plan.classes {
        let (Some(set_up), Some(control)) = (class.set_up(), &class.control) else {
            continue;
        };
        let answers = &plan.classes[usize::from(control.answers)];
        let levels = |packets: &ClassPlan| match &packets.service_levels[..] {
            [] => vec![SlId::default()],
            levels => levels.to_vec(),
        };
        let all = [class, answers].map(|packets| (packets.management, levels(packets)));
        for (management, levels) in all {
            let list = &mut lists[usize::from(management)];
            for level in levels {
                let routes = SetUpRoutes {
                    level,
                    hops: set_up.hops,
                    free: set_up.free,
                };
                if !list.contains(&routes) {
                    list.push(routes);
                }
            }
        }
    }
    lists
}

fn refuse(error: &VerifyError, plan: &Plan) -> String {
    match error {
        VerifyError::NoPath {
            is_missing: true, ..
        } if !plan.allow_unreachable => {
            format!("{error}; `allow_unreachable: true` leaves such pairs out")
        }
        _ => error.to_string(),
    }
}

fn refuse_cycle(graph: &Graph, proof: &Proof, plan: &Plan, lanes: &str) -> Result<(), Refusal> {
    if proof.acyclic || plan.allow_deadlock {
        return Ok(());
    }
    let cycle = proof.cycle.as_deref().unwrap_or_default();
    let own = match plan.routes_of_flows {
        Some(_) => " with the routes of flows (`fluid.policy`)",
        None if plan.sets_up() => " with all routes that `control: SetUp` may set up",
        None => "",
    };
    let joined = if plan.switch.joins_lanes() {
        ", of which one stops the others (`sharing: PortPool`, `input_turns: Packets`),"
    } else {
        ""
    };
    Err(Refusal::Circle {
        what: format!("{lanes}{joined}{own} may deadlock"),
        circle: describe_cycle(graph, cycle),
    })
}

/// Extends a proof over requests and their answers, where classes bound their queues of answers (D57).
///
/// # Errors
/// Names what may wait in a circle, unless the plan says `allow_deadlock`.
pub fn prove_answers(
    graph: &Graph,
    routes: &Routes,
    plan: &Plan,
    proof: &mut Proof,
) -> Result<(), String> {
    if plan.bounded().next().is_none() {
        return Ok(());
    }
    let (count, circle) = match routes {
        Routes::Tables(tables) => in_lanes(graph, tables, plan),
        Routes::Adaptive(adaptive) => in_groups(adaptive.routing.width(), plan),
    };
    proof.held = Some(count);
    let Some(circle) = circle else {
        return Ok(());
    };
    proof.acyclic = false;
    if plan.allow_deadlock {
        return Ok(());
    }
    Err(format!(
        "requests and their answers may deadlock: give the answers a service level with lanes of its own \
         (`answers: (sl: ...)`), set `queue: None`, or `allow_deadlock: true`; what may wait in a circle:\n{circle}"
    ))
}

/// Dependencies of the packets there are, and a cycle in words.
fn in_lanes(graph: &Graph, tables: &Tables, plan: &Plan) -> (u64, Option<String>) {
    let pool_shared = plan.switch.joins_lanes();
    let mut waits = HostDependencies::new(graph, tables, plan.switch.lanes, pool_shared);
    // lanes in and lanes out, by class and host
    let mut held: BTreeMap<(u16, HostId), [BTreeSet<VlId>; 2]> = BTreeMap::new();
    for (id, flow) in plan.flows.iter().enumerate() {
        let class = &plan.classes[usize::from(flow.class)];
        let back = [flow.destination, flow.source];
        let follow = |level: SlId| match &plan.routes_of_flows {
            Some(routes) => waits.follow_route(&OwnRoute {
                channels: routes.of(id),
                level,
            }),
            None => waits.follow([flow.source, flow.destination], level),
        };
        let request = follow(class.level_of(flow));
        let Some(control) = &class.control else {
            continue;
        };
        let answers = &plan.classes[usize::from(control.answers)];
        if control.transport.is_some() || answers.management {
            continue;
        }
        let level = answers.level_of(flow);
        let answer = waits.follow(back, level);
        if control.algorithm.probes() {
            follow(level);
        }
        if let (Some(_), Some([_, last]), Some([first, _])) = (control.queue, request, answer) {
            let lanes = held.entry((flow.class, flow.destination)).or_default();
            lanes[0].insert(last);
            lanes[1].insert(first);
        }
    }
    for class in plan.classes.iter().filter(|class| class.sends_to_all()) {
        for &level in &class.service_levels {
            for &from in &class.hosts {
                for to in graph.host_ids().filter(|&to| to != from) {
                    waits.follow([from, to], level);
                }
            }
        }
    }
    waits.hold(held.iter().flat_map(|(&(_, host), [into, out])| {
        let pairs = into
            .iter()
            .flat_map(|&lane| out.iter().map(move |&answers| (lane, answers)));
        pairs.map(move |(lane, answers)| (host, lane, answers))
    }));
    let cycle = waits.find_cycle();
    (
        waits.count(),
        cycle.map(|cycle| describe_cycle(graph, &cycle)),
    )
}

/// Groups of lanes that wait for others where packets choose among the lanes of a group, and a circle of them in words.
fn in_groups(width: u8, plan: &Plan) -> (u64, Option<String>) {
    let first = |level: SlId| match plan.switch.sharing {
        BufferSharing::PortPool => 0,
        BufferSharing::PerLane => first_lane(width, plan.switch.lanes, level),
    };
    let mut all: Vec<(&ClassPlan, &ClassPlan, [u8; 2])> = Vec::new();
    for (number, control, _) in plan.bounded() {
        let class = &plan.classes[usize::from(number)];
        let answers = &plan.classes[usize::from(control.answers)];
        // VL15 is in nobody's way
        if class.management || answers.management {
            continue;
        }
        let flows = (plan.flows.iter()).filter(|flow| flow.class == number);
        let lanes = flows.map(|flow| [class, answers].map(|class| first(class.level_of(flow))));
        let lanes: BTreeSet<[u8; 2]> = lanes.collect();
        all.extend(lanes.into_iter().map(|lanes| (class, answers, lanes)));
    }
    let mut left = all.clone();
    loop {
        let waiting: BTreeSet<u8> = left.iter().map(|(_, _, [own, _])| *own).collect();
        let awaited: BTreeSet<u8> = left.iter().map(|(_, _, [_, other])| *other).collect();
        let known = left.len();
        left.retain(|(_, _, [own, other])| waiting.contains(other) && awaited.contains(own));
        if left.len() == known {
            break;
        }
    }
    let line = |&(class, answers, [own, other]): &(&ClassPlan, &ClassPlan, [u8; 2])| {
        let last = width - 1;
        format!(
            "packets of `{}` in lanes {own} to {} of a host wait for `{}` in lanes {other} to {}",
            class.name,
            own + last,
            answers.name,
            other + last
        )
    };
    let lines: Vec<String> = left.iter().map(line).collect();
    (
        all.len() as u64,
        (!lines.is_empty()).then(|| lines.join("\n")),
    )
}
