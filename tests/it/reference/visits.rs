//! The agents of channels, and the control packets that visit them (D48), with the elements of where the channels begin (D68).

use super::Setting;
use super::elements::Elements;
use super::packet::Saying;
use super::set_up;
use virtlane::control::Agent;
use virtlane::control::probe::Place;
use virtlane::ids::ChannelId;
use virtlane::plan::Control;
use virtlane::topology::Endpoint;

/// The agent of a class at the sending end of a channel.
#[derive(Debug)]
struct Visited {
    agent: Agent,
    /// Cycles of the visits.
    visits: Vec<u64>,
}

/// All agents.
#[derive(Debug)]
pub(super) struct Agents {
    /// By class and channel; no channel where the class does not probe, or sets up (D67).
    classes: Vec<Vec<Visited>>,
    pub(super) elements: Elements,
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
        let visited = &mut self.classes[class][channel];
        let last = visited.visits.last();
        assert!(
            last.is_none_or(|&last| last < now),
            "D48: one visit per channel and cycle"
        );
        visited.visits.push(now);
        let control = setting.plan.classes[class].control.as_ref();
        let algorithm = &control.expect("a class with control").algorithm;
        let begins_at = setting.graph.channels()[channel].from;
        match self.elements.at(class, begins_at) {
            None => algorithm.visit(&mut visited.agent, now, payload),
            Some(element) => algorithm.pass(&mut visited.agent, element, now, payload),
        }
    }

    /// Cycles of the visits of a class, by channel.
    pub(super) fn visits(&self, class: usize) -> impl Iterator<Item = &[u64]> {
        self.classes[class]
            .iter()
            .map(|visited| &visited.visits[..])
    }

    /// States of the agents of a class, by channel.
    pub(super) fn states(&self, class: usize) -> impl Iterator<Item = &Agent> {
        self.classes[class].iter().map(|visited| &visited.agent)
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
