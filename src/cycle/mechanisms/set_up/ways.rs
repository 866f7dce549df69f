//! What switches know from the beginning: where ports lead.

use crate::fabric::placement::Placement;
use crate::ids::SwitchId;
use crate::topology::graph::{Side, TreeWays};
use std::ops::{Range, RangeInclusive};

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
