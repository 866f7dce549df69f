//! The shape of `src/`: imports point down, every file says what it is, no file grows without end.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Root modules from the bottom up. A module may import its own layer and the ones before it.
const LAYERS: [&[&str]; 15] = [
    &[
        "ids",
        "units",
        "rng",
        "registry",
        "references",
        "text_file",
        "warnings",
        "memory",
        "machine",
        "chart",
    ],
    MODELS,
    &["metrics"],
    &["scenario"],
    &["fabric"],
    &["cycle"],
    &["run"],
    &["report"],
    &["flow_level"],
    &["study"],
    &["claims"],
    &["results"],
    &["figures"],
    &["html_report"],
    &["error", "cli", "main", "lib"],
];

/// Models without ECS, clock or threads of their own.
const MODELS: &[&str] = &[
    "topology",
    "routing",
    "qos",
    "traffic",
    "control",
    "admission",
    "measure",
    "plan",
    "fluid",
];

/// Root modules that may name `bevy_ecs`.
const ECS: [&str; 3] = ["fabric", "cycle", "run"];

/// Most lines of a file, without the tests at its end.
const MOST_LINES: usize = 400;

/// Deepest folder below `src`, and most files of a folder (a folder with a registry grows with its parts).
const DEEPEST: usize = 3;
const MOST_FILES: usize = 20;

/// Words that say nothing about what a file holds.
const EMPTY_WORDS: [&str; 7] = [
    "util", "utils", "helper", "helpers", "common", "misc", "manager",
];

/// Upward imports that stand, (file, root module), each to be removed: 2026-11-21.
const KNOWN_IMPORTS: &[(&str, &str)] = &[];

/// Files above [`MOST_LINES`] and where they must stay below until they are split: 2026-11-21.
const KNOWN_LONG: &[(&str, usize)] = &[];

/// One file of `src`.
struct Source {
    /// Path below `src`.
    path: String,
    text: String,
    /// Number of lines before the tests at the end.
    code_lines: usize,
}

impl Source {
    /// Name in [`LAYERS`].
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// The code, without tests and comments.
    fn code(&self) -> String {
        let lines = self.text.lines().take(self.code_lines);
        let code = lines.map(|line| line.split("//").next().unwrap_or_default());
        code.fold(String::new(), |all, line| all + line + "\n")
    }
}

/// Every file that is compiled into the library and the program.
fn sources() -> Vec<Source> {
    let mut all = Vec::new();
    collect(Path::new("src"), &mut all);
    let tests: BTreeSet<String> = all.iter().flat_map(test_modules).collect();
    all.retain(|source| {
        let is_test = |test: &String| {
            source.path == format!("{test}.rs") || source.path.starts_with(&format!("{test}/"))
        };
        !tests.iter().any(is_test)
    });
    assert!(all.len() > 50, "tests run in the repository");
    all
}

fn collect(folder: &Path, all: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("tests run in the repository");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are text");
            let below = path
                .strip_prefix("src")
                .ok()
                .and_then(Path::to_str)
                .expect("sources are below src");
            let code_lines = code_lines(&text);
            all.push(Source {
                path: below.replace('\\', "/"),
                text,
                code_lines,
            });
        }
    }
}

/// Lines before an inline test module.
fn code_lines(text: &str) -> usize {
    let lines: Vec<_> = text.lines().collect();
    let is_start = |pair: &[&str]| {
        pair[0] == "#[cfg(test)]" && pair[1].contains("mod ") && pair[1].ends_with('{')
    };
    let start = lines.windows(2).position(is_start);
    start.unwrap_or(lines.len())
}

/// Paths, without extension, of the modules that a file declares for tests only.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = match source.path.rsplit_once('/') {
        Some((folder, "mod.rs")) => folder.to_owned(),
        _ => source.path.trim_end_matches(".rs").to_owned(),
    };
    let lines: Vec<_> = source.text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    let names = pairs.filter_map(|pair| pair[1].strip_suffix(';')?.split("mod ").nth(1));
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Modules named behind `crate::`, as in [`LAYERS`].
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names = match rest.strip_prefix('{') {
            Some(group) => group_members(group),
            None => vec![rest],
        };
        found.extend(names.into_iter().map(|name| {
            let end = name.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
            let path = &name[..end.unwrap_or(name.len())];
            path.split("::").next().unwrap_or_default().to_owned()
        }));
    }
    found
}

/// Members of `a, b::{c, d}, e}`.
fn group_members(group: &str) -> Vec<&str> {
    let (mut members, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(group[start..at].trim());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    members.retain(|member| !member.is_empty());
    members
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn assert_none(what: &str, violations: &str) {
    assert!(violations.is_empty(), "{what}:\n{violations}");
}

#[test]
fn imports_are_read_from_every_form() {
    let code = "use crate::ids::HostId;\nuse crate::{\n  rng,\n  scenario::{plan, x},\n  run::a,\n};\n\
                fn f(x: crate::plan::Plan) {}";
    let found: Vec<_> = imports(code).into_iter().collect();
    assert_eq!(found, ["ids", "plan", "rng", "run", "scenario"]);
}

#[test]
fn every_module_has_a_layer() {
    let without = |source: &Source| layer(source.module()).is_none();
    let paths = sources().into_iter().filter(without);
    let list = paths.fold(String::new(), |list, source| list + &source.path + "\n");
    assert_none("files of no layer in tests/it/layers.rs", &list);
}

#[test]
fn imports_point_down() {
    let (mut upward, mut met) = (String::new(), BTreeSet::new());
    for source in sources() {
        let own = layer(source.module());
        for import in imports(&source.code()) {
            if layer(&import) <= own {
                continue;
            }
            match KNOWN_IMPORTS
                .iter()
                .find(|(path, module)| *path == source.path && *module == import)
            {
                Some(known) => drop(met.insert(known)),
                None => writeln!(upward, "src/{} imports crate::{import}", source.path).unwrap(),
            }
        }
    }
    assert_none("imports that point up", &upward);
    assert_eq!(
        met.len(),
        KNOWN_IMPORTS.len(),
        "still there: {met:?}; remove the others"
    );
}

#[test]
fn models_do_not_know_the_ecs() {
    let mut named = String::new();
    for source in sources() {
        if !ECS.contains(&source.module()) && source.code().contains("bevy_ecs") {
            writeln!(named, "src/{}", source.path).unwrap();
        }
    }
    assert_none("`bevy_ecs` outside fabric, cycle and run", &named);
}

#[test]
fn every_file_says_what_it_is() {
    let mut silent = String::new();
    for source in sources() {
        if !source.text.starts_with("//! ") {
            writeln!(silent, "src/{}", source.path).unwrap();
        }
    }
    assert_none("files without a `//!` header", &silent);
}

#[test]
fn files_and_folders_stay_small() {
    let sources = sources();
    let mut large = String::new();
    for source in &sources {
        let known = KNOWN_LONG.iter().find(|(path, _)| *path == source.path);
        let most = known.map_or(MOST_LINES, |(_, most)| *most);
        if source.code_lines > most {
            let lines = source.code_lines;
            writeln!(large, "src/{}: {lines} lines, at most {most}", source.path).unwrap();
        }
        assert!(
            known.is_none() || source.code_lines > MOST_LINES,
            "src/{} is short again: remove it from KNOWN_LONG",
            source.path
        );
        let depth = source.path.matches('/').count();
        if depth > DEEPEST {
            writeln!(large, "src/{}: {depth} folders deep", source.path).unwrap();
        }
    }
    for folder in sources
        .iter()
        .filter_map(|source| source.path.strip_suffix("/mod.rs"))
    {
        let inside = |path: &str| {
            path.strip_prefix(folder)?
                .strip_prefix('/')
                .map(|rest| !rest.contains('/'))
        };
        let count = sources
            .iter()
            .filter(|source| inside(&source.path) == Some(true))
            .count();
        let registry = sources.iter().any(|source| {
            source.path == format!("{folder}/mod.rs") && source.code().contains(": Registry<")
        });
        if count > MOST_FILES && !registry {
            writeln!(large, "src/{folder}: {count} files, at most {MOST_FILES}").unwrap();
        }
    }
    assert_none("too large, split by concept", &large);
}

#[test]
fn names_of_files_mean_something() {
    let mut empty = String::new();
    for source in sources() {
        if source
            .path
            .split(['/', '.', '_'])
            .any(|word| EMPTY_WORDS.contains(&word))
        {
            writeln!(empty, "src/{}", source.path).unwrap();
        }
    }
    assert_none("file names that say nothing", &empty);
}
