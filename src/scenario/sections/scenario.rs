//! The whole file, `Scenario(...)`: title, seed, routing, and all sections.

use super::values::{Read, boolean, list, long, part, text};
use super::{
    Admission, Class, Expectation, Fabric, Faults, Fluid, Observe, Phases, Qos, Sweep, traffic,
};
use crate::scenario::print::Printer;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{Fields, Item, Mistake, Node, Part};
use crate::scenario::{Parts, Resolved};

section! {
    /// One complete, self-describing study.
    Scenario = "scenario" in "" checked by Scenario::check_points {
        /// Scenario that this one starts from: where it has no section of its own, that of the base holds
        base: Option<String> = of_a_file, "file name" or None;
        /// Values of the base that are others here, as `--set` takes them
        changes: Option<String> = of_a_file, "list of (key path, value)" or None;
        /// Title shown in tables and reports
        title: String = text, "text" or "\"untitled\"";
        /// Seed of all random streams
        seed: u64 = long(0), "integer >= 0" or "1";
        /// What is connected to what, and the switches
        fabric: Fabric = Fabric::read, "section";
        /// Switches and links that fail before the run
        faults: Option<Faults> = Faults::read, "section" or None;
        /// Service levels, VL arbitration, management lane
        qos: Qos = Qos::read, "section" or "()";
        /// How forwarding tables are computed
        routing: Part = part("routing engine"), "routing engine";
        /// Who sends what to whom, and when
        traffic: Vec<Class> = traffic::classes, "list of traffic classes";
        /// Which flows may begin
        admission: Option<Admission> = Admission::read, "section" or None;
        /// Length of warm-up, measurement and drain
        phases: Phases = Phases::read, "section";
        /// Run although the forwarding tables are not proved free of deadlock
        allow_deadlock: bool = boolean, "true | false" or "false";
        /// Leave out pairs of hosts without a way; each connected part is routed by itself
        allow_unreachable: bool = boolean, "true | false" or "false";
        /// Records of single packets and of flows, beside the counters
        observe: Observe = Observe::read, "section" or "()";
        /// Routes and rates at flow level, for `virtlane flow`
        fluid: Fluid = Fluid::read, "section" or "()";
        /// Values to vary, for `virtlane sweep`
        sweep: Option<Sweep> = Sweep::read, "section" or None;
        /// What the results must be: exit code 1 when they are not
        expect: Vec<Expectation> = list(Expectation::read), "list of expectations" or "[]";
    }
}

/// A key that a file is merged by before it is read; it is here by `--set` only.
fn of_a_file(item: &Item<'_>) -> Read<String> {
    Err(item.mistake(format!(
        "`{}` belongs into the file: it cannot be set",
        item.path
    )))
}

impl Scenario {
    /// Reads a whole file.
    ///
    /// # Errors
    /// The first wrong key or value.
    pub(in crate::scenario) fn of(root: &Node) -> Read<Self> {
        let whole = Item {
            node: root,
            path: String::new(),
        };
        match whole.variant() {
            Some(("Scenario", Some(inner))) => Self::read(&inner),
            Some(_) => Err(whole.unexpected("a scenario: expected `Scenario(...)`")),
            None => Self::read(&whole),
        }
    }

    /// The points of every claim are those of the sweep.
    fn check_points(&self, _: &Fields<'_>) -> Result<(), Mistake> {
        let mut claims = self.expect.iter();
        claims.try_for_each(|claim| claim.check(self.sweep.as_ref()))
    }

    /// The file with the values of the plan.
    pub(in crate::scenario) fn print(
        printer: &mut Printer,
        resolved: &Resolved,
        parts: &Parts<'_>,
    ) {
        let (scenario, plan) = (&resolved.scenario, &resolved.plan);
        printer.key("title", quote(&plan.title));
        printer.key("seed", plan.seed);
        printer.block("fabric: (", "),", |printer| {
            Fabric::print(printer, resolved, parts);
        });
        match &scenario.faults {
            None => printer.key("faults", "None"),
            Some(faults) => printer.block("faults: (", "),", |printer| {
                faults.print(printer, scenario.seed);
            }),
        }
        printer.block("qos: (", "),", |printer| scenario.qos.print(printer));
        printer.part("routing", &scenario.routing, parts.engines);
        printer.block("traffic: [", "],", |printer| {
            for number in 0..scenario.traffic.len() {
                printer.block("(", "),", |printer| {
                    Class::print(printer, resolved, number, parts);
                });
            }
        });
        match (&scenario.admission, &plan.admission) {
            (Some(admission), Some(plan)) => admission.print(printer, plan, parts),
            _ => printer.key("admission", "None"),
        }
        printer.block("phases: (", "),", |printer| Phases::print(printer, plan));
        printer.key("allow_deadlock", plan.allow_deadlock);
        printer.key("allow_unreachable", plan.allow_unreachable);
        printer.block("observe: (", "),", |printer| Observe::print(printer, plan));
        printer.block("fluid: (", "),", |printer| {
            scenario.fluid.print(printer, parts);
        });
        match &scenario.sweep {
            None => printer.key("sweep", "None"),
            Some(sweep) => {
                printer.block("sweep: (", "),", |printer| sweep.print(printer));
            }
        }
        if scenario.expect.is_empty() {
            return printer.key("expect", "[]");
        }
        printer.block("expect: [", "],", |printer| {
            for claim in &scenario.expect {
                printer.block("(", "),", |printer| claim.print(printer));
            }
        });
    }
}
