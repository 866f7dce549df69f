//! What switches know from the beginning: flows with their connections, and where ports lead.

use crate::control::set_up::{Release, SetUp};
use crate::fabric::placement::Placement;
use crate::ids::SwitchId;
use crate::plan::Plan;
use crate::topology::graph::{Side, TreeWays};
use std::ops::{Range, RangeInclusive};

/// What packets of a class are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Their output is that of the tables.
    Other,
    /// They follow the route of their flow; whether the last one takes it down.
    Follower { last_takes_down: bool },
    /// Control packets of a class that sets up.
    Control(Parameters),
}

/// Parameters of a class that sets up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Most horizontal hops of a level.
    pub(super) hops: u32,
    /// Whether the first one may go to either side.
    pub(super) free: bool,
    /// Places of a cache.
    pub(super) cache: u32,
}

/// Flows whose routes are set up, one copy for all shards.
#[derive(Debug)]
pub struct SetUpFlows {
    /// By class.
    kinds: Box<[Kind]>,
    /// Name of the connection, by flow (global id).
    connections: Box<[u32]>,
    /// By flow (global id).
    weights: Box<[u16]>,
    /// What it sends in all, by flow (global id) \[flits\].
    sizes: Box<[u64]>,
    /// Whether the order of packets is given up.
    pub(super) is_loose: bool,
}

impl SetUpFlows {
    /// Those of a plan, if there are any.
    pub(in crate::cycle::mechanisms) fn new(plan: &Plan) -> Option<Self> {
        let connections = plan.connections()?;
        let mut kinds = vec![Kind::Other; plan.classes.len()];
        for (number, class) in plan.classes.iter().enumerate() {
            let (Some(set_up), Some(control)) = (class.set_up(), &class.control) else {
                continue;
            };
            let &SetUp {
                hops, free, cache, ..
            } = set_up;
            kinds[number] = Kind::Follower {
                last_takes_down: set_up.release == Release::LastPacket,
            };
            kinds[usize::from(control.answers)] = Kind::Control(Parameters { hops, free, cache });
        }
        let named = |flow| {
            let connection = connections.of(flow);
            connection.map_or(0, |connection| connection.id)
        };
        let mut classes = plan.classes.iter().filter_map(|class| class.set_up());
        Some(Self {
            kinds: kinds.into(),
            connections: (0..plan.flows.len()).map(named).collect(),
            weights: plan.flows.iter().map(|flow| flow.weight).collect(),
            sizes: (plan.flows.iter())
                .map(|flow| flow.flits.unwrap_or(u64::MAX))
                .collect(),
            is_loose: classes.any(|set_up| set_up.release == Release::AtOnce),
        })
    }

    /// What packets of a class are.
    #[inline]
    pub(super) fn kind(&self, class: u16) -> Kind {
        self.kinds[usize::from(class)]
    }

    /// Whether the last packet of a flow of a class takes its route down.
    #[inline]
    pub(super) fn ends_with_packet(&self, class: u16) -> bool {
        takes_down(&self.kind(class))
    }

    /// Whether some class has that.
    pub(super) fn end_with_packets(&self) -> bool {
        self.kinds.iter().any(takes_down)
    }

    /// Connection of a flow.
    #[inline]
    pub(super) fn connection(&self, flow: u32) -> u32 {
        self.connections[flow as usize]
    }

    /// Weight of a flow.
    #[inline]
    pub(super) fn weight(&self, flow: u32) -> i64 {
        i64::from(self.weights[flow as usize])
    }

    /// What a flow sends in all \[flits\].
    #[inline]
    pub(super) fn size(&self, flow: u32) -> u64 {
        self.sizes[flow as usize]
    }

    /// Most entries of a cache.
    pub(super) fn places(&self) -> u32 {
        let places = self.kinds.iter().map(|kind| match kind {
            Kind::Control(parameters) => parameters.cache,
            _ => 0,
        });
        places.max().unwrap_or(0)
    }
}

fn takes_down(kind: &Kind) -> bool {
    matches!(kind, Kind::Follower { last_takes_down } if *last_takes_down)
}

/// Outputs of a switch by where they lead, by their positions among its connected ports.
#[derive(Clone, Debug)]
pub(super) struct SwitchWays {
    pub(super) up: Range<u32>,
    next: Range<u32>,
    before: Range<u32>,
    /// Side of the farther end of the chain.
    pub(super) farther: Side,
    pub(super) is_leaf: bool,
}

impl SwitchWays {
    pub(super) fn new(tree: &TreeWays, placement: &Placement, switch: SwitchId) -> Self {
        // ports to one side are all connected or none is, so their positions follow each other
        let positions = |ports: RangeInclusive<u16>| {
            if ports.is_empty() {
                return 0..0;
            }
            let first = u32::from(placement.index_of(switch, *ports.start()));
            first..first + ports.len() as u32
        };
        Self {
            up: positions(tree.up(switch)),
            next: positions(tree.across(switch, Side::Next)),
            before: positions(tree.across(switch, Side::Before)),
            farther: tree.farther(switch),
            is_leaf: tree.is_leaf(switch),
        }
    }

    /// Outputs to one side, or to both; in the order of ports.
    pub(super) fn across(&self, side: Option<Side>) -> [Range<u32>; 2] {
        let nothing = || 0..0;
        match side {
            None => [self.next.clone(), self.before.clone()],
            Some(Side::Next) => [self.next.clone(), nothing()],
            Some(Side::Before) => [nothing(), self.before.clone()],
        }
    }

    /// Whether an output leads to a side.
    pub(super) fn is_across(&self, output: u32) -> bool {
        self.next.contains(&output) || self.before.contains(&output)
    }
}
