//! Section `admission`: who decides which flows may begin, and in which rounds (D53).

use super::traffic::Class;
use super::values::{part, time, whole};
use crate::admission::AdmissionContext;
use crate::plan::{AdmissionPlan, ClassPlan, Plan, SwitchOptions, name_of_probes};
use crate::qos::available_bandwidth::{Form, Shares};
use crate::qos::vl_arbitration::Rules;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::syntax::{At, Mistake, Part};
use crate::scenario::{Parts, Scenario};
use crate::traffic::flows::MOST_FLOWS;
use crate::units::{Clock, Time};

section! {
    /// Admission of flows: which of the flows of classes with `requests` may begin. In each round every host asks for one flow of
    /// each class.
    Admission = "admission" in "admission" {
        /// Who decides
        control: Part = part("admission control"), "admission control";
        /// First round
        first: At<Time> = time, "time" or "\"0 cycles\"";
        /// From round to round
        gap: At<Time> = time, "time, at least 1 cycle" or "\"1 cycles\"";
        /// From a decision to the start of the flow, such as the way from a desk that is far away
        decision: At<Time> = time, "time" or "\"0 cycles\"";
        /// Rounds in a row that admit nothing, after which there are no more; not while somebody asks and flows with a size still go
        empty: u32 = whole(1), "integer >= 1" or "10";
        /// Rounds at most; None = any number
        most: Option<At<u32>> = whole(1), "None | integer >= 1" or None;
    }
}

impl Admission {
    /// The section with the values of the plan.
    pub(super) fn print(&self, printer: &mut Printer, plan: &AdmissionPlan, parts: &Parts<'_>) {
        printer.block("admission: (", "),", |printer| {
            printer.part("control", &self.control, parts.admission);
            printer.cycles("first", plan.first);
            printer.cycles("gap", plan.gap);
            printer.cycles("decision", plan.decision);
            printer.key("empty", plan.empty);
            printer.or_none("most", self.most.as_ref().map(|most| most.value));
        });
    }

    /// What the plan says of it.
    pub(in crate::scenario) fn plan(
        &self,
        parts: &Parts<'_>,
        clock: Clock,
        lanes: Option<[f64; 16]>,
    ) -> Result<AdmissionPlan, Mistake> {
        let make = self.control.entry(parts.admission)?.build;
        let context = AdmissionContext { clock, lanes };
        Ok(AdmissionPlan {
            control: self.control.build(|arguments| make(arguments, context))?,
            first: cycles(&self.first, clock, 0, LONGEST_PHASE)?,
            gap: cycles(&self.gap, clock, 1, LONGEST_PHASE)?,
            empty: self.empty,
            most: self.most.as_ref().map_or(u32::MAX, |most| most.value),
            decision: cycles(&self.decision, clock, 0, LONGEST_PHASE)?,
            tried: Vec::new(),
        })
    }
}

/// What each lane has of a saturated channel by the arbitration tables, all packets of the largest size.
pub(in crate::scenario) fn parts_of_lanes(
    switch: &SwitchOptions,
    classes: &[ClassPlan],
    flit_bytes: u32,
) -> Option<[f64; 16]> {
    let tables = switch.vl_arbitration.as_ref();
    let tables = tables.filter(|tables| tables.rules == Rules::InfiniBand)?;
    let largest = classes.iter().map(|class| class.size.largest()).max()?;
    let shares = Shares::new(tables, tables.size(largest, flit_bytes), Form::Exact);
    Some(std::array::from_fn(|lane| shares.of_lane(lane as u8)))
}

/// What does not go with admission.
pub(in crate::scenario) fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let asking = scenario.traffic.iter().zip(&plan.classes);
    let asking = asking.filter(|(class, _)| class.requests.is_some());
    let asking: Vec<_> = asking.collect();
    for (class, _) in &asking {
        class.check_requests()?;
    }
    let asking = asking.iter().filter(|(_, planned)| !planned.reserves());
    let asking: Vec<&Class> = asking.map(|(class, _)| *class).collect();
    let Some(section) = &scenario.admission else {
        return match asking.first() {
            Some(class) => Err(class.name.mistake(
                "its flows have `requests`, but nobody decides: expected a section `admission`",
            )),
            None => Ok(()),
        };
    };
    if asking.is_empty() {
        let message = if scenario
            .traffic
            .iter()
            .any(|class| class.requests.is_some())
        {
            "all classes with `requests` reserve by themselves: there is nothing to decide"
        } else {
            "no class has `requests`: there is nothing to decide"
        };
        return Err(section.control.name.mistake(message));
    }
    check_trials(scenario, section, plan)?;
    let looks = (plan.admission.as_ref()).is_some_and(|one| one.control.looks_at_loads());
    if looks && plan.switch.output_lane_buffer > 0 {
        let message = "it looks at loads, which are not known with `output_lane_buffer`";
        return Err(section.control.name.mistake(message));
    }
    Ok(())
}

/// What does not go with trials (D59).
fn check_trials(scenario: &Scenario, section: &Admission, plan: &Plan) -> Result<(), Mistake> {
    let Some(admission) = plan.admission.as_ref() else {
        return Ok(());
    };
    if admission.control.trials().is_none() {
        return Ok(());
    }
    let name = &section.control.name;
    if admission.tried.is_empty() {
        return Err(name.mistake(format!(
            "`{}` tries flows with a jitter bound, and no class that asks has one: expected `jitter` in `requests`",
            name.value
        )));
    }
    for tried in &admission.tried {
        let probes = name_of_probes(&plan.classes[usize::from(tried.class)].name);
        let mut classes = scenario.traffic.iter();
        if let Some(class) = classes.find(|class| class.name.value == probes) {
            return Err(class.name.mistake(format!(
                "the name `{probes}` is taken by the probes of a class that is tried"
            )));
        }
    }
    if plan.flows.len() as u64 > MOST_FLOWS {
        return Err(name.mistake(format!(
            "{} flows, with a probe flow for each that is tried: at most {MOST_FLOWS} are possible",
            plan.flows.len()
        )));
    }
    Ok(())
}
