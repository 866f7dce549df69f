//! Keys about flows that change nothing, as there are no flows, none of those that they are about, or nobody who asks for them; and
//! keys about other classes, where all have flows or always have a packet.

use super::varied::Varied;
use crate::plan::{FlowPlan, Plan, Scheduler};
use crate::scenario::Resolved;
use crate::scenario::sections::fluid::Carry;
use crate::scenario::sections::traffic::{self, Allowed, Class, Flows};

/// All of them.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let plan = &resolved.plan;
    let mut notes = Vec::new();
    if !(varied.includes("traffic.*.flows") || varied.includes("traffic.*.slots")) {
        notes.extend(queue(plan));
        notes.extend(scheduler(plan));
        notes.extend(source_queue(resolved, varied));
        notes.extend(fluid(resolved, varied));
        notes.extend(rates(resolved, varied));
        notes.extend(own_rates(resolved, varied));
    }
    notes.extend(weights(resolved, varied));
    notes
}

fn has_flows(plan: &Plan) -> bool {
    plan.classes.iter().any(|class| class.flows.is_some())
}

/// A bound of queues that no flow has.
fn queue(plan: &Plan) -> Option<String> {
    plan.host.flow_queue?;
    let has_queue = |flow: &FlowPlan| !plan.is_backlogged(flow) && !plan.is_of_probes(flow.class);
    let why = if !has_flows(plan) {
        "no class has `flows`"
    } else if plan.flows.iter().any(has_queue) {
        return None;
    } else {
        "no flow has a `process` or a slot"
    };
    Some(format!(
        "fabric.host.flow_queue changes nothing: it bounds what flows have made and not sent, and {why}"
    ))
}

/// A scheduler that has nothing to choose from.
fn scheduler(plan: &Plan) -> Option<String> {
    let is_idle = plan.host.scheduler != Scheduler::default() && !has_flows(plan);
    is_idle.then(|| {
        String::from(
            "fabric.host.scheduler changes nothing: it chooses among the flows of a host, and no class has `flows`",
        )
    })
}

/// A bound of queues that no class has, or none reaches: one that always has a packet makes the next when that has left.
fn source_queue(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    resolved.plan.host.source_queue?;
    let classes = resolved.scenario.traffic.iter().zip(&resolved.plan.classes);
    let mut others = classes.filter(|(class, _)| class.flows.is_none());
    let is_varied = |key: &str| varied.includes(key);
    let why = if others.clone().next().is_none() {
        "every class has `flows`, which `flow_queue` bounds"
    } else if others.all(|(_, class)| class.is_backlogged()) && !is_varied("traffic.*.process") {
        "the sources of every class without `flows` make the next packet when the last has left (`Saturating`)"
    } else {
        return None;
    };
    (!is_varied("fabric.host.source_queue")).then(|| {
        format!(
            "fabric.host.source_queue changes nothing: it bounds what a `process` of a class has made and not sent, and {why}"
        )
    })
}

/// Keys of the flow level, of no flow.
fn fluid(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    if has_flows(&resolved.plan) || varied.includes("fluid") {
        return None;
    }
    let (keys, is_one) = listed(resolved.scenario.fluid.written())?;
    let (change, they) = if is_one {
        ("changes nothing", "it is")
    } else {
        ("change nothing", "they are")
    };
    Some(format!(
        "{keys} {change}: {they} about flows, and no class has `flows`"
    ))
}

/// Keys of the flow level in a row, and whether it is one; `None`: there is none.
fn listed<'a>(keys: impl Iterator<Item = &'a str>) -> Option<(String, bool)> {
    let keys: Vec<String> = keys.map(|key| format!("fluid.{key}")).collect();
    let (last, others) = keys.split_last()?;
    Some(if others.is_empty() {
        (last.clone(), true)
    } else {
        (format!("{} and {last}", others.join(", ")), false)
    })
}

/// Keys that only rates are computed by, and words that agree with them; `None`: there is none. Algorithms of control leave out what is
/// reserved.
fn of_rates(resolved: &Resolved) -> Option<(String, &'static str, &'static str)> {
    let mut classes = resolved.plan.classes.iter();
    let has_control = classes.any(|class| class.control.is_some());
    let is_of_rates = |key: &&str| match *key {
        "solver" | "weights" => true,
        "reserved" => !has_control,
        _ => false,
    };
    let (keys, is_one) = listed(resolved.scenario.fluid.written().filter(is_of_rates))?;
    Some(if is_one {
        (keys, "changes", "it")
    } else {
        (keys, "change", "them")
    })
}

/// Keys of rates, where routes alone are carried.
fn rates(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let (plan, fluid) = (&resolved.plan, &resolved.scenario.fluid);
    let is_for_others = varied.includes("fluid") || varied.includes("traffic.*.control");
    if fluid.carry.value != Carry::Routes || !has_flows(plan) || is_for_others {
        return None;
    }
    let (keys, change, them) = of_rates(resolved)?;
    Some(format!(
        "{keys} {change} no packet: `carry: Routes` brings routes without rates; only `virtlane flow` and `carry: Rates` count {them}"
    ))
}

/// Keys of rates that are carried to no flow: those with a limit or control keep what they have (D66).
fn own_rates(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let (scenario, plan) = (&resolved.scenario, &resolved.plan);
    let is_for_others = varied.includes("fluid") || varied.includes("traffic.*.control");
    if scenario.fluid.carry.value != Carry::Rates || !has_flows(plan) || is_for_others {
        return None;
    }
    // a file may say it of some flows only
    let is_limited = |entry: &Flows| entry.limit.value != Allowed::Any;
    let takes_none = |class: &Class| {
        let mut entries = class.flows.iter().flatten();
        class.control.is_some() || entries.all(is_limited)
    };
    if !scenario.traffic.iter().all(takes_none) {
        return None;
    }
    let (keys, change, them) = of_rates(resolved)?;
    Some(format!(
        "{keys} {change} no packet: `carry: Rates` brings rates to flows without limit and `control`, and there are none; only \
         `virtlane flow` counts {them}"
    ))
}

/// Weights that nothing in a run goes by: neither scheduler nor control, nor routes and rates of the flow level.
fn weights(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let (scenario, plan) = (&resolved.scenario, &resolved.plan);
    let others = ["fabric.host.scheduler", "traffic.*.control", "fluid"];
    let has_weights = matches!(plan.host.scheduler, Scheduler::WeightedRoundRobin(_));
    if has_weights
        || plan.routes_of_flows.is_some()
        || others.iter().any(|other| varied.includes(other))
    {
        return Vec::new();
    }
    let classes = scenario.traffic.iter().enumerate();
    let notes = classes.filter_map(|(number, class)| {
        let control = plan.classes[number].control.as_ref();
        if control.is_some_and(|control| control.algorithm.probes()) {
            return None;
        }
        let written = weighted(plan, number, class.flows.as_ref()?)?;
        let place = traffic::place(scenario, plan, number);
        let scheduler = plan.host.scheduler;
        Some(format!(
            "{place}.{written} changes no packet: the scheduler `{scheduler:?}` has no weights, `WeightedRoundRobin` has; \
             only max-min rates and `virtlane flow` count them"
        ))
    });
    notes.collect()
}

/// Where the weights of a class stand: in its entries, or in tables of flows.
fn weighted(plan: &Plan, number: usize, entries: &[Flows]) -> Option<String> {
    let written = entries.iter().enumerate();
    let mut written = written.filter(|(_, entry)| entry.weight != 1);
    if let Some((first, _)) = written.next() {
        let more = match written.count() {
            0 => String::new(),
            more => format!(" (as in {more} more)"),
        };
        return Some(format!("flows[{first}].weight{more}"));
    }
    let is_table = |entry: &Flows| entry.pairs.name.value == "Csv";
    let mut own = plan.flows.iter();
    let has_weight = |flow: &FlowPlan| usize::from(flow.class) == number && flow.weight != 1;
    (entries.iter().all(is_table) && own.any(has_weight))
        .then(|| String::from("flows: the column `weight`"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, of_flows, said, said_beside};

    #[test]
    fn queues_of_classes_that_are_not_there_are_told() {
        let queue = ("FABRIC", ", host: (source_queue: 8)");
        let told = "fabric.host.source_queue changes nothing: it bounds what a `process` of a class has made and not sent, and \
                    every class has `flows`, which `flow_queue` bounds";
        assert_eq!(of_flows("", &[queue]), [told]);
        assert_eq!(of_flows("process: Bernoulli(load: 0.1)", &[queue]), [told]);
        assert_eq!(said(&[UNIFORM, queue]), NOTHING);
        let class = ("CLASS", "flows: [(pairs: AllToAll)]");
        let beside = "flows: [(pairs: AllToAll)]), (name: \"v\", size: \"4 flits\", pattern: Uniform, \
                      process: Bernoulli(load: 0.1)";
        assert_eq!(said(&[("CLASS", beside), queue]), NOTHING);
        for varied in ["traffic", "traffic.u.flows", "fabric.host.source_queue"] {
            assert_eq!(said_beside(&[varied], &[class, queue]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn queues_of_sources_that_always_have_a_packet_are_told() {
        let queue = ("FABRIC", ", host: (source_queue: 1)");
        let of = |classes: &str, varied: &[&str]| said_beside(varied, &[("CLASS", classes), queue]);
        let told = "fabric.host.source_queue changes nothing: it bounds what a `process` of a class has made and not sent, and the \
                    sources of every class without `flows` make the next packet when the last has left (`Saturating`)";
        let saturating = "pattern: Uniform, process: Saturating()";
        let beside =
            |other: &str| format!("{saturating}), (name: \"v\", size: \"4 flits\", {other}");
        assert_eq!(of(saturating, &[]), [told]);
        assert_eq!(of(&beside(saturating), &[]), [told]);
        assert_eq!(of(&beside("flows: [(pairs: AllToAll)]"), &[]), [told]);
        assert_eq!(of(&beside(UNIFORM.1), &[]), NOTHING);
        for varied in ["traffic.u.process", "traffic", "fabric.host.source_queue"] {
            assert_eq!(of(saturating, &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn rates_where_routes_alone_are_carried_are_told() {
        let of = |fluid: &str, class: &str, varied: &[&str]| {
            let section = format!(", fluid: ({fluid})");
            let class = format!("flows: [(pairs: AllToAll, bytes: \"4 KiB\")]{class}");
            said_beside(varied, &[("CLASS", &*class), ("SCENARIO", &*section)])
        };
        let why = "`carry: Routes` brings routes without rates; only `virtlane flow` and `carry: Rates` count";
        for (fluid, key) in [
            ("solver: Saa()", "solver"),
            ("weights: Sizes", "weights"),
            ("reserved: 0.1", "reserved"),
        ] {
            let told = format!("fluid.{key} changes no packet: {why} it");
            assert_eq!(of(&format!("carry: Routes, {fluid}"), "", &[]), [told]);
            for carry in ["Rates", "Nothing"] {
                let carried = format!("carry: {carry}, {fluid}");
                assert_eq!(of(&carried, "", &[]), NOTHING, "{carried}");
            }
        }
        let all = "carry: Routes, solver: Saa(), reserved: 0.1";
        assert_eq!(
            of(all, "", &[]),
            [format!(
                "fluid.solver and fluid.reserved change no packet: {why} them"
            )]
        );
        let controlled = ", control: Saa(), answers: (sl: 1)";
        assert_eq!(of("carry: Routes, reserved: 0.1", controlled, &[]), NOTHING);
        assert_eq!(of("carry: Routes, runs: 3", "", &[]), NOTHING);
        for varied in ["fluid.carry", "fluid", "traffic.u.control"] {
            assert_eq!(of(all, "", &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn rates_that_no_flow_takes_are_told() {
        let of = |fluid: &str, entry: &str, class: &str, varied: &[&str]| {
            let section = format!(", fluid: (carry: Rates, {fluid})");
            let class = format!("flows: [(pairs: AllToAll, {entry})]{class}");
            said_beside(varied, &[("CLASS", &*class), ("SCENARIO", &*section)])
        };
        let told = |keys: &str, them: &str| {
            [format!(
                "fluid.{keys} no packet: `carry: Rates` brings rates to flows without limit and `control`, and there are none; \
                 only `virtlane flow` counts {them}"
            )]
        };
        let limit = "limit: Rate(0.1)";
        let solver = told("solver changes", "it");
        assert_eq!(of("solver: Saa()", limit, "", &[]), solver);
        let both = "solver: Saa(), reserved: 0.1";
        let all = told("solver and fluid.reserved change", "them");
        assert_eq!(of(both, limit, "", &[]), all);
        assert_eq!(of("runs: 3", limit, "", &[]), NOTHING);
        assert_eq!(of(both, "", "", &[]), NOTHING);
        let one = format!("{limit}), (pairs: List(pairs: [(0, 1)])");
        assert_eq!(of(both, &one, "", &[]), NOTHING);
        // algorithms leave out what is reserved
        let control = ", control: Saa(), answers: (sl: 1)";
        assert_eq!(of("reserved: 0.1", "", control, &[]), NOTHING);
        assert_eq!(of("solver: SaaM()", "", control, &[]), solver);
        for varied in [
            "fluid.carry",
            "fluid",
            "traffic.u.control",
            "traffic.u.flows",
        ] {
            assert_eq!(of(both, limit, "", &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn the_flow_level_of_no_flow_is_told() {
        let of = |fluid: &str| {
            let section = format!(", fluid: ({fluid})");
            said(&[UNIFORM, ("SCENARIO", &*section)])
        };
        let why = "about flows, and no class has `flows`";
        for (fluid, key) in [
            ("carry: Rates", "carry"),
            ("solver: Saa()", "solver"),
            ("policy: Ascent()", "policy"),
            ("weights: Sizes", "weights"),
            ("reserved: 0.1", "reserved"),
            ("runs: 9", "runs"),
        ] {
            let told = format!("fluid.{key} changes nothing: it is {why}");
            assert_eq!(of(fluid), [told], "{fluid}");
        }
        assert_eq!(
            of("carry: Routes, reserved: 0.1, runs: 2"),
            [format!(
                "fluid.carry, fluid.reserved and fluid.runs change nothing: they are {why}"
            )]
        );
        assert_eq!(of(""), NOTHING);
        assert_eq!(of("solver: Ffa(), carry: Nothing, runs: 1"), NOTHING);
        let carried = ("SCENARIO", ", fluid: (carry: Rates)");
        assert_eq!(of_flows("", &[carried]), NOTHING);
        for varied in ["traffic.u.flows", "fluid.carry", "fluid"] {
            assert_eq!(
                said_beside(&[varied], &[UNIFORM, carried]),
                NOTHING,
                "{varied}"
            );
        }
    }
}
