//! Ids and GUIDs for formats that need them where a graph has none.

use super::super::graph::Graph;
use super::super::ibsim::{FIRST_ADAPTER_GUID, FIRST_SWITCH_GUID};
use std::collections::HashSet;

/// Node GUIDs of the switches: their own, when every switch has a different one, else counted from the first
/// one `ibsim` gives.
pub(super) fn switch_guids(graph: &Graph) -> Vec<u64> {
    let own: Vec<u64> = graph.switches().iter().map(|node| node.guid).collect();
    if are_different(&own) {
        return own;
    }
    (FIRST_SWITCH_GUID..).take(own.len()).collect()
}

/// Port GUIDs of the hosts, likewise; the node GUID of a host is one less.
pub(super) fn host_guids(graph: &Graph) -> Vec<u64> {
    let own: Vec<u64> = graph.hosts().iter().map(|node| node.guid).collect();
    if are_different(&own) {
        return own;
    }
    let guids = (FIRST_ADAPTER_GUID + 1..).step_by(2);
    guids.take(own.len()).collect()
}

fn are_different(guids: &[u64]) -> bool {
    let mut seen = HashSet::new();
    guids.iter().all(|&guid| guid > 0 && seen.insert(guid))
}

/// A name without what would end a quoted text or a line.
pub(super) fn quotable(name: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    name.replace('"', "'").chars().map(plain).collect()
}
