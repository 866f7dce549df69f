//! The control packets that a host makes (D40, D47): those that are wanted, and control queues.

use crate::reference::Setting;
use crate::reference::levels::level;
use crate::reference::packet::{Packet, PacketId, Saying};
use crate::reference::routing::injection_lane;
use virtlane::plan::Control;
use virtlane::traffic::Creation;

/// A control packet that is to be made.
#[derive(Clone, Copy, Debug)]
pub(in crate::reference) struct Wanted {
    /// Cycle in which it is.
    pub(super) cycle: u64,
    /// Cycle of the call of a receiver or sender that wants it.
    pub(super) called: u64,
    pub(super) saying: Saying,
}

impl Wanted {
    /// D47: order in which those of one class are made in one cycle, with the order of the calls behind it.
    fn rank(&self) -> (u64, u8, usize) {
        (self.called, self.saying.says.rank(), self.saying.flow)
    }
}

/// How a flow is controlled.
pub(super) fn control(setting: Setting<'_>, flow: usize) -> &Control {
    let class = &setting.plan.classes[usize::from(setting.plan.flows[flow].class)];
    class.control.as_ref().expect("a class with control")
}

/// The control packets of a host.
#[derive(Debug)]
pub(in crate::reference) struct ControlPackets {
    /// In the order of the calls.
    wanted: Vec<Wanted>,
    /// Control queues, by lane.
    queues: Vec<Vec<PacketId>>,
    /// Packets made so far, by class.
    made: Vec<u64>,
    /// Made in this cycle for a network beside the data network (D49), in order.
    beside: Vec<Saying>,
}

impl ControlPackets {
    pub(in crate::reference) fn new(setting: Setting<'_>) -> Self {
        let plan = setting.plan;
        Self {
            wanted: Vec::new(),
            queues: vec![Vec::new(); plan.switch.lane_count().into()],
            made: vec![0; plan.classes.len()],
            beside: Vec::new(),
        }
    }

    /// Some are wanted.
    pub(in crate::reference) fn want(&mut self, wanted: impl IntoIterator<Item = Wanted>) {
        self.wanted.extend(wanted);
    }

    /// Stage Generate: the answers of this cycle of classes that are not apart, then all control packets of the others.
    pub(in crate::reference) fn generate(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        now: u64,
    ) {
        let (mut due, later): (Vec<Wanted>, Vec<Wanted>) =
            self.wanted.iter().partition(|wanted| wanted.cycle == now);
        self.wanted = later;
        assert!(self.wanted.iter().all(|wanted| wanted.cycle > now));
        // of one flow and one cycle of calls the order of the calls stays
        due.sort_by_key(|wanted| {
            let control = control(setting, wanted.saying.flow);
            (control.is_apart(), control.answers, wanted.rank())
        });
        for wanted in due {
            let control = control(setting, wanted.saying.flow);
            if control.transport.is_some() {
                self.beside.push(wanted.saying);
                continue;
            }
            // D45, D47: in classes apart answers are single packets
            let several = control.algorithm.packets_per_answer();
            let several = if control.is_apart() { 1 } else { several };
            assert!(several >= 1, "D45");
            for _ in 0..several {
                self.make(setting, packets, control.answers, wanted.saying, now);
            }
        }
    }

    /// One joins its control queue.
    fn make(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        number: u16,
        saying: Saying,
        now: u64,
    ) {
        let class = &setting.plan.classes[usize::from(number)];
        let sequence = &mut self.made[usize::from(number)];
        let (from, to) = saying.ends(setting);
        let made = Creation {
            destination: to,
            sl: level(setting.plan, number, saying.flow),
            size: class.size.largest(),
            sequence: *sequence,
        };
        *sequence += 1;
        let mut packet = Packet::new(setting, from, number, None, made, now);
        packet.saying = Some(saying);
        self.queues[injection_lane(setting, &packet)].push(packets.len());
        packets.push(packet);
    }

    /// Those that were made in this cycle for a network beside the data network.
    pub(in crate::reference) fn take_beside(&mut self) -> Vec<Saying> {
        std::mem::take(&mut self.beside)
    }

    /// The head of a control queue.
    pub(in crate::reference) fn head(&self, lane: usize) -> Option<PacketId> {
        self.queues[lane].first().copied()
    }

    /// Those of a lane that have not started, in order.
    pub(in crate::reference) fn of_lane(&self, lane: usize) -> &[PacketId] {
        &self.queues[lane]
    }

    /// It starts.
    pub(in crate::reference) fn start(&mut self, lane: usize, id: PacketId) {
        assert_eq!(self.queues[lane].remove(0), id);
    }

    /// Control packets that have not started.
    pub(in crate::reference) fn queued(&self) -> impl Iterator<Item = PacketId> {
        self.queues.iter().flatten().copied()
    }

    /// Those that are to be made.
    pub(in crate::reference) fn to_make(&self) -> impl Iterator<Item = Saying> {
        self.wanted.iter().map(|wanted| wanted.saying)
    }
}
