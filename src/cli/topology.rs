//! `virtlane topology`: the fabric of a scenario, surveyed or exported.

use super::args::{GraphFormat, Topology};
use super::print;
use crate::error::Error;
use crate::scenario::Parts;
use crate::topology::export;
use crate::topology::survey::Survey;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Builds the graph and prints it.
///
/// # Errors
/// When the scenario is wrong.
pub(super) fn execute(arguments: &Topology) -> Result<ExitCode, Error> {
    let document = arguments.input.open()?;
    let (scenario, layout) = document.layout(&Parts::registered())?;
    print(&match arguments.export {
        None => survey(&Survey::new(&layout.graph)),
        Some(GraphFormat::Dot) => export::dot(&layout.graph),
        Some(GraphFormat::Edges) => {
            let context = layout.context(scenario.seed, Path::new(""));
            export::edge_list(&layout.graph, &context)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn survey(survey: &Survey) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24}{value}");
    };
    line("switches", survey.switches.to_string());
    line("hosts", survey.hosts.to_string());
    line("links of switches", survey.switch_links.to_string());
    line("links of hosts", survey.host_links.to_string());
    line("neighbors of a switch", counts(&survey.degrees));
    line("hosts of a switch", counts(&survey.hosts_on_switch));
    match survey.components.len() {
        1 => line("connected", "yes".into()),
        parts => line("connected", format!("NO: {parts} parts")),
    }
    line(
        "diameter",
        format!("{} hops between hosts", survey.diameter),
    );
    if let Some(mean) = survey.mean_distance() {
        line("mean distance", format!("{mean:.3} hops between hosts"));
    }
    for (hops, pairs) in survey.pairs_at_distance.iter().enumerate() {
        line("", format!("{hops} hops: {pairs} pairs"));
    }
    text
}

/// `8 (100 switches), 16 (200 switches)`.
fn counts(histogram: &BTreeMap<usize, usize>) -> String {
    let counts = histogram.iter();
    let counts: Vec<_> = counts
        .map(|(value, switches)| format!("{value} ({switches} switches)"))
        .collect();
    counts.join(", ")
}
