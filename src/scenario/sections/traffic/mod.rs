//! Section `traffic`: one class, who sends it, and what it sends.

mod control;
mod entries;
mod flows;
mod groups;
mod hosts;
mod limits;
mod messages;
mod phases;
mod plan;
mod requests;
mod slots;
mod transport;
mod waits;
mod ways;

pub use control::Answers;
pub(in crate::scenario) use control::{control as plan_control, place};
pub(in crate::scenario) use entries::{flows as plan_flows, limit_of_rate};
pub use flows::Flows;
pub(in crate::scenario) use groups::check as check_groups;
pub use hosts::HostSet;
pub use limits::Allowed;
pub(in crate::scenario) use messages::workloads;
pub(in crate::scenario) use plan::classes as plan_classes;
pub use requests::Requests;
pub use slots::Slots;
pub use transport::{Broadcast, OutOfBand, Transport};
pub(in crate::scenario) use ways::complete as complete_flows;

use super::values::{Read, amount, list, long, part, small, text, whole};
use crate::scenario::print::Printer;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Fields, Item, Mistake, Part};
use crate::scenario::{Parts, Resolved};
use crate::units::Amount;

section! {
    /// One traffic class.
    Class = "traffic" in "traffic[...]" checked by Class::check_demand {
        /// Name shown in tables; classes have different names
        name: At<String> = text, "text";
        /// Hosts that send, each once; hosts and switches by number from 0 or by name, Range includes both ends. The rank of a
        /// host, from 0, is its place in that order: messages, flows and patterns with `among: Senders` count ranks
        hosts: At<HostSet> = hosts::read,
            "All | Range(first, last) | List([hosts]) | EveryNth(n, offset) | Switches([switches])" or "All";
        /// Where packets go; needed without `messages` and `flows`
        pattern: Option<Part> = part("traffic pattern"), "traffic pattern" or None;
        /// When packets are made; needed without `messages` and `flows`
        process: Option<Part> = part("arrival process"), "arrival process" or None;
        /// Who sends what to whom, when and after what, in place of pattern and process; classes that name the same
        /// source share it
        messages: Option<Part> = part("message source"), "message source" or None;
        /// Senders that are asked for packets when the channel is free, in place of pattern and process; each entry makes flows
        /// that are alike, see section flows
        flows: Option<Vec<Flows>> = Flows::several, "[flows]" or None;
        /// Slots in which the flows make their packets, see section slots
        slots: Option<Slots> = Slots::read, "None | section" or None;
        /// What the flows ask for; they begin when they are admitted, see sections requests and admission
        requests: Option<Requests> = Requests::read, "None | section" or None;
        /// What sets limits and windows of the flows from answers to their packets
        control: Option<Part> = part("control algorithm"), "None | control algorithm" or None;
        /// Those answers, with control
        answers: Answers = Answers::read, "section" or "()";
        /// Packet size, 1..=65535 flits; messages are split into packets of at most this size
        size: At<Size> = size, "size | Mixed([(size, weight)])";
        /// Service level; of several, one is drawn per packet, and flows and messages have them in turn; Management = VL15
        sl: At<ServiceLevels> = service_levels, "0..=15 | [service levels] | Management" or "0";
        /// Packets each host sends in all; None = without end
        packets: Option<At<u64>> = long(1), "None | integer >= 1" or None;
    }
}

/// How long packets are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// One size.
    Fixed(At<Amount>),
    /// Sizes with weights.
    Mixed(Vec<(At<Amount>, u32)>),
}

/// Service levels of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceLevels {
    /// One of these per packet.
    Data(Vec<u8>),
    /// VL15.
    Management,
}

/// All classes, with different names.
pub(super) fn classes(item: &Item<'_>) -> Read<Vec<Class>> {
    let classes = list(Class::read)(item)?;
    if classes.is_empty() {
        return Err(item.mistake("there is no traffic class: expected at least one"));
    }
    for (index, class) in classes.iter().enumerate() {
        if class.name.value.trim().is_empty() {
            return Err(class.name.mistake(
                "the name of a class is what tables and key paths call it: expected one that is not blank",
            ));
        }
        let earlier = &classes[..index];
        if let Some(first) = earlier
            .iter()
            .position(|other| other.name.value == class.name.value)
        {
            let name = &class.name.value;
            let message = format!("the name `{name}` is already taken by traffic[{first}]");
            return Err(class.name.mistake(message));
        }
    }
    control::check_names(&classes)?;
    Ok(classes)
}

fn size(item: &Item<'_>) -> Read<Size> {
    let Some(("Mixed", Some(arguments))) = item.variant() else {
        return amount(item).map(|size| Size::Fixed(item.at(size)));
    };
    let mix = arguments.tuple(1, "a mix: expected `Mixed([(size, weight), ...])`")?;
    let entry = |item: &Item<'_>| {
        let pair = item.tuple(2, "an entry: expected `(size, weight)`")?;
        Ok((pair[0].at(amount(&pair[0])?), whole(0)(&pair[1])?))
    };
    list(entry)(&mix[0]).map(Size::Mixed)
}

fn service_levels(item: &Item<'_>) -> Read<ServiceLevels> {
    if item.is_word("Management") {
        return Ok(ServiceLevels::Management);
    }
    if let Ok(items) = item.items() {
        if items.is_empty() {
            return Err(item.mistake("the list is empty: expected at least one service level"));
        }
        let levels = items.iter().map(small(0, 15)).collect::<Read<Vec<u8>>>()?;
        for (place, level) in levels.iter().enumerate() {
            if levels[..place].contains(level) {
                return Err(
                    items[place].mistake(format!("service level {level} stands here twice"))
                );
            }
        }
        return Ok(ServiceLevels::Data(levels));
    }
    match small(0, 15)(item) {
        Ok(level) => Ok(ServiceLevels::Data(vec![level])),
        Err(_) => Err(item.unexpected(
            "a service level: expected 0 to 15, a list such as `[0, 1]` or `Management`",
        )),
    }
}

impl Class {
    /// A class has messages, or a pattern and a process.
    fn check_demand(&self, fields: &Fields<'_>) -> Result<(), Mistake> {
        self.check_control(fields)?;
        if self.flows.is_none() && self.requests.is_some() {
            let message = "`requests` are those of flows: `flows` is missing";
            return Err(fields.need("requests")?.mistake(message));
        }
        if self.flows.is_none() && self.slots.is_some() {
            return Err(fields
                .need("slots")?
                .mistake("`slots` are those of flows: `flows` is missing"));
        }
        self.check_windows()?;
        let (given, others): (_, &[&str]) = match (&self.messages, &self.flows) {
            (None, None) => {
                fields.need("pattern")?;
                fields.need("process")?;
                return Ok(());
            }
            (Some(_), _) => ("messages", &["pattern", "process", "packets", "flows"]),
            (None, Some(_)) => ("flows", &["pattern", "process", "packets"]),
        };
        for key in others {
            if let Some(item) = fields.get(key).filter(|item| !item.is_word("None")) {
                return Err(item.mistake(format!(
                    "`{key}` does not go with `{given}`, which say who sends what and when"
                )));
            }
        }
        Ok(())
    }

    /// The time of an answer means nothing without a window that waits for it.
    fn check_windows(&self) -> Result<(), Mistake> {
        let mut entries = self.flows.iter().flatten();
        let lonely =
            entries.find(|entry| entry.window.is_none() && entry.acknowledgement.is_some());
        match lonely.and_then(|entry| entry.acknowledgement.as_ref()) {
            Some(time) => Err(time.mistake(
                "`acknowledgement` is the time after which a delivery opens the `window`, and there is none",
            )),
            None => Ok(()),
        }
    }

    /// The parts it names must be registered.
    pub(in crate::scenario) fn check_parts(&self, parts: &Parts<'_>) -> Result<(), Mistake> {
        if let Some(pattern) = &self.pattern {
            pattern.entry(parts.patterns)?;
        }
        if let Some(process) = &self.process {
            process.entry(parts.processes)?;
        }
        if let Some(messages) = &self.messages {
            messages.entry(parts.messages)?;
        }
        if let Some(control) = &self.control {
            control.entry(parts.control)?;
        }
        if let Some(slots) = &self.slots {
            slots.check_parts(parts)?;
        }
        for flows in self.flows.iter().flatten() {
            flows.pairs.entry(parts.flows)?;
            if let Some(process) = &flows.process {
                process.entry(parts.processes)?;
            }
        }
        Ok(())
    }

    /// The section of a class, by its number, with the values of the plan.
    pub(super) fn print(
        printer: &mut Printer,
        resolved: &Resolved,
        number: usize,
        parts: &Parts<'_>,
    ) {
        let written = &resolved.scenario.traffic[number];
        let class = &resolved.plan.classes[number];
        printer.key("name", quote(&class.name));
        let count = resolved.layout.graph.hosts().len();
        printer.key("hosts", hosts::written(&class.ranks, count));
        if let Some(pattern) = &written.pattern {
            printer.part("pattern", pattern, parts.patterns);
        }
        if let Some(process) = &written.process {
            printer.part("process", process, parts.processes);
        }
        if let Some(messages) = &written.messages {
            printer.part("messages", messages, parts.messages);
        }
        if let Some(flows) = &written.flows {
            printer.block("flows: [", "],", |printer| {
                for flows in flows {
                    printer.block("(", "),", |printer| flows.print(printer, parts));
                }
            });
        }
        if let (Some(slots), Some(plan)) = (&written.slots, &class.slots) {
            slots.print(printer, plan, parts);
        }
        if let (Some(requests), Some(plan)) = (&written.requests, &class.requests) {
            requests.print(printer, plan);
        }
        written.print_control(printer, resolved, number, parts);
        match class.size.entries() {
            [(flits, _)] => printer.flits("size", u32::from(*flits)),
            entries => {
                let entry = |(flits, weight): &(u16, u32)| format!("(\"{flits} flits\", {weight})");
                let entries: Vec<_> = entries.iter().map(entry).collect();
                printer.key("size", format_args!("Mixed([{}])", entries.join(", ")));
            }
        }
        let levels: Vec<_> = class.service_levels.iter().map(|level| level.0).collect();
        match levels[..] {
            _ if class.management => printer.key("sl", "Management"),
            [level] => printer.key("sl", level),
            _ => printer.key("sl", format_args!("{levels:?}")),
        }
        printer.or_none("packets", class.packets_per_host);
    }
}
