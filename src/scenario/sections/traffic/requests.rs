//! What the flows of a class ask for before they may begin (D53).

use super::Class;
use super::slots::one_pace;
use crate::plan::{self, ClassPlan, ONE_FLIT_PER_CYCLE};
use crate::scenario::Layout;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::sections::values::{Read, time};
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::Time;

section! {
    /// What the flows of a class ask for: they begin when they are admitted, see section admission.
    Requests = "requests" in "traffic[...].requests" {
        /// Peak rate, as a fraction of the host's link rate
        peak: At<f64> = peak, "number above 0, at most 1";
        /// Bound of the delay over one switch; None = none
        delay: Option<At<Time>> = time, "None | time" or None;
        /// What each further switch adds to it
        delay_per_switch: At<Time> = time, "time" or "\"0 cycles\"";
        /// Bound of the jitter; None = none
        jitter: Option<At<Time>> = time, "None | time" or None;
    }
}

fn peak(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(part) if part > 0.0 && part <= 1.0 => Ok(part),
        _ => Err(item.unexpected("a fraction of the link rate above 0, at most 1")),
    }
}

impl Requests {
    /// The section with the values of the plan.
    pub(super) fn print(&self, printer: &mut Printer, plan: &plan::Requests) {
        printer.block("requests: (", "),", |printer| {
            printer.key("peak", format_args!("{:?}", self.peak.value));
            let quoted = |cycles: u64| format!("\"{cycles} cycles\"");
            printer.or_none("delay", plan.delay.map(quoted));
            printer.cycles("delay_per_switch", plan.delay_per_switch);
            printer.or_none("jitter", plan.jitter.map(quoted));
        });
    }

    /// What the plan says of them.
    pub(super) fn plan(
        &self,
        layout: &Layout,
        class: &ClassPlan,
    ) -> Result<plan::Requests, Mistake> {
        let Some(pace) = one_pace(layout, class) else {
            let message = "the links of the hosts of a class with `requests` have one speed: expected classes of their own for \
                           the others";
            return Err(self.peak.mistake(message));
        };
        let time = |time: &At<Time>| cycles(time, layout.clock, 0, LONGEST_PHASE);
        // a product with a power of two is exact
        let peak = self.peak.value * ONE_FLIT_PER_CYCLE as f64 / f64::from(pace);
        Ok(plan::Requests {
            peak: (peak.ceil() as u64).max(1),
            delay: self.delay.as_ref().map(time).transpose()?,
            delay_per_switch: time(&self.delay_per_switch)?,
            jitter: self.jitter.as_ref().map(time).transpose()?,
        })
    }
}

impl Class {
    /// What does not go with requests.
    pub(in crate::scenario) fn check_requests(&self) -> Result<(), Mistake> {
        for flows in self.flows.iter().flatten() {
            if let Some(stop) = &flows.stop {
                return Err(stop.mistake(
                    "`stop` does not go with `requests`: a flow gives back what it was granted when its `bytes` have arrived, and \
                     one that stops before would keep it: use `bytes`",
                ));
            }
            if let Some(phase) = &flows.phase {
                return Err(phase.mistake("`phase` does not go with `requests`"));
            }
            if let Some((at, _)) = flows.changes.first() {
                return Err(at.mistake("`changes` do not go with `requests`"));
            }
        }
        Ok(())
    }
}
