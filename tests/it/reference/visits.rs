//! The agents of channels, and what visits them: control packets (D48), with the elements of where the channels begin (D68), and
//! packets of data (D69).

use super::elements::Elements;
use super::packet::{PacketId, Saying};
use super::set_up;
use super::{Fabric, Setting};
use virtlane::control::probe::Place;
use virtlane::control::{Agent, Payload};
use virtlane::ids::ChannelId;
use virtlane::plan::Control;
use virtlane::topology::Endpoint;

/// Who visits, in the order of the visits of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Visitor {
    Control,
    Data,
}

/// The agent of a class at the sending end of a channel.
#[derive(Debug)]
struct Visited {
    agent: Agent,
    /// Cycles of the visits.
    visits: Vec<(u64, Visitor)>,
}

/// All agents.
#[derive(Debug)]
pub(super) struct Agents {
    /// By class and channel; no channel where the class does not probe, or sets up (D67).
    classes: Vec<Vec<Visited>>,
    pub(super) elements: Elements,
    /// Packets of data that take a channel in this cycle, and the channel (D69).
    taking: Vec<(usize, PacketId)>,
}

impl Agents {
    /// Before cycle 0.
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let classes = setting.plan.classes.iter();
        let of_class = |class: &virtlane::plan::ClassPlan| {
            let control = class.control.as_ref();
            let has_agents = |control: &&Control| {
                control.algorithm.probes() && control.algorithm.set_up().is_none()
            };
            let Some(control) = control.filter(has_agents) else {
                return Vec::new();
            };
            let has_elements = control.algorithm.has_elements();
            assert!(!control.algorithm.carries() || !has_elements, "D69");
            let channels = setting.graph.channel_ids();
            let agent = |channel| control.algorithm.agent(place(setting, channel));
            let agents = channels.map(|channel| agent(channel).expect("D48"));
            agents
                .map(|agent| Visited {
                    agent,
                    visits: Vec::new(),
                })
                .collect()
        };
        Self {
            classes: classes.map(of_class).collect(),
            elements: Elements::new(setting),
            taking: Vec::new(),
        }
    }

    /// A control packet takes a channel in this cycle.
    pub(super) fn take(
        &mut self,
        setting: Setting<'_>,
        channel: usize,
        saying: &mut Saying,
        now: u64,
    ) {
        let class = usize::from(setting.plan.flows[saying.flow].class);
        if set_up::set_up_of(setting, saying.flow).is_some() {
            return;
        }
        let Some(payload) = saying.says.shown() else {
            return;
        };
        self.visit(setting, (class, channel), Visitor::Control, payload, now);
    }

    /// D69: a packet of data that carries something takes a channel in this cycle, and will visit.
    pub(super) fn expect(&mut self, channel: usize, packet: PacketId) {
        self.taking.push((channel, packet));
    }

    /// One visit: of a control packet, or of a packet of data after it (D69), which can only be out of band.
    fn visit(
        &mut self,
        setting: Setting<'_>,
        (class, channel): (usize, usize),
        visitor: Visitor,
        payload: &mut Payload,
        now: u64,
    ) {
        let visited = &mut self.classes[class][channel];
        let control = setting.plan.classes[class].control.as_ref();
        let control = control.expect("a class with control");
        let last = visited.visits.last();
        assert!(
            last.is_none_or(|&last| match control.transport {
                None => last.0 < now,
                Some(_) => last < (now, visitor),
            }),
            "D48, D69: one visit of each kind per channel and cycle"
        );
        visited.visits.push((now, visitor));
        let begins_at = setting.graph.channels()[channel].from;
        let algorithm = &control.algorithm;
        match self.elements.at(class, begins_at) {
            None => algorithm.visit(&mut visited.agent, now, payload),
            Some(element) => algorithm.pass(&mut visited.agent, element, now, payload),
        }
    }

    /// Numbers of the visits of a class, by channel.
    pub(super) fn visits(&self, class: usize) -> impl Iterator<Item = usize> {
        self.classes[class]
            .iter()
            .map(|visited| visited.visits.len())
    }

    /// Visits of packets of data of a class.
    pub(super) fn visits_by_data(&self, class: usize) -> usize {
        let visits = self.classes[class].iter();
        let visits = visits.flat_map(|visited| &visited.visits);
        visits.filter(|visit| visit.1 == Visitor::Data).count()
    }

    /// States of the agents of a class, by channel.
    pub(super) fn states(&self, class: usize) -> impl Iterator<Item = &Agent> {
        self.classes[class].iter().map(|visited| &visited.agent)
    }
}

impl Fabric<'_> {
    /// Stage Inject: a packet has started at this host in this cycle, and takes its channel.
    pub(super) fn take_first_channel(&mut self, host: usize, id: PacketId, now: u64) {
        let (host, packet) = (&self.hosts[host], &mut self.packets[id]);
        if let Some(saying) = &mut packet.saying {
            let agents = &mut self.agents;
            agents.take(self.setting, host.outgoing, saying, now);
        }
        let control = self.setting.plan.classes[usize::from(packet.class)]
            .control
            .as_ref();
        if control.is_some_and(|control| control.algorithm.carries()) {
            let flow = packet.flow.expect("D39: a class with flows");
            packet.carries = Some(host.control().0.carried(flow, now));
            self.agents.expect(host.outgoing, id);
        }
    }

    /// D69: the packets of data that take channels in this cycle visit, after all control packets.
    pub(super) fn visit_by_data(&mut self, now: u64) {
        for (channel, id) in std::mem::take(&mut self.agents.taking) {
            let packet = &mut self.packets[id];
            let visited = (usize::from(packet.class), channel);
            let payload = packet.carries.as_mut().expect("it carries");
            let agents = &mut self.agents;
            agents.visit(self.setting, visited, Visitor::Data, payload, now);
        }
    }
}

fn place(setting: Setting<'_>, channel: ChannelId) -> Place {
    let channel = setting.graph.channel(channel);
    let pace = channel.timing.cycles_per_flit.try_into();
    Place {
        pace: pace.expect("a pace"),
        from_host: matches!(channel.from, Endpoint::Host(_)),
        to_host: matches!(channel.to, Endpoint::Host(_)),
    }
}
