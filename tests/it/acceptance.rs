//! The table of acceptance checks: complete, in known words, and every claim it names exists and says as much.
//!
//! `scripts/validation.sh --names` checks that the tests exist that it names.

use std::collections::BTreeMap;
use virtlane::scenario::Expectation;
use virtlane::scenario::shipped::Shipped;

/// Where the table is.
const TABLE: &str = "tests/acceptance.tsv";

/// Ids of every source, in its order; `A-01..A-20` = all from one number to the other.
const SOURCES: [(&str, &str); 5] = [
    (
        "000",
        "A-01..A-20 A-21..A-28 A-31..A-38 A-41..A-45 A-51..A-59 A-5A A-61..A-69 A-6A A-6B A-6C A-6D",
    ),
    (
        "001",
        "T1..T6 R1..R11 M1..M6 S1..S15 P1..P11 O1..O3 I1..I6 C1..C5 V1..V2",
    ),
    ("002", "A1..A21"),
    ("003", "C1..C18 C20..C55"),
    ("004", "C1..C27"),
];

const VERDICTS: [&str; 5] = ["proved", "ordering only", "differs", "open", "out of scope"];

/// One acceptance check.
#[derive(Debug, serde::Deserialize)]
struct Row {
    seed: String,
    id: String,
    verdict: String,
    proof: String,
    reason: String,
}

fn rows() -> Vec<Row> {
    let mut table = csv::ReaderBuilder::new();
    let table = table.delimiter(b'\t').quoting(false).from_path(TABLE);
    let mut table = table.expect("tests run in the repository");
    let headings: Vec<_> = table.headers().expect("a heading").iter().collect();
    assert_eq!(headings, ["seed", "id", "verdict", "proof", "reason"]);
    table
        .deserialize()
        .map(|row| row.expect("five columns"))
        .collect()
}

/// The ids of a list.
fn ids(list: &str) -> Vec<String> {
    let of = |range: &str| -> Vec<String> {
        let Some((first, end)) = range.split_once("..") else {
            return vec![range.to_owned()];
        };
        let digits = first.trim_start_matches(|c: char| !c.is_ascii_digit());
        let (letters, width) = (&first[..first.len() - digits.len()], digits.len());
        let number = |id: &str| id[letters.len()..].parse::<u32>().expect("a number");
        (number(first)..=number(end))
            .map(|number| format!("{letters}{number:0width$}"))
            .collect()
    };
    list.split(' ').flat_map(of).collect()
}

/// Claims of a shipped study about a check.
fn claims(study: &str, id: &str) -> Vec<Expectation> {
    let shipped = Shipped::find(study).unwrap_or_else(|error| panic!("{TABLE}: {error}"));
    let document = shipped.document().expect("shipped studies are read");
    let scenario = document.scenario().expect("shipped studies are read");
    let about = |claim: &Expectation| claim.source == id;
    scenario.expect.into_iter().filter(about).collect()
}

#[test]
fn every_check_has_one_row() {
    let rows = rows();
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        found.entry(&row.seed).or_default().push(&row.id);
    }
    for (seed, list) in SOURCES {
        let found = found.remove(seed).unwrap_or_default();
        assert_eq!(found, ids(list), "seed {seed}");
    }
    assert!(found.is_empty(), "unknown sources: {found:?}");
    assert_eq!(
        SOURCES
            .iter()
            .map(|(_, list)| ids(list).len())
            .sum::<usize>(),
        231
    );
}

#[test]
fn verdicts_have_what_they_need() {
    for row in rows() {
        let (verdict, at) = (&*row.verdict, format!("{TABLE}: {} {}", row.seed, row.id));
        assert!(VERDICTS.contains(&verdict), "{at}: `{verdict}`");
        let needs_proof = ["proved", "ordering only"].contains(&verdict);
        assert!(!needs_proof || !row.proof.is_empty(), "{at}: no proof");
        let needs_reason = verdict != "proved";
        assert!(!needs_reason || !row.reason.is_empty(), "{at}: no reason");
    }
}

/// A check that is proved rests on no claim that is known not to hold.
#[test]
fn claims_that_are_named_exist() {
    let mut named = 0;
    for row in rows() {
        for proof in row.proof.split(' ') {
            let Some(claim) = proof.strip_prefix("claim:") else {
                continue;
            };
            let (study, id) = claim.split_once(':').expect("claim:STUDY:ID");
            let claims = claims(study, id);
            assert!(!claims.is_empty(), "{TABLE}: {proof}: no such claim");
            let holds = claims.iter().all(|claim| claim.deviation.is_empty());
            assert!(holds || row.verdict != "proved", "{TABLE}: {proof} differs");
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}
