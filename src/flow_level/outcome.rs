//! What a run gives: the numbers of all runs, and flows and links of one.

use super::timeline::Timeline;
use crate::fluid::network::flits_per_cycle;
use crate::fluid::rates::Allocation;
use crate::fluid::routes::FlowRoutes;
use crate::fluid::routes::link_sets::LinkSets;
use crate::scenario::{FluidFlows, FluidScenario};

/// Places of a sorted list that are sampled, both ends included.
pub(super) const PLACES: usize = 101;

/// Flows and links of a run.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The flows.
    pub flows: Vec<DetailedFlow>,
    /// Names of the applications.
    pub applications: Vec<String>,
    /// Rate of every application: the least rate per weight of its flows, times the largest weight
    /// \[fraction of link rate\].
    pub application_rates: Vec<f64>,
    /// Flows over every channel.
    pub loads: Vec<u32>,
    /// What all flows send over every channel \[fraction of its rate\].
    pub used: Vec<f64>,
}

/// A flow of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailedFlow {
    /// Traffic class.
    pub class: u16,
    /// Application, by the place of its name.
    pub application: u32,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// What the solver knew it by.
    pub weight: u64,
    /// What it sends in all \[flits\].
    pub flits: Option<u64>,
    /// Channels of its route.
    pub links: u32,
    /// Flows over the channel of its route that most flows share.
    pub contention: u32,
    /// Rate \[flits per cycle\].
    pub rate: f64,
    /// Rate \[fraction of the rate of its host's link\].
    pub fraction: f64,
    /// Time to send all \[cycles\]; `None` without a size, or at no rate.
    pub completion: Option<f64>,
    /// Phase of its application.
    pub phase: Option<u32>,
    /// Cycle from which it sends; `None`: its phase never opens.
    pub start: Option<f64>,
}

impl DetailedFlow {
    /// Cycle in which all of it is sent; `None`: never.
    fn end(&self) -> Option<f64> {
        Some(self.start? + self.completion?)
    }
}

/// What a flow gets.
struct Sent {
    /// Rate while it sends \[flits per cycle\].
    rate: f64,
    /// The same, mean over the whole run.
    load: f64,
    start: Option<f64>,
    completion: Option<f64>,
    contention: u32,
}

impl Detail {
    /// Of flows that all send at once, for ever.
    pub(super) fn at_once(
        scenario: &FluidScenario,
        all: FluidFlows,
        routes: &FlowRoutes,
        rates: &Allocation,
    ) -> Self {
        let loads = routes.loads(scenario.layout.graph.channels().len());
        let sizes: Vec<Option<u64>> = all.flows.iter().map(|flow| flow.flits).collect();
        let shared = loads.clone();
        let sent = |number: usize| {
            let rate = flits_per_cycle(rates.rates[number]);
            let time = |flits: u64| (rate > 0.0).then(|| flits as f64 / rate);
            let loads = routes.of(number).iter();
            let loads = loads.map(|&channel| shared[channel as usize]);
            Sent {
                rate,
                load: rate,
                start: Some(0.0),
                completion: sizes[number].and_then(time),
                contention: loads.max().unwrap_or(0),
            }
        };
        Self::of(scenario, all, (routes, loads), sent)
    }

    /// Of flows that start one after the other; rates are means from start to end, loads of channels means up to the last end.
    pub(super) fn in_time(
        scenario: &FluidScenario,
        all: FluidFlows,
        routes: &FlowRoutes,
        told: &Timeline,
    ) -> Self {
        let sizes: Vec<Option<u64>> = all.flows.iter().map(|flow| flow.flits).collect();
        let last = told.ends.iter().flatten().copied().fold(0.0, f64::max);
        let sent = |number: usize| {
            let start = told.starts[number];
            let completion = told.ends[number].zip(start).map(|(end, start)| end - start);
            let through = sizes[number].zip(completion);
            let over = |cycles: f64| through.map_or(0.0, |(flits, _)| flits as f64 / cycles);
            Sent {
                rate: over(completion.unwrap_or(1.0)),
                load: over(last),
                start,
                completion,
                contention: told.contention[number],
            }
        };
        Self::of(scenario, all, (routes, told.loads.clone()), sent)
    }

    fn of(
        scenario: &FluidScenario,
        all: FluidFlows,
        (routes, loads): (&FlowRoutes, Vec<u32>),
        sent: impl Fn(usize) -> Sent,
    ) -> Self {
        let graph = &scenario.layout.graph;
        let mut used = vec![0.0; loads.len()];
        let pace = |channel: usize| f64::from(graph.channels()[channel].timing.cycles_per_flit);
        let flows = all.flows.iter().enumerate().map(|(number, flow)| {
            let route = routes.of(number);
            let sent = sent(number);
            for &channel in route {
                used[channel as usize] += sent.load * pace(channel as usize);
            }
            DetailedFlow {
                class: flow.class,
                application: flow.application,
                source: flow.ends.source.0,
                destination: flow.ends.destination.0,
                weight: flow.weight,
                flits: flow.flits,
                links: route.len() as u32,
                contention: sent.contention,
                rate: sent.rate,
                fraction: sent.rate * pace(graph.host_channel(flow.ends.source).index()),
                completion: sent.completion,
                phase: flow.phase,
                start: sent.start,
            }
        });
        let flows: Vec<DetailedFlow> = flows.collect();
        Self {
            application_rates: application_rates(&flows, all.applications.len()),
            applications: all.applications,
            flows,
            loads,
            used,
        }
    }
}

/// Rates of applications by their numbers.
fn application_rates(flows: &[DetailedFlow], applications: usize) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; applications];
    let mut largest = vec![0; applications];
    for flow in flows {
        let application = flow.application as usize;
        least[application] = f64::min(least[application], flow.fraction / flow.weight as f64);
        largest[application] = u64::max(largest[application], flow.weight);
    }
    let rates = least.iter().zip(&largest);
    rates
        .map(|(least, largest)| least * *largest as f64)
        .collect()
}

/// The numbers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// Flows.
    pub flows: usize,
    /// Channels that some flow takes.
    pub links_used: usize,
    /// Channels of a route, mean over the flows.
    pub links_mean: f64,
    /// Channels of the longest route.
    pub links_max: u32,
    /// Flows over the channel that most flows share.
    pub contention_max: u32,
    /// The same for the channels of a flow, mean over the flows.
    pub contention_mean: f64,
    /// Least rate of a flow \[fraction of link rate\].
    pub rate_min: f64,
    /// Mean rate of a flow, likewise.
    pub rate_mean: f64,
    /// Largest rate of a flow, likewise.
    pub rate_max: f64,
    /// Mean rate of an application, likewise.
    pub application_rate_mean: f64,
    /// Least rate of an application, likewise.
    pub application_rate_min: f64,
    /// Rounds of the solver.
    pub rounds: usize,
    /// Time of the slowest flow over its time at the rate of its link; infinite where one has no rate.
    pub slowdown_max: f64,
    /// When the last flow has sent all \[cycles\]; `None` where one has no size or no rate.
    pub completion: Option<f64>,
    /// Channels by how many flows they carry, `[set][flows]`.
    pub histogram: Vec<Vec<u64>>,
    /// Rates of flows, sorted and sampled at 101 places, both ends included.
    pub sorted_rates: Vec<f64>,
    /// Rates of applications, likewise.
    pub sorted_application_rates: Vec<f64>,
}

impl Outcome {
    /// The numbers of a run with these flows and links.
    pub(super) fn new(
        scenario: &FluidScenario,
        sets: &LinkSets,
        seed: u64,
        detail: &Detail,
        rounds: usize,
    ) -> Self {
        let flows = &detail.flows;
        let mean = |of: fn(&DetailedFlow) -> f64| {
            flows.iter().map(of).sum::<f64>() / flows.len().max(1) as f64
        };
        let mut rates: Vec<f64> = flows.iter().map(|flow| flow.fraction).collect();
        rates.sort_unstable_by(f64::total_cmp);
        let mut applications = detail.application_rates.clone();
        applications.sort_unstable_by(f64::total_cmp);
        let mut histogram = vec![Vec::new(); sets.names.len()];
        for channel in 0..scenario.layout.graph.channels().len() {
            let of_set = &mut histogram[usize::from(sets.of_channel[channel])];
            let load = detail.loads[channel] as usize;
            if of_set.len() <= load {
                of_set.resize(load + 1, 0);
            }
            of_set[load] += 1;
        }
        let times: Option<Vec<f64>> = flows.iter().map(DetailedFlow::end).collect();
        let latest = |times: Vec<f64>| times.into_iter().reduce(f64::max);
        let [rate_min, rate_max] =
            [rates.first(), rates.last()].map(|rate| rate.copied().unwrap_or(0.0));
        Self {
            seed,
            flows: flows.len(),
            links_used: detail.loads.iter().filter(|load| **load > 0).count(),
            links_mean: mean(|flow| f64::from(flow.links)),
            links_max: flows.iter().map(|flow| flow.links).max().unwrap_or(0),
            contention_max: flows.iter().map(|flow| flow.contention).max().unwrap_or(0),
            contention_mean: mean(|flow| f64::from(flow.contention)),
            rate_min,
            rate_mean: mean(|flow| flow.fraction),
            rate_max,
            application_rate_mean: applications.iter().sum::<f64>()
                / applications.len().max(1) as f64,
            application_rate_min: applications.first().copied().unwrap_or(0.0),
            rounds,
            slowdown_max: 1.0 / rate_min,
            completion: times.and_then(latest),
            histogram,
            sorted_rates: sampled(&rates),
            sorted_application_rates: sampled(&applications),
        }
    }
}

/// A sorted list at [`PLACES`] places, its numbers mapped linearly; empty of an empty list.
fn sampled(sorted: &[f64]) -> Vec<f64> {
    let Some(last) = sorted.len().checked_sub(1) else {
        return Vec::new();
    };
    let at = |place: usize| {
        let exact = place as f64 / (PLACES - 1) as f64 * last as f64;
        let below = exact.floor() as usize;
        let above = (below + 1).min(last);
        let part = exact - below as f64;
        // of equal numbers exactly that one
        sorted[below] + (sorted[above] - sorted[below]) * part
    };
    (0..PLACES).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sampled_linearly() {
        let places = sampled(&[0.0, 1.0, 3.0]);
        assert_eq!(places.len(), PLACES);
        let [first, quarter, half, last] = [0, 25, 50, 100].map(|place| places[place]);
        assert!((first, last) == (0.0, 3.0) && (half - 1.0).abs() < 1e-12);
        assert!((quarter - 0.5).abs() < 1e-12);
        assert!(sampled(&[]).is_empty());
        assert!(
            sampled(&[0.25])
                .iter()
                .all(|rate| (rate - 0.25).abs() < 1e-12)
        );
    }

    #[test]
    fn an_application_is_as_fast_as_its_slowest_flow() {
        let flow = |application, weight, fraction| DetailedFlow {
            class: 0,
            application,
            source: 0,
            destination: 1,
            weight,
            flits: None,
            links: 2,
            contention: 1,
            rate: fraction,
            fraction,
            completion: None,
            phase: None,
            start: Some(0.0),
        };
        let flows = [flow(0, 1, 0.5), flow(0, 2, 0.4), flow(1, 3, 0.25)];
        let rates = application_rates(&flows, 2);
        assert!((rates[0] - 0.4).abs() < 1e-12 && (rates[1] - 0.25).abs() < 1e-12);
        // the slowest per weight is not the one with the largest weight
        for flows in [[(4, 0.8), (1, 0.1)], [(1, 0.1), (4, 0.8)]] {
            let flows = flows.map(|(weight, fraction)| flow(0, weight, fraction));
            assert!((application_rates(&flows, 1)[0] - 0.4).abs() < 1e-12);
        }
    }
}
