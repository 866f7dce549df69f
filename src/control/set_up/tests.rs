//! A flow from its set-up to its tear-down.

use super::super::tests::{self, arrival, begun};
use super::*;

const FLOW: Facts = Facts {
    start: 50,
    flits: Some(20),
    ..tests::FLOW
};

fn machines(release: Release) -> SetUp {
    SetUp {
        hops: 8,
        free: false,
        cache: 4,
        connections: Connections::Pairs,
        release,
    }
}

fn told(own: &SetUp, sender: &mut Source, event: Event) -> Actions {
    let mut actions = Actions::default();
    own.send(sender, 70, event, &mut actions);
    actions
}

fn returned(own: &SetUp, sender: &mut Source, payload: Payload) -> Actions {
    let mut actions = Actions::default();
    own.returned(sender, 90, payload, &mut actions);
    actions
}

fn sends(word: u32) -> Actions {
    Actions {
        send: Some(packet(word)),
        ..Actions::default()
    }
}

#[test]
fn a_flow_sets_up_begins_and_takes_down() {
    let own = machines(Release::Acknowledged);
    let (mut sender, actions) = begun(&own, FLOW);
    assert_eq!(actions.timer, Some(Some(50)));
    assert_eq!(told(&own, &mut sender, Event::Timer), sends(SET_UP));
    let begins = Actions {
        begin: true,
        log: true,
        ..Actions::default()
    };
    // whatever switches have left of the second word
    assert_eq!(returned(&own, &mut sender, [SET_UP, 5, 0, 0]), begins);
    assert_eq!(
        told(&own, &mut sender, Event::Answered(0)),
        sends(TEAR_DOWN)
    );
    let closes = Actions {
        close: true,
        log: true,
        ..Actions::default()
    };
    assert_eq!(returned(&own, &mut sender, [TEAR_DOWN, 0, 0, 0]), closes);
    assert!(!own.hears_starts());
}

#[test]
fn a_later_flow_of_a_connection_waits_for_its_turn() {
    let own = machines(Release::Acknowledged);
    let later = Facts {
        start: Facts::NO_START,
        ..FLOW
    };
    let (mut sender, actions) = begun(&own, later);
    assert_eq!(actions.timer, Some(None));
    assert_eq!(own.show(&sender), "waits for its turn");
    assert_eq!(told(&own, &mut sender, Event::Timer), sends(SET_UP));
}

/// Of a flow of 20 flits the third packet of 8, cut to 4, is the last.
#[test]
fn the_receiver_answers_the_packet_that_completes_the_flow() {
    let own = machines(Release::Acknowledged);
    let mut receiver = Sink::default();
    own.expect(&mut receiver, Some(20));
    let mut of = |flits| {
        let arrival = Arrival {
            flits,
            ..arrival(9, false, 5)
        };
        own.receive(&mut receiver, arrival)
    };
    let answer = Answer { value: 0, after: 1 };
    assert_eq!([8, 8, 4].map(&mut of), [None, None, Some(answer)]);
    let reply = own.received(&mut receiver, 9, [TEAR_DOWN, 7, 0, 0]);
    let expected = Reply {
        payload: [TEAR_DOWN, 7, 0, 0],
        after: 1,
        visits: false,
    };
    assert_eq!(reply, Some(expected));
}

#[test]
fn at_once_waits_for_nothing() {
    let own = machines(Release::AtOnce);
    let (mut sender, _) = begun(&own, FLOW);
    told(&own, &mut sender, Event::Timer);
    returned(&own, &mut sender, [SET_UP, 0, 0, 0]);
    assert!(own.hears_starts());
    let both = Actions {
        close: true,
        ..sends(TEAR_DOWN)
    };
    let events = [8, 8, 4].map(|flits| told(&own, &mut sender, Event::Started(flits)));
    assert_eq!(events, [Actions::default(), Actions::default(), both]);
    let mut receiver = Sink::default();
    own.expect(&mut receiver, Some(8));
    assert_eq!(own.receive(&mut receiver, arrival(9, false, 5)), None);
}
