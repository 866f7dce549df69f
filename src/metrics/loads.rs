//! Loads and utilisations: flits as a fraction of what links could have carried in the window.

use crate::ids::{ChannelId, HostId};
use crate::measure::RunResult;
use std::collections::BTreeSet;

/// `numerator / denominator`, 0 when there is nothing to divide by: reports never hold a NaN.
pub fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        finite(numerator / denominator)
    } else {
        0.0
    }
}

/// A number that JSON has a form for: 0 for NaN and what is infinite.
pub fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Flits of the window as a fraction of the link rate of `hosts`.
pub fn load(result: &RunResult, flits: u64, hosts: &[HostId]) -> f64 {
    let window = result.cycles.measure as f64;
    ratio(flits as f64, window * host_capacity(result, hosts))
}

/// What the links of `hosts` carry together \[flits per cycle\].
pub fn host_capacity(result: &RunResult, hosts: &[HostId]) -> f64 {
    let rate = |host: &HostId| 1.0 / f64::from(result.hosts[host.index()].cycles_per_flit);
    hosts.iter().map(rate).sum()
}

/// Hosts that send any class, ascending.
pub fn senders(result: &RunResult) -> Vec<HostId> {
    let hosts = result.classes.iter().flat_map(|class| &class.hosts);
    hosts
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Share of the window in which a channel carried these of its flits. The last flit of a slow channel may take longer than
/// what is left of the window; all shares of a channel together are at most 1.
pub fn utilisation(result: &RunResult, channel: ChannelId, flits: u64) -> f64 {
    let pace = u64::from(result.channels[channel.index()].cycles_per_flit);
    let all = result.records.channels.flits(channel) * pace;
    ratio((flits * pace) as f64, all.max(result.cycles.measure) as f64)
}

/// Cycles of the window in which a channel carried flits.
pub fn busy(result: &RunResult, channel: ChannelId) -> u64 {
    let pace = u64::from(result.channels[channel.index()].cycles_per_flit);
    (result.records.channels.flits(channel) * pace).min(result.cycles.measure)
}
