//! The agents of channels, and what visits them: control packets (D48), with the elements of where the channels begin (D68), and
//! packets of data (D69); of links, not of classes, where algorithms calculate rates (D73).

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
    /// A control packet out of band.
    Beside,
    /// A control packet in band.
    Control,
    /// A packet of data.
    Data,
}

/// A visit.
#[derive(Clone, Copy, Debug)]
struct Visit {
    cycle: u64,
    visitor: Visitor,
    /// Class of the flow.
    class: usize,
}

/// The agent of a class at the sending end of a channel.
#[derive(Debug)]
struct Visited {
    agent: Agent,
    visits: Vec<Visit>,
}

/// The class whose agents and elements a class has: the first that has them in common with it (D73).
pub(super) fn owner(setting: Setting<'_>, class: usize) -> usize {
    let algorithm = |class: usize| {
        let control = setting.plan.classes[class].control.as_ref();
        control.map(|control| &control.algorithm)
    };
    let Some(own) = algorithm(class) else {
        return class;
    };
    let mut before = 0..class;
    let first =
        before.find(|&other| algorithm(other).is_some_and(|other| other.has_in_common(own)));
    first.unwrap_or(class)
}

/// All agents.
#[derive(Debug)]
pub(super) struct Agents {
    /// By class and channel; no channel where the class does not probe, sets up (D67), or has those of a class before it (D73).
    classes: Vec<Vec<Visited>>,
    pub(super) elements: Elements,
    /// Packets that take a channel in this cycle and visit, and the channel.
    taking: Vec<(usize, PacketId)>,
}

impl Agents {
    /// Before cycle 0.
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let of_class = |class: usize| {
            let control = setting.plan.classes[class].control.as_ref();
            let has_agents = |control: &&Control| {
                control.algorithm.probes()
                    && control.algorithm.set_up().is_none()
                    && owner(setting, class) == class
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
            classes: (0..setting.plan.classes.len()).map(of_class).collect(),
            elements: Elements::new(setting),
            taking: Vec::new(),
        }
    }

    /// A control packet out of band takes a channel in this cycle.
    pub(super) fn take(
        &mut self,
        setting: Setting<'_>,
        channel: usize,
        saying: &mut Saying,
        now: u64,
    ) {
        self.show(setting, (channel, Visitor::Beside), saying, now);
    }

    /// A control packet visits, if it does.
    fn show(
        &mut self,
        setting: Setting<'_>,
        (channel, visitor): (usize, Visitor),
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
        self.visit(setting, (class, channel), visitor, payload, now);
    }

    /// A control packet in band, or a packet of data that carries something (D69), takes a channel in this cycle, and will visit.
    pub(super) fn expect(&mut self, channel: usize, packet: PacketId) {
        self.taking.push((channel, packet));
    }

    /// One visit: at most one of each class out of band, then at most one of a packet that takes the channel (D69, D73).
    fn visit(
        &mut self,
        setting: Setting<'_>,
        (class, channel): (usize, usize),
        visitor: Visitor,
        payload: &mut Payload,
        now: u64,
    ) {
        let visited = &mut self.classes[owner(setting, class)][channel];
        let control = setting.plan.classes[class].control.as_ref();
        let control = control.expect("a class with control");
        assert_eq!(visitor == Visitor::Beside, {
            visitor != Visitor::Data && control.transport.is_some()
        });
        let is_after = |last: &Visit| match last.visitor {
            Visitor::Beside if visitor == Visitor::Beside => {
                (last.cycle, last.class) < (now, class)
            }
            Visitor::Beside => last.cycle <= now,
            Visitor::Control | Visitor::Data => last.cycle < now,
        };
        assert!(
            visited.visits.last().is_none_or(is_after),
            "D48, D69, D73: one of a class out of band, then one in band"
        );
        visited.visits.push(Visit {
            cycle: now,
            visitor,
            class,
        });
        let begins_at = setting.graph.channels()[channel].from;
        let algorithm = &control.algorithm;
        match self.elements.at(class, begins_at) {
            None => algorithm.visit(&mut visited.agent, now, payload),
            Some(element) => algorithm.pass(&mut visited.agent, element, now, payload),
        }
    }

    /// Numbers of the visits of a class, by channel.
    pub(super) fn visits(&self, setting: Setting<'_>, class: usize) -> impl Iterator<Item = usize> {
        let all = self.classes[owner(setting, class)].iter();
        all.map(move |visited| {
            let mine = visited.visits.iter().filter(|visit| visit.class == class);
            mine.count()
        })
    }

    /// Visits of packets of data of a class.
    pub(super) fn visits_by_data(&self, setting: Setting<'_>, class: usize) -> usize {
        let visits = self.classes[owner(setting, class)].iter();
        let visits = visits.flat_map(|visited| &visited.visits);
        let mine = visits.filter(|visit| visit.class == class);
        mine.filter(|visit| visit.visitor == Visitor::Data).count()
    }

    /// States of the agents of a class, by channel.
    pub(super) fn states(
        &self,
        setting: Setting<'_>,
        class: usize,
    ) -> impl Iterator<Item = &Agent> {
        let all = self.classes[owner(setting, class)].iter();
        all.map(|visited| &visited.agent)
    }
}

impl Fabric<'_> {
    /// Stage Inject: a packet has started at this host in this cycle, and takes its channel.
    pub(super) fn take_first_channel(&mut self, host: usize, id: PacketId, now: u64) {
        let (host, packet) = (&self.hosts[host], &mut self.packets[id]);
        if packet.saying.is_some() {
            self.agents.expect(host.outgoing, id);
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

    /// The packets that take channels in this cycle visit, after all control packets out of band (D69, D73).
    pub(super) fn visit_in_band(&mut self, now: u64) {
        for (channel, id) in std::mem::take(&mut self.agents.taking) {
            let packet = &mut self.packets[id];
            if let Some(saying) = &mut packet.saying {
                let place = (channel, Visitor::Control);
                self.agents.show(self.setting, place, saying, now);
                continue;
            }
            let visited = (usize::from(packet.class), channel);
            let payload = packet.carries.as_mut().expect("it carries");
            let agents = &mut self.agents;
            agents.visit(self.setting, visited, Visitor::Data, payload, now);
        }
    }
}

fn place(setting: Setting<'_>, channel: ChannelId) -> Place {
    let channel = setting.graph.channel(channel);
    let pace = channel.timing.cycles_per_flit;
    let drain = match (channel.to, setting.plan.host.sink_cycles_per_flit) {
        (Endpoint::Host(_), Some(sink)) if sink > pace => sink,
        _ => pace,
    };
    Place {
        pace: pace.try_into().expect("a pace"),
        drain: drain.try_into().expect("a pace"),
        from_host: matches!(channel.from, Endpoint::Host(_)),
        to_host: matches!(channel.to, Endpoint::Host(_)),
    }
}
