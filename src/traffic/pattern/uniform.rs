//! Every packet to a host drawn uniformly at random.
//!
//! Guarantees: mean load at every receiver equals the mean load of the senders.
//! Fails with: a single host and no self traffic.
//! Cost: one draw per packet; O(log senders) more with `among: Senders`.
//!
//! References: [`DALLY_TOWLES`]

use super::members::{AMONG, Members, Plain, SELF_TRAFFIC, silent};
use crate::ids::HostId;
use crate::references::DALLY_TOWLES;
use crate::registry::{ArgumentError, Arguments, Entry};
use crate::rng::{Stream, below};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Receivers, Share};
use std::sync::Arc;

/// Registers `Uniform`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "Uniform",
    aliases: &["UniformRandom"],
    summary: "each packet to a host drawn uniformly at random",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["every receiver is drawn with the same probability"],
    references: &[DALLY_TOWLES],
    build,
};

/// Uniform destinations among the members.
#[derive(Clone, Debug)]
pub(super) struct Uniform {
    members: Members,
    self_traffic: bool,
}

impl Uniform {
    /// Uniform over `members`, without the source itself unless `self_traffic`.
    pub(super) fn new(members: Members, self_traffic: bool) -> Self {
        Self {
            members,
            self_traffic,
        }
    }

    /// A part of the packets of `source`; `None` when it has nobody to send to.
    pub(super) fn share(&self, source: HostId, part: f64) -> Option<Share<'_>> {
        let to = if self.self_traffic {
            Receivers::Each(&self.members)
        } else {
            Receivers::Others(&self.members)
        };
        self.sends(source).then_some(Share { part, to })
    }

    /// Number of hosts `source` draws from and its own position among them when that is left out.
    fn support(&self, source: HostId) -> (u32, Option<u32>) {
        let own = self.members.position(source);
        let own = own.filter(|_| !self.self_traffic);
        (self.members.len() - u32::from(own.is_some()), own)
    }
}

impl Pattern for Uniform {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        let (count, own) = self.support(source);
        if count == 0 {
            return None;
        }
        let drawn = below(rng, count);
        let skip = own.is_some_and(|own| drawn >= own);
        Some(self.members.host(drawn + u32::from(skip)))
    }

    fn sends(&self, source: HostId) -> bool {
        self.support(source).0 > 0
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        self.share(source, 1.0).into_iter().collect()
    }
}

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let pattern = Uniform::new(Members::new(among, context), self_traffic);
    if !context.hosts.iter().any(|&host| pattern.sends(host)) {
        return Err(silent("Uniform", context));
    }
    Ok(Arc::new(pattern))
}
