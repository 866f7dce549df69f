//! A given list of (source, destination) pairs, one flow each.

use super::{BuildPairs, Pair, PairsContext};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use serde::Deserialize;

/// Registers `List`.
pub(super) const ENTRY: Entry<BuildPairs> = Entry {
    name: "List",
    aliases: &[],
    summary: "a given list of (source, destination) pairs, one flow each",
    parameters: &[Parameter {
        name: "pairs",
        kind: "list of (host number, host number), at least one",
        default: None,
        summary: "who sends to whom; a pair that is listed twice has two flows",
    }],
    guarantees: &[],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "List")]
struct List {
    pairs: Vec<(u32, u32)>,
}

fn build(arguments: Arguments<'_>, context: &PairsContext<'_>) -> Result<Vec<Pair>, ArgumentError> {
    let List { pairs } = arguments.parse()?;
    if pairs.is_empty() {
        return Err(invalid("`pairs` is empty: expected at least one pair"));
    }
    let pair = |(from, to)| {
        let (source, destination) = (context.host("pairs", from)?, context.host("pairs", to)?);
        if source == destination {
            return Err(invalid(format!(
                "`pairs` has a flow from host {from} to itself"
            )));
        }
        if context.hosts.binary_search(&source).is_err() {
            return Err(invalid(format!(
                "`pairs`: host {from} is not among the hosts of the class"
            )));
        }
        Ok((source, destination))
    };
    pairs.into_iter().map(pair).collect()
}
