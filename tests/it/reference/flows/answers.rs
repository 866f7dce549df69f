//! What a host answers to flows that end there (D39, D40, D45): receivers, answers to be made, control queues.

use crate::reference::Setting;
use crate::reference::packet::{Packet, PacketId, Saying};
use crate::reference::routing::injection_lane;
use virtlane::control::{Arrival, Receiver};
use virtlane::ids::HostId;
use virtlane::traffic::Creation;

/// The receiver of a flow.
#[derive(Debug)]
struct Receiving {
    flow: usize,
    receiver: Receiver,
    /// Packets it was told, and answers it wanted.
    told: (u64, u64),
}

/// An answer that is to be made.
#[derive(Clone, Copy, Debug)]
struct Due {
    cycle: u64,
    /// Class of the answers.
    class: u16,
    /// Cycle of the delivery that is answered.
    delivered: u64,
    /// Packets.
    packets: u16,
    says: Saying,
}

/// D45: whether all packets of an answer are delivered.
pub(in crate::reference) fn is_whole(
    setting: Setting<'_>,
    packets: &[Packet],
    answer: Saying,
) -> bool {
    let flow = &setting.plan.flows[answer.flow];
    let control = setting.plan.classes[usize::from(flow.class)]
        .control
        .as_ref();
    let algorithm = &control.expect("a class with control").algorithm;
    let own = packets
        .iter()
        .filter(|packet| packet.answer == Some(answer));
    let delivered = own.filter(|packet| packet.delivered.is_some()).count();
    delivered == usize::from(algorithm.packets_per_answer())
}

/// The receivers of a host, and what they say.
#[derive(Debug)]
pub(in crate::reference) struct Answers {
    host: HostId,
    receivers: Vec<Receiving>,
    due: Vec<Due>,
    /// Control queues, by lane.
    queues: Vec<Vec<PacketId>>,
    /// Answers made so far, by class.
    made: Vec<u64>,
}

impl Answers {
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
            receivers.push(Receiving {
                flow: id,
                receiver: control.algorithm.receiver(),
                told: (0, 0),
            });
        }
        Self {
            host,
            receivers,
            due: Vec::new(),
            queues: vec![Vec::new(); plan.switch.lane_count().into()],
            made: vec![0; plan.classes.len()],
        }
    }

    /// Stage Notify: a packet was delivered here in this cycle.
    pub(in crate::reference) fn receive(
        &mut self,
        setting: Setting<'_>,
        packet: &Packet,
        now: u64,
    ) {
        assert_eq!(packet.destination, self.host);
        let mut receivers = self.receivers.iter_mut();
        let Some(to) = receivers.find(|to| packet.flow == Some(to.flow)) else {
            return;
        };
        let class = &setting.plan.classes[usize::from(packet.class)];
        let control = class.control.as_ref().expect("a class with control");
        let arrival = Arrival {
            now,
            flits: packet.size,
            is_marked: packet.fecn,
            latency: now - packet.injected.expect("delivered"),
        };
        to.told.0 += 1;
        let Some(answer) = control.algorithm.receive(&mut to.receiver, arrival) else {
            return;
        };
        let packets = control.algorithm.packets_per_answer();
        assert!(answer.after >= 1 && packets >= 1, "D40, D45");
        let number = to.told.1;
        to.told.1 += 1;
        self.due.push(Due {
            cycle: now + answer.after,
            class: control.answers,
            delivered: now,
            packets,
            says: Saying {
                flow: to.flow,
                number,
                value: answer.value,
            },
        });
    }

    /// Stage Generate: the answers of this cycle join their control queues.
    pub(in crate::reference) fn generate(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        now: u64,
    ) {
        let (mut due, later): (Vec<Due>, Vec<Due>) =
            self.due.iter().partition(|due| due.cycle == now);
        self.due = later;
        assert!(self.due.iter().all(|due| due.cycle > now));
        due.sort_by_key(|due| (due.class, due.delivered));
        for due in due {
            let class = &setting.plan.classes[usize::from(due.class)];
            for _ in 0..due.packets {
                let sequence = &mut self.made[usize::from(due.class)];
                let made = Creation {
                    destination: setting.plan.flows[due.says.flow].source,
                    sl: class.service_levels[0],
                    size: class.size.largest(),
                    sequence: *sequence,
                };
                *sequence += 1;
                let mut packet = Packet::new(setting, self.host, due.class, None, made, now);
                packet.answer = Some(due.says);
                self.queues[injection_lane(setting, &packet)].push(packets.len());
                packets.push(packet);
            }
        }
    }

    /// The head of a control queue.
    pub(in crate::reference) fn head(&self, lane: usize) -> Option<PacketId> {
        self.queues[lane].first().copied()
    }

    /// It starts.
    pub(in crate::reference) fn start(&mut self, lane: usize, id: PacketId) {
        assert_eq!(self.queues[lane].remove(0), id);
    }

    /// Answers that have not started.
    pub(in crate::reference) fn queued(&self) -> impl Iterator<Item = PacketId> {
        self.queues.iter().flatten().copied()
    }

    /// Of every flow with control that ends here: its id, packets its receiver was told, answers it wanted.
    pub(in crate::reference) fn told(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let receivers = self.receivers.iter();
        receivers.map(|to| (to.flow, to.told.0, to.told.1))
    }

    /// Answers to a flow that are to be made.
    pub(in crate::reference) fn to_make(&self, flow: usize) -> u64 {
        let due = self.due.iter();
        due.filter(|due| due.says.flow == flow).count() as u64
    }
}
