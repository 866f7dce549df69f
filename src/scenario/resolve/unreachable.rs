//! Pairs of hosts without a way: refused, or never offered.

use super::super::sections::Scenario;
use super::super::syntax::Mistake;
use crate::ids::HostId;
use crate::plan::{ClassPlan, Plan};
use crate::rng::Stream;
use crate::routing::proof::reach::Reach;
use crate::routing::{Engine, Proof, Routes, parts};
use crate::topology::Graph;
use crate::traffic::{Members, Pattern, Receivers, Share};
use std::sync::Arc;

/// What to add to the complaint of `engine` about a pair without a way.
pub(super) fn hint(graph: &Graph, engine: &Engine, plan: &Plan) -> String {
    let parts = parts::connected(graph);
    let why = match parts.len() {
        0 | 1 => String::new(),
        count => {
            let [first, other] = [0, 1].map(|part| &graph.switches()[parts[part][0].index()].name);
            format!(
                ": the fabric has {count} parts without a link between them, {first} is in one, {other} in another"
            )
        }
    };
    match engine {
        Engine::Tables(_) if !plan.allow_unreachable => {
            format!("{why}; `allow_unreachable: true` leaves such pairs out")
        }
        Engine::Tables(_) => why,
        Engine::Adaptive(_) => {
            format!("{why}; routing while packets travel needs a way for every pair")
        }
    }
}

/// Pairs in words: how many, and the first of them.
pub fn named(graph: &Graph, proof: &Proof) -> String {
    let host = |host: HostId| &graph.hosts()[host.index()].name;
    let pairs = proof.unreachable.iter();
    let pairs: Vec<String> = pairs
        .map(|&(from, to)| format!("{} to {}", host(from), host(to)))
        .collect();
    let more = if proof.unreachable_pairs > pairs.len() as u64 {
        ", ..."
    } else {
        ""
    };
    format!(
        "{} without a way: {}{more}",
        proof.unreachable_pairs,
        pairs.join(", ")
    )
}

/// Takes pairs without a way out of what the classes draw.
///
/// # Errors
/// A class none of whose hosts has a way to any of its destinations; a message between hosts without a way.
pub(super) fn leave_out(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
    plan: &mut Plan,
) -> Result<(), Mistake> {
    let Some(tables) = routes.tables() else {
        return Ok(());
    };
    let reach = Arc::new(Reach::new(graph, tables));
    for (class, written) in plan.classes.iter_mut().zip(&scenario.traffic) {
        if let Some(pattern) = &written.pattern
            && let Some(reachable) = Reachable::of(class, &reach)
        {
            if !class.hosts.iter().any(|&host| reachable.sends(host)) {
                let message = format!(
                    "no host of class `{}` has a way to any of its destinations",
                    class.name
                );
                return Err(pattern.name.mistake(message));
            }
            class.pattern = Arc::new(reachable);
        }
    }
    for workload in &plan.workloads {
        let source = &workload.source;
        let mut classes = scenario.traffic.iter();
        let Some(part) = classes.find_map(|class| class.messages.as_ref()) else {
            continue;
        };
        let wrong = |text: String| part.parameter_mistake("file", &text);
        for message in source
            .messages()
            .map_err(|error| wrong(error.to_string()))?
        {
            let message = message.map_err(|error| wrong(error.to_string()))?;
            if !reach.has_way(message.source, message.destination) {
                let [from, to] = [message.source, message.destination]
                    .map(|host| &graph.hosts()[host.index()].name);
                return Err(wrong(format!(
                    "{}:{}: {from} has no way to {to}, the message would never arrive",
                    source.file(),
                    message.line
                )));
            }
        }
    }
    Ok(())
}

/// A pattern without the destinations a source has no way to: drawn again until there is one.
#[derive(Debug)]
struct Reachable {
    pattern: Arc<dyn Pattern>,
    reach: Arc<Reach>,
    /// Parts and where they go, `[host]`; they add up to 1, or there is none.
    shares: Vec<Vec<(f64, To)>>,
    /// Hosts that receive alike and can be reached.
    members: Vec<Members>,
}

/// Where a part goes; numbers are places in `Reachable::members`.
#[derive(Clone, Copy, Debug)]
enum To {
    One(HostId),
    Each(usize),
    Others(usize),
}

impl Reachable {
    /// What is left of the pattern of a class; `None` when it is whole.
    fn of(class: &ClassPlan, reach: &Arc<Reach>) -> Option<Self> {
        let hosts = class.hosts.last().map_or(0, |host| host.index() + 1);
        let mut left = Self {
            pattern: Arc::clone(&class.pattern),
            reach: Arc::clone(reach),
            shares: vec![Vec::new(); hosts],
            members: Vec::new(),
        };
        let mut is_whole = true;
        for &source in &class.hosts {
            let mut shares = Vec::new();
            let mut sum = 0.0;
            for share in class.pattern.shares(source) {
                let (part, to) = left.reached(source, share);
                is_whole &= part >= share.part;
                if part > 0.0 {
                    shares.push((part, to));
                    sum += part;
                }
            }
            for (part, _) in &mut shares {
                *part /= sum;
            }
            left.shares[source.index()] = shares;
        }
        (!is_whole).then_some(left)
    }

    /// The part of a share that has a way, and where it goes.
    fn reached(&mut self, source: HostId, share: Share<'_>) -> (f64, To) {
        let (members, others) = match share.to {
            Receivers::One(to) => {
                let part = if self.reach.has_way(source, to) {
                    share.part
                } else {
                    0.0
                };
                return (part, To::One(to));
            }
            Receivers::Each(members) => (members, false),
            Receivers::Others(members) => (members, true),
        };
        let all = (0..members.len()).map(|position| members.host(position));
        let mut reached: Vec<_> = all.filter(|&to| self.reach.has_way(source, to)).collect();
        reached.sort_unstable();
        let reached = Members::Some(reached);
        let count = |members: &Members| {
            let own = others && members.position(source).is_some();
            f64::from(members.len() - u32::from(own))
        };
        let part = if count(&reached) < count(members) {
            share.part * count(&reached) / count(members)
        } else {
            share.part
        };
        let known = self.members.iter().position(|known| *known == reached);
        let place = known.unwrap_or_else(|| {
            self.members.push(reached);
            self.members.len() - 1
        });
        let to = if others {
            To::Others(place)
        } else {
            To::Each(place)
        };
        (part, to)
    }
}

impl Pattern for Reachable {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        if !self.sends(source) {
            return None;
        }
        loop {
            let drawn = self.pattern.destination(source, rng)?;
            if self.reach.has_way(source, drawn) {
                return Some(drawn);
            }
        }
    }

    fn sends(&self, source: HostId) -> bool {
        let shares = self.shares.get(source.index());
        shares.is_some_and(|shares| !shares.is_empty())
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        let shares = self.shares.get(source.index()).into_iter().flatten();
        let share = |&(part, to): &(f64, To)| Share {
            part,
            to: match to {
                To::One(to) => Receivers::One(to),
                To::Each(place) => Receivers::Each(&self.members[place]),
                To::Others(place) => Receivers::Others(&self.members[place]),
            },
        };
        shares.map(share).collect()
    }

    fn is_fixed(&self) -> bool {
        self.pattern.is_fixed()
    }
}
