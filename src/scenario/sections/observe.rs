//! Section `observe`: records of packets and flows, and looks at queues and congestion.

use super::values::{Read, boolean, fraction, list, text, time, whole};
use crate::measure::{self, Sample};
use crate::plan::{ClassPlan, Plan};
use crate::registry::unknown;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Clock, Time};

section! {
    /// Records of packets and flows: of packets created in the measurement and delivered.
    Observe = "observe" in "observe" {
        /// Packets with a row in packets.csv: Every(n) = each n-th a source makes in a class, Fraction(f) = each with
        /// probability f
        packets: Option<Sample> = sample, "None | All | Every(n) | Fraction(f)" or None;
        /// Whether flows.csv has a row for every (class, source, destination)
        flows: bool = boolean, "true | false" or "false";
        /// Whether the rows of flows.csv have percentiles of latency
        percentiles: At<bool> = boolean, "true | false" or "false";
        /// Whether hops.csv has the latencies of every class by hops
        hops: bool = boolean, "true | false" or "false";
        /// Whether packets in the input queues of switches are counted: queues.* of summary.json
        queues: bool = boolean, "true | false" or "false";
        /// Time from look to look at the congestion trees of the measurement: congestion.csv, congestion.* of summary.json
        congestion: Option<At<Time>> = time, "None | time, at least 1 cycle" or None;
        /// Traffic classes of packets.csv, hops.csv, and flows.csv where it is asked for
        classes: Option<At<Vec<At<String>>>> = classes, "All | [names]" or "All";
    }
}

fn sample(item: &Item<'_>) -> Read<Sample> {
    match item.variant() {
        Some(("All", None)) => Ok(Sample::All),
        Some(("Every", Some(arguments))) => {
            let number = arguments.tuple(1, "a number of packets such as `Every(100)`")?;
            whole(1)(&number[0]).map(Sample::Every)
        }
        Some(("Fraction", Some(arguments))) => {
            let number = arguments.tuple(1, "a fraction such as `Fraction(0.01)`")?;
            fraction(&number[0]).map(Sample::Fraction)
        }
        _ => Err(item.unexpected(
            "a choice of packets: expected `None`, `All`, `Every(n)` or `Fraction(f)`",
        )),
    }
}

/// Names; `None` for all.
fn classes(item: &Item<'_>) -> Read<Option<Vec<At<String>>>> {
    if item.is_word("All") {
        return Ok(None);
    }
    list(|item| text(item).map(|name| item.at(name)))(item).map(Some)
}

impl Observe {
    /// What is recorded, with the classes by number.
    pub(in crate::scenario) fn plan(
        &self,
        all: &[ClassPlan],
        clock: Clock,
    ) -> Result<measure::Observe, Mistake> {
        let mut classes = vec![self.classes.is_none(); all.len()];
        for name in self.classes.iter().flat_map(|listed| &listed.value) {
            let names = || all.iter().map(|class| class.name.as_str());
            let Some(number) = names().position(|known| known == name.value) else {
                return Err(name.mistake(unknown("traffic class", &name.value, names())));
            };
            if std::mem::replace(&mut classes[number], true) {
                return Err(name.mistake(format!("the class `{}` stands here twice", name.value)));
            }
        }
        if let Some(listed) = &self.classes {
            self.check_classes(all, listed)?;
        }
        let congestion = self.congestion.as_ref();
        let congestion = congestion.map(|every| cycles(every, clock, 1, LONGEST_PHASE));
        Ok(measure::Observe {
            packets: self.packets.unwrap_or_default(),
            flows: self.flows,
            percentiles: self.percentiles(all)?,
            hops: self.hops,
            queues: self.queues,
            congestion: congestion.transpose()?,
            classes,
        })
    }

    /// A list of classes says what is recorded of: of at least one, where there are records.
    fn check_classes(
        &self,
        all: &[ClassPlan],
        listed: &At<Vec<At<String>>>,
    ) -> Result<(), Mistake> {
        if listed.value.is_empty() {
            return Err(listed.mistake("the list is empty: expected at least one class, or `All`"));
        }
        let is_listed = |class: &ClassPlan| listed.value.iter().any(|one| one.value == class.name);
        let mut classes = all.iter().filter(|class| is_listed(class));
        let has_flows = classes.any(|class| class.flows.is_some());
        if self.packets.is_none() && !self.flows && !self.hops && !has_flows {
            return Err(listed.mistake(
                "nothing is recorded that could be of some classes only: expected `packets`, `flows` or `hops`",
            ));
        }
        Ok(())
    }

    /// Classes whose flows have percentiles; none when they are not asked for.
    fn percentiles(&self, all: &[ClassPlan]) -> Result<Vec<bool>, Mistake> {
        if !self.percentiles.value {
            return Ok(Vec::new());
        }
        let has_rows = |class: &ClassPlan| self.flows || class.flows.is_some();
        let classes: Vec<bool> = all.iter().map(has_rows).collect();
        if !classes.contains(&true) {
            return Err(self.percentiles.mistake(
                "percentiles are columns of flows.csv, which this scenario does not write: no class has `flows`, and \
                 `observe.flows` is false",
            ));
        }
        Ok(classes)
    }

    /// The section with the values of the plan.
    pub(super) fn print(printer: &mut Printer, plan: &Plan) {
        let observe = &plan.observe;
        match observe.packets {
            Sample::None => printer.key("packets", "None"),
            Sample::All => printer.key("packets", "All"),
            Sample::Every(n) => printer.key("packets", format_args!("Every({n})")),
            Sample::Fraction(f) => printer.key("packets", format_args!("Fraction({f:?})")),
        }
        printer.key("flows", observe.flows);
        printer.key("percentiles", !observe.percentiles.is_empty());
        printer.key("hops", observe.hops);
        printer.key("queues", observe.queues);
        match observe.congestion {
            Some(every) => printer.cycles("congestion", every),
            None => printer.key("congestion", "None"),
        }
        if observe.classes.iter().all(|&taken| taken) {
            return printer.key("classes", "All");
        }
        let taken = plan
            .classes
            .iter()
            .zip(&observe.classes)
            .filter(|(_, taken)| **taken);
        let names: Vec<_> = taken.map(|(class, _)| quote(&class.name)).collect();
        printer.key("classes", format_args!("[{}]", names.join(", ")));
    }
}
