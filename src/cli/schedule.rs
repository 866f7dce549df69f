//! `virtlane schedule`: the effective cycle of a scenario.

use super::args::Schedule;
use crate::error::Error;
use crate::run::{Options, Simulation, sizing};
use crate::scenario::Parts;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Resolves the scenario, builds its fabric and prints the systems of a cycle.
///
/// # Errors
/// When the scenario is wrong, or threads cannot be started.
pub fn execute(arguments: &Schedule) -> Result<ExitCode, Error> {
    let resolved = arguments.input.open()?.resolve(&Parts::registered())?;
    let plan = &resolved.plan;
    let graph = &resolved.layout.graph;
    let chosen = sizing::choose(plan, graph, &resolved.proof, None, None);
    let simulation = Simulation::new(plan, graph, &resolved.routes, Options::default())
        .map_err(|cause| Error::Fault(cause.to_string()))?;
    let mut text = format!(
        "{}\n\nsystems of a cycle, in order, with what they read and write\n",
        plan.title
    );
    let mut last = None;
    for stage in simulation.stages() {
        let slot = if last == Some(stage.slot) {
            String::new()
        } else {
            format!("{:?}", stage.slot)
        };
        last = Some(stage.slot);
        let _ = writeln!(
            text,
            "{slot:10} {:12} writes {}",
            stage.name,
            list(&stage.writes)
        );
        if !stage.reads.is_empty() {
            let _ = writeln!(text, "{:23} reads  {}", "", list(&stage.reads));
        }
    }
    if simulation.has_pass() {
        text.push_str("\nthe stages run in one pass, window by window, while nothing else has something to do\n");
    }
    let _ = writeln!(
        text,
        "\na system without work in a cycle is skipped; cycles without events are jumped over\n\
         on this machine: {} and {}",
        super::count(chosen.threads, "thread", "s"),
        super::count(chosen.shards, "shard", "s")
    );
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::from("nothing"),
        names => names.join(", "),
    }
}
