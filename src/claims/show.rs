//! Claims and verdicts as lines, tables and a file.

use super::{Judgement, Verdict};
use crate::report::table::align;
use crate::scenario::expectation::{Expectation, Fold, Relation, Selection, Tolerance};
use std::fmt::{self, Write};

/// Name of the file in a run or sweep directory.
pub const FILE: &str = "claims.csv";

const HEADING: [&str; 13] = [
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
            Some(found) => write!(f, ", found {}", shown(found))?,
            None => write!(f, ", but there is no such number")?,
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

/// What a claim is about: its words, or the value it compares.
fn subject(claim: &Expectation) -> String {
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
fn condition(claim: &Expectation) -> String {
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

fn shown(found: f64) -> String {
    if found.fract() == 0.0 && found.abs() < 1e9 {
        return format!("{found:.0}");
    }
    if found.abs() < 1e-3 || found.abs() >= 1e6 {
        return format!("{found:.4e}");
    }
    let digits = (4 - found.abs().log10().floor() as i32).clamp(1, 6) as usize;
    format!("{found:.digits$}")
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
            judgement.found.map_or("none".into(), shown),
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
            judgement.found.map_or("none".into(), shown),
            condition(claim),
            judgement.verdict.to_string(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.join(" | "))
    };
    judgements.iter().map(row).collect()
}

fn published(claim: &Expectation) -> String {
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
            judgement.verdict.to_string(),
            claim.source.clone(),
            claim.deviation.clone(),
        ])?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}
