//! Keys of VL arbitration tables of which one serves nobody: what counts is the lanes that the packets of classes may have.

use super::thresholds::data_lanes;
use super::varied::Varied;
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::{Accept, HighPriorityLimit};
use crate::scenario::Resolved;

/// Keys that say which lanes classes have.
pub(super) const LANES: [&str; 8] = [
    "fabric.switch.lanes",
    "fabric.topology",
    "faults",
    "routing",
    "traffic.*.sl",
    "traffic.*.answers",
    "traffic.*.flows",
    "admission",
];

/// All of them.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let Some(tables) = &resolved.plan.switch.vl_arbitration else {
        return Vec::new();
    };
    if varied.includes("qos.vl_arbitration") {
        return Vec::new();
    }
    let lanes = Lanes {
        used: data_lanes(resolved),
        are_known: !LANES.iter().any(|key| varied.includes(key)),
    };
    let limit = limit(tables, &lanes);
    limit
        .into_iter()
        .chain(accept(resolved, tables, &lanes))
        .collect()
}

/// Lanes of packets of data.
struct Lanes {
    /// A bit for each that a class may have.
    used: u32,
    /// Whether they are the same in all runs.
    are_known: bool,
}

impl Lanes {
    /// Why a table serves nobody, in words; `None`: it serves somebody.
    fn idle(&self, table: &[(u8, u8)], name: &str) -> Option<String> {
        let served = served(table);
        if served == 0 {
            Some(format!("`{name}` has no entry with a weight above 0"))
        } else if self.are_known && served & self.used == 0 {
            Some(format!("no class is on a lane of `{name}`"))
        } else {
            None
        }
    }
}

/// Lanes of the entries with a weight.
fn served(table: &[(u8, u8)]) -> u32 {
    let entries = table.iter().filter(|(_, weight)| *weight > 0);
    entries.fold(0, |mask, (lane, _)| mask | 1 << lane)
}

/// A limit of what one table may send before the other one, where one of them serves nobody.
fn limit(tables: &VlArbitrationTables, lanes: &Lanes) -> Option<String> {
    if tables.limit == HighPriorityLimit::default() {
        return None;
    }
    let idle = lanes.idle(&tables.high, "high");
    let idle = idle.or_else(|| lanes.idle(&tables.low, "low"))?;
    Some(format!(
        "qos.vl_arbitration.limit_of_high_priority changes nothing: it counts what the table `high` sends before `low`, and {idle}"
    ))
}

/// Grants that inputs accept first, where none of them or all are of that kind. VL15 comes before both.
fn accept(resolved: &Resolved, tables: &VlArbitrationTables, lanes: &Lanes) -> Option<String> {
    let mut classes = resolved.plan.classes.iter();
    let has_management = classes.any(|class| class.management);
    if tables.accept == Accept::InTurn || has_management || !lanes.are_known {
        return None;
    }
    let are_all = lanes.used & !served(&tables.high) == 0;
    let all = || are_all.then(|| String::from("all classes are on lanes of `high`"));
    let idle = lanes.idle(&tables.high, "high").or_else(all)?;
    Some(format!(
        "qos.vl_arbitration.accept changes nothing: inputs accept grants for lanes of the table `high` before others, and {idle}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, said, said_beside};

    /// What is said of these tables, where the only class is on lane 0.
    fn of(tables: &str, varied: &[&str]) -> Vec<String> {
        let section = format!(", qos: (vl_arbitration: ({tables}))");
        said_beside(varied, &[UNIFORM, ("SCENARIO", &*section)])
    }

    const LIMIT: &str = "qos.vl_arbitration.limit_of_high_priority changes nothing: it counts what the table `high` sends before `low`, \
                         and";
    const ACCEPT: &str = "qos.vl_arbitration.accept changes nothing: inputs accept grants for lanes of the table `high` before others, \
                          and";
    const LANES: [&str; 4] = [
        "traffic.u.sl",
        "routing",
        "fabric.switch.lanes",
        "fabric.topology.switches",
    ];

    #[test]
    fn limits_between_one_table_and_none_are_told() {
        let idle = |table: &str| {
            [format!(
                "{LIMIT} `{table}` has no entry with a weight above 0"
            )]
        };
        for limit in ["10", "Packets(4)", "Unlimited", "255"] {
            let limit = format!("limit_of_high_priority: {limit}");
            for (tables, told) in [
                ("low: [(0, 1), (1, 2)]", "high"),
                ("low: [(0, 1), (1, 2)], high: [(0, 0)]", "high"),
                ("high: [(0, 1), (1, 2)]", "low"),
            ] {
                let found = of(&format!("{tables}, {limit}"), &[]);
                assert_eq!(found, idle(told), "{tables}, {limit}");
            }
            let both = format!("high: [(0, 1)], low: [(0, 1), (1, 2)], {limit}");
            assert_eq!(of(&both, &[]), NOTHING);
        }
        let tables = "low: [(0, 1), (1, 2)], limit_of_high_priority: 10";
        for varied in ["qos.vl_arbitration.high", "qos.vl_arbitration", "qos"] {
            assert_eq!(of(tables, &[varied]), NOTHING, "{varied}");
        }
        assert_eq!(of(tables, &LANES), idle("high"));
        assert_eq!(of("low: [(0, 1), (1, 2)]", &[]), NOTHING);
        assert_eq!(said(&[UNIFORM]), NOTHING);
    }

    #[test]
    fn limits_of_tables_without_classes_are_told() {
        for (tables, told) in [
            ("high: [(1, 1)], low: [(0, 1)]", "high"),
            ("high: [(0, 1)], low: [(1, 1)]", "low"),
        ] {
            let tables = format!("{tables}, limit_of_high_priority: 10");
            let told = format!("{LIMIT} no class is on a lane of `{told}`");
            assert_eq!(of(&tables, &[]), [told], "{tables}");
            for varied in LANES {
                assert_eq!(of(&tables, &[varied]), NOTHING, "{varied}");
            }
            let section = format!(", qos: (vl_arbitration: ({tables}))");
            let class = format!("{}, sl: [0, 1]", UNIFORM.1);
            let both = [("CLASS", &*class), ("SCENARIO", &*section)];
            assert_eq!(said(&both), NOTHING, "{tables}");
        }
    }

    #[test]
    fn grants_that_are_all_accepted_alike_are_told() {
        for (tables, told) in [
            (
                "low: [(0, 1), (1, 2)]",
                "`high` has no entry with a weight above 0",
            ),
            (
                "low: [(0, 1)], high: [(1, 1)]",
                "no class is on a lane of `high`",
            ),
            ("high: [(0, 1)]", "all classes are on lanes of `high`"),
            (
                "high: [(0, 1)], low: [(0, 1), (1, 1)]",
                "all classes are on lanes of `high`",
            ),
        ] {
            let first = format!("{tables}, accept: HighFirst");
            assert_eq!(of(&first, &[]), [format!("{ACCEPT} {told}")], "{tables}");
            assert_eq!(of(&format!("{tables}, accept: InTurn"), &[]), NOTHING);
            assert_eq!(of(&first, &["qos.vl_arbitration.accept"]), NOTHING);
        }
        let first = "high: [(0, 1)], accept: HighFirst";
        for varied in LANES {
            assert_eq!(of(first, &[varied]), NOTHING, "{varied}");
        }
        let of_both = |class: &str, qos: &str| {
            let section = format!(
                ", qos: (vl_arbitration: (low: [(0, 1)], {qos}, accept: HighFirst), management_lane: true)"
            );
            let class = format!("{}, {class}", UNIFORM.1);
            said(&[("CLASS", &*class), ("SCENARIO", &*section)])
        };
        assert_eq!(of_both("sl: Management", "high: []"), NOTHING);
        let idle = "qos.management_lane changes nothing: no class and no answers are on VL15 (`sl: Management`)";
        assert_eq!(of_both("sl: [0, 1]", "high: [(1, 1)]"), [idle]);
    }
}
