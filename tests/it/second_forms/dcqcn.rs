//! DCQCN cycle by cycle: every clock counts on its own from the last notification, limited or not.

use super::{CLOCK, Dice, Machine, arrival, cases, control};
use virtlane::control::{Limit, Line, Receiver};

/// Parameters, in cycles, flits and 2^-32 flits per cycle.
struct Rules {
    gain: u32,
    alpha_timer: u64,
    timer: u64,
    bytes: u64,
    stages: u64,
    increase: u128,
    hyper: u128,
    least: u128,
    line: u128,
}

/// What is known since the last notification.
struct Plain {
    current: u128,
    target: u128,
    alpha: u128,
    /// Cycle of the last notification, stages by time and by bytes since, bytes since.
    last: Option<u64>,
    by_time: u64,
    by_bytes: u64,
    sent: u64,
}

const ONE: u128 = 1 << 32;

impl Plain {
    fn is_free(&self, rules: &Rules) -> bool {
        self.current == rules.line
    }

    /// One stage, which has been counted.
    fn stage(&mut self, rules: &Rules) {
        let above = [self.by_time, self.by_bytes].map(|count| count > rules.stages);
        self.target += match above {
            [true, true] => rules.hyper,
            [false, false] => 0,
            _ => rules.increase,
        };
        self.target = self.target.min(rules.line);
        self.current = (self.target + self.current).div_ceil(2);
    }

    fn cycle(&mut self, rules: &Rules, now: u64, started: Option<u16>, is_notified: bool) {
        let since = self.last.map(|last| now - last);
        if let Some(flits) = started.filter(|_| !self.is_free(rules)) {
            self.sent += u64::from(flits);
            if self.sent >= rules.bytes {
                self.sent %= rules.bytes;
                self.by_bytes += 1;
                self.stage(rules);
            }
        }
        if is_notified {
            self.target = self.current;
            let cut = self.current * self.alpha / (2 * ONE);
            self.current = (self.current - cut).max(rules.least).min(rules.line);
            self.alpha = self.alpha - self.alpha / (1 << rules.gain) + ONE / (1 << rules.gain);
            self.last = Some(now);
            (self.by_time, self.by_bytes, self.sent) = (0, 0, 0);
            return;
        }
        let Some(since) = since.filter(|&since| since > 0) else {
            return;
        };
        if since.is_multiple_of(rules.alpha_timer) {
            self.alpha -= self.alpha / (1 << rules.gain);
        }
        if since.is_multiple_of(rules.timer) && !self.is_free(rules) {
            self.by_time += 1;
            self.stage(rules);
        }
    }
}

/// A rate in 2^-32 flits per cycle, rounded up.
fn rate(mbit: u64) -> u128 {
    let reference = u128::from(CLOCK.reference_rate);
    (u128::from(mbit) * 1_000_000 * ONE).div_ceil(reference)
}

#[test]
#[allow(clippy::too_many_lines, reason = "draws, then cycles")]
fn dcqcn_is_what_its_rules_say_cycle_by_cycle() {
    let (mut freed, mut late) = (0, 0);
    for case in cases(400) {
        let mut dice = Dice::new(case);
        let (largest, pace) = (dice.between(1, 12), dice.between(1, 5));
        let [alpha_timer, timer] = [60, 60].map(|most| dice.between(1, most));
        let (gain, bytes) = (dice.between(1, 9), dice.between(1, 30));
        let (stages, increase) = (dice.between(0, 4), dice.between(1, 200));
        let hyper = dice.chance(50).then(|| dice.between(1, 400));
        let least = dice.between(1, 60);
        let text = format!(
            "gain: {gain}, alpha_timer: \"{alpha_timer} cycles\", timer: \"{timer} cycles\", bytes: \"{bytes} flits\", \
             stages: {stages}, increase: \"{increase} Mbit/s\", least: \"{least} Mbit/s\"{}",
            hyper.map_or(String::new(), |rate| format!(
                ", hyper_increase: Some(\"{rate} Mbit/s\")"
            ))
        );
        let line = ONE.div_ceil(u128::from(pace));
        let rules = Rules {
            gain: gain as u32,
            alpha_timer,
            timer,
            bytes,
            stages,
            increase: rate(increase),
            hyper: rate(hyper.unwrap_or(increase)),
            least: rate(least).max(2 * u128::from(largest) + 1).min(line),
            line,
        };
        let mut plain = Plain {
            current: line,
            target: line,
            alpha: ONE,
            last: None,
            by_time: 0,
            by_bytes: 0,
            sent: 0,
        };
        let algorithm = control("Dcqcn", &text, largest as u16);
        let start = Line {
            pace: pace as u16,
            largest: largest as u16,
        };
        let mut machine = Machine::new(&algorithm, start);
        let often = [1, 3, 10][dice.between(0, 2) as usize];
        for now in 0..3000 {
            let started = dice.chance(20).then(|| dice.between(1, largest) as u16);
            // rare enough for some to come to a sender that is free again
            let is_notified = dice.between(1, 400) <= often;
            let was_free = plain.is_free(&rules);
            late += u64::from(is_notified && was_free && plain.last.is_some());
            plain.cycle(&rules, now, started, is_notified);
            machine.cycle(now, started, is_notified.then_some(0));
            freed += u64::from(!was_free && plain.is_free(&rules));
            let expected = if plain.is_free(&rules) {
                Limit::None
            } else {
                Limit::Rate(plain.current as u64)
            };
            let found = machine.wanted.limit.unwrap_or_default();
            assert_eq!(
                found, expected,
                "case {case}, cycle {now}: {text}, pace {pace}"
            );
        }
    }
    assert!(freed > 0 && late > 0, "{freed} {late}");
}

#[test]
fn a_receiver_notifies_once_an_interval() {
    for case in cases(100) {
        let mut dice = Dice::new(case);
        let interval = dice.between(1, 40);
        let algorithm = control("Dcqcn", &format!("interval: \"{interval} cycles\""), 4);
        let mut receiver: Receiver = algorithm.receiver();
        let mut told: Vec<u64> = Vec::new();
        for now in 0..400 {
            let is_marked = dice.chance(30);
            let answer = algorithm.receive(&mut receiver, arrival(now, is_marked));
            let is_due = told.iter().all(|then| now - then >= interval);
            assert_eq!(answer.is_some(), is_marked && is_due, "case {case}, {now}");
            if let Some(answer) = answer {
                assert_eq!(answer.after, 1);
                told.push(now);
            }
        }
    }
}
