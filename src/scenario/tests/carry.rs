//! What runs carry of the flow level: routes and limits in the plan, and what they do not go with.

use super::{refusal, refusals, resolve_registered as resolve};
use crate::fluid::routes::{POLICIES, Ways};
use crate::plan::Limit;
use crate::scenario::resolve::fluid_flows::ends;
use crate::scenario::{Parts, print};

/// Flows with limits, control and neither.
const CARRYING: &str = r#"
Scenario(
    seed: 4,
    fabric: (
        topology: EnrichedTree(k: 3, n: 2, width: 1),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 3, lane_capacity: "32 flits"),
    ),
    routing: FatTree(),
    traffic: [
        (name: "free", size: "8 flits", flows: [(pairs: Permutations(count: 2))]),
        (name: "held", size: "8 flits", flows: [(pairs: Permutations(count: 1), limit: Rate(0.125), start: "50 cycles")]),
        (name: "told", size: "8 flits", sl: 1, flows: [(pairs: Permutations(count: 1), bytes: "1 KiB")], control: RequestReply()),
        (name: "packets", size: "8 flits", sl: 2, pattern: Uniform, process: Bernoulli(load: 0.01)),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
    fluid: (policy: ForcedDir(), carry: Rates),
)
"#;

#[test]
fn routes_are_those_of_the_policy_and_rates_are_limits() {
    let resolved = resolve(CARRYING);
    let plan = &resolved.plan;
    let of_flows = plan.routes_of_flows.as_ref().unwrap();
    let policy = POLICIES.lookup("ForcedDir").unwrap().build;
    let policy = policy(crate::registry::Arguments { text: "()" }).unwrap();
    let flows = plan.flows.iter();
    let flows: Vec<_> = flows.map(ends).collect();
    let ways = Ways {
        graph: &resolved.layout.graph,
        tables: None,
    };
    let expected = policy.routes(&ways, &flows, plan.seed).unwrap();
    for (id, flow) in plan.flows.iter().enumerate() {
        let route = of_flows.of(id).iter().map(|channel| channel.0);
        assert!(route.eq(expected.of(id).iter().copied()));
        match flow.class {
            0 => assert!(
                matches!(flow.limit, Limit::Rate(rate) if rate > 1 << 28),
                "{flow:?}"
            ),
            1 => assert_eq!(flow.limit, Limit::Rate(1 << 29)),
            _ => assert_eq!(flow.limit, Limit::None),
        }
    }
    // no channel has more than it carries
    let mut loads = vec![0; resolved.layout.graph.channels().len()];
    for (flow, route) in plan.flows.iter().zip(of_flows.iter()) {
        if let Limit::Rate(rate) = flow.limit {
            for channel in route {
                loads[channel.index()] += rate;
            }
        }
    }
    assert!(loads.iter().all(|&load| load <= 1 << 32));
    let routes_only = resolve(&CARRYING.replace("carry: Rates", "carry: Routes")).plan;
    assert_eq!(&routes_only.routes_of_flows, &plan.routes_of_flows);
    assert!(
        routes_only
            .flows
            .iter()
            .all(|flow| flow.class == 1 || flow.limit == Limit::None)
    );
    let nothing = resolve(&CARRYING.replace("carry: Rates", "carry: Nothing")).plan;
    assert!(nothing.routes_of_flows.is_none() && nothing.flows[0].limit == Limit::None);
}

#[test]
fn the_printed_scenario_is_the_same_plan() {
    let resolved = resolve(CARRYING);
    let printed = print::plan(&resolved, &Parts::registered());
    let again = resolve(&printed);
    assert_eq!(print::plan(&again, &Parts::registered()), printed);
    assert_eq!(format!("{:?}", again.plan), format!("{:?}", resolved.plan));
}

#[test]
fn what_routes_do_not_go_with_is_refused() {
    let mut list = refusals(
        "carry.ron",
        CARRYING,
        &[
            ("carry: Rates", "carry: Limits"),
            ("routing: FatTree()", "routing: AdaptiveAscent()"),
            ("ForcedDir()", "ForcedDir(hops: -1)"),
            (
                "EnrichedTree(k: 3, n: 2, width: 1)",
                "KAryNTree(k: 3, n: 2)",
            ),
            ("RequestReply()", "Inc(interval: \"100 cycles\", few: 8)"),
            ("limit: Rate(0.125)", "limit: Delay(3, 1)"),
            (
                "limit: Rate(0.125)",
                "changes: [(\"100 cycles\", Rate(0.5))]",
            ),
            ("carry: Rates)", "carry: Rates, weights: Sizes)"),
            ("carry: Rates)", "carry: Rates, reserved: 0.9999999)"),
        ],
    );
    let torus = CARRYING
        .replace("EnrichedTree(k: 3, n: 2, width: 1)", "Torus(radix: [5, 5])")
        .replace("lanes: 3", "lanes: 6")
        .replace("FatTree", "DimensionOrder");
    list += "a torus\n    ";
    list += &refusal("carry.ron", &torus);
    let desk = CARRYING
        .replace(
            "start: \"50 cycles\")]",
            "start: \"50 cycles\")], requests: (peak: 0.1)",
        )
        .replace(
            "phases: (",
            "admission: (control: AdmitAll(), gap: \"100 cycles\"), phases: (",
        );
    list += "\na desk\n    ";
    list += &refusal("carry.ron", &desk);
    insta::assert_snapshot!(list);
}
