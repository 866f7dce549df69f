//! Terms of the conservation laws: packets on their way to hosts, and the slots of single flits.

use super::Flits;
use crate::cycle::columns::{Held, Present};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::fabric::rows::{LaneRow, PacketRow, QueueRow};

/// A packet that holds the lane to a host has left its queue; a flit has a slot from its passing on.
pub(super) fn enter<const W: usize>(
    view: &dyn Columns,
    channels: Channels<'_>,
    ledger: &mut Ledger,
) {
    let shared = view.shared();
    let mut claim = |lane: LaneRow, flits: u32| {
        let incoming = channels[shared.numbering.port(lane)].reverse();
        ledger.claim(shared, incoming, lane, flits);
    };
    for (queue, present) in view.grouped::<QueueRow, Present>().enumerate() {
        claim(shared.switch.classifier.lane(queue), present.flits);
    }
    if let Some(flits) = view.resource::<Flits>() {
        for lane in flits.lanes() {
            claim(lane, 1);
        }
        ledger.passes_flits(flits.receiver());
    }
    for (_, held) in view.grouped::<LaneRow, Held>().enumerate() {
        if held.left > 0 && held.packet != PacketRow::NONE {
            ledger.holds(held.packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::laws::halted::Halted;

    /// Flits that wait at three inputs of a switch and go one by one.
    fn flit_by_flit() -> Halted {
        let text = "Scenario(
            title: \"flit by flit\", seed: 2,
            fabric: (topology: Complete(switches: 3, hosts_per_switch: 3), flit: \"64 B\",
                     link: (rate: \"100 Gbit/s\", latency: \"5 cycles\"),
                     switch: (lanes: 2, lane_capacity: \"8 flits\", forwarding: Wormhole)),
            routing: MinHop(),
            traffic: [(name: \"all\", pattern: Uniform, process: Bernoulli(load: 0.9), size: \"12 flits\")],
            phases: (warmup: \"0 cycles\", measure: \"2000 cycles\"),
        )";
        Halted::new(text, 500, 1)
    }

    #[test]
    fn a_flit_has_a_slot() {
        let mut halted = flit_by_flit();
        halted.change_grouped(|present: &mut Present| {
            let is_some = present.flits > 0;
            present.flits -= u32::from(is_some);
            is_some
        });
        halted.breaks(&["credits of lane", "is not the capacity 8"]);
        let mut halted = flit_by_flit();
        halted.change_grouped(|present: &mut Present| {
            present.flits += 1;
            true
        });
        halted.breaks(&["credits of lane", "is not the capacity 8"]);
    }

    #[test]
    fn flits_under_way_are_neither_lost_nor_doubled() {
        let mut halted = flit_by_flit();
        let (now, lane) = halted.resource(|flits: &mut Flits| {
            let now = flits.next(500);
            (now, flits.take(now)[0])
        });
        halted.breaks(&["credits of lane", "is not the capacity 8"]);
        let mut halted = flit_by_flit();
        halted.resource(|flits: &mut Flits| flits.push(now, lane));
        halted.breaks(&["credits of lane", "is not the capacity 8"]);
    }

    #[test]
    fn a_packet_that_goes_to_its_host_has_a_place() {
        let mut halted = flit_by_flit();
        halted.change_grouped(|held: &mut Held| {
            let is_some = held.left > 0 && held.packet != PacketRow::NONE;
            if is_some {
                held.packet = PacketRow::NONE;
            }
            is_some
        });
        halted.breaks(&["packets are in the fabric", "have a place"]);
    }
}
