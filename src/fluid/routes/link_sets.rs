//! Sets of channels that are alike: by where they lead from and to.
//!
//! In trees a set is named by its direction and the levels of its ends, level 0 being the roots, as the source does:
//! `down 0-1`, `up 2-1`, `across 0`. Elsewhere all channels between switches are one set.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §6.1

use crate::ids::SwitchId;
use crate::topology::graph::{Channel, Endpoint};
use crate::topology::{Graph, Shape};
use std::collections::BTreeMap;

/// Sets of the channels of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSets {
    /// Names, sorted.
    pub names: Vec<String>,
    /// Set of every channel, by its place in the names.
    pub of_channel: Vec<u16>,
}

impl LinkSets {
    /// The sets of a fabric. Cost: O(channels).
    pub fn new(graph: &Graph) -> Self {
        let mut numbers = BTreeMap::new();
        let channels = graph.channels().iter();
        let kinds: Vec<Kind> = channels.map(|channel| Kind::of(graph, channel)).collect();
        for kind in &kinds {
            numbers.insert(*kind, 0);
        }
        for (number, (_, place)) in numbers.iter_mut().enumerate() {
            *place = number as u16;
        }
        Self {
            names: numbers.keys().map(Kind::name).collect(),
            of_channel: kinds.iter().map(|kind| numbers[kind]).collect(),
        }
    }
}

/// A set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    FromHosts,
    Up(u32, u32),
    Across(u32),
    Down(u32, u32),
    Switches,
    ToHosts,
}

impl Kind {
    fn of(graph: &Graph, channel: &Channel) -> Self {
        let level = |switch: SwitchId| match graph.shape() {
            Shape::Tree(tree) => Some(tree.level(switch)),
            Shape::EnrichedTree(shape) => Some(shape.tree.level(switch)),
            Shape::Xgft(tree) => {
                let (level, _) = tree.level_and_word(switch);
                Some((tree.height() - level) as u32)
            }
            _ => None,
        };
        match (channel.from, channel.to) {
            (Endpoint::Host(_), _) => Self::FromHosts,
            (_, Endpoint::Host(_)) => Self::ToHosts,
            (Endpoint::Switch(from, _), Endpoint::Switch(to, _)) => {
                match level(from).zip(level(to)) {
                    Some((from, to)) if from > to => Self::Up(from, to),
                    Some((from, to)) if from < to => Self::Down(from, to),
                    Some((level, _)) => Self::Across(level),
                    None => Self::Switches,
                }
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::FromHosts => "from hosts".into(),
            Self::Up(from, to) => format!("up {from}-{to}"),
            Self::Across(level) => format!("across {level}"),
            Self::Down(from, to) => format!("down {from}-{to}"),
            Self::Switches => "between switches".into(),
            Self::ToHosts => "to hosts".into(),
        }
    }
}
