//! Flows whose routes are set up by packets (D67), with their connections.

use crate::control::set_up::{Release, SetUp};
use crate::plan::Plan;

/// What packets of a class are.
#[derive(Clone, Copy, Debug)]
pub(in crate::cycle) enum Kind {
    /// Their output is that of the tables.
    Other,
    /// They follow the route of their flow; whether the last one takes it down.
    Follower { last_takes_down: bool },
    /// Control packets of a class that sets up.
    Control(Parameters),
}

/// Parameters of a class that sets up.
#[derive(Clone, Copy, Debug)]
pub(in crate::cycle) struct Parameters {
    /// Most horizontal hops of a level.
    pub(in crate::cycle) hops: u32,
    /// Whether the first one may go to either side.
    pub(in crate::cycle) free: bool,
    /// Places of a cache.
    pub(in crate::cycle) cache: u32,
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
    pub(in crate::cycle) is_loose: bool,
}

impl SetUpFlows {
    /// Those of a plan, if there are any.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
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
    pub(in crate::cycle) fn kind(&self, class: u16) -> Kind {
        self.kinds[usize::from(class)]
    }

    /// Whether the last packet of a flow of a class takes its route down.
    #[inline]
    pub(in crate::cycle) fn ends_with_packet(&self, class: u16) -> bool {
        takes_down(&self.kind(class))
    }

    /// Whether some class has that.
    pub(in crate::cycle) fn end_with_packets(&self) -> bool {
        self.kinds.iter().any(takes_down)
    }

    /// Connection of a flow.
    #[inline]
    pub(in crate::cycle) fn connection(&self, flow: u32) -> u32 {
        self.connections[flow as usize]
    }

    /// Weight of a flow.
    #[inline]
    pub(in crate::cycle) fn weight(&self, flow: u32) -> i64 {
        i64::from(self.weights[flow as usize])
    }

    /// What a flow sends in all \[flits\].
    #[inline]
    pub(in crate::cycle) fn size(&self, flow: u32) -> u64 {
        self.sizes[flow as usize]
    }

    /// Most entries of a cache.
    pub(in crate::cycle) fn places(&self) -> u32 {
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
