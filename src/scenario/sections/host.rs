//! Section `host`: sources and sinks.

use super::values::{Read, rate, whole};
use crate::plan::{HostOptions, SCHEDULERS, Scheduler, Unit};
use crate::scenario::print::Printer;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::topology::graph::link_rate::whole_multiple;
use crate::units::{BitRate, Clock};

section! {
    /// Sources and sinks.
    Host = "host" in "fabric.host" {
        /// Rate at which a host consumes flits: a slow receiver
        sink_rate: Option<At<BitRate>> = rate, "rate" else "as fast as flits arrive";
        /// Packets of one class a host queues; further ones are rejected and counted. None = unbounded
        source_queue: Option<u32> = whole(1), "integer >= 1" or None;
        /// How flows and the source queue share a lane
        scheduler: Scheduler = scheduler,
            "Fifo | RoundRobin | WeightedRoundRobin(Flits | Packets) | ShortestRemaining | VirtualClock | Paced | \
             LeakyBucket" or "Fifo";
        /// Packets the queue of a flow holds; further ones are rejected and counted. None = unbounded
        flow_queue: Option<u32> = whole(1), "integer >= 1" or None;
    }
}

fn scheduler(item: &Item<'_>) -> Read<Scheduler> {
    let Some((name, arguments)) = item.variant() else {
        return Err(item.unexpected("a scheduler, such as `RoundRobin`"));
    };
    let entry = SCHEDULERS.lookup(name);
    let scheduler = entry.map_err(|message| item.mistake(message))?.build;
    match (scheduler, arguments) {
        (Scheduler::WeightedRoundRobin(_), Some(arguments)) => {
            let unit = &arguments.tuple(1, "a unit: expected `WeightedRoundRobin(Flits)`")?[0];
            let unit = unit.choice(&[("Flits", Unit::Flits), ("Packets", Unit::Packets)])?;
            Ok(Scheduler::WeightedRoundRobin(unit))
        }
        (Scheduler::WeightedRoundRobin(_), None) => Err(item.mistake(
            "`WeightedRoundRobin` needs a unit: `WeightedRoundRobin(Flits)` or `WeightedRoundRobin(Packets)`",
        )),
        (_, Some(_)) => Err(item.mistake(format!("`{name}` has no arguments: expected `{name}`"))),
        (_, None) => Ok(scheduler),
    }
}

impl Host {
    /// The options in cycles.
    pub(in crate::scenario) fn plan(&self, clock: Clock) -> Result<HostOptions, Mistake> {
        Ok(HostOptions {
            sink_cycles_per_flit: match &self.sink_rate {
                Some(rate) => Some(sink(rate, clock)?),
                None => None,
            },
            source_queue: self.source_queue,
            scheduler: self.scheduler,
            flow_queue: self.flow_queue,
        })
    }

    pub(super) fn print(&self, printer: &mut Printer) {
        let rate = self.sink_rate.as_ref();
        printer.or_none("sink_rate", rate.map(|rate| format!("\"{}\"", rate.value)));
        printer.or_none("source_queue", self.source_queue);
        printer.key("scheduler", format_args!("{:?}", self.scheduler));
        printer.or_none("flow_queue", self.flow_queue);
    }
}

/// Speed of sinks \[cycles per flit\].
fn sink(sink: &At<BitRate>, clock: Clock) -> Result<u32, Mistake> {
    let (rate, reference) = (sink.value.0, clock.reference_rate);
    let cycles = whole_multiple(BitRate(reference), sink.value);
    if let Some(Ok(cycles)) = cycles.map(u16::try_from) {
        return Ok(cycles.into());
    }
    let below = BitRate(reference / (reference / rate + 1));
    Err(sink.mistake(format!(
        "`{}` is not a whole fraction of the reference rate `{}`: a flit must take 1 to 65535 whole \
         cycles; the next rate below is about `{below}`",
        sink.value,
        BitRate(reference),
    )))
}
