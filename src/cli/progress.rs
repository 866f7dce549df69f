//! The progress line of a run: on a terminal only, and only for runs longer than a second.

use crate::run::Progress;
use crate::scenario::Plan;
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
