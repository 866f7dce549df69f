//! All senders to one host (incast). The target itself does not send without `self_traffic`.
//!
//! Written `AllTo(5)` or `AllTo(target: 5)`.
//!
//! Cost: one table look-up per packet; memory O(hosts).

use super::members::{FixedDestinations, SELF_TRAFFIC, checked};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::{BuildPattern, Pattern, PatternContext};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `AllTo`.
pub(super) const ENTRY: Entry<BuildPattern> = Entry {
    name: "AllTo",
    aliases: &["Incast"],
    summary: "all senders to one host",
    parameters: &[
        Parameter {
            name: "target",
            kind: "host number",
            default: None,
            summary: "the host that receives",
        },
        SELF_TRAFFIC,
    ],
    guarantees: &["nobody else receives"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "AllTo")]
struct Named {
    target: u32,
    #[serde(default)]
    self_traffic: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "AllTo")]
struct Positional(u32);

fn build(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let (target, self_traffic) = if arguments.text.contains(':') {
        let named: Named = arguments.parse()?;
        (named.target, named.self_traffic)
    } else {
        (arguments.parse::<Positional>()?.0, false)
    };
    let target = checked(target, context)?;
    let destination = context
        .graph
        .host_ids()
        .map(|host| (self_traffic || host != target).then_some(target))
        .collect();
    FixedDestinations::from_table("AllTo", destination, context)
}
