//! The thresholds of a verdict, each from both sides, on measurements made by hand.

use super::doubt::Remedy;
use super::window::Window;
use crate::ids::{HostId, VlId};
use crate::measure::Records;
use crate::measure::precision::BatchSeries;
use crate::measure::precision::series::Batch;
use crate::scenario::{Document, Parts, Resolved};
use std::path::Path;

/// Flits of a packet.
const SIZE: u64 = 16;

/// Two leaves of four hosts with one link to the spine each.
fn fabric() -> Resolved {
    let text = "Scenario(
        title: \"tree\",
        fabric: (topology: LeafSpine(leaves: 2, spines: 1, hosts_per_leaf: 4), flit: \"64 B\",
                 link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"), switch: (lane_capacity: \"64 flits\")),
        routing: FatTree(),
        traffic: [(name: \"all\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"16 flits\")],
        phases: (warmup: \"1000 cycles\", measure: \"10000 cycles\"),
    )";
    let document = Document::parse("tree.ron", text, Path::new("")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// What was counted, in packets of [`SIZE`] flits.
struct Counted {
    fabric: Resolved,
    records: Records,
    series: BatchSeries,
    cycles: u64,
}

impl Counted {
    /// So many cycles in which that many flits were created and delivered.
    fn new(cycles: u64, created: u64, delivered: u64) -> Self {
        let fabric = fabric();
        let graph = &fabric.layout.graph;
        let mut records = Records::new(1, graph.hosts().len(), graph.channels().len(), 16);
        let class = &mut records.classes[0];
        (class.created_packets, class.created_flits) = (created / SIZE, created);
        (class.delivered_packets, class.delivered_flits) = (delivered / SIZE, delivered);
        Self {
            fabric,
            records,
            series: BatchSeries::new(100),
            cycles,
        }
    }

    /// Every host was asked to take so many flits and took them; the fourth one took fewer.
    fn taken(mut self, asked: u64, missing: u64) -> Self {
        for host in &mut self.records.hosts {
            (host.destined_flits, host.received_flits) = (asked, asked);
        }
        self.records.hosts[3].received_flits -= missing;
        self
    }

    /// The link of the first leaf carried so many flits.
    fn carried(mut self, flits: u64) -> Self {
        let graph = &self.fabric.layout.graph;
        let (leaf, _) = graph.attachment(HostId(0)).expect("attached");
        let (port, ..) = graph.neighbors(leaf).next().expect("a link");
        let channel = graph.port_channel(leaf, port).expect("connected");
        self.records.channels.send(channel, VlId(0), flits);
        self
    }

    fn batches(mut self, batches: impl Iterator<Item = Batch>) -> Self {
        batches.for_each(|batch| self.series.push(batch));
        self
    }

    fn window(&self) -> Window<'_> {
        let fabric = (&self.fabric.layout.graph, &self.fabric.plan);
        let length = [1000, self.cycles];
        Window::new(
            fabric,
            (None, Vec::new()),
            &self.records,
            &self.series,
            length,
        )
    }

    fn overload(&self) -> Option<String> {
        self.window().overload()
    }

    fn doubt(&self) -> Option<String> {
        self.window().doubt().map(|doubt| doubt.words)
    }
}

/// A host that gets 10,000 flits in packets of 16 misses 400 by chance in a third of all cases; among eight of them one
/// misses 1450 (3.66 standard deviations) in one of 1000.
#[test]
fn a_host_falls_short_when_it_misses_more_than_chance_among_all_hosts() {
    let found = |missing| Counted::new(20_000, 80_000, 80_000).taken(10_000, missing);
    assert_eq!(found(1400).overload(), None);
    let text = found(1500).overload().expect("beyond chance");
    let expected = "of 10000 flits created for H3 8500 were delivered";
    assert!(text.starts_with(expected), "{text}");
}

/// Sources as regular as clocks: 1600 flits in packets of 16 within 6000 cycles, 300 of them on the way: 5 packets at either edge,
/// more or less 50 flits, and a packet at each.
#[test]
fn a_host_of_regular_sources_may_miss_what_is_under_way() {
    let batch = Batch {
        created_flits: 800,
        delivered_flits: 800,
        delivered: 50,
        network_latency: 50 * 300,
        ..Batch::default()
    };
    let found = |missing| {
        let counted = Counted::new(6000, 12_800, 12_800).taken(1600, missing);
        counted.batches((0..60).map(|_| batch))
    };
    assert_eq!(found(150).overload(), None);
    let text = found(260).overload().expect("beyond chance");
    assert!(text.starts_with("of 1600 flits created for H3"), "{text}");
}

/// Sixteen batches, changes that alternate by 20 about their mean: standard deviation 20.7, of the mean 5.2, Student's
/// quantile of 0.999 with 15 degrees of freedom 3.73.
#[test]
fn the_flits_present_grow_when_a_walk_without_drift_hardly_does_so() {
    let found = |mean: i64| {
        let batch = |number: i64| Batch {
            created_flits: 1000,
            delivered_flits: (1000 - mean + if number % 2 == 0 { 20 } else { -20 }) as u64,
            ..Batch::default()
        };
        let counted = Counted::new(1600, 16_000, 16_000 - 16 * mean as u64);
        counted.batches((0..16).map(batch))
    };
    assert_eq!(found(18).overload(), None);
    let text = found(21).overload().expect("drift");
    assert!(text.contains("flits present grow by 2.1 %"), "{text}");
}

/// A host is asked for a part of what its link carries; a count of 90,000 flits is off by 1200.
#[test]
fn a_host_may_be_full_from_99_percent_on_or_when_chance_may_hide_an_overload() {
    let found = |cycles: u64, part: f64| {
        let flits = (cycles as f64 * part) as u64;
        Counted::new(cycles, 8 * flits, 8 * flits).taken(flits, 0)
    };
    assert_eq!(found(100_000, 0.985).doubt(), None);
    let text = found(100_000, 0.992).doubt().expect("full");
    assert!(text.contains("asked to take 0.992"), "{text}");
    // 0.9 +- 0.038 of 10,000 cycles and +- 0.12 of 1000, 2.576 times that below 1.1
    assert_eq!(found(10_000, 0.9).doubt(), None);
    let text = found(1000, 0.9).doubt().expect("an overload by chance");
    assert!(text.contains("asked to take 0.900 +- 0.122"), "{text}");
}

/// What chance may hide in 1000 cycles it hides no more in the length that is told; a load known to be about all stays so.
#[test]
fn a_length_is_told_only_where_one_tells() {
    let found = |cycles: u64, part: f64| {
        let flits = (cycles as f64 * part) as u64;
        Counted::new(cycles, 8 * flits, 8 * flits).taken(flits, 0)
    };
    let remedy = |cycles: u64, part: f64| {
        let counted = found(cycles, part);
        counted.window().doubt().map(|doubt| doubt.remedy)
    };
    let Some(Remedy::Length(length, _)) = remedy(1000, 0.9) else {
        panic!("a length tells");
    };
    assert!((2000..4000).contains(&length), "{length}");
    assert!(remedy(length, 0.9).is_none());
    assert!(matches!(remedy(100_000, 0.992), Some(Remedy::Below(_))));
    let counted = |part: f64| remedy(100_000_000, part);
    assert!(matches!(counted(0.995), Some(Remedy::Never(_))));
    let words = counted(0.995).expect("full").to_string();
    assert!(
        words.starts_with("no length tells while that is 0.99 or more"),
        "{words}"
    );
}

#[test]
fn a_channel_may_be_full_from_98_percent_on() {
    let found = |part: f64| {
        let flits = (1e5 * part) as u64;
        Counted::new(100_000, flits, flits).carried(flits)
    };
    assert_eq!(found(0.975).doubt(), None);
    let text = found(0.985).doubt().expect("full");
    assert!(
        text.contains("port") && text.contains("carries 0.985"),
        "{text}"
    );
}

/// Of 10,000 flits 401 are chance, of 20,000 566. An overload of 10 % leaves 9.1 % behind, less 2.326 times that, at least 1.282 times.
#[test]
fn growth_is_doubted_when_an_overload_may_come_to_no_more() {
    let found = |created: u64, missing: u64| Counted::new(100_000, created, created - missing);
    assert_eq!(found(10_000, 500).doubt(), None);
    let text = found(10_000, 530).doubt().expect("growth");
    assert!(text.contains("flits present grow by 5.3 %"), "{text}");
    assert_eq!(found(20_000, 700).doubt(), None);
    assert!(found(20_000, 740).doubt().is_some(), "3.7 %");
}

/// Of 100,000 flits 1265 are chance, 2.576 times that is less than an overload of 10 % leaves behind; 2 % of 10 million matter,
/// and are more.
#[test]
fn growth_is_doubted_when_chance_does_not_explain_it() {
    let found = |created: u64, missing: u64| Counted::new(created, created, created - missing);
    assert_eq!(found(100_000, 3200).doubt(), None);
    let text = found(100_000, 3320).doubt().expect("growth");
    assert!(text.contains("flits present grow by 3.3 %"), "{text}");
    assert_eq!(found(10_000_000, 198_000).doubt(), None);
    assert!(found(10_000_000, 202_000).doubt().is_some(), "2 %");
}

/// What is missing and may be chance is told where it is more than 2 %.
#[test]
fn how_far_accepted_load_falls_short_is_told() {
    let told = |missing: u64| {
        let counted = Counted::new(10_000, 10_000, 10_000 - missing);
        counted.window().falls_short()
    };
    assert_eq!(told(190), None);
    let words = told(400).expect("it falls short");
    assert_eq!(words, "accepted load is 4.0 % below offered load");
}

/// The same drift, all of it dropped: nothing grows, and the loads say what was dropped.
#[test]
fn what_is_dropped_is_not_present() {
    let batch = |number: i64| Batch {
        created_flits: 1000,
        delivered_flits: (1000 - 21 + if number % 2 == 0 { 20 } else { -20 }) as u64,
        dropped_flits: 21,
        ..Batch::default()
    };
    let mut counted = Counted::new(1600, 16_000, 16_000 - 16 * 21).batches((0..16).map(batch));
    counted.records.classes[0].lost.window_flits = 16 * 21;
    assert_eq!(counted.overload(), None);
    assert_eq!(counted.window().present_growth(), 0);
    let loads = counted.window().loads();
    let expected = "flits present grow by 0.0 % of those created, 2.10 % of them dropped";
    assert!(loads.contains(expected), "{loads}");
}

/// Thirty-two levels that alternate by 400: the slope is off by 7.9 by chance, Student's quantile of 0.995 with 30
/// degrees of freedom is 2.75; the alternation itself takes 2.3 off. A rise below 5 % of the mean does not matter.
#[test]
fn a_trend_is_a_rise_that_matters_and_is_beyond_chance() {
    let found = |slope: f64, noise: f64| {
        let level = |number: u32| 1000.0 + slope * f64::from(number);
        let batch = |number: u32| Batch {
            present: (level(number)
                + if number.is_multiple_of(2) {
                    noise
                } else {
                    -noise
                }) as u64,
            ..Batch::default()
        };
        let counted = Counted::new(3200, 10_000, 10_000);
        counted.batches((0..32).map(batch))
    };
    assert_eq!(found(20.0, 400.0).doubt(), None);
    let text = found(28.0, 400.0).doubt().expect("a trend");
    assert!(
        text.starts_with("the number of packets present rises by"),
        "{text}"
    );
    assert_eq!(found(1.4, 0.0).doubt(), None, "4 %");
    assert!(found(2.0, 0.0).doubt().is_some(), "6 %");
}
