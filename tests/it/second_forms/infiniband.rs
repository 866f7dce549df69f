//! InfiniBand's congestion control: the index into the table, from the list of what has happened.

use super::{Dice, Machine, arrival, cases, control};
use virtlane::control::{Limit, Line};

/// The index, counted cycle by cycle.
struct Index {
    now: u64,
    minimum: u64,
    /// Cycles until the timer is over.
    left: Option<u64>,
}

#[test]
#[allow(clippy::too_many_lines, reason = "draws, then cycles")]
fn infiniband_is_what_its_rules_say_cycle_by_cycle() {
    for case in cases(300) {
        let mut dice = Dice::new(case);
        let limit = dice.between(1, 30);
        let minimum = dice.between(0, limit);
        let (increase, timer) = (dice.between(1, 6), dice.between(1, 50));
        let (most, shift) = (dice.between(0, 300), dice.between(0, 3));
        let trigger = dice.between(0, limit);
        let acknowledges = dice.chance(50);
        let is_level = dice.chance(50);
        let has_window = acknowledges && !is_level && dice.chance(60);
        let window = has_window.then(|| dice.between(1, 9));
        let text = format!(
            "timer: \"{timer} cycles\", table: Linear(most: {most}, shift: {shift}), increase: {increase}, limit: {limit}, \
             minimum: {minimum}, trigger: {trigger}, answers: {}, window: {}, per: {}",
            if acknowledges {
                "Acknowledgement"
            } else {
                "Cnp"
            },
            window.map_or(String::from("None"), |window| format!("Some({window})")),
            if is_level {
                "ServiceLevel"
            } else {
                "QueuePair"
            },
        );
        let algorithm = control("InfiniBand", &text, 4);
        // all flows of the class at a host have one index, or each its own
        assert_eq!(algorithm.is_shared(), is_level, "{text}");
        let line = Line {
            pace: 2,
            largest: 4,
        };
        let mut machine = Machine::new(&algorithm, line);
        let mut index = Index {
            now: minimum,
            minimum,
            left: None,
        };
        let (mut logged, mut answers) = (0, 0);
        let mut receiver = algorithm.receiver();
        for now in 0..2000 {
            let is_marked = dice.chance(4);
            let told = (is_marked || dice.chance(10))
                .then(|| algorithm.receive(&mut receiver, arrival(now, is_marked)))
                .flatten();
            assert!(is_marked || told.is_none() || acknowledges, "{text}");
            assert!(!is_marked || told.is_some(), "{text}");
            let is_reset = index.left == Some(1);
            index.left = index.left.map(|left| left - 1).filter(|&left| left > 0);
            if told.is_some() && is_marked {
                let before = index.now;
                index.now = (index.now + increase).min(limit);
                logged += u64::from(before < trigger && index.now >= trigger);
                // it runs on while the one of this cycle is not handled
                if index.left.is_none() && !is_reset && index.now > index.minimum {
                    index.left = Some(timer);
                }
            }
            answers += u64::from(told.is_some());
            if is_reset {
                index.now -= 1;
                index.left = (index.now > index.minimum).then_some(timer);
            }
            machine.cycle(now, None, told.map(|answer| answer.value));
            let multiplier = index.now * most / limit;
            let expected = match multiplier {
                0 => Limit::None,
                _ => Limit::Delay {
                    entry: multiplier as u16,
                    shift: shift as u8,
                },
            };
            let found = machine.wanted.limit.unwrap_or_default();
            assert_eq!(found, expected, "case {case}, cycle {now}: {text}");
        }
        assert_eq!(machine.logged, logged, "{text}");
        assert_eq!(
            machine.wanted.window,
            window.map(|window| window as u32),
            "{text}"
        );
        if window.is_some() {
            assert_eq!(machine.acknowledged, answers, "{text}");
        }
    }
}
