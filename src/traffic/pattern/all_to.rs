//! All senders to one host (incast). The target itself does not send.
//!
//! Written `AllTo(5)` or `AllTo(target: 5)`.
//!
//! Cost: one table look-up per packet; memory O(hosts).

use super::members::{FixedDestinations, checked};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::{BuildPattern, Pattern, PatternContext};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `AllTo`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "AllTo",
    aliases: &["Incast"],
    summary: "all senders to one host",
    parameters: &[Parameter {
        name: "target",
        kind: "host number",
        default: None,
        summary: "the host that receives; it does not send",
    }],
    guarantees: &["nobody else receives"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "AllTo")]
struct Named {
    target: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "AllTo")]
struct Positional(u32);

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let target = if arguments.text.contains(':') {
        arguments.parse::<Named>()?.target
    } else {
        arguments.parse::<Positional>()?.0
    };
    let target = checked(target, context)?;
    let destination = context
        .graph
        .host_ids()
        .map(|host| (host != target).then_some(target))
        .collect();
    FixedDestinations::from_table("AllTo", destination, context)
}
