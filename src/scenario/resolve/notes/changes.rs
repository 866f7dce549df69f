//! Changes of limits that come when there is nothing left to limit.

use super::varied::Varied;
use crate::plan::FlowPlan;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic::Flows;

/// What is said of entries that have some.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let classes = resolved.scenario.traffic.iter().enumerate();
    let entries = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        entries.map(move |entry| (number, entry))
    });
    entries
        .filter_map(|(number, entry)| late(resolved, (number, entry), varied))
        .collect()
}

/// The first change of an entry, in a class by its number, from which on none does anything.
fn late(
    resolved: &Resolved,
    (number, entry): (usize, &Flows),
    varied: &Varied<'_>,
) -> Option<String> {
    let clock = resolved.layout.clock;
    let times = entry.changes.iter().map(|(at, _)| at.value.cycles(clock));
    let times: Vec<u64> = times.collect();
    let last = *times.last()?;
    let phases = &resolved.plan.phases;
    let end = phases.warmup + phases.measure + phases.drain_limit;
    let stop = (!varied.includes("traffic.*.flows.*.stop"))
        .then(|| last_stop(resolved, number, &times))
        .flatten();
    let (bound, why) = match stop {
        Some(stop) if last >= stop => (stop, format!("the flows stop in cycle {stop}")),
        _ if last >= end && !varied.includes("phases") => (
            end,
            format!("the longest run ends in cycle {end}, with warm-up, measurement and drain"),
        ),
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
    let is_own = |flow: &&FlowPlan| {
        let own = flow.changes.iter().map(|&(time, _)| time);
        usize::from(flow.class) == number && own.eq(times.iter().copied())
    };
    let mut flows = plan.flows.iter().filter(is_own).peekable();
    flows.peek()?;
    flows.try_fold(0, |last, flow| {
        let stop = flow.stop.filter(|_| plan.is_backlogged(flow));
        stop.map(|stop| stop.max(last))
    })
}
