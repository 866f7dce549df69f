//! Random traffic: small patterns and processes of the tests' own, and those of scenarios.

use super::{Dice, Drawn, levels, shipped};
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::ClassPlan;
use virtlane::plan::Plan;
use virtlane::rng::{Stream, below};
use virtlane::topology::Graph;
use virtlane::traffic::messages::{
    After, Message, MessageError, MessageSource, Messages, Workload, check,
};
use virtlane::traffic::{Gap, Pattern, Process, ProcessState, Receivers, Share, SizeDistribution};

/// Every other host, equally likely.
#[derive(Debug)]
struct Uniform {
    hosts: u32,
}

/// All packets to one host.
fn all_to(to: HostId) -> Vec<Share<'static>> {
    vec![Share {
        part: 1.0,
        to: Receivers::One(to),
    }]
}

/// A part of the packets to every other host alike.
fn others(hosts: u32, source: HostId, part: f64) -> Vec<Share<'static>> {
    let others = (0..hosts).map(HostId).filter(|&host| host != source);
    let share = |to| Share {
        part: part / f64::from(hosts - 1),
        to: Receivers::One(to),
    };
    others.map(share).collect()
}

impl Pattern for Uniform {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        Some(other(self.hosts, source, rng))
    }

    fn sends(&self, _: HostId) -> bool {
        true
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        others(self.hosts, source, 1.0)
    }
}

pub(super) fn other(hosts: u32, source: HostId, rng: &mut Stream) -> HostId {
    HostId((source.0 + 1 + below(rng, hosts - 1)) % hosts)
}

/// One fixed destination per host; fixed points are silent.
#[derive(Debug)]
struct Pairs {
    partner: Vec<u32>,
}

impl Pattern for Pairs {
    fn destination(&self, source: HostId, _: &mut Stream) -> Option<HostId> {
        let partner = HostId(self.partner[source.index()]);
        (partner != source).then_some(partner)
    }

    fn sends(&self, source: HostId) -> bool {
        self.partner[source.index()] != source.0
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        match HostId(self.partner[source.index()]) {
            partner if partner == source => Vec::new(),
            partner => all_to(partner),
        }
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

/// A share of the packets to one host, the others anywhere.
#[derive(Debug)]
struct HotSpot {
    hosts: u32,
    hot: HostId,
    percent: u32,
}

impl Pattern for HotSpot {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        if below(rng, 100) < self.percent && source != self.hot {
            return Some(self.hot);
        }
        Some(other(self.hosts, source, rng))
    }

    fn sends(&self, _: HostId) -> bool {
        true
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        if source == self.hot {
            return others(self.hosts, source, 1.0);
        }
        let hot = f64::from(self.percent) / 100.0;
        let mut shares = others(self.hosts, source, 1.0 - hot);
        shares.push(Share {
            part: hot,
            to: Receivers::One(self.hot),
        });
        shares
    }
}

/// All packets to one host, which sends none itself.
#[derive(Debug)]
pub(crate) struct ToOne(pub(crate) HostId);

impl Pattern for ToOne {
    fn destination(&self, source: HostId, _: &mut Stream) -> Option<HostId> {
        self.sends(source).then_some(self.0)
    }

    fn sends(&self, source: HostId) -> bool {
        source != self.0
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        if self.sends(source) {
            all_to(self.0)
        } else {
            Vec::new()
        }
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

/// A packet in every cycle with a chance of `per_mille / 1000`.
#[derive(Debug)]
struct Trials {
    per_mille: u32,
}

impl Process for Trials {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let mut gap = u64::from(state.calls > 0);
        state.calls += 1;
        while below(rng, 1000) >= self.per_mille {
            gap += 1;
        }
        Gap::After(gap)
    }
}

/// A packet every `period` cycles from a random first one on.
#[derive(Debug)]
struct Periodic {
    period: u32,
}

impl Process for Periodic {
    fn start(&self, rng: &mut Stream) -> ProcessState {
        ProcessState {
            phase: u64::from(below(rng, self.period)),
            ..ProcessState::default()
        }
    }

    fn gap(&self, state: &mut ProcessState, _: &mut Stream) -> Gap {
        state.calls += 1;
        Gap::After(if state.calls == 1 {
            state.phase
        } else {
            u64::from(self.period)
        })
    }
}

/// Always backlogged.
#[derive(Debug)]
pub(crate) struct Saturating;

impl Process for Saturating {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, _: &mut ProcessState, _: &mut Stream) -> Gap {
        Gap::WhenSent
    }
}

/// One to four classes, one more on VL15 when there is one.
pub(super) fn classes(dice: &mut Dice, drawn: &Drawn, graph: &Graph) -> Vec<ClassPlan> {
    let data = dice.between(1, 4);
    let levels = drawn.service_levels;
    let mut classes: Vec<ClassPlan> = (0..data)
        .map(|index| class(dice, graph, drawn.seed, levels, index as usize))
        .collect();
    // all service levels of the tables exist
    classes[0].service_levels = (0..levels).map(SlId).collect();
    if drawn.management {
        let mut class = class(dice, graph, drawn.seed, 1, data as usize);
        class.management = true;
        let place = dice.between(0, data) as usize;
        classes.insert(place, class);
    }
    classes
}

fn class(dice: &mut Dice, graph: &Graph, seed: u64, service_levels: u8, index: usize) -> ClassPlan {
    let size = sizes(dice);
    let is_backlogged = dice.chance(20);
    let (timing, process, load) = process(dice, size.mean(), is_backlogged);
    let some = dice.chance(25);
    let mut hosts: Vec<HostId> = graph.host_ids().collect();
    hosts.retain(|_| !some || dice.chance(60));
    let mut levels: Vec<SlId> = (0..service_levels).map(SlId).collect();
    levels.retain(|_| dice.chance(60));
    if levels.is_empty() {
        levels.push(SlId(dice.between(0, u32::from(service_levels) - 1) as u8));
    }
    let (direction, pattern) = pattern(dice, graph, &hosts, seed, index);
    let name = format!("class {index}: {direction}, {timing}");
    ClassPlan {
        pattern,
        process,
        load,
        packets_per_host: dice.chance(20).then(|| u64::from(dice.between(1, 30))),
        ..ClassPlan::silent(name, hosts, size, levels)
    }
}

/// Other patterns, processes and limits for the classes that are not always backlogged.
pub(super) fn change(dice: &mut Dice, graph: &Graph, seed: u64, classes: &mut [ClassPlan]) {
    for (index, class) in classes.iter_mut().enumerate() {
        if class.is_backlogged() || class.flows.is_some() || class.answers.is_some() {
            continue;
        }
        if dice.chance(50) {
            (_, class.pattern) = pattern(dice, graph, &class.hosts, seed, index);
        }
        if dice.chance(50) {
            (_, class.process, class.load) = process(dice, class.size.mean(), false);
        }
        if dice.chance(30) {
            class.packets_per_host = dice.chance(50).then(|| u64::from(dice.between(1, 60)));
        }
    }
}

pub(super) fn sizes(dice: &mut Dice) -> SizeDistribution {
    if dice.chance(40) {
        return SizeDistribution::fixed(dice.pick(&[1, 2, 4, 8, 11, 32]));
    }
    let mut entries: Vec<(u16, u32)> = (0..dice.between(2, 4))
        .map(|_| (dice.pick(&[1, 1, 2, 3, 5, 8, 16]), dice.between(1, 5)))
        .collect();
    if dice.chance(8) {
        entries.push((dice.between(33, 250) as u16, 1));
    }
    SizeDistribution::mixed(entries).expect("sizes and weights above 0")
}

/// A process with its name.
pub(super) fn process(
    dice: &mut Dice,
    mean_size: f64,
    is_backlogged: bool,
) -> (&'static str, Arc<dyn Process>, f64) {
    if dice.chance(40) {
        let (name, offered) = shipped::process(dice, mean_size, is_backlogged);
        return (name, offered.process, offered.load);
    }
    if is_backlogged {
        return ("own", Arc::new(Saturating), 1.0);
    }
    let load = f64::from(dice.between(2, 90)) / 100.0;
    if dice.chance(40) {
        let period = (mean_size / load).ceil().max(1.0) as u32;
        return ("own", Arc::new(Periodic { period }), load);
    }
    let per_mille = (1000.0 * load / mean_size).ceil() as u32;
    ("own", Arc::new(Trials { per_mille }), load)
}

/// A pattern with its name.
fn pattern(
    dice: &mut Dice,
    graph: &Graph,
    senders: &[HostId],
    seed: u64,
    class: usize,
) -> (&'static str, Arc<dyn Pattern>) {
    if dice.chance(40) {
        return shipped::pattern(dice, graph, senders, seed, class);
    }
    ("own", own_pattern(dice, graph.hosts().len() as u32))
}

fn own_pattern(dice: &mut Dice, hosts: u32) -> Arc<dyn Pattern> {
    match dice.between(0, 9) {
        0..=3 => Arc::new(Uniform { hosts }),
        4..=6 => {
            let mut partner: Vec<u32> = (0..hosts).collect();
            for i in (1..partner.len()).rev() {
                partner.swap(i, dice.between(0, i as u32) as usize);
            }
            Arc::new(Pairs { partner })
        }
        7 | 8 => Arc::new(HotSpot {
            hosts,
            hot: HostId(dice.between(0, hosts - 1)),
            percent: dice.between(10, 80),
        }),
        _ => Arc::new(ToOne(HostId(dice.between(0, hosts - 1)))),
    }
}

/// Messages as they are.
#[derive(Debug)]
pub(crate) struct Given(pub(crate) Vec<Message>);

impl MessageSource for Given {
    fn file(&self) -> &'static str {
        "given"
    }

    fn messages(&self) -> Result<Messages, MessageError> {
        Ok(Box::new(self.0.clone().into_iter().map(Ok)))
    }
}

/// One or two classes with messages that wait for each other, as the first or the last ones; hosts reject nothing then.
pub(super) fn add_messages(dice: &mut Dice, graph: &Graph, service_levels: u8, plan: &mut Plan) {
    plan.host.source_queue = None;
    let count = dice.between(1, 2) as usize;
    let first = dice.pick(&[0, plan.classes.len()]);
    let numbers: Vec<u16> = (first..first + count).map(|number| number as u16).collect();
    let source = Arc::new(Given(random_messages(
        dice,
        graph,
        plan.flit_bytes,
        &numbers,
    )));
    for index in 0..count {
        let (name, hosts) = (format!("messages {index}"), graph.host_ids().collect());
        let size = SizeDistribution::fixed(dice.pick(&[1, 2, 5, 8]));
        let level = SlId(dice.between(0, u32::from(service_levels) - 1) as u8);
        let levels = levels::several(dice, level, service_levels.into());
        let class = ClassPlan {
            messages: Some(0),
            ..ClassPlan::silent(name, hosts, size, levels)
        };
        plan.classes.insert(first + index, class);
    }
    let sizes: Vec<u16> = plan
        .classes
        .iter()
        .map(|class| class.size.largest())
        .collect();
    let checked = check(&*source, graph.hosts().len(), &sizes, plan.flit_bytes);
    let checked = checked.expect("messages that can be");
    for &number in &numbers {
        let counts = &checked.counts[usize::from(number)];
        plan.classes[usize::from(number)].messages = Some(counts.messages);
    }
    plan.workloads.push(Workload {
        source,
        longest_delay: checked.longest_delay,
        last: checked.last,
    });
}

fn random_messages(
    dice: &mut Dice,
    graph: &Graph,
    flit_bytes: u32,
    classes: &[u16],
) -> Vec<Message> {
    let hosts = graph.hosts().len() as u32;
    let (step, delay) = (dice.pick(&[0, 3, 40]), dice.pick(&[0, 1, 70]));
    let mut messages: Vec<Message> = Vec::new();
    let mut time = 0;
    for line in 0..u64::from(dice.between(1, 60)) {
        time += u64::from(dice.between(0, step));
        let source = HostId(dice.between(0, hosts - 1));
        let destination = other(hosts, source, &mut dice.0);
        let known = (0..).zip(&messages).filter(|(_, earlier)| {
            let ends = [earlier.source, earlier.destination];
            ends.contains(&source)
        });
        let known: Vec<u64> = known.map(|(number, _)| number).collect();
        let mut after = Vec::new();
        while !known.is_empty() && dice.chance(55) && after.len() < 4 {
            after.push(After {
                message: dice.pick(&known),
                delay: u64::from(dice.between(0, delay)),
            });
        }
        messages.push(Message {
            line,
            time,
            source,
            destination,
            class: dice.pick(classes),
            bytes: u64::from(dice.between(0, 19)) * u64::from(flit_bytes)
                + u64::from(dice.between(0, flit_bytes)),
            after,
        });
    }
    messages
}
