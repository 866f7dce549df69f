//! Flows of a class: generators, and what the flows they make are like.

use super::limits::{Allowed, allowed, changes, written};
use super::slots::Copies;
use super::{Class, ServiceLevels, phases, slots, waits};
use crate::ids::HostId;
use crate::plan::{
    AppPhase, ClassPlan, FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Scheduler, Until, Window,
};
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{self, LONGEST_PHASE, cycles};
use crate::scenario::sections::values::{Read, amount, list, part, time, whole};
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item, Mistake, Part};
use crate::scenario::{Layout, Parts, Scenario};
use crate::topology::Graph;
use crate::traffic::flows::{FlowsContext, GivenFlow, LARGEST_FLOW, MOST_FLOWS, Own, room_for};
use crate::traffic::messages::Senders;
use crate::traffic::{Process, ProcessContext};

use crate::units::{Amount, Clock, Time};
use fixedbitset::FixedBitSet;
use std::path::Path;
use std::sync::Arc;

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
    fn extent(&self, clock: Clock) -> Result<(u64, Option<u64>, Option<u64>), Mistake> {
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

/// The flows of all classes, by id; enters in the classes how many they have.
pub(in crate::scenario) fn flows(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    base: &Path,
    scheduler: Scheduler,
    classes: &mut [ClassPlan],
) -> Result<(Vec<FlowPlan>, Vec<AppPhase>), Mistake> {
    let mut flows = Vec::new();
    let mut all_phases = phases::phases(scenario)?;
    for (number, class) in scenario.traffic.iter().enumerate() {
        let Some(entries) = &class.flows else {
            continue;
        };
        alone(class)?;
        let first = flows.len();
        if let Some(slots) = &class.slots {
            let plan = slots.plan(layout, parts, &classes[number])?;
            classes[number].slots = Some(plan);
        }
        if let Some(requests) = &class.requests {
            classes[number].requests = Some(requests.plan(layout, &classes[number])?);
        }
        for (entry, section) in entries.iter().enumerate() {
            let all = Entry {
                section,
                parts,
                layout,
                base,
                class: &classes[number],
                scheduler,
            };
            let of_entry = flows.len();
            let phase = section.phase_of(&all_phases);
            all.add(scenario.seed, (number, entry), phase, &mut flows)?;
            section.check_phase(layout, &flows[of_entry..], &mut all_phases)?;
        }
        if let Some(slots) = &classes[number].slots {
            slots::check(class, slots, &flows[first..])?;
        }
        let mut senders = FixedBitSet::with_capacity(layout.graph.hosts().len());
        senders.extend(flows[first..].iter().map(|flow| flow.source.index()));
        classes[number].pattern = Arc::new(Senders(senders));
        classes[number].flows = Some((flows.len() - first) as u64);
    }
    if flows.len() as u64 > MOST_FLOWS {
        let mistake = format!("{} flows: at most {MOST_FLOWS} are possible", flows.len());
        return Err(scenario.traffic[0].name.mistake(mistake));
    }
    if let Some((Until::Flows, bound)) = scenario.phases.until()
        && flows.iter().all(|flow| flow.flits.is_none())
    {
        let mistake = "no flow has a size (`bytes`): expected a time or `Auto(...)`";
        return Err(bound.mistake(mistake));
    }
    Ok((flows, all_phases))
}

/// What does not go with flows.
fn alone(class: &Class) -> Result<(), Mistake> {
    match &class.sl.value {
        ServiceLevels::Data(levels) if levels.len() == 1 => Ok(()),
        _ => Err(class
            .sl
            .mistake("a class with `flows` has one data service level")),
    }
}

/// An entry that is being resolved.
struct Entry<'a> {
    section: &'a Flows,
    parts: &'a Parts<'a>,
    layout: &'a Layout,
    base: &'a Path,
    class: &'a ClassPlan,
    scheduler: Scheduler,
}

impl Entry<'_> {
    fn add(
        &self,
        seed: u64,
        (class, entry): (usize, usize),
        phase: Option<u32>,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<(), Mistake> {
        let (section, clock) = (self.section, self.layout.clock);
        let graph = &self.layout.graph;
        let make = section.pairs.entry(self.parts.flows)?.build;
        let context = FlowsContext {
            hosts: &self.class.ranks,
            members: &self.class.hosts,
            host_count: graph.hosts().len(),
            base: self.base,
            clock,
            seed,
            class,
            name: &self.class.name,
            entry,
        };
        let given = section.pairs.build(|arguments| make(arguments, &context))?;
        let (start, stop, flits) = section.extent(clock)?;
        let window = section.window.as_ref();
        let window = window.map(|window| self.window(window)).transpose()?;
        let copies = Copies::number(&section.copies, self.class.slots.as_ref())? as usize;
        let first = flows.len();
        let all = given.len().saturating_mul(copies);
        if (flows.len().saturating_add(all)) as u64 > MOST_FLOWS {
            let message = format!("{all} flows: at most {MOST_FLOWS} are possible");
            return Err(section.copies.mistake(message));
        }
        room_for(all as u64).map_err(|lack| section.pairs.name.mistake(lack))?;
        let mut alike: Vec<Alike> = Vec::new();
        for given in given {
            let pace = pace(graph, given.source);
            let known = alike.iter().position(|alike| alike.pace == pace);
            if known.is_none() {
                alike.push(self.alike(pace)?);
            }
            let alike = &alike[known.unwrap_or(alike.len() - 1)];
            let mut flow = FlowPlan {
                start,
                stop,
                flits,
                weight: section.weight,
                limit: alike.limit,
                changes: Arc::clone(&alike.changes),
                window,
                process: alike.process.clone(),
                phase,
                ..FlowPlan::backlogged(class as u16, given.source, given.destination)
            };
            let own = given.own.as_deref();
            if let Some(own) = own {
                let changed = self.change(&mut flow, own, pace);
                changed.map_err(|reason| self.wrong(&given, &reason))?;
            }
            let after = own.map_or(&[][..], |own| &own.after);
            waits::check(section, self.class, after)?;
            flows.extend((0..copies).map(|copy| FlowPlan {
                after: waits::of_copy(after, first, (copy, copies)),
                ..flow.clone()
            }));
        }
        Ok(())
    }

    /// Gives a flow what it has of its own.
    fn change(&self, flow: &mut FlowPlan, own: &Own, pace: u32) -> Result<(), String> {
        flow.start = own.start.unwrap_or(flow.start);
        flow.stop = own.stop.or(flow.stop);
        flow.flits = own.flits.or(flow.flits);
        flow.weight = own.weight.unwrap_or(flow.weight);
        flow.application = own.application;
        if let Some(rate) = own.rate {
            flow.limit = self.rate(rate, pace)?;
        }
        match flow.stop {
            Some(stop) if stop <= flow.start => {
                let start = flow.start;
                Err(format!(
                    "it stops in cycle {stop}: expected after its start in cycle {start}"
                ))
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with a flow of the generator.
    fn wrong(&self, given: &GivenFlow, reason: &str) -> Mistake {
        let (from, to) = (given.source.0, given.destination.0);
        let name = &self.section.pairs.name;
        name.mistake(format!("the flow from host {from} to host {to}: {reason}"))
    }

    /// What flows of hosts with links of one speed have in common.
    fn alike(&self, pace: u32) -> Result<Alike, Mistake> {
        let section = self.section;
        let mut changes: Vec<(u64, Limit)> = Vec::new();
        for (at, limit) in &section.changes {
            let least = changes.last().map_or(0, |(at, _)| at + 1);
            let cycle = cycles(at, self.layout.clock, least, LONGEST_PHASE)?;
            changes.push((cycle, self.limit(limit, pace)?));
        }
        let process = match &section.process {
            Some(part) => Some(self.process(part, pace)?),
            None => None,
        };
        Ok(Alike {
            pace,
            limit: self.limit(&section.limit, pace)?,
            changes: changes.into(),
            process,
        })
    }

    fn limit(&self, limit: &At<Allowed>, pace: u32) -> Result<Limit, Mistake> {
        match limit.value {
            Allowed::Any => Ok(Limit::None),
            Allowed::Delay(..) if self.scheduler.takes_rates() => Err(limit.mistake(format!(
                "a delay does not go with the scheduler `{:?}`, which gives each flow a rate",
                self.scheduler
            ))),
            Allowed::Delay(entry, shift) => Ok(Limit::Delay { entry, shift }),
            Allowed::Rate(fraction) => {
                let rate = self.rate(fraction, pace);
                rate.map_err(|message| limit.mistake(message))
            }
        }
    }

    fn rate(&self, fraction: f64, pace: u32) -> Result<Limit, String> {
        // a product with a power of two is exact; the quotient is rounded up
        let exact = fraction * ONE_FLIT_PER_CYCLE as f64;
        let rate = (exact / f64::from(pace)).ceil() as u64;
        let largest = u64::from(self.class.size.largest()) << 32;
        if rate > 0 && largest / rate >= 1 << 31 {
            return Err("so low a rate has more than 2^31 cycles between two packets".into());
        }
        Ok(Limit::Rate(rate.min(ONE_FLIT_PER_CYCLE)))
    }

    fn process(&self, part: &Part, pace: u32) -> Result<Arc<dyn Process>, Mistake> {
        let make = part.entry(self.parts.processes)?.build;
        let context = ProcessContext {
            mean_size: self.class.size.mean(),
            cycles_per_flit: pace,
        };
        let offered = part.build(|arguments| make(arguments, context))?;
        let process = offered.process;
        let class = ClassPlan {
            process: Arc::clone(&process),
            ..self.class.clone()
        };
        if class.is_backlogged() {
            let message = "a flow without `process` always has a packet: leave it out";
            return Err(part.name.mistake(message));
        }
        Ok(process)
    }

    /// The delay is 0 until the routes are known, when it is not given.
    fn window(&self, packets: &At<u32>) -> Result<Window, Mistake> {
        let least = least_delay(&self.layout.graph);
        let delay = self.section.acknowledgement.as_ref();
        let delay = delay.map(|delay| cycles(delay, self.layout.clock, least, 1 << 31));
        Ok(Window {
            packets: packets.value,
            delay: delay.transpose()?.unwrap_or(0),
        })
    }
}

/// What flows of hosts with links of one speed have in common.
struct Alike {
    /// Cycles per flit.
    pace: u32,
    limit: Limit,
    changes: Arc<[(u64, Limit)]>,
    process: Option<Arc<dyn Process>>,
}

/// Cycles per flit of a host's channel.
fn pace(graph: &Graph, host: HostId) -> u32 {
    graph
        .channel(graph.host_channel(host))
        .timing
        .cycles_per_flit
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
