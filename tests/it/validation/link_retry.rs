//! Link-level retry: closed forms of latency and throughput, and verdicts over links that make errors.

use super::{assert_close, note, run, scenario};
use crate::runs::resolve;
use virtlane::run::outcome::Verdict;

/// Mean repeats of a transmission of so many bits.
fn repeats(bits: f64, rate: f64) -> f64 {
    (1.0 - rate).powf(-bits) - 1.0
}

/// D74: a packet of 32 flits comes 42 cycles later for each repeat, on both of its channels.
#[test]
fn latency_grows_by_what_is_repeated() {
    let mean = |rate: f64| {
        let change = format!("fabric.link.retry.bit_error_rate={rate:e}");
        let outcome = run(&scenario("validation/link_retry.ron", &[&change]));
        let class = &outcome.records.classes[0];
        let counts = &outcome.records.counts;
        assert_eq!(counts["links.repeated_flits"], 32 * counts["links.repeats"]);
        class.network.summary().mean.expect("packets arrive")
    };
    for rate in [1e-18, 2e-6, 4e-5] {
        let mean_repeats = repeats(16384.0, rate);
        let expected = 34.0 + 2.0 * 42.0 * mean_repeats;
        // 8 hosts, 5 % load, two channels; repeats are geometric
        let transmissions = 2.0 * 8.0 * 2e6 * 0.05 / 32.0;
        let deviation = 84.0 * (mean_repeats * (1.0 + mean_repeats) / transmissions).sqrt();
        let found = mean(rate);
        note(&format!(
            "retry at {rate:e}: {found:.3} cycles (theory {expected:.3})"
        ));
        assert_close(found, expected, 4.0 * deviation + 1e-6);
    }
}

/// Flows between hosts of one switch, whose links carry 0.82 of their rate.
fn told(flows: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"retry\", seed: 1,
         fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 4), flit: \"64 B\", switch: (lanes: 1, lane_capacity: \"256 flits\"),
            link: (rate: \"100 Gbit/s\", latency: \"10 ns\", retry: (bit_error_rate: 2e-5))),
         routing: UpDown(),
         traffic: [(name: \"f\", flows: [{flows}], size: \"1 KiB\")],
         phases: (warmup: \"20000 cycles\", measure: \"200000 cycles\"))"
    );
    let outcome = crate::runs::run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// What a link repeats it cannot carry besides: a flow that fills the rest is not held back, one that may send more is.
#[test]
fn what_links_repeat_is_no_overload_of_the_fabric() {
    for limit in ["", ", limit: Rate(0.7)"] {
        let (verdict, reason) = told(&format!("(pairs: List(pairs: [(0, 2)]){limit})"));
        assert_eq!(verdict, Verdict::Steady, "{limit}: {reason}");
    }
    let two = "(pairs: List(pairs: [(0, 2), (1, 2)]), limit: Rate(0.47))";
    let (verdict, reason) = told(two);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.contains("of what it can"), "{reason}");
}

/// `check` says how many packets of 2 KiB have an error, and what that leaves of a link: 32 of 32 + 42 x 0.3878 cycles.
#[test]
fn what_links_carry_is_told_before_a_run() {
    let mut command = assert_cmd::Command::cargo_bin("virtlane").expect("it is built");
    let output = command.args(["check", "scenarios/validation/link_retry.ron"]);
    let output = output.assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("text");
    let words = "errors   2.8e-1 of the transmissions of 2048 B come with one; a channel carries 0.663 of its rate at least, on average";
    assert!(text.contains(words), "{text}");
}
