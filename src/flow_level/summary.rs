//! `summary.json` of runs at flow level, schema `virtlane-flow/1`.

use super::outcome::PLACES;
use super::{Outcome, Results};
use crate::scenario::syntax::Part;
use serde::Serialize;

/// Version of the form.
const SCHEMA: &str = "virtlane-flow/1";

/// What all runs together give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Form of this.
    pub schema: &'static str,
    /// The scenario.
    pub scenario: ScenarioSummary,
    /// The fabric.
    pub fabric: FabricSummary,
    /// The runs.
    pub runs: RunsSummary,
    /// Number of flows.
    pub flows: Spread,
    /// Routes.
    pub routes: RouteSummary,
    /// Flows that share a channel.
    pub contention: ContentionSummary,
    /// Sets of channels.
    pub sets: Vec<SetSummary>,
    /// Rates of flows \[fraction of link rate\].
    pub rates: RateSummary,
    /// Rates of applications \[fraction of link rate\].
    pub applications: ApplicationSummary,
    /// When all is sent.
    pub completion: CompletionSummary,
    /// Rounds of the solver.
    pub rounds: Spread,
}

/// A value over all runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation; 0 of one run.
    pub std: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioSummary {
    /// Title.
    pub title: String,
    /// Solver of rates.
    pub solver: String,
    /// Policy of routes.
    pub policy: String,
    /// Length of a cycle \[ns\].
    pub cycle_ns: f64,
}

/// On what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FabricSummary {
    /// Switches.
    pub switches: usize,
    /// Hosts.
    pub hosts: usize,
    /// Channels.
    pub channels: usize,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunsSummary {
    /// Runs.
    pub count: usize,
    /// Seed of the first; the others follow.
    pub first_seed: u64,
}

/// Routes of flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RouteSummary {
    /// Channels that some flow takes.
    pub used: Spread,
    /// Channels of a route, mean over the flows of a run.
    pub mean: Spread,
    /// Channels of the longest route of a run.
    pub longest: Spread,
}

/// Flows that share a channel: of the channel with most, and of the worst channel of a flow, mean over the flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContentionSummary {
    /// Most flows over a channel.
    pub max: Spread,
    /// Flows over the worst channel of a flow, mean over the flows of a run.
    pub mean: Spread,
}

/// Channels that are alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetSummary {
    /// Name.
    pub name: String,
    /// Channels.
    pub channels: usize,
    /// Most flows over one of them.
    pub contention_max: Spread,
}

/// Rates of the flows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateSummary {
    /// Smallest.
    pub min: Spread,
    /// Mean.
    pub mean: Spread,
    /// Largest.
    pub max: Spread,
    /// Those which so many percent do not exceed.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// Rates which 10, 25, 50, 75 and 90 percent of a sorted list do not exceed, between two of them by their distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    /// 10 percent.
    pub p10: Spread,
    /// 25 percent.
    pub p25: Spread,
    /// A half.
    pub p50: Spread,
    /// 75 percent.
    pub p75: Spread,
    /// 90 percent.
    pub p90: Spread,
}

/// Rates of the applications of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ApplicationSummary {
    /// How many there are in the first run.
    pub count: usize,
    /// Mean rate.
    pub mean: Spread,
    /// Smallest rate.
    pub min: Spread,
    /// Largest rate.
    pub max: Spread,
    /// Those which so many percent do not exceed.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// Times at these rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompletionSummary {
    /// When the last flow has sent all \[cycles\]; `null` where a flow has no size.
    pub cycles: Option<Spread>,
    /// Time of the slowest flow over what it takes at the rate of its link: with flows of one size, when all is sent, in
    /// times of one flow.
    pub slowdown_max: Spread,
}

impl Spread {
    /// Of some values, at least one.
    fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let std = (squares / (count - 1.0).max(1.0)).sqrt();
        let values = || values.iter().copied();
        Self {
            mean,
            std: if std.is_nan() { 0.0 } else { std },
            min: values().fold(f64::INFINITY, f64::min),
            max: values().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl Summary {
    /// Of all runs.
    pub fn new(results: &Results<'_>) -> Self {
        let (scenario, runs) = (results.scenario, &results.runs);
        let over = |of: fn(&Outcome) -> f64| Spread::of(&runs.iter().map(of).collect::<Vec<_>>());
        let graph = &scenario.layout.graph;
        let times: Option<Vec<f64>> = runs.iter().map(|run| run.completion).collect();
        let written = &scenario.scenario;
        Self {
            schema: SCHEMA,
            scenario: ScenarioSummary {
                title: written.title.clone(),
                solver: named(&written.fluid.solver),
                policy: named(&written.fluid.policy),
                cycle_ns: scenario.layout.clock.cycle_picoseconds() / 1000.0,
            },
            fabric: FabricSummary {
                switches: graph.switches().len(),
                hosts: graph.hosts().len(),
                channels: graph.channels().len(),
            },
            runs: RunsSummary {
                count: runs.len(),
                first_seed: written.seed,
            },
            flows: over(|run| run.flows as f64),
            routes: RouteSummary {
                used: over(|run| run.links_used as f64),
                mean: over(|run| run.links_mean),
                longest: over(|run| f64::from(run.links_max)),
            },
            contention: ContentionSummary {
                max: over(|run| f64::from(run.contention_max)),
                mean: over(|run| run.contention_mean),
            },
            sets: sets(results),
            rates: RateSummary {
                min: over(|run| run.rate_min),
                mean: over(|run| run.rate_mean),
                max: over(|run| run.rate_max),
                percentiles: percentiles(runs, |run| &run.sorted_rates),
            },
            applications: ApplicationSummary {
                count: results.detail.applications.len(),
                mean: over(|run| run.application_rate_mean),
                min: over(|run| run.application_rate_min),
                max: over(|run| run.sorted_application_rates[PLACES - 1]),
                percentiles: percentiles(runs, |run| &run.sorted_application_rates),
            },
            completion: CompletionSummary {
                cycles: times.map(|times| Spread::of(&times)),
                slowdown_max: over(|run| run.slowdown_max),
            },
            rounds: over(|run| run.rounds as f64),
        }
    }

    /// As a value, for claims.
    pub fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Indented, with a final line break.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        // numbers and texts only: nothing that JSON lacks
        text.unwrap_or_default() + "\n"
    }
}

/// A part with its arguments, if it has some.
fn named(part: &Part) -> String {
    let text = part.one_line();
    text.trim_end_matches("()").to_owned()
}

/// Of the sorted rates of every run.
fn percentiles(runs: &[Outcome], sorted: fn(&Outcome) -> &Vec<f64>) -> Percentiles {
    let at = |percent: usize| {
        let place = percent * (PLACES - 1) / 100;
        let rates = runs.iter().map(|run| sorted(run)[place]);
        Spread::of(&rates.collect::<Vec<_>>())
    };
    Percentiles {
        p10: at(10),
        p25: at(25),
        p50: at(50),
        p75: at(75),
        p90: at(90),
    }
}

/// Sets of channels over all runs.
fn sets(results: &Results<'_>) -> Vec<SetSummary> {
    let sets = results.sets.names.iter().enumerate();
    let of_set = |(set, name): (usize, &String)| {
        let runs = results.runs.iter().map(|run| &run.histogram[set]);
        // a list ends with the most flows that there are
        let most = runs.map(|counts| counts.len().saturating_sub(1) as f64);
        let of_channel = results.sets.of_channel.iter();
        SetSummary {
            name: name.clone(),
            channels: of_channel.filter(|of| usize::from(**of) == set).count(),
            contention_max: Spread::of(&most.collect::<Vec<_>>()),
        }
    };
    sets.map(of_set).collect()
}
