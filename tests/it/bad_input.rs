//! Every wrong scenario under `tests/bad_scenarios` fails with a message that names place, key and way out.

use crate::program;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use virtlane::scenario::{Document, Parts};

const FOLDER: &str = "tests/bad_scenarios";

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).expect("tests run in the repository");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("readable folder").path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    files
}

fn verdict(path: &Path) -> String {
    let document = match Document::read(path) {
        Ok(document) => document,
        Err(error) => return error.to_string(),
    };
    match document.resolve(&Parts::registered()) {
        Ok(_) => "ACCEPTED".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn wrong_scenarios_are_refused_with_place_key_and_way_out() {
    let mut list = String::new();
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let message = verdict(&path).replace(&format!("{FOLDER}/"), "");
        assert_ne!(message, "ACCEPTED", "{name}");
        writeln!(list, "{name}\n    {message}\n").expect("a string takes text");
    }
    insta::assert_snapshot!(list);
}

fn virtlane(arguments: &[&str]) -> (Option<i32>, String, String) {
    program::virtlane(Path::new("."), arguments)
}

#[test]
fn errors_go_to_standard_error_with_exit_code_2() {
    for arguments in [
        &["check", "no_such_file.ron"][..],
        &["check", "tests/bad_scenarios/unclosed_string.ron"],
        &["check", "tests/bad_scenarios/preset_unknown.ron"],
        &["run", "--set", "sede=1"],
        &["run", "--set", "seed"],
        &["list", "topologie"],
        &["describe", "metric", "load.acepted"],
        &["run", "--threads", "0"],
        &["dance"],
    ] {
        let (code, output, errors) = virtlane(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert_eq!(output, "", "{arguments:?}");
        assert!(errors.starts_with("error: "), "{arguments:?}: {errors}");
    }
}

#[test]
fn results_go_to_standard_output() {
    for arguments in [
        &["--version"][..],
        &["--help"],
        &["list"],
        &["list", "section"],
        &["describe", "section", "switch"],
        &["describe", "metric", "latency.network.p99"],
    ] {
        let (code, output, errors) = virtlane(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {errors}");
        assert!(
            !output.is_empty() && errors.is_empty(),
            "{arguments:?}: {errors}"
        );
    }
}

#[test]
fn help_is_worth_reading() {
    let commands = [
        "run", "sweep", "saturate", "compare", "merge", "check", "list", "describe", "topology",
        "routes", "schedule", "sources", "profile",
    ];
    let mut pages = virtlane(&["--help"]).1;
    for command in commands {
        let page = virtlane(&[command, "-h"]).1;
        writeln!(pages, "\n---- {command}\n\n{page}").expect("a string takes text");
    }
    insta::assert_snapshot!(pages);
}
