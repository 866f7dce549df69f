//! The table a person sees at the end of a run.

use super::RunResult;
use super::result::StageCost;
use super::summary::{ClassSummary, LatencyPair, SlowestFlow, Summary, summarize};
use super::tables::service_levels;
use crate::measure::LatencySummary;
use crate::metrics::mean_hops;
use crate::metrics::shown::{Line, lines};
use crate::units::{cycles_of_a_flit, time};
use std::fmt::Write;
use std::path::Path;

/// Cells of the latency columns.
const LATENCY_CELLS: usize = 8;

/// Jobs that have a row.
const MOST_JOBS: usize = 16;

/// The table, without the place of the results: it can be shown before they are written.
pub fn human_table(result: &RunResult) -> String {
    let summary = summarize(result);
    let mut text = heading(result, &summary);
    text += &jobs(&summary);
    text += &classes(result, &summary);
    text += &verdicts(&summary);
    text += &footer(&summary);
    if !summary.stages.is_empty() {
        text += &stages(&summary.stages);
    }
    text
}

fn heading(result: &RunResult, summary: &Summary) -> String {
    let Summary {
        fabric, routing, ..
    } = summary;
    let cycles = summary.run.cycles;
    format!(
        "{}\n\n\
         fabric    {}, {}, {}, diameter {}\n\
         routing   {}: {}, {}, {}\n\
         run       seed {}, {}, {}\n\
         cycles    {} warm-up, {} measured, {} drain, {} in all\n{}\
         verdict   {}: {}\n{}\n",
        result.title,
        count(fabric.switches as u64, "switch", "switches"),
        count(fabric.hosts as u64, "host", "hosts"),
        count(fabric.channels as u64, "channel", "channels"),
        fabric.diameter,
        routing.engine,
        if routing.minimal {
            "minimal paths"
        } else {
            "detours"
        },
        count(u64::from(routing.layers), "layer", "layers"),
        if routing.deadlock_free {
            "proved free of deadlock"
        } else {
            "not proved free of deadlock"
        },
        summary.run.seed,
        count(result.threads as u64, "thread", "threads"),
        count(result.shards as u64, "shard", "shards"),
        cycles.warmup,
        cycles.measure,
        cycles.drain,
        cycles.total,
        clock(result).map_or(String::new(), |told| format!("clock     {told}\n")),
        result.verdict,
        result.reason,
        result
            .length
            .as_ref()
            .map_or(String::new(), |length| format!("length    {length}\n")),
    )
}

/// One row per job: of each class, and of its applications, when its messages or flows with a size were delivered.
fn jobs(summary: &Summary) -> String {
    if summary.jobs.is_empty() {
        return String::new();
    }
    let time = |cycles: u64| time(cycles as f64 * summary.scenario.cycle_ns);
    let header = [
        "job", "of", "in all", "complete", "lost", "start", "end", "cycles", "time", "slowest",
    ];
    let mut rows = vec![row(header)];
    for job in summary.jobs.iter().take(MOST_JOBS) {
        let slowest = job.slowest.as_ref().map(|slowest| {
            let (cycles, SlowestFlow { flow, from, to, .. }) = (slowest.completion, slowest);
            format!(
                "flow {flow}, {from} to {to}: {cycles} cycles ({})",
                time(cycles)
            )
        });
        rows.push(vec![
            job.name(),
            job.of.clone(),
            job.count.to_string(),
            job.complete.to_string(),
            whole(job.lost),
            whole(job.first_start),
            whole(job.last_delivery),
            whole(job.completion),
            job.completion.map_or_else(|| "-".to_owned(), time),
            slowest.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let more = match summary.jobs.len().saturating_sub(MOST_JOBS) {
        0 => String::new(),
        more => format!("{more} more in summary.json; "),
    };
    align(&rows)
        + &format!("({more}start, end: cycle of the first start, of the last delivery)\n\n")
}

/// How long a cycle is, where that is less than a flit on any link.
fn clock(result: &RunResult) -> Option<String> {
    let paces = result
        .channels
        .iter()
        .map(|channel| channel.cycles_per_flit);
    cycles_of_a_flit(result.scenario.cycle_ns, paces.min()?)
}

/// One row per class, and one for all when there are several.
fn classes(result: &RunResult, summary: &Summary) -> String {
    let mut rows = vec![row([
        "class", "SL", "hops", "offered", "accepted", "rejected", "mean", "p50", "p99", "max",
        "mean", "p50", "p99", "max",
    ])];
    let infos = result.classes.iter().zip(&result.records.classes);
    for (class, (info, records)) in summary.classes.iter().zip(infos) {
        let levels = service_levels(&info.service_levels);
        rows.push(class_row(class, levels, mean_hops(&records.hops)));
    }
    if summary.classes.len() > 1 {
        let rejected: u64 = summary.classes.iter().map(|class| class.rejected).sum();
        let mut all = vec![
            "all".to_owned(),
            String::new(),
            decimal(summary.hops.mean, 2),
        ];
        all.extend(loads(summary.load.offered, summary.load.accepted, rejected));
        all.extend(latencies(&summary.latency));
        rows.push(all);
    }
    group_titles(&widths(&rows))
        + &align(&rows)
        + "(loads: fraction of link rate; latencies: cycles; rejected: packets)\n\n"
        + &messages(summary)
}

/// One row per class that sends messages.
fn messages(summary: &Summary) -> String {
    let header = [
        "messages",
        "in all",
        "delivered",
        "last in cycle",
        "mean",
        "p50",
        "p99",
        "max",
    ];
    let mut rows = vec![row(header)];
    for class in &summary.classes {
        if let Some(messages) = &class.messages {
            let numbers = [messages.count, messages.delivered].map(|number| number.to_string());
            let mut row = vec![class.name.clone()];
            row.extend(numbers);
            row.push(whole(messages.last_delivery));
            row.extend(latency(&messages.latency));
            rows.push(row);
        }
    }
    match rows.len() {
        1 => String::new(),
        _ => align(&rows) + "(latency: first packet made to last packet delivered, cycles)\n\n",
    }
}

fn class_row(class: &ClassSummary, mut levels: String, hops: Option<f64>) -> Vec<String> {
    if levels.is_empty() {
        levels += "VL15";
    }
    let mut row = vec![class.name.clone(), levels, decimal(hops, 2)];
    row.extend(loads(class.offered, class.accepted, class.rejected));
    row.extend(latencies(&class.latency));
    row
}

fn loads(offered: f64, accepted: f64, rejected: u64) -> [String; 3] {
    [
        format!("{offered:.4}"),
        format!("{accepted:.4}"),
        rejected.to_string(),
    ]
}

fn latencies(pair: &LatencyPair) -> Vec<String> {
    [latency(&pair.network), latency(&pair.packet)].concat()
}

fn latency(latency: &LatencySummary) -> [String; LATENCY_CELLS / 2] {
    let whole = [latency.p50, latency.p99, latency.max].map(whole);
    let [p50, p99, max] = whole;
    [decimal(latency.mean, 1), p50, p99, max]
}

/// What is told of classes beside the verdict of a run that has jobs; nothing of what is a job itself.
fn verdicts(summary: &Summary) -> String {
    let classes = summary.classes.iter();
    let told = classes.filter_map(|class| Some((class, class.verdict?)));
    let loads = told.filter(|(class, _)| summary.jobs.iter().all(|job| job.class != class.name));
    let words: Vec<String> = loads
        .map(|(class, verdict)| format!("{} {verdict}", class.name))
        .collect();
    match words.len() {
        0 => String::new(),
        _ => format!("beside    {}\n", words.join(", ")),
    }
}

/// The lines of metrics, then what the run took.
fn footer(summary: &Summary) -> String {
    let work = summary.work;
    let mut text = String::new();
    for Line { name, text: words } in lines(&summary.values) {
        let _ = writeln!(text, "{name:<9} {words}");
    }
    text + &format!(
        "speed     {} cycles/s, {} flit hops per CPU second; {:.2} s, {:.2} s CPU, {} MiB\n\
         digest    {}\n",
        scaled(work.cycles_per_second),
        scaled(work.flit_hops_per_cpu_second),
        work.wall_seconds,
        work.cpu_seconds,
        work.peak_rss_bytes.div_ceil(1 << 20),
        summary.run.digest,
    )
}

/// The line that ends the table.
pub fn results_line(directory: &Path) -> String {
    format!("results   {}\n", directory.display())
}

fn stages(stages: &[StageCost]) -> String {
    let mut rows = vec![row(["stage", "share", "ns/cycle"])];
    rows.extend(stages.iter().map(|stage| {
        vec![
            stage.name.clone(),
            format!("{:.1} %", stage.share * 100.0),
            format!("{:.1}", stage.ns_per_cycle),
        ]
    }));
    format!("\n{}", align(&rows))
}

/// The line above the class table: what groups of columns have in common.
fn group_titles(widths: &[usize]) -> String {
    let span = |columns: &[usize]| columns.iter().sum::<usize>() + 2 * (columns.len() - 1);
    let mut line = " ".repeat(span(&widths[..3]));
    let ends = 6 + LATENCY_CELLS / 2;
    for (columns, title) in [
        (3..6, " load "),
        (6..ends, " network latency "),
        (ends..6 + LATENCY_CELLS, " packet latency "),
    ] {
        let _ = write!(line, "  {title:-^width$}", width = span(&widths[columns]));
    }
    line + "\n"
}

/// Columns side by side, two blanks apart: the first flush left, the others flush right.
pub fn align(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                let _ = write!(line, "{cell:<width$}");
            } else {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Width of each column \[characters\].
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect()
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn decimal(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn whole(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Three significant digits with a decimal prefix: `12.3 M`.
pub fn scaled(value: f64) -> String {
    let (value, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, " G"),
        v if v >= 1e6 => (v / 1e6, " M"),
        v if v >= 1e3 => (v / 1e3, " k"),
        v => (v, ""),
    };
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}{prefix}")
}
