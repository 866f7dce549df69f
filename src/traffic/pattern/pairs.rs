//! A list of (source, destination) pairs.
//!
//! A source that is listed several times draws one of its destinations for each packet, each with the
//! same probability; hosts that are not listed do not send. Written `Pairs([(0, 5), (1, 6)])` or
//! `Pairs(pairs: [(0, 5), (1, 6)])`.
//!
//! Fails with: an unknown host, a source outside the class's hosts, a pair of a host with itself
//! without `self_traffic`.
//! Cost: at most one draw per packet; memory O(hosts + pairs).

use super::members::{SELF_TRAFFIC, checked};
use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Receivers, Share, invalid};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `Pairs`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "Pairs",
    aliases: &["Fixed"],
    summary: "a given list of (source, destination) pairs",
    parameters: &[
        Parameter {
            name: "pairs",
            kind: "list of (host number, host number), at least one",
            default: None,
            summary: "who sends to whom; several pairs of one source are drawn with the same probability",
        },
        SELF_TRAFFIC,
    ],
    guarantees: &["only the listed pairs exchange packets"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Pairs")]
struct Named {
    pairs: Vec<(u32, u32)>,
    #[serde(default)]
    self_traffic: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "Pairs")]
struct Positional(Vec<(u32, u32)>);

#[derive(Debug)]
struct Pairs {
    /// Destinations in source order.
    destinations: Vec<HostId>,
    /// First destination of each host; one more entry than hosts.
    first: Vec<u32>,
}

impl Pairs {
    fn of(&self, source: HostId) -> &[HostId] {
        let i = source.index();
        &self.destinations[self.first[i] as usize..self.first[i + 1] as usize]
    }
}

impl Pattern for Pairs {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        match self.of(source) {
            [] => None,
            [only] => Some(*only),
            several => Some(several[below(rng, several.len() as u32) as usize]),
        }
    }

    fn sends(&self, source: HostId) -> bool {
        !self.of(source).is_empty()
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        let destinations = self.of(source);
        let one = |&to: &HostId| Share {
            part: 1.0 / destinations.len() as f64,
            to: Receivers::One(to),
        };
        destinations.iter().map(one).collect()
    }

    fn is_fixed(&self) -> bool {
        self.first.windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }
}

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let (mut pairs, self_traffic) = if arguments.text.contains(':') {
        let named: Named = arguments.parse()?;
        (named.pairs, named.self_traffic)
    } else {
        (arguments.parse::<Positional>()?.0, false)
    };
    if pairs.is_empty() {
        return Err(invalid("`pairs` needs at least one (source, destination)"));
    }
    for &(source, destination) in &pairs {
        let sender = checked(source, context)?;
        checked(destination, context)?;
        if source == destination && !self_traffic {
            return Err(invalid(format!(
                "pair ({source}, {destination}): a host does not send to itself without `self_traffic: true`"
            )));
        }
        if context.hosts.binary_search(&sender).is_err() {
            return Err(invalid(format!(
                "pair ({source}, {destination}): host {source} is not among the hosts of this class"
            )));
        }
    }
    pairs.sort_by_key(|&(source, _)| source);
    let hosts = context.graph.hosts().len() as u32;
    let first = (0..=hosts)
        .map(|host| pairs.partition_point(|&(source, _)| source < host) as u32)
        .collect();
    Ok(Arc::new(Pairs {
        destinations: pairs.into_iter().map(|(_, to)| HostId(to)).collect(),
        first,
    }))
}
