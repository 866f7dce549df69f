//! When the first burst of an ON/OFF source comes: a moment meets a renewal process somewhere in its period, so the time to the
//! next begin of one is s with a probability in proportion to that of a period longer than s.

use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::traffic::process::PROCESSES;
use virtlane::traffic::{Gap, ProcessContext};

/// Chance that a length is at least j slots: it is 1 + floor(c X), X of Pareto's law with this shape from 1 on.
fn at_least(length: u64, scale: f64, shape: f64) -> f64 {
    match length {
        0 | 1 => 1.0,
        _ => (scale / (length - 1) as f64).powf(shape).min(1.0),
    }
}

/// Mean of a length: the sum of these chances, the far ones as an integral.
fn mean(scale: f64, shape: f64) -> f64 {
    const FAR: u64 = 2_000_000;
    let near: f64 = (1..=FAR).map(|length| at_least(length, scale, shape)).sum();
    let edge = FAR as f64 - 0.5;
    near + scale.powf(shape) * edge.powf(1.0 - shape) / (shape - 1.0)
}

/// Chance of a period of k + w + 2 slots to be longer than s, for every s below `most`.
fn longer([on, off]: [f64; 2], shape: f64, most: usize) -> Vec<f64> {
    let exactly = |length: u64, scale: f64| {
        at_least(length, scale, shape) - at_least(length + 1, scale, shape)
    };
    let chances = (0..most).map(|slots| {
        // not longer: some k and w with k + w + 2 <= s
        let pairs = (1..slots as u64).map(|k| {
            let rest = (slots as u64).saturating_sub(k + 2);
            let least = if rest == 0 {
                0.0
            } else {
                1.0 - at_least(rest + 1, off, shape)
            };
            exactly(k, on) * least
        });
        1.0 - pairs.sum::<f64>()
    });
    chances.collect()
}

/// One source with the constants of the source document, whose counter starts at 0; a slot is a cycle.
#[test]
fn a_source_starts_anywhere_in_its_period() {
    const DRAWS: u64 = 60_000;
    const MOST: usize = 200;
    for (shape, per_slot) in [(1.5, 0.25), (1.9, 0.1), (1.2, 0.2)] {
        let context = ProcessContext {
            mean_size: 1.0,
            cycles_per_flit: 1,
        };
        // an interval of 1 / load cycles, of which a slot is one
        let text = format!(
            "(load: {per_slot:?}, per_slot: {per_slot:?}, shape: {shape:?}, sources: 1, mode: Legacy)"
        );
        let build = PROCESSES.find("SelfSimilar").expect("it is there").build;
        let offered = build(Arguments { text: &text }, context);
        let offered = offered.unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
        let mut found = vec![0_u64; MOST];
        for id in 0..DRAWS {
            let mut draws = stream(8, Purpose::Arrivals, id);
            let mut state = offered.process.start(&mut draws);
            if let Gap::After(first) = offered.process.gap(&mut state, &mut draws)
                && let Some(count) = found.get_mut(first as usize)
            {
                *count += 1;
            }
        }
        let lengths = [1.0, 1.0 / per_slot - 1.0];
        let period = lengths.map(|scale| mean(scale, shape)).iter().sum::<f64>() + 2.0;
        let expected = longer(lengths, shape, MOST);
        let mut sums = [0.0; 2];
        for (slot, chance) in expected.iter().enumerate() {
            sums[0] += chance / period;
            sums[1] += found[slot] as f64 / DRAWS as f64;
            // 4.5 standard deviations of the share of so many draws
            let bound = 4.5 * (sums[0] * (1.0 - sums[0]) / DRAWS as f64).sqrt() + 1e-4;
            let difference = sums[1] - sums[0];
            assert!(
                difference.abs() < bound,
                "{text}: {:?} of all begin in the first {} slots, expected {:?} +- {bound}",
                sums[1],
                slot + 1,
                sums[0]
            );
        }
    }
}
