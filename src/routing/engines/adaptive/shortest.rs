//! All shortest ways of any connected fabric.
//!
//! A switch has few sets of ports that lead nearer to some goal (a switch of a tree: each port down alone, all ports up),
//! so a pair of switches keeps the number of its set, and a look-up is a slice.
//! Cost: one breadth-first search and one pass over the pairs per switch, in parallel; memory three bytes per pair of
//! switches.

use crate::ids::SwitchId;
use crate::routing::RoutingError;
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::topology::Graph;
use rayon::prelude::*;
use std::collections::HashMap;

/// Distances between all switches, and the ports that lead nearer.
#[derive(Clone, Debug)]
pub(super) struct Shortest {
    count: usize,
    /// Hops, `[goal][switch]`.
    hops: Vec<u8>,
    /// Set of the ports that lead nearer to the goal, among those of the switch, `[switch][goal]`.
    set: Vec<u16>,
    /// First set of each switch.
    first_set: Vec<u32>,
    /// First port of each set in `ports`, and the end of the last.
    bounds: Vec<u32>,
    /// Ports of the sets, ascending.
    ports: Vec<u16>,
}

/// The sets of ports of one switch.
struct Sets {
    /// `[goal]`
    of: Vec<u16>,
    sets: Vec<Vec<u16>>,
}

impl Sets {
    /// `ports` adds those of the switch towards a goal.
    fn new(count: usize, ports: impl Fn(usize, &mut Vec<u16>)) -> Self {
        let mut known = HashMap::new();
        let mut sets = Vec::new();
        let mut nearer = Vec::new();
        let of = (0..count).map(|goal| {
            nearer.clear();
            ports(goal, &mut nearer);
            if let Some(&number) = known.get(&nearer) {
                return number;
            }
            let number = sets.len() as u16;
            known.insert(nearer.clone(), number);
            sets.push(nearer.clone());
            number
        });
        let of = of.collect();
        Self { of, sets }
    }
}

impl Shortest {
    /// The distances of `graph`.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for switches farther than 255 hops apart.
    pub(super) fn new(graph: &Graph, engine: &'static str) -> Result<Self, RoutingError> {
        let adjacency = Adjacency::new(graph);
        let count = adjacency.len();
        let hops = distances(graph, &adjacency, engine)?;
        let nearer = |at: usize, goal: usize, found: &mut Vec<u16>| {
            let row = &hops[goal * count..][..count];
            let exits = adjacency.exits(at).iter();
            let exits = exits.filter(|exit| row[exit.neighbor as usize] < row[at]);
            found.extend(exits.map(|exit| exit.port));
        };
        let mut shortest = Self::by_ports(count, nearer);
        shortest.hops = hops;
        Ok(shortest)
    }

    /// Any ways, without distances: `ports` adds those of a switch towards a goal, ascending.
    pub(super) fn by_ports(
        count: usize,
        ports: impl Fn(usize, usize, &mut Vec<u16>) + Sync,
    ) -> Self {
        let switches = (0..count).into_par_iter();
        let sets: Vec<_> = switches
            .map(|at| Sets::new(count, |goal, found| ports(at, goal, found)))
            .collect();
        let mut shortest = Self {
            count,
            hops: Vec::new(),
            set: Vec::with_capacity(count * count),
            first_set: Vec::with_capacity(count),
            bounds: vec![0],
            ports: Vec::new(),
        };
        for Sets { of, sets } in sets {
            shortest.set.extend(of);
            shortest.first_set.push(shortest.bounds.len() as u32 - 1);
            for ports in sets {
                shortest.ports.extend(ports);
                shortest.bounds.push(shortest.ports.len() as u32);
            }
        }
        shortest
    }

    /// Hops between two switches.
    pub(super) fn hops(&self, at: SwitchId, goal: SwitchId) -> u8 {
        self.hops[goal.index() * self.count + at.index()]
    }

    /// Ports that lead nearer to `goal`, ascending.
    pub(super) fn ports(&self, at: SwitchId, goal: SwitchId) -> &[u16] {
        let number = self.set[at.index() * self.count + goal.index()];
        let set = self.first_set[at.index()] as usize + usize::from(number);
        &self.ports[self.bounds[set] as usize..self.bounds[set + 1] as usize]
    }

    /// Most hops from any switch to one of `goals`.
    pub(super) fn farthest(&self, goals: impl Iterator<Item = SwitchId>) -> u8 {
        let rows = goals.map(|goal| &self.hops[goal.index() * self.count..][..self.count]);
        rows.flatten().copied().max().unwrap_or(0)
    }
}

/// Hops, `[goal][switch]`.
fn distances(
    graph: &Graph,
    adjacency: &Adjacency,
    engine: &'static str,
) -> Result<Vec<u8>, RoutingError> {
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
    Ok(hops)
}
