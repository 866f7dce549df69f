//! Segment-based routing (SR): one prohibited turn per segment, so restrictions stay local.
//!
//! Guarantees: deadlock-free on 1 lane, in order. Not minimal.
//! Needs: a connected fabric, 1 lane; switches that forward by input port and destination (not InfiniBand's).
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for a start that does not exist.
//! Cost: the search of `search.rs`, then `placements` times tables as in `balance/by_load.rs` over channels.
//!
//! # Algorithm
//! 1. Segments are found from the start switch, by default switch 0 (see `search.rs`).
//! 2. Each segment gets one restriction. With switches of its own: the turn between its two links at one of
//!    them, never at the switch a cycle starts on. Without (a single link): at one end all turns between that
//!    link and the other links of the switch, so that only the hosts there use it.
//! 3. `restriction` says where: at random, at the first or at the middle switch. `placements: n` tries n random
//!    placements and keeps that with the smallest maximal load, the first on ties.
//! 4. Shortest ways over allowed turns, balanced.
//!
//! A cycle of dependencies would have to run through the whole of its last found segment, hence through the
//! prohibited turn.
//!
//! References: [`SEGMENT_ROUTING`]; [`REINEMO`] §3.2

mod search;

use self::search::{Search, Segment, Segmentation, segment};
use super::root::{Root, single};
use super::turns::{Turns, route_steps};
use crate::ids::LinkId;
use crate::ids::SwitchId;
use crate::references::{REINEMO, SEGMENT_ROUTING};
use crate::registry::{Arguments, Entry, Parameter};
use crate::rng::{Purpose, Stream, below, stream};
use crate::routing::balance::Balance;
use crate::routing::loads::ChannelLoads;
use crate::routing::paths::Adjacency;
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::{Endpoint, Graph};
use serde::Deserialize;
use std::fmt::Write;

/// Where in a segment the prohibited turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Restriction {
    /// Drawn from the seed.
    #[default]
    Random,
    /// At the first switch.
    First,
    /// At the middle switch.
    Middle,
}

/// Segment-based routing.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SegmentRouting {
    start: Root,
    search: Search,
    restriction: Restriction,
    placements: u16,
    passes: u8,
}

impl Default for SegmentRouting {
    fn default() -> Self {
        Self {
            start: Root::first(),
            search: Search::Shortest,
            restriction: Restriction::Random,
            placements: 1,
            passes: 3,
        }
    }
}

const NAME: &str = "SegmentRouting";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["SR"],
    summary: "shortest ways with one prohibited turn per segment, on any connected fabric (SR)",
    parameters: &[
        Parameter {
            name: "start",
            kind: "Auto, switch name or switch number",
            default: Some("0"),
            summary: "where the first segment starts; Auto = the switch nearest to all hosts",
        },
        Parameter {
            name: "search",
            kind: "Shortest or Depth",
            default: Some("Shortest"),
            summary: "which segment is found next: the shortest, or depth first in port order",
        },
        Parameter {
            name: "restriction",
            kind: "Random, First or Middle",
            default: Some("Random"),
            summary: "switch of a segment that gets the prohibited turn",
        },
        Parameter {
            name: "placements",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "random placements tried; that with the smallest maximal load is kept",
        },
        Parameter {
            default: Some("3"),
            ..Balance::PASSES
        },
    ],
    guarantees: &[
        "deadlock-free on 1 lane",
        "in order",
        "one restriction per segment",
        "needs switches that forward by input port and destination",
    ],
    references: &[SEGMENT_ROUTING, REINEMO],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<SegmentRouting>()?)),
};

/// Prohibited turns of a segment: (switch, link, link) each.
type Prohibited = Vec<(SwitchId, LinkId, LinkId)>;

impl RoutingEngine for SegmentRouting {
    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError> {
        let adjacency = Adjacency::new(graph);
        let reason = "the search starts at one switch; name one or use `start: Auto`";
        let start = single(NAME, &self.start, graph, &adjacency, reason)?;
        let found = segment(graph, start, self.search);
        let mut rng = stream(seed, Purpose::Routing, 0);
        let mut best: Option<(u64, Tables)> = None;
        for _ in 0..self.placements.max(1) {
            let places: Vec<Prohibited> = found
                .segments
                .iter()
                .map(|segment| self.restrict(graph, segment, &mut rng))
                .collect();
            let turns = turns(graph, &places);
            let steps = turns.steps(graph, NAME)?;
            let mut tables = route_steps(graph, NAME, &steps, budget, self.passes)?;
            tables.remarks = remarks(graph, &found, &places);
            tables.remarks.push(turns.remark(graph));
            let load = ChannelLoads::uniform(graph, &tables).max();
            if best.as_ref().is_none_or(|(least, _)| load < *least) {
                best = Some((load, tables));
            }
            if self.restriction != Restriction::Random {
                break;
            }
        }
        best.map(|(_, tables)| tables)
            .ok_or_else(|| RoutingError::unsupported(NAME, "no placement was tried"))
    }
}

impl SegmentRouting {
    /// Step 2 for one segment.
    fn restrict(&self, graph: &Graph, segment: &Segment, rng: &mut Stream) -> Prohibited {
        let own = segment.path.len() - 1;
        let mut draw = |count: usize| match self.restriction {
            Restriction::Random => below(rng, count as u32) as usize,
            Restriction::First => 0,
            Restriction::Middle => (count - 1) / 2,
        };
        if own > 0 {
            let at = draw(own);
            let ((link, switch), (next, _)) = (segment.path[at], segment.path[at + 1]);
            return vec![(switch, link, next)];
        }
        let (link, end) = segment.path[0];
        let switch = [segment.start, end][draw(2)];
        let others = graph
            .neighbors(switch)
            .map(|(_, channel, _)| channel.link());
        others
            .filter(|&other| other != link)
            .map(|other| (switch, link, other))
            .collect()
    }
}

fn turns(graph: &Graph, places: &[Prohibited]) -> Turns {
    let mut turns = Turns::new(graph);
    for &(switch, a, b) in places.iter().flatten() {
        let port = |link: LinkId| {
            let ends = graph.link_ends(link);
            ends.into_iter().find_map(|end| match end {
                Endpoint::Switch(at, port) if at == switch => Some(port),
                _ => None,
            })
        };
        if let (Some(a), Some(b)) = (port(a), port(b)) {
            turns.prohibit(switch, a, b);
        }
    }
    turns
}

/// The segmentation report of `virtlane routes`.
fn remarks(graph: &Graph, found: &Segmentation, places: &[Prohibited]) -> Vec<(String, String)> {
    let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
    let count = (found.segments.len(), found.subnets);
    let mut remarks = vec![(
        "segments".to_owned(),
        format!("{} in {} sub-nets", count.0, count.1),
    )];
    for (number, (segment, prohibited)) in found.segments.iter().zip(places).enumerate() {
        let end = segment.path.last().map_or(segment.start, |last| last.1);
        let kind = match segment.path.len() {
            1 => "unitary",
            _ if end == segment.start => "starting",
            _ => "regular",
        };
        let mut text = format!(
            "sub-net {}, {kind}: {}",
            segment.subnet,
            name(segment.start)
        );
        for &(_, switch) in &segment.path {
            let _ = write!(text, " {}", name(switch));
        }
        match prohibited.as_slice() {
            [] => text.push_str("; no restriction needed"),
            [(switch, ..), ..] if segment.path.len() == 1 => {
                let _ = write!(text, "; no way on through {}", name(*switch));
            }
            [(switch, ..), ..] => {
                let _ = write!(text, "; no turn at {}", name(*switch));
            }
        }
        remarks.push((format!("segment {number}"), text));
    }
    remarks
}

#[cfg(test)]
mod tests;
