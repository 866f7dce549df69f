//! Probes, visits and control networks (D47 to D49): cycles worked out by hand, and results that depend on no shard.

use super::engine::{self, keep_the_laws};
use crate::random_fabric::{adaptive_case, case};
use std::path::Path;
use virtlane::control::erratic::Erratic;
use virtlane::control::probe::Place;
use virtlane::control::{Actions, Agent, Algorithm, Event, Facts, Line, Payload, Reply};
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::ids::HostId;
use virtlane::measure::Delivery;
use virtlane::plan::OutOfBand;
use virtlane::routing::Routes;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::{Document, Parts, Resolved};

/// Three switches in a row, a host at the first and one at the last; a flow from one to the other that starts long after
/// all that is looked at. A switch is a channel of 1 cycle and a delay of 1 away.
const ROW: &str = r#"Scenario(
    title: "row", seed: 1,
    fabric: (topology: EdgeList(links: [(0, 1), (1, 2)], hosts: [0, 2]), flit: "64 B",
             link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 1, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: UpDown(),
    traffic: [(name: "all", flows: [(pairs: Permutations(count: 1), start: "1000000 cycles")], size: "256 B",
               control: RequestReply(), answers: (size: "3 flits"))],
    phases: (warmup: "100 cycles", measure: "100 cycles"),
)"#;

/// First cycle of the flow.
const START: u64 = 1_000_000;
/// Cycles that are looked at.
const END: u64 = 400;

/// The row with one flow, whose control are these machines.
fn row(machines: Erratic, transport: Option<OutOfBand>) -> Resolved {
    let document = Document::parse("row.ron", ROW, Path::new("")).expect("a scenario");
    let mut resolved = document.resolve(&Parts::registered()).expect("it is right");
    resolved.plan.flows.retain(|flow| flow.source == HostId(0));
    assert_eq!(resolved.plan.flows.len(), 1);
    let control = resolved.plan.classes[0].control.as_mut();
    let control = control.expect("it has control");
    control.algorithm = Algorithm::Erratic(machines);
    control.transport = transport;
    resolved
}

fn simulation(resolved: &Resolved) -> Simulation {
    let options = Options {
        wanted: Wanted {
            deliveries: true,
            order: true,
        },
        shards: 2,
        ..Options::default()
    };
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    Simulation::new(plan, graph, &resolved.routes, options).expect("one thread starts")
}

/// The first probe of such a flow and the reply to it, by the machines alone.
#[derive(Debug)]
struct Story {
    /// Creation of the probe.
    created: u64,
    /// Its delivery.
    delivered: u64,
    reply: Reply,
}

/// What happens when the probe visits in these times after its creation, and is delivered at the last; `None` when the
/// machines do not send, reply and then keep still long enough.
fn story(machines: Erratic, visits: &[u64], takes: u64) -> Option<Story> {
    let algorithm = Algorithm::Erratic(machines);
    let line = Line {
        pace: 1,
        largest: 4,
    };
    let facts = Facts {
        id: 0,
        start: START,
        stop: None,
        flits: None,
        weight: 1,
    };
    let mut actions = Actions::default();
    let mut sender = algorithm.start(line, &mut actions);
    actions = Actions {
        send: None,
        ..actions
    };
    algorithm.begin(&mut sender, facts, &mut actions);
    let rings = actions.timer.flatten()?;
    let mut actions = Actions::default();
    algorithm.send(&mut sender, rings, Event::Timer, &mut actions);
    let sent = actions.send?;
    if actions.timer.flatten().is_some() {
        return None;
    }
    let created = rings + sent.after;
    let mut payload: Payload = sent.payload;
    for (number, after) in visits.iter().enumerate() {
        let place = Place {
            pace: 1,
            drain: 1,
            from_host: number == 0,
            to_host: number + 1 == visits.len(),
        };
        let mut agent: Agent = algorithm.agent(place)?;
        algorithm.visit(&mut agent, created + after, &mut payload);
    }
    assert_ne!(payload, sent.payload, "visits change what they see");
    let delivered = created + takes;
    let reply = algorithm.received(&mut algorithm.receiver(), delivered, payload)?;
    Some(Story {
        created,
        delivered,
        reply,
    })
}

/// Machines with such a story.
fn stories(visits: &[u64], takes: u64) -> Vec<(Erratic, Story)> {
    let machines = |seed| Erratic {
        seed,
        probes: 90,
        ..Erratic::default()
    };
    let all = (0..400).map(machines);
    let all = all.filter_map(|machines| Some((machines, story(machines, visits, takes)?)));
    let found: Vec<_> = all.take(25).collect();
    assert_eq!(found.len(), 25);
    found
}

/// Three flits: start in c, switches grant in c + 2, c + 4, c + 6, the third flit is there in c + 9. The reply is made as
/// the payload of a probe says that has been visited in just these cycles.
#[test]
fn a_probe_in_band_visits_where_it_starts_and_is_granted() {
    let mut kinds = [0; 2];
    for (machines, story) in stories(&[0, 2, 4, 6], 9) {
        let resolved = row(machines, None);
        let mut simulation = simulation(&resolved);
        simulation.run_until(END).expect("there are no messages");
        let records = simulation.each::<PacketRecords>();
        let mut all: Vec<Delivery> = records.flat_map(|own| own.deliveries().to_vec()).collect();
        all.sort_by_key(|delivery| delivery.created);
        let times = |source| {
            let from = move |delivery: &&Delivery| delivery.source == HostId(source);
            let first = all.iter().find(from).expect("it is delivered");
            assert_eq!((first.class, first.size, first.sequence), (1, 3, 0));
            // channels between switches
            assert_eq!((first.injected, first.hops), (first.created, 2));
            (first.created, first.delivered)
        };
        assert_eq!(times(0), (story.created, story.delivered), "{story:?}");
        let back = story.delivered + story.reply.after;
        assert_eq!(times(1), (back, back + 9), "{story:?}");
        let visits = 4 * (all.len() as u64);
        assert!(simulation.counts()["control.visits"] <= visits);
        kinds[usize::from(story.reply.visits)] += 1;
        if all.len() == 2 {
            let visits = if story.reply.visits { 8 } else { 4 };
            assert_eq!(simulation.counts()["control.visits"], visits);
        }
    }
    assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
}

/// Serialisation 3, processing 6, routing 10, propagation 2: visits 3 after the creation and then every 21 cycles, delivery
/// 2 after the last of three; the reply takes 3 + 2 + 3 * 21 too if it visits, 18 less if not.
#[test]
fn a_probe_out_of_band_visits_where_its_service_ends() {
    let times = OutOfBand {
        serialisation: 3,
        processing: 6,
        routing: 10,
        propagation: 2,
        broadcast: None,
    };
    for (machines, story) in stories(&[3, 24, 45, 66], 68) {
        let mut simulation = simulation(&row(machines, Some(times)));
        let back = story.delivered + story.reply.after;
        let takes = if story.reply.visits { 68 } else { 50 };
        let mut counts_before = |cycle: u64| {
            simulation.run_until(cycle).expect("there are no messages");
            let counts = simulation.counts();
            let of = |name: &str| counts[&format!("out_of_band.{name}")];
            let found = [of("created"), of("delivered"), of("cycles"), of("longest")];
            (found, counts["control.visits"])
        };
        // what a run up to a cycle has seen is all before it
        for (cycle, counts, visits) in [
            (story.created, [0, 0, 0, 0], 0),
            (story.created + 1, [1, 0, 0, 0], 0),
            (story.created + 3, [1, 0, 0, 0], 0),
            (story.created + 4, [1, 0, 0, 0], 1),
            (story.created + 25, [1, 0, 0, 0], 2),
            (story.created + 46, [1, 0, 0, 0], 3),
            (story.created + 67, [1, 0, 0, 0], 4),
            (story.delivered, [1, 0, 0, 0], 4),
            (story.delivered + 1, [1, 1, 68, 68], 4),
            (back, [1, 1, 68, 68], 4),
            (back + 1, [2, 1, 68, 68], 4),
            (
                back + takes,
                [2, 1, 68, 68],
                if takes == 68 { 8 } else { 4 },
            ),
            (
                back + takes + 1,
                [2, 2, 68 + takes, 68],
                if takes == 68 { 8 } else { 4 },
            ),
        ] {
            assert_eq!(counts_before(cycle), (counts, visits), "{cycle}: {story:?}");
        }
        let packets: u64 = simulation.records().map(|own| own.totals.created).sum();
        assert_eq!(packets, 0, "nothing of it is a packet");
    }
}

/// The row with one flow that starts in 100; with DFFA, calculated anew with every flow.
fn announced() -> Resolved {
    let text = ROW.replace(
        "RequestReply(), answers: (size: \"3 flits\")",
        "DffaRounds(), answers: (transport: OutOfBand(serialisation: \"3 cycles\", processing: \"6 cycles\", \
         routing: \"10 cycles\", propagation: \"2 cycles\", broadcast: (serialisation: \"4 cycles\", \
         processing: \"5 cycles\")))",
    );
    let text = text.replace("1000000 cycles", "100 cycles");
    let document = Document::parse("row.ron", &text, Path::new("")).expect("a scenario");
    let mut resolved = document.resolve(&Parts::registered()).expect("it is right");
    resolved.plan.flows.retain(|flow| flow.source == HostId(0));
    resolved
}

/// The first packet starts in 100, its announcement is created in 101, visits host and switches in 104, 125, 146 and 167, and
/// is delivered in 169. Host 1 broadcasts: its copy joins in 170, served to 174, and is heard at the last switch 2 + 10 + 5
/// later, in 191. That sends it on, served to 195, heard at the next one in 212.
/// In 104 host 0 has said another round: the flow asks in 105, behind the announcement, so is served at the first switch from
/// 125 to 134, and delivered in 178. The reply, created in 179, finds the copy being served to 195 at the last switch; the next
/// one serves it from 210 to 213 and then the copy to 217. That is heard at the first switch in 234, and by host 0 in 240.
#[test]
fn an_announcement_is_broadcast_from_the_end_of_its_way() {
    let resolved = announced();
    let mut simulation = simulation(&resolved);
    let mut counts_before = |cycle: u64| {
        simulation.run_until(cycle).expect("there are no messages");
        let counts = simulation.counts();
        [
            "out_of_band.created",
            "control.broadcasts",
            "control.broadcasts_heard",
        ]
        .map(|name| counts[name])
    };
    for (cycle, expected) in [
        (101, [0, 0, 0]),
        (102, [1, 0, 0]),
        (105, [1, 0, 0]),
        (106, [2, 0, 0]),
    ] {
        assert_eq!(counts_before(cycle), expected, "{cycle}");
    }
    for (cycle, joined, heard) in [
        (170, 0, 0),
        (171, 1, 0),
        (191, 1, 0),
        (192, 2, 1),
        (212, 2, 1),
        (213, 3, 2),
        (234, 3, 2),
        (235, 4, 3),
        (240, 4, 3),
        (241, 4, 4),
        (400, 4, 4),
    ] {
        let [_, found @ ..] = counts_before(cycle);
        assert_eq!(found, [joined, heard], "{cycle}");
    }
}

/// What a class apart does is the same for any shards, threads, windows, and over a checkpoint.
#[test]
fn probes_do_not_depend_on_shards() {
    let mut seen = [0; 4];
    for seed in 0..320 {
        let mut case = case(seed);
        // the laws are those of one plan
        case.fork = None;
        let routes = Routes::Tables(case.routing.clone());
        check(case, &routes, &mut seen);
        let mut case = adaptive_case(seed);
        case.fork = None;
        let routes = case.routing.routes();
        check(case, &routes, &mut seen);
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// `seen`: visits, deliveries out of band, packets of classes of answers, copies of broadcasts heard.
fn check<R: Clone>(case: crate::random_fabric::Case<R>, routes: &Routes, seen: &mut [u64; 4]) {
    if !case
        .plan
        .classes
        .iter()
        .any(|class| class.control.is_some())
    {
        return;
    }
    let found = engine::run(&case, routes);
    let mut alone = case.clone();
    alone.way.shards = 1;
    alone.way.threads = 1;
    alone.way.resume = None;
    alone.way.stops = Vec::new();
    let expected = engine::run(&alone, routes);
    let title = &case.plan.title;
    keeps_the_laws(&case, routes);
    assert_eq!(found.records.counts, expected.records.counts, "{title}");
    assert!(found.deliveries == expected.deliveries, "{title}");
    assert_eq!(found.flows, expected.flows, "{title}");
    let counts = &found.records.counts;
    seen[0] += counts.get("control.visits").copied().unwrap_or(0);
    seen[1] += counts.get("out_of_band.delivered").copied().unwrap_or(0);
    let first = case.plan.first_answers() as u16;
    let answers = found
        .deliveries
        .iter()
        .filter(|delivery| delivery.class >= first);
    seen[2] += answers.count() as u64;
    seen[3] += counts.get("control.broadcasts_heard").copied().unwrap_or(0);
}

/// Every now and then, with the mail of a window under way.
fn keeps_the_laws<R>(case: &crate::random_fabric::Case<R>, routes: &Routes) {
    let options = Options {
        shards: 3,
        ..Options::default()
    };
    let (plan, graph) = (&case.plan, &case.graph);
    let simulation = Simulation::new(plan, graph, routes, options);
    let mut simulation = simulation.expect("one thread starts");
    for cycle in (1..case.cycles.min(400)).step_by(23) {
        simulation.run_until(cycle).expect("readable messages");
        keep_the_laws(&simulation, plan, graph);
    }
}
