//! Routes each connected part of a fabric by itself, as a subnet of its own, and joins the tables.
//!
//! Guarantees: within a part the tables of a fabric that is this part alone, whose switches keep their numbers; no entry
//! leads from one part to another. What is promised is what the engine promises of every part.
//! Cost: that of the engine, and O(parts * (switches + channels)) for the graphs of the parts.

use super::entries::Entries;
use super::tables::LaneMap;
use super::{Guarantees, LaneBudget, RoutingError, Tables, UNREACHABLE};
use crate::ids::{ChannelId, HostId, LinkId, SwitchId};
use crate::topology::survey::switch_distances;
use crate::topology::{Endpoint, Graph, GraphBuilder};

/// Parts whose remarks are kept.
const REMARKED: usize = 8;

/// A connected part with hosts.
struct Part {
    /// All switches of the fabric; hosts and links of the part.
    graph: Graph,
    switches: usize,
    first: SwitchId,
    /// Hosts of the part, ascending.
    hosts: Vec<HostId>,
    /// First channels of the links of the part, ascending.
    channels: Vec<ChannelId>,
}

/// Connected parts that have hosts, by their lowest switch, as sets of switches.
pub fn connected(graph: &Graph) -> Vec<Vec<SwitchId>> {
    let mut is_seen = vec![false; graph.switches().len()];
    let mut parts = Vec::new();
    for first in graph.switch_ids() {
        if is_seen[first.index()] {
            continue;
        }
        let distances = switch_distances(graph, first);
        let part: Vec<SwitchId> = graph
            .switch_ids()
            .filter(|switch| distances[switch.index()].is_some())
            .collect();
        for switch in &part {
            is_seen[switch.index()] = true;
        }
        let has_host = |&switch: &SwitchId| graph.attached_hosts(switch).next().is_some();
        if part.iter().any(has_host) {
            parts.push(part);
        }
    }
    parts
}

/// The tables that `engine` gives for each part.
///
/// # Errors
/// The first of `engine`.
pub(super) fn route(
    graph: &Graph,
    budget: LaneBudget,
    engine: impl Fn(&Graph) -> Result<Tables, RoutingError>,
) -> Result<Tables, RoutingError> {
    let parts = connected(graph);
    if parts.len() < 2 {
        return engine(graph);
    }
    let mut routed = Vec::with_capacity(parts.len());
    for switches in &parts {
        let part = Part::new(graph, switches);
        let tables = engine(&part.graph)?;
        routed.push((part, tables));
    }
    let needed = routed
        .iter()
        .map(|(_, tables)| tables.guarantees.lanes_needed);
    let width = needed.max().unwrap_or(1);
    for (_, tables) in &mut routed {
        let own = tables.guarantees.lanes_needed;
        regroup(&mut tables.lanes, budget.lanes, own, width);
    }
    Ok(join(graph, &routed))
}

impl Part {
    fn new(graph: &Graph, switches: &[SwitchId]) -> Self {
        let mut builder = GraphBuilder::new();
        for node in graph.switches() {
            let id = builder.add_switch(node.name.clone(), node.guid, node.port_count);
            builder.set_switch_lid(id, node.lid);
        }
        let is_here = |switch: SwitchId| switches.binary_search(&switch).is_ok();
        let mut hosts = Vec::new();
        let mut place = vec![None; graph.hosts().len()];
        for (host, node) in graph.host_ids().zip(graph.hosts()) {
            if graph.attachment(host).is_some_and(|(s, _)| is_here(s)) {
                let id = builder.add_host(node.name.clone(), node.guid);
                builder.set_host_lid(id, node.lid);
                place[host.index()] = Some(id);
                hosts.push(host);
            }
        }
        let moved = |end: Endpoint| match end {
            Endpoint::Switch(switch, _) => is_here(switch).then_some(end),
            Endpoint::Host(host) => place[host.index()].map(Endpoint::Host),
        };
        let mut channels = Vec::new();
        for link in (0..graph.link_count()).map(LinkId::from) {
            let timing = link.channels().map(|channel| graph.channel(channel).timing);
            if let [Some(a), Some(b)] = graph.link_ends(link).map(moved) {
                let connected = builder.connect_with(a, b, timing);
                connected.expect("ports are as free as in the whole fabric");
                channels.push(link.channels()[0]);
            }
        }
        Self {
            graph: builder.build().expect("hosts keep their links"),
            switches: switches.len(),
            first: switches[0],
            hosts,
            channels,
        }
    }

    /// Channel of the whole fabric.
    fn channel(&self, channel: usize) -> usize {
        self.channels[channel / 2].index() + channel % 2
    }
}

fn join(graph: &Graph, routed: &[(Part, Tables)]) -> Tables {
    let hosts = graph.hosts().len();
    let switches = graph.switches().len();
    let by_input = routed
        .iter()
        .any(|(_, tables)| !tables.input_row.is_empty());
    // with a row per switch all parts share the rows, else each has its own
    let mut first_rows = Vec::with_capacity(routed.len());
    let mut rows = switches;
    for (_, tables) in routed {
        first_rows.push(if by_input { rows } else { 0 });
        if by_input {
            rows += tables.next.rows();
        }
    }
    let joined = |of: fn(&Tables) -> &Entries, rows: usize, first: &[usize], fill: u8| {
        let parts = routed.iter().zip(first);
        let parts: Vec<_> = parts
            .map(|((part, tables), &first)| (part, of(tables), first))
            .collect();
        join_entries(&parts, rows, hosts, fill)
    };
    let own = vec![0; routed.len()];
    let mut joined = Tables {
        engine: routed[0].1.engine.clone(),
        next: joined(|tables| &tables.next, rows, &first_rows, UNREACHABLE),
        input_row: vec![0; if by_input { graph.channels().len() } else { 0 }],
        hop_layer: joined(|tables| &tables.hop_layer, rows, &first_rows, 0),
        path_layer: joined(|tables| &tables.path_layer, switches, &own, 0),
        lanes: join_lanes(graph, routed),
        guarantees: join_guarantees(routed),
        remarks: join_remarks(routed),
        host_count: hosts,
        switch_count: switches,
    };
    for ((part, tables), &first) in routed.iter().zip(&first_rows) {
        if by_input {
            for channel in part.graph.channel_ids() {
                if let Some(switch) = part.graph.channel(channel).to.switch() {
                    let row = first + tables.row(channel, switch);
                    joined.input_row[part.channel(channel.index())] = row as u32;
                }
            }
        }
    }
    joined
}

fn join_guarantees(routed: &[(Part, Tables)]) -> Guarantees {
    let each = || routed.iter().map(|(_, tables)| tables.guarantees);
    Guarantees {
        minimal: each().all(|g| g.minimal),
        deadlock_free: each().all(|g| g.deadlock_free),
        in_order: each().all(|g| g.in_order),
        lanes_needed: each().map(|g| g.lanes_needed).max().unwrap_or(1),
    }
}

fn join_remarks(routed: &[(Part, Tables)]) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for (number, (part, tables)) in routed.iter().enumerate().take(REMARKED) {
        let first = &part.graph.switches()[part.first.index()].name;
        remarks.push((
            format!("part {} of {}", number + 1, routed.len()),
            format!(
                "{first} first, {} switches, {} hosts",
                part.switches,
                part.hosts.len()
            ),
        ));
        remarks.extend(tables.remarks.iter().cloned());
    }
    remarks
}

/// Moves service levels from groups of `own` lanes to groups of `width`, so that a level has the same lanes in all parts;
/// maps of another form stay.
fn regroup(map: &mut LaneMap, lanes: u8, own: u8, width: u8) {
    let (layers, keys) = (usize::from(map.layers), map.keys());
    let first =
        |key: usize, width: u8| (key % keys / layers) as u8 % (lanes / width).max(1) * width;
    let lane = |(key, &lane): (usize, &u8)| {
        let within = lane.checked_sub(first(key, own))?;
        (within < own).then(|| first(key, width) + within)
    };
    let moved: Option<Vec<u8>> = map.profiles.iter().enumerate().map(lane).collect();
    if let Some(moved) = moved {
        map.profiles = moved;
    }
}

/// One map for all parts: their profiles one after the other, with room for the most layers.
/// The entries of each part from a row on, as those of the whole fabric; none where no part has any. What is in no part is `fill`.
fn join_entries(
    parts: &[(&Part, &Entries, usize)],
    rows: usize,
    hosts: usize,
    fill: u8,
) -> Entries {
    if parts.iter().all(|(_, entries, _)| entries.is_empty()) {
        return Entries::default();
    }
    let mut joined = vec![fill; rows * hosts];
    for &(part, entries, first) in parts {
        for row in 0..entries.rows() {
            let whole = &mut joined[(first + row) * hosts..][..hosts];
            for (host, entry) in part.hosts.iter().zip(entries.row(row)) {
                if entry != UNREACHABLE {
                    whole[host.index()] = entry;
                }
            }
        }
    }
    Entries::new(&joined, hosts)
}

fn join_lanes(graph: &Graph, routed: &[(Part, Tables)]) -> LaneMap {
    let maps = || routed.iter().map(|(_, tables)| &tables.lanes);
    let layers = maps().map(|map| map.layers).max().unwrap_or(1);
    let service_levels = maps().map(|map| map.service_levels).max().unwrap_or(1);
    let by_input = maps().any(|map| !map.by_input.is_empty());
    let channels = graph.channels().len();
    let mut joined = LaneMap {
        layers,
        service_levels,
        profiles: Vec::new(),
        by_output: vec![0; channels],
        by_input: vec![0; if by_input { channels } else { 0 }],
    };
    for (part, tables) in routed {
        let map = &tables.lanes;
        let first = (joined.profiles.len() / joined.keys()) as u32;
        for lanes in map.profiles.chunks(usize::from(map.layers)) {
            joined.profiles.extend_from_slice(lanes);
            // layers that no path of the part has
            let more = usize::from(layers - map.layers);
            joined.profiles.extend(std::iter::repeat_n(lanes[0], more));
        }
        for (channel, &profile) in map.by_output.iter().enumerate() {
            joined.by_output[part.channel(channel)] = first + profile;
        }
        for (channel, &offset) in map.by_input.iter().enumerate() {
            joined.by_input[part.channel(channel)] = offset;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::proof::reach::Reach;
    use crate::routing::tests::conformance::{ENGINE_TEXTS, budget, engine, options};
    use crate::routing::tests::graphs::{complete, grid, irregular, tree};
    use crate::routing::{VerifyOptions, verify};
    use std::path::Path;

    /// Several fabrics as one, their switches in turn, and a switch without links at the end.
    fn beside(graphs: &[Graph]) -> Graph {
        let mut builder = GraphBuilder::new();
        let most = graphs.iter().map(|graph| graph.switches().len()).max();
        let mut switch = vec![Vec::new(); graphs.len()];
        for number in 0..most.unwrap_or(0) {
            for (part, graph) in graphs.iter().enumerate() {
                if let Some(node) = graph.switches().get(number) {
                    let name = format!("P{part}.{}", node.name);
                    switch[part].push(builder.add_switch(name, 0, node.port_count));
                }
            }
        }
        for (part, graph) in graphs.iter().enumerate() {
            let hosts: Vec<HostId> = graph
                .hosts()
                .iter()
                .map(|host| builder.add_host(format!("P{part}.{}", host.name), 0))
                .collect();
            let moved = |end: Endpoint| match end {
                Endpoint::Switch(s, port) => Endpoint::Switch(switch[part][s.index()], port),
                Endpoint::Host(host) => Endpoint::Host(hosts[host.index()]),
            };
            for link in (0..graph.link_count()).map(LinkId::from) {
                let timing = link.channels().map(|channel| graph.channel(channel).timing);
                let [a, b] = graph.link_ends(link).map(moved);
                builder.connect_with(a, b, timing).unwrap();
            }
        }
        builder.add_switch("loose", 0, 4);
        builder.build().unwrap()
    }

    /// Promises hold in every part, and all pairs of a part have a way.
    #[test]
    fn every_engine_routes_the_parts_of_a_fabric() {
        let fabrics = [
            vec![tree(2, 3), irregular(12, 4, 5)],
            vec![grid(&[4, 4], true, 2), complete(1), irregular(9, 3, 6)],
            vec![complete(5), complete(2), grid(&[5], true, 1)],
        ];
        let (mut refused, mut wrong) = (Vec::new(), Vec::new());
        let mut routed = 0;
        for graphs in fabrics {
            let graph = beside(&graphs);
            assert_eq!(connected(&graph).len(), graphs.len());
            let part = |host: HostId| graph.hosts()[host.index()].name.split('.').next();
            let pairs = graphs.iter().map(|graph| graph.hosts().len() as u64);
            let pairs: u64 = pairs.map(|hosts| hosts * (hosts - 1)).sum();
            let all = graph.hosts().len() as u64;
            for text in ENGINE_TEXTS {
                let tables = engine(text).route_reachable(&graph, budget(8), 1, Path::new(""));
                let tables = match tables {
                    Ok(tables) => tables,
                    Err(error) => {
                        refused.push(format!("{text}: {error}"));
                        continue;
                    }
                };
                let options = VerifyOptions {
                    allow_unreachable: true,
                    ..options(8)
                };
                let proof = match verify(&graph, &tables, &options) {
                    Ok(proof) => proof,
                    Err(error) => {
                        wrong.push(format!("{text}: {error}"));
                        continue;
                    }
                };
                assert_eq!(proof.reachable_pairs, pairs, "{text}");
                assert_eq!(proof.unreachable_pairs, all * (all - 1) - pairs, "{text}");
                let reach = Reach::new(&graph, &tables);
                for from in graph.host_ids() {
                    for to in graph.host_ids() {
                        assert_eq!(reach.has_way(from, to), part(from) == part(to), "{text}");
                    }
                }
                routed += 1;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(routed >= 100, "{routed}\n{}", refused.join("\n"));
    }
}
