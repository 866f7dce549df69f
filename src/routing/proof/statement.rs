//! What a proof is asked, and what it says.

use crate::ids::{ChannelId, HostId, SlId, VlId};

/// What the fabric will do with the tables.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions<'a> {
    /// Service levels in use.
    pub service_levels: &'a [SlId],
    /// Lanes of every channel.
    pub lanes: u8,
    /// Whether all lanes of a channel share one pool of buffers, so that a full pool blocks them all: the
    /// dependency graph then has one vertex per channel.
    pub pool_shared: bool,
    /// Hosts that send; `None` = all.
    pub senders: Option<&'a [HostId]>,
    /// Hosts that receive; `None` = all.
    pub receivers: Option<&'a [HostId]>,
    /// Whether pairs may have no way: following the tables ends at a switch without an entry.
    pub allow_unreachable: bool,
}

impl<'a> VerifyOptions<'a> {
    /// Lanes with buffers of their own, and a way from every host to every other.
    pub fn new(service_levels: &'a [SlId], lanes: u8) -> Self {
        Self {
            service_levels,
            lanes,
            pool_shared: false,
            senders: None,
            receivers: None,
            allow_unreachable: false,
        }
    }
}

/// What was found true.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Channels between switches that some path uses.
    pub channels_used: usize,
    /// Dependencies between (channel, lane) of channels between switches.
    pub dependencies: u64,
    /// (channel, lane) in use, of channels between switches.
    pub vertices: u64,
    /// Whether the dependency graph is acyclic: no deadlock.
    pub acyclic: bool,
    /// Whether every path is a shortest one.
    pub minimal: bool,
    /// Ordered (sender, receiver) pairs that have a path.
    pub reachable_pairs: u64,
    /// Those that have none.
    pub unreachable_pairs: u64,
    /// The first of these, by receiver.
    pub unreachable: Vec<(HostId, HostId)>,
    /// Mean channels between switches per pair \[hops\].
    pub mean_hops: f64,
    /// Longest path \[hops\].
    pub max_hops: u32,
    /// Pairs by hops.
    pub hop_histogram: Vec<u64>,
    /// A short cycle, when there is one.
    pub cycle: Option<Vec<(ChannelId, VlId)>>,
    /// Dependencies with those of hosts that hold packets back for want of room for answers, which `acyclic` then includes;
    /// `None`: hosts always consume.
    pub held: Option<u64>,
    /// Of adaptive routing: what packets may choose. Mean and histogram of the hops are then those of the
    /// shortest straight way of every pair, the longest path is that of any packet.
    pub choices: Option<Choices>,
}

/// What packets may choose, over all states: (goal, word, switch) on last legs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choices {
    /// States.
    pub states: u64,
    /// Ways on, over all states.
    pub ways: u64,
    /// Most ways on from a state.
    pub most_ways: u32,
    /// Whether packets may go through another switch first.
    pub detours: bool,
    /// Mean over pairs of the longest straight way \[hops\].
    pub mean_longest: f64,
}

/// Every way tables can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The tables do not fit the graph or each other.
    #[error("tables of {engine} do not fit the fabric: {reason}")]
    Malformed {
        /// Registered name of the engine.
        engine: String,
        /// What does not fit.
        reason: String,
    },
    /// A path does not arrive.
    #[error("no path from {from} to {to}: {reason}")]
    NoPath {
        /// Name of the source's switch.
        from: String,
        /// Name of the destination.
        to: String,
        /// Where it ends.
        reason: String,
        /// Whether that is for want of an entry, not a wrong one.
        is_missing: bool,
    },
    /// Declared minimal, but is not.
    #[error(
        "{engine} promises shortest paths, but {from} to {to} takes {hops} hops instead of {shortest}"
    )]
    NotMinimal {
        /// Registered name of the engine.
        engine: String,
        /// Name of the source's switch.
        from: String,
        /// Name of the destination.
        to: String,
        /// Hops taken.
        hops: u32,
        /// Hops of a shortest path.
        shortest: u32,
    },
    /// Declared deadlock-free, but is not.
    #[error("{engine} promises freedom from deadlock, but its channels wait in a circle:\n{cycle}")]
    Cyclic {
        /// Registered name of the engine.
        engine: String,
        /// The cycle, one line per (channel, lane).
        cycle: String,
    },
}
