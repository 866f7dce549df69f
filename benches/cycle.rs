//! Cost of the cycle: `cargo bench --bench cycle`.
//!
//! One sample runs a warm network for a fixed number of cycles; an element is a packet that passes a
//! switch. Samples are processor time, so other work on the machine disturbs less than with a clock on
//! the wall.

mod workload;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use std::time::Duration;
use virtlane::run::Options;
use workload::{BENCHMARKS, Benchmark, cpu_seconds};

/// Processor time of the process.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = f64;
    type Value = Duration;

    fn start(&self) -> f64 {
        cpu_seconds()
    }

    fn end(&self, start: f64) -> Duration {
        Duration::from_secs_f64((cpu_seconds() - start).max(0.0))
    }

    fn add(&self, left: &Duration, right: &Duration) -> Duration {
        *left + *right
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn bench(criterion: &mut Criterion<CpuTime>, benchmark: &Benchmark) {
    let mut simulation = benchmark.warm(Options::default());
    // how much one sample does, from one sample's worth of cycles
    let before = simulation.hops().packets;
    simulation
        .run_until(simulation.now() + benchmark.cycles)
        .expect("there are no messages");
    let hops = simulation.hops().packets - before;
    let mut group = criterion.benchmark_group(benchmark.name);
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(hops));
    group.bench_function(BenchmarkId::from_parameter("cycle"), |bencher| {
        bencher.iter(|| simulation.run_until(simulation.now() + benchmark.cycles));
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();
    for benchmark in BENCHMARKS {
        bench(&mut criterion, benchmark);
    }
    criterion.final_summary();
}
