//! Claims and verdicts as lines, tables and a file.

use super::{Judgement, Verdict};
use crate::report::table::align;
use crate::scenario::expectation::{Expectation, Fold, Relation, Selection, Tolerance};
use std::fmt::{self, Write};

/// Name of the file in a run or sweep directory.
pub const FILE: &str = "claims.csv";

const HEADING: [&str; 14] = [
    "claim",
    "metric",
    "at",
    "over",
    "points",
    "seeds",
    "relation",
    "value",
    "published",
    "found",
    "estimate",
    "verdict",
    "source",
    "deviation",
];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reproduced => "reproduced",
            Self::OrderingOnly => "ordering only",
            Self::Differs => "differs",
            Self::Fails => "fails",
        })
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claim = &self.expectation;
        write!(f, "{} {}", subject(claim), condition(claim))?;
        match self.found {
            Some(_) => write!(f, ", found {}", ours(self))?,
            None => write!(f, ", but there is no such number: {}", missing(claim))?,
        }
        if let Some(published) = claim.published {
            write!(f, ", published {published}")?;
        }
        match claim.source.as_str() {
            "" => Ok(()),
            source => write!(f, " ({source})"),
        }
    }
}

/// Why a claim may have no value, and what gives it one.
fn missing(claim: &Expectation) -> &'static str {
    match claim.seeds {
        Fold::Lower | Fold::Upper => {
            "an interval needs two seeds or more (`sweep.seeds`, `sweep.quick.seeds`), the value in each run, and of ratios only such above 0"
        }
        Fold::Geometric => "a geometric mean needs the value in each run, and only such above 0",
        Fold::Each | Fold::Mean | Fold::Max | Fold::Min => {
            "a run failed or does not measure it (see `virtlane list metric`), or it is divided by 0"
        }
    }
}

/// What a claim is about: its words, or the value it compares.
pub(super) fn subject(claim: &Expectation) -> String {
    if !claim.claim.is_empty() {
        return claim.claim.clone();
    }
    let fold = |how: Fold| match how {
        Fold::Each | Fold::Mean => "",
        Fold::Geometric => "geometric mean of ",
        Fold::Max => "largest ",
        Fold::Min => "smallest ",
        Fold::Lower => "95 % sure least mean ",
        Fold::Upper => "95 % sure largest mean ",
    };
    let mut text = format!(
        "{}{}{}",
        fold(claim.points),
        fold(claim.seeds),
        claim.metric.value
    );
    if let Some(per) = &claim.per {
        let _ = write!(text, " per {}", per.value);
    }
    if !claim.at.is_empty() {
        let _ = write!(text, " at {}", selected(&claim.at));
    }
    if let Some(over) = &claim.over {
        let _ = write!(text, " over that at {}", selected(over));
    }
    text
}

/// `>= 0.5 +- 3 %`.
pub(super) fn condition(claim: &Expectation) -> String {
    let relation = match claim.relation {
        Relation::Equals => "=",
        Relation::AtLeast => ">=",
        Relation::AtMost => "<=",
    };
    let slack = match claim.tolerance {
        Tolerance::Absolute(slack) if slack > 0.0 => format!(" +- {slack}"),
        Tolerance::Relative(part) if part > 0.0 => format!(" +- {} %", part * 100.0),
        _ => String::new(),
    };
    format!("{relation} {}{slack}", claim.value)
}

/// `fabric.switch.lanes = 2, routing = Lash()`.
fn selected(selection: &Selection) -> String {
    let pairs = selection
        .iter()
        .map(|(path, value)| format!("{} = {}", path.value, value.value));
    pairs.collect::<Vec<_>>().join(", ")
}

pub(super) fn shown(found: f64) -> String {
    if found.fract() == 0.0 && found.abs() < 1e9 {
        return format!("{found:.0}");
    }
    if found.abs() < 1e-3 || found.abs() >= 1e6 {
        return format!("{found:.4e}");
    }
    let digits = (4 - found.abs().log10().floor() as i32).clamp(1, 6) as usize;
    format!("{found:.digits$}")
}

/// The value found, or the middle of an interval with the end that is judged: `0.707 (to 0.806)`.
fn ours(judgement: &Judgement) -> String {
    let found = judgement.found.map_or("none".into(), shown);
    let side = match judgement.expectation.seeds {
        Fold::Lower => "from",
        Fold::Upper => "to",
        Fold::Each | Fold::Mean | Fold::Geometric | Fold::Max | Fold::Min => return found,
    };
    match judgement.estimate {
        Some(estimate) => format!("{} ({side} {found})", shown(estimate)),
        None => found,
    }
}

/// All claims as lines for people; empty without claims.
pub fn lines(judgements: &[Judgement]) -> String {
    if judgements.is_empty() {
        return String::new();
    }
    let line = |judgement: &Judgement| format!("{:<13}  {judgement}\n", judgement.verdict);
    let lines: String = judgements.iter().map(line).collect();
    format!("\nexpected\n{lines}")
}

/// Claim, published value, value found, what was expected, verdict.
pub fn table(judgements: &[Judgement]) -> String {
    let heading = ["verdict", "published", "ours", "expected", "claim"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    for judgement in judgements {
        let claim = &judgement.expectation;
        rows.push(vec![
            judgement.verdict.to_string(),
            published(claim),
            ours(judgement),
            condition(claim),
            subject(claim) + &sourced(claim),
        ]);
    }
    let mut text = text_last(rows);
    for judgement in judgements {
        let claim = &judgement.expectation;
        if judgement.verdict != Verdict::Reproduced && !claim.deviation.is_empty() {
            let verdict = judgement.verdict;
            let _ = writeln!(text, "{verdict}: {}: {}", subject(claim), claim.deviation);
        }
    }
    text
}

/// Rows whose last column is text: it starts at the same place in every row.
pub fn text_last(mut rows: Vec<Vec<String>>) -> String {
    let last = |row: &Vec<String>| row.last().map_or(0, |cell| cell.chars().count());
    let widest = rows.iter().map(last).max().unwrap_or(0);
    for cell in rows.iter_mut().filter_map(|row| row.last_mut()) {
        *cell = format!("{cell:<widest$}");
    }
    align(&rows)
}

/// First lines of the table that [`markdown`] makes rows of.
pub const MARKDOWN_HEADING: &str = "\
| study | claim | published | ours | expected | verdict |
|---|---|---|---|---|---|
";

/// Claims as rows of a Markdown table.
pub fn markdown(study: &str, judgements: &[Judgement]) -> String {
    let row = |judgement: &Judgement| {
        let claim = &judgement.expectation;
        let cells = [
            study.to_owned(),
            subject(claim) + &sourced(claim),
            published(claim),
            ours(judgement),
            condition(claim),
            judgement.verdict.to_string(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.join(" | "))
    };
    judgements.iter().map(row).collect()
}

pub(super) fn published(claim: &Expectation) -> String {
    claim
        .published
        .map_or("-".into(), |value| value.to_string())
}

fn sourced(claim: &Expectation) -> String {
    match claim.source.as_str() {
        "" => String::new(),
        source => format!("  [{source}]"),
    }
}

/// All claims as CSV.
///
/// # Errors
/// Never for a buffer in memory; the writer has no other form.
pub fn csv(judgements: &[Judgement]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADING)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for judgement in judgements {
        let claim = &judgement.expectation;
        writer.write_record([
            subject(claim),
            claim.metric.value.clone(),
            selected(&claim.at),
            claim.over.as_ref().map_or(String::new(), selected),
            format!("{:?}", claim.points),
            format!("{:?}", claim.seeds),
            condition(claim),
            claim.value.to_string(),
            number(claim.published),
            number(judgement.found),
            number(judgement.estimate),
            judgement.verdict.to_string(),
            claim.source.clone(),
            claim.deviation.clone(),
        ])?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seeds: &str, found: Option<f64>) -> String {
        let mut document = crate::scenario::Document::embedded();
        let text =
            format!("[(metric: \"load.accepted\", seeds: {seeds}, relation: AtMost, value: 1)]");
        document.assign("expect", &text).unwrap();
        let claim = &document.scenario().unwrap().expect[0];
        Judgement::new(claim, found, Some(0.7072)).to_string()
    }

    #[test]
    fn an_end_of_an_interval_is_shown_with_its_middle() {
        let ends = |text: &str, end: &str| assert!(text.ends_with(end), "{text}");
        ends(
            &line("Upper", Some(0.8057)),
            "<= 1, found 0.70720 (to 0.80570)",
        );
        ends(
            &line("Lower", Some(0.6057)),
            "<= 1, found 0.70720 (from 0.60570)",
        );
        ends(&line("Mean", Some(0.7072)), "<= 1, found 0.70720");
        assert!(line("Upper", None).contains("two seeds or more"));
    }
}
