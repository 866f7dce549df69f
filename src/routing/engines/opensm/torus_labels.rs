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
        Self {
            size,
            coordinates: coordinates.collect(),
            exits: exits.collect(),
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
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};
    use crate::topology::tests::{built, context};

    /// A mesh or torus as an edge list with switches and ports in any order, so that nothing is known of its shape.
    fn shuffled(topology: &str, seed: u64) -> Graph {
        let graph = built(topology, &context());
        let count = graph.switches().len();
        let mut rng = stream(seed, Purpose::Routing, 0);
        let mut new: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            new.swap(i, below(&mut rng, i as u32 + 1) as usize);
        }
        let mut links: Vec<String> = graph
            .channels()
            .iter()
            .step_by(2)
            .filter_map(|channel| {
                let ends = [channel.from.switch()?, channel.to.switch()?];
                let [a, b] = ends.map(|switch| new[switch.index()]);
                Some(format!("({a}, {b})"))
            })
            .collect();
        for i in (1..links.len()).rev() {
            links.swap(i, below(&mut rng, i as u32 + 1) as usize);
        }
        let links = links.join(", ");
        let list = format!("EdgeList(hosts_per_switch: 2, links: [{links}])");
        built(&list, &context())
    }

    /// Every link leads one step on, and there is one for every step.
    fn assert_labels(graph: &Graph, labels: &Labels) {
        for switch in graph.switch_ids() {
            let place = labels.coordinates[switch.index()];
            let mut ports = 0;
            for direction in 0..6 {
                let exits = &labels.exits[switch.index()][direction];
                let next = labels.size.step(place, direction);
                assert_eq!(next.is_some(), !exits.is_empty());
                for &port in exits {
                    let to = graph.channel(graph.port_channel(switch, port).unwrap()).to;
                    assert_eq!(Some(labels.coordinates[to.switch().unwrap().index()]), next);
                }
                ports += exits.len();
            }
            assert_eq!(ports, graph.neighbors(switch).count());
        }
    }

    #[test]
    fn shuffled_meshes_and_tori_are_found_again() {
        for (topology, text) in [
            ("Torus(radix: [6, 5])", "6 x 5 torus"),
            ("Torus(radix: [4, 4])", "4 x 4 torus"),
            ("Torus(radix: [3, 3, 3])", "3 x 3 x 3 torus"),
            ("Torus(radix: [4, 3, 5])", "5 x 4 x 3 torus"),
            ("Torus(radix: [7])", "7 torus"),
            ("Mesh(radix: [4, 3])", "4 x 3 mesh"),
            ("Mesh(radix: [4, 3, 2])", "4 x 3 x 2 mesh"),
            ("Torus(radix: [12, 12])", "12 x 12 torus"),
            ("Torus(radix: [10, 10, 10])", "10 x 10 x 10 torus"),
        ] {
            for seed in 0..4 {
                let graph = shuffled(topology, seed);
                let labels = Labels::find(&graph, None).unwrap();
                assert_labels(&graph, &labels);
                let mut radix = labels.size.radix;
                radix.sort_unstable_by(|a, b| b.cmp(a));
                let sorted = Size {
                    radix,
                    ..labels.size
                };
                assert_eq!(sorted.text(), text, "{seed}");
            }
        }
    }

    /// The ports of a built torus tell its dimensions.
    #[test]
    fn a_torus_without_its_shape_gets_its_own_coordinates() {
        for topology in [
            "Torus(radix: [6, 5])",
            "Torus(radix: [5, 6])",
            "Torus(radix: [4, 5, 3])",
            "Mesh(radix: [3, 5])",
        ] {
            let graph = built(topology, &context());
            let crate::topology::Shape::Grid(shape) = graph.shape() else {
                panic!("no grid");
            };
            assert_eq!(
                Labels::find(&graph, None).unwrap(),
                Labels::of_grid(&graph, shape),
                "{topology}"
            );
        }
    }

    #[test]
    fn what_is_no_torus_is_told() {
        let reason = |text: &str| Labels::find(&built(text, &context()), None).unwrap_err();
        assert_eq!(
            reason("EdgeList(hosts_per_switch: 1, links: [(0, 1), (1, 2), (2, 0), (2, 3)])"),
            "it is no complete mesh or torus of at most 3 dimensions: of its 4 switches 1 have 1, 2 have 2, 1 have 3 \
             linked switches (the fewest: `S3`)"
        );
        // it has as many switches and neighbours as a ring of five pairs
        let petersen = reason("Petersen()");
        assert!(
            petersen.starts_with("as a 2 x 5 torus no switch fits at"),
            "{petersen}"
        );
        // two links of a torus swapped: the counts are right
        let graph = shuffled("Torus(radix: [5, 5])", 1);
        let mut pairs: Vec<(u32, u32)> = graph
            .channels()
            .iter()
            .step_by(2)
            .filter_map(|channel| Some((channel.from.switch()?.0, channel.to.switch()?.0)))
            .collect();
        let other = pairs.iter().position(|pair| {
            let [a, b] = [pairs[0], *pair];
            let is_new =
                |x: u32, y: u32| x != y && !pairs.contains(&(x, y)) && !pairs.contains(&(y, x));
            is_new(a.0, b.1) && is_new(b.0, a.1)
        });
        let other = other.unwrap();
        let (a, b) = (pairs[0], pairs[other]);
        (pairs[0], pairs[other]) = ((a.0, b.1), (b.0, a.1));
        let links: Vec<String> = pairs.iter().map(|(a, b)| format!("({a}, {b})")).collect();
        let text = format!(
            "EdgeList(hosts_per_switch: 1, links: [{}])",
            links.join(", ")
        );
        assert!(
            reason(&text).starts_with("as a 5 x 5 torus no switch fits at x ="),
            "{}",
            reason(&text)
        );
    }
}
