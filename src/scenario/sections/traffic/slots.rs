//! Slots in which the flows of a class make their packets (D52).

use super::Class;
use crate::plan::{self, ClassPlan, FlowPlan};
use crate::scenario::print::Printer;
use crate::scenario::sections::values::{Read, fraction, part, whole};
use crate::scenario::syntax::{At, Fields, Item, Mistake, Part};
use crate::scenario::{Layout, Parts};
use crate::traffic::ProcessContext;
use std::sync::Arc;

/// Most slots of a clock.
const MOST_SLOTS: u32 = 1 << 20;

section! {
    /// Slots in which the flows of a class make their packets: at each host a clock goes round, and the flows that are active
    /// are spread over its slots.
    Slots = "slots" in "traffic[...].slots" checked by Slots::check_count {
        /// When the clock ticks, from slot to slot; its load is what a host offers whose slots all have flows
        ticks: Part = part("arrival process"), "arrival process";
        /// Slots; needed without `flow_load`
        count: Option<At<u32>> = whole(1), "None | 1..=1048576" or None;
        /// Load of a flow, as a fraction of the link rate: there are as many slots as such flows have the load of the ticks,
        /// rounded down
        flow_load: Option<At<f64>> = fraction, "None | number between 0 and 1" or None;
        /// Whether a flow sends in a tick of its slot; None = in each
        source: Option<Part> = part("slot source"), "None | slot source" or None;
    }
}

/// How many flows an entry makes for each that its generator gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// So many.
    Count(u32),
    /// As many as there are slots.
    Slots,
}

impl Copies {
    pub(super) fn read(item: &Item<'_>) -> Read<Self> {
        if item.is_word("Slots") {
            return Ok(Self::Slots);
        }
        match whole(1)(item) {
            Ok(count) => Ok(Self::Count(count)),
            Err(_) => Err(item.unexpected("a number of flows, at least 1, or `Slots`")),
        }
    }

    /// As it is written.
    pub(super) fn written(self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Slots => String::from("Slots"),
        }
    }

    /// How many, in a class with these slots.
    pub(super) fn number(this: &At<Self>, slots: Option<&plan::Slots>) -> Result<u32, Mistake> {
        match (this.value, slots) {
            (Self::Count(count), _) => Ok(count),
            (Self::Slots, Some(slots)) => Ok(slots.count),
            (Self::Slots, None) => {
                Err(this
                    .mistake("the class has no `slots`: expected a number of flows, at least 1"))
            }
        }
    }
}

impl Slots {
    /// Their number is given in one way.
    fn check_count(&self, fields: &Fields<'_>) -> Result<(), Mistake> {
        match (&self.count, &self.flow_load) {
            (Some(_), Some(load)) => Err(load.mistake(
                "`flow_load` does not go with `count`: one of them says how many slots there are",
            )),
            (None, None) => fields.need("count").map(drop),
            _ => Ok(()),
        }
    }

    /// The section with the values of the plan.
    pub(super) fn print(&self, printer: &mut Printer, slots: &plan::Slots, parts: &Parts<'_>) {
        printer.block("slots: (", "),", |printer| {
            printer.part("ticks", &self.ticks, parts.processes);
            printer.key("count", slots.count);
            match &self.source {
                Some(source) => printer.part("source", source, parts.slot_sources),
                None => printer.key("source", "None"),
            }
        });
    }

    /// The parts it names must be registered.
    pub(super) fn check_parts(&self, parts: &Parts<'_>) -> Result<(), Mistake> {
        self.ticks.entry(parts.processes)?;
        match &self.source {
            Some(source) => source.entry(parts.slot_sources).map(drop),
            None => Ok(()),
        }
    }

    /// What the plan says of them.
    pub(super) fn plan(
        &self,
        layout: &Layout,
        parts: &Parts<'_>,
        class: &ClassPlan,
    ) -> Result<plan::Slots, Mistake> {
        let Some(cycles_per_flit) = one_pace(layout, class) else {
            let message = "the links of the hosts of a class with `slots` have one speed: expected classes of their own for \
                           the others";
            return Err(self.ticks.name.mistake(message));
        };
        let source = match &self.source {
            Some(source) => Some(source.build(source.entry(parts.slot_sources)?.build)?),
            None => None,
        };
        let make = self.ticks.entry(parts.processes)?.build;
        let per_tick = source.as_ref().map_or(1.0, |source| source.per_tick);
        let context = ProcessContext {
            mean_size: class.size.mean() * per_tick,
            cycles_per_flit,
        };
        let offered = self.ticks.build(|arguments| make(arguments, context))?;
        let ticks = ClassPlan {
            process: Arc::clone(&offered.process),
            ..class.clone()
        };
        if ticks.is_backlogged() {
            let message = "a clock needs a process with a load";
            return Err(self.ticks.name.mistake(message));
        }
        Ok(plan::Slots {
            count: self.count(offered.load)?,
            ticks: offered.process,
            load: offered.load,
            source: source.map(|offered| offered.source),
        })
    }

    /// How many there are, with ticks of that load.
    fn count(&self, load: f64) -> Result<u32, Mistake> {
        match (&self.count, &self.flow_load) {
            (Some(count), _) if count.value > MOST_SLOTS => {
                Err(count.mistake(format!("{} slots: expected 1 to {MOST_SLOTS}", count.value)))
            }
            (Some(count), _) => Ok(count.value),
            (None, Some(flow)) => {
                // a quotient that is whole but for its rounding is that whole number
                let slots = (load / flow.value * (1.0 + 1e-12)).floor();
                if !(1.0..=f64::from(MOST_SLOTS)).contains(&slots) {
                    return Err(flow.mistake(format!(
                        "ticks of load {load} have {slots} slots of load {}: expected 1 to {MOST_SLOTS}",
                        flow.value
                    )));
                }
                Ok(slots as u32)
            }
            (None, None) => Ok(1),
        }
    }
}

/// Cycles per flit of the links of the hosts of a class; `None`: they differ.
pub(super) fn one_pace(layout: &Layout, class: &ClassPlan) -> Option<u32> {
    let graph = &layout.graph;
    let mut paces = class.hosts.iter().map(|&host| {
        let channel = graph.channel(graph.host_channel(host));
        channel.timing.cycles_per_flit
    });
    let first = paces.next()?;
    paces.all(|pace| pace == first).then_some(first)
}

/// Flows of a class with slots have neither processes nor phases, and each has a slot.
pub(super) fn check(class: &Class, slots: &plan::Slots, flows: &[FlowPlan]) -> Result<(), Mistake> {
    for section in class.flows.iter().flatten() {
        if let Some(process) = &section.process {
            return Err(process
                .name
                .mistake("`process` does not go with `slots`, which say when packets are made"));
        }
        if let Some(phase) = &section.phase {
            return Err(phase.mistake("`phase` does not go with `slots`"));
        }
    }
    let mut sources: Vec<_> = flows.iter().map(|flow| flow.source).collect();
    sources.sort_unstable();
    let most = sources
        .chunk_by(|a, b| a == b)
        .max_by_key(|of_host| of_host.len());
    let Some(most) = most.filter(|most| most.len() > slots.count as usize) else {
        return Ok(());
    };
    Err(class.name.mistake(format!(
        "{} flows begin at host {}, which has {} slots: expected at most one flow in each",
        most.len(),
        most[0].0,
        slots.count
    )))
}
