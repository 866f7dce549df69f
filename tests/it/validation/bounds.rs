//! Bounds from routes and patterns alone: runs just below them are sustained, runs above fall short, and the channel that
//! is named is the one that is full.

use super::note;
use crate::studies::Folder;
use std::path::Path;
use virtlane::ids::ChannelId;
use virtlane::routing::loads::bound::{Bound, Place};
use virtlane::run::Outcome;
use virtlane::scenario::bounds::Bounds;
use virtlane::scenario::{Document, Parts, Resolved};

/// A fabric and its traffic.
struct Case {
    name: &'static str,
    topology: &'static str,
    /// Further keys of `fabric`.
    fabric: &'static str,
    /// Senders and pattern of each class, and its load as a part of that of the first.
    classes: &'static [(&'static str, &'static str, f64)],
    /// The bound by hand, where that is short.
    expected: Option<f64>,
    place: Place,
}

const ALL: &str = "All";

/// Links of 40 Gbit/s where nothing else is said.
const CASES: [Case; 10] = [
    Case {
        name: "one slow host of ten on a switch",
        topology: r#"EdgeList(hosts: [0, 0, 0, (0, "4 Gbit/s"), 0, 0, 0, 0, 0, 0])"#,
        fabric: "",
        classes: &[(ALL, "Uniform", 1.0)],
        // nine hosts send a ninth each
        expected: Some(0.1),
        place: Place::Receiver,
    },
    Case {
        name: "tree of fast hosts and slow links",
        topology: r#"EdgeList(links: [(0, 2, "20 Gbit/s"), (1, 2, "20 Gbit/s"), (0, 3, "10 Gbit/s"), (1, 3, "10 Gbit/s")],
            hosts: [0, 0, 0, 1, 1, 1])"#,
        fabric: "",
        classes: &[(ALL, "Uniform", 1.0)],
        expected: None,
        place: Place::Inner,
    },
    Case {
        name: "irregular, every link another rate",
        topology: r#"EdgeList(links: [(0, 1), (1, 2, "20 Gbit/s"), (2, 3, "10 Gbit/s"), (3, 0), (1, 4, "8 Gbit/s"),
            (4, 2), (0, 5, "20 Gbit/s"), (5, 3)], hosts: [0, (0, "20 Gbit/s"), 1, 2, (2, "20 Gbit/s"), 3, 4, (5, "20 Gbit/s"), 5])"#,
        fabric: "",
        classes: &[(ALL, "Uniform", 1.0)],
        expected: None,
        place: Place::Inner,
    },
    Case {
        name: "hot spot on a tree",
        topology: "LeafSpine(leaves: 4, spines: 4, hosts_per_leaf: 4)",
        fabric: "",
        classes: &[(ALL, "HotSpot(targets: [5], fraction: 0.2)", 1.0)],
        // fifteen hosts send a fifth and a fifteenth of the rest each
        expected: Some(1.0 / (15.0 * 0.2 + 0.8)),
        place: Place::Receiver,
    },
    Case {
        name: "incast of hosts with two rates",
        topology: r#"EdgeList(links: [(0, 1), (0, 1)], hosts: [0, (0, "20 Gbit/s"), 0, 1, (1, "20 Gbit/s"), 1])"#,
        fabric: "",
        classes: &[(ALL, "AllTo(0)", 1.0)],
        // three fast hosts and two slow ones
        expected: Some(0.25),
        place: Place::Receiver,
    },
    Case {
        name: "random permutation on a ring with two rates",
        topology: r#"EdgeList(links: [(0, 1), (1, 2, "20 Gbit/s"), (2, 3), (3, 4, "20 Gbit/s"), (4, 5), (5, 0)], hosts_per_switch: 2)"#,
        fabric: "",
        classes: &[(ALL, "RandomPermutation", 1.0)],
        expected: None,
        place: Place::Inner,
    },
    Case {
        name: "uniform traffic and an incast together",
        topology: r#"EdgeList(links: [(0, 1), (1, 2), (0, 2)], hosts: [0, 0, (0, "20 Gbit/s"), 1, 1, 1, 2, 2, (2, "20 Gbit/s")])"#,
        fabric: "",
        classes: &[(ALL, "Uniform", 1.0), ("List([3, 6, 8])", "AllTo(1)", 0.5)],
        expected: None,
        place: Place::Receiver,
    },
    Case {
        name: "weighted pairs with slow links in the middle",
        topology: r#"EdgeList(links: [(0, 1, "10 Gbit/s"), (0, 2, "20 Gbit/s"), (2, 1)], hosts: [0, 0, 1, 1, 2])"#,
        fabric: "",
        classes: &[(
            "Range(0, 1)",
            "Pairs([(0, 2), (0, 2), (0, 4), (1, 4), (1, 3)])",
            1.0,
        )],
        // two thirds and a half of the rate over a link with a quarter of it
        expected: Some(0.25 / (2.0 / 3.0 + 0.5)),
        place: Place::Inner,
    },
    Case {
        name: "sinks at a quarter of the rate",
        topology: "LeafSpine(leaves: 3, spines: 3, hosts_per_leaf: 3)",
        fabric: r#"host: (sink_rate: "10 Gbit/s"),"#,
        classes: &[(ALL, "Uniform", 1.0)],
        expected: Some(0.25),
        place: Place::Sink,
    },
    Case {
        name: "slow way back, senders among themselves",
        topology: r#"EdgeList(links: [(0, 1, "40 Gbit/s", "/", "8 Gbit/s")], hosts: [0, 0, 0, 1, 1, 1])"#,
        fabric: "",
        classes: &[("List([0, 1, 3, 4])", "Uniform(among: Senders)", 1.0)],
        // two senders over it, two thirds of their packets
        expected: Some(0.2 / (4.0 / 3.0)),
        place: Place::Inner,
    },
];

impl Case {
    /// The scenario with this load of the first class. Queues per output and lanes, and inputs that serve several at a time: nothing
    /// but channels limits.
    fn text(&self, load: f64) -> String {
        let class = |(number, (hosts, pattern, part)): (usize, &(&str, &str, f64))| {
            format!(
                "(name: \"c{number}\", hosts: {hosts}, pattern: {pattern}, process: Bernoulli(load: {}), size: \"4 flits\", sl: [0, 1]),",
                load * part
            )
        };
        let classes: String = self.classes.iter().enumerate().map(class).collect();
        let Self {
            name,
            topology,
            fabric,
            ..
        } = self;
        format!(
            r#"Scenario(
                title: "{name}",
                fabric: (
                    topology: {topology},
                    link: (rate: "40 Gbit/s", latency: "1 cycles"),
                    switch: (lanes: 2, lane_capacity: "128 flits", queues: Voq, input_speedup: Unlimited, iterations: 4),
                    {fabric}
                ),
                routing: UpDown(),
                traffic: [{classes}],
                phases: (warmup: "30000 cycles", measure: "60000 cycles"),
            )"#
        )
    }

    fn resolve(&self, load: f64) -> Resolved {
        let document = Document::parse(self.name, &self.text(load), Path::new("."));
        let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
        resolved.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Bound of the load of the first class.
    fn bound(&self) -> Bound {
        let bounds = Bounds::of(&self.resolve(0.1));
        match (&bounds.together, &bounds.classes[..]) {
            (Some(together), _) => together.bound,
            (None, [(_, bound)]) => *bound,
            (None, _) => panic!("one class"),
        }
    }
}

/// Share of the measurement in which a channel, or the sink behind it, was busy.
fn busy(resolved: &Resolved, outcome: &Outcome, channel: ChannelId) -> f64 {
    let channels = resolved.layout.graph.channels();
    let ends = channels[channel.index()];
    let sink = resolved.plan.host.sink_cycles_per_flit.unwrap_or(1);
    let sink = if ends.to.host().is_some() { sink } else { 1 };
    let pace = ends.timing.cycles_per_flit.max(sink);
    outcome.records.channels.flits(channel) as f64 * f64::from(pace) / outcome.cycles.measure as f64
}

/// Flits created and delivered in the measurement.
fn flits(outcome: &Outcome) -> (f64, f64) {
    let classes = outcome.records.classes.iter();
    classes.fold((0.0, 0.0), |(created, delivered), class| {
        (
            created + class.created_flits as f64,
            delivered + class.delivered_flits as f64,
        )
    })
}

#[test]
fn runs_below_a_bound_are_sustained_and_runs_above_fill_the_channel_it_names() {
    for case in &CASES {
        let name = case.name;
        let bound = case.bound();
        note(&format!("{name}: {:.4}, {}", bound.load, bound.place));
        assert_eq!(bound.place, case.place, "{name}: {bound:?}");
        if let Some(expected) = case.expected {
            assert!((bound.load - expected).abs() < 1e-9, "{name}: {bound:?}");
        }
        let resolved = case.resolve(0.9 * bound.load);
        let outcome = super::run(&resolved);
        let (created, delivered) = flits(&outcome);
        assert!(
            (delivered / created - 1.0).abs() < 0.02,
            "{name}: {created} created, {delivered} delivered below the bound"
        );
        let resolved = case.resolve((1.15 * bound.load).min(1.0));
        let outcome = super::run(&resolved);
        let use_of = |channel| busy(&resolved, &outcome, channel);
        let full = use_of(bound.channel);
        let most = resolved.layout.graph.channel_ids().map(use_of);
        let most = most.fold(0.0, f64::max);
        assert!(
            full > 0.97 && most < full + 0.01,
            "{name}: {full} of {most}"
        );
        // what the channel is asked for beyond its rate stays behind
        let beyond = 0.15 / f64::from(bound.cycles_per_flit) * outcome.cycles.measure as f64;
        let (created, delivered) = flits(&outcome);
        assert!(
            created - delivered > 0.6 * beyond,
            "{name}: {created} created, {delivered} delivered above the bound, {beyond} too many"
        );
    }
}

/// The largest load the search takes for sustained may lie below the bound, never above it by more than its tolerance. A drawn
/// permutation has another bound in every run of a search.
#[test]
fn searches_end_at_the_bounds() {
    let is_drawn = |case: &Case| {
        case.classes
            .iter()
            .any(|class| class.1 == "RandomPermutation")
    };
    for case in CASES.iter().filter(|case| !is_drawn(case)) {
        let bound = case.bound().load;
        let folder = Folder::new();
        std::fs::write(folder.path("case.ron"), case.text(bound)).expect("writable");
        let resolution = (bound * 0.02).to_string();
        folder.succeeds(&[
            "saturate",
            "case.ron",
            "--out",
            "out",
            "--resolution",
            &resolution,
        ]);
        let text = std::fs::read_to_string(folder.path("out/saturation.json")).expect("a result");
        let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let sustained = found["points"][0]["sustained"].as_f64().expect("a load");
        let part = sustained / bound;
        note(&format!(
            "{}: bound {bound:.4}, sustained {sustained:.4}, {part:.3} of it",
            case.name
        ));
        assert!((0.93..=1.0205).contains(&part), "{}", case.name);
    }
}
