//! Level map: one strip of cells per kind of channel, so that a level, a direction or a place that is busier shows.

use super::{LABEL, Shades};
use crate::chart::canvas::{Canvas, Hover, Spot, fill, heading, width_of, write};
use crate::chart::color_map;
use crate::chart::theme::{INK, MUTED};
use crate::figures::{Figure, FigureError};
use crate::ids::{ChannelId, SwitchId};
use crate::results::tables::ChannelUse;
use crate::topology::{Channel, Endpoint, Graph, Shape};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Width of the figure \[pixels\].
const WIDTH: i32 = 640;
/// Height of a strip and distance to the next \[pixels\].
const STRIP: i32 = 26;
const STEP: i32 = 46;
/// Narrowest cell \[pixels\].
const NARROWEST: i32 = 2;
/// Most strips.
const MOST_KINDS: usize = 24;

/// Channels of one kind, in order of their numbers.
pub(super) struct Kind {
    name: String,
    channels: Vec<ChannelId>,
}

/// Kinds of channels, from hosts inwards and back; `None` for a network without kinds. An imported fabric has no graph
/// here, but its channels tell whether it is a tree.
pub(super) fn kinds(graph: Option<&Graph>, channels: &[ChannelUse]) -> Option<Vec<Kind>> {
    let mut kinds: BTreeMap<(u32, String), Vec<ChannelId>> = BTreeMap::new();
    let levels = graph.and_then(levels).or_else(|| layered(channels));
    for number in 0..channels.len() {
        let id = ChannelId::from(number);
        let kind = match (&levels, graph) {
            (Some(levels), _) => of_levels(levels[number]),
            (None, Some(graph)) => of_shape(graph.shape(), graph.channel(id))?,
            (None, None) => return None,
        };
        kinds.entry(kind).or_default().push(id);
    }
    let kinds = kinds
        .into_iter()
        .map(|((_, name), channels)| Kind { name, channels });
    let kinds: Vec<Kind> = kinds.collect();
    (kinds.len() <= MOST_KINDS).then_some(kinds)
}

/// Levels of both ends of every channel of a regular tree, 0 = hosts, 1 = switches with hosts.
fn levels(graph: &Graph) -> Option<Vec<(u32, u32)>> {
    let level = |switch: SwitchId| match graph.shape() {
        Shape::Tree(tree) => Some(tree.levels - tree.level(switch)),
        Shape::EnrichedTree(tree) => Some(tree.tree.levels - tree.tree.level(switch)),
        Shape::Xgft(tree) => Some(tree.level_and_word(switch).0 as u32),
        _ => None,
    };
    let of_end = |end: Endpoint| end.switch().map_or(Some(0), level);
    let channels = graph.channels().iter();
    channels
        .map(|channel| Some((of_end(channel.from)?, of_end(channel.to)?)))
        .collect()
}

/// Levels of both ends of every channel, by distance from the hosts, if every channel leads from one level to the next and
/// there are several: an imported tree, or one with faults.
fn layered(channels: &[ChannelUse]) -> Option<Vec<(u32, u32)>> {
    let mut levels: BTreeMap<&str, u32> = BTreeMap::new();
    for channel in channels.iter().filter(|channel| channel.is_of_host()) {
        // hosts have no port in their names
        let is_host = channel.from == channel.source();
        levels.insert(channel.source(), u32::from(!is_host));
    }
    for level in 1.. {
        let above: Vec<&str> = channels
            .iter()
            .filter(|channel| levels.get(channel.source()) == Some(&level))
            .map(ChannelUse::target)
            .filter(|node| !levels.contains_key(node))
            .collect();
        if above.is_empty() {
            break;
        }
        levels.extend(above.into_iter().map(|node| (node, level + 1)));
    }
    let ends = channels.iter().map(|channel| {
        let (from, to) = (
            *levels.get(channel.source())?,
            *levels.get(channel.target())?,
        );
        (from.abs_diff(to) == 1).then_some((from, to))
    });
    let has_levels = levels.values().any(|level| *level > 1);
    ends.collect::<Option<Vec<_>>>().filter(|_| has_levels)
}

/// Place among the strips and name: up from the hosts to the top, then down again.
fn of_levels((from, to): (u32, u32)) -> (u32, String) {
    const TURN: u32 = 1000;
    let name = |level: u32| match level {
        0 => "hosts".to_owned(),
        level => format!("level {level}"),
    };
    let (place, way) = match from.cmp(&to) {
        Ordering::Less => (2 * from, "up"),
        Ordering::Equal => (2 * from + 1, "across"),
        Ordering::Greater => (TURN - from, "down"),
    };
    (place, format!("{way}: {} to {}", name(from), name(to)))
}

/// Place among the strips and name in other networks with kinds of channels.
fn of_shape(shape: &Shape, channel: &Channel) -> Option<(u32, String)> {
    let (from, to) = match (channel.from, channel.to) {
        (Endpoint::Host(_), _) => return Some((0, "from hosts".into())),
        (_, Endpoint::Host(_)) => return Some((u32::MAX, "to hosts".into())),
        (Endpoint::Switch(from, _), Endpoint::Switch(to, _)) => (from, to),
    };
    let dimension = match shape {
        Shape::Dragonfly(dragonfly) if dragonfly.group(from) == dragonfly.group(to) => {
            return Some((1, "within groups".into()));
        }
        Shape::Dragonfly(_) => return Some((2, "between groups".into())),
        Shape::Hypercube(_) => (from.0 ^ to.0).trailing_zeros(),
        Shape::HyperX(hyper_x) => {
            let mut dimensions = 0..hyper_x.sizes.len();
            dimensions.find(|&d| hyper_x.coordinate(from, d) != hyper_x.coordinate(to, d))? as u32
        }
        Shape::ConcentratedMesh(mesh) => {
            let mut dimensions = 0..2;
            dimensions.find(|&d| mesh.coordinate(from, d) != mesh.coordinate(to, d))? as u32
        }
        Shape::Grid(grid) => {
            let mut dimensions = 0..grid.radix.len();
            dimensions.find(|&d| grid.coordinate(from, d) != grid.coordinate(to, d))? as u32
        }
        _ => return None,
    };
    Some((dimension + 1, format!("dimension {}", dimension + 1)))
}

const CAPTION: &str = "One strip per kind of channel, the way of a packet from its source to its destination from top to \
                       bottom; within a strip channels are in the order of their numbers, so neighbours are neighbours in \
                       the fabric. A strip of one colour is balanced; bright spots are where packets wait.";

/// Draws the strips.
pub(super) fn draw(kinds: &[Kind], channels: &[ChannelUse]) -> Result<Figure, FigureError> {
    let shades = Shades::over(channels.iter().map(|channel| channel.utilisation));
    let inner = WIDTH - 40;
    let widest = kinds
        .iter()
        .map(|kind| kind.channels.len())
        .max()
        .unwrap_or(1);
    let is_binned = widest as i32 * NARROWEST > inner;
    let remark = if is_binned {
        "There are more channels than cells: a cell shows the busiest of several neighbours."
    } else {
        "Every cell is a channel."
    };
    let height = 64 + kinds.len() as i32 * STEP + 56;
    let svg = Canvas::draw((WIDTH as u32, height as u32), |area| {
        let top = heading(area, "Use of channels by level", remark)? + 12;
        let mut told = Vec::new();
        for (row, kind) in (0..).zip(kinds) {
            let y = top + row * STEP;
            let uses: Vec<f64> = kind
                .channels
                .iter()
                .map(|id| channels[id.index()].utilisation)
                .collect();
            let mean = uses.iter().sum::<f64>() / uses.len().max(1) as f64;
            let busiest = uses.iter().copied().fold(0.0, f64::max);
            write(area, &kind.name, 11.0, INK.color, Spot::left(20, y + 6))?;
            let numbers = format!(
                "{} channels, mean {mean:.3}, highest {busiest:.3}",
                uses.len()
            );
            let right = WIDTH - 20;
            debug_assert!(width_of(&numbers) < inner);
            write(area, &numbers, 11.0, MUTED.color, Spot::right(right, y + 6))?;
            let cells = binned(&kind.channels, channels, (inner / NARROWEST) as usize);
            let at = |cell: usize| 20 + (cell as i32 * inner) / cells.len() as i32;
            for (cell, channel) in cells.iter().enumerate() {
                let (from, to) = ((at(cell), y + 16), (at(cell + 1), y + 16 + STRIP));
                let share = shades.place(channel.utilisation);
                fill(area, from, to, color_map::color(share))?;
                told.push(Hover {
                    at: from,
                    size: (to.0 - from.0, STRIP),
                    text: channel.told(),
                });
            }
        }
        let bottom = top + kinds.len() as i32 * STEP;
        let place = (WIDTH / 2 - 150, bottom + 8);
        color_map::key(area, place, shades.0.clone(), LABEL)?;
        Ok(told)
    })?;
    let caption = CAPTION.to_owned() + &shades.caption();
    Ok(Figure {
        name: "channel-utilisation",
        caption,
        svg,
    })
}

/// At most `most` cells, each the busiest channel of its share.
fn binned<'a>(ids: &[ChannelId], channels: &'a [ChannelUse], most: usize) -> Vec<&'a ChannelUse> {
    let share = ids.len().div_ceil(most).max(1);
    let busiest = |ids: &[ChannelId]| {
        let channels = ids.iter().map(|id| &channels[id.index()]);
        channels.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
    };
    ids.chunks(share).filter_map(busiest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::samples;

    fn uses(graph: &Graph) -> Vec<ChannelUse> {
        let channels = graph.channels().iter();
        channels
            .map(|channel| ChannelUse {
                from: graph.endpoint_name(channel.from),
                to: graph.endpoint_name(channel.to),
                utilisation: 0.5,
            })
            .collect()
    }

    #[test]
    fn trees_are_known_by_their_channels_too() {
        for (topology, graph) in samples() {
            let uses = uses(&graph);
            if let (Some(known), Some(found)) = (levels(&graph), layered(&uses)) {
                assert_eq!(known, found, "{topology}");
            }
        }
        let found = |name| {
            let (_, graph) = samples()
                .into_iter()
                .find(|(sample, _)| *sample == name)
                .unwrap();
            layered(&uses(&graph)).is_some()
        };
        assert!(found("KAryNTree") && found("Xgft") && !found("Mesh") && !found("Dragonfly"));
    }

    #[test]
    fn cells_keep_the_busiest_channel() {
        let shares = |all: &[f64], most| -> Vec<f64> {
            let channels = all.iter().map(|&utilisation| ChannelUse {
                from: "a".into(),
                to: "b".into(),
                utilisation,
            });
            let channels: Vec<_> = channels.collect();
            let ids: Vec<_> = (0..all.len()).map(ChannelId::from).collect();
            let cells = binned(&ids, &channels, most).into_iter();
            cells.map(|channel| channel.utilisation).collect()
        };
        assert_eq!(shares(&[0.1, 0.9, 0.2, 0.3, 0.4], 3), [0.9, 0.3, 0.4]);
        assert_eq!(shares(&[0.1, 0.2], 3), [0.1, 0.2]);
        assert!(shares(&[], 3).is_empty());
    }

    #[test]
    fn every_channel_has_one_kind() {
        let mut with_kinds = Vec::new();
        for (topology, graph) in samples() {
            if let Some(kinds) = kinds(Some(&graph), &uses(&graph)) {
                let mut all: Vec<_> = kinds
                    .iter()
                    .flat_map(|kind| kind.channels.clone())
                    .collect();
                all.sort();
                assert!(all.into_iter().eq(graph.channel_ids()), "{topology}");
                with_kinds.push(topology);
            }
        }
        for topology in [
            "KAryNTree",
            "EnrichedTree",
            "Xgft",
            "LeafSpine",
            "Dragonfly",
            "HyperX",
            "Hypercube",
        ] {
            assert!(
                with_kinds.contains(&topology),
                "{topology} of {with_kinds:?}"
            );
        }
    }

    #[test]
    fn trees_go_up_and_down_again() {
        let (_, tree) = samples()
            .into_iter()
            .find(|(name, _)| *name == "KAryNTree")
            .unwrap();
        let names: Vec<_> = kinds(Some(&tree), &uses(&tree))
            .unwrap()
            .into_iter()
            .map(|kind| kind.name)
            .collect();
        assert_eq!(
            names,
            [
                "up: hosts to level 1",
                "up: level 1 to level 2",
                "up: level 2 to level 3",
                "down: level 3 to level 2",
                "down: level 2 to level 1",
                "down: level 1 to hosts",
            ]
        );
    }
}
