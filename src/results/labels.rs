//! What curves are called: the fewest settings that tell them apart, in words.

use super::settings::Settings;
use crate::scenario::names::setting;
use std::collections::BTreeSet;

/// Keys that say most of a simulated system, the first the most.
const TELLING: [&str; 5] = ["topology", "routing", "control", "pattern", "process"];

/// Which settings name the curves.
pub(super) struct Labels<'a> {
    paths: Vec<&'a str>,
    /// Whether words tell all curves apart; else values are written with their whole key paths.
    are_words: bool,
}

impl<'a> Labels<'a> {
    /// Names for curves by their settings, out of the key paths that differ; those of `axes` come first.
    pub(super) fn new(plans: &[&Settings], candidates: Vec<&'a str>, axes: &[&str]) -> Self {
        let paths = told_by(plans, candidates, axes);
        let mut labels = Self {
            paths,
            are_words: true,
        };
        let distinct: BTreeSet<Vec<String>> = plans.iter().map(|plan| labels.parts(plan)).collect();
        labels.are_words = distinct.len() == plans.len();
        labels
    }

    /// The words of a curve, one for each setting that names it.
    pub(super) fn parts(&self, plan: &Settings) -> Vec<String> {
        let words = self.paths.iter().map(|path| {
            let value = plan.get(*path).map(String::as_str);
            if self.are_words {
                setting(path, value, self.class(path))
            } else {
                format!("{path} {}", value.unwrap_or("none"))
            }
        });
        words.collect()
    }

    /// The class of a key that several classes have.
    fn class(&self, path: &'a str) -> Option<&'a str> {
        let key = |path: &'a str| path.rsplit('.').next();
        let same = self.paths.iter().filter(|other| key(other) == key(path));
        let class = path.strip_prefix("traffic.")?.split('.').next();
        class.filter(|_| same.count() > 1)
    }
}

/// The fewest key paths, as a greedy search finds them, that tell all curves apart.
fn told_by<'a>(plans: &[&Settings], candidates: Vec<&'a str>, axes: &[&str]) -> Vec<&'a str> {
    let groups = |paths: &[&str]| {
        let values = plans
            .iter()
            .map(|plan| -> Vec<_> { paths.iter().map(|path| plan.get(*path)).collect() });
        values.collect::<BTreeSet<_>>().len()
    };
    let mut left = candidates;
    let mut chosen: Vec<&str> = Vec::new();
    while groups(&chosen) < plans.len() {
        let with = |path: &&str| groups(&[&chosen[..], &[*path]].concat());
        // of equals what a reader would name first, then the first
        let found = left.iter().enumerate().rev();
        let found = found.max_by_key(|(_, path)| (with(path), weight(path, axes)));
        match found.map(|(place, _)| place) {
            Some(place) => chosen.push(left.remove(place)),
            None => break,
        }
    }
    // as a person orders them: the system first
    chosen.sort_by_key(|path| std::cmp::Reverse(weight(path, axes)));
    chosen
}

/// How much a key says of a simulated system, when others differ along with it: whether it is an axis, what it is, and how
/// high it stands.
fn weight(path: &str, axes: &[&str]) -> (bool, usize, std::cmp::Reverse<usize>) {
    let key = path.rsplit('.').next().unwrap_or(path);
    let place = TELLING.iter().position(|telling| *telling == key);
    let says = place.map_or(0, |place| TELLING.len() - place);
    let depth = std::cmp::Reverse(path.split('.').count());
    (axes.iter().any(|axis| is_of(path, axis)), says, depth)
}

/// Whether a key is that of an axis, or one above or below it. Axes may have numbers where keys have the names of classes.
fn is_of(path: &str, axis: &str) -> bool {
    let axis = axis.replace('[', ".").replace(']', "");
    let mut keys = path.split('.').zip(axis.split('.')).enumerate();
    keys.all(|(place, (key, other))| {
        key == other
            || (place == 1 && other.parse::<usize>().is_ok() && path.starts_with("traffic."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(values: &[(&str, &str)]) -> Settings {
        let values = values.iter();
        values
            .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn labels(plans: &[Settings], axes: &[&str]) -> Vec<String> {
        let plans: Vec<&Settings> = plans.iter().collect();
        let all: BTreeSet<&str> = plans
            .iter()
            .flat_map(|plan| plan.keys().map(String::as_str))
            .collect();
        let labels = Labels::new(&plans, all.into_iter().collect(), axes);
        let words = plans.iter().map(|plan| labels.parts(plan).join(", "));
        words.collect()
    }

    #[test]
    fn a_control_names_its_curve_and_not_what_comes_with_it() {
        let with = plan(&[
            ("traffic.bulk.answers.queue", "None"),
            ("traffic.bulk.answers.sl", "0"),
            ("traffic.bulk.control", "Dcqcn()"),
        ]);
        let without = plan(&[("traffic.bulk.control", "None")]);
        assert_eq!(labels(&[without, with], &[]), ["no control", "DCQCN"]);
    }

    #[test]
    fn axes_name_curves_before_what_follows_from_them() {
        let of = |lanes: &str, capacity: &str| {
            plan(&[
                ("fabric.switch.lane_capacity", capacity),
                ("fabric.switch.lanes", lanes),
            ])
        };
        let plans = [of("2", "64 flits"), of("4", "32 flits")];
        assert_eq!(
            labels(&plans, &["fabric.switch.lanes"]),
            ["2 lanes", "4 lanes"]
        );
        let capacities = ["lane capacity 64 flits", "lane capacity 32 flits"];
        assert_eq!(labels(&plans, &["fabric.switch.lane_capacity"]), capacities);
        assert!(is_of("traffic.bulk.control", "traffic[0].control"));
        assert!(is_of("routing", "routing.lanes") && !is_of("routing", "faults.links"));
    }

    #[test]
    fn classes_are_named_where_several_differ_in_the_same() {
        let of = |bulk: &str, mice: &str| {
            plan(&[
                ("traffic.bulk.pattern", bulk),
                ("traffic.mice.pattern", mice),
            ])
        };
        let plans = [
            of("Uniform", "Uniform"),
            of("Uniform", "Shift(by: 1)"),
            of("Tornado", "Uniform"),
        ];
        assert_eq!(
            labels(&plans, &[])[1..],
            [
                "bulk Uniform, mice Shift (by 1)",
                "bulk Tornado, mice Uniform"
            ]
        );
    }

    #[test]
    fn names_that_would_be_the_same_are_written_out() {
        let of = |value: &str| plan(&[("a.routing", value)]);
        let plans = [of("Dcqcn()"), of("DCQCN()")];
        assert_eq!(
            labels(&plans, &[]),
            ["a.routing Dcqcn()", "a.routing DCQCN()"]
        );
    }
}
