//! Follows the lanes of all packets to one destination, and checks that the lanes exist.
//!
//! Cost: O(rows * path layers * distinct service levels) per destination.

use super::dependency_graph::DependencyGraph;
use super::statement::{VerifyError, VerifyOptions};
use super::walk::{NONE, Rows, Ways};
use crate::ids::{ChannelId, MOST_LANES, SlId, VlId};
use crate::routing::entries::Entries;
use crate::routing::{LaneMap, Tables};
use crate::topology::Graph;

/// Lanes used per (row, path layer): bit `l` = lane `l`.
type LaneSet = u32;

/// The lanes of a service level.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// This one on every hop: layers do not matter.
    Always(VlId),
    /// As the lane map says.
    Mapped(SlId),
}

/// Turns the ways to a destination into dependencies.
pub(super) struct LaneWalk<'a> {
    pub(super) tables: &'a Tables,
    /// One service level of each kind.
    pub(super) levels: Vec<Level>,
    /// Path layers.
    pub(super) layers: usize,
    pub(super) rows: &'a Rows,
    /// Injection channels of the sending hosts, `[row]`.
    pub(super) injections: Vec<Vec<ChannelId>>,
    pub(super) dependencies: &'a DependencyGraph<'a>,
}

impl LaneWalk<'_> {
    /// Adds the dependencies of all packets to the host with the injection channel `own`, which sends none to
    /// itself; `ports`, `path_layer` and `hop_layer` are its columns, the latter empty where all layers are 0;
    /// `sets` is memory to reuse.
    pub(super) fn follow(
        &self,
        own: ChannelId,
        ports: &[u8],
        path_layer: &[u8],
        ways: &Ways,
        hop_layer: &[u8],
        sets: &mut Vec<LaneSet>,
    ) {
        let twins = self.twins().len();
        for &level in &self.levels[..self.levels.len() - twins] {
            sets.clear();
            match level {
                Level::Always(lane) => {
                    sets.resize(ways.exit.len(), 0);
                    self.follow_lane(lane, own, ports, ways, sets);
                }
                Level::Mapped(level) => {
                    sets.resize(ways.exit.len() * self.layers, 0);
                    for &row in &ways.order {
                        if ways.parent[row as usize] != NONE {
                            let layers = (path_layer, hop_layer);
                            self.inject(row as usize, own, layers, ways, level, sets);
                            self.pass_on(row as usize, ways, hop_layer, level, sets);
                        }
                    }
                }
            }
        }
    }

    /// Levels that have one lane on all hops, without the first of them, where all are such: their packets wait for each other
    /// as those of the first do.
    fn twins(&self) -> &[Level] {
        let is_always = |level: &Level| matches!(level, Level::Always(_));
        match self.levels.split_first() {
            Some((_, twins)) if self.levels.iter().all(is_always) => twins,
            _ => &[],
        }
    }

    /// Adds the dependencies of the levels that were not followed.
    pub(super) fn follow_twins(&self) {
        if let Some(&Level::Always(first)) = self.levels.first() {
            for twin in self.twins() {
                if let &Level::Always(lane) = twin {
                    self.dependencies.repeat(first, lane);
                }
            }
        }
    }

    /// Injection channels of `row` without that of the destination.
    fn injections(&self, row: usize, own: ChannelId) -> impl Iterator<Item = ChannelId> {
        let all = self.injections[row].iter().copied();
        all.filter(move |&channel| channel != own)
    }

    fn follow_lane(
        &self,
        lane: VlId,
        own: ChannelId,
        ports: &[u8],
        ways: &Ways,
        sets: &mut [LaneSet],
    ) {
        for &row in &ways.order {
            let row = row as usize;
            let parent = ways.parent[row];
            if parent == NONE || sets[row] == 0 && self.injections(row, own).next().is_none() {
                continue;
            }
            let (exit, parent) = (ChannelId(ways.exit[row]), parent as usize);
            self.dependencies.add_vertex(exit, lane);
            if ways.parent[parent] != NONE {
                sets[parent] = 1;
                let port = u16::from(ports[parent]);
                self.dependencies.add_to_port(exit, lane, port, lane);
            }
        }
    }

    /// Step 2, packets of the hosts whose packets start in `row`.
    fn inject(
        &self,
        row: usize,
        own: ChannelId,
        (path_layer, hop_layer): (&[u8], &[u8]),
        ways: &Ways,
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
        let switch = self.rows.switch[row].index();
        let layer = path_layer.get(switch).copied().unwrap_or(0);
        let hop = layer + hop_layer.get(row).copied().unwrap_or(0);
        for injection in self.injections(row, own).take(hosts) {
            let lane = lanes.lane(injection, ChannelId(ways.exit[row]), level, hop);
            sets[row * self.layers + usize::from(layer)] |= 1 << lane.0;
        }
    }

    /// Step 2, packets that leave `row` for its parent.
    fn pass_on(
        &self,
        row: usize,
        ways: &Ways,
        hop_layer: &[u8],
        level: SlId,
        sets: &mut [LaneSet],
    ) {
        let exit = ChannelId(ways.exit[row]);
        let parent = ways.parent[row] as usize;
        let goes_on = ways.parent[parent] != NONE;
        let next = ChannelId(ways.exit[parent]);
        for layer in 0..self.layers {
            let mut lanes = sets[row * self.layers + layer];
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
pub(super) fn distinct_levels(lanes: &LaneMap, levels: &[SlId]) -> Vec<Level> {
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
    let kind = |level| {
        let mut lanes = (0..profiles).flat_map(|profile| row(profile, level));
        match lanes.next() {
            Some(&lane) if lanes.all(|&other| other == lane) => Level::Always(VlId(lane)),
            _ => Level::Mapped(level),
        }
    };
    distinct.into_iter().map(kind).collect()
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
    let covers = |table: &Entries, rows: usize| {
        table.is_empty() || (table.rows(), table.hosts()) == (rows, hosts)
    };
    let rows = match tables.input_row.iter().max() {
        Some(&last) => last as usize + 1,
        None => switches,
    };
    if (tables.next.rows(), tables.next.hosts()) != (rows, hosts)
        || !covers(&tables.hop_layer, rows)
        || !fits(tables.input_row.len(), graph.channels().len())
        || !covers(&tables.path_layer, switches)
        || (tables.switch_count, tables.host_count) != (switches, hosts)
    {
        return Some(format!(
            "they are not made for {switches} switches and {hosts} hosts"
        ));
    }
    if rows_are_shared(graph, tables) {
        return Some("one row serves several switches".into());
    }
    let lanes = &tables.lanes;
    let most = |layers: &Entries| u16::from(layers.iter().max().unwrap_or(0));
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

/// Whether a row is used at more than one switch.
fn rows_are_shared(graph: &Graph, tables: &Tables) -> bool {
    let owner = tables.row_switches(graph);
    let mut inputs = graph.channels().iter().zip(&tables.input_row);
    inputs.any(|(channel, &row)| {
        let to = channel.to.switch();
        to.is_some_and(|switch| owner[row as usize] != switch)
    })
}

/// A lane that does not exist, or more lanes in one service level than declared.
fn wrong_lane(tables: &Tables, options: &VerifyOptions<'_>) -> Option<String> {
    let lanes = &tables.lanes;
    for &level in options.service_levels {
        let mut used = [false; 256];
        for profile in lanes.profiles.chunks(lanes.keys()) {
            let start = level.index() * usize::from(lanes.layers);
            for &lane in &profile[start..start + usize::from(lanes.layers)] {
                if lane >= options.lanes.min(MOST_LANES) {
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
