//! `virtlane compare`: two runs or studies side by side.

use crate::cli::args::Compare;
use crate::error::Error;
use crate::metrics;
use crate::report::table::align;
use crate::study::compare::{Difference, Results, compare};
use std::process::ExitCode;

/// Metrics without `--metric`.
const USUAL: [&str; 4] = [
    "load.accepted",
    "latency.packet.mean",
    "latency.packet.p99",
    "channels.utilisation.max",
];

/// Reads both and prints the differences.
///
/// # Errors
/// When a metric is unknown, a directory cannot be read, or they have nothing in common.
pub(in crate::cli) fn execute(arguments: &Compare) -> Result<ExitCode, Error> {
    for metric in &arguments.metric {
        let found = metrics::find(metric);
        let found = found.map_err(|message| Error::Usage(format!("--metric: {message}")))?;
        if !found.is_in_summary() {
            let message = format!(
                "--metric: `{metric}` is not in summary.json: only expectations can name it"
            );
            return Err(Error::Usage(message));
        }
    }
    let metrics = if arguments.metric.is_empty() {
        USUAL.map(String::from).to_vec()
    } else {
        arguments.metric.clone()
    };
    let first = Results::read(&arguments.first)?;
    let second = Results::read(&arguments.second)?;
    let found = compare(&first, &second, &metrics)?;
    crate::cli::print(&table(&first.axes, &found))?;
    Ok(ExitCode::SUCCESS)
}

fn table(axes: &[String], found: &[Difference]) -> String {
    let mut heading: Vec<String> = axes.to_vec();
    let columns = [
        "metric",
        "A",
        "B",
        "B - A",
        "+-",
        "B - A [%]",
        "pairs",
        "differs",
    ];
    heading.extend(columns.map(String::from));
    let mut rows = vec![heading];
    for difference in found {
        let mut row = difference.point.clone();
        let change = difference.difference();
        row.extend([
            difference.metric.clone(),
            shown(difference.first),
            shown(difference.second),
            shown(change),
            difference.half_width.map_or("-".into(), shown),
            percent(change, difference.first),
            difference.pairs.to_string(),
            difference.verdict.to_string(),
        ]);
        rows.push(row);
    }
    align(&rows)
        + "(means over the seeds that both have; +-: half-width of the 95 % interval of the difference, paired by \
           seed, from\nbatch means for single runs; differs: whether it leaves out zero; told of three pairs or more that \
           do not all\ndiffer by the same)\n"
}

/// Five digits that matter.
fn shown(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size => (4 - size.log10().floor() as i32).clamp(0, 9),
    };
    format!("{value:.*}", digits as usize)
}

fn percent(change: f64, of: f64) -> String {
    if of == 0.0 {
        "-".into()
    } else {
        format!("{:+.2}", change / of * 100.0)
    }
}
