//! The reference model: the fabric flit by flit, every port of every switch in every cycle.
//!
//! Deliberately naive: plain vectors, no schedule of future events beyond flits and credits on wires, and
//! assertions wherever something could get lost. Written from the pages of the model (rules 1-14 and
//! decisions D1-D53, D55-D61, D63-D84, and D54 as far as D65 needs it); with the library it shares scenario, graph, tables or adaptive routing function, sources,
//! the state machines of control and admission, and random streams only.
//! The engine must give the same delivery cycle for every packet.
//!
//! One file per thing: `packet`, `link` (channel, credits and buffer), `retry` (D74), `lane_choice` (round robin and VL tables), `legacy_tables` (D54), `switch`
//! (queues and holding), `standing` (D84), `routing`, `adaptive` (D20, D75; with it VL15 goes by tables, D83), `own_routes` (D66) and `set_up` (D67), `output` and `output_lanes` (D18), `request`, `turns` (D6, D7), `grant_kind` (D71), `claims` (D72) and
//! `arbitration` (matching), `wormhole` (D65, D76 to D79, D82, in place of stages Arbitrate, Cross and Inject), `marking` (D16, D36 to D38), `drops` (D58), `host` (sources and injection), `sink` and `rooms` (D57),
//! `messages` (D21), `levels` (D27), `flows` of a host and their control (D27 to D34, D39 to D47, D52, D59, D60), `visits` (D48, D69, D73), `beside` (D49), `elements` and `broadcasts` (D68),
//! `notify` (receivers, elements, senders), `applications` (D50), `waits` (D63), `looks` (D51), `closed_sets` (deadlocks), `congestion` (D43), `admission` (D53, D55, D56, D60, D61) and `trials` (D59), `check` (conservation),
//! `outcome`, `window` (what a measurement counts).

mod adaptive;
mod admission;
mod applications;
mod arbitration;
mod beside;
mod broadcasts;
mod check;
mod claims;
mod class_source;
mod closed_sets;
mod congestion;
mod drops;
mod elements;
mod flows;
mod grant_kind;
mod host;
mod input;
mod lane_choice;
mod legacy_tables;
mod levels;
mod link;
mod looks;
mod marking;
mod messages;
mod notify;
mod outcome;
mod output;
mod output_lanes;
mod own_routes;
mod packet;
mod request;
mod retry;
mod rooms;
mod routing;
mod set_up;
mod sink;
mod standing;
mod switch;
mod trials;
mod turns;
mod visits;
mod waits;
mod window;
mod wormhole;

pub(crate) use admission::{AdmissionCounts, ReservationCounts};
pub(crate) use claims::ClaimCounts;
pub(crate) use closed_sets::Stuck;
pub(crate) use congestion::{TreeSeen, TreesSeen};
pub(crate) use flows::Controlled;
pub(crate) use outcome::{Delivery, Outcome};
pub(crate) use packet::Says;
pub(crate) use routing::Routing;
pub(crate) use set_up::{SetUpCounts, can_wait_in_a_circle};
pub(crate) use window::{ClassCounts, ControlCounts, FlowCounts, HostCounts};

use admission::Admission;
use applications::Applications;
use beside::Networks;
use host::Host;
use link::Link;
use messages::Messages;
use packet::{Packet, Rejected};
pub(crate) use retry::Retry;
use switch::Switch;
use virtlane::plan::Plan;
use virtlane::rng::{Purpose, stream};
use virtlane::topology::{Endpoint, Graph};
use visits::Agents;

/// Cycles between two checks of every flit's place.
const CHECK_INTERVAL: u64 = 8;

/// Simulates cycles `0..cycles`.
pub(crate) fn simulate<'a>(
    plan: &'a Plan,
    graph: &'a Graph,
    routing: impl Into<Routing<'a>>,
    cycles: u64,
) -> Outcome {
    simulate_forked(plan, graph, routing, None, cycles)
}

/// Simulates cycles `0..cycles`, from the given cycle on with the traffic and the measurement of another plan.
pub(crate) fn simulate_forked<'a>(
    plan: &'a Plan,
    graph: &'a Graph,
    routing: impl Into<Routing<'a>>,
    fork: Option<(u64, &'a Plan)>,
    cycles: u64,
) -> Outcome {
    let mut fabric = Fabric::new(Setting {
        plan,
        graph,
        routing: routing.into(),
    });
    for now in 0..cycles {
        if let Some((cycle, plan)) = fork
            && cycle == now
        {
            fabric.fork(plan, now);
        }
        fabric.cycle(now);
        fabric.count_queued(now);
        fabric.count_standing(now);
        if now % CHECK_INTERVAL == 0 || now + 1 == cycles {
            check::check(&fabric);
        }
    }
    // D26: the acts of the cycle that a run ends before
    fabric.look(cycles);
    fabric.admit(cycles);
    fabric.look_for_claims(cycles);
    fabric.look_for_trees(cycles);
    check::check_order(&fabric);
    fabric.outcome(cycles)
}

/// What does not change during a run.
#[derive(Clone, Copy, Debug)]
struct Setting<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    routing: Routing<'a>,
}

/// Everything.
#[derive(Debug)]
struct Fabric<'a> {
    setting: Setting<'a>,
    /// Accepted packets in order of creation.
    packets: Vec<Packet>,
    /// By channel.
    links: Vec<Link>,
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    messages: Messages,
    applications: Applications,
    admission: Option<Admission<'a>>,
    rejected: Vec<Rejected>,
    agents: Agents,
    networks: Networks,
    /// See [`Outcome::queued`].
    queued: (u64, u64),
    /// The longest time that a head has stood at the end of the measurement (D72).
    standing: u64,
    /// Looks at congestion trees (D43).
    trees: Vec<TreesSeen>,
}

impl<'a> Fabric<'a> {
    fn new(setting: Setting<'a>) -> Self {
        let (graph, options) = (setting.graph, &setting.plan.switch);
        assert!(
            wormhole::is_on(setting.plan)
                || options.lane_capacity >= u32::from(setting.plan.largest_packet()),
            "rule 13"
        );
        setting.routing.check_plan(setting.plan);
        drops::check_plan(setting);
        own_routes::check_plan(setting);
        set_up::check_plan(setting);
        wormhole::check_plan(setting);
        claims::check_plan(setting);
        let link = |channel| {
            let mut link = Link::new(graph, channel, options);
            link.retry = Retry::new(setting.plan, setting.graph, channel);
            link
        };
        Self {
            setting,
            packets: Vec::new(),
            links: graph.channel_ids().map(link).collect(),
            switches: graph
                .switch_ids()
                .map(|id| Switch::new(setting, id))
                .collect(),
            hosts: graph.host_ids().map(|id| Host::new(setting, id)).collect(),
            messages: Messages::new(setting),
            applications: Applications::new(setting.plan),
            admission: Admission::new(setting),
            rejected: Vec::new(),
            agents: Agents::new(setting),
            networks: Networks::new(setting),
            queued: (0, 0),
            standing: 0,
            trees: Vec::new(),
        }
    }

    /// Counts the packets that are in input queues at the end of a cycle of the measurement.
    fn count_queued(&mut self, now: u64) {
        let phases = &self.setting.plan.phases;
        if !(phases.warmup..phases.warmup + phases.measure).contains(&now) {
            return;
        }
        for input in self
            .switches
            .iter()
            .flat_map(|switch| switch.inputs.iter().flatten())
        {
            let queued = input.queued(now);
            self.queued.0 += queued as u64;
            self.queued.1 = self.queued.1.max(queued as u64);
        }
    }

    /// Goes on with another plan of the same network: sources and random streams start anew.
    fn fork(&mut self, plan: &'a Plan, now: u64) {
        for plan in [self.setting.plan, plan] {
            assert!(plan.workloads.is_empty(), "D23");
            assert!(plan.admission.is_none(), "D64");
        }
        assert!(!own_routes::are_given(self.setting), "D66");
        assert!(!set_up::are_any(self.setting), "D67");
        let claims = |plan: &Plan| plan.switch.allocation.claims;
        assert_eq!(claims(plan), claims(self.setting.plan), "D72");
        assert_eq!(plan.link_retry, self.setting.plan.link_retry, "D74");
        assert_eq!(plan.flows.len(), self.setting.plan.flows.len(), "D64");
        self.setting.plan = plan;
        // what is late already stays so
        for (link, channel) in self.links.iter_mut().zip(self.setting.graph.channel_ids()) {
            link.retry = Retry::new(self.setting.plan, self.setting.graph, channel);
        }
        for host in &mut self.hosts {
            host.fork(self.setting, now);
        }
        for switch in &mut self.switches {
            for output in switch.outputs.iter_mut().flatten() {
                let id = output.channel as u64;
                output.stream = stream(plan.seed, Purpose::Arbitration, id);
                output.marks.start_draws(plan.seed, output.channel);
            }
            for input in switch.inputs.iter_mut().flatten() {
                input.streams = input::adaptive_streams(plan, input.channel);
            }
        }
    }

    /// One cycle, in the order of model section 4.
    fn cycle(&mut self, now: u64) {
        self.look(now);
        self.admit(now);
        self.look_for_claims(now);
        self.look_for_trees(now);
        self.deliver_and_route(now);
        self.arbitrate_cross_mark(now);
        self.generate_and_inject(now);
        self.networks.cycle(self.setting, &mut self.agents, now);
        self.visit_in_band(now);
        for host in &mut self.hosts {
            host.sink.consume(&mut self.links, &mut self.packets, now);
        }
        self.notify(now);
        self.measure(now);
        for phase in self.applications.open(self.setting, &self.packets, now) {
            for host in &mut self.hosts {
                host.open(self.setting, phase, now);
            }
        }
        self.release(now);
    }

    /// D63: start cycles that follow from what has started and been delivered.
    fn release(&mut self, now: u64) {
        let setting = self.setting;
        let waits = setting.plan.flows.iter().any(|flow| !flow.after.is_empty());
        if !waits || !waits::may_release(&self.packets, now) {
            return;
        }
        for host in &mut self.hosts {
            for (id, flow) in waits::of_host(setting, host.id) {
                if let Some(start) = waits::start(setting, &self.packets, flow) {
                    host.release(setting, id, start);
                }
            }
        }
    }

    fn deliver_and_route(&mut self, now: u64) {
        for switch in &mut self.switches {
            switch.retire(self.setting, now);
        }
        for index in 0..self.links.len() {
            for stored in self.links[index].deliver(now) {
                let last = &mut self.links[index].last_arrived[stored.lane];
                wormhole::check_succession(last, stored.flit, &self.packets);
                if stored.flit.index != 0 {
                    continue;
                }
                let id = stored.flit.packet;
                match self.setting.graph.channels()[index].to {
                    Endpoint::Host(host) => self.hosts[host.index()].sink.arrive(
                        &self.links[index],
                        &self.packets,
                        (id, stored.lane),
                        now,
                    ),
                    Endpoint::Switch(switch, port) => self.switches[switch.index()].arrive(
                        self.setting,
                        &self.links,
                        &self.packets[id],
                        usize::from(port) - 1,
                        stored,
                    ),
                }
            }
        }
        for host in &mut self.hosts {
            host.take(&self.links, &self.packets, now);
        }
    }

    fn arbitrate_cross_mark(&mut self, now: u64) {
        let options = &self.setting.plan.switch;
        for switch in &mut self.switches {
            switch.direct(self.setting, &mut self.packets, now);
            switch.route(self.setting, &self.links, &mut self.packets, now);
            switch.drop_packets(self.setting, &self.links, &mut self.packets, now);
            switch.note_heads(now);
            let links = &mut self.links;
            let grants = if wormhole::is_on(self.setting.plan) {
                wormhole::pass_flits(self.setting, switch, links, &self.packets, now)
            } else {
                let packets = &self.packets;
                let grants = arbitration::arbitrate(self.setting, switch, links, packets, now);
                switch.cross(options, links, now);
                grants
            };
            switch.discard(self.setting, &mut self.links, &mut self.packets, now);
            switch.send(self.setting, &mut self.links, now);
            for grant in &grants {
                let packet = &mut self.packets[grant.packet];
                packet.switches += 1;
                let output = switch.outputs[grant.output].as_ref().expect("connected");
                if packet.saying.is_some() || packet.carries.is_some() {
                    self.agents.expect(output.channel, grant.packet);
                }
            }
            for grant in grants {
                marking::mark(self.setting, switch, &mut self.packets, grant, now);
            }
        }
    }

    fn generate_and_inject(&mut self, now: u64) {
        self.networks.begin_broadcasts(self.setting);
        for host in &mut self.hosts {
            host.generate(
                self.setting,
                &mut self.messages,
                &mut self.packets,
                &mut self.rejected,
                now,
            );
            self.networks.create(self.setting, host.take_beside(), now);
            if wormhole::is_on(self.setting.plan) {
                host.inject_flit(self.setting, &mut self.links, &mut self.packets, now);
            } else {
                host.inject(self.setting, &mut self.links, &mut self.packets, now);
            }
        }
        for host in 0..self.hosts.len() {
            if let Some(id) = self.hosts[host].started(now) {
                self.take_first_channel(host, id, now);
            }
        }
        for (link, channel) in self.links.iter_mut().zip(self.setting.graph.channels()) {
            let buffer = match channel.from {
                Endpoint::Switch(..) => self.setting.plan.switch.output_buffer,
                Endpoint::Host(_) => 0,
            };
            link.cross(now, buffer);
        }
    }
}
