//! dev
use std::sync::Arc;
use virtlane::ids::*;
use virtlane::registry::Arguments;
use virtlane::routing::*;
use virtlane::run::*;
use virtlane::scenario::plan::*;
use virtlane::topology::graph::*;
use virtlane::topology::*;
use virtlane::traffic::*;

fn tree(k: u32, n: u32, lat: u32) -> Graph {
    let mut b = GraphBuilder::new();
    let per = k.pow(n - 1);
    let t = ChannelTiming {
        cycles_per_flit: 1,
        latency: lat,
    };
    for l in 0..n {
        for w in 0..per {
            b.add_switch(
                format!("L{l}W{w}"),
                0,
                if l == 0 { k } else { 2 * k } as u16,
            );
        }
    }
    for l in 0..n - 1 {
        for w in 0..per {
            for d in 0..k {
                // digit w_l (most significant first): place value k^(n-2-l)
                let place = k.pow(n - 2 - l);
                let own = w / place % k;
                let child = w - own * place + d * place;
                b.connect(
                    Endpoint::Switch(SwitchId(l * per + w), d as u16 + 1),
                    Endpoint::Switch(SwitchId((l + 1) * per + child), (k + 1 + own) as u16),
                    t,
                )
                .unwrap();
            }
        }
    }
    for w in 0..per {
        for d in 0..k {
            let h = b.add_host(format!("H{}", w * k + d), 0);
            b.connect(
                Endpoint::Host(h),
                Endpoint::Switch(SwitchId((n - 1) * per + w), d as u16 + 1),
                t,
            )
            .unwrap();
        }
    }
    b.set_shape(Shape::Tree(TreeShape {
        arity: k,
        levels: n,
    }));
    b.build().unwrap()
}
fn torus(radix: Vec<u32>) -> Graph {
    let mut b = GraphBuilder::new();
    let n: u32 = radix.iter().product();
    let dims = radix.len() as u16;
    for s in 0..n {
        b.add_switch(format!("S{s}"), 0, 2 * dims + 1);
    }
    let mut stride = 1;
    for (d, &k) in radix.iter().enumerate() {
        for s in 0..n {
            let c = s / stride % k;
            let to = if c + 1 == k {
                s - c * stride
            } else {
                s + stride
            };
            b.connect(
                Endpoint::Switch(SwitchId(s), 2 * d as u16 + 1),
                Endpoint::Switch(SwitchId(to), 2 * d as u16 + 2),
                ChannelTiming::default(),
            )
            .unwrap();
        }
        stride *= k;
    }
    for s in 0..n {
        let h = b.add_host(format!("H{s}"), 0);
        b.connect(
            Endpoint::Host(h),
            Endpoint::Switch(SwitchId(s), 2 * dims + 1),
            ChannelTiming::default(),
        )
        .unwrap();
    }
    b.set_shape(Shape::Grid(GridShape {
        wrap: vec![true; radix.len()],
        radix,
        hosts_per_switch: 1,
    }));
    b.build().unwrap()
}

fn main() {
    let a: Vec<String> = std::env::args()
        .skip(1)
        .filter(|x| x != "--bench")
        .collect();
    let get = |i: usize, d: &str| a.get(i).cloned().unwrap_or(d.into());
    let net = get(0, "tree10");
    let size: u16 = get(1, "16").parse().unwrap();
    let load: f64 = get(2, "0.5").parse().unwrap();
    let cap: u32 = get(3, "64").parse().unwrap();
    let cycles: u64 = get(4, "5000").parse().unwrap();
    let fused = get(5, "staged") == "fused";
    let threads: usize = get(6, "1").parse().unwrap();
    let shards: usize = get(7, "1").parse().unwrap();
    let (graph, engine) = match &net[..] {
        "tree10" => (tree(10, 3, 1), "FatTree"),
        "tree16" => (tree(16, 3, 4), "FatTree"),
        "tree4" => (tree(4, 3, 1), "FatTree"),
        "torus10" => (torus(vec![10, 10, 10]), "DimensionOrder"),
        _ => panic!(),
    };
    let sls = if net.starts_with("torus") { 2 } else { 4 };
    let hosts: Vec<HostId> = graph.host_ids().collect();
    let pattern = (PATTERNS.find("Uniform").unwrap().build)(
        Arguments { text: "" },
        &PatternContext {
            graph: &graph,
            hosts: &hosts,
            seed: 1,
            class: 0,
        },
    )
    .unwrap();
    let process = (PROCESSES.find("Bernoulli").unwrap().build)(
        Arguments {
            text: &format!("(load: {load})"),
        },
        ProcessContext {
            mean_size: f64::from(size),
            cycles_per_flit: 1,
        },
    )
    .unwrap();
    let plan = Plan {
        title: "dev".into(),
        seed: 1,
        flit_bytes: 64,
        reference_rate: 10_000_000_000,
        switch: SwitchOptions {
            lanes: 4,
            lane_capacity: cap,
            ..Default::default()
        },
        host: HostOptions::default(),
        classes: vec![ClassPlan {
            name: "a".into(),
            hosts,
            pattern,
            process: process.process,
            other_processes: Vec::new(),
            size: SizeDistribution::fixed(size),
            service_levels: (0..sls).map(SlId).collect(),
            management: false,
            load,
            packets_per_host: None,
        }],
        phases: Phases {
            warmup: 0,
            measure: 1,
            drain_limit: 1,
            watchdog: 1000,
        },
        allow_deadlock: false,
    };
    let engine = (ENGINES.find(engine).unwrap().build)(Arguments { text: "" }).unwrap();
    let tables = engine
        .route(
            &graph,
            LaneBudget {
                lanes: 4,
                service_levels: sls,
            },
            1,
        )
        .unwrap();
    let t0 = std::time::Instant::now();
    let mut sim = Simulation::new(
        &plan,
        &graph,
        &tables,
        Options {
            threads,
            shards,
            fused,
            ..Default::default()
        },
    )
    .unwrap();
    eprintln!("build {:?} shards {}", t0.elapsed(), sim.shard_count());
    let warm = cycles / 5;
    sim.run_until(warm);
    let count = |sim: &Simulation| {
        sim.states().fold((0, 0, 0), |a, s| {
            (
                a.0 + s.work.records.packet_hops,
                a.1 + s.work.records.flit_hops,
                a.2 + s.work.records.totals.delivered,
            )
        })
    };
    let before = count(&sim);
    let t = std::time::Instant::now();
    sim.run_until(warm + cycles);
    let dt = t.elapsed().as_secs_f64();
    let after = count(&sim);
    let (ph, fh, dl) = (after.0 - before.0, after.1 - before.1, after.2 - before.2);
    println!(
        "{net} size {size} load {load}: {:.1} ns/packet-hop, {:.1} M flit-hops/s, {:.1} k cycles/s, delivered {dl}, accepted {:.3}, hops {ph}",
        dt * 1e9 / ph as f64,
        fh as f64 / dt / 1e6,
        cycles as f64 / dt / 1e3,
        dl as f64 * f64::from(size) / cycles as f64 / graph.hosts().len() as f64
    );
    let _ = std::mem::size_of::<u8>();
    let _: Option<Arc<u8>> = None;
}
