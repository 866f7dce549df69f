//! The receivers of the flows that end at a host, and what they give back (D39, D40, D47, D67, D69).

use super::control_packets::{Wanted, control};
use crate::reference::Setting;
use crate::reference::packet::{Packet, Saying, Says};
use crate::reference::set_up;
use virtlane::control::{Arrival, Payload, Receiver, Reply};
use virtlane::ids::HostId;

/// The receiver of a flow.
#[derive(Debug)]
struct Receiving {
    flow: usize,
    receiver: Receiver,
    told: Told,
}

impl Receiving {
    /// It replies to a probe, or to a packet (D69), in this cycle.
    fn reply(&mut self, reply: Reply, now: u64) -> Wanted {
        self.told.replies += 1;
        assert!(reply.after >= 1, "D47");
        Wanted {
            cycle: now + reply.after,
            called: now,
            saying: Saying {
                flow: self.flow,
                number: 0,
                says: Says::Reply {
                    payload: reply.payload,
                    visits: reply.visits,
                },
            },
        }
    }
}

/// What a receiver was told, and what it wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::reference) struct Told {
    /// Packets of the flow.
    pub(in crate::reference) packets: u64,
    pub(in crate::reference) answers: u64,
    pub(in crate::reference) probes: u64,
    pub(in crate::reference) replies: u64,
}

/// The receivers of a host.
#[derive(Debug)]
pub(in crate::reference) struct Receivers(Vec<Receiving>);

impl Receivers {
    pub(in crate::reference) fn new(setting: Setting<'_>, host: HostId) -> Self {
        let plan = setting.plan;
        let mut receivers = Vec::new();
        for (id, flow) in plan.flows.iter().enumerate() {
            let class = &plan.classes[usize::from(flow.class)];
            let Some(control) = class.control.as_ref().filter(|_| flow.destination == host) else {
                continue;
            };
            let answers = &plan.classes[usize::from(control.answers)];
            assert_eq!(answers.answers, Some(flow.class), "D39");
            assert_eq!(answers.size.smallest(), answers.size.largest(), "D39");
            assert!(answers.flows.is_none() && answers.control.is_none(), "D39");
            let mut receiver = control.algorithm.receiver();
            if set_up::set_up_of(setting, id).is_some() || class.reserves() {
                control.algorithm.expect(&mut receiver, flow.flits);
            }
            receivers.push(Receiving {
                flow: id,
                receiver,
                told: Told::default(),
            });
        }
        Self(receivers)
    }

    /// Stage Notify: a packet was delivered here in this cycle.
    pub(in crate::reference) fn receive(
        &mut self,
        setting: Setting<'_>,
        packet: &Packet,
        now: u64,
    ) -> Option<Wanted> {
        let mut receivers = self.0.iter_mut();
        let to = receivers.find(|to| packet.flow == Some(to.flow))?;
        let arrival = Arrival {
            now,
            flits: packet.size,
            is_marked: packet.fecn,
            latency: now - packet.injected.expect("delivered"),
        };
        to.told.packets += 1;
        let algorithm = &control(setting, to.flow).algorithm;
        assert_eq!(packet.carries.is_some(), algorithm.carries(), "D69");
        if let Some(payload) = packet.carries {
            let reply = algorithm.carried(&mut to.receiver, arrival, payload)?;
            return Some(to.reply(reply, now));
        }
        let answer = algorithm.receive(&mut to.receiver, arrival)?;
        let number = to.told.answers;
        to.told.answers += 1;
        assert!(answer.after >= 1, "D40");
        Some(Wanted {
            cycle: now + answer.after,
            called: now,
            saying: Saying {
                flow: to.flow,
                number,
                says: Says::Answer(answer.value),
            },
        })
    }

    /// Stage Notify: a probe of that flow was delivered here in this cycle.
    pub(in crate::reference) fn probe(
        &mut self,
        setting: Setting<'_>,
        (flow, payload): (usize, Payload),
        now: u64,
    ) -> Option<Wanted> {
        let mut receivers = self.0.iter_mut();
        let to = receivers.find(|to| to.flow == flow);
        let to = to.expect("probes go to the destination of their flow");
        to.told.probes += 1;
        let algorithm = &control(setting, flow).algorithm;
        let reply = algorithm.received(&mut to.receiver, now, payload)?;
        Some(to.reply(reply, now))
    }

    /// Of every flow with control that ends here: its id, and what its receiver was told.
    pub(in crate::reference) fn told(&self) -> impl Iterator<Item = (usize, Told)> {
        self.0.iter().map(|to| (to.flow, to.told))
    }
}
