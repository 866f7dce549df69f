//! Global acts: when they come, what they see and change, and that their state is saved.

use crate::runs::{digest, simulation};
use crate::validation::scenario;
use std::path::Path;
use std::sync::{Arc, Mutex};
use virtlane::cycle::stages::generate::sources::Sources;
use virtlane::fabric::Host;
use virtlane::fabric::rows::Row;
use virtlane::run::{GlobalAct, LastingAct, RunError, Shards};
use virtlane::scenario::{Document, Parts, Resolved};

/// Sources that send in step, every 64 cycles.
const IN_STEP: &str = r#"Scenario(
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "9 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits")),
    routing: DimensionOrder(),
    traffic: [(name: "all", pattern: Uniform, process: ConstantRate(load: 0.125, phase: Zero), size: "512 B")],
    phases: (warmup: "100 cycles", measure: "900 cycles", drain: Auto),
)"#;
/// Cycles between two packets of such a source.
const STEP: u64 = 64;

/// What an act saw: cycle, packets delivered before it.
type Seen = Vec<(u64, u64)>;

/// Notes the packets delivered, at cycles that follow no rule.
#[derive(Clone, Default)]
struct Notes {
    name: &'static str,
    cycles: Vec<u64>,
    seen: Arc<Mutex<Seen>>,
    /// Who acted, in order.
    order: Arc<Mutex<Vec<&'static str>>>,
}

impl Notes {
    fn new(name: &'static str, cycles: &[u64]) -> Self {
        Self {
            name,
            cycles: cycles.to_vec(),
            ..Self::default()
        }
    }

    fn seen(&self) -> Seen {
        self.seen.lock().expect("no act panics").clone()
    }
}

impl GlobalAct for Notes {
    fn next(&self, from: u64) -> Option<u64> {
        self.cycles.iter().copied().find(|&cycle| cycle >= from)
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        assert_eq!(at, shards.now());
        self.order.lock().expect("no act panics").push(self.name);
        let mut seen = self.seen.lock().expect("no act panics");
        seen.push((at, shards.totals().delivered));
        Ok(())
    }
}

impl LastingAct for Notes {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_over(&self, _now: u64) -> bool {
        true
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&self.seen())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let seen = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        *self.seen.lock().expect("no act panics") = seen;
        Ok(())
    }
}

/// Holds back the packets of one cycle.
struct Postpone {
    cycle: u64,
    by: u64,
}

impl GlobalAct for Postpone {
    fn next(&self, from: u64) -> Option<u64> {
        (from <= self.cycle).then_some(self.cycle)
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        for mut sources in shards.each_mut::<Sources>() {
            sources.collect(at, true);
            for row in std::mem::take(&mut sources.due) {
                sources.insert(row, at + self.by);
            }
        }
        Ok(())
    }
}

fn in_step() -> Resolved {
    let document = Document::parse("step.ron", IN_STEP, Path::new("")).expect("it is a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

const SHAPES: [[usize; 2]; 5] = [[1, 1], [1, 2], [2, 2], [1, 7], [2, 7]];

/// Runs to `end` with an act at these cycles; what it saw is what a run sees that is stopped there.
fn check(resolved: &Resolved, cycles: &[u64], end: u64) {
    let mut alone = simulation(resolved, [1, 1]);
    let mut expected = Seen::new();
    for &cycle in cycles {
        alone.run_until(cycle).expect("there are no messages");
        expected.push((cycle, alone.totals().delivered));
    }
    alone.run_until(end).expect("there are no messages");
    for shape in SHAPES {
        let mut watched = simulation(resolved, shape);
        let notes = Notes::new("notes", cycles);
        watched.register(notes.clone());
        watched.run_until(end).expect("there are no messages");
        assert_eq!(notes.seen(), expected, "{shape:?}");
        assert_eq!(digest(&watched), digest(&alone), "{shape:?}");
        // nothing is done twice
        watched.run_until(end).expect("there are no messages");
        assert_eq!(notes.seen(), expected, "{shape:?}");
    }
    assert!(expected.last().is_some_and(|last| last.1 > 0));
}

#[test]
fn acts_come_at_their_cycles_whatever_the_windows_are() {
    // links of nine cycles: windows of nine cycles between shards
    check(&in_step(), &[0, 1, 13, 14, 100, 555, 900, 1000], 1000);
}

#[test]
fn acts_come_while_nothing_moves() {
    let changes = [
        "fabric.topology=Ring(switches: 14)",
        "routing=UpDown()",
        "traffic.uniform.process.load=0.0005",
    ];
    let resolved = scenario("default.ron", &changes);
    let cycles: Vec<u64> = (1..60).map(|number| number * 1_009).collect();
    check(&resolved, &cycles, 70_000);
}

#[test]
fn what_an_act_changes_counts_in_the_next_cycle() {
    let resolved = in_step();
    let hosts = resolved.layout.graph.hosts().len() as u64;
    let (cycle, by) = (3 * STEP, 37);
    let mut digests = Vec::new();
    for shape in SHAPES {
        let mut simulation = simulation(&resolved, shape);
        let mut postpone = Postpone { cycle, by };
        let mut created = |until| {
            let run = simulation.run_with(until, &mut [&mut postpone]);
            run.expect("there are no messages");
            simulation.totals().created
        };
        // the packets of cycle 0 and of two more, not the fourth, which comes later
        assert_eq!(created(cycle), 3 * hosts, "{shape:?}");
        assert_eq!(created(cycle + by), 3 * hosts, "{shape:?}");
        assert_eq!(created(cycle + by + 1), 4 * hosts, "{shape:?}");
        assert_eq!(created(1000) % hosts, 0, "{shape:?}");
        digests.push(digest(&simulation));
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]));
    let mut other = simulation(&resolved, [1, 1]);
    other.run_until(1000).expect("there are no messages");
    assert_ne!(digest(&other), digests[0]);
}

#[test]
fn a_state_between_two_acts_has_what_they_remember() {
    let resolved = in_step();
    let cycles = [50, 300, 301, 800];
    let whole = Notes::new("notes", &cycles);
    let mut alone = simulation(&resolved, [1, 2]);
    alone.register(whole.clone());
    alone.run_until(1000).expect("there are no messages");
    // at the cycle of an act it is done, and not done again
    for at in [0, 150, 300, 301, 700] {
        let mut first = simulation(&resolved, [2, 2]);
        first.register(Notes::new("notes", &cycles));
        first.run_until(at).expect("there are no messages");
        let state = first.save().expect("it can be saved");
        let notes = Notes::new("notes", &cycles);
        let mut second = simulation(&resolved, [1, 2]);
        second.register(notes.clone());
        second.restore(at, &state, false).expect("it fits");
        second.run_until(1000).expect("there are no messages");
        assert_eq!(notes.seen(), whole.seen(), "{at}");
        assert_eq!(digest(&second), digest(&alone), "{at}");
        // other acts would go on from nothing
        let mut third = simulation(&resolved, [1, 2]);
        third.register(Notes::new("others", &cycles));
        let refused = third.restore(at, &state, false);
        assert_eq!(refused, Err("it is of other acts".into()));
    }
}

#[test]
fn acts_of_a_cycle_come_in_the_order_in_which_they_were_registered() {
    let resolved = in_step();
    let mut simulation = simulation(&resolved, [2, 2]);
    let first = Notes::new("b", &[200]);
    let [second, mut third] = ["a", "c"].map(|name| Notes {
        name,
        ..first.clone()
    });
    simulation.register(first.clone());
    simulation.register(second);
    let run = simulation.run_with(300, &mut [&mut third]);
    run.expect("there are no messages");
    assert_eq!(*first.order.lock().expect("no act panics"), ["b", "a", "c"]);
}

#[test]
fn hosts_have_places_in_the_order_of_their_ids() {
    let resolved = in_step();
    let mut simulation = simulation(&resolved, [1, 7]);
    let mut rows = vec![Vec::new(); simulation.shard_count()];
    simulation.columns_mut::<Host>(|shard, hosts| {
        rows[shard] = hosts.iter().map(|host| host.id).collect();
    });
    let hosts: Vec<_> = simulation.hosts().collect();
    assert_eq!(hosts.len(), resolved.layout.graph.hosts().len());
    for (number, (host, place)) in (0..).zip(hosts) {
        assert_eq!(host.0, number);
        assert_eq!(rows[place.shard][place.row.index()], number);
    }
}
