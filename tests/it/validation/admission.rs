//! Flows that ask: trials with one counter or several, and reservations by packets beside admission in zero time (D59, D60 of the
//! model).

use super::{run, scenario};
use virtlane::report::RunResult;
use virtlane::scenario::Resolved;

fn result(resolved: &Resolved) -> RunResult {
    RunResult::new(resolved, run(resolved), String::new())
}

/// Rounds, requests and flows admitted.
fn counts(result: &RunResult) -> [u64; 3] {
    let count = |name: &str| result.records.counts[name];
    let [rounds, requests, admitted] = [
        "admission.rounds",
        "admission.requests.0",
        "admission.admitted.0",
    ]
    .map(count);
    [rounds, requests, admitted]
}

/// Seed 003, A13 and C17. Two hosts with two flows each to a third: every session of its own is received. With a shared counter
/// the first host takes the packets of both for its own and is admitted; it resets the counter, with which the second host has
/// none, which resets it as well. From then on the counter is a session ahead, and the next round, which admits nothing, is the
/// last.
#[test]
fn shared_sessions_leave_one_flow_of_a_destination() {
    let with = |sessions: &str| {
        let control = format!(
            "admission.control=JitterProbing(packets: 4, sl: 1, gap: \"40 cycles\", look: \"300 cycles\", accept_zero: true, \
             sessions: {sessions})"
        );
        let changes = [
            "traffic.calls.flows=[(pairs: List(pairs: [(0, 1), (2, 1)]), copies: 2, limit: Rate(0.1))]",
            "traffic.calls.requests=(peak: 0.1, jitter: \"1000 cycles\")",
            &control,
        ];
        counts(&result(&scenario("flows/trials.ron", &changes)))
    };
    // a round in which nobody asks is the last
    assert_eq!(with("Own"), [3, 4, 4]);
    assert_eq!(with("Shared"), [2, 4, 1]);
}

/// A call that is refused, as somebody fills the channel of its destination, is tried again with the next number, which a counter
/// of the destination expects by then: what is left of the first session on the way does not count.
#[test]
fn a_shared_counter_expects_the_session_after_the_one_decided() {
    let changes = [
        "traffic.bulk.flows=[(pairs: List(pairs: [(1, 3)]), stop: \"300 cycles\")]",
        "admission.control=JitterProbing(packets: 4, sl: 1, gap: \"40 cycles\", look: \"300 cycles\", accept_zero: true, \
         sessions: Shared)",
    ];
    let result = result(&scenario("flows/trials.ron", &changes));
    assert_eq!(counts(&result), [3, 3, 2]);
}

/// Probes wait at their host for another flow, which their network latencies do not tell: all are alike.
#[test]
fn what_probes_wait_at_their_host_does_not_count() {
    let changes = [
        "traffic.bulk.flows=[(pairs: List(pairs: [(0, 2)]), limit: Rate(0.8))]",
        "traffic.calls.requests=(peak: 0.1, jitter: \"1 cycles\")",
    ];
    let result = result(&scenario("flows/trials.ron", &changes));
    assert_eq!(counts(&result)[2], 2);
}

/// Seed 003, C15 and S11: a class without a jitter bound is exempt, and its class has no probes; that of probes has nothing but
/// probes: six of each request for a call.
#[test]
fn best_effort_is_not_tried() {
    let changes = [
        "traffic.bulk.requests=(peak: 1.0)",
        "admission.control=JitterProbing(sl: 1, gap: \"40 cycles\", look: \"500 cycles\", accept_zero: true)",
    ];
    let result = result(&scenario("flows/trials.ron", &changes));
    let names: Vec<_> = result.classes.iter().map(|class| &*class.name).collect();
    assert_eq!(names, ["calls", "bulk", "calls probes"]);
    let count = |name: &str| result.records.counts[name];
    assert_eq!(count("admission.admitted.1"), 1);
    assert_eq!(count("admission.longest_wait"), 500);
    // calls of the second round are refused, and all is over
    assert_eq!(counts(&result), [2, 3, 1]);
    let probes = &result.flow_results;
    assert!(
        probes.iter().all(|flow| flow.class < 2),
        "they are no flows of a table"
    );
    assert_eq!(probes[0].counts.sent.start, Some(500));
    assert_eq!(probes[1].counts.sent.start, None);
}

/// The four flows of `admission.ron` in rounds at 0 and 100, with a desk that is 40 cycles away.
#[test]
fn a_desk_that_is_far_away_lets_flows_begin_later() {
    let changes = ["admission.decision=40 cycles"];
    let result = result(&scenario("flows/admission.ron", &changes));
    assert_eq!(counts(&result), [12, 36, 4]);
    let starts = result.flow_results.iter();
    let mut starts: Vec<u64> = starts.filter_map(|flow| flow.counts.sent.start).collect();
    starts.sort_unstable();
    assert_eq!(starts, [40, 40, 40, 140]);
    let count = |name: &str| result.records.counts[name];
    assert_eq!(
        (count("admission.waits"), count("admission.end")),
        (160, 1100)
    );
}

/// Sixteen hosts, each of which asks for a flow of 0.3 where half of a channel may be given away: one flow per channel.
const ASKING: [&str; 4] = [
    "fabric.topology=Mesh(radix: [4, 4])",
    "traffic.calls.flows=[(pairs: Permutations(count: 1), limit: Rate(0.3))]",
    "traffic.calls.requests=(peak: 0.3)",
    "routing=DimensionOrder()",
];

/// Flows that have begun.
fn begun(result: &RunResult) -> Vec<u32> {
    let flows = (0..).zip(&result.flow_results);
    let begun = flows.filter(|(_, flow)| flow.counts.sent.start.is_some());
    begun.map(|(id, _)| id).collect()
}

/// Where requests do not overlap in time, it makes no difference whether they take any, and how they go.
#[test]
fn reservations_one_after_the_other_admit_what_zero_time_admits() {
    let mut in_zero_time = ASKING.to_vec();
    in_zero_time.push("admission.most=1");
    let expected = begun(&result(&scenario("flows/admission.ron", &in_zero_time)));
    assert!((3..16).contains(&expected.len()), "{expected:?}");
    for answers in [
        "(size: \"1 flit\")",
        "(size: \"9 flits\", sl: Management)",
        "(transport: OutOfBand(serialisation: \"2 cycles\", processing: \"3 cycles\", routing: \"1 cycles\", \
         propagation: \"2 cycles\"))",
    ] {
        let answers = format!("traffic.calls.answers={answers}");
        let mut changes = ASKING.to_vec();
        changes[1] = "traffic.calls.flows=[(pairs: Permutations(count: 1))]";
        changes.extend(["qos.management_lane=true", "phases.warmup=6000 cycles"]);
        changes.push(&answers);
        let mut resolved = scenario("flows/reservation.ron", &changes);
        for flow in &mut resolved.plan.flows {
            flow.start = 300 * u64::from(flow.source.0);
        }
        let result = result(&resolved);
        assert_eq!(result.records.counts["reservation.requests"], 16);
        let longest = result.records.counts["reservation.longest_wait"];
        assert!((1..300).contains(&longest), "{longest}: they overlap");
        assert_eq!(begun(&result), expected, "{answers}");
    }
}

/// C14, A-6D: all ask at once, again and again, so that requests meet half-reserved ways: what was reserved in vain is given back,
/// and no channel carries more than half of what it could. In the end nobody has room that does not get it.
#[test]
fn reservations_at_the_same_time_never_exceed_a_channel() {
    let mut changes = ASKING.to_vec();
    changes[1] = "traffic.calls.flows=[(pairs: Permutations(count: 1), copies: 3)]";
    changes[2] = "traffic.calls.requests=(peak: 0.1)";
    let control = "traffic.calls.control=Reservation(utilisation: 0.5, retry: \"37 cycles\")";
    changes.push(control);
    let resolved = scenario("flows/reservation.ron", &changes);
    let result = result(&resolved);
    let count = |name: &str| result.records.counts[name];
    let (requests, flows) = (count("reservation.requests"), count("reservation.begun"));
    assert!(requests > 48 && flows < 48, "{requests} {flows}");
    let tables = resolved.routes.tables().expect("they are tables");
    let graph = &resolved.layout.graph;
    let mut carried = vec![0; graph.channels().len()];
    let level = resolved.plan.classes[0].service_levels[0];
    let way = |flow: &virtlane::plan::FlowPlan| {
        let path = tables.path(graph, flow.source, flow.destination, level);
        path.expect("a way").into_iter().map(|(channel, _)| channel)
    };
    let mut refused = Vec::new();
    for (flow, found) in resolved.plan.flows.iter().zip(&result.flow_results) {
        if found.counts.sent.start.is_none() {
            refused.push(flow);
            continue;
        }
        way(flow).for_each(|channel| carried[channel.index()] += 1);
    }
    // four times 0.1 is the most below a half; at the hosts five times
    let limit = |flow: &virtlane::plan::FlowPlan, channel| {
        if channel == graph.host_channel(flow.source) {
            5
        } else {
            4
        }
    };
    assert_eq!(carried.iter().max(), Some(&4));
    for flow in refused {
        let is_full =
            |channel: virtlane::ids::ChannelId| carried[channel.index()] == limit(flow, channel);
        assert!(way(flow).any(is_full), "{flow:?} has room");
    }
}
