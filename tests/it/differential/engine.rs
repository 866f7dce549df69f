//! A case in the engine.

use super::observed::Observed;
use crate::random_fabric::Case;
use crate::reference::{Delivery, FlowCounts, Stuck};
use virtlane::cycle::Columns;
use virtlane::cycle::Inspect;
use virtlane::cycle::Wanted;
use virtlane::cycle::ledger::{Channels, Ledger};
use virtlane::cycle::mechanisms::ahead::Ahead;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::cycle::state::Place;
use virtlane::ids::{ChannelId, VlId};
use virtlane::measure::Records;
use virtlane::measure::flow_counts::{Amount, Spread};
use virtlane::plan::Plan;
use virtlane::routing::Routes;
use virtlane::run::inspect::flow_counts;
use virtlane::run::wait_for::WaitFor;
use virtlane::run::{Options, Simulation};
use virtlane::topology::Graph;

/// What the engine makes of a case.
pub(super) struct Found {
    /// Sorted.
    pub(super) deliveries: Vec<Delivery>,
    pub(super) created: u64,
    pub(super) rejected: u64,
    /// Counts of flows, by id.
    pub(super) flows: Vec<FlowCounts>,
    /// Counts of all shards, and of channels within the window.
    pub(super) records: Records,
    /// Rule set that the stages were compiled for, at the end.
    pub(super) rules: &'static str,
    /// Words of the request masks.
    pub(super) mask_words: usize,
    /// Whether the stages may run in one pass.
    pub(super) has_pass: bool,
    /// Heads that can never move again.
    pub(super) closed_set: Vec<Stuck>,
    /// Shards that there were.
    pub(super) shards: usize,
    /// What was observed packet by packet, by a plan that asks for it from the beginning.
    pub(super) observed: Option<(Plan, Observed)>,
}

/// Flits of all lanes that have crossed (D22).
struct Sent<'a> {
    /// Outgoing channel of every port row of every shard.
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    /// First cycle not simulated.
    now: u64,
    /// `[channel][lane]`
    flits: Vec<Vec<u64>>,
}

impl Inspect for Sent<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let numbering = view.shared().numbering;
        let ahead = Ahead::new(view, self.now);
        for (port, channel) in Channels::new(&self.channels[self.shard]).enumerate() {
            let crossed = &mut self.flits[channel.index()];
            for (lane, flits) in (0..).zip(&mut *crossed) {
                *flits = view.sent(numbering.lane(port, lane)).into();
            }
            ahead.each(port, |lane, flits| crossed[lane as usize] -= flits);
        }
        self.shard += 1;
    }
}

/// A case on its way.
struct Run<'a, R> {
    case: &'a Case<R>,
    routes: &'a Routes,
    /// The plan that runs now.
    plan: &'a Plan,
    threads: usize,
    deliveries: bool,
    simulation: Simulation,
}

/// Runs a case in its way, twice: packet by packet, slot by slot; and without a record of packets, which lets the stages run in
/// one pass where nothing else keeps them from it. One of the two asks for rows ahead.
///
/// # Panics
/// When the two differ.
pub(super) fn run<R>(case: &Case<R>, routes: &Routes) -> Found {
    let mut found = run_as(case, routes, true);
    let alone = run_as(case, routes, false);
    let title = &case.plan.title;
    assert!(!found.has_pass, "{title}: packets are recorded");
    assert_eq!(alone.records, found.records, "{title}");
    assert_eq!(alone.flows, found.flows, "{title}");
    let ends = |found: &Found| (found.created, found.rejected, found.closed_set.clone());
    assert_eq!(ends(&alone), ends(&found), "{title}");
    found.has_pass = alone.has_pass;
    found
}

/// `deliveries`: every delivery is recorded.
fn run_as<R>(case: &Case<R>, routes: &Routes, deliveries: bool) -> Found {
    let mut run = Run::new(case, routes, deliveries);
    let phases = &case
        .fork
        .as_ref()
        .map_or(&case.plan, |fork| &fork.plan)
        .phases;
    let (start, end) = (phases.warmup, phases.warmup + phases.measure);
    let resume = case.way.resume.map(|(cycle, _)| cycle);
    let fork = case.fork.as_ref().map(|fork| fork.cycle);
    let mut stops = case.way.stops.clone();
    stops.extend([start, end, case.cycles]);
    stops.extend(resume.into_iter().chain(fork));
    stops.sort_unstable();
    stops.dedup();
    let (mut before, mut after, mut longest_wait) = (Vec::new(), Vec::new(), 0);
    let mut made = [Vec::new(), Vec::new()];
    for cycle in stops {
        run.simulation.run_until(cycle).expect("readable messages");
        keep_the_laws(&run.simulation, run.plan, &case.graph);
        if let Some((at, threads)) = case.way.resume
            && at == cycle
        {
            run.threads = threads;
            run.restart(run.plan, false);
        }
        if let Some(fork) = &case.fork
            && fork.cycle == cycle
        {
            run.restart(&fork.plan, true);
        }
        if cycle == start {
            before = run.sent();
            run.simulation.forget_waits();
            made[0] = run.made();
        }
        if cycle == end {
            after = run.sent();
            longest_wait = run.simulation.waited().longest();
            made[1] = run.made();
        }
    }
    let mut found = run.found(&before, &after);
    // a run fills these in at the end of its measurement
    let counts = &mut found.records.counts;
    counts.insert("waits.longest".into(), longest_wait.into());
    let made = made[0].iter().zip(&made[1]);
    for (flow, (before, after)) in found.flows.iter_mut().zip(made) {
        flow.attempted = after - before;
    }
    found
}

/// The conservation laws hold in the cycle that was reached.
pub(super) fn keep_the_laws(simulation: &Simulation, plan: &Plan, graph: &Graph) {
    let lanes = usize::from(plan.switch.lane_count()).next_power_of_two();
    let ledger = simulation.ledger(Ledger::new(graph.channels().len(), lanes));
    let settled = ledger.settle(plan.switch.lane_capacity, |channel| format!("{channel:?}"));
    settled.unwrap_or_else(|broken| panic!("{}, cycle {}: {broken}", plan.title, simulation.now()));
}

impl<'a, R> Run<'a, R> {
    fn new(case: &'a Case<R>, routes: &'a Routes, deliveries: bool) -> Self {
        let (plan, threads) = (&case.plan, case.way.threads);
        Self {
            case,
            routes,
            plan,
            threads,
            deliveries,
            simulation: simulation(case, routes, plan, (threads, deliveries)),
        }
    }

    /// Saves the state; another simulation, of this plan, goes on with it.
    fn restart(&mut self, plan: &'a Plan, fork: bool) {
        let cycle = self.simulation.now();
        let states = self.simulation.save().expect("it can be saved");
        self.plan = plan;
        let how = (self.threads, self.deliveries);
        self.simulation = simulation(self.case, self.routes, plan, how);
        let restored = self.simulation.restore(cycle, &states, fork);
        restored.expect("it fits");
    }

    /// Flits that have crossed so far, `[channel][lane]`.
    fn sent(&mut self) -> Vec<Vec<u64>> {
        let channels = self.simulation.port_channels().to_vec();
        let lanes = usize::from(self.plan.switch.lane_count());
        let mut sent = Sent {
            channels: &channels,
            shard: 0,
            now: self.simulation.now(),
            flits: vec![vec![0; lanes]; self.case.graph.channels().len()],
        };
        self.simulation.inspect(&mut sent);
        sent.flits
    }

    /// Packets that every flow has made so far.
    fn made(&self) -> Vec<u64> {
        let flows = flow_counts(&self.simulation, None).into_iter();
        flows.map(|flow| flow.sent.created.packets).collect()
    }

    fn found(mut self, before: &[Vec<u64>], after: &[Vec<u64>]) -> Found {
        let graph = &self.case.graph;
        let mut records = Records::new(
            self.plan.classes.len(),
            graph.hosts().len(),
            graph.channels().len(),
            usize::from(self.plan.switch.lane_count()),
        );
        for (channel, (before, after)) in before.iter().zip(after).enumerate() {
            for (lane, (before, after)) in before.iter().zip(after).enumerate() {
                let lane = VlId::from(lane);
                records
                    .channels
                    .send(ChannelId::from(channel), lane, after - before);
            }
        }
        let (mut deliveries, mut created, mut rejected) = (Vec::new(), 0, 0);
        records.counts = self.simulation.counts();
        records.counts.extend(self.simulation.act_counts());
        let hops = self.simulation.hops();
        (records.packet_hops, records.flit_hops) = (hops.packets, hops.flits);
        for shard in self.simulation.records() {
            created += shard.totals.created;
            rejected += shard.totals.rejected;
            records.merge(&shard.measured);
        }
        for packets in self.simulation.each::<PacketRecords>() {
            deliveries.extend(packets.deliveries().iter().map(|delivery| Delivery {
                source: delivery.source,
                class: delivery.class,
                sequence: delivery.sequence,
                flow: delivery.flow,
                destination: delivery.destination,
                size: delivery.size,
                created: delivery.created,
                injected: delivery.injected,
                delivered: delivery.delivered,
                hops: delivery.hops,
                fecn: delivery.is_marked,
            }));
        }
        deliveries.sort();
        let observed = self.observed();
        let flows = flow_counts(&self.simulation, None);
        let places = self.simulation.each::<Place>();
        let rules = places.map(|place| place.shared.rule_set()).next();
        Found {
            deliveries,
            created,
            rejected,
            flows: flows.iter().map(counts).collect(),
            records,
            rules: rules.expect("there is a shard"),
            mask_words: self.simulation.mask_words(),
            has_pass: self.simulation.has_pass(),
            closed_set: closed_set(&self.simulation, self.plan),
            shards: self.simulation.shard_count(),
            observed,
        }
    }

    /// What was observed packet by packet, from the beginning: what a fork observes begins with it.
    fn observed(&mut self) -> Option<(Plan, Observed)> {
        if !self.plan.observe.is_on() || self.case.fork.is_some() {
            return None;
        }
        let mut observed = Observed::default();
        for mut packets in self.simulation.each_mut::<PacketRecords>() {
            if let Some(observation) = packets.observation_mut() {
                observed.add(observation);
            }
        }
        Some((self.plan.clone(), observed))
    }
}

/// Heads that can never move again, as the reference model names them.
pub(super) fn closed_set(simulation: &Simulation, plan: &Plan) -> Vec<Stuck> {
    let waits = WaitFor::of(simulation, plan.switch.lane_capacity);
    let names = waits.names().into_iter();
    names
        .map(|name| (name.source, name.class, name.sequence.into()))
        .collect()
}

pub(super) fn simulation<R>(
    case: &Case<R>,
    routes: &Routes,
    plan: &Plan,
    (threads, deliveries): (usize, bool),
) -> Simulation {
    let options = Options {
        threads,
        shards: case.way.shards,
        prefetch: Some(deliveries == plan.seed.is_multiple_of(2)),
        wanted: Wanted {
            deliveries,
            order: false,
        },
        ..Options::default()
    };
    Simulation::new(plan, &case.graph, routes, options).expect("threads can be started")
}

/// What the engine counts of a flow, in the form of the reference model.
pub(super) fn counts(flow: &virtlane::measure::FlowCounts) -> FlowCounts {
    let (sent, arrived) = (flow.sent, flow.arrived);
    let amount = |amount: Amount| (amount.packets, amount.flits);
    let spread = |spread: Spread| (spread.sum, spread.most);
    FlowCounts {
        start: sent.start,
        created: amount(sent.created),
        attempted: sent.attempted,
        rejected: amount(sent.rejected),
        started: amount(sent.started),
        delivered: amount(arrived.delivered),
        dropped: amount(flow.dropped),
        received: arrived.received,
        tagged: arrived.tagged,
        network: spread(arrived.network),
        packet: spread(arrived.packet),
        jitter: spread(arrived.jitter),
        first_start: sent.first_start,
        last_delivery: arrived.last_delivery,
        marked: arrived.marked,
        answered: sent.answered,
        logged: sent.logged,
        last_logged: sent.last_logged.map(|cycle| (cycle, sent.told_then)),
    }
}
