//! The workloads of all benchmarks, as one constant table, and how to set one in motion.

use std::fmt::Write as _;
use std::path::Path;
use virtlane::report::usage::usage;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::Document;
use virtlane::scenario::resolve::Parts;

/// A fabric under uniform traffic, 4 lanes per channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Benchmark {
    /// Name shown in tables.
    pub(crate) name: &'static str,
    /// Topology as a scenario writes it.
    pub(crate) network: &'static str,
    /// Packet size [flits].
    pub(crate) size: u32,
    /// Offered load, fraction of the link rate; `None` = saturating sources.
    pub(crate) load: Option<f64>,
    /// Space of a lane [flits].
    pub(crate) lane_capacity: u32,
    /// Latency of all links [cycles].
    pub(crate) latency: u32,
    /// Cycles of one sample; the warm-up takes as many.
    pub(crate) cycles: u64,
}

/// 1000 hosts on a fat tree.
pub(crate) const TREE_1000: &str = "KAryNTree(k: 10, n: 3)";
/// 8000 hosts on a fat tree, whose rows exceed a core's share of the caches.
pub(crate) const TREE_8000: &str = "KAryNTree(k: 20, n: 3)";
/// 1000 hosts on a torus.
pub(crate) const TORUS_1000: &str = "Torus(radix: [10, 10, 10])";

/// What the product is measured by.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    workload(
        "tree 1000, 16 flits, load 0.5",
        TREE_1000,
        16,
        Some(0.5),
        64,
        2_000,
    ),
    workload(
        "tree 1000, 8 flits, load 0.5",
        TREE_1000,
        8,
        Some(0.5),
        8,
        1_000,
    ),
    workload(
        "tree 1000, 1 flit, load 0.5",
        TREE_1000,
        1,
        Some(0.5),
        8,
        200,
    ),
    workload(
        "tree 1000, 8 flits, saturated",
        TREE_1000,
        8,
        None,
        8,
        1_000,
    ),
    workload(
        "tree 1000, 1 flit, load 0.001",
        TREE_1000,
        1,
        Some(0.001),
        8,
        60_000,
    ),
    workload(
        "torus 1000, 1 flit, load 0.4",
        TORUS_1000,
        1,
        Some(0.4),
        8,
        200,
    ),
    workload(
        "tree 8000, 16 flits, load 0.5",
        TREE_8000,
        16,
        Some(0.5),
        64,
        500,
    ),
];

/// A row with links of one cycle.
const fn workload(
    name: &'static str,
    network: &'static str,
    size: u32,
    load: Option<f64>,
    lane_capacity: u32,
    cycles: u64,
) -> Benchmark {
    Benchmark {
        name,
        network,
        size,
        load,
        lane_capacity,
        latency: 1,
        cycles,
    }
}

impl Benchmark {
    /// The scenario, as a user would write it.
    fn scenario(&self) -> String {
        // a torus needs two lanes per service level, one on each side of the dateline
        let (routing, service_levels) = match self.network.split_once('(') {
            Some(("KAryNTree", _)) => ("FatTree()", "0, 1, 2, 3"),
            Some(("Torus", _)) => ("DimensionOrder()", "0, 1"),
            _ => ("UpDown()", "0, 1, 2, 3"),
        };
        let mut process = String::from("Saturating");
        if let Some(load) = self.load {
            process.clear();
            write!(process, "Bernoulli(load: {load:?})").expect("a string takes everything");
        }
        format!(
            r#"Scenario(
                title: "benchmark",
                seed: 1,
                fabric: (
                    topology: {network},
                    flit: "64 B",
                    link: (rate: "10 Gbit/s", latency: "{latency} cycles"),
                    switch: (lanes: 4, lane_capacity: "{capacity} flits", routing_delay: "1 cycles"),
                ),
                routing: {routing},
                traffic: [(
                    name: "uniform",
                    hosts: All,
                    pattern: Uniform,
                    process: {process},
                    size: "{size} flits",
                    sl: [{service_levels}],
                )],
                phases: (warmup: "{warmup} cycles", measure: "1000000000 cycles", drain: Auto),
            )"#,
            network = self.network,
            latency = self.latency,
            capacity = self.lane_capacity,
            size = self.size,
            warmup = self.cycles,
        )
    }

    /// The simulation at cycle 0.
    ///
    /// # Panics
    /// When the workload is not a valid scenario: a mistake in this folder.
    pub(crate) fn build(&self, options: Options) -> Simulation {
        let document = Document::parse(self.name, &self.scenario(), Path::new(""));
        let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
        let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
        let simulation = Simulation::new(
            &resolved.plan,
            &resolved.layout.graph,
            &resolved.routes,
            options,
        );
        simulation.expect("worker threads start")
    }

    /// The simulation after its warm-up.
    pub(crate) fn warm(&self, options: Options) -> Simulation {
        let mut simulation = self.build(options);
        simulation
            .run_until(self.cycles)
            .expect("there are no messages");
        simulation
    }
}

/// Processor time of this process so far [s].
pub(crate) fn cpu_seconds() -> f64 {
    usage().cpu_seconds
}
