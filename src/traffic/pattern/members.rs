//! The hosts a pattern works on, and fixed destinations among them.

use crate::ids::HostId;
use crate::registry::{ArgumentError, Parameter};
use crate::rng::Stream;
use crate::traffic::{Pattern, PatternContext, Receivers, Share, invalid};
use serde::Deserialize;
use std::sync::Arc;

/// Which hosts a pattern numbers and sends to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Among {
    /// All hosts of the fabric.
    #[default]
    All,
    /// The hosts that send the class.
    Senders,
}

/// Documents the parameter `among`.
pub(super) const AMONG: Parameter = Parameter {
    name: "among",
    kind: "All | Senders",
    default: Some("All"),
    summary: "hosts that are numbered and receive: the whole fabric, or the hosts that send the class, by their ranks",
};

/// Documents the parameter `self_traffic`.
pub(super) const SELF_TRAFFIC: Parameter = Parameter {
    name: "self_traffic",
    kind: "true | false",
    default: Some("false"),
    summary: "whether a host may be its own destination",
};

/// The parameters of a pattern that has no others.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plain {
    /// Whether fixed points send, to themselves.
    #[serde(default)]
    pub(super) self_traffic: bool,
    /// Hosts that are numbered.
    #[serde(default)]
    pub(super) among: Among,
}

/// List of hosts with its inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Hosts `0..count`.
    All(u32),
    /// These hosts, ascending.
    Some(Vec<HostId>),
    /// These hosts in another order, and their places in it by ascending host.
    Ranked(Vec<HostId>, Vec<(HostId, u32)>),
}

impl Members {
    /// The hosts that `among` means, ascending: for draws in which the order means nothing.
    pub(super) fn new(among: Among, context: &PatternContext<'_>) -> Self {
        match among {
            Among::All => Self::All(context.graph.hosts().len() as u32),
            Among::Senders => Self::Some(context.hosts.to_vec()),
        }
    }

    /// The hosts that `among` means by their numbers: those of the fabric, or ranks of the class.
    pub(super) fn numbered(among: Among, context: &PatternContext<'_>) -> Self {
        let ranks = context.ranks;
        if among == Among::All || ranks.is_sorted() {
            return Self::new(among, context);
        }
        let mut places: Vec<_> = ranks.iter().copied().zip(0..).collect();
        places.sort_unstable();
        Self::Ranked(ranks.to_vec(), places)
    }

    /// Number of hosts.
    pub fn len(&self) -> u32 {
        match self {
            Self::All(count) => *count,
            Self::Some(hosts) | Self::Ranked(hosts, _) => hosts.len() as u32,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `position`-th host.
    pub fn host(&self, position: u32) -> HostId {
        match self {
            Self::All(_) => HostId(position),
            Self::Some(hosts) | Self::Ranked(hosts, _) => hosts[position as usize],
        }
    }

    /// Position of `host`; `None` when it is not a member.
    pub fn position(&self, host: HostId) -> Option<u32> {
        match self {
            Self::All(count) => (host.0 < *count).then_some(host.0),
            Self::Some(hosts) => hosts.binary_search(&host).ok().map(|found| found as u32),
            Self::Ranked(_, places) => {
                let found = places.binary_search_by_key(&host, |&(host, _)| host);
                found.ok().map(|found| places[found].1)
            }
        }
    }
}

/// One destination per source, or none.
#[derive(Clone, Debug)]
pub(super) struct FixedDestinations {
    /// `[host]`
    destination: Vec<Option<HostId>>,
}

impl FixedDestinations {
    /// Sends the `i`-th member to the `map(i)`-th; fixed points do not send unless `self_traffic`.
    ///
    /// # Errors
    /// When no sender of the class would send at all.
    pub(super) fn from_map(
        name: &str,
        members: &Members,
        context: &PatternContext<'_>,
        self_traffic: bool,
        map: impl Fn(u32) -> u32,
    ) -> Result<Arc<dyn Pattern>, ArgumentError> {
        let mut destination = vec![None; context.graph.hosts().len()];
        for position in 0..members.len() {
            let target = map(position);
            if target != position || self_traffic {
                destination[members.host(position).index()] = Some(members.host(target));
            }
        }
        Self::from_table(name, destination, context)
    }

    /// A table `[host]`.
    ///
    /// # Errors
    /// When no sender of the class would send at all.
    pub(super) fn from_table(
        name: &str,
        destination: Vec<Option<HostId>>,
        context: &PatternContext<'_>,
    ) -> Result<Arc<dyn Pattern>, ArgumentError> {
        if context
            .hosts
            .iter()
            .all(|host| destination[host.index()].is_none())
        {
            return Err(silent(name, context));
        }
        Ok(Arc::new(Self { destination }))
    }
}

impl Pattern for FixedDestinations {
    fn destination(&self, source: HostId, _: &mut Stream) -> Option<HostId> {
        self.destination[source.index()]
    }

    fn sends(&self, source: HostId) -> bool {
        self.destination[source.index()].is_some()
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        let all_to = |to| Share {
            part: 1.0,
            to: Receivers::One(to),
        };
        self.destination[source.index()]
            .map(all_to)
            .into_iter()
            .collect()
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

/// The error of a pattern under which nobody sends.
pub(super) fn silent(name: &str, context: &PatternContext<'_>) -> ArgumentError {
    invalid(format!(
        "under `{name}` none of the {} sending hosts has a destination other than itself",
        context.hosts.len()
    ))
}

/// Checks that `host` exists.
///
/// # Errors
/// Names the host and the range.
pub(super) fn checked(host: u32, context: &PatternContext<'_>) -> Result<HostId, ArgumentError> {
    let count = context.graph.hosts().len();
    if (host as usize) < count {
        Ok(HostId(host))
    } else {
        Err(invalid(format!(
            "host `{host}` does not exist; the fabric has hosts 0 to {}",
            count.saturating_sub(1)
        )))
    }
}
