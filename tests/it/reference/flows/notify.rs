//! Stage Notify: what the senders of a host are told, what they send, and which flows they begin (D41, D47, D51, D60, D67 to D69).

use super::control_packets::{Wanted, control};
use super::{Blocked, Controlled, Flows, Look, packet};
use crate::reference::Setting;
use crate::reference::packet::{Packet, Saying, Says};
use crate::reference::set_up;
use crate::reference::visits::owner;
use virtlane::control::{Payload, Probe};

/// What the sender of a flow or group was told, and what it sent, for checks.
#[derive(Debug)]
pub(in crate::reference) struct SenderTold {
    /// Their ids: one, or those of a group.
    pub(in crate::reference) flows: Vec<usize>,
    pub(in crate::reference) starts: u64,
    /// Answers and replies.
    pub(in crate::reference) answers: u64,
    pub(in crate::reference) probes: u64,
}

/// A probe of a flow that was sent in cycle `now`.
fn want(flow: usize, probe: &Probe, now: u64) -> Wanted {
    assert!(probe.after >= 1, "D47");
    Wanted {
        cycle: now + probe.after,
        called: now,
        saying: Saying {
            flow,
            number: 0,
            says: Says::Probe(probe.payload),
        },
    }
}

impl Flows {
    /// Stage Notify: the senders, those of flows in order, then those of groups, with the control packets that were
    /// delivered anywhere in this cycle; returns the probes that they send.
    pub(in crate::reference) fn notify(
        &mut self,
        look: Look<'_>,
        delivered: &[Saying],
    ) -> Vec<Wanted> {
        let setting = look.setting;
        let started = only(
            look.packets
                .iter()
                .filter(|packet| packet.source == self.host && packet.injected == Some(look.now)),
        );
        let mut wanted = Vec::new();
        let mut tell = |flows: &[usize], controlled: &mut Controlled| {
            let is_mine = |flow: usize| flows.contains(&flow);
            let started = started.filter(|packet| packet.flow.is_some_and(is_mine));
            let said = delivered.iter().filter(|saying| saying.is_for_sender());
            let said: Vec<&Saying> = said.filter(|saying| is_mine(saying.flow)).collect();
            assert!(said.len() <= 1, "at most one of a class, host and cycle");
            let probes = controlled.notify(
                &control(look.setting, flows[0]).algorithm,
                started.map(|packet| packet.size),
                said.first().map(|saying| saying.says),
                look.now,
            );
            wanted.extend(probes.iter().map(|probe| want(flows[0], probe, look.now)));
        };
        for index in 0..self.all.len() {
            let id = self.all[index].id;
            let Some(controlled) = &mut self.all[index].controlled else {
                continue;
            };
            tell(&[id], controlled);
            if controlled.closes(look.now)
                && let Some(next) = set_up::successor(setting, id)
            {
                let mut all = self.all.iter_mut();
                let next = all.find(|flow| flow.id == next).expect("the same source");
                let start = next.plan(setting).start;
                let controlled = next.controlled.as_mut();
                controlled.expect("D67").follow(start, look.now);
            }
        }
        for group in &mut self.groups {
            tell(&group.flows, &mut group.controlled);
        }
        self.begin(setting);
        wanted
    }

    /// D51: after all other events of cycle `last`, the senders of a class, those of flows in order, then those of groups;
    /// returns the probes that they send.
    pub(in crate::reference) fn look(
        &mut self,
        setting: Setting<'_>,
        class: usize,
        (is_blocked, blocked): Blocked<'_>,
        last: u64,
    ) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        let own = |flow: usize| is_blocked(&packet(setting, flow, (0, 1), last));
        let control = setting.plan.classes[class].control.as_ref();
        let algorithm = &control.expect("a class with control").algorithm;
        let of_class = self.all.iter_mut();
        let of_class =
            of_class.filter(|flow| usize::from(setting.plan.flows[flow.id].class) == class);
        for flow in of_class {
            if let Some(controlled) = &mut flow.controlled {
                let probe = controlled.look(algorithm, (own(flow.id), blocked), last);
                wanted.extend(probe.map(|probe| want(flow.id, &probe, last)));
            }
        }
        for group in self.groups.iter_mut().filter(|group| group.class == class) {
            let own = group.flows.iter().any(|&flow| own(flow));
            let probe = group.controlled.look(algorithm, (own, blocked), last);
            assert!(probe.is_none(), "D47: a group does not probe");
        }
        self.begin(setting);
        wanted
    }

    /// D68: after everything else of stage Notify, the senders of a class, in the order of its flows; returns the probes that
    /// they send.
    pub(in crate::reference) fn tell(
        &mut self,
        setting: Setting<'_>,
        (class, word): (usize, u32),
        now: u64,
    ) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for flow in &mut self.all {
            // D73: of all classes that have the element in common
            if owner(setting, flow.class(setting)) == class {
                let algorithm = &control(setting, flow.id).algorithm;
                let controlled = flow.controlled.as_mut();
                let controlled = controlled.expect("D68: a class without groups");
                let probe = controlled.hear(algorithm, word, now);
                wanted.extend(probe.map(|probe| want(flow.id, &probe, now)));
            }
        }
        self.begin(setting);
        wanted
    }

    /// D60: the flows begin whose senders have said so.
    fn begin(&mut self, setting: Setting<'_>) {
        for flow in &mut self.all {
            flow.begin(setting);
        }
    }

    /// D69: what a packet of this flow carries that starts in this cycle.
    pub(in crate::reference) fn carried(&self, flow: usize, now: u64) -> Payload {
        let mut all = self.all.iter();
        let flow = all.find(|mine| mine.id == flow);
        let controlled = flow.expect("a flow of this host").controlled.as_ref();
        controlled
            .expect("D69: a class without groups")
            .carried(now)
    }

    /// What each sender was told.
    pub(in crate::reference) fn told(&self) -> impl Iterator<Item = SenderTold> {
        let own = self.all.iter().filter_map(|flow| {
            let controlled = flow.controlled.as_ref()?;
            Some((vec![flow.id], controlled))
        });
        let groups = self.groups.iter();
        let groups = groups.map(|group| (group.flows.clone(), &group.controlled));
        own.chain(groups).map(|(flows, controlled)| {
            let (starts, answers, probes) = controlled.told();
            SenderTold {
                flows,
                starts,
                answers,
                probes,
            }
        })
    }

    /// Of every flow its id, start cycle (D50, D53, D60), the events that its sender logged and what is known of the last
    /// one (D42); those of a group are its first flow's.
    pub(in crate::reference) fn started_and_logged(
        &self,
    ) -> impl Iterator<Item = (usize, Option<u64>, u64, Option<(u64, u64)>)> {
        self.all.iter().map(|flow| {
            let mut groups = self.groups.iter();
            let group = groups.find(|group| group.flows[0] == flow.id);
            let controlled = flow.controlled.as_ref();
            let controlled = controlled.or(group.map(|group| &group.controlled));
            let logged = controlled.map_or(0, Controlled::logged);
            let last = controlled.and_then(Controlled::last_logged);
            (flow.id, flow.start_cycle(), logged, last)
        })
    }
}

/// What there is at most one of: a host starts and takes at most one packet per cycle.
fn only<'a>(mut packets: impl Iterator<Item = &'a Packet>) -> Option<&'a Packet> {
    let first = packets.next();
    assert!(
        packets.next().is_none(),
        "two packets of a host in one cycle"
    );
    first
}
