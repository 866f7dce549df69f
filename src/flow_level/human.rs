//! The table a person sees.

use super::{Results, Spread, Summary, tables};
use std::fmt::Write;

/// Most columns of the distribution of contention; what is beyond is in `contention.csv`.
const MOST_COLUMNS: usize = 10;

/// The table of all runs.
pub fn table(results: &Results<'_>, summary: &Summary) -> String {
    let Summary {
        scenario,
        fabric,
        runs,
        ..
    } = summary;
    let seeds = match runs.count {
        1 => format!("1, seed {}", runs.first_seed),
        count => {
            let last = runs.first_seed + (count as u64 - 1);
            format!("{count}, seeds {} to {last}", runs.first_seed)
        }
    };
    let mut text = format!(
        "{}\n\n\
         fabric    {} switches, {} hosts, {} channels\n\
         routes    {}\n\
         rates     {}\n\
         runs      {seeds}\n\n",
        scenario.title,
        fabric.switches,
        fabric.hosts,
        fabric.channels,
        scenario.policy,
        scenario.solver,
    );
    values(&mut text, summary);
    distribution(&mut text, results);
    text
}

/// The numbers, with their spread where there are several runs.
fn values(text: &mut String, summary: &Summary) {
    let several = summary.runs.count > 1;
    if several {
        let _ = writeln!(text, "{:<34}{:>10}{:>10}{:>10}", "", "mean", "min", "max");
    }
    let mut line = |name: &str, spread: &Spread, digits: usize| {
        // what never ends has no time
        let cell = |value: f64| {
            if value.is_finite() {
                format!("{value:>10.digits$}")
            } else {
                format!("{:>10}", "-")
            }
        };
        let rest = if several {
            cell(spread.min) + &cell(spread.max)
        } else {
            String::new()
        };
        let _ = writeln!(text, "{name:<34}{}{rest}", cell(spread.mean));
    };
    line("flows", &summary.flows, 0);
    line("links used", &summary.routes.used, 0);
    line("links of a route, mean", &summary.routes.mean, 3);
    line("links of a route, most", &summary.routes.longest, 2);
    line("contention, most [flows]", &summary.contention.max, 2);
    line(
        "contention, mean of flows [flows]",
        &summary.contention.mean,
        3,
    );
    line("rate, least [link rates]", &summary.rates.min, 4);
    line("rate, mean [link rates]", &summary.rates.mean, 4);
    line("rate, most [link rates]", &summary.rates.max, 4);
    if summary.applications.count > 1 {
        line("application rate, least", &summary.applications.min, 4);
        line("application rate, mean", &summary.applications.mean, 4);
    }
    line(
        "slowdown of the slowest flow",
        &summary.completion.slowdown_max,
        3,
    );
    if let Some(cycles) = &summary.completion.cycles {
        line("completion [cycles]", cycles, 0);
    }
    line("rounds of the solver", &summary.rounds, 1);
}

/// Parts of the channels of every set by the flows that they carry.
fn distribution(text: &mut String, results: &Results<'_>) {
    let sets = tables::histogram(results);
    let longest = sets.iter().map(Vec::len).max().unwrap_or(0);
    let columns = longest.min(MOST_COLUMNS);
    let _ = write!(text, "\n{:<18}", "channels by flows");
    for flows in 0..columns {
        let rest = if flows + 1 == columns && longest > columns {
            "+"
        } else {
            ""
        };
        let _ = write!(text, "{:>9}", format!("{flows}{rest}"));
    }
    text.push('\n');
    for (name, counts) in results.sets.names.iter().zip(&sets) {
        let all: u64 = counts.iter().sum();
        let _ = write!(text, "{name:<18}");
        for flows in 0..columns {
            let count: u64 = if flows + 1 == columns {
                counts.iter().skip(flows).sum()
            } else {
                counts.get(flows).copied().unwrap_or(0)
            };
            let cell = match count {
                0 => "-".to_owned(),
                _ => format!("{:.2e}", count as f64 / all as f64),
            };
            let cell = match count as f64 / all as f64 {
                part if part >= 0.001 => format!("{part:.4}"),
                _ => cell,
            };
            let _ = write!(text, "{cell:>9}");
        }
        text.push('\n');
    }
}
