//! Readers of values that several sections have.

use crate::scenario::syntax::{Item, Mistake, Part};
use crate::units::{Amount, BitRate, Time};
use std::fmt::Debug;

/// A value, or what is wrong with it.
pub(super) type Read<T> = Result<T, Mistake>;

/// A text; it is printed on terminals.
pub(super) fn text(item: &Item<'_>) -> Read<String> {
    let text = item.text("a text in quotes")?;
    match text.chars().find(|c| c.is_control()) {
        Some(letter) => {
            Err(item.mistake(format!("a control character ({letter:?}): leave it out")))
        }
        None => Ok(text.to_owned()),
    }
}

pub(super) fn boolean(item: &Item<'_>) -> Read<bool> {
    item.boolean()
}

pub(super) fn time(item: &Item<'_>) -> Read<Time> {
    item.quantity()
}

pub(super) fn amount(item: &Item<'_>) -> Read<Amount> {
    item.quantity()
}

pub(super) fn rate(item: &Item<'_>) -> Read<BitRate> {
    item.quantity()
}

pub(super) fn number(item: &Item<'_>) -> Read<f64> {
    item.number()
}

/// A number between 0 and 1, both left out.
pub(super) fn fraction(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(number) if number > 0.0 && number < 1.0 => Ok(number),
        _ => Err(item.unexpected("a number between 0 and 1, such as 0.95")),
    }
}

pub(super) fn small(least: u64, most: u8) -> impl Fn(&Item<'_>) -> Read<u8> {
    move |item| {
        item.integer(least..=u64::from(most))
            .map(|value| value as u8)
    }
}

pub(super) fn whole(least: u64) -> impl Fn(&Item<'_>) -> Read<u32> {
    move |item| {
        item.integer(least..=u64::from(u32::MAX))
            .map(|value| value as u32)
    }
}

pub(super) fn long(least: u64) -> impl Fn(&Item<'_>) -> Read<u64> {
    move |item| item.integer(least..=u64::MAX)
}

/// One of some values, by their names in the program.
pub(super) fn one_of<T: Copy + Debug>(values: &'static [T]) -> impl Fn(&Item<'_>) -> Read<T> {
    move |item| {
        let names: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
        let words = names.iter().map(String::as_str).zip(values.iter().copied());
        item.choice(&words.collect::<Vec<_>>())
    }
}

/// A time, or `Auto` for none.
pub(super) fn automatic(item: &Item<'_>) -> Read<Option<Time>> {
    if item.is_word("Auto") {
        return Ok(None);
    }
    match item.variant() {
        Some((name, _)) if item.quantity::<Time>().is_err() => {
            let allowed = "expected `Auto` or a time such as \"300 cycles\"";
            Err(item.mistake(format!("unknown value `{name}`: {allowed}")))
        }
        _ => time(item).map(Some),
    }
}

/// A list of values.
pub(super) fn list<T>(read: impl Fn(&Item<'_>) -> Read<T>) -> impl Fn(&Item<'_>) -> Read<Vec<T>> {
    move |item| item.items()?.iter().map(&read).collect()
}

/// A name that is looked up in a registry, with its arguments.
pub(super) fn part(kind: &'static str) -> impl Fn(&Item<'_>) -> Read<Part> {
    move |item| item.part(kind)
}
