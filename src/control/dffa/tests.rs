//! Traces worked out by hand.

use super::super::tests::{FLOW, begun, made};
use super::super::{Limit, Probe};
use super::*;

fn own(one_packet: bool) -> Dffa {
    match made(&format!(
        "Dffa(begin: \"50 cycles\", one_packet: {one_packet})"
    )) {
        Algorithm::Dffa(own) => own,
        other => panic!("{other:?}"),
    }
}

/// A flow that has joined.
fn joined(own: &Dffa, weight: u16) -> Filler {
    let (mut sender, mut actions) = begun(own, Facts { weight, ..FLOW });
    own.send(&mut sender, 5, Event::Started(8), &mut actions);
    let announcement = packet(ANNOUNCE, weight.into(), 0);
    assert_eq!(actions.send.unwrap().payload, announcement);
    sender
}

/// What is sent takes some links; returns what the reply leads to.
fn goes(own: &Dffa, links: &mut [&mut Link], sender: &mut Filler, mut sent: Payload) -> Actions {
    for link in links {
        own.visit(link, 0, &mut sent);
    }
    let mut actions = Actions::default();
    if let Some(reply) = own.received(&mut (), 0, sent) {
        own.returned(sender, 60, reply.payload, &mut actions);
    }
    actions
}

/// A limit, and a packet that is sent.
fn rises(share: (u64, u64), what: u128, (weight, level): (u64, u64)) -> Actions {
    Actions {
        limit: Some(Limit::Rate((share.0 << 32) / share.1)),
        log: true,
        send: Some(Probe {
            payload: packet(what, weight, level),
            after: 1,
        }),
        ..Actions::default()
    }
}

/// Flow a over both links, b of weight 2 over the first, c over the second: a and b have a third of the first link per
/// weight; that leaves two thirds of the second for c, which has a half of it first.
#[test]
fn shares_rise_when_others_are_held() {
    let own = own(true);
    let place = Place {
        pace: 1,
        drain: 1,
        from_host: false,
        to_host: false,
    };
    let (mut first, mut second) = (own.agent(place), own.agent(place));
    let (mut a, mut b, mut c) = (joined(&own, 1), joined(&own, 2), joined(&own, 1));
    let announced = |weight| packet(ANNOUNCE, weight, 0);
    let mut actions = goes(&own, &mut [&mut first, &mut second], &mut a, announced(1));
    let collect = packet(UPDATE, 1, 0);
    assert_eq!(actions.send.unwrap().payload, collect);
    goes(&own, &mut [&mut first], &mut b, announced(2));
    goes(&own, &mut [&mut second], &mut c, announced(1));
    assert_eq!((first.weight, second.weight), (3, 2));

    let (half, third) = (UNIT / 2, UNIT / 3);
    actions = goes(&own, &mut [&mut second], &mut c, collect);
    assert_eq!(actions, rises((1, 2), UPDATE, (1, half)));
    goes(&own, &mut [&mut second], &mut c, packet(UPDATE, 1, half));
    assert_eq!((second.free, second.full), (half, false));
    actions = goes(&own, &mut [&mut first, &mut second], &mut a, collect);
    assert_eq!(actions, rises((1, 3), UPDATE, (1, third)));
    actions = goes(&own, &mut [&mut first], &mut b, packet(UPDATE, 2, 0));
    assert_eq!(actions, rises((2, 3), UPDATE, (2, third)));
    // the first link is not full before it knows of both
    actions = goes(
        &own,
        &mut [&mut first, &mut second],
        &mut a,
        packet(UPDATE, 1, third),
    );
    assert_eq!(actions.send.unwrap().payload, collect);
    actions = goes(&own, &mut [&mut first], &mut b, packet(UPDATE, 2, third));
    assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 2, third));
    assert!(first.full && first.share() == Some(third));
    goes(&own, &mut [&mut first], &mut b, packet(INACTIVE, 2, third));
    assert_eq!((first.weight, first.share()), (1, Some(third)));
    actions = goes(&own, &mut [&mut first, &mut second], &mut a, collect);
    assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 1, third));
    goes(
        &own,
        &mut [&mut first, &mut second],
        &mut a,
        packet(INACTIVE, 1, third),
    );
    assert_eq!((second.weight, second.share()), (1, Some(2 * third)));
    actions = goes(&own, &mut [&mut second], &mut c, collect);
    assert_eq!(actions, rises((2, 3), UPDATE, (1, 2 * third - half)));
    actions = goes(
        &own,
        &mut [&mut second],
        &mut c,
        packet(UPDATE, 1, 2 * third - half),
    );
    assert_eq!(
        actions.send.unwrap().payload,
        packet(INACTIVE, 1, 2 * third)
    );
    assert!(a.is_done && b.is_done && c.is_done);
}

/// Two packets for a round: one collects, one tells.
#[test]
fn a_flow_alone_takes_two_packets() {
    let own = own(false);
    let mut link = own.agent(Place {
        pace: 2,
        drain: 2,
        from_host: false,
        to_host: false,
    });
    let mut sender = joined(&own, 1);
    let mut actions = Actions::default();
    let mut announced = packet(ANNOUNCE, 1, 0);
    own.visit(&mut link, 0, &mut announced);
    own.returned(&mut sender, 20, announced, &mut actions);
    assert_eq!((actions.send, actions.timer), (None, Some(Some(50))));
    let mut actions = Actions::default();
    own.send(&mut sender, 50, Event::Timer, &mut actions);
    let collect = packet(COLLECT, 1, 0);
    assert_eq!(actions.send.unwrap().payload, collect);
    let half = UNIT / 2;
    let mut actions = goes(&own, &mut [&mut link], &mut sender, collect);
    assert_eq!(actions, rises((1, 2), UPDATE, (1, half)));
    actions = goes(&own, &mut [&mut link], &mut sender, packet(UPDATE, 1, half));
    assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 1, half));
}
