//! Section `expect`.

use super::super::expectation::{Expectation, Fold, Relation, Selection, Tolerance};
use super::super::schema::{Axis, Sweep};
use super::super::{keys, metrics};
use super::{Read, text};
use crate::registry::unknown;
use crate::scenario::syntax::{Fields, Item};

const RELATIONS: [(&str, Relation); 3] = [
    ("Equals", Relation::Equals),
    ("AtLeast", Relation::AtLeast),
    ("AtMost", Relation::AtMost),
];
const FOLDS: [(&str, Fold); 4] = [
    ("Each", Fold::Each),
    ("Mean", Fold::Mean),
    ("Max", Fold::Max),
    ("Min", Fold::Min),
];

/// All claims; their points are those of `sweep`.
pub(super) fn expectations(item: &Item<'_>, sweep: Option<&Sweep>) -> Read<Vec<Expectation>> {
    let items = item.items()?;
    items.iter().map(|item| expectation(item, sweep)).collect()
}

fn expectation(item: &Item<'_>, sweep: Option<&Sweep>) -> Read<Expectation> {
    let fields = item.fields(keys::EXPECT.keys)?;
    let metric = fields.required("metric", text)?;
    metrics::find(&metric.value).map_err(|message| metric.mistake(message))?;
    let select = |item: &Item<'_>| selection(item, sweep);
    let over = fields.get("over").and_then(|item| item.optional());
    let over = over.map(|item| select(&item));
    Ok(Expectation {
        claim: words(&fields, "claim")?,
        metric,
        at: fields.or("at", Vec::new(), select)?.value,
        over: over.transpose()?,
        points: fold(&fields, "points", Fold::Each)?,
        seeds: fold(&fields, "seeds", Fold::Mean)?,
        relation: fields
            .required("relation", |item| item.choice(&RELATIONS))?
            .value,
        value: fields.required("value", Item::number)?.value,
        tolerance: fields
            .or("tolerance", Tolerance::Absolute(0.0), tolerance)?
            .value,
        published: fields
            .get("published")
            .and_then(|item| item.optional())
            .map(|item| item.number())
            .transpose()?,
        source: words(&fields, "source")?,
        deviation: words(&fields, "deviation")?,
    })
}

fn words(fields: &Fields<'_>, key: &str) -> Read<String> {
    Ok(fields.or(key, String::new(), text)?.value)
}

fn fold(fields: &Fields<'_>, key: &str, default: Fold) -> Read<Fold> {
    Ok(fields.or(key, default, |item| item.choice(&FOLDS))?.value)
}

fn tolerance(item: &Item<'_>) -> Read<Tolerance> {
    match item.variant() {
        Some(("Relative", Some(arguments))) => {
            let value = arguments.tuple(1, "a fraction such as `Relative(0.05)`")?;
            value[0].number().map(Tolerance::Relative)
        }
        _ => item.number().map(Tolerance::Absolute),
    }
}

/// Values of axes that a point must have.
fn selection(item: &Item<'_>, sweep: Option<&Sweep>) -> Read<Selection> {
    let known: Vec<&Axis> = sweep
        .iter()
        .flat_map(|sweep| sweep.axes.iter().flatten())
        .collect();
    let pair = |item: &Item<'_>| {
        let pair = item.tuple(2, "a value of an axis: expected `(\"key.path\", value)`")?;
        let path = pair[0].text("the key path of an axis in quotes")?;
        let Some(axis) = known.iter().find(|axis| axis.path.value == path) else {
            let paths = known.iter().map(|axis| axis.path.value.as_str());
            return Err(pair[0].mistake(unknown("axis", path, paths)));
        };
        let value = pair[1].node.to_text();
        if axis.values.iter().all(|other| other.value != value) {
            let values: Vec<&str> = axis
                .values
                .iter()
                .map(|value| value.value.as_str())
                .collect();
            return Err(pair[1].mistake(format!(
                "axis `{path}` has no value {value}: {}",
                values.join(", ")
            )));
        }
        Ok((path.to_owned(), value))
    };
    item.items()?.iter().map(pair).collect()
}
