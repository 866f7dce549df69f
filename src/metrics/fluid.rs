//! Values of a scenario at flow level, means over its runs there where nothing else is said.

use super::paths::look_up;
use super::{Entry, Of, metric};
use serde_json::Value;

/// The root of their paths.
const ROOT: &str = "fluid.";
/// The end of paths of values of the run with most.
const MOST: &str = "_of_the_longest";

/// The value at the path of a metric in a summary of runs at flow level.
pub fn value(summary: &Value, path: &str) -> Option<f64> {
    let path = path.strip_prefix(ROOT)?;
    let path = match path.strip_suffix(MOST) {
        Some(path) => format!("{path}.max"),
        None => format!("{path}.mean"),
    };
    look_up(summary, &path)
}

const fn fluid(path: &'static str, unit: &'static str, summary: &'static str) -> Entry {
    metric(path, unit, summary, Of::Fluid).entry()
}

const RATE: &str = "fraction of link rate";

pub(super) const ENTRIES: &[Entry] = &[
    fluid(
        "fluid.contention.max",
        "flows",
        "Flows over the channel that most flows share, at flow level (`virtlane flow`), mean over its runs; not in summary.json \
         of packet runs, as all of `fluid`",
    ),
    fluid(
        "fluid.contention.mean",
        "flows",
        "Flows over the worst channel of a flow, mean over the flows",
    ),
    fluid(
        "fluid.sets.NAME.contention_max",
        "flows",
        "Most flows over a channel of a set such as `down 0-1`",
    ),
    fluid(
        "fluid.routes.mean",
        "channels",
        "Channels of a route, mean over the flows",
    ),
    fluid(
        "fluid.routes.longest",
        "channels",
        "Channels of the longest route",
    ),
    fluid("fluid.rates.min", RATE, "Least rate of a flow"),
    fluid(
        "fluid.rates.mean",
        RATE,
        "Rate of a flow, mean over the flows",
    ),
    fluid("fluid.rates.max", RATE, "Largest rate of a flow"),
    fluid(
        "fluid.rates.p10",
        RATE,
        "Rate of flows which 10 % of them do not exceed",
    ),
    fluid(
        "fluid.rates.p25",
        RATE,
        "Rate of flows which 25 % of them do not exceed",
    ),
    fluid(
        "fluid.rates.p50",
        RATE,
        "Rate of flows which half of them does not exceed",
    ),
    fluid(
        "fluid.rates.p75",
        RATE,
        "Rate of flows which 75 % of them do not exceed",
    ),
    fluid(
        "fluid.rates.p90",
        RATE,
        "Rate of flows which 90 % of them do not exceed",
    ),
    fluid(
        "fluid.applications.min",
        RATE,
        "Least rate of an application",
    ),
    fluid(
        "fluid.applications.mean",
        RATE,
        "Rate of an application, mean over the applications",
    ),
    fluid(
        "fluid.applications.max",
        RATE,
        "Largest rate of an application",
    ),
    fluid(
        "fluid.applications.p10",
        RATE,
        "Rate of applications which 10 % of them do not exceed",
    ),
    fluid(
        "fluid.applications.p25",
        RATE,
        "Rate of applications which 25 % of them do not exceed",
    ),
    fluid(
        "fluid.applications.p50",
        RATE,
        "Rate of applications which half of them does not exceed",
    ),
    fluid(
        "fluid.applications.p75",
        RATE,
        "Rate of applications which 75 % of them do not exceed",
    ),
    fluid(
        "fluid.applications.p90",
        RATE,
        "Rate of applications which 90 % of them do not exceed",
    ),
    fluid(
        "fluid.completion.slowdown_max",
        "times of a flow at link rate",
        "Time of the slowest flow over its time at link rate; with flows of one size, when all is sent",
    ),
    fluid(
        "fluid.completion.cycles",
        "cycles",
        "When the last flow has sent all",
    ),
    fluid("fluid.rounds", "rounds", "Rounds of the solver"),
    fluid(
        "fluid.rounds_of_the_longest",
        "rounds",
        "Rounds of the solver in the run that has most of them",
    ),
];
