//! The table of benches/README.md, as Markdown: `scripts/bench.sh`.
//!
//! Everything that is compared is measured in one run, in turn, so a busy machine slows both sides. Costs
//! are processor time; only the speed-up of threads needs the clock on the wall. Of the repetitions the
//! tables show the median, and the minimum in parentheses.
#![expect(clippy::print_stdout, reason = "prints a table")]

mod flit_loop;
mod workload;

use flit_loop::FlitLoop;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use virtlane::report::usage::usage;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::Document;
use virtlane::scenario::resolve::Parts;
use workload::{BENCHMARKS, Benchmark, cpu_seconds};

/// Samples per row.
const REPETITIONS: usize = 7;
/// Argument that turns the program into the probe for memory.
const PROBE: &str = "--peak-rss";

/// A 64-host tree and torus, and a tree larger than a core's cache, for threads.
const TREE_64: Benchmark = Benchmark {
    name: "4-ary 3-tree, 64 hosts, 16 flits, load 0.5",
    network: "KAryNTree(k: 4, n: 3)",
    cycles: 20_000,
    ..BENCHMARKS[0]
};
const SLOW_TREE_64: Benchmark = Benchmark {
    latency: 4,
    ..TREE_64
};
const TORUS_64: Benchmark = Benchmark {
    name: "8x8 torus, 64 hosts, 1 flit, load 0.4",
    network: "Torus(radix: [8, 8])",
    cycles: 4_000,
    ..BENCHMARKS[5]
};
const TREE_4096: Benchmark = Benchmark {
    name: "16-ary 3-tree, 4096 hosts, 8 flits, load 0.5",
    network: "KAryNTree(k: 16, n: 3)",
    latency: 4,
    lane_capacity: 64,
    cycles: 400,
    ..BENCHMARKS[1]
};

/// Switches of the random networks of radix 20 (19 links to switches, 1 host) that show memory.
const MEMORY_SIZES: &[(u32, &str)] = &[
    (125, "Irregular(switches: 125, degree: 19)"),
    (250, "Irregular(switches: 250, degree: 19)"),
    (500, "Irregular(switches: 500, degree: 19)"),
    (1000, "Irregular(switches: 1000, degree: 19)"),
];

/// Loads of the mesh of wormhole switching, fraction of the link rate; `None` = saturating sources.
const WORMHOLE_LOADS: &[Option<f64>] = &[Some(0.005), Some(0.05), Some(0.2), None];
/// Cycles of its samples and warm-up.
const WORMHOLE_CYCLES: u64 = 20_000;

/// One contestant and its samples.
struct Series {
    simulation: Simulation,
    cycles: u64,
    /// Per sample: processor time [s], time on the wall [s], packet-hops, flit-hops.
    samples: Vec<[f64; 4]>,
}

impl Series {
    fn new(benchmark: &Benchmark, options: Options) -> Self {
        Self {
            simulation: benchmark.warm(options),
            cycles: benchmark.cycles,
            samples: Vec::new(),
        }
    }

    /// The shipped mesh of wormhole switching after its warm-up; `load` as in [`WORMHOLE_LOADS`].
    fn wormhole(load: Option<f64>) -> Self {
        let name = "wormhole_mesh_8x8.ron";
        let text = include_str!("../scenarios/validation/wormhole_mesh_8x8.ron");
        let process = load.map_or("Saturating".into(), |load| {
            format!("Bernoulli(load: {load})")
        });
        let mut document = Document::parse(name, text, Path::new("")).expect("RON");
        for change in [
            format!("traffic.uniform.process={process}"),
            format!("phases.warmup={WORMHOLE_CYCLES} cycles"),
            "phases.measure=1000000000 cycles".into(),
            "expect=[]".into(),
        ] {
            document.set(&change).expect("the key exists");
        }
        let resolved = document.resolve(&Parts::registered()).expect("a plan");
        let (graph, options) = (&resolved.layout.graph, options(1, 1));
        let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
        let mut simulation = simulation.expect("worker threads start");
        (simulation.run_until(WORMHOLE_CYCLES)).expect("there are no messages");
        Self {
            simulation,
            cycles: WORMHOLE_CYCLES,
            samples: Vec::new(),
        }
    }

    fn sample(&mut self) {
        let before = self.simulation.hops();
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        self.simulation
            .run_until(self.simulation.now() + self.cycles)
            .expect("there are no messages");
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        let after = self.simulation.hops();
        self.samples.push([
            cpu,
            wall,
            (after.packets - before.packets) as f64,
            (after.flits - before.flits) as f64,
        ]);
    }

    /// What `value` gives for the samples.
    fn statistic(&self, value: impl Fn(&[f64; 4]) -> f64) -> Statistic {
        Statistic::of(self.samples.iter().map(value).collect())
    }

    /// Processor time per packet-hop [ns].
    fn cost(&self) -> Statistic {
        self.statistic(|[cpu, _, packets, _]| cpu * 1e9 / packets)
    }

    /// Simulated cycles per second on the wall.
    fn wall_rate(&self) -> Statistic {
        self.statistic(|[_, wall, ..]| self.cycles as f64 / wall)
    }
}

/// Median and range.
struct Statistic {
    min: f64,
    median: f64,
    max: f64,
}

impl Statistic {
    /// A cell of a cost: the median, and the minimum in parentheses.
    fn cost(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$})", self.median, self.min)
    }

    /// A cell of a rate: the median, and the maximum in parentheses.
    fn rate(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$})", self.median, self.max)
    }

    /// Cells of a ratio: of the medians, and of the minima.
    fn over(&self, other: &Self) -> String {
        format!(
            "{:.2} | {:.2}",
            self.median / other.median,
            self.min / other.min
        )
    }

    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self {
            min: values[0],
            median: values[values.len() / 2],
            max: values[values.len() - 1],
        }
    }
}

/// Takes samples of all series in turn.
fn measure<const N: usize>(mut series: [Series; N]) -> [Series; N] {
    for _ in 0..REPETITIONS {
        series.iter_mut().for_each(Series::sample);
    }
    series
}

fn options(threads: usize, shards: usize) -> Options {
    Options {
        threads,
        shards,
        ..Options::default()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|argument| argument == PROBE) {
        return probe(arguments[place + 1].parse().expect("a row of MEMORY_SIZES"));
    }
    // first: a child's peak starts at what its parent holds
    memory();
    costs();
    wormhole();
    threads();
}

/// Cost of every workload, and the ratios between them.
fn costs() {
    println!("\n| workload | ns/packet-hop | M flit-hops/s | k cycles/s |\n|---|--:|--:|--:|");
    let single = options(1, 1);
    let rows: [Series; BENCHMARKS.len()] =
        std::array::from_fn(|row| Series::new(&BENCHMARKS[row], single));
    let rows = measure(rows);
    for (benchmark, series) in BENCHMARKS.iter().zip(&rows) {
        let flits = series.statistic(|[cpu, _, _, flits]| flits / cpu / 1e6);
        let rate = series.statistic(|[cpu, ..]| series.cycles as f64 / cpu / 1e3);
        println!(
            "| {} | {} | {} | {} |",
            benchmark.name,
            series.cost().cost(0),
            flits.rate(1),
            rate.rate(1)
        );
    }
    println!("\n| cost ratio, same run | median | of minima |\n|---|--:|--:|");
    ratio("8 flits: saturated / load 0.5", &rows[3], &rows[1]);
}

fn ratio(name: &str, left: &Series, right: &Series) {
    println!("| {name} | {} |", left.cost().over(&right.cost()));
}

/// Wormhole switching beside a plain loop over all ports and lanes, of the same rules and traffic.
fn wormhole() {
    println!(
        "\n| 8x8 mesh, 2 lanes x 4 flits, 8 flits | flit-hops/cycle | plain loop | latency [cycles] | plain loop | ns/flit-hop | plain loop | over the plain loop | of minima |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for &load in WORMHOLE_LOADS {
        let mut series = Series::wormhole(load);
        let mut plain = FlitLoop::new(8, 2, 4, 8, load);
        plain.run(WORMHOLE_CYCLES);
        let mut costs = Vec::new();
        for _ in 0..REPETITIONS {
            series.sample();
            let (before, cpu) = (plain.flit_hops, cpu_seconds());
            plain.run(WORMHOLE_CYCLES);
            costs.push((cpu_seconds() - cpu) * 1e9 / (plain.flit_hops - before) as f64);
        }
        let cycles = (WORMHOLE_CYCLES * (REPETITIONS as u64 + 1)) as f64;
        let totals = series.simulation.totals();
        let (packets, latencies) = plain.delivered;
        let cost = series.statistic(|[cpu, _, _, flits]| cpu * 1e9 / flits);
        let plain_cost = Statistic::of(costs);
        println!(
            "| {} | {:.2} | {:.2} | {:.1} | {:.1} | {} | {} | {} |",
            load.map_or("saturated".into(), |load| format!("load {load}")),
            series.simulation.hops().flits as f64 / cycles,
            plain.flit_hops as f64 / cycles,
            totals.packet_latency as f64 / totals.delivered as f64,
            latencies as f64 / packets as f64,
            cost.cost(1),
            plain_cost.cost(1),
            cost.over(&plain_cost),
        );
    }
}

/// What a second thread gives, apart from what shards give that fit a core's cache.
fn threads() {
    println!(
        "\n| network | shards | cycles/s, 1 thread, 1 shard | 1 thread | 2 threads | speed-up by threads | of the best | CPU, 2 / 1 threads |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (benchmark, shards) in [
        (TREE_4096, 2),
        (TREE_4096, 4),
        (TREE_64, 2),
        (SLOW_TREE_64, 2),
        (TORUS_64, 2),
    ] {
        let [whole, one, two] = measure(
            [(1, 1), (1, shards), (2, shards)]
                .map(|(threads, shards)| Series::new(&benchmark, options(threads, shards))),
        );
        let [whole, slow, fast] = [&whole, &one, &two].map(Series::wall_rate);
        println!(
            "| {}, latency {} | {shards} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            benchmark.name,
            benchmark.latency,
            whole.rate(0),
            slow.rate(0),
            fast.rate(0),
            fast.median / slow.median,
            fast.max / slow.max,
            two.cost().min / one.cost().min
        );
    }
}

/// Memory over network size: one process per size, because a peak never sinks.
fn memory() {
    println!(
        "| switches of radix 20, 4 lanes x 8 flits | peak RSS [KiB] | more per switch [bytes] |"
    );
    println!("|---|--:|--:|");
    let program = std::env::current_exe().expect("the path of this program");
    let mut last: Option<(u32, f64)> = None;
    for (row, &(switches, _)) in MEMORY_SIZES.iter().enumerate() {
        let output = Command::new(&program)
            .args([PROBE, &row.to_string()])
            .output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let peak: f64 = text
            .expect("the probe runs")
            .trim()
            .parse()
            .expect("the probe prints bytes");
        let slope = last.map_or(String::from("-"), |(fewer, less)| {
            format!("{:.0}", (peak - less) / f64::from(switches - fewer))
        });
        println!("| {switches} | {:.0} | {slope} |", peak / 1024.0);
        last = Some((switches, peak));
    }
}

/// Prints the peak memory of one network in motion.
fn probe(row: usize) {
    let benchmark = Benchmark {
        name: "memory",
        network: MEMORY_SIZES[row].1,
        load: Some(0.1),
        cycles: 1_000,
        ..BENCHMARKS[1]
    };
    benchmark.warm(options(1, 1));
    println!("{}", usage().peak_rss_bytes);
}
