//! The tables and layers of OpenSM 3.3.23 over ibsim, entry by entry (`tests/opensm`).

use super::subnet::{LidTables, Subnet};
use super::{dfsssp, dor, lash, lash_layers, min_hop, sssp, up_down};
use crate::registry::Arguments;
use crate::routing::engines::opensm_ftree as ftree;
use crate::routing::identities::EndPort;
use crate::routing::loads::ChannelLoads;
use crate::routing::{ENGINES, Engine, Identities, LaneBudget, UNREACHABLE};
use crate::topology::tests::{built, context};
use crate::topology::{BuildContext, Graph};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    // other networks, of the same form, can be tried without adding them
    std::env::var_os("VIRTLANE_OPENSM").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm"),
        PathBuf::from,
    )
}

fn networks() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().join("minhop.lft").exists());
    let mut names: Vec<_> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn graph(network: &str) -> Graph {
    let own = format!("{network}/{network}.net");
    let asset = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("assets/fabrics/{network}.ibnetdiscover"));
    let base = folder();
    let file = if base.join(&own).exists() {
        base.join(own)
    } else {
        asset
    };
    build(&format!("Ibnetdiscover(file: {file:?})"), &base)
}

fn build(topology: &str, base: &Path) -> Graph {
    let mut context = BuildContext { base, ..context() };
    context.clock.reference_rate = 32_000_000_000;
    built(topology, &context)
}

/// (LID, GUID) in the order of LIDs.
fn lids(network: &str) -> Vec<(u32, u64)> {
    let text = read_to_string(folder().join(network).join("guid2lid")).unwrap();
    let hexadecimal = |word: &str| u64::from_str_radix(&word[2..], 16).unwrap();
    let line = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        (hexadecimal(words[1]) as u32, hexadecimal(words[0]))
    };
    text.lines().map(line).collect()
}

/// Compares with `engine.lft`: a line per switch, its GUID and its ports in the order of LIDs. Gives the number
/// of entries, 0 when the engine was not run on the network.
fn compare(network: &str, engine: &str, subnet: &Subnet, tables: &LidTables) -> usize {
    let Ok(text) = read_to_string(folder().join(network).join(format!("{engine}.lft"))) else {
        return 0;
    };
    let identities = &subnet.identities;
    let place = |guid: u64| {
        let is_it = |switch: &crate::ids::SwitchId| identities.switch_guids[switch.index()] == guid;
        subnet.switches.iter().position(is_it)
    };
    let columns: Vec<usize> = lids(network)
        .into_iter()
        .map(|(_, guid)| match place(guid) {
            Some(place) => subnet.host_count + place,
            None => identities
                .host_guids
                .iter()
                .position(|&g| g == guid)
                .unwrap(),
        })
        .collect();
    let (mut entries, mut wrong) = (0, Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let guid = u64::from_str_radix(&words.next().unwrap()[2..], 16).unwrap();
        let row = place(guid).unwrap() * tables.columns;
        for (&column, word) in columns.iter().zip(words) {
            let expected = word.parse().unwrap_or(UNREACHABLE);
            let port = tables.ports[row + column];
            if port != expected {
                wrong.push(format!(
                    "{guid:#x} column {column}: {port}, OpenSM {expected}"
                ));
            }
            entries += 1;
        }
    }
    let (count, some) = (wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
    assert_eq!(entries, subnet.len() * columns.len(), "{network} {engine}");
    assert_eq!(count, 0, "{network} {engine}, {entries} entries:\n{some}");
    entries
}

/// All networks against one engine; `least` networks must have been compared.
fn compare_all(engine: &str, least: usize, tables: impl Fn(&Subnet) -> LidTables) {
    let mut compared = 0;
    for network in networks() {
        let subnet = Subnet::new(&graph(&network));
        let entries = compare(&network, engine, &subnet, &tables(&subnet));
        compared += usize::from(entries > 0);
    }
    assert!(compared >= least, "{engine}: {compared} networks");
}

#[test]
fn min_hop_tables_are_equal() {
    compare_all("minhop", 13, |subnet| min_hop::tables(subnet, true));
}

#[test]
fn dor_tables_are_equal() {
    compare_all("dor", 12, |subnet| dor::tables(subnet, true));
}

#[test]
fn lash_tables_are_equal() {
    compare_all("lash", 13, |subnet| {
        lash::tables(subnet, &lash::next_switches(subnet), true)
    });
}

#[test]
fn sssp_tables_are_equal() {
    compare_all("sssp", 13, |subnet| sssp::tables(subnet, true));
}

#[test]
fn up_down_tables_are_equal() {
    // from switch 0
    compare_all("updn", 12, |subnet| up_down::tables(subnet, &[0], true));
    // from the roots OpenSM finds itself
    compare_all("updnauto", 0, |subnet| {
        up_down::tables(subnet, &up_down::found_roots(subnet), true)
    });
}

#[test]
fn ftree_tables_are_equal_and_other_networks_are_refused() {
    for network in networks() {
        let graph = graph(&network);
        let subnet = Subnet::new(&graph);
        let trees = ["ft2_18l_9s_18h_par2", "kary_4_2", "kary_4_3"];
        match ftree::tree(&graph, &subnet, None) {
            Ok(tree) => {
                let entries = compare(
                    &network,
                    "ftree",
                    &subnet,
                    &ftree::tables(&subnet, tree, true),
                );
                assert!(
                    entries > 0 || !trees.contains(&network.as_str()),
                    "{network}"
                );
            }
            Err(error) => {
                assert!(!trees.contains(&network.as_str()), "{network}: {error}");
                // what OpenSM says of the real cluster
                if network == "psmn_x5" {
                    let guid = |guid: u64| graph.switches().iter().find(|node| node.guid == guid);
                    let name = &guid(0x0008_f105_0010_8bba).unwrap().name;
                    let text = format!("is on {name} of rank 2, the leaves have rank 4");
                    assert!(error.to_string().contains(&text), "{error}");
                }
            }
        }
    }
}

/// The largest load that OpenSM reached on the real cluster, whose spines, the switches without hosts, were named.
#[test]
fn ftree_from_named_spines_loads_the_real_cluster_as_known() {
    let graph = graph("psmn_x5");
    let has_hosts = |&switch: &crate::ids::SwitchId| graph.attached_hosts(switch).next().is_some();
    let spines: Vec<u32> = graph
        .switch_ids()
        .filter(|switch| !has_hosts(switch))
        .map(|switch| switch.0)
        .collect();
    let text = format!("(root: {spines:?})");
    let engine = ENGINES.find("OpenSmFatTree").unwrap();
    let engine = (engine.build)(Arguments { text: &text }).unwrap();
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    let routes = engine.route(&graph, budget, 1, Path::new("")).unwrap();
    let loads = ChannelLoads::uniform(&graph, routes.tables().unwrap());
    assert_eq!(loads.max(), 216);
}

const TWO_LANES: LaneBudget = LaneBudget {
    lanes: 2,
    service_levels: 1,
};

/// Service levels that are equal; `levels` has a line per source, a digit per destination.
fn equal_levels(graph: &Graph, tables: &crate::routing::Tables, levels: &str) -> usize {
    let mut seen = 0;
    for (source, line) in graph.host_ids().zip(levels.lines()) {
        let (switch, _) = graph.attachment(source).unwrap();
        for (destination, level) in graph.host_ids().zip(line.chars()) {
            if source != destination {
                let layer = tables.path_layer(switch, destination);
                assert_eq!(Some(u32::from(layer)), level.to_digit(10));
                seen += 1;
            }
        }
    }
    seen
}

/// Built, imported, and imported with the configuration that OpenSM had.
#[test]
fn torus_2qos_tables_and_service_levels_are_equal() {
    let (mut levels_seen, mut entries) = (0, 0);
    for (network, topology, arguments) in [
        (
            "mesh_4x4",
            "Mesh(radix: [4, 4], host_ports: LowestFree)",
            "()",
        ),
        ("torus_4x4", "Torus(radix: [4, 4])", "()"),
        ("torus_4x4x4", "Torus(radix: [4, 4, 4])", "()"),
        ("mesh_4x4", "", "()"),
        ("torus_4x4", "", "()"),
        ("torus_4x4", "", "(config: \"torus-2QoS.conf\")"),
        ("torus_4x4x4", "", "()"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/opensm")
            .join(network);
        let imported = format!("Ibsim(file: \"{network}.net\")");
        let topology = if topology.is_empty() {
            &imported
        } else {
            topology
        };
        let graph = build(topology, &path);
        let engine = ENGINES.find("torus-2QoS").unwrap();
        let engine = (engine.build)(Arguments { text: arguments }).unwrap();
        let routes = engine.route(&graph, TWO_LANES, 1, &path).unwrap();
        let tables = routes.tables().unwrap();
        let Engine::Tables(engine) = engine else {
            panic!("tables");
        };
        let switches = engine.management(&graph, &path).unwrap();
        let identities = Identities::new(&graph);
        let known = read_to_string(path.join("torus2qos.lft")).unwrap();
        for (switch, line) in graph.switch_ids().zip(known.lines()) {
            let words = line.split_whitespace().skip(1);
            for (end, word) in identities.by_lid().iter().zip(words) {
                let port = match *end {
                    EndPort::Host(host) => tables.next.get(switch.index(), host.index()),
                    EndPort::Switch(to) => {
                        switches[switch.index() * tables.switch_count + to.index()]
                    }
                };
                assert_eq!(
                    Ok(port),
                    word.parse(),
                    "{network} {topology} {switch} {end:?}"
                );
                entries += 1;
            }
        }
        if let Ok(levels) = read_to_string(path.join("torus2qos.sl")) {
            levels_seen += equal_levels(&graph, tables, &levels);
        }
    }
    assert_eq!(levels_seen, 2 * 64 * 63);
    assert_eq!(entries, 5 * 16 * 32 + 2 * 64 * 128);
}

/// The same directions with another origin: the shorter ways stay, half a ring does not.
#[test]
fn a_dateline_of_torus_2qos_moves_and_mistakes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/torus_4x4/torus_4x4.net");
    let graph = build(&format!("Ibsim(file: {net:?})"), Path::new(""));
    let route = |config: &str| {
        std::fs::write(folder.path().join("conf"), config).unwrap();
        let engine = ENGINES.find("torus-2QoS").unwrap();
        let engine = (engine.build)(Arguments {
            text: "(config: \"conf\")",
        })
        .unwrap();
        let budget = LaneBudget {
            lanes: 2,
            service_levels: 1,
        };
        engine
            .route(&graph, budget, 1, folder.path())
            .map_err(|error| error.to_string())
    };
    let links = "xp_link 0x200000 0x200001\nxm_link 0x200000 0x200003\nyp_link 0x200000 0x200004\n\
                 ym_link 0x200000 0x20000c\n";
    let remark = |routes: crate::routing::Routes| routes.tables().unwrap().remarks[0].1.clone();
    let moved = route(&format!("torus 4 4 1\n{links}x_dateline -1\n")).unwrap();
    assert_eq!(remark(moved), "4 x 4 torus, origin S003, +x S000, +y S007");
    let gone = links.replace("0x200000", "0x2000ff");
    let second = route(&format!("torus 4 4 1\n{gone}next_seed\n{links}")).unwrap();
    assert_eq!(remark(second), "4 x 4 torus, origin S000, +x S001, +y S004");
    for (config, reason) in [
        (
            format!("torus 4 5 1\n{links}"),
            "conf: a 4 x 5 torus has 20 switches, the fabric 16",
        ),
        (
            format!("mesh 4 4 1\n{links}"),
            "conf: `xm_link`: `S000` lies at the end of a 4 x 4 mesh",
        ),
        (
            format!("torus 4 4 1\n{gone}"),
            "conf: no switch has GUID 0x2000ff",
        ),
        (
            format!("torus 4 4 1\n{}", links.replace("0x200001", "0x200006")),
            "conf: `xp_link`: there is no link from `S000` to `S006`",
        ),
        (
            "torus 8 2 1\nxp_link 0x200000 0x200001\nyp_link 0x200000 0x200004\n".to_owned(),
            "conf: as a 8 x 2 torus no switch fits at",
        ),
    ] {
        let message = route(&config).unwrap_err();
        assert!(message.starts_with(reason), "{message}");
    }
}

/// Pairs per layer as in the file `layers`: `54/2`.
fn text(pairs: &[u64]) -> String {
    let pairs: Vec<_> = pairs.iter().map(u64::to_string).collect();
    pairs.join("/")
}

fn dfsssp_pairs(subnet: &Subnet, switches: bool) -> String {
    let tables = sssp::tables(subnet, switches);
    let layers = dfsssp::layers(subnet, &tables);
    let mut pairs = vec![0; layers.count];
    for (place, hosts) in subnet.hosts.iter().enumerate() {
        // a management port as source adds no dependency: layer 0
        let ends = hosts.len() as u64;
        for (column, &layer) in layers.layer[place * tables.columns..][..tables.columns]
            .iter()
            .enumerate()
        {
            let own = u64::from(hosts.iter().any(|(_, host)| host.index() == column));
            pairs[usize::from(layer)] += ends - own;
        }
        if switches {
            pairs[0] += tables.columns as u64 - 1;
        }
    }
    text(&pairs)
}

#[test]
fn layers_are_equal() {
    let known = read_to_string(folder().join("layers")).unwrap();
    let mut wrong = Vec::new();
    for line in known.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split_whitespace().collect();
        let network = words[0];
        let subnet = Subnet::new(&graph(network));
        let mut compare = |what: &str, expected: &str, found: String| {
            if expected != "-" && expected != found {
                wrong.push(format!("{network} {what}: {found}, OpenSM {expected}"));
            }
        };
        let next = lash::next_switches(&subnet);
        compare(
            "lash",
            words[1],
            text(&lash_layers::assign(&subnet, &next).pairs),
        );
        compare("dfsssp", words[2], dfsssp_pairs(&subnet, true));
        compare("dfsssp, hosts", words[3], dfsssp_pairs(&subnet, false));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lids_are_equal() {
    for network in networks() {
        // the real cluster kept the LIDs it had
        if network == "psmn_x5" {
            continue;
        }
        let identities = Identities::new(&graph(&network));
        let mut own: Vec<(u32, u64)> = identities
            .by_lid()
            .into_iter()
            .map(|end: EndPort| (identities.lid(end), identities.guid(end)))
            .collect();
        own.sort_unstable();
        assert_eq!(own, lids(&network), "{network}");
    }
}
