//! `virtlane schedule`: the effective cycle of a scenario.

use super::args::Schedule;
use crate::cycle::{STAGES, Stage};
use crate::error::Error;
use crate::run::sizing;
use crate::scenario::Parts;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Resolves the scenario and prints its stages.
///
/// # Errors
/// When the scenario is wrong.
pub fn execute(arguments: &Schedule) -> Result<ExitCode, Error> {
    let resolved = arguments.input.open()?.resolve(&Parts::registered())?;
    let plan = &resolved.plan;
    let chosen = sizing::choose(plan, &resolved.layout.graph, &resolved.proof, None, None);
    let mut text = format!("{}\n\nstages of a cycle, in order\n", plan.title);
    let width = STAGES
        .iter()
        .map(|stage| stage.reads.len())
        .max()
        .unwrap_or(0);
    for (number, stage) in STAGES.iter().enumerate() {
        let note = match stage.stage {
            Stage::Mark if plan.switch.marking_threshold.is_none() => {
                "  (off: no marking in this scenario)"
            }
            Stage::Transmit if plan.switch.output_lane_buffer == 0 => {
                "  (off: no output lanes in this scenario)"
            }
            _ => "",
        };
        let _ = writeln!(
            text,
            "{:2}  {:10} reads {:width$}  writes {}{note}",
            number + 1,
            stage.name,
            stage.reads,
            stage.writes
        );
    }
    let _ = writeln!(
        text,
        "\na stage without work in a cycle is skipped; cycles without events are jumped over\n\
         on this machine: {} and {}",
        count(chosen.threads, "thread"),
        count(chosen.shards, "shard")
    );
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
