//! Tree to [`Scenario`]: every key known, every value of its type and in its range.

mod expectation;
mod fabric;
mod faults;
mod observe;
mod study;
mod traffic;

use super::keys;
use super::schema::{Member, Phases, Scenario};
use super::syntax::{At, Fields, Item, Mistake, Node};
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::HighPriorityLimit;
use crate::units::{Amount, BitRate, Time};

type Read<T> = Result<T, Mistake>;

/// Reads a whole scenario.
///
/// # Errors
/// The first wrong key or value.
pub(super) fn scenario(root: &Node) -> Read<Scenario> {
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
    let fabric = fabric::fabric(&fields.need("fabric")?)?;
    let faults = fields.get("faults").map(|item| faults::faults(&item));
    let faults = faults.transpose()?;
    let (vl_arbitration, management_lane) = qos(&fields)?;
    let routing = fields.need("routing")?.part("routing engine")?;
    let classes = fields.required("traffic", |item| {
        item.items()?.iter().map(traffic::class).collect()
    })?;
    let traffic = traffic::different_names(classes)?;
    let phases = phases(&fields.need("phases")?)?;
    let observe = fields.get("observe").map(|item| observe::observe(&item));
    let observe = observe.transpose()?;
    let allow_deadlock = fields.or("allow_deadlock", false, Item::boolean)?.value;
    let allow_unreachable = fields.or("allow_unreachable", false, Item::boolean)?.value;
    let sweep = fields
        .get("sweep")
        .map(|item| study::sweep(&item))
        .transpose()?;
    let expect = fields.or("expect", Vec::new(), |item| {
        expectation::expectations(item, sweep.as_ref())
    })?;
    Ok(Scenario {
        title,
        seed,
        fabric,
        faults,
        vl_arbitration,
        management_lane,
        routing,
        traffic,
        phases,
        allow_deadlock,
        allow_unreachable,
        observe,
        sweep,
        expect: expect.value,
    })
}

fn text(item: &Item<'_>) -> Read<String> {
    let text = item.text("a text in quotes")?;
    // it is printed on terminals
    match text.chars().find(|c| c.is_control()) {
        Some(letter) => {
            Err(item.mistake(format!("a control character ({letter:?}): leave it out")))
        }
        None => Ok(text.to_owned()),
    }
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

/// A host or switch by number or name.
fn member(item: &Item<'_>) -> Read<At<Member>> {
    match whole(item, 0) {
        Ok(number) => Ok(item.at(Member::Number(number))),
        Err(_) => item
            .text("a number or a name in quotes")
            .map(|name| item.at(Member::Name(name.to_owned()))),
    }
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

fn phases(item: &Item<'_>) -> Read<Phases> {
    let fields = item.fields(keys::PHASES.keys)?;
    Ok(Phases {
        warmup: study::warmup(&fields.need("warmup")?)?,
        measure: study::measure(&fields.need("measure")?)?,
        drain: automatic(&fields, "drain")?,
        watchdog: fields.or("watchdog", Time::Cycles(10_000), time)?,
    })
}
