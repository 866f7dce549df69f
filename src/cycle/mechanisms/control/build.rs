//! Builds the senders, receivers and control queues of a shard.

use super::answers::{Answers, Way};
use super::make::system as make;
use super::notify::system as notify;
use super::parts::Parts;
use super::sender::Controlled;
use super::senders::Senders;
use crate::control::{Actions, Facts, Line, Payload};
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::flows::{Flows, lane_of};
use crate::cycle::shown;
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::cycle::ties::Riding;
use crate::fabric::rows::HostRow;
use crate::plan::{ClassPlan, Control, FlowPlan};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Control as a mechanism.
pub struct Controlling;

impl Mechanism for Controlling {
    fn of(site: &Site<'_>) -> Option<Self> {
        let mut flows = site.plan.flows.iter();
        flows
            .any(|flow| control(site, flow).is_some())
            .then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let answers = answers(&site);
        let mut senders = senders(&site);
        start(&site, &mut senders, &mut shard.built::<Flows>());
        shard.resource(answers);
        shard.resource(senders);
        shard.shown().answers = Some(|world| world.resource::<Answers>());
        shard.shown().senders = Some(shown::Senders {
            state: |world, row| world.resource::<Senders>().state(world.resource(), row),
            count: |world, row, sent| world.resource::<Senders>().count(row, sent),
        });
        shard.subscribe(Fact::Sent);
        shard.subscribe(Fact::Delivered);
        shard.queue(|world| world.resource::<Answers>().waiting());
        shard.count(Count {
            name: "control.triggers",
            by: Reduction::Sum,
            value: |world, _| world.resource::<Senders>().all_logged(),
        });
        if site.plan.classes.iter().any(ClassPlan::begins) {
            count_reservations(shard);
        }
        shard.last_system(Slot::Admit, "answers", make);
        shard.last_system(Slot::Notify, "control", notify);
        shard.rides(Riding {
            systems: &[(Slot::Admit, "answers"), (Slot::Notify, "control")],
            alarm: Some(|world, from| {
                let (answers, senders) = (world.resource::<Answers>(), world.resource::<Senders>());
                answers.next().min(senders.next()).max(from)
            }),
        });
    }
}

/// What is counted of flows that their senders begin (D60, D67).
fn count_reservations<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    let by = Reduction::Sum;
    shard.count(Count {
        name: "reservation.requests",
        by,
        value: |world, _| {
            let flows = world.resource::<Flows>();
            world.resource::<Senders>().requests(flows)
        },
    });
    shard.count(Count {
        name: "reservation.begun",
        by,
        value: |world, _| world.resource::<Senders>().begun.flows,
    });
    shard.count(Count {
        name: "reservation.waits",
        by,
        value: |world, _| world.resource::<Senders>().begun.waits,
    });
    shard.count(Count {
        name: "reservation.longest_wait",
        by: Reduction::Most,
        value: |world, _| world.resource::<Senders>().begun.longest,
    });
}

fn control<'a>(site: &Site<'a>, flow: &FlowPlan) -> Option<&'a Control> {
    site.plan.classes[usize::from(flow.class)].control.as_ref()
}

/// Flows that end in the shard, in the order of their rows there.
fn tails<'a>(site: &Site<'a>) -> impl Iterator<Item = (u32, &'a FlowPlan)> {
    let shards = &site.placement.host_shard;
    let number = site.number;
    let flows = (0..).zip(&site.plan.flows);
    flows.filter(move |(_, flow)| shards[flow.destination.index()] as usize == number)
}

fn answers(site: &Site<'_>) -> Answers {
    let plan = site.plan;
    let hosts = site.placement.hosts[site.number].len();
    let first_port = site.placement.first_host_port[site.number];
    let first = plan.first_answers() as u16;
    let classes = plan.classes.len() as u16 - first;
    let way = |(id, flow): (u32, &FlowPlan)| {
        let class = control(site, flow)?.answers;
        let (key, lane) = lane_of(site, [flow.destination, flow.source], id, class);
        let port = site.placement.host_port[flow.destination.index()];
        Some(Way {
            host: HostRow(port.minus(first_port)),
            source: flow.destination.0,
            destination: flow.source.0,
            flow: id,
            class,
            size: plan.classes[usize::from(class)].size.largest(),
            packets: control(site, flow)?.algorithm.packets_per_answer(),
            key,
            lane,
        })
    };
    Answers {
        ways: tails(site).map(way).collect(),
        first,
        classes,
        numbers: vec![0; hosts * usize::from(classes)],
        queues: vec![VecDeque::new(); site.shared.numbering.rows(hosts)],
        ..Answers::default()
    }
}

fn senders(site: &Site<'_>) -> Senders {
    let receiver = |(_, flow): (u32, &FlowPlan)| {
        let algorithm = &control(site, flow)?.algorithm;
        let mut receiver = algorithm.receiver();
        algorithm.expect(&mut receiver, flow.flits);
        Some(receiver)
    };
    let classes = &site.plan.classes;
    let first = site.plan.first_answers();
    let answers = classes[first..].iter();
    // answers have no senders of their own, but others wait for room or content of theirs
    let hears = |(number, class): (usize, &ClassPlan)| {
        let own = class.control.as_ref();
        number >= first || own.is_some_and(|control| control.algorithm.hears_starts())
    };
    let packets = |class: &ClassPlan| {
        let answered = &classes[usize::from(class.answers?)];
        Some(answered.control.as_ref()?.algorithm.packets_per_answer())
    };
    Senders {
        algorithms: (classes.iter())
            .map(|class| Some(class.control.as_ref()?.algorithm.clone()))
            .collect(),
        hears_starts: classes.iter().enumerate().map(hears).collect(),
        packets: answers.map(|class| packets(class).unwrap_or(1)).collect(),
        receivers: tails(site).map(receiver).collect(),
        ..Senders::default()
    }
}

/// Starts the senders.
fn start(site: &Site<'_>, senders: &mut Senders, flows: &mut Flows) {
    let count = flows.rows().len();
    senders.answered = vec![0; count];
    let mut controls = site.plan.classes.iter().flat_map(|class| &class.control);
    if controls.any(|control| control.algorithm.carries()) {
        senders.laid = vec![Payload::default(); count];
    }
    if site.plan.classes.iter().any(ClassPlan::begins) {
        let rows = flows.rows().iter();
        let starts = rows.map(|flow| site.plan.flows[flow.id as usize].start);
        senders.starts = starts.collect();
    }
    let connections = site.plan.connections();
    if let Some(connections) = &connections {
        let rows = flows.rows().iter();
        let next = rows.map(|flow| {
            let next = connections.of(flow.id as usize)?.next?;
            Some(site.shared.flow_ends[next as usize].row)
        });
        senders.next = next.collect();
        senders.closed = vec![false; count];
    }
    senders.parts = Parts::new(if senders.packets.iter().any(|&packets| packets > 1) {
        count
    } else {
        0
    });
    for row in 0..count as u32 {
        let is_speaker = flows.speaker(row) == row;
        let id = flows.rows()[row as usize].id;
        let flow = &site.plan.flows[id as usize];
        let later = connections.as_ref();
        let later = later.is_some_and(|connections| connections.is_later(id as usize));
        let controlled = control(site, flow).filter(|_| is_speaker).map(|control| {
            let channel = site.graph.channel(site.graph.host_channel(flow.source));
            let line = Line {
                pace: channel.timing.cycles_per_flit as u16,
                largest: site.plan.classes[usize::from(flow.class)].size.largest(),
            };
            let mut actions = Actions::default();
            let mut sender = control.algorithm.start(line, &mut actions);
            let facts = Facts {
                id,
                start: if later { Facts::NO_START } else { flow.start },
                stop: flow.stop,
                flits: flow.flits,
                weight: flow.weight,
            };
            control.algorithm.begin(&mut sender, facts, &mut actions);
            senders.lay(row, &actions);
            flows.set_control(row, actions.limit.unwrap_or_default(), actions.window);
            let timer = actions.timer.flatten();
            if let Some(at) = timer {
                senders.timers.push(Reverse((at, row)));
            }
            Controlled::new(sender, timer.unwrap_or(u64::MAX))
        });
        senders.rows.push(controlled);
    }
}
