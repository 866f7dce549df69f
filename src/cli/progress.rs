//! The progress line of a run or of many: on a terminal only, and only for what takes longer than a second.

use crate::run::Progress;
use crate::scenario::Plan;
use crate::study::execute::PARTS;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress line.
#[derive(Debug)]
pub(super) struct Bar {
    line: ProgressBar,
    started: Instant,
    quiet: bool,
    shown: bool,
}

impl Bar {
    /// A line for a run of the plan; `quiet` shows nothing.
    pub(super) fn new(plan: &Plan, quiet: bool) -> Self {
        let line = ProgressBar::hidden();
        line.set_length(plan.phases.warmup + plan.phases.measure);
        let style = "{msg:8} {bar:30} {human_pos} of {human_len} cycles, {per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            line.set_style(style);
        }
        Self {
            line,
            started: Instant::now(),
            quiet,
            shown: false,
        }
    }

    /// Shows how far the run is.
    pub(super) fn show(&mut self, progress: Progress) {
        if self.quiet || self.started.elapsed() < PATIENCE {
            return;
        }
        if !self.shown {
            // indicatif draws nothing when standard error is not a terminal
            self.line
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.shown = true;
        }
        self.line.set_message(progress.phase);
        self.line.set_position(progress.cycle.min(progress.planned));
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.line.finish_and_clear();
    }
}

/// The progress line of many runs.
#[derive(Debug)]
pub(super) struct Runs {
    line: ProgressBar,
    started: Instant,
    quiet: bool,
    done: u64,
    count: usize,
}

impl Runs {
    /// A line for `count` runs; `quiet` shows nothing.
    pub(super) fn new(count: usize, quiet: bool) -> Self {
        let line = ProgressBar::hidden();
        line.set_length(count as u64 * PARTS);
        let style = "{bar:30} {msg}, {elapsed} so far, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            line.set_style(style);
        }
        Self {
            line,
            started: Instant::now(),
            quiet,
            done: 0,
            count,
        }
    }

    /// Counts a finished run.
    pub(super) fn add(&mut self) {
        self.done += 1;
    }

    /// Shows how far the runs are, those that are not finished included.
    pub(super) fn show(&mut self, parts: u64) {
        let elapsed = self.started.elapsed();
        if self.quiet || elapsed < PATIENCE {
            return;
        }
        if self.line.is_hidden() {
            // indicatif draws nothing when standard error is not a terminal
            self.line
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        let rate = parts as f64 / PARTS as f64 / elapsed.as_secs_f64() * 60.0;
        let message = format!("{} of {} runs, {rate:.1} runs/min", self.done, self.count);
        self.line.set_message(message);
        self.line.set_position(parts);
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.line.finish_and_clear();
    }
}

/// The progress line of a search whose end is not known.
#[derive(Debug)]
pub(super) struct Spinner {
    line: ProgressBar,
    quiet: bool,
}

impl Spinner {
    /// A line; `quiet` shows nothing.
    pub(super) fn new(quiet: bool) -> Self {
        let line = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed} so far") {
            line.set_style(style);
        }
        Self { line, quiet }
    }

    /// Shows what is done now.
    pub(super) fn show(&mut self, message: &str) {
        if self.quiet {
            return;
        }
        if self.line.is_hidden() {
            // indicatif draws nothing when standard error is not a terminal
            self.line
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.line.enable_steady_tick(Duration::from_millis(200));
        }
        self.line.set_message(message.to_owned());
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.line.finish_and_clear();
    }
}
