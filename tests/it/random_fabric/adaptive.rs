//! Adaptive routing functions for any connected graph.
//!
//! One of the program's engines is among them: multi-path LASH, whose packets choose an address at their source. The
//! others are made here.
//!
//! [`HopLanes`] takes shortest ways, straight or past a switch that the packet chooses at its departure; every hop takes
//! lanes above those of the hop before, which is free of deadlock while the lanes last. [`Escape`] takes any lane but
//! the first of any shortest way, with up*/down* on the first lane as its escape: packets come to lane 0 of a channel
//! from lane 0 only to go on up*/down*, so lane 0 has no cycle, and every head requests it.

use super::Dice;
use super::fabric::{distances, levels, up_down_row};
use crate::reference::Routing;
use std::path::Path;
use std::sync::Arc;
use virtlane::ids::{HostId, SwitchId};
use virtlane::registry::Arguments;
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Local, Selection};
use virtlane::routing::{ENGINES, Guarantees, LaneBudget, Routes, RoutingError};
use virtlane::topology::Graph;

/// Most lanes of a group.
const MOST_LANES: usize = 15;

/// A drawn routing function.
#[derive(Clone, Debug)]
pub(crate) struct Adaptive {
    pub(crate) function: Arc<dyn AdaptiveRouting>,
    /// Whether every packet arrives, with lanes that do not share their space.
    pub(crate) deadlock_free: bool,
}

impl Adaptive {
    /// The same for the engine; nothing is promised.
    pub(crate) fn routes(&self) -> Routes {
        Routes::Adaptive(virtlane::routing::Adaptive {
            engine: String::from("random"),
            routing: Arc::clone(&self.function),
            guarantees: Guarantees {
                minimal: false,
                deadlock_free: false,
                in_order: false,
                lanes_needed: self.function.width(),
            },
            remarks: Vec::new(),
        })
    }
}

impl<'a> From<&'a Adaptive> for Routing<'a> {
    fn from(adaptive: &'a Adaptive) -> Self {
        Self::Adaptive(&*adaptive.function)
    }
}

/// A routing function for a graph.
pub(super) fn random_adaptive(dice: &mut Dice, graph: &Graph) -> Adaptive {
    if dice.chance(15)
        && let Some(adaptive) = multi_path(dice, graph)
    {
        return adaptive;
    }
    let ways = Ways::new(graph);
    if dice.chance(35) {
        let width = dice.pick(&[1, 2, 2, 3, 4]);
        return Adaptive {
            function: Arc::new(Escape::new(dice, ways, width)),
            deadlock_free: true,
        };
    }
    let detour = dice.pick(&[
        Detour::Never,
        Detour::Never,
        Detour::Anywhere,
        Detour::LessLoad,
    ]);
    let legs = if detour == Detour::Never { 1 } else { 2 };
    let hops = (legs * ways.diameter()).max(1);
    let classes = if dice.chance(25) {
        dice.between(1, hops as u32) as usize
    } else {
        hops
    };
    let most = (MOST_LANES / classes).min(3) as u32;
    let lanes_per_class = dice.between(1, most) as u8;
    let selection = [
        Selection::First,
        Selection::Random,
        Selection::LeastLoad,
        Selection::Open,
    ];
    Adaptive {
        function: Arc::new(HopLanes {
            ways,
            classes: classes as u8,
            lanes_per_class,
            selection: dice.pick(&selection),
            detour,
        }),
        deadlock_free: classes == hops,
    }
}

/// Multi-path LASH, unless it needs too many lanes.
fn multi_path(dice: &mut Dice, graph: &Graph) -> Option<Adaptive> {
    let choose = dice.pick(&["Pair", "Random", "LeastLoad", "LeastLoad"]);
    let text = format!("(lmc: {}, choose: {choose})", dice.between(0, 3));
    let entry = ENGINES.find("MpLash").expect("registered");
    let engine = (entry.build)(Arguments { text: &text }).expect("arguments fit");
    let budget = LaneBudget {
        lanes: MOST_LANES as u8,
        service_levels: 1,
    };
    match engine.route(graph, budget, 1, Path::new("")) {
        Ok(Routes::Adaptive(adaptive)) => Some(Adaptive {
            function: adaptive.routing,
            deadlock_free: true,
        }),
        Err(RoutingError::TooFewLanes { .. }) => None,
        other => panic!("{other:?}"),
    }
}

/// Shortest ways of a graph.
#[derive(Debug)]
struct Ways {
    graph: Graph,
    /// Hops, `[from switch][to switch]`.
    distance: Vec<Vec<usize>>,
}

impl Ways {
    fn new(graph: &Graph) -> Self {
        let from = |switch| distances(graph, switch);
        Self {
            distance: graph.switch_ids().map(from).collect(),
            graph: graph.clone(),
        }
    }

    fn between(&self, from: SwitchId, to: SwitchId) -> usize {
        self.distance[from.index()][to.index()]
    }

    fn diameter(&self) -> usize {
        let all = self.distance.iter().flatten();
        all.copied().max().expect("a switch")
    }

    /// Switch and port of a host.
    fn home(&self, host: HostId) -> (SwitchId, u16) {
        self.graph.attachment(host).expect("attached")
    }

    /// Ports of all shortest ways to another switch.
    fn ports(&self, at: SwitchId, to: SwitchId) -> impl Iterator<Item = u16> {
        let nearer = self.between(at, to).wrapping_sub(1);
        let neighbors = self.graph.neighbors(at);
        neighbors
            .filter_map(move |(port, _, next)| (self.between(next, to) == nearer).then_some(port))
    }

    /// The only candidate at the switch of the destination.
    fn ejection(&self, destination: HostId) -> Candidate {
        candidate(self.home(destination).1, 0)
    }
}

fn candidate(port: u16, lane: u8) -> Candidate {
    Candidate {
        port,
        lane,
        escape: false,
    }
}

/// Whether packets go past a switch of their choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detour {
    Never,
    Anywhere,
    /// Where the load of the first hop, times the hops, is less than straight on.
    LessLoad,
}

/// Shortest ways; the lanes of a hop are those of the number of switches passed.
#[derive(Debug)]
struct HopLanes {
    ways: Ways,
    /// Hops with lanes of their own; later ones begin again.
    classes: u8,
    lanes_per_class: u8,
    selection: Selection,
    detour: Detour,
}

impl HopLanes {
    /// Hops to `to` times the least load of the first.
    fn weight(&self, at: SwitchId, to: SwitchId, hops: usize, local: &dyn Local) -> usize {
        let loads = self.ways.ports(at, to).map(|port| local.load(port, 0));
        loads.min().expect("another switch") as usize * hops
    }

    fn takes(&self, at: SwitchId, via: SwitchId, home: SwitchId, local: &dyn Local) -> bool {
        if via == at || via == home || at == home {
            return false;
        }
        let straight = self.ways.between(at, home);
        let around = self.ways.between(at, via) + self.ways.between(via, home);
        self.detour == Detour::Anywhere
            || self.weight(at, via, around, local) < self.weight(at, home, straight, local)
    }
}

impl AdaptiveRouting for HopLanes {
    fn width(&self) -> u8 {
        self.classes * self.lanes_per_class
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn depart(&self, source: SwitchId, destination: HostId, local: &mut dyn Local) -> Course {
        let mut course = Course {
            via: Course::DIRECT,
            word: 0,
        };
        if self.detour != Detour::Never {
            let via = SwitchId(local.below(self.ways.graph.switches().len() as u32));
            let (home, _) = self.ways.home(destination);
            if self.takes(source, via, home, local) {
                course.via = via.0;
            }
        }
        course
    }

    fn advance(&self, at: SwitchId, _: HostId, course: Course) -> Course {
        Course {
            via: if course.via == at.0 {
                Course::DIRECT
            } else {
                course.via
            },
            word: course.word + 1,
        }
    }

    fn candidates(
        &self,
        at: SwitchId,
        destination: HostId,
        course: Course,
        found: &mut Vec<Candidate>,
    ) {
        found.clear();
        let (home, _) = self.ways.home(destination);
        if at == home {
            found.push(self.ways.ejection(destination));
            return;
        }
        let to = if course.via == Course::DIRECT {
            home
        } else {
            SwitchId(course.via)
        };
        let class = (course.word % u16::from(self.classes)) as u8;
        let first = class * self.lanes_per_class;
        for port in self.ways.ports(at, to) {
            found.extend((first..first + self.lanes_per_class).map(|lane| candidate(port, lane)));
        }
        // which one comes first depends on the destination
        let shift = destination.index() % found.len();
        found.rotate_left(shift);
    }
}

/// All shortest ways on all lanes but the first, up*/down* on the first.
#[derive(Debug)]
struct Escape {
    ways: Ways,
    width: u8,
    /// Output port, `[destination host][switch]`.
    up_down: Vec<Vec<u8>>,
}

impl Escape {
    fn new(dice: &mut Dice, ways: Ways, width: u8) -> Self {
        let (graph, rank) = (&ways.graph, levels(&ways.graph));
        let row = |host| up_down_row(dice, graph, &rank, host);
        Self {
            up_down: graph.host_ids().map(row).collect(),
            ways,
            width,
        }
    }
}

impl AdaptiveRouting for Escape {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn candidates(&self, at: SwitchId, destination: HostId, _: Course, found: &mut Vec<Candidate>) {
        found.clear();
        let (home, _) = self.ways.home(destination);
        if at == home {
            found.push(self.ways.ejection(destination));
            return;
        }
        found.push(Candidate {
            port: u16::from(self.up_down[destination.index()][at.index()]),
            lane: 0,
            escape: true,
        });
        for port in self.ways.ports(at, home) {
            found.extend((1..self.width).map(|lane| candidate(port, lane)));
        }
    }
}
