//! Section `faults`: failed switches and links.

use super::super::keys;
use super::super::schema::{FailedLink, Failures, Faults};
use super::super::syntax::{At, Item};
use super::{Read, member, whole};

pub(super) fn faults(item: &Item<'_>) -> Read<Faults> {
    let fields = item.fields(keys::FAULTS.keys)?;
    let seed = fields.get("seed");
    Ok(Faults {
        switches: fields.or("switches", Failures::None, |item| {
            failures(item, "`List([switches])`", member)
        })?,
        links: fields.or("links", Failures::None, |item| {
            failures(item, "`List([(switch, switch), Port(switch, port)])`", link)
        })?,
        keep_connected: fields.or("keep_connected", true, Item::boolean)?.value,
        seed: seed.map(|item| item.integer(0..=u64::MAX)).transpose()?,
    })
}

/// `Count(3)`, `Fraction(0.05)` or `List([...])`.
fn failures<T>(
    item: &Item<'_>,
    list: &str,
    read: impl Fn(&Item<'_>) -> Read<At<T>>,
) -> Read<Failures<At<T>>> {
    let expected = format!("one of `None`, `Count(3)`, `Fraction(0.05)`, {list}");
    let Some((name, Some(arguments))) = item.variant() else {
        return Err(item.unexpected(&expected));
    };
    let argument = &arguments.tuple(1, &expected)?[0];
    match name {
        "Count" => whole(argument, 0).map(Failures::Count),
        "Fraction" => match argument.number()? {
            fraction if (0.0..=1.0).contains(&fraction) => Ok(Failures::Fraction(fraction)),
            _ => Err(argument.unexpected("a fraction from 0 to 1")),
        },
        "List" => {
            let items = argument.items()?;
            items
                .iter()
                .map(read)
                .collect::<Read<_>>()
                .map(Failures::List)
        }
        _ => Err(item.unexpected(&expected)),
    }
}

/// `("S0", "S1")` or `Port("S0", 7)`.
fn link(item: &Item<'_>) -> Read<At<FailedLink>> {
    let expected = "a link such as `(\"S0\", \"S1\")` or `Port(\"S0\", 7)`";
    let failed = if let Some(("Port", Some(arguments))) = item.variant() {
        let pair = arguments.tuple(2, expected)?;
        let port = pair[1].integer(1..=u64::from(u16::MAX))?;
        FailedLink::Port(member(&pair[0])?, port as u16)
    } else {
        let pair = item.tuple(2, expected)?;
        FailedLink::Between(member(&pair[0])?, member(&pair[1])?)
    };
    Ok(item.at(failed))
}
