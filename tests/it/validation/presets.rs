//! Presets of whole switches: the keys they stand for, and what is written beside them.

use super::{run, scenario};
use virtlane::plan::{Marking, SwitchOptions};
use virtlane::scenario::Resolved;

/// The scenarios of presets with their switches written out.
const WRITTEN: [(&str, &str); 3] = [
    (
        "fabrics/infiniband_ndr.ron",
        "(lanes: 8, lane_capacity: \"32 KiB\", sharing: PerLane, queues: Voq, iterations: 2, routing_delay: \"150 ns\", \
         marking: InfiniBand(preset: OpaFm))",
    ),
    (
        "fabrics/ethernet_51t.ron",
        "(lanes: 8, lane_capacity: \"1 MB\", sharing: PortPool, queues: Voq, input_speedup: Unlimited, \
         marking: Ecn(k_min: \"100 kB\", k_max: \"400 kB\", p_max: 0.2), routing_delay: \"500 ns\")",
    ),
    (
        "fabrics/flit_router.ron",
        "(lanes: 4, lane_capacity: \"8 flits\", forwarding: Wormhole, iterations: 1, routing_delay: \"1 cycles\", \
         allocation_delay: \"2 cycles\", crossbar_delay: \"1 cycles\", credit_latency: Auto)",
    ),
];

#[test]
fn a_preset_is_the_same_as_its_keys_written_out() {
    for (file, switch) in WRITTEN {
        let preset = scenario(file, &[]);
        let written = scenario(file, &[&format!("fabric.switch={switch}")]);
        assert_eq!(preset.plan.switch, written.plan.switch, "{file}");
        let digest = |resolved: &Resolved| run(resolved).records.digest;
        assert_eq!(digest(&preset), digest(&written), "{file}");
    }
}

/// The switch of a scenario with changes.
fn switch(changes: &[&str]) -> SwitchOptions {
    scenario("adaptive/leaf_spine_128.ron", changes).plan.switch
}

#[test]
fn what_is_written_beside_a_preset_counts() {
    let plain = switch(&["fabric.switch=Preset(Ethernet51T)"]);
    let mut expected = plain.clone();
    expected.lanes = 2;
    expected.marking = Some(Marking::Requests(7));
    let beside = "fabric.switch=(preset: Ethernet51T, lanes: 2, marking: (threshold: \"7 flits\"))";
    assert_eq!(switch(&[beside]), expected);
    for preset in ["Preset(Ethernet51T)", "(preset: Ethernet51T)"] {
        let later = [
            &*format!("fabric.switch={preset}"),
            "fabric.switch.lanes=2",
            "fabric.switch.marking=(threshold: \"7 flits\")",
        ];
        assert_eq!(switch(&later), expected, "{preset}");
    }
    let without = switch(&[
        "fabric.switch=(preset: Ethernet51T, marking: None)",
        "traffic.step.control=None",
    ]);
    assert_eq!(without.marking, None);
}

#[test]
fn buffers_and_delays_are_those_of_the_hardware_whatever_flits_and_links() {
    let flits = |bytes: &str, rate: &str| {
        let [flit, rate] = [
            format!("fabric.flit={bytes} B"),
            format!("fabric.link.rate={rate} Gbit/s"),
        ];
        let preset = "fabric.switch=Preset(InfiniBandNdr)";
        let switch = switch(&[preset, "traffic.step.control=None", &flit, &rate]);
        (switch.lane_capacity, switch.routing_delay)
    };
    // cycles of 1.28, 5.12 and 2.56 ns
    assert_eq!(flits("64", "400"), (512, 117));
    assert_eq!(flits("256", "400"), (128, 29));
    assert_eq!(flits("64", "200"), (512, 59));
}
