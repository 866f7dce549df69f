//! Every routing engine on every topology it accepts: verified, then run at high load with the laws checked.
//!
//! Both registries are enumerated, so a new part is tested here from its first day; a new topology needs its
//! arguments in [`topology_arguments`], a new engine that cannot do without arguments in [`engine_arguments`].
//! The acceptance of routing engines asks for 20,000 cycles: here every engine runs as long on one of its topologies,
//! every pair does on demand and is shorter here.

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::ids::SlId;
use virtlane::registry::Arguments;
use virtlane::routing::{
    ENGINES, LaneBudget, Proof, Routes, RoutingError, VerifyError, VerifyOptions, adaptive, verify,
};
use virtlane::run::outcome::Verdict;
use virtlane::run::{Settings, execute};
use virtlane::scenario::{Document, Parts};
use virtlane::topology::{Graph, TOPOLOGIES};

/// Numbers of lanes tried, in this order.
const LANES: [u8; 5] = [1, 2, 4, 8, 15];

/// A small sample of each topology.
fn topology_arguments(name: &str) -> &'static str {
    match name {
        "Clos" => "(n: 3, r: 4)",
        "Complete" => "(switches: 6, hosts_per_switch: 2)",
        "ConcentratedMesh" => "(radix: [4, 4], block: [2, 1])",
        "Dragonfly" => "(p: 2, a: 4, h: 2, g: 5, arrangement: Palmtree)",
        "EdgeList" => {
            "(links: [(0, 1), (2, 1, \"5 Gbit/s\"), (2, 3), (3, 0)], hosts: [0, 2, 2, 3])"
        }
        "EnrichedTree" => "(k: 3, n: 3, width: 2)",
        "GraphMl" => "(file: \"tests/networks/petersen.graphml\", hosts_per_switch: 2)",
        "HyperX" => "(sizes: [3, 4], multiplicity: [2, 1], hosts_per_switch: 2)",
        "Hypercube" => "(dimensions: 4)",
        "Ibnetdiscover" => "(file: \"assets/fabrics/loginoff_8sw.ibnetdiscover\")",
        "Ibsim" => "(file: \"tests/opensm/irr_16_d4_s1/irr_16_d4_s1.net\")",
        "Irregular" => "(switches: 14, degree: 4, hosts_per_switch: 2)",
        "KAryNFly" => "(k: 2, n: 3)",
        "KAryNTree" => "(k: 3, n: 3)",
        "Kautz" => "(degree: 2, k: 2)",
        "LeafSpine" => "(leaves: 6, spines: 3, hosts_per_leaf: 4, parallel_links: 2)",
        "Mesh" => "(radix: [4, 3])",
        "Petersen" => "(hosts_per_switch: 2)",
        "Ring" => "(switches: 5, hosts_per_switch: 2)",
        "Star" => "(leaves: 4, hosts_per_leaf: 2, parallel_links: 2)",
        "Torus" => "(radix: [5, 2, 3])",
        "Tree" => "(arity: 2, levels: 3, parallel: [2, 4])",
        "Xgft" => "(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
        name => panic!("give `{name}` a sample argument here"),
    }
}

/// Engines that are not tried: tables from a file fit one fabric only.
const LEFT_OUT: [&str; 1] = ["TableImport"];

/// Arguments of engines that need some.
fn engine_arguments(name: &str) -> &'static str {
    let entry = ENGINES.find(name).expect("registered");
    let needs = entry.parameters.iter().any(|p| p.default.is_none());
    assert!(!needs, "give `{name}` its arguments here");
    "()"
}

/// How a pair went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The engine does not take the fabric, or not with 15 lanes.
    Refused,
    /// The engine promises no freedom from deadlock, and there is none.
    MayDeadlock,
    /// It ran.
    Ran,
}

/// Measured cycles of every pair, and of an engine on one of its topologies.
const SHORT: u64 = 1000;
const LONG: u64 = 20_000;

fn document(topology: &str, engine: &str, lanes: u8, length: u64) -> Document {
    let drain = 20 * length + 100_000;
    let levels = if lanes > 1 { "[0, 1]" } else { "0" };
    let text = format!(
        "Scenario(
            title: \"{engine} on {topology}\",
            seed: 1,
            fabric: (
                topology: {topology}{},
                flit: \"64 B\",
                link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                switch: (lanes: {lanes}, lane_capacity: \"8 flits\"),
                host: (source_queue: 4),
            ),
            routing: {engine}{},
            traffic: [(
                name: \"uniform\",
                pattern: Uniform,
                process: Bernoulli(load: 0.9),
                size: \"256 B\",
                sl: {levels},
            )],
            phases: (
                warmup: \"100 cycles\",
                measure: \"{length} cycles\",
                drain: \"{drain} cycles\",
                watchdog: \"5000 cycles\",
            ),
        )",
        topology_arguments(topology),
        engine_arguments(engine),
    );
    Document::parse("pair", &text, Path::new("")).expect("the text is right")
}

/// The proof of routes of either kind.
pub(crate) fn prove(
    graph: &Graph,
    routes: &Routes,
    options: &VerifyOptions<'_>,
) -> Result<Proof, VerifyError> {
    match routes {
        Routes::Tables(tables) => verify(graph, tables, options),
        Routes::Adaptive(routes) => adaptive::verify(graph, routes, options),
    }
}

/// Lanes with which `engine` routes `graph` and is proved; `None` without such.
fn lanes(engine: &str, graph: &Graph) -> Result<u8, Fate> {
    let entry = ENGINES.find(engine).expect("registered");
    let text = engine_arguments(engine);
    let built = (entry.build)(Arguments { text }).expect("arguments fit");
    for lanes in LANES {
        let budget = LaneBudget {
            lanes,
            service_levels: 2,
        };
        let routes = match built.route(graph, budget, 1, Path::new("")) {
            Err(RoutingError::TooFewLanes { .. }) => continue,
            Err(RoutingError::Unsupported { .. }) => return Err(Fate::Refused),
            Err(error) => panic!("{engine}: {error}"),
            Ok(routes) => routes,
        };
        let options = VerifyOptions::new(&[SlId(0), SlId(1)], lanes);
        let proof = prove(graph, &routes, &options);
        let proof = proof.unwrap_or_else(|error| panic!("{error}"));
        return if proof.acyclic {
            Ok(lanes)
        } else {
            Err(Fate::MayDeadlock)
        };
    }
    Err(Fate::Refused)
}

/// Verifies a pair and measures it for `length` cycles.
fn meet(engine: &str, topology: &str, length: u64) -> Fate {
    let pair = format!("{engine} on {topology}");
    let parts = Parts::registered();
    let layout = document(topology, engine, 1, length).layout(&parts);
    let graph = layout.unwrap_or_else(|error| panic!("{error}")).1.graph;
    let lanes = match lanes(engine, &graph) {
        Ok(lanes) => lanes,
        Err(fate) => return fate,
    };
    let resolved = document(topology, engine, lanes, length).resolve(&parts);
    let resolved = resolved.unwrap_or_else(|error| panic!("{pair}: {error}"));
    let settings = Settings {
        threads: Some(1),
        shards: Some(1),
        check: true,
        ..Settings::default()
    };
    let outcome = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    let outcome = outcome.unwrap_or_else(|error| panic!("{pair}: {error}"));
    let class = &outcome.records.classes[0];
    assert_ne!(
        outcome.verdict,
        Verdict::Deadlocked,
        "{pair}: {}",
        outcome.reason
    );
    assert!(class.tagged_delivered > 0, "{pair} delivers nothing");
    assert_eq!(
        class.tagged_created, class.tagged_delivered,
        "{pair}: {}",
        outcome.reason
    );
    let longest = class.hops.iter().rposition(|&packets| packets > 0);
    assert!(longest <= Some(resolved.proof.max_hops as usize), "{pair}");
    Fate::Ran
}

/// Registered engines that are tried.
fn engines() -> Vec<&'static str> {
    let names = ENGINES.names();
    names.filter(|name| !LEFT_OUT.contains(name)).collect()
}

/// Runs every engine on every topology; every engine and every topology must have run.
fn all_meet(length: u64) {
    let engines = engines();
    let pairs: Vec<(&str, &str)> = engines
        .iter()
        .flat_map(|&engine| TOPOLOGIES.names().map(move |topology| (engine, topology)))
        .collect();
    let fates: Vec<Fate> = pairs
        .par_iter()
        .map(|(engine, topology)| meet(engine, topology, length))
        .collect();
    let ran: Vec<_> = pairs
        .iter()
        .zip(&fates)
        .filter(|(_, fate)| **fate == Fate::Ran)
        .map(|(pair, _)| pair)
        .collect();
    let engines_met: BTreeSet<_> = ran.iter().map(|(engine, _)| *engine).collect();
    let topologies_met: BTreeSet<_> = ran.iter().map(|(_, topology)| *topology).collect();
    assert!(ran.len() > 150, "{} pairs ran", ran.len());
    assert_eq!(
        engines_met,
        engines.into_iter().collect(),
        "an engine never ran"
    );
    assert_eq!(
        topologies_met,
        TOPOLOGIES.names().collect(),
        "a topology never ran"
    );
}

#[test]
fn every_engine_runs_on_every_topology_it_accepts() {
    all_meet(SHORT);
}

/// Each engine starts at another topology and takes the first it runs on, so that most topologies are met.
#[test]
fn every_engine_runs_for_20000_cycles_on_a_topology() {
    let topologies: Vec<_> = TOPOLOGIES.names().collect();
    let (starts, engines) = (0..topologies.len(), engines());
    let engines: Vec<_> = starts.cycle().zip(engines).collect();
    let met: Vec<Option<&str>> = engines
        .par_iter()
        .map(|&(start, engine)| {
            let mut order = topologies[start..].iter().chain(&topologies[..start]);
            order.find(|topology| meet(engine, topology, LONG) == Fate::Ran)
        })
        .map(Option::<&&str>::copied)
        .collect();
    for ((_, engine), topology) in engines.iter().zip(&met) {
        assert!(topology.is_some(), "{engine} never ran");
    }
    let different: BTreeSet<_> = met.iter().flatten().collect();
    assert!(different.len() > 10, "{different:?}");
}

#[test]
#[ignore = "dev, 1 minute: 20,000 cycles of every engine on every topology; scripts/on_demand.sh every_pair_runs_for_20000_cycles"]
fn every_pair_runs_for_20000_cycles() {
    all_meet(LONG);
}
