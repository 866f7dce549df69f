//! Tables on any lane: every packet followed over every lane, against the proof of the classes.

use super::*;
use crate::routing::Tables;
use crate::routing::adaptive::AnyLane;
use std::path::Path;

const TEXTS: [&str; 6] = [
    "DimensionOrder(lanes: Any)",
    "DimensionOrder(lanes: Any, dateline: Hop)",
    "DimensionOrder(lanes: Any, dateline: None)",
    "DirectionOrder(lanes: Any)",
    "FatTree(lanes: Any)",
    "UpDown(lanes: Any)",
];

fn any_lane(adaptive: &Adaptive) -> &AnyLane {
    adaptive.routing.any_lane().unwrap()
}

/// The tables that the text gives without `lanes: Any`.
fn fixed(graph: &Graph, text: &str, budget: LaneBudget) -> Tables {
    let (name, _) = text.split_once('(').unwrap();
    let text = text[name.len()..].replace("lanes: Any, ", "");
    let text = text.replace("lanes: Any", "");
    let engine = (ENGINES.find(name).unwrap().build)(Arguments { text: &text }).unwrap();
    let routes = engine.route(graph, budget, 0, Path::new("")).unwrap();
    routes.tables().unwrap().clone()
}

/// Waits of (channel, lane) for (channel, lane) that packets of all pairs may have, and how many lanes of every channel
/// are taken.
fn waits(graph: &Graph, adaptive: &Adaptive) -> BTreeMap<Vertex, BTreeSet<Vertex>> {
    let width = adaptive.routing.width();
    let mut after: BTreeMap<Vertex, BTreeSet<Vertex>> = BTreeMap::new();
    let mut dice = Dice(stream(7, Purpose::Adaptive, 0).into());
    let mut found = Vec::new();
    for source in graph.host_ids() {
        for destination in graph.host_ids().filter(|&host| host != source) {
            let (mut at, _) = graph.attachment(source).unwrap();
            let course = adaptive.routing.depart(at, destination, &mut dice);
            let injection = graph.host_channel(source);
            let mut held: Vec<Vertex> = (0..width).map(|lane| (injection, lane)).collect();
            loop {
                assert_eq!(adaptive.routing.advance(at, destination, course), course);
                let routing = &adaptive.routing;
                routing.candidates(at, destination, course, &mut found);
                let channel = graph.port_channel(at, found[0].port).unwrap();
                assert!(
                    found
                        .iter()
                        .all(|way| way.port == found[0].port && way.escape)
                );
                let next: BTreeSet<Vertex> = found.iter().map(|way| (channel, way.lane)).collect();
                assert_eq!(next.len(), found.len());
                for vertex in &held {
                    after.entry(*vertex).or_default().extend(&next);
                }
                held = next.into_iter().collect();
                match graph.channel(channel).to.switch() {
                    Some(switch) => at = switch,
                    None => break,
                }
            }
            let ejection = held.last().unwrap().0;
            assert_eq!(graph.channel(ejection).to.host(), Some(destination));
            assert_eq!(held.len(), usize::from(width));
        }
    }
    after
}

#[test]
fn a_circle_of_lanes_is_a_circle_of_classes() {
    let mut circles = 0;
    for graph in graphs() {
        for text in TEXTS {
            let adaptive = match adapt(&graph, text) {
                Err(RoutingError::Unsupported { .. }) => continue,
                adaptive => adaptive.unwrap(),
            };
            let proof = prove(&graph, &adaptive).unwrap_or_else(|error| panic!("{text}: {error}"));
            let after = waits(&graph, &adaptive);
            assert_eq!(is_acyclic(after), proof.acyclic, "{text}");
            circles += u32::from(!proof.acyclic);
            let hosts = graph.hosts().len() as u64;
            assert_eq!(proof.reachable_pairs, hosts * (hosts - 1), "{text}");
        }
    }
    assert!(circles > 0, "rings without datelines have some");
}

/// The same ports as on fixed lanes, and every lane of its class.
#[test]
fn ports_and_classes_are_those_of_the_tables() {
    let torus = grid(&[5, 5], true, 2);
    for (lanes, service_levels, width, classes) in [
        (4, 1, 4, [0..2, 2..4]),
        (5, 1, 5, [0..2, 2..5]),
        (8, 3, 2, [0..1, 1..2]),
    ] {
        let budget = LaneBudget {
            lanes,
            service_levels,
        };
        let tables = fixed(&torus, "DimensionOrder()", budget);
        let adaptive = adapt_with(&torus, "DimensionOrder(lanes: Any)", budget).unwrap();
        let any = any_lane(&adaptive);
        assert_eq!((any.width(), any.classes()), (width, 2));
        assert_eq!(any.tables().next, tables.next);
        let (mut found, mut taken) = (Vec::new(), BTreeSet::new());
        for source in torus.host_ids() {
            for destination in torus.host_ids().filter(|&host| host != source) {
                let path = tables.path(&torus, source, destination, SlId(0)).unwrap();
                let (first, _) = torus.attachment(source).unwrap();
                let course = any.depart(
                    first,
                    destination,
                    &mut Dice(stream(1, Purpose::Adaptive, 0).into()),
                );
                for hop in path.windows(2) {
                    let at = torus.channel(hop[0].0).to.switch().unwrap();
                    any.candidates(at, destination, course, &mut found);
                    let (channel, lane) = hop[1];
                    let class = &classes[usize::from(lane.0)];
                    let to_host = torus.channel(channel).to.host().is_some();
                    let expected = if to_host { 0..width } else { class.clone() };
                    assert!(found.iter().map(|way| way.lane).eq(expected));
                    assert_eq!(torus.port_channel(at, found[0].port), Some(channel));
                    taken.extend(found.iter().map(|way| (channel, way.lane)));
                }
            }
        }
        // nothing lies idle: every lane of every channel that is used at all, hosts' included
        let channels: BTreeSet<ChannelId> = taken.iter().map(|&(channel, _)| channel).collect();
        let ejections = torus.host_ids().count();
        let full = channels
            .iter()
            .filter(|&&channel| (0..width).all(|lane| taken.contains(&(channel, lane))));
        assert!(
            full.count() > ejections,
            "host channels and those where both classes pass"
        );
    }
}

#[test]
fn lanes_that_depend_on_the_input_are_refused() {
    let graph = irregular(12, 4, 5);
    let error = adapt(&graph, "UpDown(lanes: Any, lookup: Input)").unwrap_err();
    assert!(
        error.to_string().contains("do not depend on the input"),
        "{error}"
    );
    let error = adapt_with(
        &grid(&[5], true, 1),
        "DimensionOrder(lanes: Any)",
        LaneBudget {
            lanes: 1,
            service_levels: 1,
        },
    )
    .unwrap_err();
    assert!(
        matches!(error, RoutingError::TooFewLanes { needed: 2, .. }),
        "{error}"
    );
}
