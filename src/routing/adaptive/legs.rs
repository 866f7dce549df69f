//! Routing functions written leg by leg: towards a switch, be it the one of the destination or one on the way.
//!
//! Guarantees: what a packet may do next depends on its switch, the switch at the end of its leg and its word
//! only; so a proof need not look at every (source, switch on the way, destination).

use super::{Adaptive, AdaptiveRouting, Candidate, Course, Local, Selection};
use crate::ids::{HostId, SwitchId};
use crate::routing::{Guarantees, LaneBudget, RoutingError};
use crate::topology::Graph;
use std::sync::Arc;

/// Part of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// From the source to the switch it goes through first.
    First,
    /// To the switch of the destination.
    Last,
}

/// An adaptive routing function, leg by leg.
pub trait Legs: Send + Sync + std::fmt::Debug {
    /// As [`AdaptiveRouting::width`].
    fn width(&self) -> u8;

    /// As [`AdaptiveRouting::selection`].
    fn selection(&self) -> Selection;

    /// Words are below this.
    fn words(&self) -> u16 {
        1
    }

    /// As [`AdaptiveRouting::depart`]; `home`, the switch of the destination, is not `source`. Unless an engine
    /// says otherwise, all packets go straight.
    fn depart(&self, _source: SwitchId, _home: SwitchId, _local: &mut dyn Local) -> Course {
        Course::STRAIGHT
    }

    /// Adds the words with which [`Self::depart`] may send a packet from `source` on a `leg` to `goal`, none when
    /// it never does.
    fn starts(&self, _source: SwitchId, _goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        if leg == Leg::Last {
            found.push(Course::STRAIGHT.word);
        }
    }

    /// The words with which [`Self::depart`] sends a packet straight from `source` to `home`, with their chances, where these
    /// depend on nothing else; `None` where they depend on loads, where packets go through other switches, and where an
    /// engine does not say.
    fn chances(&self, _source: SwitchId, _home: SwitchId) -> Option<Vec<(u16, f64)>> {
        None
    }

    /// Whether [`Self::depart`] sends packets only through switches that lie on a shortest way from their source to
    /// their destination's: two shortest legs are a shortest way then.
    fn stays_between(&self) -> bool {
        false
    }

    /// Word of the last leg of a packet that ends its first leg with `word`.
    fn hand_over(&self, word: u16) -> u16 {
        word
    }

    /// The ports of [`Self::ways`], as [`AdaptiveRouting::ports`].
    fn ports(&self, _at: SwitchId, _goal: SwitchId, _word: u16) -> Option<&[u16]> {
        None
    }

    /// Adds the ways on from `at` to `goal`, another switch.
    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>);
}

/// The routing function that goes leg by leg, then over the port of the destination.
#[derive(Debug)]
struct ByLegs<L> {
    legs: L,
    /// Switch and port of every host.
    homes: Vec<(SwitchId, u16)>,
}

impl<L: Legs> AdaptiveRouting for ByLegs<L> {
    fn width(&self) -> u8 {
        self.legs.width()
    }

    fn selection(&self) -> Selection {
        self.legs.selection()
    }

    fn depart(&self, source: SwitchId, destination: HostId, local: &mut dyn Local) -> Course {
        let (home, _) = self.homes[destination.index()];
        if source == home {
            return Course::STRAIGHT;
        }
        self.legs.depart(source, home, local)
    }

    fn advance(&self, at: SwitchId, _destination: HostId, course: Course) -> Course {
        if course.via != at.0 {
            return course;
        }
        Course {
            via: Course::DIRECT,
            word: self.legs.hand_over(course.word),
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
        let (home, port) = self.homes[destination.index()];
        if at == home {
            found.push(Candidate::at(port));
            return;
        }
        self.legs.ways(at, goal(course, home), course.word, found);
    }

    fn ports(&self, at: SwitchId, destination: HostId, course: Course) -> Option<&[u16]> {
        let (home, port) = &self.homes[destination.index()];
        if at == *home {
            return Some(std::slice::from_ref(port));
        }
        self.legs.ports(at, goal(course, *home), course.word)
    }

    fn legs(&self) -> Option<&dyn Legs> {
        Some(&self.legs)
    }
}

/// The end of the leg that a packet is on.
#[inline]
fn goal(course: Course, home: SwitchId) -> SwitchId {
    match course.via {
        Course::DIRECT => home,
        via => SwitchId(via),
    }
}

impl Adaptive {
    /// The routing of an engine that is written leg by leg.
    ///
    /// # Errors
    /// [`RoutingError::TooFewLanes`]; [`RoutingError::Unreachable`] for a host without a switch.
    pub fn by_legs(
        graph: &Graph,
        engine: &'static str,
        legs: impl Legs + 'static,
        budget: LaneBudget,
        [minimal, deadlock_free]: [bool; 2],
    ) -> Result<Self, RoutingError> {
        let width = legs.width();
        budget.require(engine, width)?;
        let homes = homes(graph)?;
        Ok(Self {
            engine: engine.to_owned(),
            routing: Arc::new(ByLegs { legs, homes }),
            guarantees: Guarantees {
                minimal,
                deadlock_free,
                in_order: false,
                lanes_needed: width,
            },
            remarks: Vec::new(),
        })
    }

    /// The same promises, kept by other legs on another graph.
    ///
    /// # Errors
    /// [`RoutingError::Unreachable`] for a host without a switch.
    pub fn with_legs(self, graph: &Graph, legs: impl Legs + 'static) -> Result<Self, RoutingError> {
        let homes = homes(graph)?;
        Ok(Self {
            routing: Arc::new(ByLegs { legs, homes }),
            ..self
        })
    }
}

/// Switch and port of every host.
fn homes(graph: &Graph) -> Result<Vec<(SwitchId, u16)>, RoutingError> {
    let home = |host| {
        graph
            .attachment(host)
            .ok_or_else(|| RoutingError::Unreachable {
                from: String::from("any switch"),
                to: graph.hosts()[host.index()].name.clone(),
            })
    };
    graph.host_ids().map(home).collect()
}
