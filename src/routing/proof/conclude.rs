//! From what following all packets has found to the proof: the same for tables and for adaptive routing.

use super::dependency_graph::{DependencyGraph, describe_cycle};
use super::statement::{Choices, Proof, VerifyError, VerifyOptions};
use crate::ids::{ChannelId, HostId, VlId};
use crate::routing::Guarantees;
use crate::topology::Graph;

/// What following all packets has found.
pub(in crate::routing) struct Followed {
    /// The first path that is longer than a shortest one.
    pub(in crate::routing) detour: Option<VerifyError>,
    /// Pairs by hops.
    pub(in crate::routing) histogram: Vec<u64>,
    /// Longest path of any packet \[hops\].
    pub(in crate::routing) longest: u32,
    /// Pairs that have no path.
    pub(in crate::routing) unreachable: u64,
    /// The first of these, by receiver.
    pub(in crate::routing) first_unreachable: Vec<(HostId, HostId)>,
    /// Of adaptive routing: what packets may choose.
    pub(in crate::routing) choices: Option<Choices>,
}

/// The proof, when an engine (its name, what it promises) keeps its promises.
pub(in crate::routing) fn conclude(
    graph: &Graph,
    promises: (&str, &Guarantees),
    options: &VerifyOptions<'_>,
    dependencies: &DependencyGraph<'_>,
    found: Followed,
) -> Result<Proof, VerifyError> {
    let minimal = found.detour.is_none();
    let cycle = dependencies.find_cycle();
    require_kept(graph, promises, options, found.detour, cycle.as_deref())?;
    let pairs: u64 = found.histogram.iter().sum();
    let hops: u64 = (0..)
        .zip(&found.histogram)
        .map(|(hops, pairs)| hops * pairs)
        .sum();
    Ok(Proof {
        channels_used: dependencies.channels_used(),
        dependencies: dependencies.dependencies(),
        vertices: dependencies.vertices(),
        acyclic: cycle.is_none(),
        minimal,
        reachable_pairs: pairs,
        unreachable_pairs: found.unreachable,
        unreachable: found.first_unreachable,
        mean_hops: hops as f64 / pairs.max(1) as f64,
        max_hops: found.longest,
        hop_histogram: found.histogram,
        cycle,
        held: None,
        choices: found.choices,
    })
}

/// Checks the promises of an engine (its name, what it promises) against the first detour and a cycle, if any.
fn require_kept(
    graph: &Graph,
    (engine, guarantees): (&str, &Guarantees),
    options: &VerifyOptions<'_>,
    detour: Option<VerifyError>,
    cycle: Option<&[(ChannelId, VlId)]>,
) -> Result<(), VerifyError> {
    if let Some(detour) = detour
        && guarantees.minimal
    {
        return Err(detour);
    }
    match cycle {
        Some(cycle) if guarantees.deadlock_free && !options.pool_shared => {
            Err(VerifyError::Cyclic {
                engine: engine.to_owned(),
                cycle: describe_cycle(graph, cycle),
            })
        }
        _ => Ok(()),
    }
}
