//! What is written is read back as the same graph.

use super::*;
use crate::topology::Shape;
use crate::topology::tests::{built, context, samples};

#[test]
fn dot_shows_names_and_ports() {
    let text = "EdgeList(links: [(0, 1)], hosts: [(\"a \\\"b\\\"\", 0)])";
    assert_eq!(
        dot(&built(text, &context())),
        "graph fabric {\n  node [shape=box];\n  s0 [label=\"S0\"];\n  s1 [label=\"S1\"];\n  \
         h0 [shape=ellipse, label=\"a \\\"b\\\"\"];\n  h0 -- s0 [taillabel=1, headlabel=1];\n  \
         s0 -- s1 [taillabel=2, headlabel=1];\n}\n"
    );
}

/// A form: how it is written, what reads it, and whether it keeps GUIDs and port counts.
type Form = (fn(&Graph, &BuildContext<'_>) -> String, &'static str, bool);

const FORMS: [Form; 4] = [
    (edge_list, "EdgeList", false),
    (graph_ml, "GraphMl", false),
    (ibnetdiscover, "Ibnetdiscover", true),
    (ibsim, "Ibsim", true),
];

/// The graph of the file `net`.
fn read_back(reader: &str, here: &BuildContext<'_>) -> Graph {
    built(&format!("{reader}(file: \"net\")"), here)
}

fn names(graph: &Graph) -> Vec<&String> {
    let switches = graph.switches().iter().map(|node| &node.name);
    switches
        .chain(graph.hosts().iter().map(|node| &node.name))
        .collect()
}

fn sorted(graph: &Graph) -> Vec<Channel> {
    let mut channels = graph.channels().to_vec();
    channels.sort_by_key(|channel| (channel.from, channel.to));
    channels
}

/// Writes a graph in every form and reads it back.
fn assert_round_trips(name: &str, graph: &Graph, here: &BuildContext<'_>) {
    for (write, reader, is_complete) in FORMS {
        let text = write(graph, here);
        std::fs::write(here.base.join("net"), &text).unwrap();
        let again = read_back(reader, here);
        assert_eq!(names(&again), names(graph), "{name} {reader}");
        assert!(sorted(&again) == sorted(graph), "{name} {reader}");
        let ports = |graph: &Graph| -> Vec<u16> {
            graph
                .switches()
                .iter()
                .map(|node| node.port_count)
                .collect()
        };
        if is_complete {
            assert_eq!(ports(&again), ports(graph), "{name} {reader}");
        }
        assert!(write(&again, here) == text, "{name} {reader}");
    }
}

#[test]
fn what_is_read_back_is_the_same_graph() {
    let folder = tempfile::tempdir().unwrap();
    for (name, graph) in samples() {
        // links of its own timing: only edge lists and GraphML have latencies
        if ["ConcentratedMesh", "EdgeList"].contains(&name) {
            continue;
        }
        let mut here = BuildContext {
            base: folder.path(),
            ..context()
        };
        if name == "Ibnetdiscover" {
            here.clock.reference_rate = 160_000_000_000;
            here.switch_link.cycles_per_flit = 4; // FDR10, which ibsim has no word for
        }
        assert_round_trips(name, &graph, &here);
    }
}

/// Every regular topology keeps its shape in an edge list, with links of their own timing, too.
#[test]
fn edge_lists_keep_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let here = BuildContext {
        base: folder.path(),
        ..context()
    };
    let mut count = 0;
    for text in SHAPED {
        let graph = built(text, &here);
        let first = graph.channels()[0];
        let graph = graph.formed(text).retimed(|_, channel| {
            let latency = channel.timing.latency + u32::from(channel.from == first.from);
            let timing = channel.timing;
            Some(ChannelTiming { latency, ..timing })
        });
        std::fs::write(folder.path().join("net"), edge_list(&graph, &here)).unwrap();
        let again = read_back("EdgeList", &here);
        assert_eq!(again.shape(), graph.shape(), "{text}");
        assert_eq!(again.form(), Some(text), "{text}");
        assert!(sorted(&again) == sorted(&graph), "{text}");
        count += usize::from(*graph.shape() != Shape::Irregular);
    }
    assert_eq!(count, SHAPED.len());
}

const SHAPED: [&str; 11] = [
    "Clos(n: 2, r: 3)",
    "Complete(switches: 4, hosts_per_switch: 2)",
    "Dragonfly(p: 1, a: 3, h: 1, g: 4)",
    "EnrichedTree(k: 2, n: 3, width: 2)",
    "HyperX(sizes: [3, 2], multiplicity: [2, 1], hosts_per_switch: 2)",
    "Hypercube(dimensions: 3)",
    "KAryNTree(k: 3, n: 2)",
    "LeafSpine(leaves: 4, spines: 2, hosts_per_leaf: 3, parallel_links: 2)",
    "Mesh(radix: [4, 3])",
    "Ring(switches: 5)",
    "Torus(radix: [4, 2, 3], hosts_per_switch: 2)",
];

#[test]
fn an_edge_list_that_is_another_topology_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let here = BuildContext {
        base: folder.path(),
        ..context()
    };
    let graph = built("Torus(radix: [4, 4])", &here).formed("Torus(radix: [4, 4])");
    let text = edge_list(&graph, &here);
    let read = |text: &str| {
        std::fs::write(folder.path().join("net"), text).unwrap();
        let build = crate::topology::TOPOLOGIES.find("EdgeList").unwrap().build;
        let arguments = crate::registry::Arguments {
            text: "(file: \"net\")",
        };
        build(arguments)
            .unwrap()
            .build(&here)
            .unwrap_err()
            .to_string()
    };
    let cut: String = text.trim_end().rsplit_once('\n').unwrap().0.to_owned();
    let error = read(&cut);
    assert!(
        error.starts_with("net:2: `topology Torus(radix: [4, 4])`: "),
        "{error}"
    );
    assert!(
        error.contains("leads to") && error.contains("to nothing"),
        "{error}"
    );
    let error = read(&text.replace("Torus(radix: [4, 4])", "Torus(radix: [4, 5])"));
    assert!(error.contains("20 switches, the file 16"), "{error}");
    let error = read(&text.replace("Torus(", "Thorus("));
    assert!(error.contains("Torus"), "{error}");
    let error = read(&text.replace("Torus(radix: [4, 4])", "Petersen()"));
    assert!(error.contains("no structure"), "{error}");
    let error = read(&text.replace("radix: [4, 4]", "radius: [4, 4]"));
    assert!(error.contains("radius"), "{error}");
}

#[test]
fn real_fabrics_are_read_back_with_their_guids() {
    let folder = tempfile::tempdir().unwrap();
    for (file, gigabit, cycles_per_flit) in [
        ("assets/fabrics/psmn_x5.ibnetdiscover", 32, 1),
        // FDR10, which ibsim has no word for, as the rate of the scenario
        ("assets/fabrics/loginoff_8sw.ibnetdiscover", 160, 4),
    ] {
        let mut there = context();
        there.clock.reference_rate = gigabit * 1_000_000_000;
        there.switch_link.cycles_per_flit = cycles_per_flit;
        let graph = built(&format!("Ibnetdiscover(file: \"{file}\")"), &there);
        let here = BuildContext {
            base: folder.path(),
            ..there
        };
        assert_round_trips(file, &graph, &here);
        for (write, reader, _) in FORMS.into_iter().filter(|(.., complete)| *complete) {
            std::fs::write(folder.path().join("net"), write(&graph, &here)).unwrap();
            let again = read_back(reader, &here);
            assert_eq!(again.switches(), graph.switches(), "{file} {reader}");
            assert_eq!(again.hosts(), graph.hosts(), "{file} {reader}");
        }
    }
}

#[test]
fn networks_of_others_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let here = BuildContext {
        base: folder.path(),
        ..context()
    };
    let mut count = 0;
    for entry in std::fs::read_dir("tests/opensm").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let file = path.join(&name).with_extension("net");
        if !file.exists() {
            continue;
        }
        let graph = built(&format!("Ibsim(file: {file:?})"), &context());
        assert_round_trips(&name, &graph, &here);
        count += 1;
    }
    assert!(count >= 13);
}

#[test]
fn own_timing_is_kept_where_the_form_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = BuildContext {
        base: folder.path(),
        ..context()
    };
    let text = "EdgeList(links: [(0, 1), (2, 1, \"5 Gbit/s\", \"/\", \"2 cycles\"), (0, 2, \"7 cycles\")], \
                hosts: [0, (\"<&>\", 2, \"3 cycles\")])";
    let graph = built(text, &here);
    for (write, reader, _) in FORMS.into_iter().filter(|(.., complete)| !complete) {
        std::fs::write(folder.path().join("net"), write(&graph, &here)).unwrap();
        let again = read_back(reader, &here);
        assert_eq!(sorted(&again), sorted(&graph), "{reader}");
        assert_eq!(names(&again), names(&graph), "{reader}");
    }
}
