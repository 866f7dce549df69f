//! What a row of the table rests on: tests by their names, claims of shipped studies, and whether every run makes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use virtlane::scenario::Expectation;
use virtlane::scenario::shipped::Shipped;

/// Where a proof is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Made {
    /// By `cargo test`, or by the quick form of a study.
    EveryRun,
    /// By a whole study only.
    Whole,
    /// By a test that is left out until asked for.
    OnDemand,
}

/// The word of the column `shown` for all proofs of a row.
pub(super) fn shown(made: &BTreeSet<Made>) -> &'static str {
    let made: Vec<Made> = made.iter().copied().collect();
    match made[..] {
        [] => "",
        [Made::EveryRun] => "every run",
        [Made::Whole] => "whole only",
        [Made::OnDemand] => "on demand only",
        [Made::EveryRun, ..] => "in part",
        _ => "whole and on demand only",
    }
}

/// Claims of the shipped studies that were asked for, and where they are made.
#[derive(Default)]
pub(super) struct Claims {
    read: BTreeMap<String, Vec<(Expectation, Made)>>,
}

impl Claims {
    /// Those of a study about a check (`A-62`, its clauses included) or a clause (`A-62.1`).
    pub(super) fn about(&mut self, study: &str, id: &str) -> Vec<(Expectation, Made)> {
        let all = self
            .read
            .entry(study.to_owned())
            .or_insert_with(|| of(study));
        let about = |(claim, _): &&(Expectation, Made)| {
            let rest = claim.source.strip_prefix(id);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        all.iter().filter(about).cloned().collect()
    }
}

/// Whether a shipped study starts from the base of its document.
pub(super) fn has_base(study: &str) -> bool {
    let shipped = Shipped::find(study).unwrap_or_else(|error| panic!("{error}"));
    let document = shipped.document().expect("shipped studies are read");
    document.changes_of_base().is_some()
}

/// All claims of a study.
fn of(study: &str) -> Vec<(Expectation, Made)> {
    let shipped = Shipped::find(study).unwrap_or_else(|error| panic!("{error}"));
    let document = shipped.document().expect("shipped studies are read");
    let quick = document.clone().quick().expect("and their quick forms");
    let [all, left] = [document, quick].map(|document| {
        let scenario = document.scenario();
        scenario.expect("shipped studies are read").expect
    });
    let name = |claim: &Expectation| (claim.claim.clone(), claim.source.clone());
    let left: BTreeSet<_> = left.iter().map(name).collect();
    let made = |claim: Expectation| {
        let is_left = left.contains(&name(&claim));
        (claim, if is_left { Made::EveryRun } else { Made::Whole })
    };
    all.into_iter().map(made).collect()
}

/// A file of the program or of its tests, and the modules that it is.
struct Source {
    modules: Vec<String>,
    text: String,
}

/// Every test, found in the sources: `cargo test -- --list` tells the same, but a test cannot ask.
pub(super) struct Tests {
    sources: Vec<Source>,
}

impl Tests {
    pub(super) fn read() -> Self {
        let mut sources = Vec::new();
        for root in ["src", "tests/it"] {
            collect(Path::new(root), &mut Vec::new(), &mut sources);
        }
        Self { sources }
    }

    /// Tests that are not made in every run: what is said of them, and their names.
    pub(super) fn on_demand(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for source in &self.sources {
            let mut lines = source.text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                if !is_attribute(line, "ignore") {
                    continue;
                }
                let function = lines.by_ref().find_map(|line| line.strip_prefix("fn "));
                let name = function.and_then(|function| function.split('(').next());
                found.push((line, name.expect("an attribute of a function")));
            }
        }
        found
    }

    /// Where a test is made; a name that ends in `::` is all of a module. `None` when there is none.
    pub(super) fn find(&self, name: &str) -> Option<Made> {
        if let Some(module) = name.strip_suffix("::") {
            let modules: Vec<&str> = module.split("::").collect();
            let has = |source: &&Source| source.has(&modules) && source.text.contains("#[test]");
            return self.sources.iter().find(has).map(|_| Made::EveryRun);
        }
        let mut modules: Vec<&str> = name.split("::").collect();
        let function = modules.pop()?;
        let mut in_it = self.sources.iter().filter(|source| source.has(&modules));
        in_it.find_map(|source| source.test(function))
    }
}

impl Source {
    /// Whether it is the module, or has it inside.
    fn has(&self, modules: &[&str]) -> bool {
        let own = self.modules.len();
        let is_below = modules.len() >= own && self.modules.iter().eq(&modules[..own]);
        let has = |module: &&str| self.text.contains(&format!("mod {module} {{"));
        is_below && modules[own..].iter().all(has)
    }

    /// Whether a function is a test, and which.
    fn test(&self, function: &str) -> Option<Made> {
        let at = self.text.find(&format!("fn {function}("))?;
        let before = self.text[..at].lines().rev().map(str::trim);
        let attributes = before.take_while(|line| line.is_empty() || line.starts_with(['#', '/']));
        let attributes: Vec<&str> = attributes.collect();
        let has = |name: &str| attributes.iter().any(|line| is_attribute(line, name));
        match (has("test"), has("ignore")) {
            (true, true) => Some(Made::OnDemand),
            (true, false) => Some(Made::EveryRun),
            (false, _) => None,
        }
    }
}

/// Whether a line is the attribute of that name.
fn is_attribute(line: &str, name: &str) -> bool {
    let rest = (line.strip_prefix("#[")).and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with([']', ' ', '(']))
}

fn collect(folder: &Path, modules: &mut Vec<String>, sources: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("tests run in the repository");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.expect("plain names").to_owned();
        if path.is_dir() {
            modules.push(stem);
            collect(&path, modules, sources);
            modules.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut own = modules.clone();
            if !["mod", "lib", "main"].contains(&stem.as_str()) {
                own.push(stem);
            }
            let text = fs::read_to_string(&path).expect("readable");
            sources.push(Source { modules: own, text });
        }
    }
}
