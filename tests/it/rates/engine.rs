//! Rates that flows have calculated in the engine, in band and out of band, of one class or two (D73), against the solvers.

use virtlane::control::dffa::UNIT;
use virtlane::control::{Limit, ONE_FLIT_PER_CYCLE};
use virtlane::cycle::mechanisms::flows::Flows;
use virtlane::cycle::shown::FlowsShown as _;
use virtlane::fluid::check;
use virtlane::fluid::network::{Builder, Network};
use virtlane::fluid::rates::{Allocation, SOLVERS};
use virtlane::run::{Options, Simulation};
use virtlane::scenario::{Document, Parts, Resolved};

use std::path::Path;

/// Cycles after which all of these have settled.
const END: u64 = 10_000;

const OUT_OF_BAND: &str = "(transport: OutOfBand(serialisation: \"1 cycles\", processing: \"2 cycles\", routing: \"3 cycles\", \
                           propagation: \"1 cycles\"))";
const IN_BAND: &str = "(size: \"1 flits\", sl: 1)";

const FABRICS: [(&str, &str); 4] = [
    ("KAryNTree(k: 4, n: 2)", "FatTree()"),
    ("KAryNTree(k: 2, n: 4)", "FatTree()"),
    (
        "Irregular(switches: 12, degree: 4, hosts_per_switch: 2, seed: 1)",
        "UpDown()",
    ),
    ("Mesh(radix: [4, 3])", "DimensionOrder()"),
];

fn resolved(
    (topology, routing): (&str, &str),
    control: &str,
    (answers, classes): Way<'_>,
) -> Resolved {
    let class = |name: &str, flows: &str| {
        format!(
            "(name: \"{name}\", size: \"8 flits\", control: {control}, answers: {answers}, flows: [{flows}])"
        )
    };
    let [many, few] = [
        "(pairs: PerHost(count: 2))",
        "(pairs: PerHost(count: 1), weight: 3)",
    ];
    let traffic = match classes {
        1 => class("all", &format!("{many}, {few}")),
        _ => format!("{}, {}", class("many", many), class("few", few)),
    };
    let text = format!(
        r#"Scenario(
            title: "rates", seed: 3,
            fabric: (topology: {topology}, flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
                     switch: (lanes: 2, lane_capacity: "64 flits", queues: Voq)),
            routing: {routing},
            traffic: [{traffic}],
            phases: (warmup: "0 cycles", measure: "{END} cycles"),
        )"#
    );
    let document = Document::parse("rates.ron", &text, Path::new("")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{topology}: {error}"))
}

/// Channels of so many parts, and the flows on their routes.
fn network(resolved: &Resolved, unit: u64) -> Network {
    let graph = &resolved.layout.graph;
    let tables = resolved.routes.tables().expect("tables");
    let channels = graph.channels().iter();
    let capacity = |pace: u32| u128::from(unit / u64::from(pace));
    let capacities = channels.map(|channel| capacity(channel.timing.cycles_per_flit));
    let mut network = Builder::new(capacities.collect());
    for flow in &resolved.plan.flows {
        let level = flow.level;
        let path = tables.path(graph, flow.source, flow.destination, level);
        let path = path.expect("a way").into_iter();
        let channels = path.map(|(channel, _)| channel.index() as u32);
        network.flow(flow.weight.into(), 0, channels);
    }
    network.build()
}

/// Limits of the flows after the run \[2^-32 flits per cycle\].
fn limits(resolved: &Resolved) -> Vec<u128> {
    let options = Options {
        shards: 2,
        ..Options::default()
    };
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let simulation = Simulation::new(plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("one thread starts");
    simulation.run_until(END).expect("there are no messages");
    let mut limits = vec![0; plan.flows.len()];
    for flows in simulation.each::<Flows>() {
        for (row, flow) in flows.rows().iter().enumerate() {
            if let Limit::Rate(rate) = flows.state(row as u32).limit {
                limits[flow.id as usize] = rate.into();
            }
        }
    }
    limits
}

/// How control packets go, and how many classes there are.
type Way<'a> = (&'a str, u32);

fn each(mut test: impl FnMut((&str, &str), Way<'_>)) {
    for fabric in FABRICS {
        for way in [
            (OUT_OF_BAND, 1),
            (IN_BAND, 1),
            (OUT_OF_BAND, 2),
            (IN_BAND, 2),
        ] {
            test(fabric, way);
        }
    }
}

/// S1 in the engine: weight over the largest weight of a link, to the last bit.
#[test]
fn saa_gives_weight_over_largest_weight() {
    saa("Saa(period: \"500 cycles\")");
}

/// S3 in the engine: the same without looks.
#[test]
fn saa_whose_data_look_gives_the_same() {
    saa("Saa(piggy_back: true)");
}

fn saa(control: &str) {
    each(|fabric, answers| {
        let resolved = resolved(fabric, control, answers);
        let network = network(&resolved, ONE_FLIT_PER_CYCLE);
        let found = limits(&resolved);
        for (flow, plan) in resolved.plan.flows.iter().enumerate() {
            let links = network.route(flow).iter();
            let largest = links.map(|&link| network.total(link as usize)).max();
            let part = (u128::from(plan.weight) << 32) / largest.expect("a way");
            assert_eq!(found[flow], part, "{fabric:?}, flow {flow}");
        }
    });
}

/// S4 in the engine: nobody has less than with SAA, and everybody has a link with nothing left.
#[test]
fn saa_m_leaves_nothing() {
    each(|fabric, answers| {
        let control = "SaaM(period: \"500 cycles\", back_off: \"300 cycles\")";
        let resolved = resolved(fabric, control, answers);
        let rates = Allocation {
            rates: limits(&resolved),
            rounds: 1,
        };
        let network = network(&resolved, ONE_FLIT_PER_CYCLE);
        check::maximal(&network, &rates).unwrap_or_else(|unfair| panic!("{fabric:?}: {unfair}"));
    });
}

/// S8 in the engine: the solver's max-min fair rates, rounded to what limits are told in.
#[test]
fn dffa_gives_max_min_fair_rates() {
    each(|fabric, answers| {
        for one_packet in [true, false] {
            let control = format!("Dffa(begin: \"600 cycles\", one_packet: {one_packet})");
            let resolved = resolved(fabric, &control, answers);
            let network = network(&resolved, UNIT);
            let solve = SOLVERS.lookup("Ffa").expect("its name").build.solve;
            let solved = solve(&network, 1).expect("it is small").rates;
            for (flow, (&found, solved)) in limits(&resolved).iter().zip(solved).enumerate() {
                let expected = (solved << 32) / u128::from(UNIT);
                assert!(
                    found.abs_diff(expected) <= 1,
                    "{fabric:?}, flow {flow}: {found}"
                );
            }
        }
    });
}
