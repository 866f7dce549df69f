use super::*;
use crate::control::tests::{FLOW, arrival, begun, made};
use crate::control::{Limit, Probe};

/// A period of 20 cycles, whatever they take.
fn own() -> Saa {
    of("Saa(period: \"20 cycles\")")
}

fn of(text: &str) -> Saa {
    match made(text) {
        Algorithm::Saa(own) => own,
        other => panic!("{other:?}"),
    }
}

fn sender(own: &Saa, weight: u16, flits: Option<u64>) -> Sharer {
    let flow = Facts {
        flits,
        weight,
        ..FLOW
    };
    let (sender, actions) = begun(own, flow);
    assert_eq!(actions, Actions::default(), "the first packet is free");
    sender
}

fn probe(payload: Payload) -> Probe {
    Probe { payload, after: 1 }
}

fn links(own: &Saa) -> [Link; 2] {
    [1, 3].map(|pace| {
        own.agent(Place {
            pace,
            drain: pace,
            from_host: false,
            to_host: false,
        })
    })
}

/// A packet over some links, and what the reply says.
fn over(own: &Saa, links: &mut [Link], mut payload: Payload) -> Payload {
    for link in links {
        own.visit(link, 6, &mut payload);
    }
    let reply = own.received(&mut (), 7, payload).unwrap();
    assert_eq!((reply.payload, reply.visits), (payload, false));
    payload
}

fn called(call: impl FnOnce(&mut Actions)) -> Actions {
    let mut actions = Actions::default();
    call(&mut actions);
    actions
}

/// Two links, the second at a third of the rate. Flow a of weight 2 goes over both, b of weight 1 over the second: that has
/// 2 * 3 = 6 at first and 9 with b, so a has a third and then two ninths of a flit per cycle.
#[test]
fn two_flows_share_a_slow_link() {
    let own = own();
    let (mut links, mut a) = (links(&own), sender(&own, 2, Some(24)));
    let joins = called(|actions| own.send(&mut a, 5, Event::Started(8), actions));
    assert_eq!(joins.limit, Some(Limit::Rate(0)));
    assert_eq!(joins.send, Some(probe(packet(ANNOUNCE, 2))));
    let first = over(&own, &mut links, packet(ANNOUNCE, 2));
    assert_eq!(unpacked(first, BITS), [ANNOUNCE, 2, 6]);

    let mut b = sender(&own, 1, None);
    called(|actions| own.send(&mut b, 7, Event::Started(8), actions));
    let announced = over(&own, &mut links[1..], packet(ANNOUNCE, 1));
    assert_eq!(unpacked(announced, BITS), [ANNOUNCE, 1, 9]);
    let knows = called(|actions| own.returned(&mut b, 9, announced, actions));
    assert_eq!(knows.limit, Some(Limit::Rate((1 << 32) / 9)));

    // the answer is old: a looks at once, and again, until nothing is new
    let knows = called(|actions| own.returned(&mut a, 10, first, actions));
    let expected = Actions {
        limit: Some(Limit::Rate((1 << 32) / 3)),
        log: true,
        send: Some(probe(packet(LOOK, 0))),
        ..Actions::default()
    };
    assert_eq!(knows, expected);
    let look = over(&own, &mut links, packet(LOOK, 0));
    assert_eq!(unpacked(look, BITS), [LOOK, 0, 9]);
    let falls = called(|actions| own.returned(&mut a, 12, look, actions));
    assert_eq!(falls.limit, Some(Limit::Rate((2 << 32) / 9)));
    assert_eq!(falls.send, Some(probe(packet(LOOK, 0))));
    let rests = called(|actions| own.returned(&mut a, 14, look, actions));
    let expected = Actions {
        timer: Some(Some(34)),
        ..Actions::default()
    };
    assert_eq!(rests, expected);
    let looks = called(|actions| own.send(&mut a, 34, Event::Timer, actions));
    assert_eq!(looks.send, Some(probe(packet(LOOK, 0))));
}

/// The last packet starts while a look is under way: the weight is taken away when that is back.
#[test]
fn a_flow_that_ends_takes_its_weight_away() {
    let own = own();
    let (mut links, mut a) = (links(&own), sender(&own, 2, Some(24)));
    called(|actions| own.send(&mut a, 5, Event::Started(8), actions));
    let first = over(&own, &mut links, packet(ANNOUNCE, 2));
    called(|actions| own.returned(&mut a, 10, first, actions));
    for flits in [8, 8] {
        let starts = called(|actions| own.send(&mut a, 35, Event::Started(flits), actions));
        assert_eq!(starts, Actions::default());
    }
    let look = over(&own, &mut links, packet(LOOK, 0));
    let ends = called(|actions| own.returned(&mut a, 36, look, actions));
    let mut end = packet(END, 2);
    assert_eq!((ends.send, ends.timer), (Some(probe(end)), None));
    assert_eq!(links.map(|link| link.weight), [2, 2]);
    for link in &mut links {
        own.visit(link, 37, &mut end);
    }
    assert_eq!(own.received(&mut (), 38, end), None);
    assert_eq!(links.map(|link| link.weight), [0, 0]);
}

/// A flow of weight 2 over both links, then one of weight 1 over the second. The first packet knows nothing and is not replied to; after
/// that the flow sends no look, and the packet that meets 9 where 6 is known is.
#[test]
fn packets_of_data_look() {
    let own = of("Saa(piggy_back: true)");
    assert!(own.carries());
    let mut links = links(&own);
    let (mut a, begins) = begun(&own, Facts { weight: 2, ..FLOW });
    assert_eq!(begins.carry, Some(data(0)));
    let told = |links: &mut [Link], mut payload: Payload| {
        for link in links {
            own.visit(link, 6, &mut payload);
        }
        let reply = own.carried(&mut (), arrival(7, false, 5), payload);
        (unpacked(payload, DATA_BITS), reply)
    };
    assert_eq!(told(&mut links, data(0)), ([DATA, 0, 0], None));
    called(|actions| own.send(&mut a, 5, Event::Started(8), actions));
    let first = over(&own, &mut links, packet(ANNOUNCE, 2));
    let knows = called(|actions| own.returned(&mut a, 10, first, actions));
    let expected = Actions {
        limit: Some(Limit::Rate((1 << 32) / 3)),
        log: true,
        carry: Some(data(6)),
        ..Actions::default()
    };
    assert_eq!(knows, expected);
    assert_eq!(told(&mut links, data(6)), ([DATA, 6, 6], None));

    over(&own, &mut links[1..], packet(ANNOUNCE, 1));
    let (met, reply) = told(&mut links, data(6));
    assert_eq!(met, [DATA, 6, 9]);
    let news = reply.unwrap().payload;
    assert_eq!(unpacked(news, BITS), [NEWS, 0, 9]);
    let falls = called(|actions| own.returned(&mut a, 14, news, actions));
    assert_eq!(
        (falls.limit, falls.carry),
        (Some(Limit::Rate((2 << 32) / 9)), Some(data(9)))
    );
    assert_eq!((falls.send, falls.timer), (None, None));
    let again = called(|actions| own.returned(&mut a, 15, news, actions));
    assert_eq!(again, Actions::default());
}

/// Links of more than 62 bits are told apart from none, not from each other.
#[test]
fn packets_of_data_have_62_bits() {
    let own = of("Saa(piggy_back: true)");
    let mut link = Link {
        weight: u64::MAX,
        pace: 3,
    };
    let mut payload = data(1 << 70);
    own.visit(&mut link, 1, &mut payload);
    assert_eq!(unpacked(payload, DATA_BITS), [DATA, MOST, MOST]);
    assert_eq!(own.carried(&mut (), arrival(2, false, 1), payload), None);
}
