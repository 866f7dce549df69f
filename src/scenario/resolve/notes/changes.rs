//! Limits that never count: others replace them before a flow starts, or they come when there is nothing left to limit.

use super::varied::Varied;
use crate::plan::FlowPlan;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic::{Allowed, Flows};

/// What is said of entries that have some.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let classes = resolved.scenario.traffic.iter().enumerate();
    let entries = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        entries.map(move |entry| (number, entry))
    });
    let both = entries.flat_map(|entry| {
        let told = [
            early(resolved, entry, varied),
            late(resolved, entry, varied),
        ];
        let is_told = told.iter().any(Option::is_some);
        let same = (!is_told).then(|| same(entry.1, varied)).flatten();
        told.into_iter().chain([same])
    });
    both.flatten().collect()
}

/// The times of the changes of an entry \[cycles\].
fn times(resolved: &Resolved, entry: &Flows) -> Vec<u64> {
    let clock = resolved.layout.clock;
    let times = entry.changes.iter().map(|(at, _)| at.value.cycles(clock));
    times.collect()
}

/// The cycle in which the longest run ends.
pub(super) fn end(resolved: &Resolved) -> u64 {
    let phases = &resolved.plan.phases;
    phases.warmup + phases.measure + phases.drain_limit
}

/// What is said of that cycle.
pub(super) fn words_of_end(end: u64) -> String {
    format!("the longest run ends in cycle {end}, with warm-up, measurement and drain")
}

/// The flows of a class with changes at these times, which are those of an entry, or of several that are alike.
fn own<'a>(
    resolved: &'a Resolved,
    number: usize,
    times: &'a [u64],
) -> impl Iterator<Item = &'a FlowPlan> {
    resolved.plan.flows.iter().filter(move |flow| {
        let own = flow.changes.iter().map(|&(time, _)| time);
        usize::from(flow.class) == number && own.eq(times.iter().copied())
    })
}

/// The limit and the changes of an entry, in a class by its number, that another change replaces when no flow has started.
fn early(
    resolved: &Resolved,
    (number, entry): (usize, &Flows),
    varied: &Varied<'_>,
) -> Option<String> {
    let keys = ["pairs", "start", "limit", "changes"];
    let is_varied = |key: &str| varied.includes(&format!("traffic.*.flows.*.{key}"));
    let times = times(resolved, entry);
    let start = own(resolved, number, &times).map(|flow| flow.start).min()?;
    let replacing = times.iter().rposition(|&time| time <= start)?;
    if start >= end(resolved) || keys.into_iter().any(is_varied) {
        return None;
    }
    let limit = (entry.limit.value != Allowed::Any).then(|| String::from("limit"));
    let before = (0..replacing).map(|place| format!("changes[{place}]"));
    let replaced: Vec<String> = limit.into_iter().chain(before).collect();
    let (last, others) = replaced.split_last()?;
    let (what, them) = if others.is_empty() {
        (format!("{last} changes"), "it")
    } else {
        (format!("{} and {last} change", others.join(", ")), "them")
    };
    let path = entry.limit.path.trim_end_matches("limit");
    Some(format!(
        "{path}{what} nothing: changes[{replacing}] replaces {them} in cycle {}, and the first flow starts in cycle {start}",
        times[replacing]
    ))
}

/// The first change of an entry that sets the limit that there is already.
fn same(entry: &Flows, varied: &Varied<'_>) -> Option<String> {
    let keys = ["limit", "changes"];
    if (keys.iter()).any(|key| varied.includes(&format!("traffic.*.flows.*.{key}"))) {
        return None;
    }
    let mut now = entry.limit.value;
    let mut changes = entry.changes.iter();
    let (at, _) = changes.find(|(_, limit)| {
        let before = std::mem::replace(&mut now, limit.value);
        // flows without limit and changes may get one of another section
        before == limit.value && before != Allowed::Any
    })?;
    let path = at.path.strip_suffix("[0]").unwrap_or(&at.path);
    Some(format!("{path} changes nothing: that is the limit already"))
}

/// The first change of an entry, in a class by its number, from which on none does anything.
fn late(
    resolved: &Resolved,
    (number, entry): (usize, &Flows),
    varied: &Varied<'_>,
) -> Option<String> {
    let times = times(resolved, entry);
    let last = *times.last()?;
    let end = end(resolved);
    let stop = (!varied.includes("traffic.*.flows.*.stop"))
        .then(|| last_stop(resolved, number, &times))
        .flatten();
    let (bound, why) = match stop {
        Some(stop) if last >= stop => (stop, format!("the flows stop in cycle {stop}")),
        _ if last >= end && !varied.includes("phases") => (end, words_of_end(end)),
        _ => return None,
    };
    let first = times.iter().position(|&time| time >= bound)?;
    let path = &entry.changes[first].0.path;
    let path = path.strip_suffix("[0]").unwrap_or(path);
    let what = if first + 1 < times.len() {
        format!("{path} and those after it change nothing: they count")
    } else {
        format!("{path} changes nothing: it counts")
    };
    Some(format!("{what} from cycle {} on, and {why}", times[first]))
}

/// Cycle in which the last flow of a class with changes at these times stops; `None` when one does not, or may have packets
/// that it has made before.
fn last_stop(resolved: &Resolved, number: usize, times: &[u64]) -> Option<u64> {
    let plan = &resolved.plan;
    let mut flows = own(resolved, number, times).peekable();
    flows.peek()?;
    flows.try_fold(0, |last, flow| {
        let stop = flow.stop.filter(|_| plan.is_backlogged(flow));
        stop.map(|stop| stop.max(last))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, of_flows, said_beside};

    #[test]
    fn changes_to_what_holds_already_are_told() {
        let of = |limit: &str, changes: &str| {
            of_flows(&format!("limit: {limit}, changes: [{changes}]"), &[])
        };
        let told = |number: u32| {
            [format!(
                "traffic[0].flows[0].changes[{number}] changes nothing: that is the limit already"
            )]
        };
        let half = "(\"1000 cycles\", Rate(0.5))";
        assert_eq!(of("Rate(0.5)", half), told(0));
        let later = "(\"2000 cycles\", Rate(0.5))";
        assert_eq!(of("Rate(0.2)", &format!("{half}, {later}")), told(1));
        assert_eq!(of("Rate(0.2)", half), NOTHING);
        assert_eq!(of("None", "(\"1000 cycles\", None)"), NOTHING);
        let back = format!("{half}, (\"2000 cycles\", Rate(0.2))");
        assert_eq!(of("Rate(0.2)", &back), NOTHING);
        let class = format!("flows: [(pairs: AllToAll, limit: Rate(0.5), changes: [{half}])]");
        let varied = ["traffic.u.flows.0.limit"];
        assert_eq!(said_beside(&varied, &[("CLASS", &*class)]), NOTHING);
    }

    #[test]
    fn limits_that_are_replaced_before_the_start_are_told() {
        let of = |entry: &str| of_flows(&format!("start: \"500 cycles\", {entry}"), &[]);
        let note = |what: &str, nothing: &str, cycle: u64| {
            [format!(
                "traffic[0].flows[0].{what} nothing: {nothing} in cycle {cycle}, and the first flow starts in cycle 500"
            )]
        };
        let change = |time: u64| format!("(\"{time} cycles\", Rate(0.25))");
        let changes = |times: &[u64]| {
            let changes: Vec<String> = times.iter().copied().map(change).collect();
            format!("changes: [{}]", changes.join(", "))
        };
        for time in [0, 100, 500] {
            assert_eq!(
                of(&format!("limit: Rate(0.5), {}", changes(&[time]))),
                note("limit changes", "changes[0] replaces it", time)
            );
            assert_eq!(of(&changes(&[time])), NOTHING);
        }
        assert_eq!(
            of(&changes(&[100, 200])),
            note("changes[0] changes", "changes[1] replaces it", 200)
        );
        assert_eq!(
            of(&format!(
                "limit: Rate(0.5), {}",
                changes(&[0, 300, 500, 501])
            )),
            note(
                "limit, changes[0] and changes[1] change",
                "changes[2] replaces them",
                500
            )
        );
        let last = "(\"600 cycles\", Rate(0.5))";
        let counts = format!("limit: Rate(0.5), changes: [{}, {last}]", change(501));
        assert_eq!(of(&counts), NOTHING);
        let replaced = format!("limit: Rate(0.5), {}", changes(&[100]));
        let class = format!("flows: [(pairs: AllToAll, start: \"500 cycles\", {replaced})]");
        for varied in [
            "traffic.u.flows.0.start",
            "traffic.0.flows[0].limit",
            "traffic.u.flows",
        ] {
            assert_eq!(
                said_beside(&[varied], &[("CLASS", &*class)]),
                NOTHING,
                "{varied}"
            );
        }
        // one that starts before is limited
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.csv");
        std::fs::write(
            &file,
            "source,destination,start [cycles]\n0,1,700\n0,2,99\n",
        )
        .expect("writable");
        let class = format!("flows: [(pairs: Csv(file: {file:?}), {replaced})]");
        assert_eq!(said_beside(&[], &[("CLASS", &*class)]), NOTHING);
    }
}
