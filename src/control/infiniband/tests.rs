//! Hand traces of the index, its table, and presets.

use super::super::tests::{arrival, made};
use super::*;

const LINE: Line = Line {
    pace: 1,
    largest: 32,
};

fn infiniband(text: &str) -> InfiniBand {
    match made(text) {
        Algorithm::InfiniBand(own) => own,
        other => panic!("{other:?}"),
    }
}

/// Calls a sender in turn: cycle, event, and what it shall do.
fn follow(own: &InfiniBand, steps: &[(u64, Event, u16, Actions)]) {
    let mut sender = own.start(LINE, &mut Actions::default());
    for &(now, event, index, expected) in steps {
        let mut actions = Actions::default();
        own.send(&mut sender, now, event, &mut actions);
        assert_eq!((sender.index, actions), (index, expected), "cycle {now}");
    }
}

fn delay(entry: u16) -> Limit {
    Limit::Delay { entry, shift: 1 }
}

const BECN: Event = Event::Answered(1);
const NOTHING: Actions = Actions {
    limit: None,
    window: None,
    timer: None,
    acknowledge: None,
    log: false,
    send: None,
    begin: false,
    close: false,
    carry: None,
};

/// A limit, and the timer where it is set.
fn set(limit: Limit, timer: Option<u64>) -> Actions {
    Actions {
        limit: Some(limit),
        timer: timer.map(Some),
        ..NOTHING
    }
}

/// Entries 0, 2, 4, 6, 8: BECN adds 3 up to 4; one timer runs until the index is 0 again.
#[test]
fn the_index_rises_by_marks_and_falls_by_the_timer() {
    let own = infiniband(
        "InfiniBand(increase: 3, limit: 4, timer: \"100 cycles\", table: Linear(most: 8, shift: 1))",
    );
    follow(
        &own,
        &[
            (5, Event::Started(32), 0, NOTHING),
            (10, BECN, 3, set(delay(6), Some(110))),
            // the timer goes on
            (60, BECN, 4, set(delay(8), None)),
            (70, BECN, 4, NOTHING),
            (110, Event::Timer, 3, set(delay(6), Some(210))),
            (150, BECN, 4, set(delay(8), None)),
            (210, Event::Timer, 3, set(delay(6), Some(310))),
            (310, Event::Timer, 2, set(delay(4), Some(410))),
            (410, Event::Timer, 1, set(delay(2), Some(510))),
            // the last step: no limit, no timer
            (510, Event::Timer, 0, set(Limit::None, None)),
            (600, BECN, 3, set(delay(6), Some(700))),
        ],
    );
}

#[test]
fn the_index_does_not_fall_below_its_minimum() {
    let own = infiniband(
        "InfiniBand(limit: 4, minimum: 2, timer: \"100 cycles\", table: Linear(most: 8, shift: 1))",
    );
    let mut actions = Actions::default();
    own.start(LINE, &mut actions);
    assert_eq!(actions.limit, Some(delay(4)));
    follow(
        &own,
        &[
            (10, BECN, 3, set(delay(6), Some(110))),
            (110, Event::Timer, 2, set(delay(4), None)),
        ],
    );
}

/// 2 of 5 by each BECN: events are steps from below 4 to it, not steps above it, and not the way down.
#[test]
fn an_event_is_logged_when_the_index_reaches_the_trigger() {
    let own = infiniband(
        "InfiniBand(increase: 2, limit: 5, minimum: 1, trigger: 4, timer: \"100 cycles\", table: Linear(most: 5, shift: 1))",
    );
    let set = |index, timer, log| Actions {
        limit: Some(delay(index)),
        timer,
        log,
        ..NOTHING
    };
    follow(
        &own,
        &[
            (10, BECN, 3, set(3, Some(Some(110)), false)),
            (20, BECN, 5, set(5, None, true)),
            (30, BECN, 5, NOTHING),
            (110, Event::Timer, 4, set(4, Some(Some(210)), false)),
            (120, BECN, 5, set(5, None, false)),
            (210, Event::Timer, 4, set(4, Some(Some(310)), false)),
            (310, Event::Timer, 3, set(3, Some(Some(410)), false)),
            (320, BECN, 5, set(5, None, true)),
            (410, Event::Timer, 4, set(4, Some(Some(510)), false)),
            (510, Event::Timer, 3, set(3, Some(Some(610)), false)),
            (610, Event::Timer, 2, set(2, Some(Some(710)), false)),
            // exactly the trigger
            (620, BECN, 4, set(4, None, true)),
        ],
    );
    for (never, what) in [("trigger: 0", "none"), ("trigger: 6", "above the limit")] {
        let text = format!(
            "InfiniBand(increase: 5, limit: 5, {never}, timer: \"100 cycles\", table: Linear(most: 5, shift: 1))"
        );
        follow(
            &infiniband(&text),
            &[(10, BECN, 5, set(5, Some(Some(110)), false))],
        );
        assert!(!infiniband(&text).is_shared(), "{what}");
    }
}

#[test]
fn answers_are_for_marked_packets_or_for_all() {
    let table = "timer: \"1 us\", table: Entries([(0, 0)])";
    let cnp = infiniband(&format!("InfiniBand({table})"));
    assert_eq!(cnp.receive(&mut (), arrival(9, false, 4)), None);
    let marked = Answer { value: 1, after: 1 };
    assert_eq!(cnp.receive(&mut (), arrival(9, true, 4)), Some(marked));
    let all = infiniband(&format!(
        "InfiniBand({table}, answers: Acknowledgement, window: 6)"
    ));
    let plain = Answer { value: 0, after: 1 };
    assert_eq!(all.receive(&mut (), arrival(9, false, 4)), Some(plain));
    assert_eq!(all.receive(&mut (), arrival(9, true, 4)), Some(marked));
    let mut actions = Actions::default();
    all.start(LINE, &mut actions);
    assert_eq!(actions.window, Some(6));
    let acknowledged = Actions {
        acknowledge: Some(Acknowledge::one(1)),
        ..NOTHING
    };
    follow(&all, &[(20, Event::Answered(0), 0, acknowledged)]);
}

/// D30: the next packet goes n*s + floor(n*s / 2^h) * m after the last, so the share is 1 / (1 + m / 2^h).
#[test]
fn an_entry_leaves_the_share_of_its_closed_form() {
    for (shift, multiplier, share) in [
        (0, 1, (1, 2)),
        (2, 1, (4, 5)),
        (1, 3, (2, 5)),
        (3, 7, (8, 15)),
        (0, 16_383, (1, 16_384)),
    ] {
        let own = infiniband(&format!(
            "InfiniBand(timer: \"1 us\", table: Entries([(0, 0), ({shift}, {multiplier})]))"
        ));
        let mut sender = own.start(LINE, &mut Actions::default());
        let mut actions = Actions::default();
        own.send(&mut sender, 1, BECN, &mut actions);
        let Some(Limit::Delay { entry, shift }) = actions.limit else {
            panic!("{actions:?}")
        };
        let packet = 32_u64;
        let interval = packet + (packet >> shift) * u64::from(entry);
        assert_eq!(packet * share.1, interval * share.0, "{shift} {entry}");
    }
}

#[test]
fn a_linear_table_ends_at_its_largest_multiplier() {
    let own =
        infiniband("InfiniBand(timer: \"1 us\", limit: 3, table: Linear(most: 10, shift: 2))");
    assert_eq!(own.table, [(2, 0), (2, 3), (2, 6), (2, 10)]);
    let long = infiniband("InfiniBand(timer: \"1 us\", table: Linear(most: 254, shift: 0))");
    assert_eq!((long.table.len(), long.table[127]), (128, (0, 254)));
}

/// 32 flits: 14 bits and a shift of 3 hold up to 2047 packets, a shift of 0 up to 16383.
#[test]
fn a_table_for_the_longest_delay_has_the_largest_shift_that_fits() {
    for (cycles, shift, most) in [
        (4, 3, 1),
        (320, 3, 80),
        (323, 3, 80),
        (324, 3, 81),
        (65_532, 3, 16_383),
        (65_536, 2, 8_192),
        (131_072, 1, 8_192),
        (524_256, 0, 16_383),
    ] {
        let own = infiniband(&format!(
            "InfiniBand(timer: \"1 us\", limit: 1, table: Longest(\"{cycles} cycles\"))"
        ));
        assert_eq!(own.table, [(shift, 0), (shift, most)], "{cycles}");
    }
}

/// What a preset has counts unless it is written; what it leaves open has to be.
#[test]
fn presets_are_what_their_sources_state() {
    let opa = infiniband("InfiniBand(preset: OpaFm)");
    assert_eq!((opa.increase, opa.trigger, opa.minimum), (5, 8, 0));
    assert_eq!(opa.table.len(), 128);
    // 10.24 us and 8 us in cycles of 512 ns; 16 cycles are 4 eighths of 32
    assert_eq!((opa.timer, opa.table[127]), (20, (3, 4)));
    let own = infiniband("InfiniBand(preset: OpaFm, increase: 1, trigger: 0, limit: 15)");
    assert_eq!((own.increase, own.trigger, own.table.len()), (1, 0, 16));
    let manual = infiniband("InfiniBand(preset: IbCcConfig, table: Entries([(0, 0), (0, 4)]))");
    assert_eq!((manual.timer, manual.increase), (300, 1));
    assert_eq!(manual.table, [(0, 0), (0, 4)]);
}
