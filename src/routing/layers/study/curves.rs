//! Layers against links on the random networks of the source (seed 002, figures 3 and 4, checks A7 to A13, A16, A17).
//!
//! Its averages are over 100 networks of every size and number of links. So are those of the ignored tests; the others
//! take the small sizes, and of the large ones the neighbourhood of the peak.

use super::*;
use crate::routing::layers::upper_bound;

/// Points from a tree to a complete network.
fn curve(switches: u32, granularity: Granularity, networks: u32) -> Vec<Point> {
    let counts = link_counts(switches).into_iter();
    counts
        .map(|links| point(switches, links, granularity, networks, 1))
        .collect()
}

/// Place of the largest average.
fn peak(points: &[Point]) -> usize {
    let places = 0..points.len();
    places
        .max_by(|&a, &b| points[a].mean.total_cmp(&points[b].mean))
        .unwrap()
}

/// A7: the published average at the peak, with its tolerance.
fn assert_peak(points: &[Point]) {
    let peak = &points[peak(points)];
    let (least, most) = match peak.switches {
        16 => (1.9 - 0.25, 1.9 + 0.25),
        32 => (2.8 - 0.4, 2.8 + 0.4),
        64 => (4.8 - 0.7, 4.8 + 0.7),
        128 => (9.1 - 1.2, 9.4 + 1.2),
        other => panic!("nothing is published for {other} switches"),
    };
    assert!((least..=most).contains(&peak.mean), "{peak:?}");
    // A8
    let ratio = f64::from(peak.links) / f64::from(peak.switches);
    let is_small = peak.switches < 32;
    assert!(is_small || (1.5..=2.5).contains(&ratio), "{peak:?}");
}

/// A10, A17 and the bound of half the switches at every point.
fn assert_bounds(points: &[Point]) {
    for point in points {
        assert!(point.most <= 12, "{point:?}");
        assert!(
            point.most as usize <= upper_bound(point.switches as usize),
            "{point:?}"
        );
    }
}

/// A11: the averages rise to the peak and fall behind it, but for some jitter.
fn assert_one_peak(points: &[Point]) {
    const JITTER: f64 = 0.15;
    let (rising, falling) = points.split_at(peak(points));
    let mut highest = 0.0f64;
    for point in rising {
        assert!(point.mean >= highest - JITTER, "{point:?} below {highest}");
        highest = highest.max(point.mean);
    }
    let mut lowest = f64::INFINITY;
    for point in falling {
        assert!(point.mean <= lowest + JITTER, "{point:?} above {lowest}");
        lowest = lowest.min(point.mean);
    }
}

/// A9: the switches per layer at the peak grow from 16 to 64 switches and fall by less than 5 % to 128.
fn assert_scaling(peaks: [f64; 4]) {
    let ratios = [16.0, 32.0, 64.0, 128.0].into_iter().zip(peaks);
    let ratios: Vec<f64> = ratios.map(|(switches, layers)| switches / layers).collect();
    assert!(ratios[..3].is_sorted_by(|a, b| a < b), "{ratios:?}");
    assert!(ratios[3] >= 0.95 * ratios[2], "{ratios:?}");
}

/// A12 and A13: what single pairs save against sources on the same networks.
fn assert_saving(sources: &[Point], pairs: &[Point]) {
    let both = || sources.iter().zip(pairs);
    for (source, pair) in both() {
        assert!(pair.mean <= source.mean + 0.1, "{pair:?} {source:?}");
        assert!(pair.most <= source.most, "{pair:?} {source:?}");
    }
    let savings = both().map(|(source, pair)| source.mean - pair.mean);
    let saving = savings.fold(f64::MIN, f64::max);
    let gap = both().map(|(source, pair)| source.most - pair.most).max();
    let (least, most, gaps) = match sources[0].switches {
        8 | 16 => (-0.1, 0.1, 0..=u32::MAX),
        32 => (0.3, 1.2, 1..=2),
        64 => (1.2, 2.5, 2..=4),
        other => panic!("nothing is published for {other} switches"),
    };
    let switches = sources[0].switches;
    assert!((least..=most).contains(&saving), "{switches}: {saving}");
    assert!(gaps.contains(&gap.unwrap()), "{switches}: {gap:?}");
}

/// Fewer networks from 32 switches on: averages of 100 are the ignored tests.
#[test]
fn curves_of_small_networks_are_as_published() {
    let mut peaks = [0.0; 2];
    for (switches, networks) in [(8, 100), (16, 100), (32, 40)] {
        let [sources, pairs] =
            [Granularity::Source, Granularity::Pair].map(|unit| curve(switches, unit, networks));
        assert_bounds(&sources);
        assert_one_peak(&sources);
        assert_saving(&sources, &pairs);
        if switches >= 16 {
            assert_peak(&sources);
            peaks[switches as usize / 32] = sources[peak(&sources)].mean;
        }
    }
    let near = |switches: u32, links: [u32; 3], networks| {
        let points = links.map(|links| point(switches, links, Granularity::Source, networks, 1));
        assert_peak(&points);
        assert_bounds(&points);
        points[peak(&points)].mean
    };
    let [small, large] = [near(64, [71, 119, 191], 60), near(128, [191, 255, 383], 12)];
    assert_scaling([peaks[0], peaks[1], small, large]);
}

/// A16: 100 networks of 64 switches and 128 links differ by at most 4 layers.
#[test]
fn networks_of_a_kind_need_nearly_the_same() {
    let found = point(64, 128, Granularity::Source, 100, 1);
    assert!(found.most - found.least <= 4, "{found:?}");
}

/// A7 to A11 and A17 as they stand: 100 networks of every size and number of links.
#[test]
#[ignore = "dev, 2 minutes: every number of links of four sizes, 100 networks each; scripts/on_demand.sh curves_of_a_hundred_networks_are_as_published"]
fn curves_of_a_hundred_networks_are_as_published() {
    let peaks = [16, 32, 64, 128].map(|switches| {
        let points = curve(switches, Granularity::Source, 100);
        assert_peak(&points);
        assert_bounds(&points);
        assert_one_peak(&points);
        points[peak(&points)].mean
    });
    assert_scaling(peaks);
}

/// A12 and A13 as they stand.
#[test]
#[ignore = "dev, 1 minute: single pairs as units, 100 networks each; scripts/on_demand.sh single_pairs_save_as_many_layers_as_published"]
fn single_pairs_save_as_many_layers_as_published() {
    for switches in [8, 16, 32, 64] {
        let [sources, pairs] =
            [Granularity::Source, Granularity::Pair].map(|unit| curve(switches, unit, 100));
        assert_saving(&sources, &pairs);
    }
}
