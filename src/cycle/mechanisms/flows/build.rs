//! Builds the flows of a shard.

use super::bucket::Buckets;
use super::flow::{Clock, Flow, Maker};
use super::group::Group;
use super::lane::Lane;
use super::session::Session;
use super::slots::SlotClock;
use super::{Flows, Given, Tails, Wake, arrive, make};
use crate::admission::Trials;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::cycle::state::wheel::Wheel;
use crate::cycle::ties::Riding;
use crate::fabric::components::NONE;
use crate::ids::HostId;
use crate::measure::flow_counts::{Amount, FlowReceived};
use crate::plan::{AdmissionPlan, ClassPlan, FlowPlan};
use crate::rng::{Purpose, stream};
use crate::traffic::{Gap, ProcessState, SlotState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flows as a mechanism.
pub struct Flowing;

impl Mechanism for Flowing {
    fn of(site: &Site<'_>) -> Option<Self> {
        (!site.plan.flows.is_empty()).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let flows = Building::new(&site).flows(&site);
        let here = |host: HostId| site.placement.host_shard[host.index()] as usize == site.number;
        let tails = (site.plan.flows.iter()).filter(|flow| here(flow.destination));
        shard.resource(flows);
        shard.queue(|world| world.resource::<Flows>().waiting());
        let receiver = shard.receiver(|world, row, at| {
            world.resource_mut::<Flows>().acknowledge(row, 1, at);
        });
        shard.resource(Tails {
            receiver,
            answers: site.plan.first_answers() as u16,
            ends: Arc::clone(&site.shared.flow_ends),
            shard: site.number as u32,
            rows: vec![FlowReceived::default(); tails.count()],
        });
        shard.shown().flows = Some(|world| world.resource::<Flows>());
        shard.shown().arrived = Some(|world, tail| *world.resource::<Tails>().row(tail));
        shard.subscribe(Fact::Delivered);
        shard.system(Slot::Admit, "flows", make::system);
        shard.system(Slot::Notify, "flow_arrivals", arrive::system);
        shard.rides(Riding {
            systems: &[(Slot::Admit, "flows"), (Slot::Notify, "flow_arrivals")],
            alarm: Some(|world, from| world.resource::<Flows>().next().max(from)),
        });
    }
}

/// What grows while flows are added.
struct Building {
    flows: Vec<Flow>,
    makers: Vec<Maker>,
    lanes: Vec<Lane>,
    groups: Vec<Group>,
    /// By source and class.
    group_of: BTreeMap<(HostId, u16), u32>,
    slot_clocks: Vec<SlotClock>,
    /// By source and class.
    clock_of: BTreeMap<(HostId, u16), u32>,
    /// How flows are tried, where they are.
    trials: Option<Trials>,
    sessions: Vec<Option<Session>>,
    lane_of: Vec<u32>,
    wakes: Wheel,
    given: Given,
}

impl Building {
    fn new(site: &Site<'_>) -> Self {
        let (plan, shared) = (site.plan, site.shared);
        let hosts = site.placement.hosts[site.number].len();
        let trials = plan.admission.as_ref().and_then(AdmissionPlan::trials);
        Self {
            flows: Vec::new(),
            makers: Vec::new(),
            lanes: Vec::new(),
            groups: Vec::new(),
            group_of: BTreeMap::new(),
            slot_clocks: Vec::new(),
            clock_of: BTreeMap::new(),
            trials,
            sessions: Vec::new(),
            lane_of: vec![NONE; shared.numbering.rows(hosts)],
            wakes: Wheel::default(),
            given: Given {
                scheduler: plan.host.scheduler,
                bound: plan.host.flow_queue,
                probes: trials.map(|trials| trials.queue),
                sizes: plan
                    .classes
                    .iter()
                    .map(|class| class.size.clone())
                    .collect(),
                processes: Vec::new(),
                slots: (plan.classes.iter())
                    .map(|class| class.slots.clone())
                    .collect(),
                is_controlled: (plan.classes.iter())
                    .map(|class| class.control.is_some())
                    .collect(),
                asks: (plan.classes.iter())
                    .map(|class| class.requests.is_some() || class.begins())
                    .collect(),
                limits: Vec::new(),
                phases: vec![Vec::new(); plan.app_phases.len()],
                first_port: site.placement.first_host_port[site.number],
            },
        }
    }

    fn flows(mut self, site: &Site<'_>) -> Flows {
        let (plan, placement) = (site.plan, site.placement);
        let mut ids: Vec<usize> = (0..plan.flows.len())
            .filter(|&id| {
                placement.host_shard[plan.flows[id].source.index()] as usize == site.number
            })
            .collect();
        ids.sort_by_key(|&id| (plan.flows[id].source, id));
        for id in ids {
            self.add(site, id as u32, &plan.flows[id]);
        }
        let hosts = placement.hosts[site.number].len();
        let clocks = if plan.host.scheduler.has_clocks() {
            vec![Clock::default(); self.flows.len()]
        } else {
            Vec::new()
        };
        let buckets = Buckets::new(plan.host.scheduler, self.lanes.len(), self.flows.len());
        let mut flows = Flows {
            given: self.given,
            rows: self.flows,
            makers: self.makers,
            clocks,
            lanes: self.lanes,
            groups: self.groups,
            slot_clocks: self.slot_clocks,
            sessions: self.sessions,
            buckets,
            lane_of: self.lane_of,
            numbers: vec![0; hosts * plan.classes.len()],
            wakes: self.wakes,
            asks: Vec::new(),
            waiting: 0,
        };
        for row in 0..flows.rows.len() as u32 {
            if !flows.rows[row as usize].is_process {
                flows.draw(row);
            }
        }
        flows
    }

    fn add(&mut self, site: &Site<'_>, id: u32, plan: &FlowPlan) {
        let row = self.flows.len() as u32;
        let class = &site.plan.classes[usize::from(plan.class)];
        let (key, number) = lane_of(site, [plan.source, plan.destination], id, plan.class);
        let lane = self.lane(site, plan.source, number);
        self.group(plan, class, lane, row);
        self.session(site, plan);
        let place = self.lanes[lane as usize].add(row);
        let mut flow = Flow::new(id, (lane, place), key, plan, NONE);
        let mut wake = |at, wake: Wake| self.wakes.push(at, wake.code());
        let phase = plan.phase.map(|phase| phase as usize);
        match phase.filter(|&phase| site.plan.app_phases[phase].number > 0) {
            Some(phase) => {
                flow.hold();
                self.given.phases[phase].push((row, plan.start));
            }
            None if class.requests.is_some() || class.begins() || !plan.after.is_empty() => {
                flow.hold();
            }
            None => wake(plan.start, Wake::Look(row)),
        }
        if let Some(stop) = plan.stop {
            wake(stop, Wake::Look(row));
        }
        for &(at, limit) in plan.changes.iter() {
            wake(at, Wake::Change(row, self.given.limits.len() as u32));
            self.given.limits.push(limit);
        }
        flow.is_process = !site.plan.is_backlogged(plan);
        if flow.is_process || class.size.entries().len() > 1 {
            flow.maker = self.makers.len() as u32;
            self.maker(site, id, plan, row);
        }
        self.flows.push(flow);
    }

    /// Adds the maker of a flow whose packets come by a process or have several sizes.
    fn maker(&mut self, site: &Site<'_>, id: u32, plan: &FlowPlan, row: u32) {
        let (seed, class) = (site.plan.seed, &site.plan.classes[usize::from(plan.class)]);
        let mut arrivals = stream(seed, Purpose::FlowArrivals, id.into());
        let mut state = ProcessState::default();
        if let Some(process) = &plan.process {
            state = process.process.start(&mut arrivals);
            // counted from the start, which one that asks does not have yet
            if class.requests.is_none()
                && let Gap::After(cycles) = process.process.gap(&mut state, &mut arrivals)
            {
                let first = plan.start + cycles;
                self.wakes.push(first, Wake::Make(row).code());
            }
        }
        let mut source = SlotState::default();
        if let Some(from) = class.slots.as_ref().and_then(|slots| slots.source.as_ref()) {
            source = from.start(&mut arrivals);
        }
        let clock = self.slot(site, plan, row);
        self.makers.push(Maker {
            sizes: stream(seed, Purpose::FlowPackets, id.into()),
            arrivals,
            state,
            clock,
            source,
            queue: std::collections::VecDeque::new(),
            flits: 0,
            created: Amount::default(),
            rejected: Amount::default(),
        });
        let process = plan.process.as_ref();
        let process = process.map(|offered| Arc::clone(&offered.process));
        self.given.processes.push(process);
    }

    /// The session of a flow of probes; a place without one for all others, where flows are tried at all.
    fn session(&mut self, site: &Site<'_>, plan: &FlowPlan) {
        if let Some(trials) = &self.trials {
            let is_probe = site.plan.is_of_probes(plan.class);
            let session = is_probe.then(|| Session::new(site.plan, trials, plan.class));
            self.sessions.push(session);
        }
    }

    /// The clock of a flow's slot, `NONE` if it has none.
    fn slot(&mut self, site: &Site<'_>, plan: &FlowPlan, row: u32) -> u32 {
        let Some(slots) = &site.plan.classes[usize::from(plan.class)].slots else {
            return NONE;
        };
        let (clocks, wakes) = (&mut self.slot_clocks, &mut self.wakes);
        let key = (plan.source, plan.class);
        let number = *self.clock_of.entry(key).or_insert_with(|| {
            let number = clocks.len() as u32;
            let (clock, first) = SlotClock::new(site.plan.seed, plan.class, plan.source.0, slots);
            clocks.push(clock);
            if let Some(at) = first {
                wakes.push(at, Wake::Tick(number).code());
            }
            number
        });
        clocks[number as usize].able += 1;
        let is_known = site.plan.classes[usize::from(plan.class)]
            .requests
            .is_none();
        let start = is_known.then_some(plan.start);
        let changes = [start, plan.stop].into_iter().flatten();
        for at in changes {
            wakes.push(at, Wake::Hold(row).code());
        }
        number
    }

    /// Puts a flow into the group of its class and host, if there are groups.
    fn group(&mut self, plan: &FlowPlan, class: &ClassPlan, lane: u32, row: u32) {
        let control = class.control.as_ref();
        if !control.is_some_and(|control| control.algorithm.is_shared()) {
            return;
        }
        let (groups, key) = (&mut self.groups, (plan.source, plan.class));
        let number = *self.group_of.entry(key).or_insert_with(|| {
            groups.push(Group::new(row));
            groups.len() as u32 - 1
        });
        groups[number as usize].add(lane);
        let of_lane = &mut self.lanes[lane as usize].group;
        assert!(
            [NONE, number].contains(of_lane),
            "a lane has flows of one group"
        );
        *of_lane = number;
    }

    /// Row of a lane of a host.
    fn lane(&mut self, site: &Site<'_>, host: HostId, number: u8) -> u32 {
        let port = site.placement.host_port[host.index()];
        let first = site.placement.first_host_port[site.number];
        let host_row = crate::fabric::rows::HostRow(port.minus(first));
        let queue = (site.shared.numbering).source_queue(host_row, number.into());
        let known = &mut self.lane_of[queue];
        if *known == NONE {
            *known = self.lanes.len() as u32;
            let channel = site.graph.channel(site.graph.host_channel(host));
            let pace = channel.timing.cycles_per_flit as u16;
            let scheduler = site.plan.host.scheduler;
            self.lanes.push(Lane::new(port, number, pace, scheduler));
        }
        *known
    }
}

/// Key of the lane map, and lane of the first host's channel, of packets of a flow from one host to another.
pub fn lane_of(site: &Site<'_>, [from, to]: [HostId; 2], flow: u32, class: u16) -> (u8, u8) {
    let class = &site.plan.classes[usize::from(class)];
    if class.management {
        return (
            site.shared.forwarding.management_key,
            site.plan.switch.lanes,
        );
    }
    let level = class.level_of(&site.plan.flows[flow as usize]);
    let key = site.shared.key(from.0, to.0, level);
    let lane = match (&site.shared.adaptation, site.routes.tables()) {
        (Some(adaptation), _) => adaptation.injection_lane(key, flow.into()),
        (None, Some(tables)) => {
            let channel = site.graph.host_channel(from);
            let layer = key - level.0 * tables.lanes.layers;
            tables.lanes.injection_lane(channel, level, layer).0
        }
        (None, None) => 0,
    };
    (key, lane)
}
