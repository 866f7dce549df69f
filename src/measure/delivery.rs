//! What is known of a packet when it arrives.

use crate::ids::HostId;
use serde::{Deserialize, Serialize};

/// A packet at the moment its tail is consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Host that made it.
    pub source: HostId,
    /// Host that consumed it.
    pub destination: HostId,
    /// Number of its class.
    pub class: u16,
    /// Number within its source and class.
    pub sequence: u64,
    /// Size \[flits\].
    pub size: u16,
    /// Cycle of creation.
    pub created: u64,
    /// Cycle in which the first flit entered the first channel.
    pub injected: u64,
    /// Cycle in which the last flit was consumed.
    pub delivered: u64,
    /// Inter-switch channels crossed.
    pub hops: u16,
    /// Whether it carries the FECN bit.
    pub is_marked: bool,
    /// Its flow (global id), of a packet that has one.
    pub flow: Option<u32>,
}
