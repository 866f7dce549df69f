//! Section `flows`: generators, and what the flows they make are like.

use super::limits::{Allowed, allowed, changes, written};
use super::phases;
use super::slots::Copies;
use crate::scenario::Parts;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{self, LONGEST_PHASE, cycles};
use crate::scenario::sections::values::{Read, amount, list, part, time, whole};
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item, Mistake, Part};
use crate::topology::Graph;
use crate::traffic::flows::LARGEST_FLOW;
use crate::units::{Amount, Clock, Time};

section! {
    /// Flows that are alike, but for what the generator says of each: senders that a host asks for packets when its channel
    /// is free.
    Flows = "flows" in "traffic[...].flows[...]" {
        /// Who sends to whom
        pairs: Part = part("flow generator"), "flow generator";
        /// Flows for each that the generator gives; Slots = as many as the class has slots
        copies: At<Copies> = Copies::read, "integer >= 1 | Slots" or "1";
        /// From when on
        start: At<Time> = time, "time" or "\"0 cycles\"";
        /// When they make their last packet at the latest; None = never
        stop: Option<At<Time>> = time, "None | time" or None;
        /// What each sends in all; None = without end
        bytes: Option<At<Amount>> = amount, "None | size" or None;
        /// What each may send: Rate(fraction of its host's link rate), or Delay(entry, shift): after each packet, entry times
        /// its time over 2^shift
        limit: At<Allowed> = allowed, "None | Rate(0..=1) | Delay(0..=16383, 0..=3)" or "None";
        /// Other limits from later times on, in order of time
        changes: Vec<(At<Time>, At<Allowed>)> = changes, "[(time, limit)]" or "[]";
        /// Share of the lane with weighted round robin
        weight: u16 = weight, "1..=65535" or "1";
        /// Packets of each that may be on their way; None = any number
        window: Option<At<u32>> = whole(1), "None | integer >= 1" or None;
        /// Time from a delivery until it counts at the source, with a window
        acknowledgement: Option<At<Time>> = time, "time" else "what one flit takes back through the empty fabric";
        /// When packets are made; None = there is always one
        process: Option<Part> = part("arrival process"), "None | arrival process" or None;
        /// Application and number of the phase they belong to: phase n + 1 opens when all flows of phase n are complete, and
        /// `start` counts from there
        phase: Option<At<phases::Written>> = phases::phase, "None | (application, integer >= 0)" or None;
    }
}

fn weight(item: &Item<'_>) -> Read<u16> {
    item.integer(1..=u64::from(u16::MAX))
        .map(|value| value as u16)
}

impl Flows {
    /// Start and stop \[cycles\], and size \[flits\], of the flows that do not say it themselves.
    pub(super) fn extent(&self, clock: Clock) -> Result<(u64, Option<u64>, Option<u64>), Mistake> {
        let start = cycles(&self.start, clock, 0, LONGEST_PHASE)?;
        let stop = self.stop.as_ref();
        let stop = stop.map(|stop| cycles(stop, clock, start + 1, LONGEST_PHASE));
        let flits = self.bytes.as_ref();
        let flits = flits.map(|bytes| quantity::flits(bytes, clock, 1, LARGEST_FLOW));
        Ok((start, stop.transpose()?, flits.transpose()?))
    }

    /// A list of them.
    pub(super) fn several(item: &Item<'_>) -> Read<Vec<Self>> {
        let entries = list(Self::read)(item)?;
        if entries.is_empty() {
            return Err(item.mistake("there are no flows: expected at least one entry"));
        }
        Ok(entries)
    }

    /// The section with the values of the plan.
    pub(super) fn print(&self, printer: &mut Printer, parts: &Parts<'_>) {
        printer.part("pairs", &self.pairs, parts.flows);
        printer.key("copies", self.copies.value.written());
        printer.key("start", format_args!("\"{}\"", self.start.value));
        let quoted = |time: &At<Time>| format!("\"{}\"", time.value);
        printer.or_none("stop", self.stop.as_ref().map(quoted));
        let bytes = self
            .bytes
            .as_ref()
            .map(|bytes| format!("\"{}\"", bytes.value));
        printer.or_none("bytes", bytes);
        printer.key("limit", written(self.limit.value));
        let changes = self
            .changes
            .iter()
            .map(|(at, limit)| format!("({}, {})", quoted(at), written(limit.value)));
        let changes: Vec<_> = changes.collect();
        printer.key("changes", format_args!("[{}]", changes.join(", ")));
        printer.key("weight", self.weight);
        printer.or_none("window", self.window.as_ref().map(|window| window.value));
        if let Some(time) = &self.acknowledgement {
            printer.key("acknowledgement", quoted(time));
        }
        if let Some(process) = &self.process {
            printer.part("process", process, parts.processes);
        }
        let phase = self.phase.as_ref().map(|phase| {
            let (application, number) = &phase.value;
            format!("({}, {number})", quote(application))
        });
        printer.or_none("phase", phase);
    }
}

/// Least time until a delivery counts at the source: the smallest latency between two switches.
pub(super) fn least_delay(graph: &Graph) -> u64 {
    let channels = graph.channels().iter();
    let between =
        channels.filter(|channel| channel.from.switch().is_some() && channel.to.switch().is_some());
    between
        .map(|channel| u64::from(channel.timing.latency))
        .min()
        .unwrap_or(1)
}
