//! Every synthetic network of the OpenSM tables, made again by our topologies: same switches, ports and hosts.

use crate::context::{context, topology};
use std::path::Path;
use virtlane::topology::{Endpoint, Graph, Survey};

/// Folder of the networks.
const FOLDER: &str = "tests/opensm";

/// Topology by network.
const NETWORKS: &[(&str, &str, &str)] = &[
    (
        "ft2_18l_9s_18h_par2",
        "LeafSpine",
        "(leaves: 18, spines: 9, hosts_per_leaf: 18, parallel_links: 2)",
    ),
    ("hcube_4", "Hypercube", "(dimensions: 4)"),
    (
        "irr_16_d4_s1",
        "Irregular",
        "(switches: 16, degree: 4, hosts_per_switch: 4, generator: CPython, seed: 1)",
    ),
    (
        "irr_32_d4_s1",
        "Irregular",
        "(switches: 32, degree: 4, hosts_per_switch: 4, generator: CPython, seed: 1)",
    ),
    (
        "irr_32_d6_s1",
        "Irregular",
        "(switches: 32, degree: 6, hosts_per_switch: 2, generator: CPython, seed: 1)",
    ),
    ("kary_4_2", "Xgft", "(children: [4, 4], parents: [1, 4])"),
    (
        "kary_4_3",
        "Xgft",
        "(children: [4, 4, 4], parents: [1, 4, 4])",
    ),
    (
        "mesh_4x4",
        "Mesh",
        "(radix: [4, 4], host_ports: LowestFree)",
    ),
    ("petersen", "Petersen", "()"),
    ("ring_8", "Ring", "(switches: 8)"),
    ("torus_4x4", "Torus", "(radix: [4, 4])"),
    ("torus_4x4x4", "Torus", "(radix: [4, 4, 4])"),
];

fn build(name: &str, text: &str) -> Graph {
    let graph = topology(name, text).build(&context(Path::new(FOLDER)));
    graph.expect("can be built")
}

/// Every link once, lower end first.
fn cables(graph: &Graph) -> Vec<(Endpoint, Endpoint)> {
    let mut cables: Vec<_> = graph
        .channels()
        .iter()
        .filter(|channel| channel.from < channel.to)
        .map(|channel| (channel.from, channel.to))
        .collect();
    cables.sort_unstable();
    cables
}

#[test]
fn networks_are_made_again_port_by_port() {
    for (network, topology, text) in NETWORKS {
        let file = build("Ibsim", &format!("(file: \"{network}/{network}.net\")"));
        let made = build(topology, text);
        let ports = |graph: &Graph| -> Vec<u16> {
            graph
                .switches()
                .iter()
                .map(|node| node.port_count)
                .collect()
        };
        // the files give the top switches of trees ports that lead nowhere
        let is_within = ports(&made)
            .iter()
            .zip(ports(&file))
            .all(|(made, file)| *made <= file);
        assert!(is_within, "{network}");
        assert_eq!(file.switches().len(), made.switches().len(), "{network}");
        assert_eq!(file.hosts().len(), made.hosts().len(), "{network}");
        assert_eq!(cables(&file), cables(&made), "{network}");
    }
}

#[test]
fn every_network_has_its_row() {
    let mut folders: Vec<String> = std::fs::read_dir(FOLDER)
        .expect("tests run in the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| {
            Path::new(FOLDER)
                .join(name)
                .join(format!("{name}.net"))
                .exists()
        })
        .collect();
    folders.retain(|name| name != "psmn_x5"); // a real cluster
    folders.sort();
    let rows: Vec<_> = NETWORKS.iter().map(|(network, ..)| *network).collect();
    assert_eq!(folders, rows);
}

/// Mean and largest number of hops between hosts, as published beside the tables, of networks of which the
/// files are not kept here.
#[test]
fn distances_are_the_published_ones() {
    let irregular = |n: u32, degree: u32, seed: u32| {
        let hosts = if degree == 6 { 2 } else { 4 };
        format!(
            "(switches: {n}, degree: {degree}, hosts_per_switch: {hosts}, generator: CPython, seed: {seed})"
        )
    };
    let rows: Vec<(&str, String, usize, f64, u32)> = vec![
        ("Ring", "(switches: 3)".into(), 3, 1.0, 1),
        ("Ring", "(switches: 6)".into(), 6, 1.8, 3),
        (
            "LeafSpine",
            "(leaves: 4, spines: 4, hosts_per_leaf: 4)".into(),
            16,
            1.6,
            2,
        ),
        (
            "LeafSpine",
            "(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)".into(),
            36,
            1.7143,
            2,
        ),
        ("Irregular", irregular(8, 4, 1), 15, 1.3226, 2),
        ("Irregular", irregular(8, 4, 2), 15, 1.3226, 2),
        ("Irregular", irregular(8, 4, 3), 15, 1.3548, 3),
        ("Irregular", irregular(16, 4, 2), 31, 1.9206, 3),
        ("Irregular", irregular(16, 4, 3), 31, 1.9127, 4),
        ("Irregular", irregular(32, 4, 3), 64, 2.4902, 4),
        ("Irregular", irregular(32, 6, 3), 95, 1.994, 3),
        ("KAryNTree", "(k: 2, n: 3)".into(), 16, 2.8571, 4),
        ("KAryNTree", "(k: 3, n: 3)".into(), 54, 3.2308, 4),
        ("Kautz", "(degree: 2, k: 2)".into(), 24, 1.9091, 3),
        ("Mesh", "(radix: [3, 3, 3])".into(), 54, 2.7692, 6),
        ("Torus", "(radix: [5, 5])".into(), 50, 2.5, 4),
        ("Torus", "(radix: [6, 5])".into(), 60, 2.7931, 5),
        ("Torus", "(radix: [3, 3, 3])".into(), 81, 2.0769, 3),
    ];
    for (topology, text, links, mean, most) in rows {
        let survey = Survey::new(&build(topology, &text));
        assert_eq!(
            (survey.switch_links, survey.diameter),
            (links, most),
            "{topology}{text}"
        );
        let own = survey.mean_distance().expect("hosts");
        assert!(
            (own - mean).abs() < 5.1e-5,
            "{topology}{text}: {own}, published {mean}"
        );
    }
}
