//! Section `phases`, and the phases that find their own length.

use super::values::{Read, automatic, fraction, time};
use crate::plan::{self, Plan, Precision, Until};
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Clock, Time};

/// Shortest automatic drain \[cycles\].
const SHORTEST_DRAIN: u64 = 10_000;

section! {
    /// Phases of a run.
    Phases = "phases" in "phases" {
        /// Simulated before measurement; Auto = until the packets present are stationary, see section auto_warmup
        warmup: Warmup = warmup, "time | Auto(at_most: time)";
        /// Packets created in it are tagged and measured; Auto = until precise enough, see section auto_measure;
        /// Messages = until all are delivered; Flows = until all with a size are complete
        measure: Measure = measure, "time, at least 1 cycle | Auto(at_most: time, ...) | Messages(at_most: time) | Flows(at_most: time)";
        /// Most time to wait for tagged packets afterwards; Auto = as long as warm-up and measurement, at least 10000 cycles,
        /// and 16 hops of the slowest channel
        drain: Option<At<Time>> = automatic, "Auto | time" or "Auto";
        /// Least time between two looks for packets that can never move again (a deadlock); twice the longest round trip and
        /// packet time of the fabric, where that is more
        watchdog: At<Time> = time, "time, at least 1 cycle" or "\"10000 cycles\"";
    }
}

section! {
    /// A warm-up that ends when MSER-5 finds the packets present stationary.
    AutoWarmup = "auto_warmup" in "phases.warmup: Auto(...)" {
        /// Longest warm-up; the measurement starts then in any case, and the summary says so
        at_most: At<Time> = time, "time";
    }
}

section! {
    /// A measurement that ends when mean packet latency and accepted load are precise enough, at two looks in a row.
    AutoMeasure = "auto_measure" in "phases.measure: Auto(...)" {
        /// Longest measurement
        at_most: At<Time> = time, "time, at least 1 cycle";
        /// Level of the confidence intervals (batch means)
        confidence: f64 = fraction, "number between 0 and 1" or "0.95";
        /// Half-width of the intervals, as a fraction of the mean, that is narrow enough
        half_width: f64 = fraction, "number between 0 and 1" or "0.02";
        /// The run is interrupted after this time; only then does a result depend on the machine
        wall_time: Option<Time> = wall_time, "None | time on the clock" or None;
    }
}

section! {
    /// A measurement that ends when every message is delivered, at most 256 cycles after it.
    UntilMessages = "until_messages" in "phases.measure: Messages(...)" {
        /// Longest measurement; when it comes first, the verdict is incomplete
        at_most: At<Time> = time, "time, at least 1 cycle";
    }
}

section! {
    /// A measurement that ends when every flow with a size is complete, at most 256 cycles after it.
    UntilFlows = "until_flows" in "phases.measure: Flows(...)" {
        /// Longest measurement; when it comes first, the verdict is incomplete
        at_most: At<Time> = time, "time, at least 1 cycle";
    }
}

/// Length of the warm-up.
#[derive(Clone, Debug, PartialEq)]
pub enum Warmup {
    /// As long as this.
    Time(At<Time>),
    /// Its end is found in the run.
    Auto(AutoWarmup),
}

/// Length of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// As long as this.
    Time(At<Time>),
    /// Until the results are precise.
    Auto(AutoMeasure),
    /// Until the messages are delivered.
    Messages(UntilMessages),
    /// Until the flows with a size are complete.
    Flows(UntilFlows),
}

fn warmup(item: &Item<'_>) -> Read<Warmup> {
    match item.variant() {
        Some(("Auto", arguments)) => {
            let arguments = bounded(item, "Auto", arguments)?;
            AutoWarmup::read(&arguments).map(Warmup::Auto)
        }
        _ => Ok(Warmup::Time(item.at(time(item)?))),
    }
}

fn measure(item: &Item<'_>) -> Read<Measure> {
    match item.variant() {
        Some(("Auto", arguments)) => {
            let arguments = bounded(item, "Auto", arguments)?;
            AutoMeasure::read(&arguments).map(Measure::Auto)
        }
        Some(("Messages", arguments)) => {
            let arguments = bounded(item, "Messages", arguments)?;
            UntilMessages::read(&arguments).map(Measure::Messages)
        }
        Some(("Flows", arguments)) => {
            let arguments = bounded(item, "Flows", arguments)?;
            UntilFlows::read(&arguments).map(Measure::Flows)
        }
        _ => Ok(Measure::Time(item.at(time(item)?))),
    }
}

/// The arguments of a phase that finds its own length: there is no end without a bound.
fn bounded<'a>(item: &Item<'a>, name: &str, arguments: Option<Item<'a>>) -> Read<Item<'a>> {
    arguments.ok_or_else(|| {
        let example = format!("{name}(at_most: \"1000000 cycles\")");
        item.mistake(format!("`{name}` needs a bound, such as `{example}`"))
    })
}

fn wall_time(item: &Item<'_>) -> Read<Time> {
    match time(item)? {
        Time::Cycles(_) => Err(item.unexpected("a time on the clock, such as \"600 s\"")),
        time @ Time::Picoseconds(_) => Ok(time),
    }
}

impl Phases {
    /// What the end of the measurement waits for, and its bound.
    pub(super) fn until(&self) -> Option<(Until, &At<Time>)> {
        match &self.measure {
            Measure::Messages(until) => Some((Until::Messages, &until.at_most)),
            Measure::Flows(until) => Some((Until::Flows, &until.at_most)),
            Measure::Time(_) | Measure::Auto(_) => None,
        }
    }

    /// The phases in cycles.
    pub(in crate::scenario) fn plan(&self, clock: Clock) -> Result<plan::Phases, Mistake> {
        let (warmup, find_warmup) = match &self.warmup {
            Warmup::Time(time) => (time, false),
            Warmup::Auto(auto) => (&auto.at_most, true),
        };
        let (measure, auto) = match &self.measure {
            Measure::Time(time) => (time, None),
            Measure::Auto(auto) => (&auto.at_most, Some(auto)),
            Measure::Messages(until) => (&until.at_most, None),
            Measure::Flows(until) => (&until.at_most, None),
        };
        let warmup = cycles(warmup, clock, 0, LONGEST_PHASE)?;
        let measure = cycles(measure, clock, 1, LONGEST_PHASE)?;
        Ok(plan::Phases {
            warmup,
            find_warmup,
            measure,
            precision: auto.map(|auto| Precision {
                confidence: auto.confidence,
                half_width: auto.half_width,
            }),
            until: self.until().map(|(until, _)| until),
            wall_seconds: auto.and_then(|auto| auto.wall_time?.seconds()),
            drain_limit: match &self.drain {
                Some(time) => cycles(time, clock, 0, LONGEST_PHASE)?,
                None => (warmup + measure).max(SHORTEST_DRAIN),
            },
            watchdog: cycles(&self.watchdog, clock, 1, LONGEST_PHASE)?,
        })
    }

    /// The section with the values of the plan.
    pub(super) fn print(printer: &mut Printer, plan: &Plan) {
        let phases = &plan.phases;
        if phases.find_warmup {
            let bound = phases.warmup;
            printer.key("warmup", format_args!("Auto(at_most: \"{bound} cycles\")"));
        } else {
            printer.cycles("warmup", phases.warmup);
        }
        match phases.precision {
            Some(precision) => printer.block("measure: Auto(", "),", |printer| {
                printer.cycles("at_most", phases.measure);
                printer.key("confidence", precision.confidence);
                printer.key("half_width", precision.half_width);
                let seconds = phases.wall_seconds;
                printer.or_none(
                    "wall_time",
                    seconds.map(|seconds| format!("\"{seconds} s\"")),
                );
            }),
            None => match phases.until {
                Some(until) => {
                    let bound = phases.measure;
                    printer.key(
                        "measure",
                        format_args!("{until:?}(at_most: \"{bound} cycles\")"),
                    );
                }
                None => printer.cycles("measure", phases.measure),
            },
        }
        printer.cycles("drain", phases.drain_limit);
        printer.cycles("watchdog", phases.watchdog);
    }
}
