//! Delays behind packets that round to nothing, written as limits of flows or in tables of control (D30).

use super::varied::Varied;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic::{self, Allowed, Flows};

/// Keys that say how long packets take.
const KEYS: [&str; 5] = [
    "fabric.flit",
    "fabric.link",
    "fabric.host_link",
    "fabric.topology",
    "traffic.*.size",
];

/// All of them.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    if KEYS.iter().any(|key| varied.includes(key)) {
        return Vec::new();
    }
    let classes = 0..resolved.scenario.traffic.len();
    let notes = classes.flat_map(|number| {
        let longest = longest_packet(resolved, number);
        longest.map_or_else(Vec::new, |longest| {
            let entries = resolved.scenario.traffic[number].flows.iter().flatten();
            let limits = entries.filter_map(|entry| of_limits(entry, longest, varied));
            let control = of_control(resolved, (number, longest), varied);
            limits.chain(control).collect()
        })
    });
    notes.collect()
}

/// What the largest packet of a class takes on the slowest link of a host that sends some \[cycles\]; `None` without flows.
fn longest_packet(resolved: &Resolved, number: usize) -> Option<u64> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let own = plan.flows.iter();
    let own = own.filter(|flow| usize::from(flow.class) == number);
    let paces = own.map(|flow| {
        let channel = graph.channel(graph.host_channel(flow.source));
        channel.timing.cycles_per_flit
    });
    let size = u64::from(plan.classes[number].size.largest());
    Some(u64::from(paces.max()?) * size)
}

/// `1 cycle`, `8 cycles`.
fn cycles(number: u64) -> String {
    let word = if number == 1 { "cycle" } else { "cycles" };
    format!("{number} {word}")
}

/// The first delay among the limits of an entry that holds no packet back.
fn of_limits(entry: &Flows, longest: u64, varied: &Varied<'_>) -> Option<String> {
    let keys = ["limit", "changes", "pairs"];
    if (keys.iter()).any(|key| varied.includes(&format!("traffic.*.flows.*.{key}"))) {
        return None;
    }
    let limit = [(entry.limit.path.as_str(), entry.limit.value)].into_iter();
    let changes = entry.changes.iter().map(|(at, limit)| {
        let path = at.path.strip_suffix("[0]").unwrap_or(&at.path);
        (path, limit.value)
    });
    limit.chain(changes).find_map(|(path, limit)| {
        let Allowed::Delay(times, shift) = limit else {
            return None;
        };
        let why = if times == 0 {
            "0 times whatever its packets take is no delay".to_owned()
        } else if longest >> shift == 0 {
            format!(
                "a delay is {times} times the cycles of a packet divided by {}, rounded down, and the largest packet takes {}",
                1 << shift,
                cycles(longest)
            )
        } else {
            return None;
        };
        Some(format!("{path} holds no packet back: {why}"))
    })
}

/// Control of a class, by its number, whose delays hold no packet back.
fn of_control(
    resolved: &Resolved,
    (number, longest): (usize, u64),
    varied: &Varied<'_>,
) -> Option<String> {
    let plan = &resolved.plan;
    let shift = plan.classes[number]
        .control
        .as_ref()?
        .algorithm
        .least_shift()?;
    if longest >> shift > 0 || varied.includes("traffic.*.control") {
        return None;
    }
    let place = traffic::place(&resolved.scenario, plan, number);
    let name = &resolved.scenario.traffic[number]
        .control
        .as_ref()?
        .name
        .value;
    Some(format!(
        "{place}.control: no delay of `{name}` holds a packet back: the shortest divides the cycles of a packet by {}, rounded down, and \
         the largest packet takes {}",
        1 << shift,
        cycles(longest)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, of_flows, said_beside};

    #[test]
    fn delays_that_round_to_nothing_are_told() {
        let of = |entry: &str, size: &str| {
            of_flows(
                entry,
                &[("size: \"4 flits\"", &*format!("size: \"{size} flits\""))],
            )
        };
        let told = |key: &str, times: u32, divisor: u32, takes: &str| {
            [format!(
                "traffic[0].flows[0].{key} holds no packet back: a delay is {times} times the cycles of a packet divided by {divisor}, \
                 rounded down, and the largest packet takes {takes}"
            )]
        };
        let limit = "limit: Delay(16383, 1)";
        assert_eq!(of(limit, "1"), told("limit", 16383, 2, "1 cycle"));
        assert_eq!(of(limit, "2"), NOTHING);
        let limit = "limit: Delay(7, 3)";
        assert_eq!(of(limit, "7"), told("limit", 7, 8, "7 cycles"));
        assert_eq!(of(limit, "8"), NOTHING);
        let change = "limit: Rate(0.5), changes: [(\"900 cycles\", Rate(0.1)), (\"1000 cycles\", Delay(9, 3))]";
        assert_eq!(of(change, "4"), told("changes[1]", 9, 8, "4 cycles"));
        assert_eq!(
            of("limit: Delay(0, 0)", "4"),
            [
                "traffic[0].flows[0].limit holds no packet back: 0 times whatever its packets take is no delay"
            ]
        );
        let class = ("CLASS", "flows: [(pairs: AllToAll, limit: Delay(9, 3))]");
        for varied in [
            "traffic.u.size",
            "fabric.link.rate",
            "traffic.u.flows.0.limit",
        ] {
            assert_eq!(said_beside(&[varied], &[class]), NOTHING, "{varied}");
        }
        // a link of hosts that is slower
        let slow = ("FABRIC", ", host_link: (rate: \"50 Gbit/s\")");
        assert_eq!(said_beside(&[], &[class, slow]), NOTHING);
    }

    #[test]
    fn tables_of_control_that_round_to_nothing_are_told() {
        let of = |table: &str, varied: &[&str]| {
            let class = format!(
                "flows: [(pairs: AllToAll)], control: InfiniBand(timer: \"100 us\", table: {table}), answers: (sl: 1)"
            );
            let marking = ("SWITCH", ", marking: InfiniBand(threshold: 8)");
            said_beside(varied, &[("CLASS", &*class), marking])
        };
        let told = [
            "traffic[0].control: no delay of `InfiniBand` holds a packet back: the shortest divides the cycles of a packet by 8, rounded \
             down, and the largest packet takes 4 cycles",
        ];
        assert_eq!(of("Linear(most: 127, shift: 3)", &[]), told);
        assert_eq!(of("Linear(most: 127, shift: 2)", &[]), NOTHING);
        assert_eq!(of("Entries([(0, 0), (3, 5)])", &[]), told);
        assert_eq!(of("Entries([(3, 1), (2, 5)])", &[]), NOTHING);
        for varied in ["traffic.u.control", "traffic.u.size"] {
            assert_eq!(of("Linear(most: 127, shift: 3)", &[varied]), NOTHING);
        }
    }
}
