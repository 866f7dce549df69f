//! Random networks, and flows that start and end.

use crate::control::Facts;
use crate::rng::{Purpose, Stream, below, stream};
use std::collections::VecDeque;

/// Flits of every packet.
pub(super) const PACKET: u16 = 8;

/// One direction of a link.
pub(super) struct Wire {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Cycles per flit.
    pub(super) pace: u16,
    /// Most cycles that anything waits for it, and most that it is on it.
    pub(super) longest: u32,
}

/// A flow.
pub(super) struct Plan {
    pub(super) facts: Facts,
    /// Its wires.
    pub(super) way: Vec<usize>,
    /// Cycles in which a packet of it starts.
    pub(super) starts: Vec<u64>,
}

/// Switches, then hosts, are elements; wire `w ^ 1` is the other direction of wire `w`.
pub(super) struct Case {
    pub(super) switches: usize,
    pub(super) elements: usize,
    pub(super) wires: Vec<Wire>,
    pub(super) flows: Vec<Plan>,
}

fn between(rng: &mut Stream, least: u32, most: u32) -> u32 {
    least + below(rng, most - least + 1)
}

fn one_of(rng: &mut Stream, all: &[u32]) -> u32 {
    all[below(rng, all.len() as u32) as usize]
}

impl Case {
    /// A connected network with parallel links, so that packets between the same switches overtake each other; some wires
    /// are far slower than others, for the same reason.
    pub(super) fn random(seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Topology, 1 << 40);
        let switches = between(&mut rng, 1, 5) as usize;
        let hosts = between(&mut rng, 2, 9) as usize;
        let mut case = Self {
            switches,
            elements: switches + hosts,
            wires: Vec::new(),
            flows: Vec::new(),
        };
        for element in 1..case.elements {
            let other = below(&mut rng, element.min(switches) as u32) as usize;
            case.link(&mut rng, element, other);
        }
        for _ in 0..below(&mut rng, 2 * switches as u32) {
            let [one, other] = [0; 2].map(|_| below(&mut rng, switches as u32) as usize);
            if one != other {
                case.link(&mut rng, one, other);
            }
        }
        let span = one_of(&mut rng, &[1, 30, 500, 5000]);
        for id in 0..between(&mut rng, 1, 16) {
            let flow = case.flow(&mut rng, id, span);
            case.flows.push(flow);
        }
        case
    }

    fn link(&mut self, rng: &mut Stream, one: usize, other: usize) {
        let pace = one_of(rng, &[1, 1, 2, 3]) as u16;
        for (from, to) in [(one, other), (other, one)] {
            self.wires.push(Wire {
                from,
                to,
                pace,
                longest: one_of(rng, &[0, 2, 20, 200]),
            });
        }
    }

    /// Without end, or with a stop, or of few packets; one packet alone joins nothing, and a stop may come first.
    fn flow(&self, rng: &mut Stream, id: u32, span: u32) -> Plan {
        let hosts = (self.elements - self.switches) as u32;
        let source = below(rng, hosts);
        let destination = (source + between(rng, 1, hosts - 1)) % hosts;
        let [source, destination] = [source, destination].map(|host| self.switches + host as usize);
        let packets = between(rng, 1, 3);
        let mut starts: Vec<u64> = (0..packets).map(|_| below(rng, span).into()).collect();
        starts.sort_unstable();
        let kind = below(rng, 4);
        let stop = u64::from(between(rng, 1, 2 * span));
        Plan {
            facts: Facts {
                id,
                start: 0,
                stop: (kind == 1).then_some(stop),
                flits: (kind == 2).then_some((packets * u32::from(PACKET)).into()),
                weight: between(rng, 1, 5) as u16,
            },
            way: self.way(rng, source, destination),
            starts,
        }
    }

    /// A way through no element twice: of a tree that grows in breadth (shortest) or in depth (any).
    fn way(&self, rng: &mut Stream, source: usize, destination: usize) -> Vec<usize> {
        let is_shortest = below(rng, 2) == 0;
        let first = below(rng, self.wires.len() as u32) as usize;
        let mut came_by = vec![None; self.elements];
        let mut open = VecDeque::from([source]);
        while let Some(element) = if is_shortest {
            open.pop_front()
        } else {
            open.pop_back()
        } {
            for number in 0..self.wires.len() {
                let number = (number + first) % self.wires.len();
                let Wire { from, to, .. } = self.wires[number];
                // hosts end ways
                let is_inside = to < self.switches || to == destination;
                if from == element && is_inside && came_by[to].is_none() {
                    came_by[to] = Some(number);
                    open.push_back(to);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = destination;
        while at != source {
            let wire = came_by[at].expect("the network is connected");
            way.push(wire);
            at = self.wires[wire].from;
        }
        way.reverse();
        way
    }

    /// The element at which a flow begins.
    pub(super) fn source(&self, flow: usize) -> usize {
        self.wires[self.flows[flow].way[0]].from
    }

    /// Most cycles of a packet or copy over one wire, queue included.
    pub(super) fn longest_hop(&self) -> u64 {
        let longest = self.wires.iter().map(|wire| wire.longest);
        2 * u64::from(longest.max().expect("a wire"))
    }
}
