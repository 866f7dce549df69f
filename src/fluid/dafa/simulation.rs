//! The messages in the order of time.

use super::element::Element;
use super::messages::{Answer, Message, Stamp, Task};
use super::{Elements, Times};
use crate::fluid::link_worker::{AppBits, LinkWorker};
use crate::fluid::network::Network;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A calculation: what one trigger has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calculation {
    /// When the leader began \[ns\].
    pub began: u64,
    /// Rounds that held somebody.
    pub rounds: u64,
    /// When the leader had all rates: the end of the last round \[ns\].
    pub found: u64,
    /// When it knew that these are all; `None` if the next calculation began before \[ns\].
    pub ended: Option<u64>,
    /// When the last element had them \[ns\].
    pub told: Option<u64>,
    /// Messages of PIFs.
    pub messages: u64,
    /// Messages that tell levels.
    pub telling: u64,
}

/// Flows of an application that begin or end together.
#[derive(Clone, Copy, Debug)]
struct Change {
    begins: bool,
    /// Element of the source of its first flow, who triggers.
    source: u32,
    /// Flows whose announcements have not returned.
    open: usize,
}

/// A fabric in which applications begin and end.
#[derive(Debug)]
pub struct Simulation<'a> {
    network: &'a Network,
    elements: &'a Elements,
    times: Times,
    leader: u32,
    /// By element.
    states: Vec<Element>,
    /// By link.
    workers: Vec<LinkWorker>,
    changes: Vec<Change>,
    /// Levels that the leader has found.
    levels: Vec<u128>,
    level: u128,
    calculations: Vec<Calculation>,
    announcing: u64,
    /// By time, and in the order in which they were sent: to whom, from whom, what.
    under_way: BTreeMap<(u64, u64), (u32, u32, Message)>,
    sent: u64,
}

/// DAFA*: all flows are there; the leader begins at 0 and finds these levels of applications.
pub fn star(
    network: &Network,
    elements: &Elements,
    leader: u32,
    times: Times,
) -> (Vec<u128>, Calculation) {
    let mut simulation = Simulation::new(network, elements, leader, times);
    for (number, flow) in network.flows().iter().enumerate() {
        for &link in network.route(number) {
            simulation.workers[link as usize].add(flow.application as usize, flow.weight);
        }
    }
    simulation.trigger(0);
    simulation.run();
    (simulation.levels, simulation.calculations[0])
}

impl<'a> Simulation<'a> {
    /// Before the first flow. The elements are connected, and have all links of the network.
    pub fn new(network: &'a Network, elements: &'a Elements, leader: u32, times: Times) -> Self {
        let applications = network.applications();
        let mut states = vec![Element::new(); elements.len()];
        let links = 0..network.capacities().len() as u32;
        for link in links {
            states[elements.owner(link) as usize].links.push(link);
        }
        let workers = network.capacities().iter();
        Self {
            workers: workers
                .map(|&capacity| LinkWorker::new(capacity, applications))
                .collect(),
            network,
            elements,
            times,
            leader,
            states,
            changes: Vec::new(),
            levels: vec![0; applications],
            level: 0,
            calculations: Vec::new(),
            announcing: 0,
            under_way: BTreeMap::new(),
            sent: 0,
        }
    }

    /// All flows of an application begin at this time, or end \[ns\].
    pub fn change(&mut self, at: u64, application: u32, begins: bool) {
        let flows = self.network.flows().iter().enumerate();
        let own = flows.filter(|(_, flow)| flow.application == application);
        let own: Vec<usize> = own.map(|(number, _)| number).collect();
        let routed = own
            .iter()
            .filter(|&&flow| !self.network.route(flow).is_empty());
        let routed: Vec<usize> = routed.copied().collect();
        let change = self.changes.len() as u32;
        let source = routed.first().map_or(self.leader, |&flow| self.at(flow, 0));
        self.changes.push(Change {
            begins,
            source,
            open: routed.len(),
        });
        for flow in routed {
            let message = Message::Announce {
                change,
                flow: flow as u32,
                place: 0,
            };
            self.send(at, (self.at(flow, 0), source), message);
        }
    }

    /// The leader begins anew at this time \[ns\].
    pub fn trigger(&mut self, at: u64) {
        self.send(at, (self.leader, self.leader), Message::Trigger);
    }

    /// Until nothing is under way.
    pub fn run(&mut self) {
        while let Some(((now, _), (to, from, message))) = self.under_way.pop_first() {
            self.take(now, (to, from), message);
        }
    }

    /// Levels of applications as an element knows them \[[`UNIT`](crate::fluid::network::UNIT)ths of a flit per cycle per
    /// weight\]; empty if it was told none.
    pub fn levels(&self, element: u32) -> &[u128] {
        &self.states[element as usize].levels.1
    }

    /// All calculations, in order.
    pub fn calculations(&self) -> &[Calculation] {
        &self.calculations
    }

    /// Messages that announce flows, return, and trigger.
    pub fn announcing(&self) -> u64 {
        self.announcing
    }

    /// The element that works for a link of the route of a flow.
    fn at(&self, flow: usize, place: usize) -> u32 {
        self.elements.owner(self.network.route(flow)[place])
    }

    fn send(&mut self, at: u64, (to, from): (u32, u32), message: Message) {
        self.sent += 1;
        self.under_way.insert((at, self.sent), (to, from, message));
    }

    /// A message arrives.
    fn take(&mut self, now: u64, (to, from): (u32, u32), message: Message) {
        match message {
            Message::Down(stamp, task) => self.told(now, (to, from), stamp, &task),
            Message::Up(stamp, answer) => {
                let state = &mut self.states[to as usize];
                if state.stamp == stamp {
                    state.answer.join(answer);
                    self.heard(now, to);
                }
            }
            Message::Complete(stamp) => {
                if self.states[to as usize].stamp == stamp {
                    self.complete(now);
                }
            }
            Message::Levels(calculation, levels) => {
                self.learn(now, (to, from), calculation, levels);
            }
            Message::Announce {
                change,
                flow,
                place,
            } => self.announce(now, change, flow, place),
            Message::Returned { change } => self.returned(now, change),
            Message::Trigger => self.begin(now),
        }
    }

    /// An element is told of a PIF by a neighbour.
    fn told(&mut self, now: u64, (to, from): (u32, u32), stamp: Stamp, task: &Task) {
        let own = self.states[to as usize].stamp;
        if stamp > own {
            self.join(now, to, Some(from), stamp, task);
        } else if stamp == own {
            self.heard(now, to);
        }
    }

    /// An element takes part in a PIF that it has not been in.
    fn join(&mut self, now: u64, at: u32, parent: Option<u32>, stamp: Stamp, task: &Task) {
        let neighbours = self.elements.neighbours(at);
        let state = &mut self.states[at as usize];
        let is_new = stamp.calculation > state.stamp.calculation;
        state.stamp = stamp;
        state.parent = parent;
        state.pending = neighbours.len() - usize::from(parent.is_some());
        let links = state.links.iter().map(|&link| link as usize);
        let mut answer = match task {
            Task::Collect(..) => Answer::Share(None),
            Task::Distribute(_) => Answer::Held(AppBits::new(self.network.applications())),
        };
        for link in links {
            let worker = &mut self.workers[link];
            if is_new {
                worker.reset();
            }
            match (task, &mut answer) {
                (Task::Collect(held, level), answer) => {
                    answer.join(Answer::Share(worker.collect(held, *level)));
                }
                (Task::Distribute(level), Answer::Held(all)) => {
                    if let Some(own) = worker.hold(*level) {
                        all.insert_all(own);
                    }
                }
                (Task::Distribute(_), Answer::Share(_)) => {}
            }
        }
        self.states[at as usize].answer = answer;
        for &next in neighbours.iter().filter(|&&next| Some(next) != parent) {
            self.count(stamp);
            let message = Message::Down(stamp, task.clone());
            self.send(now + self.times.down, (next, at), message);
        }
        self.answer_if_all(now, at);
    }

    /// An element has heard from one more neighbour.
    fn heard(&mut self, now: u64, at: u32) {
        self.states[at as usize].pending -= 1;
        self.answer_if_all(now, at);
    }

    /// An element that has heard from all answers its parent.
    fn answer_if_all(&mut self, now: u64, at: u32) {
        let state = &self.states[at as usize];
        if state.pending > 0 {
            return;
        }
        let stamp = state.stamp;
        if let Some(parent) = state.parent {
            let message = Message::Up(stamp, state.answer.clone());
            self.count(stamp);
            self.send(now + self.times.up, (parent, at), message);
        } else {
            self.send(now, (at, at), Message::Complete(stamp));
        }
    }

    /// A message of a PIF is sent.
    fn count(&mut self, stamp: Stamp) {
        self.calculations[stamp.calculation as usize - 1].messages += 1;
    }

    /// The leader is triggered.
    fn begin(&mut self, now: u64) {
        self.calculations.push(Calculation {
            began: now,
            found: now,
            ..Calculation::default()
        });
        self.levels.fill(0);
        self.level = 0;
        let held = AppBits::new(self.network.applications());
        let stamp = Stamp {
            calculation: self.calculations.len() as u32,
            phase: 1,
        };
        let task = Task::Collect(Arc::new(held), 0);
        self.join(now, self.leader, None, stamp, &task);
    }

    /// A PIF has come to its end.
    fn complete(&mut self, now: u64) {
        let leader = &self.states[self.leader as usize];
        let next = Stamp {
            phase: leader.stamp.phase + 1,
            ..leader.stamp
        };
        let number = next.calculation as usize - 1;
        let task = match leader.answer.clone() {
            Answer::Share(Some(level)) => {
                self.level = level;
                Task::Distribute(level)
            }
            Answer::Held(held) => {
                held.iter()
                    .for_each(|application| self.levels[application] = self.level);
                self.calculations[number].rounds += 1;
                self.calculations[number].found = now;
                Task::Collect(Arc::new(held), self.level)
            }
            Answer::Share(None) => {
                self.calculations[number].ended = Some(now);
                let levels = self.levels.clone().into();
                self.learn(now, (self.leader, self.leader), next.calculation, levels);
                return;
            }
        };
        self.join(now, self.leader, None, next, &task);
    }

    /// An element is told the levels.
    fn learn(&mut self, now: u64, (at, from): (u32, u32), calculation: u32, levels: Arc<[u128]>) {
        let state = &mut self.states[at as usize];
        if calculation <= state.levels.0 || calculation < state.stamp.calculation {
            return;
        }
        state.levels = (calculation, levels.clone());
        let counts = &mut self.calculations[calculation as usize - 1];
        counts.told = Some(now);
        for &next in self
            .elements
            .neighbours(at)
            .iter()
            .filter(|&&next| next != from)
        {
            self.calculations[calculation as usize - 1].telling += 1;
            let message = Message::Levels(calculation, levels.clone());
            self.send(now + self.times.down, (next, at), message);
        }
    }

    /// An announcement reaches a link of its route.
    fn announce(&mut self, now: u64, change: u32, flow: u32, place: u32) {
        let number = flow as usize;
        let route = self.network.route(number);
        let Change { begins, source, .. } = self.changes[change as usize];
        let worker = &mut self.workers[route[place as usize] as usize];
        let known = self.network.flows()[number];
        if begins {
            worker.add(known.application as usize, known.weight);
        } else {
            worker.take_off(known.application as usize, known.weight);
        }
        self.announcing += 2;
        let behind = place as usize + 1;
        if behind < route.len() {
            let message = Message::Announce {
                change,
                flow,
                place: place + 1,
            };
            self.send(
                now + self.times.down,
                (self.at(number, behind), source),
                message,
            );
        } else {
            let back = (1 + route.len() as u64) * self.times.down;
            let to = self.at(number, 0);
            self.send(now + back, (to, to), Message::Returned { change });
        }
    }

    /// All that is of a flow has returned; after the last one the nodes meet, and one triggers the leader.
    fn returned(&mut self, now: u64, change: u32) {
        let change = &mut self.changes[change as usize];
        change.open -= 1;
        if change.open > 0 {
            return;
        }
        let hops = self.elements.distances(self.leader)[change.source as usize];
        let hops = u64::from(hops.unwrap_or(0));
        self.announcing += hops;
        let at = now + self.times.barrier + hops * self.times.down;
        self.trigger(at);
    }
}
