//! Room for answers at a host (D57): what its sink asks before it takes a packet.

use super::Setting;
use super::packet::Packet;
use virtlane::plan::Plan;

/// Room of one class.
#[derive(Debug)]
pub(super) struct Room {
    /// Class of the flows.
    pub(super) class: u16,
    /// Class of their answers.
    pub(super) answers: u16,
    /// Q: packets of answers that there is room for in all.
    pub(super) places: u64,
    /// m: packets of one answer (D45).
    pub(super) needs: u64,
    /// Packets that there is room for now.
    pub(super) left: u64,
}

/// Room of all bounded classes at one host.
#[derive(Debug)]
pub(super) struct Rooms(pub(super) Vec<Room>);

/// D57: whether hosts may hold packets back.
pub(super) fn are_bounded(plan: &Plan) -> bool {
    let mut controls = plan.classes.iter().flat_map(|class| &class.control);
    controls.any(|control| control.queue.is_some())
}

impl Rooms {
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let classes = (0..).zip(&setting.plan.classes);
        let rooms = classes.filter_map(|(number, class)| {
            let control = class.control.as_ref()?;
            let places = u64::from(control.queue?);
            assert!(!control.is_apart(), "D57: no probes, not out of band");
            let needs = u64::from(control.algorithm.packets_per_answer());
            assert!(needs <= places && places <= 1_000_000, "D57");
            Some(Room {
                class: number,
                answers: control.answers,
                places,
                needs,
                left: places,
            })
        });
        Self(rooms.collect())
    }

    /// Where a packet of a flow of a bounded class takes room.
    fn of(&mut self, packet: &Packet) -> Option<&mut Room> {
        let mut rooms = self.0.iter_mut();
        rooms.find(|room| room.class == packet.class)
    }

    /// Whether a packet may begin to drain.
    pub(super) fn has_room(&mut self, packet: &Packet) -> bool {
        self.of(packet).is_none_or(|room| room.left >= room.needs)
    }

    /// A packet begins to drain.
    pub(super) fn take(&mut self, packet: &Packet) {
        if let Some(room) = self.of(packet) {
            let left = room.left.checked_sub(room.needs);
            room.left = left.expect("D57: never below 0");
        }
    }

    /// A packet was delivered, and is not answered.
    pub(super) fn give_back(&mut self, packet: &Packet) {
        if let Some(room) = self.of(packet) {
            room.left += room.needs;
        }
    }

    /// A packet of an answer starts on the channel.
    pub(super) fn start(&mut self, answer: &Packet) {
        for room in &mut self.0 {
            room.left += u64::from(room.answers == answer.class);
        }
    }
}
