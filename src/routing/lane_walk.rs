//! Follows the lanes of all packets to one destination, and checks that the lanes exist.
//!
//! Cost: O(switches * path layers * distinct service levels) per destination.

use super::dependency_graph::DependencyGraph;
use super::verify::{VerifyError, VerifyOptions};
use super::walk::{NONE, Ways};
use super::{LaneMap, Tables};
use crate::ids::{ChannelId, HostId, SlId, VlId};
use crate::topology::Graph;

/// Lanes used per (switch, path layer): bit `l` = lane `l`.
type LaneSet = u16;

/// Turns the ways to a destination into dependencies.
pub(super) struct LaneWalk<'a> {
    pub(super) tables: &'a Tables,
    /// One service level of each kind.
    pub(super) levels: Vec<SlId>,
    /// Path layers.
    pub(super) layers: usize,
    /// All lanes of a channel are one vertex.
    pub(super) merged: bool,
    /// Injection channels of the sending hosts, `[switch]`.
    pub(super) injections: Vec<Vec<ChannelId>>,
    pub(super) dependencies: &'a DependencyGraph<'a>,
}

/// Injection channels of `senders`, per switch.
pub(super) fn injections(graph: &Graph, senders: &[HostId]) -> Vec<Vec<ChannelId>> {
    let mut injections = vec![Vec::new(); graph.switches().len()];
    for &host in senders {
        if let Some((switch, _)) = graph.attachment(host) {
            injections[switch.index()].push(graph.host_channel(host));
        }
    }
    injections
}

impl LaneWalk<'_> {
    /// Adds the dependencies of all packets to a host; `path_layer` and `hop_layer` are its columns, empty
    /// where all layers are 0; `sets` is memory to reuse.
    pub(super) fn follow(
        &self,
        path_layer: &[u8],
        ways: &Ways,
        hop_layer: &[u8],
        sets: &mut Vec<LaneSet>,
    ) {
        if self.merged {
            return self.follow_merged(ways, sets);
        }
        for &level in &self.levels {
            sets.clear();
            sets.resize(ways.exit.len() * self.layers, 0);
            for &switch in &ways.order {
                if ways.parent[switch as usize] != NONE {
                    self.inject(switch as usize, path_layer, ways, hop_layer, level, sets);
                    self.pass_on(switch as usize, ways, hop_layer, level, sets);
                }
            }
        }
    }

    fn follow_merged(&self, ways: &Ways, sets: &mut Vec<LaneSet>) {
        sets.clear();
        sets.resize(ways.exit.len(), 0);
        for &switch in &ways.order {
            let switch = switch as usize;
            let (exit, parent) = (ways.exit[switch], ways.parent[switch]);
            let used = sets[switch] != 0 || !self.injections[switch].is_empty();
            if !used || parent == NONE {
                continue;
            }
            self.dependencies.add_vertex(ChannelId(exit), VlId(0));
            if ways.parent[parent as usize] != NONE {
                sets[parent as usize] = 1;
                let next = ChannelId(ways.exit[parent as usize]);
                self.dependencies
                    .add(ChannelId(exit), VlId(0), next, VlId(0));
            }
        }
    }

    /// Step 2, packets of the hosts of `switch`.
    fn inject(
        &self,
        s: usize,
        path_layer: &[u8],
        ways: &Ways,
        hop_layer: &[u8],
        level: SlId,
        sets: &mut [LaneSet],
    ) {
        let lanes = &self.tables.lanes;
        // without an influence of the input one host stands for all
        let hosts = if lanes.by_input.is_empty() {
            1
        } else {
            usize::MAX
        };
        let layer = path_layer.get(s).copied().unwrap_or(0);
        let hop = layer + hop_layer.get(s).copied().unwrap_or(0);
        for &injection in self.injections[s].iter().take(hosts) {
            let lane = lanes.lane(injection, ChannelId(ways.exit[s]), level, hop);
            sets[s * self.layers + usize::from(layer)] |= 1 << lane.0;
        }
    }

    /// Step 2, packets that leave `switch` for its parent.
    fn pass_on(
        &self,
        switch: usize,
        ways: &Ways,
        hop_layer: &[u8],
        level: SlId,
        sets: &mut [LaneSet],
    ) {
        let exit = ChannelId(ways.exit[switch]);
        let parent = ways.parent[switch] as usize;
        let goes_on = ways.parent[parent] != NONE;
        let next = ChannelId(ways.exit[parent]);
        for layer in 0..self.layers {
            let mut lanes = sets[switch * self.layers + layer];
            if lanes == 0 {
                continue;
            }
            let next_lane = goes_on.then(|| {
                let hop = layer as u8 + hop_layer.get(parent).copied().unwrap_or(0);
                let lane = self.tables.lanes.lane(exit, next, level, hop);
                sets[parent * self.layers + layer] |= 1 << lane.0;
                lane
            });
            while lanes != 0 {
                let lane = VlId(lanes.trailing_zeros() as u8);
                lanes &= lanes - 1;
                self.dependencies.add_vertex(exit, lane);
                if let Some(next_lane) = next_lane {
                    self.dependencies.add(exit, lane, next, next_lane);
                }
            }
        }
    }
}

/// One service level of each set with equal lanes everywhere.
pub(super) fn distinct_levels(lanes: &LaneMap, levels: &[SlId]) -> Vec<SlId> {
    let row = |profile: usize, level: SlId| {
        let start = profile * lanes.keys() + level.index() * usize::from(lanes.layers);
        &lanes.profiles[start..start + usize::from(lanes.layers)]
    };
    let profiles = lanes.profiles.len() / lanes.keys().max(1);
    let mut distinct: Vec<SlId> = Vec::new();
    for &level in levels {
        let equal = |&known: &SlId| (0..profiles).all(|p| row(p, known) == row(p, level));
        if !distinct.iter().any(equal) {
            distinct.push(level);
        }
    }
    distinct
}

/// Checks that tables have the size of the graph, and that layers, service levels and lanes are in range.
///
/// # Errors
/// [`VerifyError::Malformed`].
pub(super) fn require_sound(
    graph: &Graph,
    tables: &Tables,
    options: &VerifyOptions<'_>,
) -> Result<(), VerifyError> {
    match fault(graph, tables, options) {
        None => Ok(()),
        Some(reason) => Err(VerifyError::Malformed {
            engine: tables.engine.clone(),
            reason,
        }),
    }
}

fn fault(graph: &Graph, tables: &Tables, options: &VerifyOptions<'_>) -> Option<String> {
    let (switches, hosts) = (graph.switches().len(), graph.hosts().len());
    let fits = |length: usize, full: usize| length == 0 || length == full;
    if tables.next.len() != switches * hosts
        || !fits(tables.hop_layer.len(), switches * hosts)
        || !fits(tables.path_layer.len(), switches * hosts)
        || (tables.switch_count, tables.host_count) != (switches, hosts)
    {
        return Some(format!(
            "they are not made for {switches} switches and {hosts} hosts"
        ));
    }
    let lanes = &tables.lanes;
    let most = |layers: &[u8]| u16::from(layers.iter().copied().max().unwrap_or(0));
    let layer = most(&tables.path_layer) + most(&tables.hop_layer);
    if layer >= u16::from(lanes.layers) {
        return Some(format!(
            "layer {layer} is used, the lane map has {}",
            lanes.layers
        ));
    }
    let level = options.service_levels.iter().max()?;
    if level.0 >= lanes.service_levels {
        let count = lanes.service_levels;
        return Some(format!(
            "service level {level} is used, the lane map has {count}"
        ));
    }
    let profiles = (lanes.profiles.len() / lanes.keys().max(1)) as u32;
    let most = |offsets: &[u32]| offsets.iter().copied().max().unwrap_or(0);
    let channels = graph.channels().len();
    if lanes.by_output.len() != channels
        || !fits(lanes.by_input.len(), channels)
        || (channels > 0 && most(&lanes.by_output) + most(&lanes.by_input) >= profiles)
    {
        return Some("the lane map does not cover every channel".into());
    }
    wrong_lane(tables, options)
}

/// A lane that does not exist, or more lanes in one service level than declared.
fn wrong_lane(tables: &Tables, options: &VerifyOptions<'_>) -> Option<String> {
    let lanes = &tables.lanes;
    for &level in options.service_levels {
        let mut used = [false; 256];
        for profile in lanes.profiles.chunks(lanes.keys()) {
            let start = level.index() * usize::from(lanes.layers);
            for &lane in &profile[start..start + usize::from(lanes.layers)] {
                if lane >= options.lanes.min(16) {
                    let count = options.lanes;
                    return Some(format!(
                        "service level {level} uses lane {lane}, the switches have {count}"
                    ));
                }
                used[usize::from(lane)] = true;
            }
        }
        let (count, declared) = (
            used.iter().filter(|&&u| u).count(),
            tables.guarantees.lanes_needed,
        );
        if count > usize::from(declared) {
            return Some(format!(
                "service level {level} uses {count} lanes, {declared} are declared"
            ));
        }
    }
    None
}
