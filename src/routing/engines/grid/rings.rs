//! Directions, ports and datelines of dimension-order and direction-order routing in a mesh or torus.
//!
//! Cost: O(dimensions) per question.

use crate::ids::{ChannelId, HostId, SwitchId};
use crate::routing::Tables;
use crate::topology::graph::GridShape;
use crate::topology::{Endpoint, Graph};

/// Which of the hops that remain comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Those in the lowest dimension.
    Dimensions,
    /// Those in + direction, lowest dimension first, then those in - direction.
    Directions,
}

/// A mesh or torus with its rules of direction.
#[derive(Debug)]
pub(super) struct Rings<'a> {
    shape: &'a GridShape,
    order: Order,
    /// Ties go + from even and - from odd coordinates, otherwise always +.
    balanced: bool,
    /// Rings are used in the + direction only.
    one_way: bool,
    /// Place among the dimensions that need a dateline, `[dimension]`.
    dateline: Vec<Option<u8>>,
    /// Coordinates, `[switch][dimension]`.
    coordinates: Vec<u32>,
}

impl<'a> Rings<'a> {
    pub(super) fn new(shape: &'a GridShape, order: Order, balanced: bool, one_way: bool) -> Self {
        let longest_free = match (one_way, balanced) {
            (true, _) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        let mut count = 0;
        let dateline = shape.radix.iter().zip(&shape.wrap).map(|(&radix, &wrap)| {
            (wrap && radix > longest_free).then(|| {
                count += 1;
                count - 1
            })
        });
        let dateline = dateline.collect();
        let switches = shape.radix.iter().product();
        let coordinates = (0..switches).flat_map(|switch| {
            (0..shape.radix.len()).map(move |d| shape.coordinate(SwitchId(switch), d))
        });
        Self {
            shape,
            order,
            balanced,
            one_way,
            dateline,
            coordinates: coordinates.collect(),
        }
    }

    /// Dimensions that need a dateline.
    pub(super) fn dateline_count(&self) -> usize {
        self.dateline.iter().flatten().count()
    }

    /// Whether some path is longer than the shortest.
    pub(super) fn detours(&self) -> bool {
        self.one_way && self.shape.radix.iter().any(|&radix| radix > 2)
    }

    fn coordinates(&self, switch: SwitchId) -> &[u32] {
        let dimensions = self.shape.radix.len();
        &self.coordinates[switch.index() * dimensions..][..dimensions]
    }

    fn home(&self, host: HostId) -> SwitchId {
        SwitchId(host.0 / self.shape.hosts_per_switch)
    }

    /// Whether the way from coordinate `from` to the different `to` goes in the + direction; `odd` decides
    /// in a ring of 2.
    fn goes_up(&self, dimension: usize, from: u32, to: u32, odd: bool) -> bool {
        if !self.shape.wrap[dimension] {
            return to > from;
        }
        let radix = self.shape.radix[dimension];
        let forward = (to + radix - from) % radix;
        if self.one_way || 2 * forward < radix {
            true
        } else if 2 * forward > radix {
            false
        } else if radix == 2 {
            !odd
        } else {
            !self.balanced || from.is_multiple_of(2)
        }
    }

    /// Whether the way from `from` to `to` leads over the link between the last coordinate and 0.
    fn crosses(&self, dimension: usize, from: u32, to: u32) -> bool {
        from != to
            && self.shape.wrap[dimension]
            && self.goes_up(dimension, from, to, false) == (to < from)
    }

    /// Dimension of the next hop on the way from `here` to host place `slot` of `there`, and whether it goes in
    /// the + direction; `None` at the destination.
    fn hop(&self, here: &[u32], there: &[u32], slot: u32) -> Option<(usize, bool)> {
        let sum: u32 = there.iter().sum();
        let mut hops = (0..here.len()).filter(|&d| here[d] != there[d]).map(|d| {
            let odd = (slot + sum - there[d]) % 2 == 1;
            (d, self.goes_up(d, here[d], there[d], odd))
        });
        let first = hops.next()?;
        if self.order == Order::Directions && !first.1 {
            return hops.find(|(_, up)| *up).or(Some(first));
        }
        Some(first)
    }

    /// Output port at `switch` for `host`, unless the host is there.
    pub(super) fn port(&self, switch: SwitchId, host: HostId) -> Option<u16> {
        let (here, there) = (self.coordinates(switch), self.coordinates(self.home(host)));
        let (d, up) = self.hop(here, there, host.0 % self.shape.hosts_per_switch)?;
        Some((2 * d) as u16 + if up { 1 } else { 2 })
    }

    /// Path layers `[source switch][host]`: one bit per dateline dimension.
    pub(super) fn path_layers(&self, graph: &Graph) -> Vec<u8> {
        Tables::path_layers_by_switch(graph, |source, destination| {
            let (from, to) = (self.coordinates(source), self.coordinates(destination));
            let bits = self.dateline.iter().enumerate().map(|(d, bit)| match bit {
                Some(bit) => u8::from(self.crosses(d, from[d], to[d])) << bit,
                None => 0,
            });
            bits.sum()
        })
    }

    /// Hop layers `[switch][host]`: 1 while the dateline lies ahead in the current dimension.
    pub(super) fn hop_layers(&self, graph: &Graph) -> Vec<u8> {
        let mut layers = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
        for switch in graph.switch_ids() {
            for host in graph.host_ids() {
                let (here, there) = (self.coordinates(switch), self.coordinates(self.home(host)));
                let current = self.hop(here, there, host.0 % self.shape.hosts_per_switch);
                layers.push(u8::from(current.is_some_and(|(d, _)| {
                    self.dateline[d].is_some() && self.crosses(d, here[d], there[d])
                })));
            }
        }
        layers
    }

    /// Place of the channel's dimension among the dateline dimensions; `None` for any other channel.
    pub(super) fn dateline_of(&self, graph: &Graph, channel: ChannelId) -> Option<u8> {
        let channel = graph.channel(channel);
        channel.to.switch()?;
        let Endpoint::Switch(_, port) = channel.from else {
            return None;
        };
        *self.dateline.get(usize::from(port - 1) / 2)?
    }
}
