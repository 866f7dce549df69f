//! Every group of hosts to the next one: the adversarial pattern of dragonflies.
//!
//! Each packet of a host in group g goes to a host of group g + `by` (mod groups) drawn alike. On shortest ways all
//! traffic of a group then shares the few links to one other group.
//!
//! On a fabric in which a dragonfly was found groups are those of the dragonfly.
//!
//! Fails with: fewer than two groups, groups that do not cover all hosts, `by` a multiple of the number of groups.
//! Cost: one draw per packet; memory O(hosts).
//!
//! References: [`KIM_DRAGONFLY`], [`BOOKSIM`] (`bad_dragon`)

use super::members::Members;
use crate::ids::HostId;
use crate::references::{BOOKSIM, KIM_DRAGONFLY};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use crate::topology::graph::DragonflyShape;
use crate::topology::structure::Numbering;
use crate::topology::{Graph, Shape};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Receivers, Share, invalid};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `BadDragon`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "BadDragon",
    aliases: &["bad_dragon", "AdversarialGroups"],
    summary: "each packet to a random host of the next group of a dragonfly",
    parameters: &[
        Parameter {
            name: "by",
            kind: "integer, not a multiple of the number of groups",
            default: Some("1"),
            summary: "distance from the group of the source to that of the destination",
        },
        Parameter {
            name: "group_hosts",
            kind: "integer >= 1",
            default: Some("as the dragonfly says"),
            summary: "hosts of a group, in the order of their numbers; elsewhere than on a dragonfly it must be given",
        },
    ],
    guarantees: &["every receiver gets as much as every sender sends"],
    references: &[KIM_DRAGONFLY, BOOKSIM],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "BadDragon")]
struct Parameters {
    #[serde(default = "one")]
    by: i64,
    #[serde(default)]
    group_hosts: Option<u32>,
}

const fn one() -> i64 {
    1
}

#[derive(Debug)]
struct BadDragon {
    group_hosts: u32,
    /// Distance between groups, modulo their number.
    by: u32,
    groups: Vec<Members>,
    /// Group of every host.
    group: Vec<u32>,
}

impl BadDragon {
    /// Hosts that `source` sends to.
    fn receivers(&self, source: HostId) -> &Members {
        let group = self.group[source.index()] + self.by;
        &self.groups[group as usize % self.groups.len()]
    }
}

impl Pattern for BadDragon {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        Some(self.receivers(source).host(below(rng, self.group_hosts)))
    }

    fn sends(&self, _source: HostId) -> bool {
        true
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        vec![Share {
            part: 1.0,
            to: Receivers::Each(self.receivers(source)),
        }]
    }

    fn is_fixed(&self) -> bool {
        self.group_hosts == 1
    }
}

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Parameters { by, group_hosts } = arguments.parse()?;
    let (group_hosts, places) = match (group_hosts, dragonfly(context.graph)) {
        (Some(hosts), _) => (hosts, None),
        (None, Some((shape, places))) => {
            (shape.hosts_per_switch * shape.switches_per_group, places)
        }
        (None, None) => {
            return Err(invalid(
                "the fabric is no dragonfly, so `group_hosts` must be given",
            ));
        }
    };
    let count = context.graph.hosts().len() as u32;
    if group_hosts == 0 || !count.is_multiple_of(group_hosts) || count / group_hosts < 2 {
        return Err(invalid(format!(
            "groups of {group_hosts} hosts: expected a divisor of the number of hosts, {count}, for 2 groups or more"
        )));
    }
    let groups = count / group_hosts;
    let distance = by.rem_euclid(i64::from(groups)) as u32;
    if distance == 0 {
        return Err(invalid(format!(
            "`by` is {by}, a multiple of the {groups} groups: every group would send to itself"
        )));
    }
    let place = |host: HostId| places.map_or(host, |places| places.host(host));
    let hosts = context.graph.host_ids();
    let group: Vec<u32> = hosts.map(|host| place(host).0 / group_hosts).collect();
    let mut members = vec![Vec::new(); groups as usize];
    for (host, &group) in context.graph.host_ids().zip(&group) {
        members[group as usize].push(host);
    }
    Ok(Arc::new(BadDragon {
        group_hosts,
        by: distance,
        groups: members.into_iter().map(Members::Some).collect(),
        group,
    }))
}

/// The dragonfly of a graph, with the hosts' numbers there where they are others: built, or found in the graph with all its
/// hosts.
fn dragonfly(graph: &Graph) -> Option<(&DragonflyShape, Option<&Numbering>)> {
    if let Shape::Dragonfly(shape) = graph.shape() {
        return Some((shape, None));
    }
    let whole = graph.structures().iter();
    let mut whole = whole.filter(|structure| structure.numbering().has_all_nodes());
    whole.find_map(|structure| match structure.shape() {
        Shape::Dragonfly(shape) => Some((shape, Some(structure.numbering()))),
        _ => None,
    })
}
