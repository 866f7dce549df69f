//! DCQCN by hand: rates and alpha after traces of events, and what is refused.

use super::super::tests::{arrival, made};
use super::*;
use crate::control::{Algorithm, ControlContext};
use crate::registry::Arguments;
use crate::units::Clock;

fn dcqcn(text: &str) -> Dcqcn {
    match made(text) {
        Algorithm::Dcqcn(own) => own,
        other => panic!("{other:?}"),
    }
}

const CNP: Event = Event::Answered(1);
const TIMER: Event = Event::Timer;
const SENT: Event = Event::Started(10);

/// Line rate 2^32 = 4096 M. g = 1/4, two stages of fast recovery, increases of 64 M and 256 M.
/// alpha in 1/4096: 4096, then 3/4 of it, plus 1024 with a CNP.
const TRACE: &str = "Dcqcn(gain: 2, alpha_timer: \"100 cycles\", timer: \"70 cycles\", bytes: \"20 flits\", stages: 2, \
                     increase: \"15625 kbit/s\", hyper_increase: \"62500 kbit/s\", least: \"15625 kbit/s\")";

/// 2^20.
const M: u64 = 1 << 20;

/// A packet that ends a stage in the cycle of the timer leaves it: it is called next (D41).
#[test]
fn a_timer_of_the_same_cycle_stays() {
    let own = dcqcn(TRACE);
    let line = Line {
        pace: 1,
        largest: 10,
    };
    let mut state = own.start(line, &mut Actions::default());
    let mut call = |now, event| {
        let mut actions = Actions::default();
        own.send(&mut state, now, event, &mut actions);
        actions
    };
    assert_eq!(call(100, CNP).timer, Some(Some(170)));
    assert_eq!(call(160, SENT), Actions::default());
    let ended = call(170, SENT);
    assert!(ended.limit.is_some() && ended.timer.is_none(), "{ended:?}");
    assert_eq!(call(170, TIMER).timer, Some(Some(200)));
}

/// By hand. The reference link has 1 Gbit/s, so 15.625 Mbit/s are 1/64 of it.
#[test]
fn twenty_events_go_as_the_paper_says() {
    let own = dcqcn(TRACE);
    let line = Line {
        pace: 1,
        largest: 10,
    };
    let mut actions = Actions::default();
    let mut state = own.start(line, &mut actions);
    assert_eq!(actions, Actions::default());
    // cycle, event, current and target [M], alpha [1/4096], timer
    let trace = [
        // free: bytes do not count
        (10, SENT, 4096, 4096, 4096, None),
        // alpha 1: half the rate; alpha 3072 + 1024; alpha at 200, stage at 170
        (100, CNP, 2048, 4096, 4096, Some(170)),
        (110, SENT, 2048, 4096, 4096, Some(170)),
        // 20 flits: stage b1, (4096 + 2048) / 2
        (130, SENT, 3072, 4096, 4096, Some(170)),
        // t1: fast recovery; next stage at 240
        (170, TIMER, 3584, 4096, 4096, Some(200)),
        // only alpha falls
        (200, TIMER, 3584, 4096, 3072, Some(240)),
        // T := 3584, cut by 3584 * 3072 / 8192 = 1344; alpha 2304 + 1024; alpha at 310, stage at 280
        (210, CNP, 2240, 3584, 3328, Some(280)),
        // t1: (3584 + 2240) / 2
        (280, TIMER, 2912, 3584, 3328, Some(310)),
        // alpha 3328 * 3 / 4; at 410
        (310, TIMER, 2912, 3584, 2496, Some(350)),
        // t2: (3584 + 2912) / 2; stage at 420
        (350, TIMER, 3248, 3584, 2496, Some(410)),
        (360, SENT, 3248, 3584, 2496, Some(410)),
        // b1: max(2, 1) is not above 2: (3584 + 3248) / 2
        (370, SENT, 3416, 3584, 2496, Some(410)),
        // alpha 2496 * 3 / 4; at 510
        (410, TIMER, 3416, 3584, 1872, Some(420)),
        // t3: additive, T 3648: (3648 + 3416) / 2; stage at 490
        (420, TIMER, 3532, 3648, 1872, Some(490)),
        (430, SENT, 3532, 3648, 1872, Some(490)),
        // b2: additive, T 3712: (3712 + 3532) / 2
        (440, SENT, 3622, 3712, 1872, Some(490)),
        (450, SENT, 3622, 3712, 1872, Some(490)),
        // b3: both above 2, hyper: T 3968: (3968 + 3622) / 2
        (460, SENT, 3795, 3968, 1872, Some(490)),
        // t4: hyper, T 4224 is above the line: (4096 + 3795) / 2 = 3945.5; stage at 560
        (490, TIMER, 0, 4096, 1872, Some(510)),
        // a CNP: T 3945.5, cut by 3945.5 * 1872 / 8192 = 901.608; alpha 1404 + 1024
        (500, CNP, 0, 0, 2428, Some(570)),
    ];
    for (now, event, current, target, alpha, timer) in trace {
        let mut actions = Actions::default();
        own.send(&mut state, now, event, &mut actions);
        let whole = |found: u64, expected: u64| expected == 0 || found == expected * M;
        assert!(whole(state.current, current), "{now}: {state:?}");
        assert!(whole(state.target, target), "{now}: {state:?}");
        assert_eq!(state.alpha, alpha * M, "{now}");
        if let Some(limit) = actions.limit {
            assert_eq!(limit, Limit::Rate(state.current), "{now}");
            assert_eq!(actions.timer, Some(timer), "{now}");
        }
        // a packet that ends no stage does nothing
        let is_quiet = event == SENT && ![130, 370, 440, 460].contains(&now);
        assert_eq!(actions == Actions::default(), is_quiet, "{now}");
    }
    // 3945.5 M = 7891 * 2^19; less floor(7891 * 2^19 * 1872 / 8192) = 7891 * 2^6 * 1872 = 945_404_928
    assert_eq!(state.target, 4_137_156_608);
    assert_eq!(state.current, 4_137_156_608 - 945_404_928);
}

/// Half the line twice as slow: L = 2^31; alpha that fell in the time without timers is made up.
#[test]
fn a_rate_that_is_back_frees_the_flow() {
    let own = dcqcn(
        "Dcqcn(gain: 1, alpha_timer: \"100 cycles\", timer: \"10 cycles\", bytes: \"1 GB\", least: \"1 Mbit/s\")",
    );
    let line = Line {
        pace: 2,
        largest: 10,
    };
    let mut state = own.start(line, &mut Actions::default());
    let mut actions = Actions::default();
    own.send(&mut state, 0, CNP, &mut actions);
    assert_eq!(actions.limit, Some(Limit::Rate(1 << 30)));
    // each stage halves what is missing of 2^31, 2^30 after the cut: 1 after 30 stages, rounded up to 0 in the 31st
    for stage in 1..=31_u64 {
        let mut now = stage * 10;
        let mut actions = Actions::default();
        own.send(&mut state, now, TIMER, &mut actions);
        let expected = match stage {
            31 => Limit::None,
            _ => Limit::Rate((1 << 31) - (1 << (30 - stage))),
        };
        assert_eq!(actions.limit, Some(expected), "{stage}");
        now += 10;
        let expected = if stage == 31 { None } else { Some(now) };
        assert_eq!(actions.timer, Some(expected), "{stage}");
    }
    // alpha fell in cycles 100, 200 and 300, and falls in 400 and 500 unseen: 2^32 / 2^5. Cut 2^31 * 2^-5 / 2
    let mut actions = Actions::default();
    own.send(&mut state, 550, CNP, &mut actions);
    let cut = (1 << 31) - (1 << 25);
    assert_eq!(actions.limit, Some(Limit::Rate(cut)));
    assert_eq!(actions.timer, Some(Some(560)));
    assert_eq!(state.alpha, (1 << 26) + (1 << 31));
}

#[test]
fn no_cut_goes_below_the_least_rate() {
    for (least, largest, expected) in [
        ("125 Mbit/s", 10, 1 << 29),
        // 2 * 65535 + 1 is more than 1 bit/s, ceil(4.29)
        ("1 bit/s", 65_535, 131_071),
    ] {
        let own = dcqcn(&format!("Dcqcn(least: \"{least}\")"));
        let line = Line { pace: 1, largest };
        let mut state = own.start(line, &mut Actions::default());
        for now in 1..100 {
            own.send(&mut state, now, CNP, &mut Actions::default());
        }
        assert_eq!(state.current, expected);
    }
}

#[test]
fn a_receiver_answers_once_per_interval() {
    let own = dcqcn("Dcqcn(interval: \"50 cycles\")");
    let mut next = 0;
    let cnp = Some(Answer { value: 1, after: 1 });
    for (now, is_marked, expected) in [
        (5, false, None),
        (10, true, cnp),
        (11, true, None),
        (59, true, None),
        (60, false, None),
        (70, true, cnp),
        (119, true, None),
        (120, true, cnp),
    ] {
        let answer = own.receive(&mut next, arrival(now, is_marked, 8));
        assert_eq!(answer, expected, "{now}");
    }
}

/// On links of ten times the rate a preset adds ten times as much, and counts ten times as far; at a tenth of the reference rate
/// a tenth of it.
#[test]
fn presets_go_with_the_rate_of_the_link() {
    let build = |text: &str, gbits: u64| {
        let clock = Clock {
            flit_bytes: 64,
            reference_rate: gbits * 1_000_000_000,
        };
        let context = ControlContext {
            clock,
            smallest: 1,
            largest: 16,
            answer: 1,
            peak: None,
            link: super::super::WHOLE_LINK,
        };
        match (ENTRY.build)(Arguments { text }, context) {
            Ok(Algorithm::Dcqcn(own)) => own,
            other => panic!("{text}: {other:?}"),
        }
    };
    // at a flit per cycle: increase and hyper increase as parts of the line, stage by bytes [flits]
    for (preset, gbits, parts, bytes) in [
        ("Paper", 40, [0.001, 0.001], 156_250),
        ("Paper", 400, [0.001, 0.001], 1_562_500),
        ("Ns3", 40, [0.001, 0.005], 4_687_500),
        ("Ns3", 10, [0.001, 0.005], 1_171_875),
        ("Production", 25, [0.0002, 0.002], u64::MAX),
        ("Production", 400, [0.0002, 0.002], u64::MAX),
    ] {
        let own = build(&format!("(preset: {preset})"), gbits);
        let found = [own.increase, own.hyper_increase].map(|amounts| amounts.at(WHOLE));
        let expected = parts.map(|part: f64| (part * WHOLE as f64).ceil() as u64);
        assert_eq!(
            (found, own.bytes.at(WHOLE)),
            (expected, bytes),
            "{preset} {gbits}"
        );
        let slow = [own.increase, own.hyper_increase].map(|amounts| amounts.at(WHOLE / 8));
        assert_eq!(slow, expected.map(|whole| whole.div_ceil(8)), "{preset}");
        assert_eq!(
            own.bytes.at(WHOLE / 8),
            bytes.checked_add(7).map_or(bytes, |more| more / 8)
        );
        assert_eq!(own.far(1), []);
    }
    // the paper's numbers, written for a link of ten times the rate, and for one that is not far
    let written = "(increase: \"40 Mbit/s\", bytes: \"10 MB\")";
    let names = |gbits, pace| {
        let far = build(written, gbits).far(pace);
        far.into_iter()
            .map(|(name, times)| (name, (times * 10.0).round()))
            .collect::<Vec<_>>()
    };
    let far = [("increase", 1.0), ("bytes", 1.0)];
    assert_eq!(names(400, 1), far);
    assert_eq!(names(100, 1), []);
    assert_eq!(names(400, 4), [], "a host with 100 Gbit/s");
    assert_eq!(names(5, 1).len(), 2);
}

/// alpha at first is what the first CNP cuts by.
#[test]
fn the_first_cut_is_by_the_first_alpha() {
    let own = dcqcn("Dcqcn(alpha: 0.5)");
    let line = Line {
        pace: 1,
        largest: 16,
    };
    let mut state = own.start(line, &mut Actions::default());
    own.send(&mut state, 9, CNP, &mut Actions::default());
    assert_eq!(state.current, WHOLE / 4 * 3);
}
