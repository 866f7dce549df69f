//! Coordinates for the switches of a fabric that is a mesh or torus of at most three dimensions.
//!
//! Guarantees: every switch has coordinates of its own; two switches are linked exactly when they are neighbours
//! in the mesh or torus. Parallel links do not matter, nor do cables of a switch to itself.
//! Fails with: what is missing, or where nothing fits.
//! Cost: O(switches * degree) once the directions at the seed are right, which a few switches around it tell.
//!
//! # Algorithm
//! 1. Sizes: those of the configuration; without one all with the right number of switches, linked pairs and
//!    neighbours.
//! 2. From the seed outward each place gets a switch that is linked to the switches of all neighbouring places that
//!    have one, and to no others that have a place; when there is none, the last choice is changed. Choices
//!    are tried in the order of ports.
//! 3. Without a configuration the seed is the lowest switch, in an open mesh the lowest with the fewest neighbours,
//!    and of several sizes that fit the one with the fewest dimensions wins, of those the one whose directions +x, -x,
//!    +y, ... are at the lowest ports.
//!
//! # Deviations
//! OpenSM matches four-link loops, whose outcome is the same where it is unique, and also labels fabrics with missing
//! switches and links.

use super::torus_config::DIMENSIONS;
use super::torus_placing::{NONE, Placing, Stuck};
use super::torus_size::{Size, degrees_of, outward};
use crate::ids::SwitchId;
use crate::topology::Graph;
use crate::topology::graph::GridShape;
use std::collections::BTreeMap;

/// Choices tried for one size, beside some for each switch.
const PATIENCE: usize = 1_000_000;

/// Where the search begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// A switch and its coordinates.
    pub(super) seed: SwitchId,
    pub(super) place: [u32; 3],
    /// Its neighbours in the directions +x, -x, +y, ... that are known.
    pub(super) links: [Option<SwitchId>; 6],
}

/// A fabric with coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) size: Size,
    /// Coordinates by switch.
    pub(super) coordinates: Vec<[u32; 3]>,
    /// Ports by switch and direction.
    pub(super) exits: Vec<[Vec<u16>; 6]>,
    /// Steps that can be made before a missing link, by switch and direction; empty when none is missing.
    pub(super) steps: Vec<[u32; 6]>,
}

impl Labels {
    /// The labels of a fabric that was built as a mesh or torus of at most 3 dimensions.
    pub(super) fn of_grid(graph: &Graph, shape: &GridShape) -> Self {
        let mut size = Size {
            radix: [1; 3],
            wrap: [false; 3],
        };
        for (d, (&radix, &wrap)) in shape.radix.iter().zip(&shape.wrap).enumerate() {
            (size.radix[d], size.wrap[d]) = (radix, wrap);
        }
        let dimensions = 0..shape.radix.len();
        let coordinates = graph.switch_ids().map(|switch| {
            let mut place = [0; 3];
            for d in dimensions.clone() {
                place[d] = shape.coordinate(switch, d);
            }
            place
        });
        let exits = graph.switch_ids().map(|switch| {
            std::array::from_fn(|direction| {
                let port = direction as u16 + 1;
                let channel = graph.port_channel(switch, port);
                let to = channel.and_then(|channel| graph.channel(channel).to.switch());
                let leads_on = dimensions.contains(&(direction / 2)) && to.is_some();
                if leads_on { vec![port] } else { Vec::new() }
            })
        });
        let (coordinates, exits): (Vec<_>, Vec<_>) = (coordinates.collect(), exits.collect());
        Self {
            steps: steps(size, &coordinates, &exits),
            size,
            coordinates,
            exits,
        }
    }

    /// The labels of any fabric, with a size and a start when they are known.
    ///
    /// # Errors
    /// Why it is no mesh or torus.
    pub(super) fn find(graph: &Graph, wanted: Option<(Size, Start)>) -> Result<Self, String> {
        let network = Network::new(graph);
        let mut best: Option<((usize, Vec<usize>), Size, Vec<u32>)> = None;
        let mut stuck: Option<(Size, Stuck)> = None;
        let sizes = match wanted {
            Some((size, _)) => vec![size],
            None => network.sizes(),
        };
        for size in &sizes {
            network.require(*size)?;
            let start = wanted.map_or_else(|| network.start(), |(_, start)| start);
            match network.place(*size, &start) {
                Ok(switches) => {
                    let dimensions = size.radix.iter().filter(|&&radix| radix > 1).count();
                    let order = (dimensions, network.port_order(*size, &start, &switches));
                    if best.as_ref().is_none_or(|(least, ..)| order < *least) {
                        best = Some((order, *size, switches));
                    }
                }
                Err(place) => stuck = stuck.or(Some((*size, place))),
            }
        }
        match (best, stuck) {
            (Some((_, size, switches)), _) => Ok(network.labels(size, &switches)),
            (None, Some((size, place))) => Err(network.nothing_fits(size, &place)),
            (None, None) => Err(network.no_size()),
        }
    }
}

/// Steps that can be made from every switch in every direction before a missing link, at most once round; empty when
/// none is missing. The switches are numbered by their coordinates.
fn steps(size: Size, coordinates: &[[u32; 3]], exits: &[[Vec<u16>; 6]]) -> Vec<[u32; 6]> {
    let on = |place: [u32; 3], direction: usize| {
        let next = size.step(place, direction)?;
        let is_linked = !exits[size.number(place)][direction].is_empty();
        Some((next, is_linked))
    };
    let is_missing =
        |place: [u32; 3]| (0..6).any(|way| on(place, way).is_some_and(|(_, linked)| !linked));
    if !coordinates.iter().any(|&place| is_missing(place)) {
        return Vec::new();
    }
    let count = |place: [u32; 3], direction: usize| {
        let (mut place, mut steps) = (place, 0);
        while let Some((next, true)) = on(place, direction) {
            (place, steps) = (next, steps + 1);
            if steps == size.radix[direction / 2] {
                break;
            }
        }
        steps
    };
    let places = coordinates.iter();
    places
        .map(|&place| std::array::from_fn(|direction| count(place, direction)))
        .collect()
}

/// The linked pairs of switches.
pub(super) struct Network<'a> {
    graph: &'a Graph,
    /// Neighbours of each switch, each once, by lowest port.
    pub(super) neighbors: Vec<Vec<u32>>,
}

impl<'a> Network<'a> {
    fn new(graph: &'a Graph) -> Self {
        let neighbors = graph.switch_ids().map(|switch| {
            let mut all: Vec<u32> = Vec::new();
            for (.., neighbor) in graph.neighbors(switch) {
                if neighbor != switch && !all.contains(&neighbor.0) {
                    all.push(neighbor.0);
                }
            }
            all
        });
        Self {
            graph,
            neighbors: neighbors.collect(),
        }
    }

    /// Switches by number of neighbours.
    fn degrees(&self) -> BTreeMap<usize, usize> {
        let mut degrees = BTreeMap::new();
        for neighbors in &self.neighbors {
            *degrees.entry(neighbors.len()).or_default() += 1;
        }
        degrees
    }

    /// Step 1: sizes with the same counts.
    fn sizes(&self) -> Vec<Size> {
        let count = self.neighbors.len() as u32;
        let degrees = self.degrees();
        let divisors = |of: u32| (1..=of).filter(move |radix| of.is_multiple_of(*radix));
        let mut sizes = Vec::new();
        for x in divisors(count) {
            for y in divisors(count / x) {
                let radix = [x, y, count / x / y];
                // dimensions in use come first
                if radix.windows(2).any(|pair| pair[0] == 1 && pair[1] > 1) {
                    continue;
                }
                for rings in (0..8u8).rev() {
                    let wrap: [bool; 3] = std::array::from_fn(|d| rings >> d & 1 == 1);
                    let size = Size { radix, wrap };
                    let is_ring = (0..3).all(|d| !wrap[d] || radix[d] > 2);
                    if is_ring && degrees_of(size) == degrees {
                        sizes.push(size);
                    }
                }
            }
        }
        sizes
    }

    /// Whether there are as many switches as a size has.
    fn require(&self, size: Size) -> Result<(), String> {
        let (count, needed) = (self.neighbors.len() as u64, size.switches());
        if count == needed {
            return Ok(());
        }
        let text = size.text();
        Err(format!(
            "a {text} has {needed} switches, the fabric {count}"
        ))
    }

    /// Step 3.
    fn start(&self) -> Start {
        let fewest = self.neighbors.iter().map(Vec::len).min();
        let seed = self
            .neighbors
            .iter()
            .position(|all| Some(all.len()) == fewest);
        Start {
            seed: SwitchId::from(seed.unwrap_or(0)),
            place: [0; 3],
            links: [None; 6],
        }
    }

    /// Step 2: the switch of each place.
    fn place(&self, size: Size, start: &Start) -> Result<Vec<u32>, Stuck> {
        let order = outward(size, start.place);
        // neighbours of the seed that are known
        let fixed: BTreeMap<usize, u32> = (0..6)
            .filter_map(|direction| {
                let place = size.step(start.place, direction)?;
                Some((size.number(place), start.links[direction]?.0))
            })
            .collect();
        let mut placing = Placing {
            network: self,
            size,
            switch_of: vec![NONE; order.len()],
            is_placed: vec![false; order.len()],
        };
        // what is left to choose from at every place that has a switch, and at the next one
        let mut choices = vec![vec![start.seed.0]];
        let mut farthest = (0, Stuck::default());
        let mut tries = PATIENCE + 100 * order.len();
        while let Some(left) = choices.last_mut() {
            let choice = left.pop();
            let number = size.number(order[choices.len() - 1].0);
            placing.take_back(number);
            let Some(choice) = choice.filter(|_| tries > 0) else {
                choices.pop();
                continue;
            };
            tries -= 1;
            placing.put(number, choice);
            let Some(&(place, parent)) = order.get(choices.len()) else {
                return Ok(placing.switch_of);
            };
            let known = fixed.get(&size.number(place)).map(|&known| vec![known]);
            let from =
                known.unwrap_or_else(|| self.neighbors[placing.switch_of[parent] as usize].clone());
            let fitting = placing.fitting(place, from);
            if fitting.is_empty() && choices.len() > farthest.0 {
                farthest = (choices.len(), placing.stuck(place));
            }
            choices.push(fitting);
        }
        Err(farthest.1)
    }

    /// Places of the seed's neighbours in the order of its ports, by direction.
    fn port_order(&self, size: Size, start: &Start, switch_of: &[u32]) -> Vec<usize> {
        let ports = &self.neighbors[start.seed.index()];
        size.neighbors(start.place)
            .filter_map(|place| {
                let switch = switch_of[size.number(place)];
                ports.iter().position(|&neighbor| neighbor == switch)
            })
            .collect()
    }

    fn labels(&self, size: Size, switch_of: &[u32]) -> Labels {
        let graph = self.graph;
        let mut coordinates = vec![[0; 3]; switch_of.len()];
        let mut exits = vec![<[Vec<u16>; 6]>::default(); switch_of.len()];
        for (place, _) in outward(size, [0; 3]) {
            let switch = switch_of[size.number(place)] as usize;
            coordinates[switch] = place;
            for (direction, ports) in exits[switch].iter_mut().enumerate() {
                let Some(next) = size.step(place, direction) else {
                    continue;
                };
                let next = SwitchId(switch_of[size.number(next)]);
                let links = graph.neighbors(SwitchId::from(switch));
                ports.extend(links.filter(|(.., to)| *to == next).map(|(port, ..)| port));
            }
        }
        Labels {
            size,
            coordinates,
            exits,
            steps: Vec::new(),
        }
    }

    /// Names of some switches: `S0`, `S1` and 3 more.
    fn names(&self, switches: &[u32]) -> String {
        let named = switches.iter().take(3);
        let named: Vec<String> = named
            .map(|&switch| format!("`{}`", self.graph.switches()[switch as usize].name))
            .collect();
        let more = switches.len().saturating_sub(named.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        named.join(", ") + &more
    }

    fn nothing_fits(&self, size: Size, stuck: &Stuck) -> String {
        let axes: Vec<String> = (0..3)
            .filter(|&d| size.radix[d] > 1)
            .map(|d| format!("{} = {}", DIMENSIONS[d], stuck.place[d]))
            .collect();
        format!(
            "as a {} no switch fits at {}, beside {}: a link or a switch is missing or cabled otherwise there",
            size.text(),
            axes.join(", "),
            self.names(&stuck.beside)
        )
    }

    /// Why no size has the right counts.
    fn no_size(&self) -> String {
        let degrees = self.degrees();
        let counts: Vec<String> = degrees
            .iter()
            .map(|(neighbors, switches)| format!("{switches} have {neighbors}"))
            .collect();
        let fewest = degrees.keys().next().copied().unwrap_or(0);
        let switches = (0..).zip(&self.neighbors);
        let fewest: Vec<u32> = switches
            .filter(|(_, all)| all.len() == fewest)
            .map(|(switch, _)| switch)
            .collect();
        format!(
            "it is no complete mesh or torus of at most 3 dimensions: of its {} switches {} linked switches (the fewest: {})",
            self.neighbors.len(),
            counts.join(", "),
            self.names(&fewest)
        )
    }
}

#[cfg(test)]
#[path = "torus_labels_tests.rs"]
mod tests;
