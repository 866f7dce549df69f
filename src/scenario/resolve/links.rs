//! Links between switches that differ from the others, by their kind.

use super::super::schema::Scenario;
use super::super::syntax::Mistake;
use super::clock;
use crate::topology::{ChannelTiming, Graph, LinkKind};
use crate::units::Clock;

/// The graph with the timing that `fabric.link.except` gives to links of some kinds; the last one counts.
pub(super) fn except(scenario: &Scenario, clock: Clock, graph: Graph) -> Result<Graph, Mistake> {
    let exceptions = &scenario.fabric.except;
    if exceptions.is_empty() {
        return Ok(graph);
    }
    let known = LinkKind::all(&graph);
    let mut timings: Vec<(LinkKind, ChannelTiming)> = Vec::new();
    for exception in exceptions {
        let kind = exception.on.value;
        if !known.contains(&kind) {
            let names: Vec<_> = known.iter().map(|kind| format!("`{kind}`")).collect();
            let has = if names.is_empty() {
                "this topology has no structure that tells links apart".to_owned()
            } else {
                format!("this topology has {}", names.join(", "))
            };
            return Err(exception
                .on
                .mistake(format!("no link is of kind `{kind}`: {has}")));
        }
        timings.push((kind, clock::timing(&exception.link, clock)?));
    }
    Ok(graph.retimed(|graph, channel| {
        let kind = LinkKind::of(graph, channel)?;
        let last = timings.iter().rev().find(|(known, _)| *known == kind);
        last.map(|&(_, timing)| timing)
    }))
}
