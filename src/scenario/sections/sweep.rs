//! Section `sweep`: axes, alone or together.

use super::values::{Read, list, whole};
use crate::registry::unknown;
use crate::scenario::print::Printer;
use crate::scenario::syntax::sense::sense_of;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Fields, Item, Mistake};
use std::collections::HashMap;

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
    Sweep = "sweep" in "sweep" checked by Sweep::check_quick {
        /// Every combination is run; the axes of a Zip advance together, such as a topology and its routing
        axes: Vec<Vec<Axis>> = groups, "list of (key path, [values]) | Zip([(key path, [values]), ...])";
        /// Runs per combination, with seeds counted from `seed`
        seeds: At<u32> = whole(1), "integer >= 1" or "1";
        /// What `virtlane reproduce --quick` makes of it; None = the same
        quick: Option<Quick> = Quick::read, "None | section" or None;
    }
}

section! {
    /// A thinner sweep: of its claims those are judged whose points are left, and which do not say `quick: false`.
    Quick = "quick" in "sweep.quick" {
        /// Runs per combination; None = as many
        seeds: Option<u32> = whole(1), "None | integer >= 1" or None;
        /// Axes with the values that are left; those that advance together with them are thinned alike
        values: Vec<Axis> = thinned, "list of (axis, [values])" or "[]";
        /// Changes of the scenario, as by `--set`
        set: Vec<(At<String>, At<String>)> = assignments, "list of (key path, value)" or "[]";
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
        let axes = vec![axis(item)?];
        different_points(&axes)?;
        return Ok(axes);
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
    different_points(&axes)?;
    Ok(axes)
}

/// Refuses what a group would run twice: values that say the same, at the same place of all its axes.
fn different_points(axes: &[Axis]) -> Read<()> {
    let Some(first) = axes.first() else {
        return Ok(());
    };
    let point = |place: usize| -> Vec<&str> {
        let values = axes.iter().map(|axis| axis.values[place].value.as_str());
        values.collect()
    };
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    for (place, value) in first.values.iter().enumerate() {
        let said = point(place).into_iter().map(sense_of).collect();
        let Some(earlier) = known.insert(said, place) else {
            continue;
        };
        let [point, earlier] = [place, earlier].map(|place| point(place).join(", "));
        let what = if point == earlier {
            format!("`{point}` stands here twice")
        } else {
            format!("`{point}` is `{earlier}`, which stands before it")
        };
        return Err(value.mistake(format!("{what}: expected each value once")));
    }
    Ok(())
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
    let values: Vec<At<String>> = values
        .iter()
        .map(|value| value.at(value.node.to_text()))
        .collect();
    Ok(Axis {
        path: pair[0].at(path.to_owned()),
        values,
    })
}

/// Axes, each once.
fn thinned(item: &Item<'_>) -> Read<Vec<Axis>> {
    let axes = list(axis)(item)?;
    once(axes.iter().map(|axis| &axis.path))?;
    Ok(axes)
}

/// Key paths with the values they get.
fn assignments(item: &Item<'_>) -> Read<Vec<(At<String>, At<String>)>> {
    let one = |item: &Item<'_>| {
        let pair = item.tuple(2, "a change: expected `(\"key.path\", value)`")?;
        let path = pair[0].text("a key path in quotes, such as \"phases.measure\"")?;
        Ok((
            pair[0].at(path.to_owned()),
            pair[1].at(pair[1].node.to_text()),
        ))
    };
    let all = list(one)(item)?;
    once(all.iter().map(|(path, _)| path))?;
    Ok(all)
}

/// Refuses a key path that stands in a list twice.
pub(super) fn once<'a>(paths: impl Iterator<Item = &'a At<String>>) -> Read<()> {
    let mut known: Vec<&str> = Vec::new();
    for path in paths {
        if known.contains(&path.value.as_str()) {
            let message = format!("`{}` stands here twice: expected it once", path.value);
            return Err(path.mistake(message));
        }
        known.push(&path.value);
    }
    Ok(())
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
    /// Every thinned axis is one of the sweep, and so are its values.
    fn check_quick(&self, _: &Fields<'_>) -> Result<(), Mistake> {
        let Some(quick) = &self.quick else {
            return Ok(());
        };
        for thinned in &quick.values {
            let axes = || self.axes.iter().flatten();
            let Some(whole) = axes().find(|axis| axis.path.value == thinned.path.value) else {
                let paths = axes().map(|axis| axis.path.value.as_str());
                return Err(thinned
                    .path
                    .mistake(unknown("axis", &thinned.path.value, paths)));
            };
            for value in &thinned.values {
                if whole.values.iter().all(|other| other.value != value.value) {
                    return Err(value.mistake(whole.lacks(&value.value)));
                }
            }
        }
        Ok(())
    }

    /// The axes that are left in the quick form.
    pub(in crate::scenario) fn thinned(&self, quick: &Quick) -> Vec<Vec<Axis>> {
        let thin = |group: &Vec<Axis>| {
            let is_left = |place: &usize| {
                group.iter().all(|axis| {
                    let mut thinned = quick.values.iter();
                    let thinned = thinned.find(|thinned| thinned.path.value == axis.path.value);
                    let value = &axis.values[*place].value;
                    thinned.is_none_or(|left| left.values.iter().any(|kept| kept.value == *value))
                })
            };
            let places: Vec<usize> = (0..group[0].values.len()).filter(is_left).collect();
            let thin = |axis: &Axis| Axis {
                path: axis.path.clone(),
                values: places
                    .iter()
                    .map(|&place| axis.values[place].clone())
                    .collect(),
            };
            group.iter().map(thin).collect()
        };
        self.axes.iter().map(thin).collect()
    }

    /// The section.
    pub(super) fn print(&self, printer: &mut Printer) {
        printer.block("axes: [", "],", |printer| {
            for group in &self.axes {
                printer.line(format!("{},", written_group(group)));
            }
        });
        printer.key("seeds", self.seeds.value);
        match &self.quick {
            Some(quick) => printer.block("quick: (", "),", |printer| quick.print(printer)),
            None => printer.key("quick", "None"),
        }
    }
}

impl Quick {
    fn print(&self, printer: &mut Printer) {
        printer.or_none("seeds", self.seeds);
        let values: Vec<_> = self.values.iter().map(written).collect();
        printer.key("values", format_args!("[{}]", values.join(", ")));
        let set = self.set.iter();
        let set: Vec<_> = set
            .map(|(path, value)| format!("({}, {})", quote(&path.value), value.value))
            .collect();
        printer.key("set", format_args!("[{}]", set.join(", ")));
    }
}

impl Axis {
    /// What is said of a value it does not have.
    pub(super) fn lacks(&self, value: &str) -> String {
        let values = self.values.iter().map(|value| value.value.as_str());
        let values: Vec<&str> = values.collect();
        format!(
            "axis `{}` has no value {value}: {}",
            self.path.value,
            values.join(", ")
        )
    }
}

/// A group of axes as it is written.
pub(in crate::scenario) fn written_group(group: &[Axis]) -> String {
    match group {
        [axis] => written(axis),
        several => {
            let axes: Vec<_> = several.iter().map(written).collect();
            format!("Zip([{}])", axes.join(", "))
        }
    }
}

/// An axis as `(path, [values])`.
fn written(axis: &Axis) -> String {
    let values: Vec<_> = axis.values.iter().map(|at| at.value.as_str()).collect();
    format!("({}, [{}])", quote(&axis.path.value), values.join(", "))
}
