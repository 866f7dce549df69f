//! A fraction of the packets to a few hot hosts, the rest uniform.
//!
//! With probability `fraction` the destination is one of `targets` other than the source, drawn by `weights`;
//! otherwise it is uniform over all other hosts, hot ones included. A source that is the only target sends
//! uniformly; with `fraction: 1.0` it does not send. With `self_traffic` the source is a host like the others.
//!
//! Cost: two draws per packet and O(log targets); memory O(targets).
//!
//! References: [`PFISTER_NORTON`]

use super::members::{Among, Members, SELF_TRAFFIC, checked, silent};
use super::uniform::Uniform;
use crate::ids::HostId;
use crate::references::PFISTER_NORTON;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Rng, Stream, below};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Receivers, Share, invalid};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `HotSpot`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "HotSpot",
    aliases: &[],
    summary: "a fraction of the packets to a few hot hosts, the rest uniform",
    parameters: &[
        Parameter {
            name: "targets",
            kind: "list of host numbers, at least one",
            default: None,
            summary: "the hot hosts",
        },
        Parameter {
            name: "weights",
            kind: "list of integers >= 1, one per target",
            default: Some("all the same"),
            summary: "how much likelier than others each target is",
        },
        Parameter {
            name: "fraction",
            kind: "number in (0, 1]",
            default: Some("0.2"),
            summary: "probability that a packet goes to a hot host on purpose",
        },
        SELF_TRAFFIC,
    ],
    guarantees: &["a host never sends to itself without `self_traffic`"],
    references: &[PFISTER_NORTON],
    build,
};

/// Number of values of the uniform draw: 2^53.
const SCALE: f64 = (1u64 << 53) as f64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "HotSpot")]
struct Parameters {
    targets: Vec<u32>,
    #[serde(default)]
    weights: Option<Vec<u32>>,
    #[serde(default = "default_fraction")]
    fraction: f64,
    #[serde(default)]
    self_traffic: bool,
}

fn default_fraction() -> f64 {
    0.2
}

#[derive(Debug)]
struct HotSpot {
    /// Sorted.
    targets: Vec<HostId>,
    /// Sum of the weights before each target, and of all.
    before: Vec<u32>,
    self_traffic: bool,
    background: Uniform,
    /// A 53-bit draw below this is hot.
    threshold: u64,
}

impl HotSpot {
    /// Place of `source` among the targets when it is left out.
    fn left_out(&self, source: HostId) -> Option<usize> {
        let own = self.targets.binary_search(&source).ok();
        own.filter(|_| !self.self_traffic)
    }

    /// Weight of a target.
    fn weight(&self, target: usize) -> u32 {
        self.before[target + 1] - self.before[target]
    }

    /// Sum of the weights of the targets of `source`.
    fn total(&self, source: HostId) -> u32 {
        let own = self.left_out(source).map_or(0, |own| self.weight(own));
        self.before[self.targets.len()] - own
    }

    /// Draws a target.
    fn target(&self, source: HostId, rng: &mut Stream) -> HostId {
        let mut ticket = below(rng, self.total(source));
        if let Some(own) = self.left_out(source)
            && ticket >= self.before[own]
        {
            ticket += self.weight(own);
        }
        self.targets[self.before.partition_point(|&before| before <= ticket) - 1]
    }

    fn has_background(&self) -> bool {
        (self.threshold as f64) < SCALE
    }
}

impl Pattern for HotSpot {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        let is_hot = rng.next_u64() >> 11 < self.threshold;
        if is_hot && self.total(source) > 0 {
            Some(self.target(source, rng))
        } else if self.has_background() {
            self.background.destination(source, rng)
        } else {
            None
        }
    }

    fn sends(&self, source: HostId) -> bool {
        self.total(source) > 0 || (self.has_background() && self.background.sends(source))
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        if !self.sends(source) {
            return Vec::new();
        }
        let total = self.total(source);
        let hot = if total > 0 {
            self.threshold as f64 / SCALE
        } else {
            0.0
        };
        let own = self.left_out(source);
        let targets = self.targets.iter().enumerate();
        let targets = targets.filter(|&(place, _)| Some(place) != own);
        let one = |(place, &target)| Share {
            part: hot * f64::from(self.weight(place)) / f64::from(total),
            to: Receivers::One(target),
        };
        let mut shares: Vec<Share<'_>> = targets.map(one).collect();
        if hot < 1.0 {
            shares.extend(self.background.share(source, 1.0 - hot));
        }
        shares
    }
}

/// Sorted targets, and the sums of their weights as in [`HotSpot`].
fn weighted(
    targets: &[u32],
    weights: Option<Vec<u32>>,
    context: &PatternContext<'_>,
) -> Result<(Vec<HostId>, Vec<u32>), ArgumentError> {
    if targets.is_empty() {
        return Err(invalid("`targets` needs at least one host"));
    }
    let weights = weights.unwrap_or_else(|| vec![1; targets.len()]);
    if weights.len() != targets.len() {
        return Err(invalid(format!(
            "`weights` has {} entries for {} targets; each target needs one",
            weights.len(),
            targets.len()
        )));
    }
    let mut hosts = Vec::with_capacity(targets.len());
    for (&target, weight) in targets.iter().zip(weights) {
        if weight == 0 {
            return Err(invalid(format!(
                "the weight of host `{target}` is 0, expected at least 1"
            )));
        }
        hosts.push((checked(target, context)?, weight));
    }
    hosts.sort_unstable();
    if let Some([(twice, _), _]) = hosts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(invalid(format!(
            "host `{twice}` is listed twice in `targets`"
        )));
    }
    let mut before = vec![0u32];
    for &(_, weight) in &hosts {
        let sum = before[before.len() - 1].checked_add(weight);
        before.push(sum.ok_or_else(|| invalid("the weights add up to more than 2^32 - 1"))?);
    }
    Ok((hosts.into_iter().map(|(host, _)| host).collect(), before))
}

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Parameters {
        targets,
        weights,
        fraction,
        self_traffic,
    } = arguments.parse()?;
    let (targets, before) = weighted(&targets, weights, context)?;
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(invalid(format!(
            "`fraction` is {fraction}; it must be above 0 and at most 1"
        )));
    }
    let pattern = HotSpot {
        targets,
        before,
        self_traffic,
        background: Uniform::new(Members::new(Among::All, context), self_traffic),
        threshold: (fraction * SCALE).round() as u64,
    };
    if !context.hosts.iter().any(|&host| pattern.sends(host)) {
        return Err(silent("HotSpot", context));
    }
    Ok(Arc::new(pattern))
}
