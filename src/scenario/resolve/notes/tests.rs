//! What is said of scenarios that are right otherwise, and of which nothing is.

use super::notes;
use crate::scenario::{Document, Parts};
use std::path::Path;

/// Two switches with four hosts each; what stands in capitals is replaced.
const TEXT: &str = r#"Scenario(
    title: "t", seed: 1,
    fabric: (topology: Complete(switches: 2, hosts_per_switch: 4), flit: "64 B", link: (rate: "100 Gbit/s", latency: "10 ns"),
             switch: (lanes: 2, lane_capacity: "64 flits" SWITCH) FABRIC),
    routing: MinHop(),
    traffic: [(name: "u", size: "4 flits", CLASS)],
    phases: (warmup: "1000 cycles", measure: "10000 cycles")
    SCENARIO)"#;

pub(super) const UNIFORM: (&str, &str) =
    ("CLASS", "pattern: Uniform, process: Bernoulli(load: 0.3)");

/// What is said of the text with these replacements, where `varied` have other values in other runs.
pub(super) fn said_beside(varied: &[&str], replacements: &[(&str, &str)]) -> Vec<String> {
    let mut text = TEXT.to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    for place in ["SWITCH", "FABRIC", "SCENARIO"] {
        text = text.replacen(place, "", 1);
    }
    let document = Document::parse("t.ron", &text, Path::new("")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let varied: Vec<String> = varied.iter().map(|&path| path.to_owned()).collect();
    notes(&resolved, &varied)
}

/// What is said of the text with these replacements.
pub(super) fn said(replacements: &[(&str, &str)]) -> Vec<String> {
    said_beside(&[], replacements)
}

/// What is said of flows with these keys.
pub(super) fn of_flows(entry: &str, more: &[(&str, &str)]) -> Vec<String> {
    let class = format!("flows: [(pairs: List(pairs: [(0, 1)]), {entry})]");
    said(&[&[("CLASS", &*class)][..], more].concat())
}

pub(super) const NOTHING: [&str; 0] = [];

#[test]
fn faults_that_are_none_are_told() {
    let faults = |faults: &str| {
        let section = format!(", faults: ({faults})");
        said(&[UNIFORM, ("SCENARIO", &*section)])
    };
    // a link between two switches
    assert_eq!(
        faults("links: Fraction(0.1)"),
        [
            "faults.links: `Fraction(0.1)` of 1 link between switches rounds to 0, so none fails: the least is `Count(1)`"
        ]
    );
    assert_eq!(
        faults("switches: Fraction(0.2), links: Count(0)"),
        [
            "faults.switches: `Fraction(0.2)` of 2 switches rounds to 0, so none fails: the least is `Count(1)`"
        ]
    );
    let idle = "faults changes nothing: neither `switches` nor `links` says what fails";
    assert_eq!(faults("seed: 5"), [idle]);
    assert_eq!(faults("links: Fraction(0.0)"), NOTHING);
    for name in ["links", "switches"] {
        let count = format!("{name}: Count(0)");
        let told = format!("faults changes nothing: `{name}` is `Count(0)`");
        assert_eq!(faults(&count), [told]);
        let section = format!(", faults: ({count})");
        let for_others = [UNIFORM, ("SCENARIO", &*section)];
        assert_eq!(said_beside(&["faults.links"], &for_others), NOTHING);
    }
    assert_eq!(faults("switches: List([]), links: Count(0)"), NOTHING);
    assert_eq!(faults("switches: Fraction(0.3)"), NOTHING);
    let for_others = [UNIFORM, ("SCENARIO", ", faults: (seed: 5)")];
    assert_eq!(said_beside(&["faults.links"], &for_others), NOTHING);
    assert_eq!(said_beside(&["faults.seed"], &for_others), [idle]);
}

#[test]
fn empty_links_of_hosts_and_an_idle_management_lane_are_told() {
    let with = |place, text| said(&[UNIFORM, (place, text)]);
    assert_eq!(
        with("FABRIC", ", host_link: ()"),
        ["fabric.host_link changes nothing: it has neither `rate` nor `latency`"]
    );
    assert_eq!(with("FABRIC", ", host_link: (latency: \"10 ns\")"), NOTHING);
    let idle = |what| {
        format!(
            "qos.management_lane {what}: no class and no answers are on VL15 (`sl: Management`)"
        )
    };
    let lane = ("SCENARIO", ", qos: (management_lane: true)");
    let ends = idle("does nothing but end `fabric.switch.claims: Auto`");
    assert_eq!(said(&[UNIFORM, lane]), [ends]);
    let off = ("SWITCH", ", claims: Off");
    assert_eq!(said(&[UNIFORM, lane, off]), [idle("changes nothing")]);
    assert_eq!(said_beside(&["traffic.u.sl"], &[UNIFORM, lane]), NOTHING);
    let class = format!("{}, sl: Management", UNIFORM.1);
    assert_eq!(said(&[("CLASS", &*class), lane]), NOTHING);
    let answers = "control: Window(window: 4), answers: (sl: Management)";
    let class = format!("flows: [(pairs: AllToAll)], {answers}");
    assert_eq!(said(&[("CLASS", &*class), lane]), NOTHING);
}

#[test]
fn options_of_hosts_for_flows_that_are_not_there_are_told() {
    let host = |host: &'static str| ("FABRIC", host);
    let queue =
        "fabric.host.flow_queue changes nothing: it bounds what flows have made and not sent, and";
    let both = host(", host: (scheduler: WeightedRoundRobin(Flits), flow_queue: 4)");
    assert_eq!(
        said(&[UNIFORM, both]),
        [
            format!("{queue} no class has `flows`"),
            "fabric.host.scheduler changes nothing: it chooses among the flows of a host, and no class has `flows`".into(),
        ]
    );
    assert_eq!(said_beside(&["traffic"], &[UNIFORM, both]), NOTHING);
    assert_eq!(
        of_flows("", &[both]),
        [format!("{queue} no flow has a `process` or a slot")]
    );
    assert_eq!(of_flows("process: Bernoulli(load: 0.1)", &[both]), NOTHING);
    assert_eq!(said(&[UNIFORM, host(", host: (scheduler: Fifo)")]), NOTHING);
}

#[test]
fn weights_that_nobody_counts_are_told() {
    let note = |place: &str, scheduler: &str| {
        format!(
            "traffic[0].{place} changes no packet: the scheduler `{scheduler}` has no weights, `WeightedRoundRobin` has; only \
             max-min rates and `virtlane flow` count them"
        )
    };
    let host = |host: &'static str| ("FABRIC", host);
    assert_eq!(
        of_flows("weight: 5", &[]),
        [note("flows[0].weight", "Fifo")]
    );
    let three = "), (pairs: AllToAll, weight: 2), (pairs: AllToAll, weight: 3";
    assert_eq!(
        of_flows(three, &[host(", host: (scheduler: Paced)")]),
        [note("flows[1].weight (as in 1 more)", "Paced")]
    );
    assert_eq!(of_flows("weight: 1", &[]), NOTHING);
    let weighted = host(", host: (scheduler: WeightedRoundRobin(Packets))");
    assert_eq!(of_flows("weight: 5", &[weighted]), NOTHING);
    let carried = ("SCENARIO", ", fluid: (carry: Rates)");
    assert_eq!(of_flows("weight: 5", &[carried]), NOTHING);
    let class = ("CLASS", "flows: [(pairs: AllToAll, weight: 5)]");
    assert_eq!(said_beside(&["fabric.host.scheduler"], &[class]), NOTHING);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.csv");
    std::fs::write(&file, "source,destination,weight\n0,1,\n0,2,7\n").expect("writable");
    let class = format!("flows: [(pairs: Csv(file: {file:?}))]");
    assert_eq!(
        said(&[("CLASS", &*class)]),
        [note("flows: the column `weight`", "Fifo")]
    );
}

#[test]
fn changes_that_come_too_late_are_told() {
    let told = |place: usize, cycle: u64, why: &str| {
        [format!(
            "traffic[0].flows[0].changes[{place}] changes nothing: it counts from cycle {cycle} on, and {why}"
        )]
    };
    let stops = "the flows stop in cycle 4000";
    let ends = "the longest run ends in cycle 22000, with warm-up, measurement and drain";
    let limits = |times: &[u64]| {
        let changes = times
            .iter()
            .map(|time| format!("(\"{time} cycles\", Rate(0.25))"));
        let changes: Vec<String> = changes.collect();
        format!("changes: [{}]", changes.join(", "))
    };
    let stopped =
        |times: &[u64]| of_flows(&format!("stop: \"4000 cycles\", {}", limits(times)), &[]);
    assert_eq!(stopped(&[3000, 4000]), told(1, 4000, stops));
    assert_eq!(
        stopped(&[5000, 6000]),
        [format!(
            "traffic[0].flows[0].changes[0] and those after it change nothing: they count from cycle 5000 on, and {stops}"
        )]
    );
    assert_eq!(stopped(&[3000]), NOTHING);
    // what was made before the stop may wait and go under the new limit
    let made = format!(
        "process: Bernoulli(load: 0.9), stop: \"4000 cycles\", {}",
        limits(&[5000])
    );
    assert_eq!(of_flows(&made, &[]), NOTHING);
    let running = |times: &[u64]| of_flows(&limits(times), &[]);
    assert_eq!(running(&[90_000]), told(0, 90_000, ends));
    assert_eq!(running(&[21_999]), NOTHING);
    let class = format!("flows: [(pairs: AllToAll, {})]", limits(&[90_000]));
    let class = [("CLASS", &*class)];
    assert_eq!(said_beside(&["phases.measure"], &class), NOTHING);
}

#[test]
fn algorithms_without_marks_are_told() {
    let of = |control: &str, marking: &str| {
        let class = format!("flows: [(pairs: AllToAll)], control: {control}, answers: (sl: 1)");
        said(&[("CLASS", &*class), ("SWITCH", marking)])
    };
    let none = "no switch marks: `fabric.switch.marking` is None";
    let infiniband = "InfiniBand(timer: \"30 us\", table: Linear(most: 127, shift: 2))";
    for control in ["Dcqcn()", "Window(aimd: true, most: 8)", infiniband] {
        let name = control.split('(').next().unwrap_or_default();
        let words = format!("traffic[0].control: `{name}` hears of congestion by marks, and");
        assert_eq!(of(control, ""), [format!("{words} {none}")]);
        assert_eq!(
            of(control, ", marking: InfiniBand(threshold: 0)"),
            [format!(
                "{words} no switch marks: `fabric.switch.marking` has `threshold: 0`, which is off"
            )]
        );
        assert_eq!(of(control, ", marking: InfiniBand()"), NOTHING);
        assert_eq!(of(control, ", marking: (threshold: \"8 flits\")"), NOTHING);
    }
    for control in ["Window(window: 4)", "Delay(target: \"4 us\", most: 32)"] {
        assert_eq!(of(control, ""), NOTHING, "{control}");
    }
    let class = ("CLASS", "flows: [(pairs: AllToAll)], control: Dcqcn()");
    for varied in ["fabric.switch.marking", "fabric.switch"] {
        assert_eq!(said_beside(&[varied], &[class]), NOTHING, "{varied}");
    }
    // an axis of the scenario itself
    let sweep = ", sweep: (axes: [(\"fabric.switch.marking\", [None, InfiniBand()])])";
    assert_eq!(said(&[class, ("SCENARIO", sweep)]), NOTHING);
}

/// What is said of a flow that asks for a tenth of its link, with these keys, under this admission control.
fn asking(flow: &str, control: &str) -> Vec<String> {
    let class = format!("flows: [(pairs: List(pairs: [(0, 1)]){flow})], requests: (peak: 0.1)");
    let control = format!(", admission: (control: {control})");
    said(&[("CLASS", &*class), ("SCENARIO", &*control)])
}

#[test]
fn flows_above_their_peak_are_told() {
    let control = "LinkByLink(shares: [(0, 1)])";
    let words = "traffic[0].requests.peak: 1 of 1 flows may send more than they ask for, the first of them flow 0 (H0 to H1):";
    assert_eq!(
        asking(", limit: Rate(0.5)", control),
        [format!(
            "{words} its limit is 0.500 of the link, the peak 0.100"
        )]
    );
    assert_eq!(
        asking("", control),
        [format!(
            "{words} it always has a packet and no limit, the peak 0.100"
        )]
    );
    for flow in [
        ", limit: Rate(0.1)",
        ", window: 1",
        ", process: Bernoulli(load: 0.05)",
    ] {
        assert_eq!(asking(flow, control), NOTHING, "{flow}");
    }
}

#[test]
fn limited_levels_without_classes_are_told() {
    let of = |control: &str| asking(", limit: Rate(0.1)", control);
    let all = "admission.control limits service level 3 only, and no class that asks is there: every flow is admitted";
    for control in [
        "LinkByLink(shares: [(3, 1)])",
        "MeasuredSum(shares: [(3, 1)])",
        "CalibratedLoad(groups: [([3], 0.5)])",
        "ArbitrationTable(tables: [[3]])",
    ] {
        assert_eq!(of(control), [all], "{control}");
    }
    assert_eq!(
        of("CalibratedLoad(groups: [([0, 5], 0.5), ([7], 0.5)])"),
        ["admission.control limits service levels 5, 7, and no class is there"]
    );
    for control in [
        "LinkByLink(shares: [(0, 1)])",
        "ArbitrationTable()",
        "AdmitAll()",
    ] {
        assert_eq!(of(control), NOTHING, "{control}");
    }
    let class = "flows: [(pairs: AllToAll, limit: Rate(0.1))], requests: (peak: 0.1)";
    let control = ", admission: (control: LinkByLink(shares: [(3, 1)]))";
    let replacements = [("CLASS", class), ("SCENARIO", control)];
    assert_eq!(said_beside(&["traffic.u.sl"], &replacements), NOTHING);
}
