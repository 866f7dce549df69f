//! Sections `link`, `except` and `host_link`: rates and latencies, and the timing of channels.

mod retry;

pub use retry::LinkRetry;

use super::values::{Read, list, rate, time};
use crate::plan;
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::delay;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::topology::graph::link_rate::cycles_per_flit;
use crate::topology::{ChannelTiming, Graph, LinkKind};
use crate::units::{BitRate, Clock, Time};

section! {
    /// Rate and length of links.
    Link = "link" in "fabric.link" {
        /// Data rate of each direction
        rate: At<BitRate> = rate, "rate";
        /// Propagation, from a flit's departure to its arrival
        latency: At<Time> = time, "time, at least 1 cycle";
        /// Links between switches that differ, by their kind; a later one overrides an earlier one
        except: Vec<Except> = list(Except::read), "list of sections" or "[]";
        /// Errors in bits, and link-level retry; of all links, whatever their timing
        retry: Option<LinkRetry> = LinkRetry::read, "None | section" or None;
    }
}

section! {
    /// Links of one kind that differ from `fabric.link`; also those that have a timing of their own in a file.
    Except = "except" in "fabric.link.except" {
        /// Links of dimension `d` (from 0); up from level `l` of a tree (leaves = 1); within a level; within or
        /// between groups of a dragonfly
        on: At<LinkKind> = kind, "Dimension(d) | Level(l) | Horizontal | Local | Global";
        /// Data rate of each direction
        rate: Option<At<BitRate>> = rate, "rate" else "as `fabric.link`";
        /// Propagation
        latency: Option<At<Time>> = time, "time, at least 1 cycle" else "as `fabric.link`";
    }
}

section! {
    /// Links of hosts, where they differ.
    HostLink = "host_link" in "fabric.host_link" {
        /// Data rate of each direction
        rate: Option<At<BitRate>> = rate, "rate" else "as `fabric.link`";
        /// Propagation
        latency: Option<At<Time>> = time, "time, at least 1 cycle" else "as `fabric.link`";
    }
}

fn kind(item: &Item<'_>) -> Read<LinkKind> {
    let expected = "a kind of links: `Dimension(0)`, `Level(1)`, `Horizontal`, `Local` or `Global`";
    let number = |arguments: Item<'_>| -> Read<u32> {
        Ok(arguments.tuple(1, expected)?[0].integer(0..=u64::from(u32::MAX))? as u32)
    };
    match item.variant() {
        Some(("Dimension", Some(arguments))) => number(arguments).map(LinkKind::Dimension),
        Some(("Level", Some(arguments))) => number(arguments).map(LinkKind::Level),
        Some(("Horizontal", None)) => Ok(LinkKind::Horizontal),
        Some(("Local", None)) => Ok(LinkKind::Local),
        Some(("Global", None)) => Ok(LinkKind::Global),
        _ => Err(item.unexpected(expected)),
    }
}

/// Rate and latency of some links, each from the section that says it.
#[derive(Clone, Copy, Debug)]
pub(in crate::scenario) struct LinkTiming<'a> {
    pub(in crate::scenario) rate: &'a At<BitRate>,
    pub(in crate::scenario) latency: &'a At<Time>,
}

impl<'a> LinkTiming<'a> {
    /// The same, but for what is given.
    pub(super) fn but(self, rate: Option<&'a At<BitRate>>, latency: Option<&'a At<Time>>) -> Self {
        Self {
            rate: rate.unwrap_or(self.rate),
            latency: latency.unwrap_or(self.latency),
        }
    }

    /// In cycles.
    pub(in crate::scenario) fn in_cycles(self, clock: Clock) -> Result<ChannelTiming, Mistake> {
        Ok(ChannelTiming {
            cycles_per_flit: cycles_per_flit(self.rate.value, clock)
                .map_err(|reason| self.rate.mistake(reason))?,
            latency: delay(self.latency, clock, 1)?,
        })
    }
}

impl Link {
    /// Rate and latency of links between switches that are no exception.
    pub(in crate::scenario) fn timing(&self) -> LinkTiming<'_> {
        LinkTiming {
            rate: &self.rate,
            latency: &self.latency,
        }
    }

    /// Rate and latency of the others, with their kinds.
    pub(super) fn exceptions(&self) -> impl Iterator<Item = (&At<LinkKind>, LinkTiming<'_>)> {
        let all = self.except.iter();
        all.map(|except| {
            let timing = self.timing();
            (
                &except.on,
                timing.but(except.rate.as_ref(), except.latency.as_ref()),
            )
        })
    }

    /// The graph with the timing that `except` gives to links of some kinds; the last one counts.
    pub(in crate::scenario) fn retime(&self, clock: Clock, graph: Graph) -> Result<Graph, Mistake> {
        if self.except.is_empty() {
            return Ok(graph);
        }
        let known = LinkKind::all(&graph);
        let mut timings: Vec<(LinkKind, ChannelTiming)> = Vec::new();
        for (on, timing) in self.exceptions() {
            let kind = on.value;
            if !known.contains(&kind) {
                let names: Vec<_> = known.iter().map(|kind| format!("`{kind}`")).collect();
                let has = if names.is_empty() {
                    "this topology has no structure that tells links apart".to_owned()
                } else {
                    format!("this topology has {}", names.join(", "))
                };
                return Err(on.mistake(format!("no link is of kind `{kind}`: {has}")));
            }
            timings.push((kind, timing.in_cycles(clock)?));
        }
        Ok(graph.retimed(|graph, channel| {
            let kind = LinkKind::of(graph, channel)?;
            let last = timings.iter().rev().find(|(known, _)| *known == kind);
            last.map(|&(_, timing)| timing)
        }))
    }

    /// What to say of exceptions that change nothing: they give their links neither rate nor latency, and these have nothing
    /// that would be taken from them, neither from the file of the `graph` nor from an exception before.
    pub(in crate::scenario) fn idle(&self, graph: &Graph, timing: ChannelTiming) -> Vec<String> {
        let is_plain = |kind: LinkKind| {
            let channels = graph.channels().iter();
            let mut own = channels.filter(|channel| LinkKind::of(graph, channel) == Some(kind));
            own.all(|channel| channel.timing == timing)
        };
        let entries = self.except.iter().enumerate();
        let idle = entries.filter(|(place, except)| {
            let kind = except.on.value;
            let mut before = self.except[..*place].iter();
            except.rate.is_none()
                && except.latency.is_none()
                && before.all(|other| other.on.value != kind)
                && is_plain(kind)
        });
        let note = |(_, except): (usize, &Except)| {
            let path = except.on.path.trim_end_matches(".on");
            format!("{path} changes nothing: it has neither `rate` nor `latency`")
        };
        idle.map(note).collect()
    }

    /// The section on one line; exceptions as they are written.
    pub(super) fn print(
        &self,
        printer: &mut Printer,
        timing: ChannelTiming,
        retry: Option<plan::LinkRetry>,
    ) {
        let exceptions = self.exceptions().map(|(on, timing)| {
            let (on, rate, latency) = (on.value, timing.rate.value, timing.latency.value);
            format!("(on: {on}, rate: \"{rate}\", latency: \"{latency}\")")
        });
        let exceptions: Vec<_> = exceptions.collect();
        let except = if exceptions.is_empty() {
            String::new()
        } else {
            format!(", except: [{}]", exceptions.join(", "))
        };
        let (rate, latency) = (self.rate.value, timing.latency);
        let retry = retry.map_or_else(String::new, |retry| {
            let (errors, delay) = (retry.bit_error_rate, retry.delay);
            format!(", retry: (bit_error_rate: {errors:e}, delay: \"{delay} cycles\")")
        });
        printer.key(
            "link",
            format_args!("(rate: \"{rate}\", latency: \"{latency} cycles\"{except}{retry})"),
        );
    }
}
