//! What a routing engine returns: forwarding tables, lane assignment, declared guarantees.
//!
//! The form is InfiniBand's: forwarding is by destination only (`next`), the only thing that depends on
//! the source is the *path layer* a packet carries from its source on (InfiniBand: the service level of
//! the path record), and each switch maps (input port, output port, service level, layer) to a virtual
//! lane. Beyond InfiniBand an engine may give
//! - a *hop layer* per (switch, destination), which classical dateline routing on unidirectional rings
//!   needs; the sum of both layers indexes the lane map;
//! - several *rows* per switch, chosen by the input port: routing with prohibited turns looks up
//!   (input port, destination), as managed Ethernet switches can.
//!
//! Cost: a byte per (row, host) that differs from those of other rows, see [`Entries`], one row per switch unless the input matters;
//! path and hop layers one more each where an engine has them.

use super::RoutingError;
use super::entries::{Entries, Given};
use crate::ids::{ChannelId, HostId, SlId, SwitchId, VlId};
use crate::topology::Graph;

/// Most entries of a forwarding table \[bytes\].
pub const LARGEST_TABLE: u64 = 1 << 32;

/// No route.
pub const UNREACHABLE: u8 = 255;

/// Forwarding of a whole fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Registered name of the engine that made them.
    pub engine: String,
    /// Output port (from 1) of `[row][destination host]`; [`UNREACHABLE`] where there is none. The row of a
    /// switch is its id unless `input_row` says otherwise.
    pub next: Entries,
    /// Row that packets from `[channel]` are looked up in, at the switch the channel leads to; empty when
    /// the input does not matter. Rows of different switches differ.
    pub input_row: Vec<u32>,
    /// Layer added at `[row][destination host]`; empty when no hop has one.
    pub hop_layer: Entries,
    /// Layer of `[source switch][destination host]`; empty when every path has layer 0. By host, not by its
    /// switch: balanced routing leads to the hosts of one switch over different paths.
    pub path_layer: Entries,
    /// Service level and layer to virtual lane.
    pub lanes: LaneMap,
    /// What the engine promises; checked by `verify` before every run.
    pub guarantees: Guarantees,
    /// What the engine wants `virtlane routes` to show, as (name, value).
    pub remarks: Vec<(String, String)>,
    /// Hosts of the graph: the row length of `next`.
    pub host_count: usize,
    /// Switches of the graph.
    pub switch_count: usize,
}

impl Tables {
    /// Tables by destination only: one row per switch, no hop layers, path layers where `path_layer` is not
    /// empty.
    pub fn by_destination(
        graph: &Graph,
        engine: &str,
        next: impl Given,
        path_layer: Vec<u8>,
        lanes: LaneMap,
        guarantees: Guarantees,
    ) -> Self {
        let hosts = graph.hosts().len();
        Self {
            engine: engine.to_owned(),
            next: next.entries(hosts),
            input_row: Vec::new(),
            hop_layer: Entries::default(),
            path_layer: Entries::new(&path_layer, hosts),
            lanes,
            guarantees,
            remarks: Vec::new(),
            host_count: hosts,
            switch_count: graph.switches().len(),
        }
    }

    /// Tables of an engine that needs neither layers nor more than one lane per service level.
    pub fn on_one_lane(
        graph: &Graph,
        engine: &str,
        next: impl Given,
        budget: LaneBudget,
        guarantees: Guarantees,
    ) -> Self {
        let lanes = LaneMap::grouped(graph, budget, 1, 1, |_, _| 0);
        Self::by_destination(graph, engine, next, Vec::new(), lanes, guarantees)
    }

    /// Tables of an engine whose paths each keep to one of `guarantees.lanes_needed` layers, layer `l` on lane
    /// `l` of the group.
    pub fn on_layers(
        graph: &Graph,
        engine: &str,
        next: impl Given,
        path_layer: Vec<u8>,
        budget: LaneBudget,
        guarantees: Guarantees,
    ) -> Self {
        let layers = guarantees.lanes_needed;
        let lanes = LaneMap::grouped(graph, budget, layers, layers, |_, layer| layer);
        Self::by_destination(graph, engine, next, path_layer, lanes, guarantees)
    }

    /// Row that packets which come to `switch` over `input` are looked up in.
    #[inline]
    pub fn row(&self, input: ChannelId, switch: SwitchId) -> usize {
        match self.input_row.get(input.index()) {
            Some(&row) => row as usize,
            None => switch.index(),
        }
    }

    /// Row that packets of `channel` are looked up in where it leads to; `u32::MAX` when that is a host.
    pub fn row_behind(&self, graph: &Graph, channel: ChannelId) -> u32 {
        let to = graph.channel(channel).to.switch();
        to.map_or(u32::MAX, |switch| self.row(channel, switch) as u32)
    }

    /// Where the row of packets of `channel` starts, see [`Entries::at`]; without meaning where it leads to a host.
    pub fn start_behind(&self, graph: &Graph, channel: ChannelId) -> u32 {
        self.next.start(self.row_behind(graph, channel))
    }

    /// Switch of each row.
    pub fn row_switches(&self, graph: &Graph) -> Vec<SwitchId> {
        let mut switches: Vec<SwitchId> = graph.switch_ids().collect();
        if !self.input_row.is_empty() {
            switches.resize(self.next.rows(), SwitchId(0));
            for (channel, &row) in graph.channels().iter().zip(&self.input_row) {
                if let Some(switch) = channel.to.switch() {
                    switches[row as usize] = switch;
                }
            }
        }
        switches
    }

    /// Output port (from 1) in `row` for `destination`, `None` when unreachable.
    #[inline]
    pub fn next_port(&self, row: usize, destination: HostId) -> Option<u16> {
        let port = self.next.get(row, destination.index());
        (port != UNREACHABLE).then_some(u16::from(port))
    }

    /// Layer a packet carries from a host of switch `source` to `destination`.
    pub fn path_layer(&self, source: SwitchId, destination: HostId) -> u8 {
        if self.path_layer.is_empty() {
            0
        } else {
            self.path_layer.get(source.index(), destination.index())
        }
    }

    /// Path layers of an engine that tells them by switches: `layer(source, switch of the destination)`; 0
    /// for a host without a switch.
    pub fn path_layers_by_switch(
        graph: &Graph,
        layer: impl Fn(SwitchId, SwitchId) -> u8,
    ) -> Vec<u8> {
        let homes: Vec<Option<SwitchId>> = graph
            .host_ids()
            .map(|host| graph.attachment(host).map(|(switch, _)| switch))
            .collect();
        let layer = &layer;
        let rows = graph.switch_ids().flat_map(|source| {
            let layers = homes.iter();
            layers.map(move |home| home.map_or(0, |home| layer(source, home)))
        });
        rows.collect()
    }

    /// Layer the hop of `row` towards `destination` adds.
    pub fn hop_layer(&self, row: usize, destination: HostId) -> u8 {
        if self.hop_layer.is_empty() {
            0
        } else {
            self.hop_layer.get(row, destination.index())
        }
    }

    /// The channels and lanes a packet of `sl` from `source` to `destination` takes, injection channel
    /// first, ejection channel last; `None` when there is no route (or it loops).
    pub fn path(
        &self,
        graph: &Graph,
        source: HostId,
        destination: HostId,
        sl: SlId,
    ) -> Option<Vec<(ChannelId, VlId)>> {
        let (first_switch, _) = graph.attachment(source)?;
        let layer = self.path_layer(first_switch, destination);
        let mut channel = graph.host_channel(source);
        let mut path = vec![(channel, self.lanes.injection_lane(channel, sl, layer))];
        while let Some(switch) = graph.channel(channel).to.switch() {
            if path.len() > self.next.rows() + 1 {
                return None;
            }
            let row = self.row(channel, switch);
            let next = graph.port_channel(switch, self.next_port(row, destination)?)?;
            let hop = layer + self.hop_layer(row, destination);
            path.push((next, self.lanes.lane(channel, next, sl, hop)));
            channel = next;
        }
        (graph.channel(channel).to.host() == Some(destination)).then_some(path)
    }
}

/// What an engine promises about its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// Every path is a shortest path.
    pub minimal: bool,
    /// The (channel, lane) dependency graph is acyclic.
    pub deadlock_free: bool,
    /// Packets of one (source, destination, service level) stay on one path and lane sequence.
    pub in_order: bool,
    /// Lanes needed per group of service levels.
    pub lanes_needed: u8,
}

impl Guarantees {
    /// What every engine of one lane keeps: the order of packets, nothing else.
    pub const IN_ORDER: Self = Self {
        minimal: false,
        deadlock_free: false,
        in_order: true,
        lanes_needed: 1,
    };
}

/// Maps (channels of the hop, service level, layer) to a virtual lane.
///
/// A *profile* is one row of lanes, indexed by `sl * layers + layer`. Most fabrics have one or a few
/// profiles; the profile of a hop is `by_output[output channel] + by_input[input channel]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneMap {
    /// Layer values a packet may have (path layer + hop layer): row stride within one service level.
    pub layers: u8,
    /// Service levels the map covers.
    pub service_levels: u8,
    /// Lanes, `[profile][sl * layers + layer]`.
    pub profiles: Vec<u8>,
    /// First profile of each output channel, `[channel]`.
    pub by_output: Vec<u32>,
    /// Profile offset of each input channel, `[channel]`; empty when the input does not matter.
    pub by_input: Vec<u32>,
}

impl LaneMap {
    /// The standard map: groups of `lanes_per_sl` lanes, one group per service level while they last,
    /// then reused round robin (InfiniBand's degraded mapping). `lane_in_group(channel, layer)` tells the
    /// lane within the group, below `lanes_per_sl`.
    pub fn grouped(
        graph: &Graph,
        budget: LaneBudget,
        layers: u8,
        lanes_per_sl: u8,
        lane_in_group: impl Fn(ChannelId, u8) -> u8,
    ) -> Self {
        let groups = (budget.lanes / lanes_per_sl).max(1);
        let keys = usize::from(budget.service_levels) * usize::from(layers);
        let mut map = Self {
            layers,
            service_levels: budget.service_levels,
            profiles: Vec::new(),
            by_output: Vec::with_capacity(graph.channels().len()),
            by_input: Vec::new(),
        };
        for channel in graph.channel_ids() {
            let mut row = Vec::with_capacity(keys);
            for sl in 0..budget.service_levels {
                row.extend(
                    (0..layers)
                        .map(|layer| sl % groups * lanes_per_sl + lane_in_group(channel, layer)),
                );
            }
            let known = map.profiles.chunks(keys).position(|profile| profile == row);
            let profile = known.unwrap_or_else(|| {
                map.profiles.extend_from_slice(&row);
                map.profiles.len() / keys - 1
            });
            map.by_output.push(profile as u32);
        }
        map
    }

    /// Entries of one profile.
    pub fn keys(&self) -> usize {
        usize::from(self.service_levels) * usize::from(self.layers)
    }

    /// Lane on `output` for a packet that came over `input`.
    #[inline]
    pub fn lane(&self, input: ChannelId, output: ChannelId, sl: SlId, layer: u8) -> VlId {
        let offset = if self.by_input.is_empty() {
            0
        } else {
            self.by_input[input.index()]
        };
        let profile = (self.by_output[output.index()] + offset) as usize;
        VlId(
            self.profiles[profile * self.keys()
                + sl.index() * usize::from(self.layers)
                + usize::from(layer)],
        )
    }

    /// Lanes that packets of a service level can have on a channel, as a mask.
    pub fn of_level(&self, output: ChannelId, sl: SlId) -> u32 {
        let mut offsets = self.by_input.clone();
        offsets.push(0);
        offsets.sort_unstable();
        offsets.dedup();
        let first = self.by_output[output.index()];
        let rows = offsets.into_iter().filter_map(|offset| {
            let row = (first + offset) as usize * self.keys();
            let from = row + sl.index() * usize::from(self.layers);
            self.profiles.get(from..from + usize::from(self.layers))
        });
        rows.flatten().fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Lane on a host's injection channel.
    pub fn injection_lane(&self, output: ChannelId, sl: SlId, layer: u8) -> VlId {
        let profile = self.by_output[output.index()] as usize;
        VlId(
            self.profiles[profile * self.keys()
                + sl.index() * usize::from(self.layers)
                + usize::from(layer)],
        )
    }
}

/// Lanes an engine may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBudget {
    /// Data lanes of every channel (VL15 not counted).
    pub lanes: u8,
    /// Service levels in use: highest SL of any traffic class + 1.
    pub service_levels: u8,
}

impl LaneBudget {
    /// Checks that `engine` gets the lanes it needs.
    ///
    /// # Errors
    /// [`RoutingError::TooFewLanes`].
    pub fn require(self, engine: &'static str, needed: u8) -> Result<(), RoutingError> {
        if needed <= self.lanes {
            return Ok(());
        }
        Err(RoutingError::TooFewLanes {
            engine,
            needed,
            available: self.lanes,
        })
    }
}
