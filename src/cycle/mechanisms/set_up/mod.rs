//! Routes set up by packets: switches choose the outputs of set-ups by counters of flows, keep them in caches of their inputs
//! and take them down again (D67 of the model).
//!
//! Stage: the end of `Slot::Deliver`; only where a class sets up
//! Reads: packets that may request from this cycle on, tables
//! Writes: their outputs ([`own_routes`](crate::cycle::state::OwnRoutes)), the second word of set-ups, its own columns
//! Cost: O(entries of the cache) per packet of such a class and switch, O(outputs) per set-up, O(log) of those that come in one
//! cycle for their order; memory 16 bytes per entry
//!
//! # Rules
//! 1. In a cycle set-ups come first, then what follows a route, then tear-downs; each in the order of (input, lane).
//! 2. A set-up takes the least output upward, or one to the side whose counter is strictly below that of the way down; what is not
//!    the output of the tables needs a place in the cache of its input.
//! 3. What follows takes the output that the cache has for its connection, else that of the tables. A tear-down takes the weight
//!    from the counter and erases the entry.
//!
//! # Deviations
//! Where the order of packets is given up (`release: AtOnce`) a cache may have two entries of one connection: the older one
//! counts. Counters are then numbers with a sign. References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §3.1, §3.2

mod account;
mod direct;
mod last;
mod ways;

use self::ways::SwitchWays;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::set_up_flows::SetUpFlows;
use crate::fabric::rows::{LaneRow, PacketRow};
use crate::fabric::{InPort, OutPort};
use crate::rng::{Purpose, Stream, stream};
use crate::topology::graph::{Side, TreeWays};
use bevy_ecs::component::Component;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Weight of the flows that go through an output.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct FlowCounter(i64);

impl Persistent for FlowCounter {}

/// An output of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    connection: u32,
    /// Position among the connected ports of the switch.
    output: u8,
}

/// What an input has of its own; that of hosts is not used.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub struct RouteCache {
    /// In the order in which they have entered.
    entries: Vec<Entry>,
    /// What is drawn for set-ups that come by this input.
    stream: Stream,
}

impl Default for RouteCache {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            stream: stream(0, Purpose::SetUp, 0),
        }
    }
}

impl Persistent for RouteCache {}

/// What does not change.
#[derive(Debug, Default)]
struct Given {
    tree: Option<TreeWays>,
    /// By row.
    switches: Vec<SwitchWays>,
    /// Direction within its chain of what comes by each port of a switch; `None`: not by a horizontal channel.
    came: Vec<Option<Side>>,
}

/// A packet that is directed in this cycle.
type Arrived = (LaneRow, PacketRow);

/// What a shard has of it beside its columns.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct SetUps {
    #[serde(skip)]
    given: Given,
    #[serde(skip)]
    choosers: Vec<Arrived>,
    #[serde(skip)]
    followers: Vec<Arrived>,
    #[serde(skip)]
    tear_downs: Vec<Arrived>,
    /// Choices for which a cache had no place.
    full: u64,
    /// Most entries of a cache at the end of a cycle.
    entries_most: u64,
}

impl Persistent for SetUps {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.given = built.given;
    }
}

/// Routes set up by packets as a mechanism.
pub struct SettingUp;

impl Mechanism for SettingUp {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.shared.own_routes.as_ref()?.set_up().map(|_| Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let seed = site.plan.seed;
        let routes = site.shared.own_routes.as_ref();
        let set_up = routes.and_then(|routes| routes.set_up());
        let ends_with_packets = set_up.is_some_and(SetUpFlows::end_with_packets);
        let inputs = site.placement.switch_channels(site.graph, site.number);
        let streams: Vec<Stream> = inputs
            .map(|channel| stream(seed, Purpose::SetUp, u64::from(channel.reverse().0)))
            .collect();
        shard.column::<OutPort, FlowCounter>(FlowCounter::default());
        shard.column_by::<InPort, RouteCache>(move |row| {
            let mut cache = RouteCache::default();
            if let Some(stream) = streams.get(row) {
                cache.stream.clone_from(stream);
            }
            cache
        });
        shard.resource(SetUps {
            given: Given::new(&site),
            ..SetUps::default()
        });
        account::account(shard);
        shard.last_system(Slot::Deliver, "set_up", direct::system::<W>);
        if ends_with_packets {
            shard.last_system(Slot::Inject, "last_packets", last::system);
        }
    }
}

impl Given {
    fn new(site: &Site<'_>) -> Self {
        let Some(tree) = TreeWays::of(site.graph) else {
            return Self::default();
        };
        let (graph, placement) = (site.graph, site.placement);
        let switches = placement.switches[site.number].iter();
        let switches = switches.map(|&switch| SwitchWays::new(&tree, placement, switch));
        let inputs = placement.switch_channels(graph, site.number);
        let came = inputs.map(|channel| tree.direction(graph.channel(channel.reverse())));
        Self {
            switches: switches.collect(),
            came: came.collect(),
            tree: Some(tree),
        }
    }
}
