//! UGAL on dragonflies and `HyperX` networks: the shortest way, or a random detour where the load asks for it.
//!
//! Guarantees: deadlock-free; not minimal, not in order. On a dragonfly at most 5 hops, two of them global.
//! Needs: a dragonfly ([`Shape::Dragonfly`]; 3 lanes, fewer with one or two groups) or a `HyperX` ([`Shape::HyperX`]; 2 lanes).
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes.
//! Cost: memory O(channels); a dragonfly O(links between two groups) per question.
//!
//! # Algorithm
//! 1. At its source a packet draws one detour: on a dragonfly a group that is neither the source's nor the
//!    destination's, then one of the links to it, through whose end it goes; in a `HyperX` a switch.
//! 2. It goes straight when `load * hops <= load * hops + threshold`, the load of the first output and lane of the
//!    shortest way on the left, of the detour on the right (UGAL-L); of several first outputs the least load. The threshold is
//!    30, and 3/2 of the longest latency between switches, unless it is written.
//! 3. Dragonfly: legs are local, global, local over the links with fewest local hops. Lanes count the global hops left:
//!    lane 0 before the first of two, then 1, and 2 behind the last; a group is left or reached on one lane only.
//! 4. `HyperX`: legs go in dimension order, the first on lane 0, the last and straight ways on lane 1.
//! 5. Among parallel links (and shortest ways of a dragonfly) the one for which fewest flits wait is taken.
//!
//! # Deviations
//! Load is that of one lane; Kim et al. also look at whole outputs.
//!
//! References: [`KIM_DRAGONFLY`] (UGAL-L, three virtual channels), [`SINGH_UGAL`]

use super::dimensions::Dimensions;
use crate::ids::SwitchId;
use crate::references::{AHN_HYPERX, KIM_DRAGONFLY, SINGH_UGAL};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::engines::dragonfly_minimal::Links;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Universal globally-adaptive load-balanced routing, with local information.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ugal {
    threshold: Option<u32>,
}

/// Threshold where channels are short \[flits x hops\]: a packet or two ahead on three hops are no congestion. With 0 uniform
/// traffic takes detours as soon as a single packet is ahead: at a load of 0.2 its latency is up to 20 % higher on a dragonfly
/// (`p: 2, a: 4, h: 2`). `BookSim2` has the same constant.
const PACKET: u32 = 30;

/// What is added for each cycle of latency, a numerator and a denominator \[flits x hops per cycle\]: a load counts what is on the
/// way in a round trip, which is no queue either; at 0.25 of the rate, on three hops, 3/4 of two latencies. On that dragonfly, with
/// channels of 1, 20 and 100 cycles and packets of 1, 4 and 16 flits, uniform traffic of 0.2 is at most 1 % slower so than over
/// shortest ways, while all of 0.25 from every group to the next one arrives, twice what shortest ways carry.
const ON_THE_WAY: [u32; 2] = [3, 2];

const NAME: &str = "Ugal";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["UGAL", "UGAL-L"],
    summary: "dragonflies and HyperX: the shortest way or one random detour, by load times hops at the source",
    parameters: &[Parameter {
        name: "threshold",
        kind: "integer >= 0 [flits x hops]",
        default: Some("30, and 3/2 of the longest latency between switches in cycles"),
        summary: "how much worse the shortest way may be before the detour is taken; less costs uniform traffic detours behind \
                  single packets, more lets queues grow before detours are taken",
    }],
    guarantees: &["deadlock-free on 3 lanes on dragonflies, on 2 on HyperX"],
    references: &[SINGH_UGAL, KIM_DRAGONFLY, AHN_HYPERX],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Ugal>()?)),
};

/// Word of packets on their first leg.
const FIRST: u16 = 0;
/// Word of packets on their last leg, and of those that go straight.
const LAST: u16 = 1;

impl Ugal {
    /// The threshold of a graph.
    fn threshold(self, graph: &Graph) -> u32 {
        self.threshold.unwrap_or_else(|| {
            let exits = graph
                .switch_ids()
                .flat_map(|switch| graph.neighbors(switch));
            let latencies = exits.map(|(_, channel, _)| graph.channel(channel).timing.latency);
            let longest = latencies.max().unwrap_or(0);
            let [numerator, denominator] = ON_THE_WAY;
            PACKET.saturating_add(longest.saturating_mul(numerator) / denominator)
        })
    }
}

impl AdaptiveEngine for Ugal {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Dragonfly(_) | Shape::HyperX(_)),
            links: Present::Some(
                |shape| matches!(shape, Shape::Dragonfly(_)),
                "dimension order needs all links; use `MinimalAdaptive()`, which routes any connected fabric",
            ),
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let threshold = self.threshold(graph);
        let flags = [false, true];
        match graph.shape() {
            Shape::Dragonfly(shape) => {
                let global_hops = match (shape.groups, shape.switches_per_group) {
                    (0 | 1, _) => 0,
                    (2, 1) => 1,
                    _ => 2,
                };
                let legs = OverGroups {
                    links: Links::complete(graph, shape, NAME)?,
                    global_hops,
                    threshold,
                };
                Adaptive::by_legs(graph, NAME, legs, budget, flags)
            }
            Shape::HyperX(_) => {
                let dimensions = Dimensions::new(graph, |_| 1);
                let legs = dimensions.map(|dimensions| OverSwitches {
                    dimensions,
                    switches: graph.switches().len() as u32,
                    threshold,
                });
                legs.map_or_else(
                    || Err(unsupported(graph)),
                    |legs| Adaptive::by_legs(graph, NAME, legs, budget, flags),
                )
            }
            _ => Err(unsupported(graph)),
        }
    }
}

fn unsupported(graph: &Graph) -> RoutingError {
    regular::is_no(NAME, graph, "dragonfly or HyperX")
}

/// Step 2: whether the shortest way, of (load, hops), is taken rather than the detour.
fn goes_straight(shortest: (u32, u32), detour: (u32, u32), threshold: u32) -> bool {
    let product = |(load, hops): (u32, u32)| u64::from(load) * u64::from(hops);
    product(shortest) <= product(detour) + u64::from(threshold)
}

/// Load of the first hop with the least.
fn least_load(ways: impl Iterator<Item = (u16, u8)>, local: &dyn Local) -> u32 {
    let loads = ways.map(|(port, lane)| local.load(port, lane));
    loads.min().unwrap_or(0)
}

fn straight() -> Course {
    Course {
        via: Course::DIRECT,
        word: LAST,
    }
}

fn through(via: SwitchId) -> Course {
    Course {
        via: via.0,
        word: FIRST,
    }
}

/// A dragonfly.
#[derive(Debug)]
struct OverGroups {
    links: Links,
    /// Global hops of the longest way.
    global_hops: u8,
    threshold: u32,
}

impl OverGroups {
    /// Step 3, the last leg: ports, which may repeat, and their lane.
    fn last_leg(&self, at: SwitchId, goal: SwitchId) -> impl Iterator<Item = (u16, u8)> {
        let shape = &self.links.shape;
        let is_local = shape.group(at) == shape.group(goal);
        let local = is_local.then(|| (self.links.local_port(at, goal), self.global_hops));
        let links = (!is_local).then(|| self.links.shortest(at, goal));
        let over = move |link| (self.links.port_to(at, link), self.global_hops - 1);
        local
            .into_iter()
            .chain(links.into_iter().flatten().map(over))
    }

    /// Step 3, the first leg: ports, which may repeat, towards the links that end at `goal`.
    fn first_leg(&self, at: SwitchId, goal: SwitchId) -> impl Iterator<Item = (u16, u8)> {
        let shape = &self.links.shape;
        let links = self.links.between(shape.group(at), shape.group(goal));
        let ends = links.iter().filter(move |link| link.to == goal);
        let starts_here = ends.clone().any(|link| link.from == at);
        ends.filter(move |link| link.from == at || !starts_here)
            .map(move |link| (self.links.port_to(at, link), 0))
    }
}

impl Legs for OverGroups {
    fn width(&self) -> u8 {
        self.global_hops + 1
    }

    fn selection(&self) -> Selection {
        Selection::LeastLoad
    }

    fn words(&self) -> u16 {
        2
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let shape = &self.links.shape;
        let (own, other) = (shape.group(source), shape.group(home));
        let (low, high) = (own.min(other), own.max(other));
        let choices = shape.groups - 1 - u32::from(own != other);
        if choices == 0 {
            return straight();
        }
        let mut group = local.below(choices);
        group += u32::from(group >= low);
        group += u32::from(own != other && group >= high);
        let links = self.links.between(own, group);
        let link = links[local.below(links.len() as u32) as usize];
        let detour_load = local.load(self.links.port_to(source, &link), 0);
        let detour_hops = u32::from(link.from != source) + 1 + self.links.hops(link.to, home);
        let load = least_load(self.last_leg(source, home), local);
        let shortest = (load, self.links.hops(source, home));
        if goes_straight(shortest, (detour_load, detour_hops), self.threshold) {
            straight()
        } else {
            through(link.to)
        }
    }

    fn starts(&self, source: SwitchId, goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        let shape = &self.links.shape;
        let (own, other) = (shape.group(source), shape.group(goal));
        match leg {
            Leg::First if own == other || self.global_hops < 2 => {}
            Leg::First => {
                let mut links = self.links.between(own, other).iter();
                if links.any(|link| link.to == goal) {
                    found.push(FIRST);
                }
            }
            Leg::Last => found.push(LAST),
        }
    }

    fn hand_over(&self, _word: u16) -> u16 {
        LAST
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        if word == FIRST {
            add(self.first_leg(at, goal), found);
        } else {
            add(self.last_leg(at, goal), found);
        }
    }
}

/// Adds one candidate per port.
fn add(ways: impl Iterator<Item = (u16, u8)>, found: &mut Vec<Candidate>) {
    for (port, lane) in ways {
        if !found.iter().any(|candidate| candidate.port == port) {
            found.push(Candidate {
                port,
                lane,
                escape: false,
            });
        }
    }
}

/// A `HyperX`.
#[derive(Debug)]
struct OverSwitches {
    dimensions: Dimensions,
    switches: u32,
    threshold: u32,
}

impl OverSwitches {
    /// Load of the first hop of a leg.
    fn load(&self, at: SwitchId, goal: SwitchId, word: u16, local: &dyn Local) -> u32 {
        let ports = self.dimensions.in_order(at, goal).ports;
        least_load(ports.map(|port| (port, word as u8)), local)
    }
}

impl Legs for OverSwitches {
    fn width(&self) -> u8 {
        2
    }

    fn selection(&self) -> Selection {
        Selection::LeastLoad
    }

    fn words(&self) -> u16 {
        2
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let via = SwitchId(local.below(self.switches));
        if via == source || via == home {
            return straight();
        }
        let hops = |from, to| self.dimensions.hops(from, to);
        let shortest = (self.load(source, home, LAST, local), hops(source, home));
        let detour = (
            self.load(source, via, FIRST, local),
            hops(source, via) + hops(via, home),
        );
        if goes_straight(shortest, detour, self.threshold) {
            straight()
        } else {
            through(via)
        }
    }

    fn starts(&self, _source: SwitchId, _goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        found.push(match leg {
            Leg::First => FIRST,
            Leg::Last => LAST,
        });
    }

    fn hand_over(&self, _word: u16) -> u16 {
        LAST
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let ports = self.dimensions.in_order(at, goal).ports;
        found.extend(ports.map(|port| Candidate {
            port,
            lane: word as u8,
            escape: false,
        }));
    }
}
