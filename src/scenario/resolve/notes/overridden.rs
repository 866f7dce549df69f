//! Keys of entries whose generator says it of every flow itself: a file, messages, a matrix.

use super::varied::Varied;
use crate::plan::{FlowPlan, Limit};
use crate::scenario::Resolved;
use crate::scenario::resolve::quantity;
use crate::scenario::sections::traffic::{Allowed, Flows, limit_of_rate};
use crate::traffic::flows::LARGEST_FLOW;

/// What is said of them. A flow that has what the entry says may have it from there: then nothing is.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    if varied.includes("traffic.*.flows") || varied.includes("traffic.*.requests") {
        return Vec::new();
    }
    let classes = resolved.scenario.traffic.iter().enumerate();
    let entries = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        entries.map(move |entry| (number, entry))
    });
    let notes = entries.flat_map(|(number, entry)| of_entry(resolved, number, entry));
    notes.collect()
}

/// The same of an entry in a class by its number.
fn of_entry(resolved: &Resolved, number: usize, entry: &Flows) -> Vec<String> {
    let (plan, clock) = (&resolved.plan, resolved.layout.clock);
    let own: Vec<&FlowPlan> = (plan.flows.iter())
        .filter(|flow| usize::from(flow.class) == number)
        .collect();
    if own.is_empty() {
        return Vec::new();
    }
    let has = |is_it: &dyn Fn(&FlowPlan) -> bool| own.iter().any(|flow| is_it(flow));
    let class = &plan.classes[number];
    let mut keys = Vec::new();
    let start = entry.start.value.cycles(clock);
    let is_admitted = class.requests.is_some() && !class.reserves();
    if start > 0 && !is_admitted && !has(&|flow| flow.start == start) {
        keys.push(("start", "start"));
    }
    let stop = entry.stop.as_ref().map(|stop| stop.value.cycles(clock));
    if stop.is_some() && !has(&|flow| flow.stop == stop) {
        keys.push(("stop", "stop"));
    }
    let flits = entry.bytes.as_ref();
    let flits = flits.and_then(|bytes| quantity::flits(bytes, clock, 1, LARGEST_FLOW).ok());
    if flits.is_some() && !has(&|flow| flow.flits == flits) {
        keys.push(("bytes", "bytes"));
    }
    if entry.limit.value != Allowed::Any && !has(&|flow| is_limited(resolved, entry, flow)) {
        keys.push(("limit", "rate"));
    }
    if entry.weight != 1 && !has(&|flow| flow.weight == entry.weight) {
        keys.push(("weight", "weight"));
    }
    let place = entry.start.path.trim_end_matches("start");
    let notes = keys.into_iter().map(|(key, column)| {
        let who = match &*entry.pairs.name.value {
            "Csv" => format!("every line of the file says it by its column `{column}`"),
            generator => format!("`pairs: {generator}` says it of every flow"),
        };
        format!("{place}{key} changes nothing: {who}")
    });
    notes.collect()
}

/// Whether a flow has the limit of its entry.
fn is_limited(resolved: &Resolved, entry: &Flows, flow: &FlowPlan) -> bool {
    let graph = &resolved.layout.graph;
    let pace = graph.channel(graph.host_channel(flow.source)).timing;
    flow.limit
        == match entry.limit.value {
            Allowed::Any => Limit::None,
            Allowed::Delay(entry, shift) => Limit::Delay { entry, shift },
            Allowed::Rate(fraction) => limit_of_rate(fraction, pace.cycles_per_flit),
        }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, said_beside};

    /// What is said of keys beside a file with these lines.
    fn of(lines: &str, keys: &str, varied: &[&str]) -> Vec<String> {
        beside("Csv(file: FILE)", lines, keys, varied)
    }

    /// The same of a generator that reads `FILE`.
    fn beside(generator: &str, lines: &str, keys: &str, varied: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.csv");
        std::fs::write(&file, lines).expect("writable");
        let pairs = generator.replace("FILE", &format!("{file:?}"));
        let class = format!("flows: [(pairs: {pairs}, {keys})]");
        let weighted = ("FABRIC", ", host: (scheduler: WeightedRoundRobin(Packets))");
        said_beside(varied, &[("CLASS", &*class), weighted])
    }

    #[test]
    fn keys_that_every_line_overrides_are_told() {
        for (key, column, values) in [
            ("start: \"500 cycles\"", "start [cycles]", ["7", "0"]),
            ("stop: \"5000 cycles\"", "stop [cycles]", ["7000", "800"]),
            ("bytes: \"4 KiB\"", "bytes", ["64", "1000000"]),
            ("limit: Rate(0.5)", "rate", ["0.25", "1"]),
            ("limit: Delay(9, 1)", "rate", ["0.25", "0"]),
            ("weight: 5", "weight", ["1", "7"]),
        ] {
            let lines = |[first, second]: [&str; 2]| {
                format!("source,destination,{column}\n0,1,{first}\n2,3,{second}\n")
            };
            let (name, _) = key.split_once(':').expect("a key with a value");
            let (column, _) = column.split_once(' ').unwrap_or((column, ""));
            let told = format!(
                "traffic[0].flows[0].{name} changes nothing: every line of the file says it by its column `{column}`"
            );
            assert_eq!(of(&lines(values), key, &[]), [told], "{key}");
            assert_eq!(of(&lines([values[0], ""]), key, &[]), NOTHING, "{key}");
            for varied in ["traffic.u.flows.0.pairs", "traffic"] {
                assert_eq!(of(&lines(values), key, &[varied]), NOTHING, "{key}");
            }
        }
        let all = "source,destination,start [cycles],bytes\n0,1,7,64\n";
        let none = "source,destination\n0,1\n";
        assert_eq!(of(all, "start: \"0 cycles\", weight: 3", &[]), NOTHING);
        assert_eq!(of(none, "start: \"500 cycles\", weight: 3", &[]), NOTHING);
    }

    #[test]
    fn keys_that_messages_and_matrices_say_themselves_are_told() {
        let messages = "Messages(source: Trace(file: FILE))";
        let trace = "time [cycles],source,destination,bytes\n0,0,1,100\n30,2,3,64\n";
        let matrix = |entries: &str| format!("Matrix(file: FILE, entries: {entries})");
        // eight hosts, nothing to oneself
        let line = |host| {
            let cells: Vec<&str> = (0..8)
                .map(|to| if to == host { "0" } else { "2" })
                .collect();
            cells.join(",") + "\n"
        };
        let square: String = (0..8).map(line).collect();
        for (generator, lines, key) in [
            (messages, trace, "start: \"500 cycles\""),
            (messages, trace, "bytes: \"4 KiB\""),
            (&*matrix("Bytes"), &*square, "bytes: \"4 KiB\""),
            (&*matrix("Weights"), &*square, "weight: 5"),
        ] {
            let (name, _) = key.split_once(':').expect("a key with a value");
            let (of, _) = generator.split_once('(').expect("it has a file");
            let told = format!(
                "traffic[0].flows[0].{name} changes nothing: `pairs: {of}` says it of every flow"
            );
            assert_eq!(beside(generator, lines, key, &[]), [told], "{generator}");
            let varied = ["traffic.u.flows.0.pairs"];
            assert_eq!(
                beside(generator, lines, key, &varied),
                NOTHING,
                "{generator}"
            );
        }
        let other = beside(&matrix("Weights"), &square, "bytes: \"4 KiB\"", &[]);
        assert_eq!(other, NOTHING);
    }
}
