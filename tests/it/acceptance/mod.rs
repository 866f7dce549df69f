//! The table of acceptance checks: complete, in known words, and every proof it names exists and says as much.
//!
//! What the words mean is told at the head of its section in docs/validation.md.

mod proofs;

use proofs::{Claims, Made, Tests, has_base, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use virtlane::claims::store::{Origin, merged};
use virtlane::scenario::shipped::STUDIES;

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

const VERDICTS: [&str; 7] = [
    "proved",
    "part",
    "own fabric",
    "ordering only",
    "differs",
    "open",
    "out of scope",
];

/// An acceptance check, or a clause of the one above it.
#[derive(Debug, serde::Deserialize)]
struct Row {
    seed: String,
    /// `A-62`, or `A-62.1` of a clause.
    id: String,
    /// The text of a clause.
    clause: String,
    verdict: String,
    /// Whether every run makes its proofs.
    shown: String,
    /// What it was run on: `base`, the one of its document, or how it differs from that.
    configuration: String,
    proof: String,
    reason: String,
}

impl Row {
    fn at(&self) -> String {
        format!("{TABLE}: {} {}", self.seed, self.id)
    }

    fn is_clause(&self) -> bool {
        self.id.contains('.')
    }

    fn proofs(&self) -> impl Iterator<Item = &str> {
        self.proof.split(' ').filter(|proof| !proof.is_empty())
    }
}

fn rows() -> Vec<Row> {
    let mut table = csv::ReaderBuilder::new();
    let table = table.delimiter(b'\t').quoting(false).from_path(TABLE);
    let mut table = table.expect("tests run in the repository");
    let headings: Vec<_> = table.headers().expect("a heading").iter().collect();
    let expected = "seed id clause verdict shown configuration proof reason";
    assert_eq!(headings, expected.split(' ').collect::<Vec<_>>());
    let rows = table.deserialize();
    rows.map(|row| row.expect("eight columns")).collect()
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

/// Every check with its clauses.
fn checks(rows: &[Row]) -> Vec<(&Row, &[Row])> {
    let heads = (0..rows.len()).filter(|&row| !rows[row].is_clause());
    let of = |head: usize| {
        let clauses = rows[head + 1..].iter().take_while(|row| row.is_clause());
        let count = clauses.count();
        (&rows[head], &rows[head + 1..=head + count])
    };
    heads.map(of).collect()
}

#[test]
fn every_check_has_one_row() {
    let rows = rows();
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (row, _) in checks(&rows) {
        found.entry(&row.seed).or_default().push(&row.id);
    }
    let mut count = 0;
    for (seed, list) in SOURCES {
        let found = found.remove(seed).unwrap_or_default();
        assert_eq!(found, ids(list), "seed {seed}");
        count += found.len();
    }
    assert!(found.is_empty(), "unknown sources: {found:?}");
    assert_eq!(count, 231);
}

/// A check whose clauses fare differently has a row for each of them, numbered; no other has.
#[test]
fn clauses_belong_to_a_check() {
    let rows = rows();
    assert!(!rows[0].is_clause());
    for (row, clauses) in checks(&rows) {
        let at = row.at();
        assert!(row.clause.is_empty(), "{at}: it is no clause");
        let is_part = row.verdict == "part";
        assert_eq!(is_part, !clauses.is_empty(), "{at}: `part` names clauses");
        for (number, clause) in (1..).zip(clauses) {
            assert_eq!(clause.seed, row.seed, "{at}");
            assert_eq!(clause.id, format!("{}.{number}", row.id), "{at}");
            assert!(!clause.clause.is_empty(), "{}: no text", clause.at());
            assert_ne!(clause.verdict, "part", "{}", clause.at());
        }
        let words: BTreeSet<&str> = clauses.iter().map(|row| &*row.verdict).collect();
        assert!(
            !is_part || words.len() > 1,
            "{at}: all clauses are {words:?}"
        );
    }
}

#[test]
fn verdicts_have_what_they_need() {
    for row in rows() {
        let (verdict, at) = (&*row.verdict, row.at());
        assert!(VERDICTS.contains(&verdict), "{at}: `{verdict}`");
        let needs_proof = ["proved", "own fabric", "ordering only"].contains(&verdict);
        assert!(!needs_proof || !row.proof.is_empty(), "{at}: no proof");
        let needs_reason = verdict != "proved";
        assert!(!needs_reason || !row.reason.is_empty(), "{at}: no reason");
        let is_own = verdict == "own fabric";
        let names_one = !["", "base"].contains(&&*row.configuration);
        assert!(!is_own || names_one, "{at}: which fabric?");
        let is_run = row.proof.contains("claim:");
        let names_any = !row.configuration.is_empty();
        assert!(!is_run || names_any, "{at}: what was it run on?");
    }
}

/// A check that is proved rests on no claim that is known not to hold, and the table says of each whether every run makes its proofs.
#[test]
fn proofs_that_are_named_exist() {
    let (tests, mut claims) = (Tests::read(), Claims::default());
    let (mut named, mut wrong) = ([0; 2], String::new());
    for row in rows() {
        let at = row.at();
        let mut made = BTreeSet::new();
        for proof in row.proofs() {
            let Some(claim) = proof.strip_prefix("claim:") else {
                let found = tests.find(proof);
                made.insert(found.unwrap_or_else(|| panic!("{at}: no test {proof}")));
                named[0] += 1;
                continue;
            };
            let (study, id) = claim.split_once(':').expect("claim:STUDY:ID");
            let is_base = row.configuration.starts_with("base");
            assert!(!is_base || has_base(study), "{at}: {study} has no base");
            let found = claims.about(study, id);
            assert!(!found.is_empty(), "{at}: {proof}: no such claim");
            let holds = found.iter().all(|(claim, _)| claim.deviation.is_empty());
            let is_proved = ["proved", "own fabric"].contains(&&*row.verdict);
            assert!(holds || !is_proved, "{at}: {proof} differs");
            made.extend(found.into_iter().map(|(_, made)| made));
            named[1] += 1;
        }
        if shown(&made) != row.shown {
            let (seed, id) = (&row.seed, &row.id);
            writeln!(wrong, "{seed}\t{id}\t{}", shown(&made)).expect("a string takes text");
        }
    }
    assert!(
        wrong.is_empty(),
        "{TABLE}, column `shown` should be\n{wrong}"
    );
    assert!(named[0] > 100 && named[1] > 80, "{named:?}");
}

/// Where results of claims are stored.
const RESULTS: &str = "tests/results/studies";

/// Stored results are of the claims as they are written now, and every study has a table.
#[test]
fn stored_results_are_those_of_the_claims() {
    let none = Origin {
        form: "",
        date: "",
        commit: "",
    };
    let mut files = BTreeSet::new();
    for study in STUDIES {
        let path = format!("{RESULTS}/{}.tsv", study.id);
        let stored = fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{path}: {cause}"));
        let scenario = study.document().and_then(|document| document.scenario());
        let claims = scenario.expect("shipped studies are read").expect;
        let expected = merged(&stored, &claims, &[], none);
        assert_same(&path, &stored, &expected);
        files.insert(format!("{}.tsv", study.id));
    }
    let entries = fs::read_dir(RESULTS).expect("tests run in the repository");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let names: BTreeSet<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(names, files);
}

/// The first line that differs.
fn assert_same(path: &str, stored: &str, expected: &str) {
    let differs = stored.lines().zip(expected.lines()).find(|(a, b)| a != b);
    let words = "`virtlane reproduce STUDY --store tests/results/studies` writes it";
    assert!(differs.is_none(), "{path}: {words}: {differs:#?}");
    assert_eq!(
        stored.lines().count(),
        expected.lines().count(),
        "{path}: {words}"
    );
}

#[test]
fn tests_are_found_by_their_names() {
    let tests = Tests::read();
    let own = "acceptance::tests_are_found_by_their_names";
    assert_eq!(tests.find(own), Some(Made::EveryRun));
    assert_eq!(tests.find("acceptance::rows"), None, "it is no test");
    assert_eq!(tests.find("acceptances::"), None);
    assert_eq!(tests.find("acceptance::"), Some(Made::EveryRun));
    let on_demand = "validation::lash::lash_runs_a_million_cycles_with_buffers_of_one_packet";
    assert_eq!(tests.find(on_demand), Some(Made::OnDemand));
}

#[test]
fn tests_on_demand_say_profile_time_reason_and_command() {
    let tests = Tests::read();
    let on_demand = tests.on_demand();
    assert!(!on_demand.is_empty());
    for (attribute, name) in on_demand {
        let quoted = attribute.split_once('"');
        let reason = quoted.and_then(|(_, rest)| rest.strip_suffix("\"]"));
        let command = format!("; scripts/on_demand.sh {name}");
        let said = reason.and_then(|reason| reason.strip_suffix(&command));
        let parts = said.and_then(|said| said.split_once(": "));
        let (how, why) = parts.unwrap_or_default();
        let (profile, time) = how.split_once(", ").unwrap_or_default();
        let (count, unit) = time.split_once(' ').unwrap_or_default();
        let is_told = ["dev", "release"].contains(&profile)
            && count.parse::<u32>().is_ok()
            && ["minute", "minutes", "seconds"].contains(&unit)
            && !why.is_empty();
        assert!(
            is_told,
            "{attribute}: the reason should be \"dev or release, N minutes: why{command}\""
        );
    }
}
