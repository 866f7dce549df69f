//! Studies of many runs: what is killed goes on, slices join, nothing is mixed, nothing is lost.

mod batching;
mod claims;
mod completions;
mod judging;
mod merging;
mod outlook;
mod pages;
mod pairs;
mod places;
mod resuming;
mod saturating;
mod searching;
mod tables;

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Two axes, three seeds: twelve runs of a few thousand cycles.
const SCENARIO: &str = r#"Scenario(
    title: "small sweep",
    fabric: (
        topology: Mesh(radix: [4, 4]),
        flit: "64 B",
        link: (rate: "10 Gbit/s", latency: "1 cycles"),
        switch: (lanes: 2, lane_capacity: "16 flits"),
    ),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", pattern: Uniform, process: Bernoulli(load: 0.5), size: "512 B"),
    ],
    phases: (warmup: "500 cycles", measure: "4000 cycles"),
    sweep: (
        axes: [
            ("traffic.bulk.process.load", [0.1, 0.3]),
            Zip([
                ("fabric.topology", [Mesh(radix: [4, 4]), KAryNTree(k: 4, n: 2)]),
                ("routing", [DimensionOrder(), FatTree()]),
            ]),
        ],
        seeds: 3,
    ),
)
"#;

/// A folder with the scenario in it.
pub(crate) struct Folder {
    base: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().expect("a temporary folder");
        fs::write(base.path().join("small.ron"), SCENARIO).expect("writable");
        Self { base }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn table(&self, name: &str) -> String {
        let path = self.path(name).join("sweep.csv");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// `virtlane COMMAND ARGUMENTS`, in the folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("virtlane").expect("built before its tests");
        command.current_dir(self.base.path()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments)
            .output()
            .expect("the program starts")
    }

    /// A run that must succeed; returns its standard output.
    #[track_caller]
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("output is text")
    }

    /// A run that must fail with this code; returns its standard error.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        errors
    }
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .expect("readable")
            .file_name()
            .into_string()
            .expect("plain names")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}
