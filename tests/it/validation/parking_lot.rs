//! Figure 1.1 of Zdornov and Birk 2009: tree saturation in the parking lot.

use super::{assert_close, note, run, scenario};

/// Flits of a packet.
const PACKET: u32 = 16;
/// Packets of a flow and cycles of a unit.
const FLOW: u64 = 500;
const UNIT: f64 = (FLOW * PACKET as u64) as f64;

/// Buffers of the inputs [packets].
const BUFFERS: [u32; 4] = [2, 4, 8, 16];

fn buffer(packets: u32) -> String {
    format!("fabric.switch.lane_capacity={} flits", packets * PACKET)
}

#[test]
fn far_flows_get_a_sixth_and_near_flows_a_third() {
    for packets in BUFFERS {
        let resolved = scenario("topologies/parking_lot.ron", &[&buffer(packets)]);
        let outcome = run(&resolved);
        let rates: Vec<_> = outcome.records.hosts[..6]
            .iter()
            .map(|host| host.accepted_flits as f64 / outcome.cycles.measure as f64)
            .collect();
        note(&format!("buffers of {packets} packets: rates {rates:.5?}"));
        let sixth = 1.0 / 6.0;
        let expected = [sixth, sixth, sixth, sixth, 2.0 * sixth, 2.0 * sixth];
        for (rate, expected) in rates.into_iter().zip(expected) {
            assert_close(rate, expected, 0.001 * expected);
        }
    }
}

/// Near flows end after 3 units, far ones after 5. A buffer of b packets fills at 1/2 - 1/3 of the link rate, so
/// the shared link runs at full rate for 6 b packet times and is 2 b packets ahead from then on: 5 - 2 b / N.
#[test]
fn equal_flows_end_after_three_and_five_units() {
    for packets in BUFFERS {
        let changes = [&*buffer(packets)];
        let outcome = run(&scenario("validation/parking_lot_completion.ron", &changes));
        let classes = &outcome.records.classes;
        let ends: Vec<_> = classes
            .iter()
            .map(|class| class.last_delivery as f64 / UNIT)
            .collect();
        note(&format!(
            "buffers of {packets} packets: flows end after {ends:.4?} units"
        ));
        let far = 5.0 - 2.0 * f64::from(packets) / FLOW as f64;
        assert_close(ends[2], 3.0, 0.003);
        assert_close(ends[1], far, 0.005);
        assert_close(ends[0], far, 0.005);
        let delivered: u64 = classes.iter().map(|class| class.tagged_delivered).sum();
        assert_eq!(delivered, 6 * FLOW);
    }
}
