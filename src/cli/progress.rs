//! The progress line of a run or of many: on a terminal only, and only for what takes longer than a second.

use crate::plan::Plan;
use crate::report::table::scaled;
use crate::run::Progress;
use crate::study::execute::PARTS;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Whether standard error is a terminal that understands codes for colour and for moving the cursor.
pub(super) fn takes_codes() -> bool {
    let terminal = std::env::var_os("TERM");
    io::stderr().is_terminal() && terminal.is_some_and(|name| !name.is_empty() && name != "dumb")
}

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on the terminal.
#[derive(Debug)]
struct Line {
    bar: ProgressBar,
    started: Instant,
    /// What is shorter shows nothing.
    patience: Duration,
    is_silent: bool,
}

impl Line {
    /// A line of the given style that ends at `length`; `quiet` shows nothing.
    fn new(style: &str, length: Option<u64>, quiet: bool) -> Self {
        let bar = ProgressBar::hidden();
        if let Some(length) = length {
            bar.set_length(length);
        }
        if let Ok(style) = ProgressStyle::with_template(style) {
            let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
                // a line that cannot be drawn is not worth an error
                let _ = text.write_str(&scaled(state.per_sec()));
            };
            bar.set_style(style.with_key("rate", rate));
        }
        Self {
            bar,
            started: Instant::now(),
            patience: PATIENCE,
            is_silent: quiet || !takes_codes(),
        }
    }

    /// The line, when what it tells of takes long enough.
    fn due(&self) -> Option<&ProgressBar> {
        if self.is_silent || self.started.elapsed() < self.patience {
            return None;
        }
        if self.bar.is_hidden() {
            // indicatif draws nothing when standard error is not a terminal
            self.bar
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        Some(&self.bar)
    }
}

impl Drop for Line {
    /// Takes the line away.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The progress line of a run.
#[derive(Debug)]
pub(super) struct Bar(Line);

impl Bar {
    /// A line for a run of the plan; `quiet` shows nothing.
    pub(super) fn new(plan: &Plan, quiet: bool) -> Self {
        let style =
            "{msg:8} {bar:30} {human_pos} of {human_len} cycles, {rate} cycles/s, {eta} left";
        let length = plan.phases.warmup + plan.phases.measure;
        Self(Line::new(style, Some(length), quiet))
    }

    /// Shows how far the run is.
    pub(super) fn show(&self, progress: Progress) {
        if let Some(line) = self.0.due() {
            line.set_message(progress.phase);
            line.set_position(progress.cycle.min(progress.planned));
        }
    }
}

/// The progress line of many runs.
#[derive(Debug)]
pub(super) struct Runs {
    line: Line,
    done: u64,
    count: usize,
}

impl Runs {
    /// A line for `count` runs; `quiet` shows nothing.
    pub(super) fn new(count: usize, quiet: bool) -> Self {
        let style = "{bar:30} {msg}, {elapsed} so far, {eta} left";
        Self {
            line: Line::new(style, Some(count as u64 * PARTS), quiet),
            done: 0,
            count,
        }
    }

    /// Counts a finished run.
    pub(super) fn add(&mut self) {
        self.done += 1;
    }

    /// Shows how far the runs are, those that are not finished included.
    pub(super) fn show(&self, parts: u64) {
        if let Some(line) = self.line.due() {
            let minutes = self.line.started.elapsed().as_secs_f64() / 60.0;
            let rate = parts as f64 / PARTS as f64 / minutes;
            let message = format!("{} of {} runs, {rate:.1} runs/min", self.done, self.count);
            line.set_message(message);
            line.set_position(parts);
        }
    }
}

/// The progress line of a search whose end is not known.
#[derive(Debug)]
pub(super) struct Spinner(Line);

impl Spinner {
    /// A line; `quiet` shows nothing.
    pub(super) fn new(quiet: bool) -> Self {
        let mut line = Line::new("{spinner} {msg}, {elapsed} so far", None, quiet);
        // the next message comes with the next load, which may take long
        line.patience = Duration::ZERO;
        Self(line)
    }

    /// Shows what is done now.
    pub(super) fn show(&self, message: &str) {
        if let Some(line) = self.0.due() {
            line.set_message(message.to_owned());
            line.enable_steady_tick(Duration::from_millis(200));
        }
    }
}
