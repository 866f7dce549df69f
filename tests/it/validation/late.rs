//! Flows that begin late in a measurement: what their limits ask for then is told by a longer one.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// One switch with eight hosts. From cycle 1500 on three hosts have a flow to host 0 each, and another one to a host of its own.
fn told(rate: f64, cycles: u64) -> (Verdict, String) {
    let text = format!(
        r#"Scenario(title: "late", seed: 3,
            fabric: (topology: Complete(switches: 1, hosts_per_switch: 8), flit: "64 B",
                     link: (rate: "10 Gbit/s", latency: "2 cycles"), switch: (lanes: 2, lane_capacity: "16 flits")),
            routing: MinHop(),
            traffic: [(name: "to_0", sl: 0, size: "1 flits", flows: [
                          (pairs: List(pairs: [(1, 0), (2, 0), (3, 0)]), start: "1500 cycles", limit: Rate({rate}))]),
                      (name: "beside", sl: 1, size: "1 flits", flows: [
                          (pairs: List(pairs: [(1, 4), (2, 5), (3, 6)]), limit: Rate(0.3))])],
            phases: (warmup: "0 cycles", measure: "{cycles} cycles"))"#
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

#[test]
fn limits_that_ask_for_too_much_at_the_end_alone_leave_a_measurement_undecided() {
    for (rate, part) in [(0.4, "1.200"), (0.35, "1.050")] {
        let (verdict, reason) = told(rate, 2000);
        assert_eq!(verdict, Verdict::Undecided, "{rate}: {reason}");
        let words = format!(
            "at its end the limits of 3 flows ask channel S0 port 1 to H0 for {part} of what it carries"
        );
        assert!(reason.contains(&words), "{rate}: {reason}");
        assert!(reason.ends_with("a longer measurement tells"), "{reason}");
        let (verdict, reason) = told(rate, 200_000);
        assert_eq!(verdict, Verdict::Saturated, "{rate}: {reason}");
        assert!(reason.contains("channel S0 port 1 to H0"), "{reason}");
    }
    for cycles in [2000, 20_000] {
        let (verdict, reason) = told(0.32, cycles);
        assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
    }
}
