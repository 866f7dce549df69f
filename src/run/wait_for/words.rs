//! Who waits for whom, in words.

use super::{Head, Kind, Name, Space, WaitFor, Want};
use crate::topology::{Endpoint, Graph};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most heads that are named where none waits in a circle.
const MOST_NAMED: usize = 5;

impl WaitFor {
    /// A circle in the closed set, one line per packet; `None` when nothing waits for ever.
    pub fn describe(&self, graph: &Graph) -> Option<String> {
        let circle = self.circle()?;
        let mut text = format!("wait-for cycle of {} packets:", circle.len());
        for (head, want) in circle {
            let next = graph.endpoint_name(graph.channel(want.space.0).to);
            let line = self.line(graph, head, want);
            let _ = write!(text, "\n  {line} (full buffer at {next})");
        }
        Some(text)
    }

    /// What stands, when nothing waits for ever: some heads, and what they ask for.
    pub fn standing(&self, graph: &Graph) -> String {
        let count = self.heads.len();
        let mut text = format!("{count} heads stand, none of them in a circle of waits:");
        let wanting = self.heads.iter().enumerate();
        let wanting = wanting.filter_map(|(number, head)| Some((number, *head.wants.first()?)));
        for (number, want) in wanting.take(MOST_NAMED) {
            let line = self.line(graph, number, want);
            let _ = write!(text, "\n  {line}");
        }
        text
    }

    fn line(&self, graph: &Graph, head: usize, want: Want) -> String {
        let head = &self.heads[head];
        let name = |host: crate::ids::HostId| &graph.hosts()[host.index()].name;
        let mut place = place(graph, head.at);
        if let Kind::Answer = head.kind {
            let host = graph.endpoint_name(graph.channel(head.at.0).from);
            place = format!("{host} lane {}", head.at.1);
        }
        format!(
            "{place}: packet {} of class {} from {} to {} ({} flits) waits for {}",
            head.name.sequence,
            head.name.class,
            name(head.name.source),
            name(head.destination),
            head.size,
            self.wanted(graph, head, want)
        )
    }

    /// What a head waits for.
    fn wanted(&self, graph: &Graph, head: &Head, want: Want) -> String {
        let lane = want.lane;
        match (graph.channel(want.space.0).from, &head.kind) {
            (Endpoint::Switch(_, port), Kind::Request { keeper, .. })
                if keeper.is_some_and(|keeper| self.holder(keeper).is_some()) =>
            {
                format!("its input, kept by one that waits for output port {port} lane {lane}")
            }
            (Endpoint::Switch(_, port), _) => format!("output port {port} lane {lane}"),
            (Endpoint::Host(_), Kind::Held(_)) => {
                format!("room for its answer, behind answers for lane {lane}")
            }
            (Endpoint::Host(_), _) => String::from("its channel"),
        }
    }

    /// The packet of the set that holds an output lane, with its flits in this input lane (D65).
    fn holder(&self, lane: Space) -> Option<usize> {
        let is = |&head: &usize| {
            let head = &self.heads[head];
            head.at == lane && matches!(head.kind, Kind::Holds)
        };
        self.closed().find(is)
    }

    /// The first control packet of a lane of a host's channel, if it is in the set.
    fn answer(&self, lane: Space) -> Option<usize> {
        let is = |&head: &usize| {
            let head = &self.heads[head];
            head.at == lane && matches!(head.kind, Kind::Answer)
        };
        self.closed().find(is)
    }

    /// Heads in waiting order, with what each waits for.
    fn circle(&self) -> Option<Vec<(usize, Want)>> {
        let mut keepers: BTreeMap<Space, usize> = BTreeMap::new();
        for number in self.closed() {
            let (space, flits) = self.heads[number].keeps;
            if flits > 0 {
                keepers.entry(space).or_insert(number);
            }
        }
        let mut path: Vec<(usize, Want)> = Vec::new();
        let mut next = self.closed().next()?;
        loop {
            let (at, want) = self.lacking(next)?;
            if let Some(start) = path.iter().position(|&(head, _)| head == at) {
                return Some(path.split_off(start));
            }
            path.push((at, want));
            next = *keepers.get(&want.space)?;
        }
    }

    /// A head of the set, or the one before it in its queues (D84), that lacks room, and where.
    fn lacking(&self, head: usize) -> Option<(usize, Want)> {
        let Head {
            at, kind, wants, ..
        } = &self.heads[head];
        let Kind::Stands { ahead } = kind else {
            return Some((head, self.awaited(head)?));
        };
        let before = |names: &Vec<Name>| {
            let is = |&one: &usize| {
                let one = &self.heads[one];
                one.at == *at && names.contains(&one.name)
            };
            self.closed().find(is)
        };
        let mut both = wants.iter().zip(ahead);
        match both.find(|(_, ahead)| before(ahead).is_none()) {
            Some((&want, _)) => Some((head, want)),
            None => self.lacking(ahead.iter().find_map(before)?),
        }
    }

    /// What a head of the set waits for in the end: where it waits for a packet that is in no buffer, what that waits for.
    fn awaited(&self, head: usize) -> Option<Want> {
        let behind = match &self.heads[head].kind {
            Kind::Held(room) => {
                let mut lanes = room.queued.iter();
                lanes.find_map(|(lane, _)| self.answer(*lane))
            }
            Kind::Request { keeper, .. } => keeper.and_then(|keeper| self.holder(keeper)),
            Kind::Stands { .. } | Kind::Holds | Kind::Answer => None,
        };
        self.heads[behind.unwrap_or(head)].wants.first().copied()
    }
}

/// The buffer at the end of a channel.
fn place(graph: &Graph, (channel, lane): Space) -> String {
    match graph.channel(channel).to {
        Endpoint::Switch(switch, port) => {
            let name = &graph.switches()[switch.index()].name;
            format!("{name} input port {port} lane {lane}")
        }
        Endpoint::Host(host) => format!("{} lane {lane}", graph.hosts()[host.index()].name),
    }
}
