//! Stored results of a study: a table of tab-separated values with a row for each claim and form of the study, whole or quick,
//! and of when and of which state of the program it is.
//!
//! A row stands for its claim as it is written now: where the bound has changed since, there is no result.

use super::Judgement;
use super::show::{condition, published, shown, subject};
use crate::scenario::Expectation;
use std::collections::HashMap;

const HEADING: &str =
    "source\tclaim\tform\tvalue\tinterval\tbound\tpublished\tverdict\tdate\tcommit\n";
/// Its columns.
const COLUMNS: usize = 10;
/// What a row without a result says.
const NOT_RUN: [&str; 5] = ["-", "-", "not run", "-", "-"];
/// Forms of a study in the order of their rows.
pub const FORMS: [&str; 2] = ["whole", "quick"];

/// What a result is of.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// One of [`FORMS`].
    pub form: &'a str,
    /// Day on which it was made.
    pub date: &'a str,
    /// State of the program.
    pub commit: &'a str,
}

/// The table of a study with all its claims, whose results of one form are new; those of the other are kept. A claim without any
/// result has a row that says so.
pub fn merged(
    earlier: &str,
    claims: &[Expectation],
    found: &[Judgement],
    origin: Origin<'_>,
) -> String {
    let name = |claim: &Expectation| (plain(&subject(claim)), plain(&condition(claim)));
    let kept: HashMap<[&str; 3], [&str; 5]> = earlier.lines().skip(1).filter_map(row).collect();
    let new = found
        .iter()
        .map(|judgement| (name(&judgement.expectation), judgement));
    let new: HashMap<_, &Judgement> = new.collect();
    let mut text = HEADING.to_owned();
    for claim in claims {
        let (subject, bound) = name(claim);
        let result = |form: &str| -> Option<[String; 5]> {
            if form == origin.form {
                let judgement = new.get(&(subject.clone(), bound.clone()))?;
                return Some(of(judgement, origin));
            }
            let row = kept.get(&[&*subject, &*bound, form])?;
            Some(row.map(str::to_owned))
        };
        let results = FORMS.map(|form| (form, result(form)));
        let mut rows: Vec<_> = results
            .into_iter()
            .filter_map(|(form, result)| Some((form, result?)))
            .collect();
        if rows.is_empty() {
            rows.push(("-", NOT_RUN.map(str::to_owned)));
        }
        let (source, published) = (claim.source.as_str(), published(claim));
        for (form, [value, interval, verdict, date, commit]) in rows {
            let cells = [
                source, &subject, form, &value, &interval, &bound, &published, &verdict, &date,
                &commit,
            ];
            text.push_str(&cells.join("\t"));
            text.push('\n');
        }
    }
    text
}

/// A row by claim, bound and form.
fn row(line: &str) -> Option<([&str; 3], [&str; 5])> {
    let cells: Vec<&str> = line.split('\t').collect();
    let cells: [&str; COLUMNS] = cells.try_into().ok()?;
    let [
        _,
        claim,
        form,
        value,
        interval,
        bound,
        _,
        verdict,
        date,
        commit,
    ] = cells;
    Some((
        [claim, bound, form],
        [value, interval, verdict, date, commit],
    ))
}

/// The middle where the end of an interval is judged, as sources print middles; and the interval.
fn of(judgement: &Judgement, origin: Origin<'_>) -> [String; 5] {
    let value = judgement.estimate.or(judgement.found);
    let interval = judgement.interval.map_or("-".into(), |[least, most]| {
        format!("{} to {}", shown(least), shown(most))
    });
    [
        value.map_or("none".into(), shown),
        interval,
        judgement.verdict.to_string(),
        origin.date.to_owned(),
        origin.commit.to_owned(),
    ]
}

/// A text that fits into a cell.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    fn claims(list: &str) -> Vec<Expectation> {
        let mut document = Document::embedded();
        document.assign("expect", list).unwrap();
        document.scenario().unwrap().expect
    }

    const CLAIMS: &str = "[(claim: \"a\", metric: \"load.accepted\", relation: AtLeast, value: 1, source: \"A-1\"), \
        (claim: \"b\", metric: \"load.accepted\", relation: AtMost, value: 2, published: 3)]";

    const WHOLE: Origin<'static> = Origin {
        form: "whole",
        date: "2026-11-01",
        commit: "abc",
    };

    fn judged(claims: &[Expectation], value: f64) -> Vec<Judgement> {
        let judge = |claim| Judgement::new(claim, Some(value), Some(value));
        claims.iter().map(judge).collect()
    }

    #[test]
    fn results_of_the_other_form_are_kept() {
        let claims = claims(CLAIMS);
        let first = merged("", &claims, &judged(&claims, 1.5), WHOLE);
        let quick = Origin {
            form: "quick",
            date: "2026-11-02",
            commit: "def",
        };
        // the quick form has the first claim only
        let second = merged(&first, &claims, &judged(&claims[..1], 0.5), quick);
        let expected = "A-1\ta\twhole\t1.5000\t-\t>= 1\t-\tordering only\t2026-11-01\tabc\n\
            A-1\ta\tquick\t0.50000\t-\t>= 1\t-\tfails\t2026-11-02\tdef\n\
            \tb\twhole\t1.5000\t-\t<= 2\t3\tordering only\t2026-11-01\tabc\n";
        assert_eq!(second, format!("{HEADING}{expected}"));
    }

    #[test]
    fn a_result_of_another_bound_is_none() {
        let before = claims(CLAIMS);
        let table = merged("", &before, &judged(&before, 1.5), WHOLE);
        let after = claims(&CLAIMS.replace("value: 2", "value: 4"));
        let quick = Origin {
            form: "quick",
            ..WHOLE
        };
        let table = merged(&table, &after, &[], quick);
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(
            rows[1],
            "A-1\ta\twhole\t1.5000\t-\t>= 1\t-\tordering only\t2026-11-01\tabc"
        );
        assert_eq!(rows[2], "\tb\t-\t-\t-\t<= 4\t3\tnot run\t-\t-");
        // a form that is none changes nothing
        let none = Origin { form: "", ..WHOLE };
        assert_eq!(merged(&table, &after, &[], none), table);
    }
}
