//! The commands of Slurm.

use crate::error::Error;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

/// Submits a script with further options; returns the number of the job.
///
/// # Errors
/// When sbatch is not there or refuses.
pub(super) fn submit(script: &Path, options: &[String]) -> Result<String, Error> {
    let mut arguments: Vec<&OsStr> = vec!["--parsable".as_ref()];
    arguments.extend(options.iter().map(AsRef::<OsStr>::as_ref));
    arguments.push(script.as_os_str());
    let output = run("sbatch", &arguments)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    // `number` or `number;cluster`, on the last line
    let number = answer.trim().lines().last().unwrap_or_default();
    let number = number.split(';').next().unwrap_or_default();
    if output.status.success() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(number.to_owned());
    }
    Err(refused("sbatch", &output))
}

/// Array tasks of a job that wait or run; none when the job is not known any more.
///
/// # Errors
/// When squeue is not there or Slurm does not answer.
pub(super) fn active_tasks(job: &str) -> Result<Vec<u32>, Error> {
    let arguments = ["--noheader", "--array", "--format=%K", "--jobs", job];
    let output = run("squeue", &arguments.map(AsRef::as_ref))?;
    if output.status.success() {
        let answer = String::from_utf8_lossy(&output.stdout);
        return Ok(answer
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect());
    }
    if String::from_utf8_lossy(&output.stderr).contains("Invalid job id") {
        return Ok(Vec::new());
    }
    Err(refused("squeue", &output))
}

fn run(program: &str, arguments: &[&OsStr]) -> Result<Output, Error> {
    Command::new(program)
        .args(arguments)
        .output()
        .map_err(|cause| {
            Error::Usage(if cause.kind() == ErrorKind::NotFound {
                format!(
                    "`{program}` is not here: submit from a machine that has the commands of Slurm"
                )
            } else {
                format!("`{program}` cannot be started: {cause}")
            })
        })
}

fn refused(program: &str, output: &Output) -> Error {
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = match errors.trim() {
        "" => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        errors => errors.to_owned(),
    };
    Error::Usage(format!("{program} failed ({}): {said}", output.status))
}
