//! Reservations by hand: what is set up, refused and torn down.

use super::super::tests::made;
use super::*;

/// A quarter of a link, of which half may be given away: one flow has room behind hosts, two at them.
fn quarter() -> Reservation {
    match made("Reservation(retry: \"70 cycles\", attempts: 2)") {
        Algorithm::Reservation(own) => own,
        other => panic!("{other:?}"),
    }
}

fn agents(own: &Reservation, from_host: &[bool]) -> Vec<Room> {
    let place = |&from_host| Place {
        pace: 1,
        drain: 1,
        from_host,
        to_host: false,
    };
    from_host.iter().map(|one| own.agent(place(one))).collect()
}

fn pass(own: &Reservation, agents: &mut [Room], mut payload: Payload) -> Payload {
    for agent in agents {
        own.visit(agent, 0, &mut payload);
    }
    payload
}

/// C14, A-6D: what is reserved stays within the share, and a refused request leaves all as it was once it is released.
#[test]
fn a_refused_request_restores_every_channel() {
    let own = quarter();
    let mut agents = agents(&own, &[true, false, false]);
    let before = agents.clone();
    // the last channel is taken by somebody else
    let elsewhere = pass(&own, &mut agents[2..], [FITS, 0, 0, 0]);
    assert_eq!(elsewhere, [FITS, 1, 0, 0]);
    let taken = agents.clone();
    let request = pass(&own, &mut agents, [FITS, 0, 0, 0]);
    assert_eq!(request, [REFUSED, 2, 0, 0]);
    assert_eq!(agents[0].left, ONE_FLIT_PER_CYCLE / 4);
    assert_eq!(agents[2], taken[2]);
    let release = pass(&own, &mut agents, [RELEASE, 2, 0, 0]);
    assert_eq!(release, [RELEASE, 0, 0, 0]);
    assert_eq!(agents, taken);
    assert_eq!(pass(&own, &mut agents[2..], [RELEASE, 1, 0, 0])[1], 0);
    assert_eq!(agents, before);
}

/// As link by link has it: at the host as much as the peak, elsewhere more.
#[test]
fn a_host_has_room_for_the_peak_itself() {
    let own = quarter();
    let mut agents = agents(&own, &[true, false]);
    for (answer, left) in [(FITS, 1), (FITS, 0), (REFUSED, 0)] {
        assert_eq!(pass(&own, &mut agents[..1], [FITS, 0, 0, 0])[0], answer);
        assert_eq!(agents[0].left, left * ONE_FLIT_PER_CYCLE / 4);
    }
    for (answer, left) in [(FITS, 1), (REFUSED, 1)] {
        assert_eq!(pass(&own, &mut agents[1..], [FITS, 0, 0, 0])[0], answer);
        assert_eq!(agents[1].left, left * ONE_FLIT_PER_CYCLE / 4);
    }
}

/// From half of the time to one and a half of it, another for every flow and request.
#[test]
fn times_between_requests_are_spread() {
    let own = quarter();
    let waits = (0..400).map(|flow| {
        let mut actions = Actions::default();
        let mut sender = Asking {
            flow,
            asked: 1,
            reserved: 0,
        };
        own.returned(&mut sender, 0, [REFUSED, 0, 0, 0], &mut actions);
        actions.timer.flatten().unwrap()
    });
    let waits: std::collections::BTreeSet<u64> = waits.collect();
    assert_eq!((waits.first(), waits.last()), (Some(&35), Some(&105)));
    assert!(waits.len() > 60);
}

#[test]
fn a_sender_asks_until_it_may_begin_or_has_asked_often_enough() {
    let own = quarter();
    let mut actions = Actions::default();
    let line = Line {
        pace: 1,
        largest: 8,
    };
    let mut sender = own.start(line, &mut actions);
    assert_eq!(actions.limit, Some(Limit::Rate(ONE_FLIT_PER_CYCLE / 4)));
    let facts = Facts {
        id: 3,
        start: 50,
        stop: None,
        flits: None,
        weight: 1,
    };
    own.begin(&mut sender, facts, &mut actions);
    assert_eq!(actions.timer, Some(Some(50)));
    let asks = |sender: &mut Asking, now| {
        let mut actions = Actions::default();
        own.send(sender, now, Event::Timer, &mut actions);
        actions
    };
    let request = Actions {
        log: true,
        send: Some(packet(FITS, 0)),
        ..Actions::default()
    };
    assert_eq!(asks(&mut sender, 50), request);
    let replied = |sender: &mut Asking, payload| {
        let mut actions = Actions::default();
        own.returned(sender, 90, payload, &mut actions);
        actions
    };
    let refused = replied(&mut sender, [REFUSED, 2, 0, 0]);
    assert_eq!(refused.send, Some(packet(RELEASE, 2)));
    let next = refused.timer.flatten().unwrap();
    assert!((90 + 35..=90 + 105).contains(&next), "{next}");
    assert_eq!(asks(&mut sender, next), request);
    // refused by the first channel: there is nothing to release; and that was the last one
    let refused = replied(&mut sender, [REFUSED, 0, 0, 0]);
    assert_eq!(refused, Actions::default());
    let granted = replied(&mut sender, [FITS, 3, 0, 0]);
    let begins = Actions {
        begin: true,
        ..Actions::default()
    };
    assert_eq!(granted, begins);
    let mut receiver = Counting::default();
    assert_eq!(own.received(&mut receiver, 0, [RELEASE, 0, 0, 0]), None);
    let reply = own.received(&mut receiver, 0, [REFUSED, 2, 0, 0]).unwrap();
    assert_eq!((reply.payload, reply.visits), ([REFUSED, 2, 0, 0], false));
}

/// A-6D: the last flit that arrives is answered, and the release that this wants leaves every channel as it was.
#[test]
fn a_flow_that_is_over_gives_back_what_it_has() {
    let own = quarter();
    let mut agents = agents(&own, &[true, false, false]);
    let before = agents.clone();
    let mut sender = Asking {
        flow: 0,
        asked: 1,
        reserved: 0,
    };
    let mut actions = Actions::default();
    let request = pass(&own, &mut agents, [FITS, 0, 0, 0]);
    own.returned(&mut sender, 9, request, &mut actions);
    assert!(actions.begin && agents != before);
    let arrives = |receiver: &mut Counting, flits| {
        let arrival = Arrival {
            now: 20,
            flits,
            is_marked: false,
            latency: 5,
        };
        own.receive(receiver, arrival)
    };
    let mut receiver = Counting::default();
    assert_eq!(arrives(&mut receiver, 4), None, "without an end");
    own.expect(&mut receiver, Some(10));
    assert_eq!(arrives(&mut receiver, 8), None);
    let answer = arrives(&mut receiver, 2).unwrap();
    let mut actions = Actions::default();
    own.send(&mut sender, 30, Event::Answered(answer.value), &mut actions);
    let release = Actions {
        send: Some(packet(RELEASE, 3)),
        ..Actions::default()
    };
    assert_eq!(actions, release);
    pass(&own, &mut agents, [RELEASE, 3, 0, 0]);
    assert_eq!(agents, before);
}
