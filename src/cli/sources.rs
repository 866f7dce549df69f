//! `virtlane sources`: what the arrival processes of a scenario make, without the fabric.

use super::args::{Format, Input};
use crate::error::Error;
use crate::ids::HostId;
use crate::measure::arrivals::{BackloggedError, Intervals, Profile, SCALES, packets};
use crate::measure::hurst::{Hurst, LEAST_COUNTS};
use crate::measure::precision::{CONFIDENCE, replications};
use crate::plan::ClassPlan;
use crate::registry::unknown;
use crate::scenario::{Parts, Resolved};
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Packets of one source in an interval, on average: enough that a count says something.
const PACKETS: f64 = 20.0;
/// Intervals without `--cycles`: twice what estimates of the Hurst parameter need.
const INTERVALS: u64 = 2 * LEAST_COUNTS as u64;
/// Fewest intervals, for two at the longest scale; most, for the memory.
const LEAST: u64 = 2 * SCALES[2];
const MOST: u64 = 1 << 28;

/// Arguments of `sources`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Packets per interval at scales 1, 10 and 100: a normalised deviation that falls by 10 for every 100 is that of Poisson \
                  (H = 0.5); long-range dependent sources keep more. Sources that are self-similar in the limit want long intervals, of \
                  a hundred packets and more."
)]
pub struct Sources {
    #[command(flatten)]
    pub input: Input,
    /// Only this class, by name or number; default: every class with an arrival process
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,
    /// Length of an interval in cycles; default: that of 20 packets of one source
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub interval: Option<u64>,
    /// Cycles to look at, in whole intervals; default: 32768 intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cycles: Option<u64>,
    /// Form of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What is told of a class.
#[derive(Debug, Serialize)]
struct Told<'a> {
    class: &'a str,
    sources: usize,
    /// Host of the one source.
    host: u32,
    interval_cycles: u64,
    intervals: usize,
    /// Fractions of the link rate.
    load_asked: f64,
    load_made: f64,
    /// Half of its confidence interval over the sources.
    load_half_width: Option<f64>,
    one_source: Profile,
    all_sources: Profile,
}

/// Counts packets of every class with a process and prints what they are like.
///
/// # Errors
/// When the scenario is wrong, has no such class, or intervals are too few.
pub(super) fn execute(arguments: &Sources) -> Result<ExitCode, Error> {
    let resolved = arguments.input.open()?.resolve(&Parts::registered())?;
    let told = chosen(arguments, &resolved)?
        .into_iter()
        .map(|number| tell(arguments, &resolved, number))
        .collect::<Result<Vec<_>, _>>()?;
    let text = match arguments.format {
        Format::Human => told.iter().map(table).collect::<Vec<_>>().join("\n"),
        Format::Json => {
            let text = serde_json::to_string_pretty(&told);
            text.map_err(|cause| Error::Fault(cause.to_string()))? + "\n"
        }
    };
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Numbers of the classes to tell of.
fn chosen(arguments: &Sources, resolved: &Resolved) -> Result<Vec<usize>, Error> {
    let classes = &resolved.plan.classes;
    let reasons: Vec<_> = classes.iter().map(without_process).collect();
    if let Some(wanted) = &arguments.class {
        let names = || classes.iter().map(|class| class.name.as_str());
        let by_number = || wanted.parse().ok().filter(|n| *n < classes.len());
        let number = names().position(|name| name == wanted).or_else(by_number);
        let number = number.ok_or_else(|| {
            let message = unknown("traffic class", wanted, names());
            Error::Usage(format!("--class: {message}"))
        })?;
        return match reasons[number] {
            None => Ok(vec![number]),
            Some(reason) => {
                let name = &classes[number].name;
                Err(Error::Usage(format!("--class: class `{name}` {reason}")))
            }
        };
    }
    for (class, reason) in classes.iter().zip(&reasons) {
        if let Some(reason) = reason {
            super::note(&format!("class `{}` {reason}", class.name));
        }
    }
    let numbers: Vec<_> = (0..classes.len())
        .filter(|&number| reasons[number].is_none())
        .collect();
    if numbers.is_empty() {
        return Err(Error::Usage(
            "no class of the scenario has an arrival process with times of its own".into(),
        ));
    }
    Ok(numbers)
}

/// Why a class has no times of its own.
fn without_process(class: &ClassPlan) -> Option<&'static str> {
    if class.messages.is_some() {
        Some("has messages and no arrival process")
    } else if class.flows.is_some() {
        Some("has flows and no arrival process of its own")
    } else if class.answers.is_some() {
        Some("has answers and no arrival process")
    } else if class.is_backlogged() {
        Some("is always backlogged: its packets are made when the fabric takes them")
    } else {
        None
    }
}

fn tell<'a>(arguments: &Sources, resolved: &'a Resolved, number: usize) -> Result<Told<'a>, Error> {
    let class = &resolved.plan.classes[number];
    let graph = &resolved.layout.graph;
    let hosts = class.hosts.iter().copied();
    let hosts: Vec<HostId> = hosts.filter(|&host| class.pattern.sends(host)).collect();
    // a class without a sender is refused when the scenario is resolved
    let one = hosts[0];
    // cycles that a host's channel takes for a packet
    let packet = |host| {
        let channel = graph.channel(graph.host_channel(host));
        class.size.mean() * f64::from(channel.timing.cycles_per_flit)
    };
    let intervals = intervals(arguments, packet(one) / class.load)?;
    let count = |host| packets(resolved.plan.seed, number, class, host, intervals);
    let (sums, made) = totals(&hosts, intervals, count)
        .map_err(|error| Error::Usage(format!("class `{}`: {error}", class.name)))?;
    let cycles = intervals.cycles as f64 * intervals.count as f64;
    let loads: Vec<f64> = made
        .iter()
        .zip(&hosts)
        .map(|(&packets, &host)| packets as f64 * packet(host) / cycles)
        .collect();
    let load = replications(&loads, CONFIDENCE);
    let of_one = count(one).map_err(|error| Error::Usage(error.to_string()))?;
    Ok(Told {
        class: &class.name,
        sources: hosts.len(),
        host: one.0,
        interval_cycles: intervals.cycles,
        intervals: intervals.count,
        load_asked: class.load,
        load_made: load.map_or(0.0, |load| load.mean),
        load_half_width: load.and_then(|load| load.half_width),
        one_source: Profile::of(&of_one),
        all_sources: Profile::of(&sums),
    })
}

/// Packets of all hosts by interval, and those of each host in all.
fn totals(
    hosts: &[HostId],
    intervals: Intervals,
    count: impl Fn(HostId) -> Result<Vec<u64>, BackloggedError> + Sync,
) -> Result<(Vec<u64>, Vec<u64>), BackloggedError> {
    let empty = || vec![0; intervals.count];
    let made: Vec<AtomicU64> = hosts.iter().map(|_| AtomicU64::new(0)).collect();
    let sums = hosts
        .par_iter()
        .zip(&made)
        .try_fold(empty, |sums, (&host, made)| {
            let counts = count(host)?;
            made.store(counts.iter().sum(), Ordering::Relaxed);
            Ok(add(sums, &counts))
        })
        .try_reduce(empty, |sums, more| Ok(add(sums, &more)))?;
    let made = made.into_iter().map(AtomicU64::into_inner).collect();
    Ok((sums, made))
}

fn add(mut sums: Vec<u64>, counts: &[u64]) -> Vec<u64> {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
    sums
}

/// The intervals of a class whose sources make a packet every `mean` cycles.
fn intervals(arguments: &Sources, mean: f64) -> Result<Intervals, Error> {
    let cycles = arguments.interval.unwrap_or((PACKETS * mean).ceil() as u64);
    let count = arguments.cycles.map_or(INTERVALS, |all| all / cycles);
    if !(LEAST..=MOST).contains(&count) {
        return Err(Error::Usage(format!(
            "--cycles: {count} intervals of {cycles} cycles, expected {LEAST} to {MOST}: change --cycles or --interval"
        )));
    }
    Ok(Intervals {
        cycles,
        count: count as usize,
    })
}

/// The class as lines for people.
fn table(told: &Told<'_>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24}{value}");
    };
    line("class", told.class.to_owned());
    line("sources", told.sources.to_string());
    line(
        "intervals",
        format!("{} of {} cycles", told.intervals, told.interval_cycles),
    );
    let half_width = told.load_half_width;
    let half_width = half_width.map_or(String::new(), |half| format!(" +- {half:.5}"));
    line(
        "load made",
        format!(
            "{:.5}{half_width} of each host's link rate, {:.5} asked",
            told.load_made, told.load_asked
        ),
    );
    let one = format!("one source (host {})", told.host);
    for (whose, profile) in [
        (&*one, &told.one_source),
        ("all sources", &told.all_sources),
    ] {
        line(whose, format!("{} packets", profile.packets));
        for at in &profile.scales {
            let deviation = at.normalised_deviation;
            let deviation = deviation.map_or("-".to_owned(), |value| format!("{value:.4}"));
            line(
                "",
                format!(
                    "scale {:>3}: {:.3} packets, normalised deviation {deviation}",
                    at.scale, at.mean
                ),
            );
        }
        line(
            "",
            format!("H by variance {}", hurst(profile.variance_time)),
        );
        line(
            "",
            format!("H by R/S      {}", hurst(profile.rescaled_range)),
        );
    }
    text
}

fn hurst(estimate: Option<Hurst>) -> String {
    estimate.map_or_else(
        || format!("not known: needs {LEAST_COUNTS} intervals whose counts vary"),
        |h| format!("{:.3} +- {:.3} (95 %)", h.value, h.half_width),
    )
}
