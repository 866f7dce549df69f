//! The program as a user runs it.

use assert_cmd::Command;
use std::path::Path;

/// Runs the program in `folder`; its exit code, standard output and standard error.
pub(crate) fn virtlane(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("virtlane")
        .expect("built before its tests")
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}
