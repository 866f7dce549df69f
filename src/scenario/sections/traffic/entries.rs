//! Entries of `flows`: the flows that they stand for.

use super::flows::{Flows, least_delay};
use super::limits::Allowed;
use super::slots::Copies;
use super::{Class, ServiceLevels, phases, slots, waits};
use crate::ids::HostId;
use crate::plan::{
    AppPhase, ClassPlan, FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Scheduler, Until, Window,
};
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::syntax::{At, Mistake, Part};
use crate::scenario::{Layout, Parts, Scenario};
use crate::topology::Graph;
use crate::traffic::flows::{FlowsContext, GivenFlow, MOST_FLOWS, Own, room_for};
use crate::traffic::messages::Senders;
use crate::traffic::{OfferedProcess, ProcessContext};
use fixedbitset::FixedBitSet;
use std::path::Path;
use std::sync::Arc;

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
        let hosts = layout.graph.hosts().len();
        enter(hosts, &mut classes[number], &mut flows[first..]);
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

/// The flows of a class have its service levels in turn; it knows their number and sources.
fn enter(hosts: usize, class: &mut ClassPlan, flows: &mut [FlowPlan]) {
    let levels = class.service_levels.iter().cycle();
    for (flow, &level) in flows.iter_mut().zip(levels) {
        flow.level = level;
    }
    let mut senders = FixedBitSet::with_capacity(hosts);
    senders.extend(flows.iter().map(|flow| flow.source.index()));
    class.pattern = Arc::new(Senders(senders));
    class.flows = Some(flows.len() as u64);
}

/// What does not go with flows.
fn alone(class: &Class) -> Result<(), Mistake> {
    match &class.sl.value {
        ServiceLevels::Data(_) => Ok(()),
        ServiceLevels::Management => Err(class
            .sl
            .mistake("a class with `flows` has data service levels")),
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
        let common = self.common(class, phase)?;
        let copies = Copies::number(&section.copies, self.class.slots.as_ref())? as usize;
        let first = flows.len();
        self.check_count(first, given.len().saturating_mul(copies))?;
        let mut alike: Vec<Alike> = Vec::new();
        for given in given {
            let pace = pace(graph, given.source);
            let known = alike.iter().position(|alike| alike.pace == pace);
            if known.is_none() {
                alike.push(self.alike(pace)?);
            }
            let alike = &alike[known.unwrap_or(alike.len() - 1)];
            let mut flow = FlowPlan {
                source: given.source,
                destination: given.destination,
                limit: alike.limit,
                changes: Arc::clone(&alike.changes),
                process: alike.process.clone(),
                ..common.clone()
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

    /// A flow of the entry; ends, limits and process are those of each.
    fn common(&self, class: usize, phase: Option<u32>) -> Result<FlowPlan, Mistake> {
        let (start, stop, flits) = self.section.extent(self.layout.clock)?;
        let window = self.section.window.as_ref();
        let window = window.map(|window| self.window(window)).transpose()?;
        Ok(FlowPlan {
            start,
            stop,
            flits,
            weight: self.section.weight,
            window,
            phase,
            ..FlowPlan::backlogged(class as u16, HostId(0), HostId(0))
        })
    }

    /// Refuses more flows beside those `before` than there may be, or than the memory holds.
    fn check_count(&self, before: usize, all: usize) -> Result<(), Mistake> {
        let section = self.section;
        if before.saturating_add(all) as u64 > MOST_FLOWS {
            let message = format!("{all} flows: at most {MOST_FLOWS} are possible");
            return Err(section.copies.mistake(message));
        }
        room_for(all as u64).map_err(|lack| section.pairs.name.mistake(lack))
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
        let limit = limit_of_rate(fraction, pace);
        let largest = u64::from(self.class.size.largest()) << 32;
        match limit {
            Limit::Rate(rate) if rate > 0 && largest / rate >= 1 << 31 => {
                Err("so low a rate has more than 2^31 cycles between two packets".into())
            }
            _ => Ok(limit),
        }
    }

    fn process(&self, part: &Part, pace: u32) -> Result<OfferedProcess, Mistake> {
        let make = part.entry(self.parts.processes)?.build;
        let context = ProcessContext {
            mean_size: self.class.size.mean(),
            cycles_per_flit: pace,
        };
        let offered = part.build(|arguments| make(arguments, context))?;
        let class = ClassPlan {
            process: Arc::clone(&offered.process),
            ..self.class.clone()
        };
        if class.is_backlogged() {
            let message = "a flow without `process` always has a packet: leave it out";
            return Err(part.name.mistake(message));
        }
        Ok(offered)
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
    process: Option<OfferedProcess>,
}

/// The limit of a flow with a fraction of its host's link rate; the link takes so many cycles per flit.
pub(in crate::scenario) fn limit_of_rate(fraction: f64, pace: u32) -> Limit {
    // a product with a power of two is exact; the quotient is rounded up
    let exact = fraction * ONE_FLIT_PER_CYCLE as f64;
    let rate = (exact / f64::from(pace)).ceil() as u64;
    Limit::Rate(rate.min(ONE_FLIT_PER_CYCLE))
}

/// Cycles per flit of a host's channel.
fn pace(graph: &Graph, host: HostId) -> u32 {
    graph
        .channel(graph.host_channel(host))
        .timing
        .cycles_per_flit
}
