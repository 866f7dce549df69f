//! A fraction of the packets to a few hot hosts, the rest uniform.
//!
//! With probability `fraction` the destination is one of `targets` other than the source, each with the
//! same probability; otherwise it is uniform over all other hosts, hot ones included. A source that is the
//! only target sends uniformly; with `fraction: 1.0` it does not send.
//!
//! Cost: two draws per packet; memory O(targets).
//!
//! References: [`PFISTER_NORTON`]

use super::members::{Among, Members, checked, silent};
use super::uniform::Uniform;
use crate::ids::HostId;
use crate::references::PFISTER_NORTON;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Rng, Stream};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Share, invalid};
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
            summary: "the hot hosts, each with the same probability",
        },
        Parameter {
            name: "fraction",
            kind: "number in (0, 1]",
            default: Some("0.2"),
            summary: "probability that a packet goes to a hot host on purpose",
        },
    ],
    guarantees: &["a host never sends to itself"],
    references: &[PFISTER_NORTON],
    build,
};

/// Number of values of the uniform draw: 2^53.
const SCALE: f64 = (1u64 << 53) as f64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "HotSpot")]
struct Parameters {
    targets: Vec<u32>,
    #[serde(default = "default_fraction")]
    fraction: f64,
}

fn default_fraction() -> f64 {
    0.2
}

#[derive(Debug)]
struct HotSpot {
    hot: Uniform,
    /// Sorted.
    targets: Vec<HostId>,
    background: Uniform,
    /// A 53-bit draw below this is hot.
    threshold: u64,
}

impl HotSpot {
    fn has_other_target(&self, source: HostId) -> bool {
        self.targets.iter().any(|&target| target != source)
    }

    fn has_background(&self) -> bool {
        (self.threshold as f64) < SCALE
    }
}

impl Pattern for HotSpot {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        let is_hot = rng.next_u64() >> 11 < self.threshold;
        if is_hot && self.has_other_target(source) {
            self.hot.destination(source, rng)
        } else if self.has_background() {
            self.background.destination(source, rng)
        } else {
            None
        }
    }

    fn sends(&self, source: HostId) -> bool {
        self.has_other_target(source) || (self.has_background() && self.background.sends(source))
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        if !self.sends(source) {
            return Vec::new();
        }
        let hot = if self.has_other_target(source) {
            self.threshold as f64 / SCALE
        } else {
            0.0
        };
        let parts = [(&self.hot, hot), (&self.background, 1.0 - hot)];
        let shares = parts.into_iter().filter(|(_, part)| *part > 0.0);
        shares
            .filter_map(|(to, part)| to.share(source, part))
            .collect()
    }
}

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Parameters { targets, fraction } = arguments.parse()?;
    if targets.is_empty() {
        return Err(invalid("`targets` needs at least one host"));
    }
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(invalid(format!(
            "`fraction` is {fraction}; it must be above 0 and at most 1"
        )));
    }
    let mut hosts = Vec::with_capacity(targets.len());
    for target in targets {
        hosts.push(checked(target, context)?);
    }
    hosts.sort_unstable();
    if let Some([twice, _]) = hosts.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(invalid(format!(
            "host `{twice}` is listed twice in `targets`"
        )));
    }
    let pattern = HotSpot {
        hot: Uniform::new(Members::Some(hosts.clone()), false),
        targets: hosts,
        background: Uniform::new(Members::new(Among::All, context), false),
        threshold: (fraction * SCALE).round() as u64,
    };
    if !context.hosts.iter().any(|&host| pattern.sends(host)) {
        return Err(silent("HotSpot", context));
    }
    Ok(Arc::new(pattern))
}
