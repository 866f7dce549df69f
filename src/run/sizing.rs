//! Chooses threads and shards: by the work a window holds, not by the size of the machine alone.
//!
//! A window costs a join and an exchange of mail, about a microsecond; a shard that has less than a few
//! microseconds to do in it would rather not be a shard. Results do not depend on the choice.

use super::simulation::Options;
use crate::fabric::{OutLane, Queue};
use crate::memory::Demand;
use crate::plan::{Plan, Queues};
use crate::routing::Proof;
use crate::topology::Graph;

/// Time one packet takes at one switch, for estimates \[ns\].
const NANOSECONDS_PER_HOP: f64 = 90.0;
/// The same of a whole run, with all that is not the window's, as measured for `README.md`'s first example \[ns\].
const NANOSECONDS_PER_HOP_PLANNED: f64 = 200.0;
/// Least work of a shard in one window \[ns\].
const LEAST_WORK: f64 = 6_000.0;
/// State that stays in one core's cache \[bytes\].
const CACHE: usize = 1_500_000;
/// State of one lane, roughly \[bytes\].
const BYTES_PER_LANE: usize = 120;

/// State of one source, queues included, roughly \[bytes\].
const BYTES_PER_SOURCE: usize = 400;
/// State of a flow at its least \[bytes\].
const BYTES_PER_FLOW: u64 = 400;
/// A forwarding table entry, of the tables and of their copy in the engine \[bytes\].
const BYTES_PER_ENTRY: usize = 4;

/// Packets created per cycle in the whole fabric, at the loads of the plan.
fn packets_per_cycle(plan: &Plan, graph: &Graph) -> f64 {
    let rate = |host: crate::ids::HostId| {
        1.0 / f64::from(
            graph
                .channel(graph.host_channel(host))
                .timing
                .cycles_per_flit,
        )
    };
    plan.classes
        .iter()
        .map(|class| {
            let hosts = class
                .hosts
                .iter()
                .filter(|&&host| class.pattern.sends(host));
            class.load / class.size.mean() * hosts.map(|&host| rate(host)).sum::<f64>()
        })
        .sum()
}

/// Cycles between two exchanges of mail if the fabric is cut: the shortest link between switches.
fn window(plan: &Plan, graph: &Graph) -> u32 {
    let between = graph
        .channels()
        .iter()
        .filter(|channel| channel.from.switch().is_some() && channel.to.switch().is_some());
    let latency = between
        .map(|channel| channel.timing.latency)
        .min()
        .unwrap_or(1);
    plan.switch.credit_latency.map_or(latency, |credit| {
        credit.min(latency + plan.switch.crossbar_latency())
    })
}

/// State of a whole simulation, roughly \[bytes\].
pub fn state_bytes(plan: &Plan, graph: &Graph) -> u64 {
    let lanes = graph.channels().len() * usize::from(plan.switch.lane_count());
    let sources = graph.hosts().len() * plan.classes.len() * BYTES_PER_SOURCE;
    let tables = graph.switches().len() * graph.hosts().len() * BYTES_PER_ENTRY;
    (lanes * BYTES_PER_LANE + sources + tables) as u64
}

/// The parts of a simulation that may be large, at their least sizes.
pub fn demands(plan: &Plan, graph: &Graph) -> Vec<Demand> {
    let lanes = u64::from(plan.switch.lane_count());
    let is_voq = plan.switch.queues == Queues::Voq;
    let ports = graph.switch_ids().map(|switch| {
        let ports = graph.connected_ports(switch).count() as u64;
        ports * if is_voq { ports } else { 1 }
    });
    let queues = lanes * ports.sum::<u64>();
    let entries = graph.switches().len() as u64 * graph.hosts().len() as u64;
    let lanes = lanes * graph.channels().len() as u64;
    [
        (queues, "input queues", size_of::<Queue>() as u64),
        (lanes, "lanes", size_of::<OutLane<1>>() as u64),
        (entries, "entries of forwarding tables", 1),
        (plan.flows.len() as u64, "flows", BYTES_PER_FLOW),
    ]
    .map(|(count, what, each)| Demand { count, what, each })
    .into()
}

/// Processor time of a whole run, roughly \[s\]: offered packets times switches on their way, for warm-up and
/// measurement at their longest. Beyond saturation it is less.
pub fn core_seconds(plan: &Plan, graph: &Graph, proof: &Proof) -> f64 {
    let cycles = (plan.phases.warmup + plan.phases.measure) as f64;
    let hops = cycles * packets_per_cycle(plan, graph) * (proof.mean_hops + 1.0);
    hops * NANOSECONDS_PER_HOP_PLANNED * 1e-9
}

/// Fills in what the user left open.
pub fn choose(
    plan: &Plan,
    graph: &Graph,
    proof: &Proof,
    threads: Option<usize>,
    shards: Option<usize>,
) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.unwrap_or(cores).max(1);
    let hops = proof.mean_hops + 1.0;
    let work = packets_per_cycle(plan, graph)
        * hops
        * NANOSECONDS_PER_HOP
        * f64::from(window(plan, graph));
    let affordable = (work / LEAST_WORK) as usize;
    let lanes = graph.channels().len() * usize::from(plan.switch.lane_count());
    let by_cache = if window(plan, graph) >= 4 {
        (lanes * BYTES_PER_LANE).div_ceil(CACHE)
    } else {
        1
    };
    let by_threads = if threads > 1 { threads * 2 } else { 1 };
    let wanted = by_cache.max(by_threads).min(affordable.max(1));
    let shards = shards.unwrap_or(wanted).clamp(1, graph.switches().len());
    Options {
        threads: threads.min(shards),
        shards,
        ..Options::default()
    }
}
