//! A lane map from the rows of `opensm-sl2vl.dump`.
//!
//! Cost: time and memory O(sum over switches of ports^2), less where the input port does not matter.

use crate::ids::ChannelId;
use crate::routing::dump::{DumpError, SwitchLanes};
use crate::routing::identities::EndPort;
use crate::routing::{LaneBudget, LaneMap};
use crate::topology::{Endpoint, Graph};
use std::collections::BTreeMap;

/// Service levels of InfiniBand.
const SERVICE_LEVELS: usize = 16;

/// Entry that drops packets.
const DROP: u8 = 15;

/// Lanes per service level of one (input, output), and the line they come from.
type Lanes = ([u8; SERVICE_LEVELS], usize);

/// The map of the whole fabric.
///
/// # Errors
/// [`DumpError`]: a switch or a pair of ports has no lanes, or they do not exist; line 0 = the whole file.
pub(super) fn lane_map(
    graph: &Graph,
    nodes: &[(EndPort, SwitchLanes)],
    budget: LaneBudget,
    layers: u8,
) -> Result<LaneMap, DumpError> {
    let keys = usize::from(budget.service_levels) * usize::from(layers);
    if keys > SERVICE_LEVELS {
        let levels = budget.service_levels;
        return Err(error(
            0,
            format!(
                "{levels} service levels times {layers} layers are more than the 16 of InfiniBand"
            ),
        ));
    }
    let rows = by_ports(nodes)?;
    let mut blocks = Vec::with_capacity(graph.channels().len());
    for channel in graph.channel_ids() {
        blocks.push(block(graph, &rows, channel, keys, budget.lanes)?);
    }
    let mut map = LaneMap {
        layers,
        service_levels: budget.service_levels,
        profiles: Vec::new(),
        by_output: Vec::with_capacity(blocks.len()),
        by_input: Vec::new(),
    };
    if blocks
        .iter()
        .all(|block| block.chunks(keys).all(|row| row == &block[..keys]))
    {
        for block in &mut blocks {
            block.truncate(keys);
        }
    } else {
        map.by_input = graph
            .channel_ids()
            .map(|channel| place(graph, channel))
            .collect();
    }
    let mut known: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    for block in blocks {
        let next = (map.profiles.len() / keys) as u32;
        let profile = *known.entry(block).or_insert_with_key(|block| {
            map.profiles.extend_from_slice(block);
            next
        });
        map.by_output.push(profile);
    }
    // every sum of an output's and an input's place must be a profile
    let most = map.by_input.iter().copied().max().unwrap_or(0) as usize;
    map.profiles.resize(map.profiles.len() + most * keys, 0);
    Ok(map)
}

/// The rows of all nodes by their ports, each there once.
fn by_ports(
    nodes: &[(EndPort, SwitchLanes)],
) -> Result<BTreeMap<(EndPort, u16, u16), Lanes>, DumpError> {
    let mut rows: BTreeMap<(EndPort, u16, u16), Lanes> = BTreeMap::new();
    for (end, node) in nodes {
        for &(line, input, output, lanes) in &node.rows {
            if let Some((_, first)) = rows.insert((*end, input, output), (lanes, line)) {
                let reason =
                    format!("ports {input} and {output} have their lanes on line {first} already");
                return Err(error(line, reason));
            }
        }
    }
    Ok(rows)
}

fn error(line: usize, reason: String) -> DumpError {
    DumpError { line, reason }
}

/// Place of an input channel's row in the blocks of its switch.
fn place(graph: &Graph, input: ChannelId) -> u32 {
    match graph.channel(input).to {
        Endpoint::Switch(_, port) => u32::from(port) - 1,
        Endpoint::Host(_) => 0,
    }
}

/// The rows of one output channel, one per input port of its switch.
fn block(
    graph: &Graph,
    rows: &BTreeMap<(EndPort, u16, u16), Lanes>,
    output: ChannelId,
    keys: usize,
    lanes: u8,
) -> Result<Vec<u8>, DumpError> {
    let (switch, port) = match graph.channel(output).from {
        Endpoint::Host(host) => {
            // an adapter that is not in the file keeps lanes as they are
            let own = (std::array::from_fn(|level| level as u8), 0);
            let row = rows.get(&(EndPort::Host(host), 0, 0)).unwrap_or(&own);
            return exist(row, keys, lanes).map(<[u8]>::to_vec);
        }
        Endpoint::Switch(switch, port) => (switch, port),
    };
    let inputs = 1..=graph.switches()[switch.index()].port_count;
    let mut block = Vec::with_capacity(inputs.len() * keys);
    let mut any = None;
    for input in inputs.clone() {
        // no packet leaves over the port it came from
        if input == port || graph.port_channel(switch, input).is_none() {
            continue;
        }
        let row = rows
            .get(&(EndPort::Switch(switch), input, port))
            .ok_or_else(|| {
                let name = &graph.switches()[switch.index()].name;
                error(
                    0,
                    format!("no lanes for {name} input {input}, output {port}"),
                )
            })?;
        any.get_or_insert(exist(row, keys, lanes)?);
    }
    let unused = vec![0; keys];
    let any = any.unwrap_or(&unused);
    for input in inputs {
        let is_used = input != port && graph.port_channel(switch, input).is_some();
        let row = rows
            .get(&(EndPort::Switch(switch), input, port))
            .filter(|_| is_used);
        block.extend_from_slice(row.map_or(any, |(row, _)| &row[..keys]));
    }
    Ok(block)
}

/// The lanes of the service levels in use.
fn exist(row: &Lanes, keys: usize, lanes: u8) -> Result<&[u8], DumpError> {
    let used = &row.0[..keys];
    match used.iter().find(|&&lane| lane >= lanes) {
        Some(&DROP) => Err(error(
            row.1,
            "lane 15 drops packets of a service level in use; a lossless fabric drops none"
                .to_owned(),
        )),
        Some(lane) => Err(error(
            row.1,
            format!("lane {lane} is used, the switches have {lanes}: raise `fabric.switch.lanes`"),
        )),
        None => Ok(used),
    }
}
