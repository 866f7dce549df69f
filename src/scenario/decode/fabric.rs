//! Section `fabric`: topology, links, switches, hosts.

use super::super::keys;
use super::super::schema::{Fabric, Link, LinkException, Switch};
use super::super::syntax::{Fields, Item};
use super::{Read, amount, automatic, rate, small, time, whole};
use crate::plan::{BufferSharing, Forwarding, InputSpeedup, Matching, OutputArbitration, Queues};
use crate::topology::LinkKind;
use crate::units::{Amount, Time};

pub(super) fn fabric(item: &Item<'_>) -> Read<Fabric> {
    let fields = item.fields(keys::FABRIC.keys)?;
    let topology = fields.need("topology")?.part("topology")?;
    let flit = fields.or("flit", Amount::Bytes(64), amount)?;
    let flit_bytes = match flit.value {
        Amount::Bytes(bytes @ 1..=65_536) => bytes as u32,
        size => {
            let message = format!("`{size}` is not a flit size: expected 1 B to 64 KiB");
            return Err(flit.mistake(message));
        }
    };
    let link_item = fields.need("link")?;
    let link_fields = link_item.fields(keys::LINK.keys)?;
    let link = Link {
        rate: link_fields.required("rate", rate)?,
        latency: link_fields.required("latency", time)?,
    };
    let except = match link_fields.get("except") {
        Some(item) => {
            let items = item.items()?;
            let read = |item: &Item<'_>| exception(item, &link);
            items.iter().map(read).collect::<Read<_>>()?
        }
        None => Vec::new(),
    };
    let host_link = match fields.get("host_link") {
        Some(item) => differing(&item.fields(keys::HOST_LINK.keys)?, &link)?,
        None => link.clone(),
    };
    let switch = switch(&fields.need("switch")?)?;
    let (mut sink_rate, mut source_queue) = (None, None);
    if let Some(item) = fields.get("host") {
        let fields = item.fields(keys::HOST.keys)?;
        let sink = fields.get("sink_rate");
        sink_rate = sink
            .map(|item| rate(&item).map(|value| item.at(value)))
            .transpose()?;
        let queue = fields.get("source_queue");
        source_queue = queue.map(|item| whole(&item, 1)).transpose()?;
    }
    Ok(Fabric {
        topology,
        flit_bytes,
        link,
        except,
        host_link,
        switch,
        sink_rate,
        source_queue,
    })
}

/// A link that has the rate and latency of `link` where it does not say otherwise.
fn differing(fields: &Fields<'_>, link: &Link) -> Read<Link> {
    let rate = fields.get("rate").map(|item| Ok(item.at(rate(&item)?)));
    let latency = fields.get("latency").map(|item| Ok(item.at(time(&item)?)));
    Ok(Link {
        rate: rate.unwrap_or_else(|| Ok(link.rate.clone()))?,
        latency: latency.unwrap_or_else(|| Ok(link.latency.clone()))?,
    })
}

/// `(on: Level(2), rate: "400 Gbit/s")`.
fn exception(item: &Item<'_>, link: &Link) -> Read<LinkException> {
    let fields = item.fields(keys::EXCEPT.keys)?;
    Ok(LinkException {
        on: fields.required("on", kind)?,
        link: differing(&fields, link)?,
    })
}

fn kind(item: &Item<'_>) -> Read<LinkKind> {
    let expected = "a kind of links: `Dimension(0)`, `Level(1)`, `Horizontal`, `Local` or `Global`";
    let number = |arguments: Item<'_>| -> Read<u32> {
        Ok(arguments.tuple(1, expected)?[0].integer(0..=u64::from(u32::MAX))? as u32)
    };
    match item.variant() {
        Some(("Dimension", Some(arguments))) => number(arguments).map(LinkKind::Dimension),
        Some(("Level", Some(arguments))) => number(arguments).map(LinkKind::Level),
        Some(("Horizontal", None)) => Ok(LinkKind::Horizontal),
        Some(("Local", None)) => Ok(LinkKind::Local),
        Some(("Global", None)) => Ok(LinkKind::Global),
        _ => Err(item.unexpected(expected)),
    }
}

const QUEUES: &[(&str, Queues)] = &[("Fifo", Queues::Fifo), ("Voq", Queues::Voq)];
const SHARING: &[(&str, BufferSharing)] = &[
    ("PerLane", BufferSharing::PerLane),
    ("PortPool", BufferSharing::PortPool),
];
const MATCHING: &[(&str, Matching)] = &[
    ("OutputFirst", Matching::OutputFirst),
    ("InputFirst", Matching::InputFirst),
];
const ARBITRATION: &[(&str, OutputArbitration)] = &[
    ("RoundRobin", OutputArbitration::RoundRobin),
    (
        "FirstComeFirstServed",
        OutputArbitration::FirstComeFirstServed,
    ),
    ("OldestFirst", OutputArbitration::OldestFirst),
    ("Random", OutputArbitration::Random),
];
const FORWARDING: &[(&str, Forwarding)] = &[
    ("CutThrough", Forwarding::CutThrough),
    ("StoreAndForward", Forwarding::StoreAndForward),
];

fn switch(item: &Item<'_>) -> Read<Switch> {
    let fields = item.fields(keys::SWITCH.keys)?;
    let marking = match fields.get("marking") {
        Some(item) => Some(
            item.fields(keys::MARKING.keys)?
                .required("threshold", amount)?,
        ),
        None => None,
    };
    Ok(Switch {
        lanes: fields.or("lanes", 1, |item| small(item, 1, 15))?,
        lane_capacity: fields.required("lane_capacity", amount)?,
        queues: fields.or("queues", Queues::Fifo, |item| item.choice(QUEUES))?,
        sharing: fields.or("sharing", BufferSharing::PerLane, |item| {
            item.choice(SHARING)
        })?,
        input_speedup: fields.or("input_speedup", InputSpeedup::Limited(1), speedup)?,
        output_buffer: fields.or("output_buffer", Amount::Flits(0), amount)?,
        output_lane_buffer: fields.or("output_lane_buffer", Amount::Flits(0), amount)?,
        matching: fields.or("matching", Matching::OutputFirst, |item| {
            item.choice(MATCHING)
        })?,
        iterations: fields
            .or("iterations", 1, |item| small(item, 1, 255))?
            .value,
        output_arbitration: fields.or(
            "output_arbitration",
            OutputArbitration::RoundRobin,
            |item| item.choice(ARBITRATION),
        )?,
        reserve: fields.or("reserve", false, Item::boolean)?,
        forwarding: fields
            .or("forwarding", Forwarding::CutThrough, |item| {
                item.choice(FORWARDING)
            })?
            .value,
        routing_delay: fields.or("routing_delay", Time::Cycles(1), time)?,
        allocation_delay: fields.or("allocation_delay", Time::Cycles(0), time)?,
        crossbar_delay: fields.or("crossbar_delay", Time::Cycles(0), time)?,
        credit_latency: automatic(&fields, "credit_latency")?,
        marking_threshold: marking,
    })
}

fn speedup(item: &Item<'_>) -> Read<InputSpeedup> {
    if item.is_word("Unlimited") {
        return Ok(InputSpeedup::Unlimited);
    }
    item.integer(1..=u64::from(u16::MAX))
        .map(|value| InputSpeedup::Limited(value as u16))
        .map_err(|_| item.unexpected("a whole number from 1 to 65535 or `Unlimited`"))
}
