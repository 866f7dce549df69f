//! Tree to [`Scenario`]: every key known, every value of its type and in its range.

use super::keys;
use super::plan::{BufferSharing, Forwarding, InputSpeedup, Matching, OutputArbitration, Queues};
use super::schema::{
    Axis, Class, Expectation, Fabric, HostSet, Link, Member, Phases, Relation, Scenario,
    ServiceLevels, Size, Sweep, Switch, Tolerance,
};
use super::syntax::{At, Fields, Item, Mistake, Node};
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::HighPriorityLimit;
use crate::units::{Amount, BitRate, Time};

type Read<T> = Result<T, Mistake>;

/// Reads a whole scenario.
///
/// # Errors
/// The first wrong key or value.
pub fn scenario(root: &Node) -> Read<Scenario> {
    let whole = Item {
        node: root,
        path: String::new(),
    };
    let whole = match whole.variant() {
        Some(("Scenario", Some(inner))) => inner,
        Some(_) => return Err(whole.unexpected("a scenario: expected `Scenario(...)`")),
        None => whole,
    };
    let fields = whole.fields(keys::SCENARIO.keys)?;
    let title = fields.or("title", "untitled".into(), text)?.value;
    let seed = fields
        .or("seed", 1, |item| item.integer(0..=u64::MAX))?
        .value;
    let fabric = fabric(&fields.need("fabric")?)?;
    let (vl_arbitration, management_lane) = qos(&fields)?;
    let routing = fields.need("routing")?.part("routing engine")?;
    let classes = fields.required("traffic", |item| item.items()?.iter().map(class).collect())?;
    let traffic = different_names(classes)?;
    let phases = phases(&fields.need("phases")?)?;
    let allow_deadlock = fields.or("allow_deadlock", false, Item::boolean)?.value;
    let sweep = fields.get("sweep").map(|item| sweep(&item)).transpose()?;
    let expect = fields.or("expect", Vec::new(), |item| {
        item.items()?.iter().map(expectation).collect()
    })?;
    Ok(Scenario {
        title,
        seed,
        fabric,
        vl_arbitration,
        management_lane,
        routing,
        traffic,
        phases,
        allow_deadlock,
        sweep,
        expect: expect.value,
    })
}

fn text(item: &Item<'_>) -> Read<String> {
    item.text("a text in quotes").map(str::to_owned)
}

fn time(item: &Item<'_>) -> Read<Time> {
    item.quantity()
}

fn amount(item: &Item<'_>) -> Read<Amount> {
    item.quantity()
}

fn rate(item: &Item<'_>) -> Read<BitRate> {
    item.quantity()
}

fn small(item: &Item<'_>, least: u64, most: u8) -> Read<u8> {
    item.integer(least..=u64::from(most))
        .map(|value| value as u8)
}

fn whole(item: &Item<'_>, least: u64) -> Read<u32> {
    item.integer(least..=u64::from(u32::MAX))
        .map(|value| value as u32)
}

/// A time or `Auto`.
fn automatic(fields: &Fields<'_>, key: &str) -> Read<Option<At<Time>>> {
    match fields.get(key) {
        Some(item) if !item.is_word("Auto") => match item.variant() {
            Some((name, _)) if item.quantity::<Time>().is_err() => {
                let allowed = "expected `Auto` or a time such as \"300 cycles\"";
                Err(item.mistake(format!("unknown value `{name}`: {allowed}")))
            }
            _ => time(&item).map(|value| Some(item.at(value))),
        },
        _ => Ok(None),
    }
}

fn fabric(item: &Item<'_>) -> Read<Fabric> {
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
    let mut host_link = link.clone();
    if let Some(item) = fields.get("host_link") {
        let fields = item.fields(keys::HOST_LINK.keys)?;
        host_link.rate = fields.get("rate").map_or(Ok(host_link.rate), |item| {
            rate(&item).map(|value| item.at(value))
        })?;
        host_link.latency = fields
            .get("latency")
            .map_or(Ok(host_link.latency), |item| {
                time(&item).map(|value| item.at(value))
            })?;
    }
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
        host_link,
        switch,
        sink_rate,
        source_queue,
    })
}

fn switch(item: &Item<'_>) -> Read<Switch> {
    let fields = item.fields(keys::SWITCH.keys)?;
    let marking = match fields.get("marking") {
        Some(item) => Some(
            item.fields(keys::MARKING.keys)?
                .required("threshold", amount)?,
        ),
        None => None,
    };
    let queues = [("Fifo", Queues::Fifo), ("Voq", Queues::Voq)];
    let sharing = [
        ("PerLane", BufferSharing::PerLane),
        ("PortPool", BufferSharing::PortPool),
    ];
    let matching = [
        ("OutputFirst", Matching::OutputFirst),
        ("InputFirst", Matching::InputFirst),
    ];
    let arbitration = [
        ("RoundRobin", OutputArbitration::RoundRobin),
        (
            "FirstComeFirstServed",
            OutputArbitration::FirstComeFirstServed,
        ),
        ("OldestFirst", OutputArbitration::OldestFirst),
        ("Random", OutputArbitration::Random),
    ];
    let forwarding = [
        ("CutThrough", Forwarding::CutThrough),
        ("StoreAndForward", Forwarding::StoreAndForward),
    ];
    Ok(Switch {
        lanes: fields.or("lanes", 1, |item| small(item, 1, 15))?,
        lane_capacity: fields.required("lane_capacity", amount)?,
        queues: fields
            .or("queues", Queues::Fifo, |item| item.choice(&queues))?
            .value,
        sharing: fields.or("sharing", BufferSharing::PerLane, |item| {
            item.choice(&sharing)
        })?,
        input_speedup: fields.or("input_speedup", InputSpeedup::Limited(1), speedup)?,
        output_buffer: fields.or("output_buffer", Amount::Flits(0), amount)?,
        matching: fields.or("matching", Matching::OutputFirst, |item| {
            item.choice(&matching)
        })?,
        iterations: fields
            .or("iterations", 1, |item| small(item, 1, 255))?
            .value,
        output_arbitration: fields.or(
            "output_arbitration",
            OutputArbitration::RoundRobin,
            |item| item.choice(&arbitration),
        )?,
        reserve: fields.or("reserve", false, Item::boolean)?,
        forwarding: fields
            .or("forwarding", Forwarding::CutThrough, |item| {
                item.choice(&forwarding)
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

fn qos(fields: &Fields<'_>) -> Read<(Option<At<VlArbitrationTables>>, At<bool>)> {
    let Some(item) = fields.get("qos") else {
        let management = fields.or("qos", false, Item::boolean)?;
        return Ok((None, management));
    };
    let fields = item.fields(keys::QOS.keys)?;
    let tables = match fields.get("vl_arbitration") {
        Some(item) => Some(item.at(vl_arbitration(&item)?)),
        None => None,
    };
    Ok((tables, fields.or("management_lane", false, Item::boolean)?))
}

fn vl_arbitration(item: &Item<'_>) -> Read<VlArbitrationTables> {
    let fields = item.fields(keys::VL_ARBITRATION.keys)?;
    let high = fields.or("high", Vec::new(), vl_entries)?;
    let low = fields.or("low", Vec::new(), vl_entries)?;
    let limit = fields.or(
        "limit_of_high_priority",
        HighPriorityLimit::Units(0),
        |item| match item.variant() {
            Some(("Unlimited", None)) => Ok(HighPriorityLimit::Unlimited),
            Some(("Packets", Some(arguments))) => {
                let packets = arguments.tuple(1, "a number of packets such as `Packets(32)`")?;
                whole(&packets[0], 1).map(HighPriorityLimit::Packets)
            }
            _ => match item.integer(0..=255) {
                Ok(255) => Ok(HighPriorityLimit::Unlimited),
                Ok(units) => Ok(HighPriorityLimit::Units(units as u8)),
                Err(_) => Err(item.unexpected(
                    "a limit: expected 0 to 255 (units of 4096 bytes), `Packets(n)` or `Unlimited`",
                )),
            },
        },
    )?;
    Ok(VlArbitrationTables {
        high: high.value,
        low: low.value,
        limit: limit.value,
    })
}

fn vl_entries(item: &Item<'_>) -> Read<Vec<(u8, u8)>> {
    const MOST: usize = 64;
    let items = item.items()?;
    if items.len() > MOST {
        let count = items.len();
        return Err(item.mistake(format!("{count} entries: a table has at most {MOST}")));
    }
    let entry = |item: &Item<'_>| {
        let pair = item.tuple(2, "an entry: expected `(lane, weight)`")?;
        Ok((small(&pair[0], 0, 14)?, small(&pair[1], 0, 255)?))
    };
    items.iter().map(entry).collect()
}

fn class(item: &Item<'_>) -> Read<Class> {
    let fields = item.fields(keys::CLASS.keys)?;
    let packets = fields.get("packets");
    Ok(Class {
        name: fields.required("name", text)?,
        hosts: fields.or("hosts", HostSet::All, host_set)?,
        pattern: fields.need("pattern")?.part("traffic pattern")?,
        process: fields.need("process")?.part("arrival process")?,
        size: fields.required("size", size)?,
        service_levels: fields.or("sl", ServiceLevels::Data(vec![0]), service_levels)?,
        packets: packets.map(|item| item.integer(1..=u64::MAX)).transpose()?,
    })
}

fn different_names(classes: At<Vec<Class>>) -> Read<Vec<Class>> {
    if classes.value.is_empty() {
        return Err(classes.mistake("there is no traffic class: expected at least one"));
    }
    for (index, class) in classes.value.iter().enumerate() {
        let earlier = &classes.value[..index];
        if let Some(first) = earlier
            .iter()
            .position(|other| other.name.value == class.name.value)
        {
            let name = &class.name.value;
            let message = format!("the name `{name}` is already taken by traffic[{first}]");
            return Err(class.name.mistake(message));
        }
    }
    Ok(classes.value)
}

fn host_set(item: &Item<'_>) -> Read<HostSet> {
    const EXPECTED: &str = "a set of hosts: expected `All`, `Range(first, last)`, `List([...])`, \
                            `EveryNth(n, offset)` or `Switches([...])`";
    match item.variant() {
        Some(("All", None)) => Ok(HostSet::All),
        Some(("Range", Some(arguments))) => {
            let ends = arguments.tuple(2, "a range: expected `Range(first, last)`")?;
            Ok(HostSet::Range(whole(&ends[0], 0)?, whole(&ends[1], 0)?))
        }
        Some(("EveryNth", Some(arguments))) => {
            let pair = arguments.tuple(2, "a step: expected `EveryNth(n, offset)`")?;
            Ok(HostSet::EveryNth(whole(&pair[0], 1)?, whole(&pair[1], 0)?))
        }
        Some(("List", Some(arguments))) => {
            let list = arguments.tuple(1, "a list: expected `List([...])`")?;
            members(&list[0]).map(HostSet::List)
        }
        Some(("Switches", Some(arguments))) => {
            let list = arguments.tuple(1, "a list: expected `Switches([...])`")?;
            members(&list[0]).map(HostSet::Switches)
        }
        _ => Err(item.unexpected(EXPECTED)),
    }
}

fn members(item: &Item<'_>) -> Read<Vec<At<Member>>> {
    let member = |item: &Item<'_>| match whole(item, 0) {
        Ok(number) => Ok(item.at(Member::Number(number))),
        Err(_) => item
            .text("a number or a name in quotes")
            .map(|name| item.at(Member::Name(name.to_owned()))),
    };
    item.items()?.iter().map(member).collect()
}

fn size(item: &Item<'_>) -> Read<Size> {
    let Some(("Mixed", Some(arguments))) = item.variant() else {
        return amount(item).map(|size| Size::Fixed(item.at(size)));
    };
    let list = arguments.tuple(1, "a mix: expected `Mixed([(size, weight), ...])`")?;
    let entry = |item: &Item<'_>| {
        let pair = item.tuple(2, "an entry: expected `(size, weight)`")?;
        Ok((pair[0].at(amount(&pair[0])?), whole(&pair[1], 0)?))
    };
    list[0]
        .items()?
        .iter()
        .map(entry)
        .collect::<Read<_>>()
        .map(Size::Mixed)
}

fn service_levels(item: &Item<'_>) -> Read<ServiceLevels> {
    if item.is_word("Management") {
        return Ok(ServiceLevels::Management);
    }
    if let Ok(items) = item.items() {
        if items.is_empty() {
            return Err(item.mistake("the list is empty: expected at least one service level"));
        }
        let levels = items.iter().map(|item| small(item, 0, 15));
        return levels.collect::<Read<_>>().map(ServiceLevels::Data);
    }
    match small(item, 0, 15) {
        Ok(level) => Ok(ServiceLevels::Data(vec![level])),
        Err(_) => Err(item.unexpected(
            "a service level: expected 0 to 15, a list such as `[0, 1]` or `Management`",
        )),
    }
}

fn phases(item: &Item<'_>) -> Read<Phases> {
    let fields = item.fields(keys::PHASES.keys)?;
    Ok(Phases {
        warmup: fields.required("warmup", time)?,
        measure: fields.required("measure", time)?,
        drain: automatic(&fields, "drain")?,
        watchdog: fields.or("watchdog", Time::Cycles(10_000), time)?,
    })
}

fn sweep(item: &Item<'_>) -> Read<Sweep> {
    let fields = item.fields(keys::SWEEP.keys)?;
    let axis = |item: &Item<'_>| {
        let pair = item.tuple(2, "an axis: expected `(\"key.path\", [values])`")?;
        let path = pair[0].text("a key path in quotes, such as \"traffic.0.process.load\"")?;
        let values = pair[1].items()?;
        if values.is_empty() {
            return Err(pair[1].mistake("the list is empty: expected at least one value"));
        }
        Ok(Axis {
            path: pair[0].at(path.to_owned()),
            values: values
                .iter()
                .map(|value| value.at(value.node.to_text()))
                .collect(),
        })
    };
    let axes = fields.required("axes", |item| item.items()?.iter().map(axis).collect())?;
    Ok(Sweep {
        axes: axes.value,
        seeds: fields.or("seeds", 1, |item| whole(item, 1))?.value,
    })
}

fn expectation(item: &Item<'_>) -> Read<Expectation> {
    let fields = item.fields(keys::EXPECT.keys)?;
    let relations = [
        ("Equals", Relation::Equals),
        ("AtLeast", Relation::AtLeast),
        ("AtMost", Relation::AtMost),
    ];
    let tolerance = |item: &Item<'_>| match item.variant() {
        Some(("Relative", Some(arguments))) => {
            let value = arguments.tuple(1, "a fraction such as `Relative(0.05)`")?;
            value[0].number().map(Tolerance::Relative)
        }
        _ => item.number().map(Tolerance::Absolute),
    };
    let metric = fields.required("metric", text)?;
    super::metrics::find(&metric.value).map_err(|message| metric.mistake(message))?;
    Ok(Expectation {
        metric,
        relation: fields
            .required("relation", |item| item.choice(&relations))?
            .value,
        value: fields.required("value", Item::number)?.value,
        tolerance: fields
            .or("tolerance", Tolerance::Absolute(0.0), tolerance)?
            .value,
        source: fields.or("source", String::new(), text)?.value,
    })
}
