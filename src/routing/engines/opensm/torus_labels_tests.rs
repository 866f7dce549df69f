//! Coordinates found in imported tori.

use super::*;
use crate::rng::{Purpose, below, stream};
use crate::topology::tests::{built, context};

/// A mesh or torus as an edge list with switches and ports in any order, so that nothing is known of its shape.
fn shuffled(topology: &str, seed: u64) -> Graph {
    let graph = built(topology, &context());
    let count = graph.switches().len();
    let mut rng = stream(seed, Purpose::Routing, 0);
    let mut new: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        new.swap(i, below(&mut rng, i as u32 + 1) as usize);
    }
    let mut links: Vec<String> = graph
        .channels()
        .iter()
        .step_by(2)
        .filter_map(|channel| {
            let ends = [channel.from.switch()?, channel.to.switch()?];
            let [a, b] = ends.map(|switch| new[switch.index()]);
            Some(format!("({a}, {b})"))
        })
        .collect();
    for i in (1..links.len()).rev() {
        links.swap(i, below(&mut rng, i as u32 + 1) as usize);
    }
    let links = links.join(", ");
    let list = format!("EdgeList(hosts_per_switch: 2, links: [{links}])");
    built(&list, &context())
}

/// Every link leads one step on, and there is one for every step.
fn assert_labels(graph: &Graph, labels: &Labels) {
    for switch in graph.switch_ids() {
        let place = labels.coordinates[switch.index()];
        let mut ports = 0;
        for direction in 0..6 {
            let exits = &labels.exits[switch.index()][direction];
            let next = labels.size.step(place, direction);
            assert_eq!(next.is_some(), !exits.is_empty());
            for &port in exits {
                let to = graph.channel(graph.port_channel(switch, port).unwrap()).to;
                assert_eq!(Some(labels.coordinates[to.switch().unwrap().index()]), next);
            }
            ports += exits.len();
        }
        assert_eq!(ports, graph.neighbors(switch).count());
    }
}

#[test]
fn shuffled_meshes_and_tori_are_found_again() {
    for (topology, text) in [
        ("Torus(radix: [6, 5])", "6 x 5 torus"),
        ("Torus(radix: [4, 4])", "4 x 4 torus"),
        ("Torus(radix: [3, 3, 3])", "3 x 3 x 3 torus"),
        ("Torus(radix: [4, 3, 5])", "5 x 4 x 3 torus"),
        ("Torus(radix: [7])", "7 torus"),
        ("Mesh(radix: [4, 3])", "4 x 3 mesh"),
        ("Mesh(radix: [4, 3, 2])", "4 x 3 x 2 mesh"),
        ("Torus(radix: [12, 12])", "12 x 12 torus"),
        ("Torus(radix: [10, 10, 10])", "10 x 10 x 10 torus"),
    ] {
        for seed in 0..4 {
            let graph = shuffled(topology, seed);
            let labels = Labels::find(&graph, None).unwrap();
            assert_labels(&graph, &labels);
            let mut radix = labels.size.radix;
            radix.sort_unstable_by(|a, b| b.cmp(a));
            let sorted = Size {
                radix,
                ..labels.size
            };
            assert_eq!(sorted.text(), text, "{seed}");
        }
    }
}

/// The ports of a built torus tell its dimensions.
#[test]
fn a_torus_without_its_shape_gets_its_own_coordinates() {
    for topology in [
        "Torus(radix: [6, 5])",
        "Torus(radix: [5, 6])",
        "Torus(radix: [4, 5, 3])",
        "Mesh(radix: [3, 5])",
    ] {
        let graph = built(topology, &context());
        let crate::topology::Shape::Grid(shape) = graph.shape() else {
            panic!("no grid");
        };
        assert_eq!(
            Labels::find(&graph, None).unwrap(),
            Labels::of_grid(&graph, shape),
            "{topology}"
        );
    }
}

#[test]
fn what_is_no_torus_is_told() {
    let reason = |text: &str| Labels::find(&built(text, &context()), None).unwrap_err();
    assert_eq!(
        reason("EdgeList(hosts_per_switch: 1, links: [(0, 1), (1, 2), (2, 0), (2, 3)])"),
        "it is no complete mesh or torus of at most 3 dimensions: of its 4 switches 1 have 1, 2 have 2, 1 have 3 \
         linked switches (the fewest: `S3`)"
    );
    // it has as many switches and neighbours as a ring of five pairs
    let petersen = reason("Petersen()");
    assert!(
        petersen.starts_with("as a 2 x 5 torus no switch fits at"),
        "{petersen}"
    );
    // two links of a torus swapped: the counts are right
    let graph = shuffled("Torus(radix: [5, 5])", 1);
    let mut pairs: Vec<(u32, u32)> = graph
        .channels()
        .iter()
        .step_by(2)
        .filter_map(|channel| Some((channel.from.switch()?.0, channel.to.switch()?.0)))
        .collect();
    let other = pairs.iter().position(|pair| {
        let [a, b] = [pairs[0], *pair];
        let is_new =
            |x: u32, y: u32| x != y && !pairs.contains(&(x, y)) && !pairs.contains(&(y, x));
        is_new(a.0, b.1) && is_new(b.0, a.1)
    });
    let other = other.unwrap();
    let (a, b) = (pairs[0], pairs[other]);
    (pairs[0], pairs[other]) = ((a.0, b.1), (b.0, a.1));
    let links: Vec<String> = pairs.iter().map(|(a, b)| format!("({a}, {b})")).collect();
    let text = format!(
        "EdgeList(hosts_per_switch: 1, links: [{}])",
        links.join(", ")
    );
    assert!(
        reason(&text).starts_with("as a 5 x 5 torus no switch fits at x ="),
        "{}",
        reason(&text)
    );
}
