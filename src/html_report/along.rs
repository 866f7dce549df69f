//! What the points of a curve say, from the first to the last, no more than their table says: of jobs first when they were
//! complete, and last how the loads beside them went.

use super::numbers::{count, place, real_time, share};
use super::signs::{of_point, word};
use crate::report::Verdict;
use crate::results::{Across, Curve, Point};
use std::fmt::Write;
use std::ops::Range;

/// Changes from one behaviour to another that are told in order.
const MOST_CHANGES: usize = 6;

/// A point as it is told.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    x: f64,
    /// Its verdict or judgement.
    word: &'static str,
    keeps_up: bool,
    /// Whether it is known that it does not keep up.
    is_certain: bool,
}

/// How a curve of runs that all have these jobs goes, if any: when they were complete, which of its points keep up, which do
/// not, of which that is not known, and the same of every load beside jobs.
pub(super) fn along(curve: &Curve<'_>, across: &Across, jobs: &[&str]) -> String {
    let said = of_run(curve, across);
    if jobs.is_empty() {
        return said;
    }
    let completions = jobs
        .iter()
        .filter_map(|class| completion(curve, class, jobs));
    let told = completions.chain([said]).chain(beside(curve, across));
    told.collect::<Vec<_>>().join("; ")
}

/// When the job of a class was complete, the first and last of its means.
fn completion(curve: &Curve<'_>, class: &str, jobs: &[&str]) -> Option<String> {
    let points = curve.points.iter();
    let means = points.filter_map(|point| point.completion(class));
    let means: Vec<f64> = means.map(|interval| interval.mean).collect();
    let least = means.iter().copied().reduce(f64::min)?.round() as u64;
    let most = means.iter().copied().reduce(f64::max)?.round() as u64;
    let cycle = curve.points[0].runs.first()?.summary.scenario.cycle_ns;
    let told = |cycles: u64| {
        let time = real_time(cycles as f64, cycle);
        format!("{} cycles ({time})", count(cycles))
    };
    let name = match jobs {
        [_] => "completion".to_owned(),
        _ => format!("completion of {class}"),
    };
    Some(if least == most {
        format!("{name} {}", told(most))
    } else {
        format!("{name} {} to {}", told(least), told(most))
    })
}

/// How the loads beside jobs go, class by class.
fn beside(curve: &Curve<'_>, across: &Across) -> Vec<String> {
    let mut classes: Vec<(&str, Vec<Told>)> = Vec::new();
    for point in &curve.points {
        for (class, verdict) in point.beside() {
            let told = Told {
                x: point.x,
                word: word(verdict),
                keeps_up: verdict.keeps_up(),
                is_certain: is_certain(verdict),
            };
            match classes.iter_mut().find(|(name, _)| *name == class) {
                Some((_, points)) => points.push(told),
                None => classes.push((class, vec![told])),
            }
        }
    }
    let told = classes.into_iter();
    told.map(|(class, points)| format!("beside it {class} is {}", words(&points, across)))
        .collect()
}

/// How it goes by the verdicts of its runs.
fn of_run(curve: &Curve<'_>, across: &Across) -> String {
    let points: Vec<Told> = curve.points.iter().map(told).collect();
    let accepted = |point: &Point<'_>| point.mean(|summary| Some(summary.load.accepted));
    let accepted = curve.points.iter().filter_map(accepted);
    let most = accepted.map(|interval| interval.mean).reduce(f64::max);
    let words = words(&points, across);
    match most {
        Some(most) if points.len() == 1 => format!("{words}, accepted load {}", share(most)),
        Some(most) if points.iter().any(|point| !point.keeps_up) => {
            format!("{words}; accepted load at most {}", share(most))
        }
        _ => words,
    }
}

fn told(point: &Point<'_>) -> Told {
    let verdict = point.verdict;
    let is_judged = point.judgement.is_some();
    Told {
        x: point.x,
        word: of_point(point).1,
        keeps_up: point.keeps_up(),
        is_certain: point.failed == 0
            && match verdict {
                _ if is_judged => of_point(point).1 == "Not sustained",
                verdict => is_certain(verdict),
            },
    }
}

/// Whether a verdict says that what is offered is not kept up with.
fn is_certain(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Saturated | Verdict::Incomplete | Verdict::Deadlocked => true,
        Verdict::Complete | Verdict::Steady | Verdict::Undecided | Verdict::Interrupted => false,
    }
}

/// Points one after the other that behave in the same way.
#[derive(Clone, Debug)]
struct Stretch {
    points: Range<usize>,
    word: String,
    keeps_up: bool,
    is_certain: bool,
}

fn stretches(points: &[Told]) -> Vec<Stretch> {
    let is_same = |a: &Told, b: &Told| (a.keeps_up && b.keeps_up) || a.word == b.word;
    let mut start = 0;
    let chunks = points.chunk_by(is_same).map(|chunk| {
        let points = start..start + chunk.len();
        start = points.end;
        let mut words: Vec<String> = Vec::new();
        for point in chunk {
            let word = point.word.to_lowercase();
            if !words.contains(&word) {
                words.push(word);
            }
        }
        Stretch {
            points,
            word: words.join(" or "),
            keeps_up: chunk[0].keeps_up,
            is_certain: chunk[0].is_certain,
        }
    });
    chunks.collect()
}

fn words(points: &[Told], across: &Across) -> String {
    let stretches = stretches(points);
    let x = |at: usize| points[at].x;
    // the first place says what curves go over
    let first = |at: usize| place(across, x(at));
    let other = |at: usize| match across {
        Across::Offered => share(x(at)),
        Across::Setting { .. } => x(at).to_string(),
    };
    match &stretches[..] {
        [] => "no point".into(),
        [only] if points.len() == 1 => format!("{} at {}", only.word, first(0)),
        [only] if only.keeps_up && *across == Across::Offered => {
            let last = first(only.points.end - 1);
            format!("{} up to {last}, the highest that was run", only.word)
        }
        [only] => {
            let (from, to) = (first(0), other(only.points.end - 1));
            format!("{} at all that was run, from {from} to {to}", only.word)
        }
        all if all.len() > MOST_CHANGES => by_word(points, across, &other),
        [head, rest @ ..] => {
            let goes_up = head.keeps_up && *across == Across::Offered;
            let up_to = if goes_up || head.points.len() > 1 {
                "up to"
            } else {
                "at"
            };
            let mut text = format!("{} {up_to} {}", head.word, first(head.points.end - 1));
            let is_over = rest.iter().all(|stretch| stretch.is_certain);
            for (number, stretch) in rest.iter().enumerate() {
                let (from, to) = (other(stretch.points.start), other(stretch.points.end - 1));
                let is_last = number + 1 == rest.len();
                let word = &stretch.word;
                let _ = if number == 0 && head.keeps_up && is_over {
                    write!(text, ", no longer at {from} ({word})")
                } else if stretch.points.len() == 1 {
                    write!(text, ", {word} at {from}")
                } else if is_last {
                    write!(text, ", {word} from {from} on")
                } else {
                    write!(text, ", {word} from {from} to {to}")
                };
            }
            text
        }
    }
}

/// Where behaviour changes often: every word with its places.
fn by_word(points: &[Told], across: &Across, place: &dyn Fn(usize) -> String) -> String {
    let what = match across {
        Across::Offered => "offered load",
        Across::Setting { path, .. } => path,
    };
    let mut words: Vec<(&str, Vec<String>)> = Vec::new();
    for (number, point) in points.iter().enumerate() {
        match words.iter_mut().find(|(word, _)| *word == point.word) {
            Some((_, places)) => places.push(place(number)),
            None => words.push((point.word, vec![place(number)])),
        }
    }
    let words: Vec<String> = words
        .iter()
        .map(|(word, places)| format!("{} at {}", word.to_lowercase(), places.join(", ")))
        .collect();
    format!("by {what}: {}", words.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve of points with these words, at 0.1, 0.2, ...
    fn curve(words_of: &str) -> String {
        let points = words_of.chars().enumerate().map(|(number, letter)| {
            let (word, keeps_up, is_certain) = match letter {
                's' => ("Steady", true, false),
                'c' => ("Complete", true, false),
                'u' => ("Undecided", false, false),
                'i' => ("Incomplete", false, true),
                'd' => ("Deadlocked", false, true),
                'x' => ("Interrupted", false, false),
                'f' => ("Failed", false, false),
                _ => ("Saturated", false, true),
            };
            Told {
                x: (number + 1) as f64 / 10.0,
                word,
                keeps_up,
                is_certain,
            }
        });
        words(&points.collect::<Vec<_>>(), &Across::Offered)
    }

    /// Points, and what is said of them.
    const CASES: &[(&str, &str)] = &[
        ("s", "steady at offered load 0.1000"),
        ("u", "undecided at offered load 0.1000"),
        (
            "ss",
            "steady up to offered load 0.2000, the highest that was run",
        ),
        (
            "sc",
            "steady or complete up to offered load 0.2000, the highest that was run",
        ),
        (
            "oo",
            "saturated at all that was run, from offered load 0.1000 to 0.2000",
        ),
        (
            "uu",
            "undecided at all that was run, from offered load 0.1000 to 0.2000",
        ),
        (
            "sso",
            "steady up to offered load 0.2000, no longer at 0.3000 (saturated)",
        ),
        (
            "sood",
            "steady up to offered load 0.1000, no longer at 0.2000 (saturated), deadlocked at 0.4000",
        ),
        (
            "cii",
            "complete up to offered load 0.1000, no longer at 0.2000 (incomplete)",
        ),
        (
            "su",
            "steady up to offered load 0.1000, undecided at 0.2000",
        ),
        (
            "suo",
            "steady up to offered load 0.1000, undecided at 0.2000, saturated at 0.3000",
        ),
        (
            "susoo",
            "steady up to offered load 0.1000, undecided at 0.2000, steady at 0.3000, saturated from 0.4000 on",
        ),
        ("us", "undecided at offered load 0.1000, steady at 0.2000"),
        ("os", "saturated at offered load 0.1000, steady at 0.2000"),
        (
            "sos",
            "steady up to offered load 0.1000, saturated at 0.2000, steady at 0.3000",
        ),
        (
            "sfx",
            "steady up to offered load 0.1000, failed at 0.2000, interrupted at 0.3000",
        ),
        (
            "sof",
            "steady up to offered load 0.1000, saturated at 0.2000, failed at 0.3000",
        ),
        (
            "suuoo",
            "steady up to offered load 0.1000, undecided from 0.2000 to 0.3000, saturated from 0.4000 on",
        ),
        (
            "sususus",
            "by offered load: steady at 0.1000, 0.3000, 0.5000, 0.7000; undecided at 0.2000, 0.4000, 0.6000",
        ),
    ];

    #[test]
    fn no_more_is_said_than_the_points_say() {
        for &(points, expected) in CASES {
            assert_eq!(curve(points), expected, "{points}");
        }
    }

    #[test]
    fn every_point_is_told_with_its_own_word() {
        // all mixtures of five behaviours on four points: a point that does not keep up is never called so, nor the other way
        let letters = ['s', 'u', 'o', 'f', 'd'];
        for number in 0..625_usize {
            let word = (0..4).map(|at| letters[number / 5_usize.pow(at) % 5]);
            let word: String = word.collect();
            let said = curve(&word);
            let is_mixed = word.contains(['u', 'f']);
            let after = word.trim_start_matches('s');
            let no_longer = word.starts_with('s') && !after.is_empty();
            let no_longer = no_longer && !is_mixed && !after.contains('s');
            assert_eq!(said.contains("no longer"), no_longer, "{word}: {said}");
            for (letter, name) in [('u', "undecided"), ('f', "failed"), ('d', "deadlocked")] {
                assert_eq!(said.contains(name), word.contains(letter), "{word}: {said}");
            }
        }
    }
}
