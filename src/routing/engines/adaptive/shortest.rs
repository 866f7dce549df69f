//! All shortest ways of any connected fabric.
//!
//! Cost: one breadth-first search per switch, in parallel; memory one byte per pair of switches.

use crate::ids::SwitchId;
use crate::routing::RoutingError;
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::topology::Graph;
use rayon::prelude::*;

/// Distances between all switches.
#[derive(Clone, Debug)]
pub(super) struct Shortest {
    adjacency: Adjacency,
    /// Hops, `[goal][switch]`.
    hops: Vec<u8>,
}

impl Shortest {
    /// The distances of `graph`.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for switches farther than 255 hops apart.
    pub(super) fn new(graph: &Graph, engine: &'static str) -> Result<Self, RoutingError> {
        let adjacency = Adjacency::new(graph);
        let rows = (0..adjacency.len()).into_par_iter().map(|goal| {
            let hops = adjacency.distances(&[SwitchId::from(goal)]);
            let name = |switch: usize| graph.switches()[switch].name.clone();
            let narrow = |(switch, &hops): (usize, &u16)| match u8::try_from(hops) {
                Ok(hops) => Ok(hops),
                Err(_) if hops == UNREACHED => Err(RoutingError::Unreachable {
                    from: name(switch),
                    to: name(goal),
                }),
                Err(_) => Err(RoutingError::Unsupported {
                    engine,
                    reason: "switches are farther than 255 hops apart; use `UpDown()`".into(),
                }),
            };
            hops.iter().enumerate().map(narrow).collect()
        });
        let rows: Vec<Result<Vec<u8>, RoutingError>> = rows.collect();
        let mut hops = Vec::with_capacity(adjacency.len() * adjacency.len());
        for row in rows {
            hops.extend(row?);
        }
        Ok(Self { adjacency, hops })
    }

    /// Hops between two switches.
    pub(super) fn hops(&self, at: SwitchId, goal: SwitchId) -> u8 {
        self.hops[goal.index() * self.adjacency.len() + at.index()]
    }

    /// Ports that lead nearer to `goal`, ascending.
    pub(super) fn ports(&self, at: SwitchId, goal: SwitchId) -> impl Iterator<Item = u16> {
        let row = &self.hops[goal.index() * self.adjacency.len()..];
        let here = row[at.index()];
        let exits = self.adjacency.exits(at.index()).iter();
        let nearer = exits.filter(move |exit| row[exit.neighbor as usize] < here);
        nearer.map(|exit| exit.port)
    }

    /// Most hops from any switch to one of `goals`.
    pub(super) fn farthest(&self, goals: impl Iterator<Item = SwitchId>) -> u8 {
        let count = self.adjacency.len();
        let rows = goals.map(|goal| &self.hops[goal.index() * count..][..count]);
        rows.flatten().copied().max().unwrap_or(0)
    }
}
