//! What would come after the longest run: claims of heads, looks of the watchdog, stops of flows, rounds of admission.

use super::changes::{end, words_of_end};
use super::varied::Varied;
use crate::plan::Times;
use crate::scenario::Resolved;
use crate::scenario::sections::Claims;

/// Cycles between looks of the watchdog where nobody says it.
const USUAL_WATCHDOG: u64 = 10_000;

/// Algorithms of control that do not know when a flow stops.
const BLIND: [&str; 4] = ["Dcqcn", "Delay", "InfiniBand", "Window"];

/// All of it.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    if varied.includes("phases") {
        return Vec::new();
    }
    let mut notes = Vec::new();
    notes.extend(watchdog(resolved));
    if !varied.includes("fabric.switch.claims") {
        notes.extend(claims(resolved));
    }
    if !(varied.includes("traffic.*.flows") || varied.includes("traffic.*.control")) {
        notes.extend(stops(resolved));
        notes.extend(columns(resolved));
    }
    if !(varied.includes("admission") || varied.includes("traffic.*.requests")) {
        notes.extend(rounds(resolved));
    }
    notes
}

/// Looks for a deadlock, of which one at the end of the run is left.
fn watchdog(resolved: &Resolved) -> Option<String> {
    let (plan, end) = (&resolved.plan, end(resolved));
    let every = plan.phases.watchdog;
    let first = Times::of(plan, &resolved.layout.graph).between_looks(every);
    // a run that is shorter than the default is nobody's mistake
    (every != USUAL_WATCHDOG && every > end).then(|| {
        format!(
            "{}: packets that can never move again beside others are looked for at the end of the run only: the first look before it \
             would be in cycle {first}, and {}",
            resolved.scenario.phases.watchdog.path,
            words_of_end(end)
        )
    })
}

/// Claims of heads, which have to stand at two looks.
fn claims(resolved: &Resolved) -> Option<String> {
    let claims = &resolved.scenario.fabric.switch.claims;
    let Claims::Every(_) = claims.value else {
        return None;
    };
    let (second, end) = (2 * resolved.plan.switch.allocation.claims?, end(resolved));
    (second > end).then(|| {
        format!(
            "{}: no head claims anything: it has to stand at two looks, the second is in cycle {second}, and {}",
            claims.path,
            words_of_end(end)
        )
    })
}

/// Stops of flows. Algorithms that know them may go by one long before.
fn stops(resolved: &Resolved) -> Vec<String> {
    let (plan, end, clock) = (&resolved.plan, end(resolved), resolved.layout.clock);
    let classes = resolved.scenario.traffic.iter().enumerate();
    let is_blind = |name: &str| BLIND.contains(&name);
    let classes = classes.filter(|(_, class)| {
        let mut control = class.control.iter();
        control.all(|control| is_blind(&control.name.value))
    });
    let written = classes.flat_map(|(number, class)| {
        let entries = class.flows.iter().flatten();
        entries.filter_map(move |entry| Some((number, entry.stop.as_ref()?)))
    });
    let notes = written.filter_map(|(number, written)| {
        let stop = written.value.cycles(clock);
        let mut flows = plan.flows.iter();
        let has_it = flows.any(|flow| usize::from(flow.class) == number && flow.stop == Some(stop));
        (stop > end && has_it).then(|| {
            format!(
                "{} stops no flow: it comes in cycle {stop}, and {}",
                written.path,
                words_of_end(end)
            )
        })
    });
    notes.collect()
}

/// Columns `stop` of files: those of classes of which no entry has the key, so that all stops are from there.
fn columns(resolved: &Resolved) -> Vec<String> {
    let (scenario, plan, end) = (&resolved.scenario, &resolved.plan, end(resolved));
    let classes = scenario.traffic.iter().enumerate();
    let classes = classes.filter(|(_, class)| class.control.is_none());
    let notes = classes.filter_map(|(number, class)| {
        let entries = class.flows.as_ref()?;
        let mut files = entries
            .iter()
            .filter(|entry| entry.pairs.name.value == "Csv");
        let first = &files.next()?.pairs.name.path;
        if entries.iter().any(|entry| entry.stop.is_some()) {
            return None;
        }
        let own = plan.flows.iter();
        let own = own.filter(|flow| usize::from(flow.class) == number);
        let earliest = own.filter_map(|flow| flow.stop).min()?;
        let more = match files.count() {
            0 => String::new(),
            more => format!(" (and in {more} more)"),
        };
        (earliest > end).then(|| {
            format!(
                "{first}: the column `stop` of the file{more} stops no flow: the first stop comes in cycle {earliest}, and {}",
                words_of_end(end)
            )
        })
    });
    notes.collect()
}

/// Rounds of admission, and starts of the flows that they admit.
fn rounds(resolved: &Resolved) -> Option<String> {
    let (plan, section) = (
        resolved.plan.admission.as_ref()?,
        resolved.scenario.admission.as_ref()?,
    );
    let end = end(resolved);
    let start = plan.first + plan.decision;
    let key = if plan.first >= end {
        &section.first
    } else {
        &section.decision
    };
    (start >= end).then(|| {
        format!(
            "{}: none of the flows that ask for admission starts: the first could in cycle {start}, and {}",
            key.path,
            words_of_end(end)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, of_flows, said, said_beside};

    const ENDS: &str = "the longest run ends in cycle 22000, with warm-up, measurement and drain";

    #[test]
    fn looks_after_the_run_are_told() {
        let of = |cycles: u64, varied: &[&str]| {
            let measure = format!("measure: \"10000 cycles\", watchdog: \"{cycles} cycles\"");
            said_beside(varied, &[UNIFORM, ("measure: \"10000 cycles\"", &*measure)])
        };
        let told = "phases.watchdog: packets that can never move again beside others are looked for at the end of the run only: the \
                    first look before it would be in cycle 22001, and";
        assert_eq!(of(22_001, &[]), [format!("{told} {ENDS}")]);
        assert_eq!(of(22_000, &[]), NOTHING);
        for varied in ["phases", "phases.watchdog", "phases.measure"] {
            assert_eq!(of(22_001, &[varied]), NOTHING, "{varied}");
        }
        let short = [
            UNIFORM,
            (
                "measure: \"10000 cycles\"",
                "measure: \"100 cycles\", drain: \"0 cycles\"",
            ),
        ];
        assert_eq!(said(&short), NOTHING);
    }

    #[test]
    fn claims_after_the_run_are_told() {
        let of = |claims: &str, varied: &[&str]| {
            let claims = format!(", claims: {claims}");
            said_beside(varied, &[UNIFORM, ("SWITCH", &*claims)])
        };
        let every = |cycles: u64| format!("Every(\"{cycles} cycles\")");
        let told = "fabric.switch.claims: no head claims anything: it has to stand at two looks, the second is in cycle 22002, and";
        assert_eq!(of(&every(11_001), &[]), [format!("{told} {ENDS}")]);
        for claims in [&*every(11_000), "Auto", "Off"] {
            assert_eq!(of(claims, &[]), NOTHING, "{claims}");
        }
        for varied in ["fabric.switch.claims", "phases.drain"] {
            assert_eq!(of(&every(11_001), &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn stops_after_the_run_are_told() {
        let stops = |cycle: u64| of_flows(&format!("stop: \"{cycle} cycles\""), &[]);
        let told =
            format!("traffic[0].flows[0].stop stops no flow: it comes in cycle 22001, and {ENDS}");
        assert_eq!(stops(22_001), [told]);
        assert_eq!(stops(22_000), NOTHING);
        let class = "flows: [(pairs: AllToAll, stop: \"90000 cycles\")]";
        for varied in [
            "phases.measure",
            "traffic.u.flows.0.stop",
            "traffic.u.control",
        ] {
            assert_eq!(said_beside(&[varied], &[("CLASS", class)]), NOTHING);
        }
        let paced = format!("{class}, control: Window(window: 2), answers: (sl: 1)");
        let told =
            format!("traffic[0].flows[0].stop stops no flow: it comes in cycle 90000, and {ENDS}");
        assert_eq!(said(&[("CLASS", &*paced)]), [told]);
        // it shares its link by what is left of the flow
        let known = format!("{class}, control: Saa(), answers: (sl: 1)");
        assert_eq!(said(&[("CLASS", &*known)]), NOTHING);
    }

    #[test]
    fn columns_of_stops_after_the_run_are_told() {
        let of = |stops: [&str; 2], entry: &str, more: &str, varied: &[&str]| {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("f.csv");
            let [first, second] = stops;
            let lines = format!("source,destination,stop [cycles]\n0,1,{first}\n0,2,{second}\n");
            std::fs::write(&file, lines).expect("writable");
            let class = format!("flows: [(pairs: Csv(file: {file:?}){entry}){more}]");
            said_beside(varied, &[("CLASS", &*class)])
        };
        let told = format!(
            "traffic[0].flows[0].pairs: the column `stop` of the file stops no flow: the first stop comes in cycle 22001, and {ENDS}"
        );
        assert_eq!(of(["22001", "99999"], "", "", &[]), [&*told]);
        assert_eq!(of(["", "22001"], "", "", &[]), [&*told]);
        let beside = ", (pairs: List(pairs: [(0, 3)]))";
        assert_eq!(of(["22001", ""], "", beside, &[]), [&*told]);
        for stops in [["22000", "99999"], ["", ""], ["99999", "500"]] {
            assert_eq!(of(stops, "", "", &[]), NOTHING, "{stops:?}");
        }
        // the key stops what the column does not
        let key = ", stop: \"5000 cycles\"";
        assert_eq!(of(["22001", ""], key, "", &[]), NOTHING);
        for varied in [
            "phases.measure",
            "traffic.u.flows.0.pairs.file",
            "traffic.u.control",
        ] {
            let found = of(["22001", "99999"], "", "", &[varied]);
            assert_eq!(found, NOTHING, "{varied}");
        }
    }

    #[test]
    fn rounds_after_the_run_are_told() {
        let of = |times: &str, varied: &[&str]| {
            let class =
                "flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate(0.1))], requests: (peak: 0.1)";
            let control = format!(", admission: (control: AdmitAll(){times})");
            said_beside(varied, &[("CLASS", class), ("SCENARIO", &*control)])
        };
        let told = |key: &str, cycle: u64| {
            [format!(
                "admission.{key}: none of the flows that ask for admission starts: the first could in cycle {cycle}, and {ENDS}"
            )]
        };
        let first = ", first: \"22000 cycles\"";
        assert_eq!(of(first, &[]), told("first", 22_000));
        assert_eq!(of(", first: \"21999 cycles\"", &[]), NOTHING);
        assert_eq!(
            of(", decision: \"30000 cycles\"", &[]),
            told("decision", 30_000)
        );
        assert_eq!(
            of(", first: \"2000 cycles\", decision: \"20000 cycles\"", &[]),
            told("decision", 22_000)
        );
        assert_eq!(
            of(", first: \"2000 cycles\", decision: \"19999 cycles\"", &[]),
            NOTHING
        );
        for varied in ["phases.measure", "admission.first", "admission"] {
            assert_eq!(of(first, &[varied]), NOTHING, "{varied}");
        }
    }
}
