//! Times at which flows and messages would start, and none of them does.

use super::changes::{end, words_of_end};
use super::varied::Varied;
use crate::plan::FlowPlan;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic::{self, Flows};
use crate::scenario::syntax::Part;
use std::collections::BTreeSet;

/// What is said of classes that have some.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let is_varied = |key: &str| varied.includes(&format!("traffic.*.{key}"));
    let mut notes = Vec::new();
    if !["requests", "control", "flows.*.pairs", "flows.*.start"]
        .into_iter()
        .any(is_varied)
    {
        notes.extend(asked(resolved));
    }
    if varied.includes("phases") {
        return notes;
    }
    if !["flows.*.pairs", "flows.*.start", "requests", "control"]
        .into_iter()
        .any(is_varied)
    {
        notes.extend(flows(resolved));
    }
    if !is_varied("messages") {
        notes.extend(messages(resolved));
    }
    notes
}

/// Whether the flows of a class start when a desk admits them, whatever is written.
fn is_admitted(resolved: &Resolved, number: usize) -> bool {
    let class = &resolved.plan.classes[number];
    class.requests.is_some() && !class.reserves()
}

/// Starts of flows that start when they are admitted.
fn asked(resolved: &Resolved) -> Vec<String> {
    let classes = resolved.scenario.traffic.iter().enumerate();
    let classes = classes.filter(|(number, _)| is_admitted(resolved, *number));
    let entries = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        entries.map(move |entry| (number, entry))
    });
    let notes = entries.filter_map(|(number, entry)| {
        let has_start = |flow: &FlowPlan| usize::from(flow.class) == number && flow.start > 0;
        let what = if entry.start.value.cycles(resolved.layout.clock) > 0 {
            entry.start.path.clone()
        } else if entry.pairs.name.value == "Csv" && resolved.plan.flows.iter().any(has_start) {
            format!("the column `start` of {}", entry.pairs.name.path)
        } else {
            return None;
        };
        Some(format!(
            "{what} changes nothing: flows with `requests` start when they are admitted"
        ))
    });
    notes.collect()
}

/// Flows that would start when the longest run has ended, class by class.
fn flows(resolved: &Resolved) -> Vec<String> {
    let classes = resolved.scenario.traffic.iter().enumerate();
    let classes = classes.filter(|(number, _)| !is_admitted(resolved, *number));
    let notes = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        of_class(resolved, number, entries)
    });
    notes.collect()
}

/// The same of a class by its number: the entries whose start is so late, then flows that have a start of their own.
fn of_class<'a>(
    resolved: &Resolved,
    number: usize,
    entries: impl Iterator<Item = &'a Flows>,
) -> Vec<String> {
    let (end, clock) = (end(resolved), resolved.layout.clock);
    let flows = resolved.plan.flows.iter();
    let own = flows.filter(|flow| usize::from(flow.class) == number);
    let own: Vec<&FlowPlan> = own.collect();
    let late: Vec<u64> = own.iter().map(|flow| flow.start).collect();
    let late: Vec<u64> = late.into_iter().filter(|&start| start >= end).collect();
    let mut told = BTreeSet::new();
    let mut notes = Vec::new();
    for entry in entries {
        let start = entry.start.value.cycles(clock);
        if start < end || !late.contains(&start) {
            continue;
        }
        told.insert(start);
        let phase = entry.phase.as_ref().map_or(0, |phase| phase.value.1);
        let when = match phase {
            0 => format!("in cycle {start}"),
            phase => format!("{start} cycles after phase {phase} has opened"),
        };
        notes.push(format!(
            "{}: none of these flows starts: they would {when}, and {}",
            entry.start.path,
            words_of_end(end)
        ));
    }
    let others = late.iter().filter(|start| !told.contains(start));
    if let Some(first) = others.clone().min() {
        notes.push(format!(
            "{}.flows: {} of {} flows never start: the first of them would in cycle {first}, and {}",
            traffic::place(&resolved.scenario, &resolved.plan, number),
            others.count(),
            own.len(),
            words_of_end(end)
        ));
    }
    notes
}

/// Messages of a time after the longest run, source by source.
fn messages(resolved: &Resolved) -> Vec<String> {
    let end = end(resolved);
    let mut sources: Vec<&Part> = Vec::new();
    for part in resolved
        .scenario
        .traffic
        .iter()
        .filter_map(|class| class.messages.as_ref())
    {
        if sources
            .iter()
            .all(|other| other.one_line() != part.one_line())
        {
            sources.push(part);
        }
    }
    let late = sources.into_iter().zip(&resolved.plan.workloads);
    let late = late.filter(|(_, workload)| workload.last >= end);
    let notes = late.map(|(part, workload)| {
        format!(
            "{}: messages from cycle {end} on are never sent, the last is of cycle {}: {}",
            part.name.path,
            workload.last,
            words_of_end(end)
        )
    });
    notes.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, of_flows, said, said_beside};

    const ENDS: &str = "the longest run ends in cycle 22000, with warm-up, measurement and drain";

    #[test]
    fn flows_that_would_start_after_the_run_are_told() {
        let starts = |cycle: u64| of_flows(&format!("start: \"{cycle} cycles\""), &[]);
        let told = |when: &str| {
            [format!(
                "traffic[0].flows[0].start: none of these flows starts: they would {when}, and {ENDS}"
            )]
        };
        assert_eq!(starts(22_000), told("in cycle 22000"));
        assert_eq!(starts(90_000), told("in cycle 90000"));
        assert_eq!(starts(21_999), NOTHING);
        let class = "flows: [(pairs: AllToAll, start: \"90000 cycles\")]";
        for varied in ["phases.measure", "traffic.u.flows.0.start", "traffic"] {
            assert_eq!(said_beside(&[varied], &[("CLASS", class)]), NOTHING);
        }
        let phases = "flows: [(pairs: List(pairs: [(0, 1)]), bytes: \"4 KiB\", phase: (\"a\", 0)), \
                      (pairs: List(pairs: [(1, 0)]), bytes: \"4 KiB\", phase: (\"a\", 1), start: \"22000 cycles\")]";
        let told = told("22000 cycles after phase 1 has opened")
            .map(|note| note.replace("flows[0]", "flows[1]"));
        assert_eq!(said(&[("CLASS", phases)]), told);
    }

    #[test]
    fn rows_of_flows_and_messages_after_the_run_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.csv");
        let rows = "source,destination,start [cycles]\n0,1,22000\n0,2,99\n0,3,30000\n";
        std::fs::write(&file, rows).expect("writable");
        let class = format!("flows: [(pairs: Csv(file: {file:?}))]");
        let told = format!(
            "traffic[0].flows: 2 of 3 flows never start: the first of them would in cycle 22000, and {ENDS}"
        );
        assert_eq!(said(&[("CLASS", &*class)]), [told]);
        let of = |last: u64| {
            let file = folder.path().join("m.csv");
            let rows = format!("time [cycles],source,destination,bytes\n0,0,1,64\n{last},1,0,64\n");
            std::fs::write(&file, rows).expect("writable");
            let class = format!("messages: Trace(file: {file:?})");
            said(&[("CLASS", &*class)])
        };
        assert_eq!(
            of(50_000),
            [format!(
                "traffic[0].messages: messages from cycle 22000 on are never sent, the last is of cycle 50000: {ENDS}"
            )]
        );
        assert_eq!(of(21_999), NOTHING);
    }

    #[test]
    fn starts_of_flows_that_are_admitted_are_told() {
        let control = ", admission: (control: AdmitAll())";
        let of = |flow: &str, varied: &[&str]| {
            let class = format!(
                "flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate(0.1){flow})], requests: (peak: 0.1)"
            );
            said_beside(varied, &[("CLASS", &*class), ("SCENARIO", control)])
        };
        let told = "traffic[0].flows[0].start changes nothing: flows with `requests` start when they are admitted";
        for start in [100, 90_000] {
            let start = format!(", start: \"{start} cycles\"");
            assert_eq!(of(&start, &[]), [told]);
            assert_eq!(of(&start, &["traffic.u.requests"]), NOTHING);
        }
        assert_eq!(of("", &[]), NOTHING);
        assert_eq!(said(&[UNIFORM]), NOTHING);
    }

    #[test]
    fn starts_in_files_of_flows_that_are_admitted_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.csv");
        let class = format!(
            "flows: [(pairs: Csv(file: {file:?}), limit: Rate(0.1))], requests: (peak: 0.1)"
        );
        let control = ("SCENARIO", ", admission: (control: AdmitAll())");
        let of = |start: &str| {
            let lines = format!("source,destination,start [cycles]\n0,1,0\n2,3,{start}\n");
            std::fs::write(&file, lines).expect("writable");
            said(&[("CLASS", &*class), control])
        };
        assert_eq!(
            of("7"),
            [
                "the column `start` of traffic[0].flows[0].pairs changes nothing: flows with `requests` start when they are admitted"
            ]
        );
        assert_eq!(of("0"), NOTHING);
    }
}
