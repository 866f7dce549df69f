//! Congestion trees of a fabric, look by look (D43).

use crate::ids::ChannelId;
use serde::{Deserialize, Serialize};

/// What a look at a fabric found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionLook {
    /// First cycle after it.
    pub cycle: u64,
    /// Congested output lanes that the switches behind them hold back.
    pub victims: u32,
    /// Those of them that are in no tree.
    pub outside: u32,
    /// A tree for every root, by channel and lane.
    pub trees: Vec<CongestionTree>,
}

/// A congestion tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionTree {
    /// Channel behind its root.
    pub channel: ChannelId,
    /// Lane of its root.
    pub lane: u8,
    /// Output lanes in it.
    pub size: u32,
    /// Levels, the root's included.
    pub depth: u32,
    /// Flits that wait for them.
    pub flits: u64,
}
