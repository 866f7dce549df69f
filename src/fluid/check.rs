//! Checks of rates against the definitions, without tolerance.
//!
//! A link counts as full when less than one unit for each unit of the weight on it is left: that much may be lost by
//! rounding (see [`network`](super::network)). Normalised rates are rates per weight, rounded down.

use super::network::Network;
use super::rates::Allocation;
use std::fmt::{self, Display, Formatter};

/// Why rates are not what they should be; flows and links by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfair {
    /// The flows of a link send more than its capacity.
    Overloaded(u32),
    /// A flow could send more without harm to one that has no more than it.
    NoBottleneck(u32),
    /// An application could, with all its flows.
    NoBottleneckOf(u32),
    /// Flows of an application differ in their normalised rates; one of them.
    Unequal(u32),
    /// A flow has less than what its most loaded link guarantees.
    BelowGuarantee(u32),
}

impl Display for Unfair {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded(link) => write!(f, "link {link} is overloaded"),
            Self::NoBottleneck(flow) => write!(f, "flow {flow} has no bottleneck"),
            Self::NoBottleneckOf(application) => {
                write!(f, "application {application} has no bottleneck")
            }
            Self::Unequal(flow) => {
                write!(f, "flow {flow} differs from others of its application")
            }
            Self::BelowGuarantee(flow) => write!(f, "flow {flow} is below its guarantee"),
        }
    }
}

/// No link is overloaded. Cost: O(links of all routes), as of all checks but where another is told.
///
/// # Errors
/// The first overloaded link.
pub fn feasible(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    let left = network.left(&rates.rates);
    let overloaded = left.iter().position(Option::is_none);
    overloaded.map_or(Ok(()), |link| Err(Unfair::Overloaded(link as u32)))
}

/// Weighted max-min fair: every flow has a full link on which no other has more per weight.
///
/// # Errors
/// The first overloaded link or flow without a bottleneck.
pub fn max_min(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    feasible(network, rates)?;
    let bottlenecks = Bottlenecks::new(network, rates);
    for flow in 0..network.flows().len() {
        if !bottlenecks.has(flow) {
            return Err(Unfair::NoBottleneck(flow as u32));
        }
    }
    Ok(())
}

/// Max-min fair over applications: all flows of one have the same normalised rate, and one of them has a full link on
/// which no other has more per weight.
///
/// # Errors
/// The first thing that is not so.
pub fn application_max_min(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    feasible(network, rates)?;
    let bottlenecks = Bottlenecks::new(network, rates);
    let mut levels = vec![None; network.applications()];
    let mut held = vec![false; network.applications()];
    for (number, flow) in network.flows().iter().enumerate() {
        let level = bottlenecks.normalised[number];
        let application = flow.application as usize;
        let exact = level * u128::from(flow.weight) == rates.rates[number];
        if !exact || *levels[application].get_or_insert(level) != level {
            return Err(Unfair::Unequal(number as u32));
        }
        held[application] |= bottlenecks.has(number);
    }
    let free = levels.iter().zip(&held);
    let free = free
        .into_iter()
        .position(|(level, held)| level.is_some() && !held);
    free.map_or(Ok(()), |application| {
        Err(Unfair::NoBottleneckOf(application as u32))
    })
}

/// Every flow has what its most loaded link guarantees: its part of the weight there.
///
/// # Errors
/// The first overloaded link or flow below its guarantee.
pub fn guaranteed(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    feasible(network, rates)?;
    for (number, flow) in network.flows().iter().enumerate() {
        let guarantee = network.least_share(number) * u128::from(flow.weight);
        if rates.rates[number] < guarantee {
            return Err(Unfair::BelowGuarantee(number as u32));
        }
    }
    Ok(())
}

/// As [`guaranteed`], and no flow can get more without harm to another: it has a link with nothing left.
///
/// # Errors
/// The first thing that is not so.
pub fn maximal(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    guaranteed(network, rates)?;
    let left = network.left(&rates.rates);
    let is_held = |flow: &usize| {
        let mut links = network.route(*flow).iter();
        links.any(|&link| left[link as usize] == Some(0))
    };
    let free = (0..network.flows().len()).find(|flow| !is_held(flow));
    free.map_or(Ok(()), |flow| Err(Unfair::NoBottleneck(flow as u32)))
}

/// The same normalised rate for all, and some link is full.
///
/// # Errors
/// The first thing that is not so.
pub fn uniform(network: &Network, rates: &Allocation) -> Result<(), Unfair> {
    feasible(network, rates)?;
    let Bottlenecks {
        normalised, full, ..
    } = Bottlenecks::new(network, rates);
    let other = normalised.iter().position(|level| *level != normalised[0]);
    if let Some(flow) = other {
        return Err(Unfair::Unequal(flow as u32));
    }
    let is_used = |link: &usize| !network.users(*link).is_empty();
    let held = (0..full.len()).filter(is_used).any(|link| full[link]);
    if held || network.flows().is_empty() {
        Ok(())
    } else {
        Err(Unfair::NoBottleneck(0))
    }
}

/// What holds flows.
struct Bottlenecks<'a> {
    network: &'a Network,
    /// Rate per weight, `[flow]`.
    normalised: Vec<u128>,
    /// Whether nothing to speak of is left, `[link]`.
    full: Vec<bool>,
    /// Most that a flow has per weight, `[link]`.
    most: Vec<u128>,
}

impl<'a> Bottlenecks<'a> {
    /// Those of rates that are feasible.
    fn new(network: &'a Network, rates: &Allocation) -> Self {
        let flows = network.flows().iter().zip(&rates.rates);
        let normalised: Vec<u128> = flows
            .map(|(flow, rate)| rate / u128::from(flow.weight))
            .collect();
        let left = network.left(&rates.rates);
        let full =
            (0..left.len()).map(|link| left[link].is_some_and(|left| left < network.total(link)));
        let most = (0..left.len()).map(|link| {
            let users = network.users(link).iter();
            users
                .map(|&flow| normalised[flow as usize])
                .max()
                .unwrap_or(0)
        });
        Self {
            network,
            full: full.collect(),
            most: most.collect(),
            normalised,
        }
    }

    /// Whether a flow has a full link on which no other has more per weight.
    fn has(&self, flow: usize) -> bool {
        let mut links = self.network.route(flow).iter().map(|&link| link as usize);
        links.any(|link| self.full[link] && self.most[link] == self.normalised[flow])
    }
}
