//! `virtlane describe`: one part in full.

use super::args::Describe;
use super::catalog::{Description, Kind, kind};
use super::print;
use crate::error::Error;
use crate::metrics;
use crate::registry::{Parameter, unknown};
use std::fmt::Write;
use std::process::ExitCode;

/// Prints parameters, units, defaults, guarantees and references.
///
/// # Errors
/// When there is no such kind or name.
pub(super) fn execute(arguments: &Describe) -> Result<ExitCode, Error> {
    let kind = kind(&arguments.kind)?;
    let item = find(&kind, &arguments.name)?;
    print(&page(&kind, item))?;
    Ok(ExitCode::SUCCESS)
}

fn find<'a>(kind: &'a Kind, name: &str) -> Result<&'a Description, Error> {
    // a metric may be given with a class and a statistic: latency.network.p99
    let name = match kind.name {
        "metric" => metrics::find(name).map_err(Error::Usage)?.path,
        _ => name,
    };
    let mut items = kind.items.iter();
    let found = items.find(|item| item.name == name || item.aliases.contains(&name));
    let names = kind.items.iter().map(|item| item.name);
    found.ok_or_else(|| Error::Usage(unknown(kind.name, name, names)))
}

fn page(kind: &Kind, item: &Description) -> String {
    let mut text = format!("{} ({})\n  {}\n", item.name, kind.name, item.summary);
    if let Some(note) = &item.note {
        let _ = writeln!(text, "  {note}");
    }
    if !item.aliases.is_empty() {
        let _ = writeln!(text, "  Also called: {}", item.aliases.join(", "));
    }
    if !item.parameters.is_empty() {
        let heading = if kind.name == "section" {
            "Keys"
        } else {
            "Parameters"
        };
        let _ = writeln!(text, "\n{heading}");
        item.parameters
            .iter()
            .for_each(|entry| parameter(&mut text, entry));
    }
    let references = item.references.iter().map(|reference| reference.citation);
    for (heading, lines) in [
        ("Guarantees", item.guarantees.to_vec()),
        ("References", references.collect()),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}");
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text
}

fn parameter(text: &mut String, parameter: &Parameter) {
    let default = match parameter.default {
        Some(default) => format!("default {default}"),
        None => "required".into(),
    };
    let Parameter {
        name,
        kind,
        summary,
        ..
    } = parameter;
    let _ = writeln!(text, "  {name}: {kind} ({default})\n      {summary}");
}
