//! Section `sweep`: axes, alone or together.

use super::values::{Read, list, whole};
use crate::scenario::print::Printer;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item};

/// Keys that are no axis, and why.
const NO_AXES: [(&str, &str); 5] = [
    ("seed", "`seeds` says how many there are"),
    ("sweep", "a sweep cannot vary itself"),
    ("title", "it changes nothing in a run"),
    ("expect", "it changes nothing in a run"),
    ("observe", "it changes nothing in a run"),
];

section! {
    /// Values to vary, for `virtlane sweep`.
    Sweep = "sweep" in "sweep" {
        /// Every combination is run; the axes of a Zip advance together, such as a topology and its routing
        axes: Vec<Vec<Axis>> = groups, "list of (key path, [values]) | Zip([(key path, [values]), ...])";
        /// Runs per combination, with seeds counted from `seed`
        seeds: u32 = whole(1), "integer >= 1" or "1";
    }
}

/// One axis of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Key path, as for `--set`.
    pub path: At<String>,
    /// Values as RON text.
    pub values: Vec<At<String>>,
}

/// Groups of axes: the axes of a group have the same number of values and advance together; most groups have one.
fn groups(item: &Item<'_>) -> Read<Vec<Vec<Axis>>> {
    let groups = list(group)(item)?;
    different_paths(&groups)?;
    Ok(groups)
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

impl Sweep {
    /// The section.
    pub(super) fn print(&self, printer: &mut Printer) {
        printer.block("axes: [", "],", |printer| {
            for group in &self.axes {
                match &group[..] {
                    [axis] => printer.line(format!("{},", written(axis))),
                    several => {
                        let axes: Vec<_> = several.iter().map(written).collect();
                        printer.line(format!("Zip([{}]),", axes.join(", ")));
                    }
                }
            }
        });
        printer.key("seeds", self.seeds);
    }
}

/// An axis as `(path, [values])`.
fn written(axis: &Axis) -> String {
    let values: Vec<_> = axis.values.iter().map(|at| at.value.as_str()).collect();
    format!("({}, [{}])", quote(&axis.path.value), values.join(", "))
}
