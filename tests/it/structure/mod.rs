//! Structure that is found in the graph: what generators make, under other numbers, and nothing else.

mod engines;
mod formats;
mod lacking;
pub(crate) mod mixed;
mod patterns;

use crate::context::{context, topology};
use mixed::{Mix, mixed};
use std::collections::BTreeMap;
use std::path::Path;
use virtlane::ids::LinkId;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::topology::structure::Structure;
use virtlane::topology::{Endpoint, Graph};

/// Topologies, and what is found of each.
const FOUND: [(&str, &str); 34] = [
    (
        "Clos(n: 3, r: 4)",
        "a leaf-spine network of 4 leaves and 3 spines",
    ),
    (
        "Clos(n: 2, r: 3, folded: false)",
        "a leaf-spine network of 6 leaves and 2 spines",
    ),
    (
        "Complete(switches: 6, hosts_per_switch: 2)",
        "a full mesh of 6 switches",
    ),
    (
        "ConcentratedMesh(radix: [4, 4], block: [2, 2], express: false)",
        "a 4x4 mesh",
    ),
    (
        "ConcentratedMesh(radix: [6, 4], block: [2, 3])",
        "a 6x4 concentrated mesh",
    ),
    (
        "Dragonfly(p: 2, a: 4, h: 2)",
        "a dragonfly of 9 groups of 4 switches",
    ),
    (
        "Dragonfly(p: 2, a: 4, h: 2, g: 5, arrangement: Palmtree)",
        "a dragonfly of 5 groups of 4 switches",
    ),
    (
        "Dragonfly(p: 1, a: 4, h: 2, g: 9, arrangement: Absolute)",
        "a dragonfly of 9 groups of 4 switches",
    ),
    (
        "Dragonfly(p: 1, a: 6, h: 3, g: 8)",
        "a dragonfly of 8 groups of 6 switches",
    ),
    (
        "Dragonfly(p: 1, a: 3, h: 1, g: 4)",
        "a dragonfly of 4 groups of 3 switches",
    ),
    (
        "EnrichedTree(k: 3, n: 3, width: 2)",
        "a 3-ary 3-tree with horizontal links of width 2",
    ),
    (
        "HyperX(sizes: [3, 4], multiplicity: [2, 1], hosts_per_switch: 2)",
        "a 3x4 HyperX",
    ),
    ("HyperX(sizes: [5, 5])", "a 5x5 HyperX"),
    (
        "HyperX(sizes: [4], multiplicity: [3])",
        "a full mesh of 4 switches over 3 links each",
    ),
    ("Hypercube(dimensions: 3)", "a hypercube of 3 dimensions"),
    (
        "Hypercube(dimensions: 5, hosts_per_switch: 2)",
        "a hypercube of 5 dimensions",
    ),
    ("KAryNFly(k: 2, n: 4)", "a 2-ary 4-fly"),
    ("KAryNFly(k: 3, n: 2)", "a 3-ary 2-fly"),
    ("KAryNTree(k: 3, n: 1)", "a 3-ary 1-tree"),
    ("KAryNTree(k: 3, n: 3)", "a 3-ary 3-tree"),
    ("KAryNTree(k: 2, n: 5)", "a 2-ary 5-tree"),
    ("Kautz(degree: 2, k: 3)", "a Kautz graph"),
    ("Kautz(degree: 3, k: 1)", "a Kautz graph"),
    (
        "LeafSpine(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)",
        "a leaf-spine network of 6 leaves and 3 spines",
    ),
    ("Mesh(radix: [4, 3])", "a 4x3 mesh"),
    (
        "Mesh(radix: [3, 5, 2], host_ports: LowestFree)",
        "a 3x5x2 mesh",
    ),
    ("Mesh(radix: [7])", "a line of 7 switches"),
    ("Petersen(hosts_per_switch: 3)", "a Petersen graph"),
    ("Ring(switches: 5)", "a ring of 5 switches"),
    (
        "Star(leaves: 4, hosts_per_leaf: 2, parallel_links: 2)",
        "a star of 4 leaves",
    ),
    (
        "Torus(radix: [5, 2, 3], hosts_per_switch: 2)",
        "a 5x2x3 torus",
    ),
    ("Torus(radix: [6, 6])", "a 6x6 torus"),
    (
        "Tree(arity: 2, levels: 4, parallel: [1, 2, 4])",
        "a tree of 4 levels",
    ),
    (
        "Xgft(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
        "a fat tree of 3 levels",
    ),
];

/// The graph of a topology.
fn graph(form: &str) -> Graph {
    let (name, arguments) = form.split_at(form.find('(').expect("arguments"));
    let graph = topology(name, arguments).build(&context(Path::new("")));
    graph.expect("a graph")
}

fn dice(seed: u64) -> Stream {
    stream(seed, Purpose::Topology, 77)
}

/// The links of a graph between nodes, each as often as there are parallel ones; hosts have numbers above those of switches.
fn cables(graph: &Graph, node: impl Fn(Endpoint) -> u32) -> BTreeMap<(u32, u32), u32> {
    let mut cables = BTreeMap::new();
    for link in (0..graph.link_count()).map(LinkId::from) {
        let [a, b] = graph.link_ends(link).map(&node);
        *cables.entry((a.min(b), a.max(b))).or_insert(0) += 1;
    }
    cables
}

/// Whether every cable of a fabric is one of the model's at the places that the structure says, the missing ones apart.
fn holds(fabric: &Graph, structure: &Structure) -> bool {
    let (model, numbering) = (structure.model(), structure.numbering());
    let switches = model.switches().len() as u32;
    let own = cables(fabric, |end| match end {
        Endpoint::Switch(switch, _) => numbering.switch(switch).0,
        Endpoint::Host(host) => switches + numbering.host(host).0,
    });
    let mut theirs = cables(model, |end| match end {
        Endpoint::Switch(switch, _) => switch.0,
        Endpoint::Host(host) => switches + host.0,
    });
    for &link in structure.missing() {
        let [a, b] = model.link_ends(link).map(|end| match end {
            Endpoint::Switch(switch, _) => switch.0,
            Endpoint::Host(host) => switches + host.0,
        });
        let key = (a.min(b), a.max(b));
        let count = theirs.get_mut(&key).expect("a link of the model");
        *count -= 1;
        if *count == 0 {
            theirs.remove(&key);
        }
    }
    own == theirs
}

/// What every generator makes is found under other numbers, other names and other ports, and is what is said.
#[test]
fn every_generator_is_recognised_up_to_renumbering() {
    for (form, name) in FOUND {
        let model = graph(form);
        for seed in 0..4 {
            let mix = if seed == 0 { Mix::KeepNames } else { Mix::All };
            let fabric = mixed(&model, mix, seed).recognised();
            let first = fabric.structures().first();
            let first = first.unwrap_or_else(|| panic!("{form} is not found"));
            if seed == 0 {
                assert_eq!(first.name(), name, "{form}");
            }
            assert_eq!(
                first.told(),
                format!("{}, found in the graph", first.name())
            );
            for structure in fabric.structures() {
                assert!(structure.missing().is_empty());
                assert!(holds(&fabric, structure), "{form} as {}", structure.form());
            }
            // the same shape but for the order of dimensions and the turn of a dragonfly
            let kind = |graph: &Graph| {
                format!("{:?}", graph.shape())
                    .split('(')
                    .next()
                    .map(str::to_owned)
            };
            let same = fabric
                .structures()
                .iter()
                .any(|found| kind(found.model()) == kind(&model));
            assert!(same || form.starts_with("ConcentratedMesh"), "{form}");
        }
    }
}

/// Which switch is where depends on names only, not on the order of nodes, links and ports.
#[test]
fn coordinates_do_not_depend_on_the_order() {
    for (form, _) in FOUND {
        let model = graph(form);
        let places = |seed| {
            let fabric = mixed(&model, Mix::KeepNames, seed).recognised();
            let first = fabric.structures().first().expect("found");
            let switch = |place: usize| {
                let own = virtlane::ids::SwitchId::from(place);
                (
                    fabric.switches()[place].name.clone(),
                    first.numbering().switch(own),
                )
            };
            let places: BTreeMap<_, _> = (0..fabric.switches().len()).map(switch).collect();
            (first.form().to_owned(), places)
        };
        assert_eq!(places(1), places(2), "{form}");
    }
}

/// Names of this program's own exports have the numbers of the generator in them.
#[test]
fn own_names_give_the_own_numbers_back() {
    for form in [
        "Torus(radix: [3, 5])",
        "HyperX(sizes: [3, 4])",
        "KAryNTree(k: 3, n: 3)",
        "Mesh(radix: [3, 5, 4])",
    ] {
        let model = graph(form);
        let fabric = mixed(&model, Mix::KeepNames, 5).recognised();
        let first = fabric.structures().first().expect("found");
        for (place, node) in fabric.switches().iter().enumerate() {
            let switch = first
                .numbering()
                .switch(virtlane::ids::SwitchId::from(place));
            assert_eq!(model.switches()[switch.index()].name, node.name, "{form}");
        }
    }
}

/// Topologies that are the same graph, and what is found.
const COINCIDENCES: &[(&[&str], &[&str])] = &[
    (
        &[
            "Torus(radix: [4, 4])",
            "Hypercube(dimensions: 4)",
            "Mesh(radix: [2, 2, 2, 2])",
            "HyperX(sizes: [2, 2, 2, 2])",
        ],
        &[
            "a hypercube of 4 dimensions",
            "a 4x4 torus",
            "a 2x2x2x2 mesh",
            "a 2x2x2x2 HyperX",
        ],
    ),
    (
        &[
            "Ring(switches: 4)",
            "Torus(radix: [4])",
            "Hypercube(dimensions: 2)",
            "Mesh(radix: [2, 2])",
        ],
        &[
            "a ring of 4 switches",
            "a hypercube of 2 dimensions",
            "a 2x2 mesh",
            "a 2x2 HyperX",
        ],
    ),
    (
        &["Ring(switches: 6)", "Torus(radix: [6])"],
        &["a ring of 6 switches"],
    ),
    (
        &["Complete(switches: 5)", "HyperX(sizes: [5])"],
        &[
            "a full mesh of 5 switches",
            "a dragonfly of 5 groups of 1 switches",
            "a dragonfly of 1 groups of 5 switches",
        ],
    ),
    (
        &[
            "Torus(radix: [2, 2])",
            "HyperX(sizes: [2, 2], multiplicity: [2, 2])",
        ],
        &["a 2x2 torus", "a 2x2 HyperX"],
    ),
    (
        &[
            "KAryNTree(k: 4, n: 2)",
            "LeafSpine(leaves: 4, spines: 4, hosts_per_leaf: 4)",
        ],
        &["a 4-ary 2-tree"],
    ),
];

/// Topologies that are the same graph: the first by the stated order, and all the others are known.
#[test]
fn coincidences_have_an_order() {
    for &(forms, names) in COINCIDENCES {
        for form in forms {
            let fabric = mixed(&graph(form), Mix::All, 3).recognised();
            let found: Vec<String> = fabric
                .structures()
                .iter()
                .map(|found| found.name())
                .collect();
            assert_eq!(found[..names.len()], *names, "{form}");
        }
    }
}

/// Sums of distances of all switches, sorted: graphs that differ in them are different.
fn signature(graph: &Graph) -> Vec<(usize, u64)> {
    let sums = graph.switch_ids().map(|switch| {
        let distances = virtlane::topology::survey::switch_distances(graph, switch);
        let hosts = graph.attached_hosts(switch).count();
        let squares = distances
            .iter()
            .map(|hops| hops.map_or(1 << 20, |hops| u64::from(hops).pow(3)));
        (hosts, squares.sum())
    });
    let mut sums: Vec<(usize, u64)> = sums.collect();
    sums.sort_unstable();
    sums
}

/// Two links crossed, or one more: something else, and nothing is found.
#[test]
fn near_misses_are_not_recognised() {
    let mut crossed = 0;
    for form in [
        "Torus(radix: [6, 5])",
        "Mesh(radix: [5, 4])",
        "Hypercube(dimensions: 5)",
        "HyperX(sizes: [4, 4])",
        "KAryNTree(k: 3, n: 3)",
        "Dragonfly(p: 2, a: 4, h: 2)",
        "Kautz(degree: 2, k: 3)",
        "Xgft(children: [4, 3, 2], parents: [1, 2, 3])",
    ] {
        let model = graph(form);
        for seed in 0..6 {
            let fabric = mixed(&model, Mix::Cross, seed);
            if signature(&fabric) != signature(&model) {
                crossed += 1;
                let found = fabric.recognised();
                assert!(
                    found.structures().is_empty(),
                    "{form} {seed}: {:?}",
                    found.structures()[0].told()
                );
            }
            let found = mixed(&model, Mix::Add, seed).recognised();
            assert!(
                found.structures().is_empty(),
                "{form} {seed}: {:?}",
                found.structures()[0].told()
            );
        }
    }
    assert!(crossed > 30, "{crossed}");
}

/// Large fabrics are recognised without a search that grows with them.
#[test]
fn thousands_of_switches_are_recognised() {
    for form in [
        "Torus(radix: [16, 16, 8])",
        "KAryNTree(k: 12, n: 3)",
        "Dragonfly(p: 4, a: 8, h: 4)",
        "Hypercube(dimensions: 11)",
    ] {
        let fabric = mixed(&graph(form), Mix::All, 1).recognised();
        let first = fabric.structures().first().expect("found");
        assert!(holds(&fabric, first), "{form}");
    }
}

/// A number below `bound`.
fn number(rng: &mut Stream, bound: usize) -> usize {
    below(rng, bound as u32) as usize
}
