//! Section `fabric`: topology, flits, and the clock that follows from the links.

use super::link::{HostLink, Link, LinkTiming};
use super::values::{Read, amount, part};
use super::{Host, Switch};
use crate::scenario::print::Printer;
use crate::scenario::syntax::{Item, Mistake, Part};
use crate::scenario::{Parts, Resolved};
use crate::topology::graph::link_rate::{self, SLOWEST};
use crate::units::{Amount, BitRate, Clock};

section! {
    /// Topology, links, switches and hosts.
    Fabric = "fabric" in "fabric" {
        /// How switches and hosts are connected
        topology: Part = part("topology"), "topology";
        /// Unit of flow control; the default is the credit unit of InfiniBand. Sizes in flits need it
        flit: u32 = flit_bytes, "size in bytes" or "\"64 B\"";
        /// Links between switches; their rate defines the cycle: one flit per cycle
        link: Link = Link::read, "section";
        /// Links between hosts and switches
        host_link: Option<HostLink> = HostLink::read, "section" else "as `link`";
        /// Switch options
        switch: Switch = Switch::of, "section | Preset(NAME)";
        /// Host options
        host: Host = Host::read, "section" or "()";
    }
}

fn flit_bytes(item: &Item<'_>) -> Read<u32> {
    match amount(item)? {
        Amount::Bytes(bytes @ 1..=65_536) => Ok(bytes as u32),
        size => {
            let message = format!("`{size}` is not a flit size: expected 1 B to 64 KiB");
            Err(item.mistake(message))
        }
    }
}

/// Rates, apart by commas.
fn words(rates: &[BitRate]) -> String {
    let rates: Vec<_> = rates.iter().map(|rate| format!("`{rate}`")).collect();
    rates.join(", ")
}

impl Fabric {
    /// Rate and latency of links of hosts.
    pub(in crate::scenario) fn host_timing(&self) -> LinkTiming<'_> {
        let own = self.host_link.as_ref();
        self.link.timing().but(
            own.and_then(|own| own.rate.as_ref()),
            own.and_then(|own| own.latency.as_ref()),
        )
    }

    /// The length of a cycle: that of a flit at the smallest reference rate of which every link's rate is a whole
    /// fraction, so that a flit takes whole cycles everywhere. With one rate everywhere it is that rate. `own` are the
    /// rates a topology brings.
    pub(in crate::scenario) fn clock(&self, own: &[BitRate]) -> Result<Clock, Mistake> {
        let mut rates = vec![self.link.rate.value, self.host_timing().rate.value];
        rates.extend(self.link.exceptions().map(|(_, link)| link.rate.value));
        rates.extend(own);
        rates.sort_unstable();
        rates.dedup();
        let reference = link_rate::reference_rate(&rates);
        let Some(BitRate(reference_rate)) = reference else {
            return Err(self.link.rate.mistake(format!(
                "links of {} have no common multiple within {SLOWEST} times the slowest: a flit must take \
                 whole cycles on every link{}",
                words(&rates),
                self.whose(own)
            )));
        };
        Ok(Clock {
            flit_bytes: self.flit,
            reference_rate,
        })
    }

    /// Which of the rates of links the topology brings, at the end of a sentence.
    fn whose(&self, own: &[BitRate]) -> String {
        if own.is_empty() {
            return String::new();
        }
        let file = self.topology.parameter("file");
        let file = file.map_or_else(String::new, |file| format!("{} in ", file.to_text()));
        format!("; those of {file}`fabric.topology` are {}", words(own))
    }

    /// The section with the values of the plan.
    pub(super) fn print(printer: &mut Printer, resolved: &Resolved, parts: &Parts<'_>) {
        let (written, layout) = (&resolved.scenario.fabric, &resolved.layout);
        printer.part("topology", &written.topology, parts.topologies);
        printer.key("flit", format_args!("\"{} B\"", layout.clock.flit_bytes));
        let cycle = layout.clock.cycle_picoseconds() / 1000.0;
        let reference = BitRate(layout.clock.reference_rate);
        printer.line(format!(
            "// 1 cycle = {cycle:.3} ns: one flit at {reference}"
        ));
        let retry = resolved.plan.link_retry;
        written.link.print(printer, layout.switch_link, retry);
        let (rate, latency) = (written.host_timing().rate.value, layout.host_link.latency);
        printer.key(
            "host_link",
            format_args!("(rate: \"{rate}\", latency: \"{latency} cycles\")"),
        );
        printer.block("switch: (", "),", |printer| {
            Switch::print(printer, &resolved.plan.switch);
        });
        printer.block("host: (", "),", |printer| {
            written.host.print(printer);
        });
    }
}
