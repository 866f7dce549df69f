//! Claims about ratios of points, pair by pair: which point is divided by which.

use crate::program::virtlane;

/// Two loads, two numbers of lanes; offered is what the load says, whatever the lanes are.
const SWEEP: &str = r#"Scenario(
    title: "pairs", seed: 1,
    fabric: (topology: Complete(switches: 2, hosts_per_switch: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lane_capacity: "32 flits")),
    routing: MinHop(),
    traffic: [(name: "a", pattern: Uniform, process: ConstantRate(load: 0.1), size: "4 flits")],
    phases: (warmup: "400 cycles", measure: "4000 cycles"),
    sweep: (axes: AXES),
    expect: [(metric: "load.offered", SELECTION, points: Each, relation: Equals, value: VALUE, tolerance: 0.02)],
)"#;

/// Exit code of the sweep, and what it says.
fn sweep(axes: &str, selection: &str, value: &str) -> (Option<i32>, String) {
    let text = SWEEP.replace("AXES", axes);
    let text = text.replace("SELECTION", selection).replace("VALUE", value);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("pairs.ron"), text).expect("it can be written");
    let (code, table, errors) = virtlane(folder.path(), &["sweep", "pairs.ron", "--out", "out"]);
    (code, table + &errors)
}

const LANES: &str = "(\"fabric.switch.lanes\", [1, 2])";
const LOADS: &str = "(\"traffic[0].process\", [ConstantRate(load: 0.1), ConstantRate(load: 0.2)])";

#[test]
fn points_are_paired_by_their_other_axes() {
    let lanes = "at: [(\"fabric.switch.lanes\", 1)], over: [(\"fabric.switch.lanes\", 2)]";
    let loads = "at: [(\"traffic[0].process\", ConstantRate(load: 0.2))], \
                 over: [(\"traffic[0].process\", ConstantRate(load: 0.1))]";
    for axes in [format!("[{LANES}, {LOADS}]"), format!("[{LOADS}, {LANES}]")] {
        for (selection, value) in [(lanes, "1"), (loads, "2")] {
            let (code, said) = sweep(&axes, selection, value);
            assert_eq!(code, Some(0), "{axes} {selection}: {said}");
            let (code, said) = sweep(&axes, selection, "1.5");
            assert_eq!(code, Some(1), "{axes} {selection}: {said}");
        }
    }
}

/// A point that names another axis, too, is the partner of all.
#[test]
fn a_named_axis_is_no_other_one() {
    let axes = format!("[{LANES}, {LOADS}]");
    let both = "at: [(\"fabric.switch.lanes\", 1), (\"traffic[0].process\", ConstantRate(load: 0.2))], \
                over: [(\"fabric.switch.lanes\", 2), (\"traffic[0].process\", ConstantRate(load: 0.1))]";
    let (code, said) = sweep(&axes, both, "2");
    assert_eq!(code, Some(0), "{said}");
    let one = "at: [(\"fabric.switch.lanes\", 1)], \
               over: [(\"fabric.switch.lanes\", 2), (\"traffic[0].process\", ConstantRate(load: 0.1))]";
    // the ratios are 1 and 2
    let (code, said) = sweep(&axes, one, "1");
    assert_eq!(code, Some(1), "{said}");
}
