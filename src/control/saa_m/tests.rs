//! Traces worked out by hand.

use super::super::tests::{FLOW, begun, made};
use super::super::{Limit, Probe};
use super::*;

const ONE: u64 = ONE_FLIT_PER_CYCLE;

fn own() -> SaaM {
    match made("SaaM(period: \"20 cycles\", back_off: \"7 cycles\")") {
        Algorithm::SaaM(own) => own,
        other => panic!("{other:?}"),
    }
}

/// A flow of weight 1 that has joined and sent its announcement.
fn joined(own: &SaaM, id: u32, stop: Option<u64>) -> Claimant {
    let (mut sender, _) = begun(own, Facts { id, stop, ..FLOW });
    let mut actions = Actions::default();
    own.send(&mut sender, 5, Event::Started(8), &mut actions);
    assert_eq!(actions.limit, Some(Limit::Rate(0)));
    assert_eq!(actions.send.unwrap().payload, announcement());
    sender
}

fn links<const N: usize>(own: &SaaM) -> [Link; N] {
    [0; N].map(|_| {
        own.agent(Place {
            pace: 1,
            drain: 1,
            from_host: false,
            to_host: false,
        })
    })
}

/// What is sent takes all links; what comes back leads to the next call.
fn goes(own: &SaaM, links: &mut [Link], sender: &mut Claimant, sent: Payload) -> Actions {
    let mut payload = sent;
    for link in links {
        own.visit(link, 0, &mut payload);
    }
    let reply = own.received(&mut (), 0, payload).unwrap();
    let mut actions = Actions::default();
    own.returned(sender, 30, reply.payload, &mut actions);
    actions
}

fn announcement() -> Payload {
    packed([ANNOUNCE, 1, 0], ANNOUNCED)
}

/// A flow alone: announced, all of the link is its guarantee; told; looks; nothing is left.
#[test]
fn a_flow_alone_takes_all_and_rests() {
    let own = own();
    let mut links = links::<2>(&own);
    let mut sender = joined(&own, 1, None);
    let actions = goes(&own, &mut links, &mut sender, announcement());
    let update = change(UPDATE, (ONE, false), 0, 0);
    let expected = Actions {
        limit: Some(Limit::Rate(ONE)),
        log: true,
        send: Some(Probe {
            payload: update,
            after: 1,
        }),
        ..Actions::default()
    };
    assert_eq!(actions, expected);
    let actions = goes(&own, &mut links, &mut sender, update);
    assert_eq!(actions.send.unwrap().payload, look());
    assert_eq!(links.map(|link| link.free), [0; 2]);
    let actions = goes(&own, &mut links, &mut sender, look());
    let expected = Actions {
        timer: Some(Some(50)),
        ..Actions::default()
    };
    assert_eq!(actions, expected);
}

/// Another flow has joined, and told the link of its half before the first gave back: oversubscribed by a half, so it goes down to
/// weight / 2. That ends at its stop, with what it has, and the other one reserves the half that is left.
#[test]
fn a_flow_gives_back_and_the_other_claims() {
    let own = own();
    let mut links = links::<1>(&own);
    let (mut first, mut second) = (joined(&own, 1, Some(70)), joined(&own, 2, None));
    goes(&own, &mut links, &mut first, announcement());
    goes(
        &own,
        &mut links,
        &mut first,
        change(UPDATE, (ONE, false), 0, 0),
    );
    let actions = goes(&own, &mut links, &mut second, announcement());
    let half = change(UPDATE, (ONE / 2, false), 0, 0);
    assert_eq!(actions.send.unwrap().payload, half);
    goes(&own, &mut links, &mut second, half);
    assert_eq!((links[0].weight, links[0].free), (2, -(ONE as i64) / 2));

    let actions = goes(&own, &mut links, &mut first, look());
    let back = change(UPDATE, (ONE / 2, true), 0, 0);
    assert_eq!(actions.limit, Some(Limit::Rate(ONE / 2)));
    assert_eq!(actions.send.unwrap().payload, back);
    goes(&own, &mut links, &mut first, back);
    assert_eq!(links[0].free, 0);
    goes(&own, &mut links, &mut first, look());

    let mut actions = Actions::default();
    own.send(&mut first, 70, Event::Timer, &mut actions);
    let mut end = actions.send.unwrap().payload;
    assert_eq!(end, change(END, (ONE / 2, true), 0, 1));
    own.visit(&mut links[0], 72, &mut end);
    assert_eq!(own.received(&mut (), 73, end), None);
    assert_eq!((links[0].weight, links[0].free), (1, (ONE / 2) as i64));

    // weight 1: the guarantee is all of the link
    let actions = goes(&own, &mut links, &mut second, look());
    assert_eq!(actions.send.unwrap().payload, half);
}

/// A link has a quarter left for two that want it: the reservation that comes second fails and is taken back, on all links.
#[test]
fn a_reservation_that_fails_is_taken_back() {
    let own = own();
    let mut links = links::<2>(&own);
    let quarter = ONE / 4;
    let mut sender = joined(&own, 9, None);
    goes(&own, &mut links, &mut sender, announcement());
    sender.flow.rate = quarter;
    // four flows, three quarters taken
    for link in &mut links {
        link.weight = 4;
        link.free = quarter as i64;
    }
    let actions = goes(&own, &mut links, &mut sender, look());
    let reserve = change(RESERVE, (0, false), quarter, 0);
    assert_eq!(actions.send.unwrap().payload, reserve);
    // another one is first on the second link
    let mut first = reserve;
    own.visit(&mut links[1], 0, &mut first);
    let actions = goes(&own, &mut links, &mut sender, reserve);
    let cancel = change(CANCEL, (0, false), quarter, 0);
    assert_eq!(actions.send.unwrap().payload, cancel);
    assert_eq!(
        links.map(|link| link.reserved),
        [quarter, 2 * quarter].map(|all| all as i64)
    );
    let actions = goes(&own, &mut links, &mut sender, cancel);
    assert_eq!(links.map(|link| link.reserved), [0, quarter as i64]);
    let next = actions.timer.flatten().unwrap();
    assert!((31..=37).contains(&next), "{next}");
    // it looks, and nothing is to be had: what is reserved does not count as left
    let mut actions = Actions::default();
    own.send(&mut sender, next, Event::Timer, &mut actions);
    assert_eq!(actions.send.unwrap().payload, look());
    let actions = goes(&own, &mut links, &mut sender, look());
    assert_eq!((actions.send, actions.timer), (None, Some(Some(50))));
    // the other one takes a half of it and gives the rest back
    own.visit(
        &mut links[1],
        0,
        &mut change(UPDATE, (quarter / 2, false), quarter, 0),
    );
    assert_eq!((links[1].free, links[1].reserved), (quarter as i64 / 2, 0));
    let actions = goes(&own, &mut links, &mut sender, look());
    let reserve = change(RESERVE, (0, false), quarter / 2, 0);
    assert_eq!(actions.send.unwrap().payload, reserve);
    let actions = goes(&own, &mut links, &mut sender, reserve);
    assert_eq!(actions.limit, Some(Limit::Rate(quarter + quarter / 2)));
    let update = change(UPDATE, (quarter / 2, false), quarter / 2, 0);
    assert_eq!(actions.send.unwrap().payload, update);
}

#[test]
fn times_after_failures_are_spread() {
    let own = own();
    let all: std::collections::BTreeSet<u64> = (0..100).map(|id| own.waits(id, 1)).collect();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
}
