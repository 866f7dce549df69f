//! What makes a study of a scenario: section `sweep`, and phases that find their own length.

use super::super::keys;
use super::super::schema::{Axis, Measure, Sweep, Warmup};
use super::super::syntax::{At, Item};
use super::{Read, time, whole};
use crate::plan::Precision;
use crate::units::Time;

/// Keys that are no axis, and why.
const NO_AXES: [(&str, &str); 5] = [
    ("seed", "`seeds` says how many there are"),
    ("sweep", "a sweep cannot vary itself"),
    ("title", "it changes nothing in a run"),
    ("expect", "it changes nothing in a run"),
    ("observe", "it changes nothing in a run"),
];

pub(super) fn sweep(item: &Item<'_>) -> Read<Sweep> {
    let fields = item.fields(keys::SWEEP.keys)?;
    let groups = |item: &Item<'_>| item.items()?.iter().map(group).collect::<Read<Vec<_>>>();
    let axes = fields.required("axes", groups)?;
    different_paths(&axes.value)?;
    Ok(Sweep {
        axes: axes.value,
        seeds: fields.or("seeds", 1, |item| whole(item, 1))?.value,
    })
}

/// One axis, or several that advance together.
fn group(item: &Item<'_>) -> Read<Vec<Axis>> {
    let Some(("Zip", Some(arguments))) = item.variant() else {
        return Ok(vec![axis(item)?]);
    };
    let list = arguments.tuple(
        1,
        "axes that advance together: expected `Zip([axis, axis])`",
    )?;
    let items = list[0].items()?;
    let axes = items.iter().map(axis).collect::<Read<Vec<_>>>()?;
    let Some(first) = axes.first() else {
        return Err(list[0].mistake("the list is empty: expected at least one axis"));
    };
    for (item, axis) in items.iter().zip(&axes) {
        let (count, wanted) = (axis.values.len(), first.values.len());
        if count != wanted {
            return Err(item.mistake(format!(
                "`{}` has {count} values but `{}` has {wanted}: the axes of a `Zip` advance together",
                axis.path.value, first.path.value
            )));
        }
    }
    Ok(axes)
}

fn axis(item: &Item<'_>) -> Read<Axis> {
    let pair = item.tuple(
        2,
        "an axis: expected `(\"key.path\", [values])` or `Zip([axis, axis])`",
    )?;
    let path = pair[0].text("a key path in quotes, such as \"traffic.0.process.load\"")?;
    let root = path.split(['.', '[']).next().unwrap_or_default().trim();
    if let Some((_, reason)) = NO_AXES.iter().find(|(key, _)| *key == root) {
        return Err(pair[0].mistake(format!("`{path}` cannot be an axis: {reason}")));
    }
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
}

fn different_paths(groups: &[Vec<Axis>]) -> Read<()> {
    let axes: Vec<&Axis> = groups.iter().flatten().collect();
    for (index, axis) in axes.iter().enumerate() {
        let is_same = |other: &&Axis| other.path.value == axis.path.value;
        if axes[..index].iter().any(is_same) {
            let message = format!("`{}` is already an axis", axis.path.value);
            return Err(axis.path.mistake(message));
        }
    }
    Ok(())
}

/// A time, or `Auto(at_most: time)`.
pub(super) fn warmup(item: &Item<'_>) -> Read<Warmup> {
    let Some(("Auto", arguments)) = item.variant() else {
        let time = item.at(time(item)?);
        let is_automatic = false;
        return Ok(Warmup { time, is_automatic });
    };
    Ok(Warmup {
        time: at_most(item, arguments.as_ref(), keys::AUTO_WARMUP.keys)?,
        is_automatic: true,
    })
}

/// A time, `Auto(confidence: 0.95, half_width: 0.02, at_most: time, wall_time: time)` or `Messages(at_most: time)`.
pub(super) fn measure(item: &Item<'_>) -> Read<Measure> {
    let arguments = match item.variant() {
        Some(("Auto", arguments)) => arguments,
        Some(("Messages", arguments)) => {
            return Ok(Measure {
                time: at_most(item, arguments.as_ref(), keys::UNTIL_MESSAGES.keys)?,
                precision: None,
                until_messages: true,
                wall_time: None,
            });
        }
        _ => {
            return Ok(Measure {
                time: item.at(time(item)?),
                precision: None,
                until_messages: false,
                wall_time: None,
            });
        }
    };
    let keys = keys::AUTO_MEASURE.keys;
    let longest = at_most(item, arguments.as_ref(), keys)?;
    let arguments = arguments.unwrap_or_else(|| item.clone());
    let fields = arguments.fields(keys)?;
    let wall_time = fields.get("wall_time").map(|item| match time(&item)? {
        Time::Cycles(_) => Err(item.unexpected("a time on the clock, such as \"600 s\"")),
        time @ Time::Picoseconds(_) => Ok(item.at(time)),
    });
    Ok(Measure {
        time: longest,
        precision: Some(Precision {
            confidence: fields.or("confidence", 0.95, fraction)?.value,
            half_width: fields.or("half_width", 0.02, fraction)?.value,
        }),
        until_messages: false,
        wall_time: wall_time.transpose()?,
    })
}

fn at_most(
    item: &Item<'_>,
    arguments: Option<&Item<'_>>,
    keys: &'static [crate::registry::Parameter],
) -> Read<At<Time>> {
    if let Some(arguments) = arguments {
        return arguments.fields(keys)?.required("at_most", time);
    }
    let name = item.variant().map_or("Auto", |(name, _)| name);
    let example = format!("{name}(at_most: \"1000000 cycles\")");
    Err(item.mistake(format!("`{name}` needs a bound, such as `{example}`")))
}

/// A number between 0 and 1, both left out.
pub(super) fn fraction(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(number) if number > 0.0 && number < 1.0 => Ok(number),
        _ => Err(item.unexpected("a number between 0 and 1, such as 0.95")),
    }
}
