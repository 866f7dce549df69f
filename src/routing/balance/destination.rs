//! Where routes end.

use crate::ids::{HostId, SwitchId};

/// A switch with hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::routing) struct Destination {
    /// The switch.
    pub(in crate::routing) switch: SwitchId,
    /// Its hosts as (port, host), in port order.
    pub(in crate::routing) hosts: Vec<(u16, HostId)>,
}
