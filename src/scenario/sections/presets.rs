//! Presets of whole switches: values that stand for keys of section `switch` which are not written.
//!
//! A preset is an entry of [`PRESETS`]: its parameters are keys of the section with the values they have in it, as a scenario would
//! write them, each with where it is from. What is written beside `preset` counts in place of its values, `None` included; keys
//! that neither has keep their defaults. Values of real switches are bytes and times, so that they are the same hardware with any size of
//! flits and any rate of links; those of a flit router are flits and cycles, as its source counts. A preset has no figure that its vendor
//! does not publish without saying that it is assumed.

use super::values::Read;
use crate::references::{BOOKSIM, IBA, LI_HPCC};
use crate::registry::{Entry, Parameter, Registry};
use crate::scenario::syntax::parser::parse;
use crate::scenario::syntax::{Field, Item, Node, Place, Value};

/// All presets, for `virtlane list switch`.
pub static PRESETS: Registry<()> = Registry {
    kind: "preset",
    entries: &[ETHERNET_51T, FLIT_ROUTER, INFINIBAND_NDR],
    unclear: &[],
};

/// A key with its value in a preset and where that is from.
const fn value(name: &'static str, value: &'static str, source: &'static str) -> Parameter {
    Parameter {
        name,
        kind: "as in section switch",
        default: Some(value),
        summary: source,
    }
}

const ETHERNET_51T: Entry<()> = Entry {
    name: "Ethernet51T",
    aliases: &[],
    summary: "Ethernet switch of 51.2 Tbit/s: 128 ports of 400 Gbit/s over shared memory, marks for DCQCN; without PAUSE, credits hold senders back",
    parameters: &[
        value("lanes", "8", "priorities of IEEE 802.1Q"),
        value(
            "lane_capacity",
            "\"1 MB\"",
            "128 MB of shared memory, as resellers state for Spectrum-4, over 128 ports; that every port has its part for itself is assumed",
        ),
        value(
            "sharing",
            "PortPool",
            "shared memory; all priorities of a port",
        ),
        value(
            "queues",
            "Voq",
            "shared memory: packets wait for their output only",
        ),
        value(
            "input_speedup",
            "Unlimited",
            "shared memory: no crossbar in between",
        ),
        value(
            "marking",
            "Ecn(k_min: \"100 kB\", k_max: \"400 kB\", p_max: 0.2)",
            "thresholds in production at 25 Gbit/s, as HPCC's comparison tells them; assumed for every rate, as in proportion to it they would be above the memory of a port",
        ),
        value(
            "routing_delay",
            "\"500 ns\"",
            "assumed: data sheets state no latency",
        ),
    ],
    guarantees: &["what is written beside it counts in place of its values"],
    references: &[LI_HPCC],
    build: (),
};

const FLIT_ROUTER: Entry<()> = Entry {
    name: "FlitRouter",
    aliases: &["BookSim2"],
    summary: "input-queued wormhole router with the defaults of BookSim2",
    parameters: &[
        value("lanes", "16", "num_vcs"),
        value("lane_capacity", "\"8 flits\"", "vc_buf_size"),
        value("forwarding", "Wormhole", "router = iq: flit by flit"),
        value("iterations", "1", "islip with one round"),
        value("routing_delay", "\"1 cycles\"", "routing_delay"),
        value(
            "allocation_delay",
            "\"2 cycles\"",
            "vc_alloc_delay and sw_alloc_delay; 1 with speculation",
        ),
        value("crossbar_delay", "\"1 cycles\"", "st_final_delay"),
        value(
            "credit_latency",
            "Auto",
            "credit_delay = 0, and the channel",
        ),
    ],
    guarantees: &["what is written beside it counts in place of its values"],
    references: &[BOOKSIM],
    build: (),
};

const INFINIBAND_NDR: Entry<()> = Entry {
    name: "InfiniBandNdr",
    aliases: &[],
    summary: "InfiniBand switch of the NDR generation: 64 ports of 400 Gbit/s; VL arbitration tables stand in section qos",
    parameters: &[
        value(
            "lanes",
            "8",
            "one of the numbers of data lanes of the standard (operational VLs 4); that it is this one is assumed",
        ),
        value(
            "lane_capacity",
            "\"32 KiB\"",
            "assumed, as vendors publish none: a packet of 4 KiB and 573 ns at 400 Gbit/s for cables of 20 m and two pipelines",
        ),
        value(
            "sharing",
            "PerLane",
            "credits of the standard are those of a lane",
        ),
        value(
            "queues",
            "Voq",
            "assumed: a head does not block what waits behind it for other outputs",
        ),
        value("iterations", "2", "assumed"),
        value(
            "routing_delay",
            "\"150 ns\"",
            "assumed: resellers state 150 to 330 ns from port to port, the vendor none",
        ),
    ],
    guarantees: &["what is written beside it counts in place of its values"],
    references: &[IBA],
    build: (),
};

/// The key whose value is the name of a preset.
const KEY: &str = "preset";

/// Reads the name of a preset.
pub(super) fn name(item: &Item<'_>) -> Read<&'static str> {
    entry(item).map(|entry| entry.name)
}

fn entry(item: &Item<'_>) -> Read<&'static Entry<()>> {
    let Some((name, None)) = item.variant() else {
        return Err(item.unexpected("the name of a preset, such as `InfiniBandNdr`"));
    };
    PRESETS
        .lookup(name)
        .map_err(|message| item.mistake(message))
}

/// The section with what its preset has of the keys that are not written; `None` without a preset.
///
/// # Errors
/// When there is no such preset.
pub(super) fn filled(item: &Item<'_>) -> Read<Option<Node>> {
    let short = match item.variant() {
        Some(("Preset", Some(arguments))) => Some(arguments),
        _ => None,
    };
    let (preset, mut fields) = if let Some(arguments) = &short {
        let preset = &arguments.tuple(1, "one preset, such as `Preset(InfiniBandNdr)`; with other keys write `(preset: InfiniBandNdr, lanes: 4)`")?[0];
        (preset.node, Vec::new())
    } else {
        let Value::Struct(fields) = &item.node.value else {
            return Ok(None);
        };
        let Some(preset) = fields.iter().find(|field| field.key == KEY) else {
            return Ok(None);
        };
        (&preset.value, fields.clone())
    };
    let preset = Item {
        node: preset,
        path: format!("{}.{KEY}", item.path),
    };
    let Some(preset) = preset.optional() else {
        return Ok(None);
    };
    let place = preset.node.place;
    for key in entry(&preset)?.parameters {
        if !fields.iter().any(|field| field.key == key.name) {
            let text = key.default.unwrap_or("None");
            fields.push(Field {
                key: key.name.to_owned(),
                place,
                value: placed(parse(text, place.source)?, place),
            });
        }
    }
    Ok(Some(Node {
        place: item.node.place,
        value: Value::Struct(fields),
    }))
}

/// The same value, written at `place` with all that is in it.
fn placed(node: Node, place: Place) -> Node {
    let all = |nodes: Vec<Node>| nodes.into_iter().map(|node| placed(node, place)).collect();
    let value = match node.value {
        Value::Struct(fields) => Value::Struct(
            fields
                .into_iter()
                .map(|field| Field {
                    place,
                    value: placed(field.value, place),
                    ..field
                })
                .collect(),
        ),
        Value::Named(name, arguments) => Value::Named(name, Box::new(placed(*arguments, place))),
        Value::Tuple(nodes) => Value::Tuple(all(nodes)),
        Value::List(nodes) => Value::List(all(nodes)),
        other => other,
    };
    Node { place, value }
}
