//! Destinations are drawn by the shares that a pattern tells.

use super::PATTERNS;
use super::tests::{build_on, expected, histogram, star};
use crate::ids::HostId;
use crate::topology::Shape;

#[test]
#[allow(clippy::too_many_lines, reason = "mostly a list of patterns")]
fn shares_are_what_destinations_are_drawn_by() {
    const DRAWS: u32 = 20_000;
    let patterns = [
        ("AllTo", "(5)"),
        ("AllTo", "(target: 5, self_traffic: true)"),
        ("Asymmetric", ""),
        ("Asymmetric", "(self_traffic: false)"),
        ("Asymmetric", "(among: Senders)"),
        ("BadDragon", "(group_hosts: 4)"),
        ("BadDragon", "(group_hosts: 2, by: -3)"),
        ("BitReverse", ""),
        ("BitRotation", "(among: Senders)"),
        ("Butterfly", ""),
        ("BitReverse", "(self_traffic: true)"),
        ("Complement", ""),
        ("Diagonal", ""),
        ("Diagonal", "(self_traffic: false)"),
        ("Diagonal", "(among: Senders)"),
        (
            "HotSpot",
            "(targets: [7, 4, 1], weights: [1, 6, 2], fraction: 0.4)",
        ),
        (
            "HotSpot",
            "(targets: [1, 4], weights: [2, 3], fraction: 1.0)",
        ),
        (
            "HotSpot",
            "(targets: [1, 4], weights: [2, 3], fraction: 0.6, self_traffic: true)",
        ),
        (
            "HotSpot",
            "(targets: [4], fraction: 1.0, self_traffic: true)",
        ),
        ("HotSpot", "(targets: [4], fraction: 0.5)"),
        ("HotSpot", "(targets: [4, 7], fraction: 0.3)"),
        ("HotSpot", "(targets: [4], fraction: 1.0)"),
        ("HotSpot", "(targets: [1, 4], fraction: 1.0)"),
        ("Neighbor", ""),
        ("Pairs", "([(0, 3), (1, 3), (1, 2), (1, 3), (4, 15)])"),
        ("Pairs", "(pairs: [(4, 4), (4, 2)], self_traffic: true)"),
        ("RandomPairs", ""),
        ("RandomPairs", "(self_traffic: true)"),
        ("RandomPermutation", "(self_traffic: true)"),
        ("Shift", "(by: 3)"),
        ("Shuffle", ""),
        ("Taper64", ""),
        ("Taper64", "(self_traffic: false)"),
        ("Tornado", ""),
        ("Transpose", ""),
        ("Transpose", "(self_traffic: true)"),
        ("Uniform", ""),
        ("Uniform", "(self_traffic: true)"),
        ("Uniform", "(among: Senders)"),
    ];
    let names: Vec<&str> = patterns.iter().map(|(name, _)| *name).collect();
    for entry in PATTERNS.entries {
        assert!(names.contains(&entry.name), "{} is not tried", entry.name);
    }
    let (small, large) = (star(16, Shape::Irregular), star(64, Shape::Irregular));
    let senders = [0, 1, 4, 5, 7, 9, 12, 15];
    for (name, text) in patterns {
        let graph = if name == "Taper64" { &large } else { &small };
        let hosts = graph.hosts().len() as u32;
        let pattern = build_on(graph, &senders, name, text).unwrap();
        for source in senders.map(HostId) {
            let expected = expected(&*pattern, source, hosts);
            let sum: f64 = expected.iter().sum();
            let sends = f64::from(u8::from(pattern.sends(source)));
            assert!(
                (sum - sends).abs() < 1e-12,
                "{name}{text}: {source:?} {sum}"
            );
            if !pattern.sends(source) {
                continue;
            }
            let counts = histogram(&*pattern, source.0, hosts, DRAWS);
            for (part, count) in expected.iter().zip(counts) {
                let mean = part * f64::from(DRAWS);
                // five standard deviations
                let most = 5.0 * (mean * (1.0 - part)).sqrt() + 1e-6;
                assert!(
                    (f64::from(count) - mean).abs() <= most,
                    "{name}{text}: {source:?} {expected:?}"
                );
            }
        }
    }
}
