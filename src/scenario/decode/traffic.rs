//! Section `traffic`: classes, their hosts, sizes and service levels.

use super::super::keys;
use super::super::schema::{Class, Demand, HostSet, Member, ServiceLevels, Size};
use super::super::syntax::{At, Fields, Item};
use super::{Read, amount, small, text, whole};

pub(super) fn class(item: &Item<'_>) -> Read<Class> {
    let fields = item.fields(keys::CLASS.keys)?;
    let packets = fields.get("packets");
    Ok(Class {
        name: fields.required("name", text)?,
        hosts: fields.or("hosts", HostSet::All, host_set)?,
        demand: demand(&fields)?,
        size: fields.required("size", size)?,
        service_levels: fields.or("sl", ServiceLevels::Data(vec![0]), service_levels)?,
        packets: packets.map(|item| item.integer(1..=u64::MAX)).transpose()?,
    })
}

/// Messages, or pattern and process.
fn demand(fields: &Fields<'_>) -> Read<Demand> {
    let Some(messages) = fields.get("messages") else {
        return Ok(Demand::Packets {
            pattern: fields.need("pattern")?.part("traffic pattern")?,
            process: fields.need("process")?.part("arrival process")?,
        });
    };
    for key in ["pattern", "process", "packets"] {
        if let Some(item) = fields.get(key) {
            return Err(item.mistake(format!(
                "`{key}` does not go with `messages`, which say who sends what and when"
            )));
        }
    }
    messages.part("message source").map(Demand::Messages)
}

pub(super) fn different_names(classes: At<Vec<Class>>) -> Read<Vec<Class>> {
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
    item.items()?.iter().map(super::member).collect()
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
