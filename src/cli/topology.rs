//! `virtlane topology`: the fabric of a scenario, surveyed or exported.

use super::args::{GraphFormat, Topology};
use super::print;
use crate::error::Error;
use crate::scenario::Parts;
use crate::topology::faults::Failed;
use crate::topology::formats::export;
use crate::topology::generators::trees::clos::Form;
use crate::topology::survey::Survey;
use crate::topology::survey::bisection::{Bisection, Certainty, bisection};
use crate::topology::{BuildContext, Graph, Shape};
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
        None => {
            let graph = &layout.graph;
            survey(&Survey::new(graph)) + &structure(graph) + &failed(&layout.failed)
        }
        Some(format) => {
            let context = layout.context(scenario.seed, Path::new(""));
            tell_dropped(format, &layout.graph, &context);
            match format {
                GraphFormat::Dot => export::dot(&layout.graph),
                GraphFormat::Edges => export::edge_list(&layout.graph, &context),
                GraphFormat::Graphml => export::graph_ml(&layout.graph, &context),
                GraphFormat::Ibnetdiscover => export::ibnetdiscover(&layout.graph, &context),
                GraphFormat::Ibsim => export::ibsim(&layout.graph, &context),
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Tells what a form has no words for; edge lists and `GraphML` have all, and DOT is a drawing.
fn tell_dropped(format: GraphFormat, graph: &Graph, context: &BuildContext<'_>) {
    let (form, is_word): (_, fn(u64, &str) -> bool) = match format {
        GraphFormat::Dot | GraphFormat::Edges | GraphFormat::Graphml => return,
        GraphFormat::Ibnetdiscover => ("ibnetdiscover", |_, _| true),
        GraphFormat::Ibsim => ("ibsim", export::has_word),
    };
    if let Some(told) = export::Dropped::of(graph, context, is_word).told(form) {
        super::note(&told);
    }
}

fn survey(survey: &Survey) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24}{value}");
    };
    line("switches", survey.switches.to_string());
    line("hosts", survey.hosts.to_string());
    line(
        "links of switches",
        match survey.self_links {
            0 => survey.switch_links.to_string(),
            own => format!(
                "{}, {own} of them from a switch to itself",
                survey.switch_links
            ),
        },
    );
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

/// Bisection, and what the kind of network is known by.
fn structure(graph: &Graph) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24}{value}");
    };
    if let Some(Bisection { links, certainty }) = bisection(graph) {
        let full = 2.0 * links as f64 / graph.hosts().len() as f64;
        let (bound, how) = match certainty {
            Certainty::Known => ("", "known"),
            Certainty::Exact => ("", "every division tried"),
            Certainty::AtMost => ("at most ", "local search"),
        };
        line(
            "bisection",
            format!("{bound}{links} links, {full:.3} for each host of a half ({how})"),
        );
    }
    if let Some(why) = graph.why_irregular() {
        line("structure", why);
    }
    if let Some((first, others)) = graph.structures().split_first() {
        line("structure", first.told());
        for other in others {
            line("", format!("also {}", other.name()));
        }
    }
    of_shape(graph.shape(), &mut line);
    text
}

/// What is told of some shapes only.
fn of_shape(shape: &Shape, line: &mut dyn FnMut(&str, String)) {
    match shape {
        Shape::EnrichedTree(tree) => {
            let overhead = tree.port_overhead();
            line(
                "port overhead",
                format!("{overhead:.4} of the plain tree's ports"),
            );
        }
        Shape::Xgft(tree) => {
            if let ([hosts, _], [_, middle], [_, links]) =
                (&tree.children[..], &tree.parents[..], &tree.parallel[..])
            {
                line(
                    "as a Clos network",
                    Form::of(*hosts, middle * links).to_string(),
                );
            }
            for level in 1..tree.height() {
                let down = tree.children[level - 1] * tree.parallel[level - 1];
                let up = tree.parents[level] * tree.parallel[level];
                let ratio = f64::from(down) / f64::from(up);
                line(
                    if level == 1 { "oversubscription" } else { "" },
                    format!("{ratio:.3} at level {level} ({down} links down, {up} up)"),
                );
            }
        }
        Shape::Dragonfly(dragonfly) => line(
            "links between groups",
            dragonfly.links_between_groups().to_string(),
        ),
        _ => {}
    }
}

/// What failed, when something did.
fn failed(failed: &Failed) -> String {
    let kinds = [
        ("failed switches", &failed.switches),
        ("failed links", &failed.links),
        ("lost hosts", &failed.hosts),
    ];
    let mut text = String::new();
    for (kind, names) in kinds {
        if !names.is_empty() {
            let _ = writeln!(text, "{kind:<24}{}: {}", names.len(), names.join(", "));
        }
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
