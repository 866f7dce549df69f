//! Patterns that draw among a few distances in host numbers: `Asymmetric`, `Diagonal`, `Taper64`.
//!
//! With N hosts, source i:
//! * asymmetric: `i mod N/2` or that plus N/2, each with probability 1/2;
//! * diagonal: i with probability 2/3, i+1 mod N with 1/3;
//! * taper64: with probability 1/2 one of i + 8a + b mod 64, a and b out of {-1, 0, 1} alike, else any host alike.
//!
//! A host is its own destination as often as this says; with `self_traffic: false` what is drawn is drawn anew
//! until it is another host.
//!
//! Needs: an even number of hosts (asymmetric), 64 hosts (taper64).
//! Cost: at most a few draws per packet; O(1) memory beside the members.
//!
//! References: [`BOOKSIM`]

use super::members::{AMONG, Among, Members, silent};
use crate::ids::HostId;
use crate::references::BOOKSIM;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use crate::traffic::{BuildPattern, Pattern, PatternContext, Receivers, Share, invalid};
use serde::Deserialize;
use std::sync::Arc;

const SELF_TRAFFIC: Parameter = Parameter {
    name: "self_traffic",
    kind: "true | false",
    default: Some("true"),
    summary: "as defined; false: a destination that is the source is drawn anew",
};

/// Registers `Asymmetric`.
pub(super) const ASYMMETRIC: Entry<BuildPattern> = Entry {
    name: "Asymmetric",
    aliases: &[],
    summary: "half of the packets to the host itself, half to the one N/2 further",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["every receiver gets as much as every sender sends"],
    references: &[BOOKSIM],
    build: |arguments, context| {
        build("Asymmetric", arguments, context, |count| {
            if count % 2 == 1 {
                return Err(invalid(format!(
                    "`Asymmetric` needs an even number of hosts; here are {count}"
                )));
            }
            Ok((vec![0, count / 2], false))
        })
    },
};

/// Registers `Diagonal`.
pub(super) const DIAGONAL: Entry<BuildPattern> = Entry {
    name: "Diagonal",
    aliases: &[],
    summary: "two thirds of the packets to the host itself, one third to the next host",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["every receiver gets as much as every sender sends"],
    references: &[BOOKSIM],
    build: |arguments, context| {
        build("Diagonal", arguments, context, |count| {
            Ok((vec![0, 0, 1 % count], false))
        })
    },
};

/// Registers `Taper64`.
pub(super) const TAPER64: Entry<BuildPattern> = Entry {
    name: "Taper64",
    aliases: &[],
    summary: "64 hosts as an 8 x 8 grid: half of the packets to the 3 x 3 around the source, half anywhere",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["every receiver gets as much as every sender sends"],
    references: &[BOOKSIM],
    build: |arguments, context| {
        build("Taper64", arguments, context, |count| {
            if count != 64 {
                return Err(invalid(format!(
                    "`Taper64` is defined for 64 hosts; here are {count}"
                )));
            }
            let near = [55, 56, 57, 63, 0, 1, 7, 8, 9];
            Ok((near.to_vec(), true))
        })
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    #[serde(default = "yes")]
    self_traffic: bool,
    #[serde(default)]
    among: Among,
}

const fn yes() -> bool {
    true
}

#[derive(Debug)]
struct Offsets {
    members: Members,
    /// Distances below the number of members, drawn alike; those that repeat are likelier.
    near: Vec<u32>,
    /// Those that are kept, with how often they are listed.
    distinct: Vec<(u32, u32)>,
    /// Half of the packets go to any member instead.
    spread: bool,
    self_traffic: bool,
}

impl Offsets {
    /// The member at a distance from another one.
    fn at(&self, position: u32, offset: u32) -> HostId {
        self.members.host((position + offset) % self.members.len())
    }
}

impl Pattern for Offsets {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        if !self.sends(source) {
            return None;
        }
        let position = self.members.position(source)?;
        loop {
            let offset = if self.spread && below(rng, 2) == 1 {
                below(rng, self.members.len())
            } else {
                self.near[below(rng, self.near.len() as u32) as usize]
            };
            if offset != 0 || self.self_traffic {
                return Some(self.at(position, offset));
            }
        }
    }

    fn sends(&self, source: HostId) -> bool {
        self.members.position(source).is_some() && !self.distinct.is_empty()
    }

    fn shares(&self, source: HostId) -> Vec<Share<'_>> {
        let position = self.members.position(source);
        let Some(position) = position.filter(|_| self.sends(source)) else {
            return Vec::new();
        };
        let (near, spread) = if self.spread { (0.5, 0.5) } else { (1.0, 0.0) };
        let count = f64::from(self.members.len());
        let listed: u32 = self.distinct.iter().map(|(_, times)| times).sum();
        let near_kept = near * f64::from(listed) / self.near.len() as f64;
        let (to, spread_kept) = if self.self_traffic {
            (Receivers::Each(&self.members), spread)
        } else {
            let part = spread * (count - 1.0) / count;
            (Receivers::Others(&self.members), part)
        };
        let all = near_kept + spread_kept;
        let one = |&(offset, times): &(u32, u32)| Share {
            part: near_kept / all * f64::from(times) / f64::from(listed),
            to: Receivers::One(self.at(position, offset)),
        };
        let mut shares: Vec<Share<'_>> = self.distinct.iter().map(one).collect();
        if self.spread {
            let part = spread_kept / all;
            shares.push(Share { part, to });
        }
        shares
    }

    fn is_fixed(&self) -> bool {
        !self.spread && self.distinct.len() == 1
    }
}

/// The pattern whose distances, and whether half of the packets go anywhere, `distances` gives for a number of hosts.
fn build(
    name: &str,
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
    distances: fn(u32) -> Result<(Vec<u32>, bool), ArgumentError>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Parameters {
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::numbered(among, context);
    if members.is_empty() {
        return Err(silent(name, context));
    }
    let (near, spread) = distances(members.len())?;
    let mut distinct: Vec<(u32, u32)> = Vec::new();
    for &offset in near.iter().filter(|&&near| self_traffic || near != 0) {
        match distinct.iter_mut().find(|(known, _)| *known == offset) {
            Some((_, times)) => *times += 1,
            None => distinct.push((offset, 1)),
        }
    }
    let pattern = Offsets {
        members,
        near,
        distinct,
        spread,
        self_traffic,
    };
    if !context.hosts.iter().any(|&host| pattern.sends(host)) {
        return Err(silent(name, context));
    }
    Ok(Arc::new(pattern))
}
