//! Section `observe`.

use super::super::keys;
use super::super::schema::Observe;
use super::super::syntax::Item;
use super::{Read, study, text, whole};
use crate::measure::Sample;

pub(super) fn observe(item: &Item<'_>) -> Read<Observe> {
    let fields = item.fields(keys::OBSERVE.keys)?;
    let packets = fields.or("packets", Sample::None, sample)?;
    let classes = fields.get("classes").filter(|item| !item.is_word("All"));
    let names = |item: Item<'_>| {
        let name = |item: &Item<'_>| text(item).map(|name| item.at(name));
        item.items()?.iter().map(name).collect::<Read<Vec<_>>>()
    };
    Ok(Observe {
        packets: packets.value,
        flows: fields.or("flows", false, Item::boolean)?.value,
        classes: classes.map(names).transpose()?,
    })
}

fn sample(item: &Item<'_>) -> Read<Sample> {
    match item.variant() {
        Some(("All", None)) => Ok(Sample::All),
        Some(("Every", Some(arguments))) => {
            let number = arguments.tuple(1, "a number of packets such as `Every(100)`")?;
            whole(&number[0], 1).map(Sample::Every)
        }
        Some(("Fraction", Some(arguments))) => {
            let number = arguments.tuple(1, "a fraction such as `Fraction(0.01)`")?;
            study::fraction(&number[0]).map(Sample::Fraction)
        }
        _ => Err(item.unexpected(
            "a choice of packets: expected `None`, `All`, `Every(n)` or `Fraction(f)`",
        )),
    }
}
