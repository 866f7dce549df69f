//! The slots of a cycle: where a system can stand, in the order they run.

use bevy_ecs::schedule::SystemSet;

/// A slot; variant order is run order. An empty slot costs nothing.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// Credits that count from this cycle on.
    Credits,
    /// End of link traversal: freed inputs, arriving heads, wake-ups.
    Deliver,
    /// Route computation of new heads.
    Route,
    /// VL arbitration and switch allocation.
    Arbitrate,
    /// Crossbar: granted packets move, credits return.
    Cross,
    /// Packets that wait behind the crossbar start on their channels.
    Transmit,
    /// Congestion marking.
    Mark,
    /// What switches do about what they see: thresholds, agents.
    React,
    /// Traffic sources create packets.
    Generate,
    /// Which packets may enter the network.
    Admit,
    /// Hosts start packets.
    Inject,
    /// Hosts take packets.
    Consume,
    /// What hosts do about what was delivered.
    Notify,
    /// Who looks on and changes nothing.
    Observe,
}

impl Slot {
    /// All slots, in run order.
    pub const ALL: [Self; 14] = [
        Self::Credits,
        Self::Deliver,
        Self::Route,
        Self::Arbitrate,
        Self::Cross,
        Self::Transmit,
        Self::Mark,
        Self::React,
        Self::Generate,
        Self::Admit,
        Self::Inject,
        Self::Consume,
        Self::Notify,
        Self::Observe,
    ];
}

/// A system of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Where it stands.
    pub slot: Slot,
    /// Components and resources it reads and does not write, by name.
    pub reads: Vec<&'static str>,
    /// Components and resources it writes, by name.
    pub writes: Vec<&'static str>,
}
