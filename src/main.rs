//! The `virtlane` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    virtlane::cli::main(std::env::args_os())
}
