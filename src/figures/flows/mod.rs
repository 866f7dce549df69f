//! The flows of a run: how long they took, how much slower than alone they were, what each received.

pub(super) mod completion;
pub(super) mod rates;
pub(super) mod slowdown;

use crate::results::tables::FlowRow;

/// Most traffic classes of a figure.
const MOST_CLASSES: usize = 3;

/// Most steps of a curve: more cannot be told apart in pixels.
const MOST_STEPS: usize = 1000;

/// Values of one traffic class.
struct OfClass<'a> {
    name: &'a str,
    /// Flows that may have such a value.
    count: usize,
    /// Ascending.
    values: Vec<f64>,
}

/// The values of flows class by class, of the flows that `may` have one.
fn by_class(
    flows: &[FlowRow],
    may: fn(&FlowRow) -> bool,
    value: fn(&FlowRow) -> Option<f64>,
) -> Vec<OfClass<'_>> {
    let classes = flows.chunk_by(|a, b| a.class == b.class);
    let classes = classes.map(|flows| {
        let asked = || flows.iter().filter(|&flow| may(flow));
        let mut values: Vec<f64> = asked().filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        OfClass {
            name: &flows[0].class,
            count: asked().count(),
            values,
        }
    });
    classes.filter(|class| !class.values.is_empty()).collect()
}

/// A remark on classes that are not drawn.
fn left_out(classes: usize) -> String {
    if classes > MOST_CLASSES {
        format!("The first {MOST_CLASSES} of {classes} classes; flows.csv has all.")
    } else {
        String::new()
    }
}

/// Places of at most [`MOST_STEPS`] of `count` values, the first and the last among them.
fn steps(count: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(MOST_STEPS);
    (0..kept).map(move |step| step * (count - 1) / (kept - 1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_values_have_few_steps_and_both_ends() {
        assert_eq!(steps(0).count(), 0);
        assert!(steps(1).eq([0]));
        assert!(steps(4).eq(0..4));
        assert!(steps(MOST_STEPS).eq(0..MOST_STEPS));
        let many: Vec<usize> = steps(1_000_000).collect();
        assert_eq!((many[0], many[MOST_STEPS - 1]), (0, 999_999));
        assert!(
            many.windows(2)
                .all(|pair| (900..1100).contains(&(pair[1] - pair[0])))
        );
    }

    #[test]
    fn flows_without_a_value_count_where_they_may_have_one() {
        let row = |class: &str, flits, completion| FlowRow {
            class: class.into(),
            flits,
            rate: 0.5,
            completion,
        };
        let flows = [
            row("a", Some(8), Some(30)),
            row("a", Some(8), None),
            row("a", None, None),
            row("a", Some(8), Some(20)),
            row("b", None, None),
        ];
        let classes = by_class(
            &flows,
            |flow| flow.flits.is_some(),
            |flow| flow.completion.map(|cycles| cycles as f64),
        );
        assert_eq!(classes.len(), 1);
        assert_eq!((classes[0].name, classes[0].count), ("a", 3));
        assert_eq!(classes[0].values, [20.0, 30.0]);
    }
}
