//! Figure 1.1 of Zdornov and Birk 2009: tree saturation in the parking lot.

use super::{assert_close, run, scenario};

/// Flits of a packet.
const PACKET: u32 = 16;
/// Packets of a flow and cycles of a unit.
const FLOW: u64 = 500;
const UNIT: f64 = (FLOW * PACKET as u64) as f64;

fn buffers() -> impl Iterator<Item = String> {
    let sizes = [2, 4, 8, 16].into_iter();
    sizes.map(|packets| format!("fabric.switch.lane_capacity={} flits", packets * PACKET))
}

#[test]
fn far_flows_get_a_sixth_and_near_flows_a_third() {
    for buffer in buffers() {
        let outcome = run(&scenario("topologies/parking_lot.ron", &[&buffer]));
        let rates: Vec<_> = outcome.records.hosts[..6]
            .iter()
            .map(|host| host.accepted_flits as f64 / outcome.cycles.measure as f64)
            .collect();
        println!("{buffer}: rates {rates:.5?}");
        let sixth = 1.0 / 6.0;
        let expected = [sixth, sixth, sixth, sixth, 2.0 * sixth, 2.0 * sixth];
        for (rate, expected) in rates.into_iter().zip(expected) {
            assert_close(rate, expected, 0.01 * expected);
        }
    }
}

#[test]
fn equal_flows_end_after_three_and_five_units() {
    for buffer in buffers() {
        let resolved = scenario("validation/parking_lot_completion.ron", &[&buffer]);
        let outcome = run(&resolved);
        let classes = &outcome.records.classes;
        let ends: Vec<_> = classes
            .iter()
            .map(|class| class.last_delivery as f64 / UNIT)
            .collect();
        println!("{buffer}: flows end after {ends:.4?} units");
        assert_close(ends[2], 3.0, 0.03);
        assert_close(ends[1], 5.0, 0.05);
        assert_close(ends[0].max(ends[1]), 5.0, 0.05);
        assert_close(ends[0], 5.0, 0.1);
        let delivered: u64 = classes.iter().map(|class| class.tagged_delivered).sum();
        assert_eq!(delivered, 6 * FLOW);
    }
}
