//! Terms of the conservation laws: packets in output lanes and what they took.

use crate::cycle::columns::WaitingLane;
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::fabric::rows::{LaneRow, PacketRow};

/// Credits of the next hop, and of a packet larger than the buffer the slots in which its rest waits.
pub(super) fn enter(view: &dyn Columns, channels: Channels<'_>, ledger: &mut Ledger) {
    let shared = view.shared();
    let buffer = shared.switch.output_lane_buffer;
    for (lane, waiting) in view.grouped::<LaneRow, WaitingLane>().enumerate() {
        let (mut packet, mut flits) = (waiting.head, 0);
        while packet != PacketRow::NONE {
            ledger.holds(packet);
            let size = u32::from(view.packets()[packet].size);
            flits += size;
            if size > buffer {
                let inside = shared.switch.classifier.lane(waiting.queue);
                let incoming = channels[shared.numbering.port(inside)].reverse();
                ledger.claim(shared, incoming, inside, size - buffer);
            }
            packet = view.packets()[packet].next;
        }
        claim(view, (channels, lane), (waiting, flits), ledger);
    }
}

/// Credits of the next hop that the flits of a lane have taken, which it counts.
pub(in crate::cycle::mechanisms) fn claim(
    view: &dyn Columns,
    (channels, lane): (Channels<'_>, LaneRow),
    (waiting, flits): (&WaitingLane, u32),
    ledger: &mut Ledger,
) {
    let shared = view.shared();
    ledger.claim(shared, channels[shared.numbering.port(lane)], lane, flits);
    if flits != waiting.flits {
        let known = waiting.flits;
        ledger.breaks(format!(
            "an output lane counts {known} flits, {flits} wait there"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::laws::halted::Halted;

    /// Packets of 6 flits that wait in output lanes of so many.
    fn behind_the_crossbar(buffer: u32, forwarding: &str) -> Halted {
        let text = "Scenario(
            title: \"output lanes\", seed: 2,
            fabric: (topology: Complete(switches: 3, hosts_per_switch: 3), flit: \"64 B\",
                     link: (rate: \"100 Gbit/s\", latency: \"5 cycles\"),
                     switch: (lanes: 2, lane_capacity: \"12 flits\", output_lane_buffer: \"BUFFER flits\", forwarding: FORWARDING)),
            routing: MinHop(),
            traffic: [(name: \"one\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"6 flits\"),
                      (name: \"two\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"6 flits\", sl: 1)],
            phases: (warmup: \"0 cycles\", measure: \"2000 cycles\"),
        )";
        let text = text.replace("BUFFER", &buffer.to_string());
        Halted::new(&text.replace("FORWARDING", forwarding), 500, 1)
    }

    #[test]
    fn an_output_lane_counts_its_flits() {
        // single flits wait for nothing but their way through the crossbar
        let single = "Wormhole, crossbar_delay: \"1 cycles\"";
        for (buffer, forwarding) in [(2, "CutThrough"), (12, "CutThrough"), (2, single)] {
            for more in [1, u32::MAX] {
                let mut halted = behind_the_crossbar(buffer, forwarding);
                halted.change_grouped(|lane: &mut WaitingLane| {
                    let is_some = lane.flits > 0;
                    if is_some {
                        lane.flits = lane.flits.wrapping_add(more);
                    }
                    is_some
                });
                halted.breaks(&["an output lane counts", "wait there"]);
            }
        }
    }

    #[test]
    fn packets_of_an_output_lane_have_their_place_there() {
        let mut halted = behind_the_crossbar(12, "CutThrough");
        halted.change_grouped(|lane: &mut WaitingLane| {
            let is_some = lane.flits > 0;
            if is_some {
                (lane.head, lane.tail, lane.flits) = (PacketRow::NONE, PacketRow::NONE, 0);
            }
            is_some
        });
        halted.breaks(&["packets are in the fabric", "have a place"]);
    }

    /// What is left of a packet larger than the buffer takes the input that it comes from.
    #[test]
    fn the_rest_of_a_packet_is_at_its_input() {
        let mut halted = behind_the_crossbar(2, "CutThrough");
        let mut queues = Vec::new();
        halted.simulation.grouped_mut::<WaitingLane>(|_, lanes| {
            queues.extend(
                lanes
                    .iter()
                    .filter(|lane| lane.flits > 0)
                    .map(|lane| lane.queue),
            );
        });
        let (first, other) = (queues[0], *queues.last().expect("several wait"));
        assert_ne!(first, other);
        halted.change_grouped(|lane: &mut WaitingLane| {
            let is_some = lane.flits > 0;
            if is_some {
                lane.queue = other;
            }
            is_some
        });
        halted.breaks(&["credits of lane", "is not the capacity 12"]);
    }
}
