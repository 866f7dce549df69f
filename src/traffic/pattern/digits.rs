//! Patterns by arithmetic on host numbers: `Complement`, `Neighbor`, `Shift`, `Tornado`, `Transpose`.
//!
//! With N hosts, source i: complement N-1-i, shift i+by mod N, transpose (r, c) -> (c, r) for
//! i = r*sqrt(N)+c. On a mesh or torus with radix `k_d`, tornado moves every coordinate by
//! `ceil(k_d/2) - 1` and neighbor by 1, modulo `k_d`, and keeps the host's place on its switch; on a concentrated
//! mesh they work on the grid of hosts; on a fabric in which a mesh or torus was found, on its coordinates; elsewhere all
//! hosts form one dimension. Fixed points do not send without `self_traffic`.
//!
//! Cost: one table look-up per packet; memory O(hosts).
//!
//! # Deviations
//! Complement is defined for any number of hosts; for powers of two it is the bit complement.
//!
//! References: [`DALLY_TOWLES`]

use super::members::{AMONG, Among, FixedDestinations, Members, Plain, SELF_TRAFFIC};
use crate::ids::{HostId, SwitchId};
use crate::references::DALLY_TOWLES;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::topology::graph::GridShape;
use crate::topology::structure::Numbering;
use crate::topology::{Graph, Shape};
use crate::traffic::{BuildPattern, Pattern, PatternContext, invalid};
use serde::Deserialize;
use std::sync::Arc;

const GUARANTEES: &[&str] =
    &["a permutation of the hosts; fixed points do not send without `self_traffic`"];

/// Registers `Complement`.
pub(super) const COMPLEMENT: Entry<BuildPattern> = Entry {
    name: "Complement",
    aliases: &["BitComplement"],
    summary: "host i of N to host N-1-i",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| {
        let Plain {
            self_traffic,
            among,
        } = arguments.parse()?;
        let members = Members::numbered(among, context);
        let count = members.len();
        FixedDestinations::from_map("Complement", &members, context, self_traffic, |i| {
            count - 1 - i
        })
    },
};

/// Registers `Neighbor`.
pub(super) const NEIGHBOR: Entry<BuildPattern> = Entry {
    name: "Neighbor",
    aliases: &[],
    summary: "one step up in every dimension of a grid, or to the next host",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| rings("Neighbor", arguments, context, |_| 1),
};

/// Registers `Shift`.
pub(super) const SHIFT: Entry<BuildPattern> = Entry {
    name: "Shift",
    aliases: &[],
    summary: "host i of N to host i+by mod N",
    parameters: &[
        Parameter {
            name: "by",
            kind: "integer, not a multiple of the number of hosts without `self_traffic`",
            default: None,
            summary: "distance from source to destination in host numbers",
        },
        SELF_TRAFFIC,
        AMONG,
    ],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: shift,
};

/// Registers `Tornado`.
pub(super) const TORNADO: Entry<BuildPattern> = Entry {
    name: "Tornado",
    aliases: &[],
    summary: "nearly half way round every dimension of a grid, or round all hosts",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| rings("Tornado", arguments, context, |k| k.div_ceil(2) - 1),
};

/// Registers `Transpose`.
pub(super) const TRANSPOSE: Entry<BuildPattern> = Entry {
    name: "Transpose",
    aliases: &[],
    summary: "hosts as a square matrix, host (row, column) to host (column, row)",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: transpose,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Shift")]
struct ShiftParameters {
    by: i64,
    #[serde(default)]
    self_traffic: bool,
    #[serde(default)]
    among: Among,
}

fn shift(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let ShiftParameters {
        by,
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::numbered(among, context);
    let count = members.len();
    if count == 0 || !self_traffic && by.rem_euclid(i64::from(count)) == 0 {
        return Err(invalid(format!(
            "`by` is {by}, a multiple of the {count} hosts: every host would be its own destination"
        )));
    }
    let by = by.rem_euclid(i64::from(count)) as u32;
    FixedDestinations::from_map("Shift", &members, context, self_traffic, |i| {
        rotate(i, by, count)
    })
}

fn transpose(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::numbered(among, context);
    let side = members.len().isqrt();
    if side * side != members.len() {
        return Err(invalid(format!(
            "`Transpose` needs a square number of hosts; here are {}, the nearest squares are {} and {}",
            members.len(),
            u64::from(side).pow(2),
            (u64::from(side) + 1).pow(2)
        )));
    }
    FixedDestinations::from_map("Transpose", &members, context, self_traffic, |i| {
        i % side * side + i / side
    })
}

/// Moves every digit of the host number by `step(radix)`.
fn rings(
    name: &str,
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
    step: fn(u32) -> u32,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::numbered(among, context);
    match grid(context.graph) {
        Some((grid, places)) if among == Among::All => {
            FixedDestinations::from_map(name, &members, context, self_traffic, |i| match places {
                None => move_on_grid(&grid, i, step),
                Some(places) => {
                    let moved = move_on_grid(&grid, places.host(HostId(i)).0, step);
                    places.own_host(HostId(moved)).map_or(i, |host| host.0)
                }
            })
        }
        _ => {
            let count = members.len();
            FixedDestinations::from_map(name, &members, context, self_traffic, |i| {
                rotate(i, step(count), count)
            })
        }
    }
}

/// The mesh or torus of the hosts of a graph, with the hosts' numbers there where they are others: built, or found in the
/// graph with all its hosts.
fn grid(graph: &Graph) -> Option<(GridShape, Option<&Numbering>)> {
    let of = |shape: &Shape| match shape {
        Shape::Grid(grid) => Some(grid.clone()),
        Shape::ConcentratedMesh(mesh) => Some(GridShape {
            radix: vec![mesh.radix[0] * mesh.block[0], mesh.radix[1] * mesh.block[1]],
            wrap: vec![false; 2],
            hosts_per_switch: 1,
        }),
        _ => None,
    };
    if let Some(grid) = of(graph.shape()) {
        return Some((grid, None));
    }
    let whole = graph.structures().iter();
    let mut whole = whole.filter(|structure| structure.numbering().has_all_nodes());
    whole.find_map(|structure| Some((of(structure.shape())?, Some(structure.numbering()))))
}

/// `position + by` modulo `count`.
fn rotate(position: u32, by: u32, count: u32) -> u32 {
    ((u64::from(position) + u64::from(by)) % u64::from(count)) as u32
}

/// The host at the same place of the switch `step(k)` further in every dimension.
fn move_on_grid(grid: &GridShape, host: u32, step: fn(u32) -> u32) -> u32 {
    let per_switch = grid.hosts_per_switch;
    let mut switch = 0;
    let mut stride = 1;
    for (dimension, &radix) in grid.radix.iter().enumerate() {
        let coordinate = grid.coordinate(SwitchId(host / per_switch), dimension);
        switch += rotate(coordinate, step(radix), radix) * stride;
        stride *= radix;
    }
    switch * per_switch + host % per_switch
}
