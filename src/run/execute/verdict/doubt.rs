//! Why an overload cannot be ruled out, and what would tell.
//!
//! # Algorithm
//! Only what is made whatever the fabric takes can be too much for a host or a channel: what flows send that always have a packet, and
//! the answers to it, pace themselves. So the flits that count of a host or a channel are at most those that were created of all
//! other classes.
//!
//! A load that is known in expectation is the same in any length. One that was counted comes to be what it is; where only its chance
//! may hide an overload, it is told when 2.576 standard deviations, which go with the root of the length, are less than what is
//! missing to 1.1.
//!
//! Cost: O(flows + hosts + channels).

use super::window::{FULL_CHANNEL, FULL_HOST, OVERLOAD, Window};
use crate::ids::ChannelId;
use crate::run::execute::asked::Asked;
use crate::topology::Endpoint;
use crate::units::Clock;
use std::fmt;

/// Standard normal quantile of 0.995: how far below [`OVERLOAD`] a load must be.
pub(super) const MISSED: f64 = 2.576;
/// What a length that is told is longer by: the dispersion is itself an estimate.
pub(super) const LONGER: f64 = 1.25;

/// Why an overload cannot be ruled out.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    /// In words.
    pub(super) words: String,
    /// What would tell.
    pub(super) remedy: Remedy,
}

/// What would tell whether there is an overload.
#[derive(Clone, Debug)]
pub(super) enum Remedy {
    /// A longer measurement.
    Longer,
    /// One of that length, in cycles and in time.
    Length(u64, String),
    /// None, unless the fabric is found to take less: this load does not depend on the length.
    Expected,
    /// None, since the load counted is surely at least that part of all.
    Never(f64),
    /// One in which the load comes to less than that part of all.
    Below(f64),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longer => write!(f, "a longer measurement tells"),
            Self::Length(cycles, time) => write!(f, "measure at least {cycles} cycles ({time})"),
            Self::Expected => write!(
                f,
                "a longer measurement tells only if the fabric takes less, since this is so in expectation: less than {FULL_HOST} may be \
                 steady, more than 1 is saturated"
            ),
            Self::Never(full) => write!(
                f,
                "no length tells while that is {full} or more, within what chance allows an overload"
            ),
            Self::Below(full) => write!(
                f,
                "a longer measurement tells only if that comes to less than {full}"
            ),
        }
    }
}

impl Doubt {
    /// One that a longer measurement settles.
    pub(super) fn longer(words: String) -> Self {
        let remedy = Remedy::Longer;
        Self { words, remedy }
    }
}

impl Window<'_> {
    /// Why an overload cannot be ruled out.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let asked = self.asked.as_ref();
        let counted = || {
            let hosts = asked.is_none_or(|asked| !asked.has_hosts);
            let inner = hosts || asked.is_none_or(|asked| !asked.has_inner);
            let host = hosts.then(|| self.full_host()).flatten();
            host.or_else(|| inner.then(|| self.full_channel()).flatten())
        };
        let full = asked.and_then(|asked| self.known(asked)).or_else(counted);
        let moves = || self.growth().or_else(|| self.trend()).map(Doubt::longer);
        let at_end = || {
            let words = self.asked_too_much_at_end(asked?)?;
            Some(Doubt::longer(words))
        };
        full.or_else(at_end)
            .or_else(|| self.may_lose())
            .or_else(moves)
    }

    /// A channel that is asked for all it carries in expectation.
    fn known(&self, asked: &Asked) -> Option<Doubt> {
        let remedy = Remedy::Expected;
        let words = self.asked_for_all(asked)?;
        Some(Doubt { words, remedy })
    }

    /// What would tell where a load (and its standard deviation) may be one beyond `full`; `None` where it is not.
    fn may_be_full(&self, (load, noise): (f64, f64), full: f64) -> Option<Remedy> {
        let chance = MISSED * noise;
        let is_full = load >= full;
        if !self.is_irregular() || !is_full && load + chance < OVERLOAD {
            return None;
        }
        if is_full {
            let is_sure = load - chance >= full;
            return Some(if is_sure {
                Remedy::Never(full)
            } else {
                Remedy::Below(full)
            });
        }
        let longer = LONGER * (chance / (OVERLOAD - load)).powi(2);
        let cycles = (self.cycles() as f64 * longer).ceil() as u64;
        let clock = Clock {
            flit_bytes: self.plan().flit_bytes,
            reference_rate: self.plan().reference_rate,
        };
        Some(Remedy::Length(cycles, clock.time(cycles)))
    }

    /// Flits created of classes that do not pace themselves.
    fn unpaced(&self) -> f64 {
        let classes = self.records.classes.iter().enumerate();
        let unpaced = classes.filter(|(number, _)| !self.paces_itself(*number));
        unpaced.map(|(_, class)| class.created_flits as f64).sum()
    }

    /// Whether all packets of a class are of flows that always have one, or answers to such.
    pub(super) fn paces_itself(&self, number: usize) -> bool {
        let plan = self.plan();
        let class = &plan.classes[number];
        if let Some(asked) = class.answers {
            return self.paces_itself(usize::from(asked));
        }
        let mut flows = plan.flows.iter();
        class.flows.is_some()
            && flows.all(|flow| usize::from(flow.class) != number || plan.is_backlogged(flow))
    }

    /// A host that is asked to take or send about what its link carries.
    fn full_host(&self) -> Option<Doubt> {
        let unpaced = self.unpaced();
        let load = |flits: u64, time: f64| self.load(unpaced.min(flits as f64), time);
        let sink = f64::from(self.plan().host.sink_cycles_per_flit.unwrap_or(0));
        let loads = self.graph.host_ids().flat_map(|host| {
            let channel = self.graph.host_channel(host);
            let record = &self.records.hosts[host.index()];
            let taking = self.time_of_flit(channel.reverse()).max(sink);
            let sending = self.time_of_flit(channel);
            let taken = (host, "take", load(record.destined_flits, taking));
            let sent = (host, "send", load(record.created_flits, sending));
            [taken, sent]
        });
        let (host, verb, load) =
            loads.reduce(|best, next| if next.2.0 > best.2.0 { next } else { best })?;
        let remedy = self.may_be_full(load, FULL_HOST)?;
        let name = self.graph.endpoint_name(Endpoint::Host(host));
        let (load, noise) = load;
        let words = format!("{name} is asked to {verb} {load:.3} +- {noise:.3} of what it can");
        Some(Doubt { words, remedy })
    }

    /// A channel between switches that is busy nearly all the time.
    fn full_channel(&self) -> Option<Doubt> {
        let is_inner = |channel: &ChannelId| {
            let ends = self.graph.channel(*channel);
            ends.from.switch().is_some() && ends.to.switch().is_some()
        };
        let inner = self.graph.channel_ids().filter(is_inner);
        let (channel, _) = self.busiest(inner)?;
        let flits = self
            .unpaced()
            .min(self.records.channels.flits(channel) as f64);
        let (load, noise) = self.load(flits, self.time_of_flit(channel));
        let load = load.min(1.0);
        let remedy = self.may_be_full((load, noise), FULL_CHANNEL)?;
        let name = self.channel_name(channel);
        let words = format!("channel {name} carries {load:.3} +- {noise:.3} of what it can");
        Some(Doubt { words, remedy })
    }
}
