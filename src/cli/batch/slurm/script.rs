//! Job scripts from the templates in `assets/batch`.

use super::Options;
use super::values::{for_directive, for_shell};
use crate::cli::batch::folder::{Folder, MERGED};
use std::fmt::Write as _;

const JOB: &str = include_str!("../../../../assets/batch/slurm_job.sh");
const MERGE: &str = include_str!("../../../../assets/batch/slurm_merge.sh");

/// Name of the script of the array.
pub(super) const JOB_FILE: &str = "job.sbatch";
/// Name of the script that merges.
pub(super) const MERGE_FILE: &str = "merge.sbatch";

/// What both scripts are filled with, all of it text.
pub(super) struct Scripts<'a> {
    /// Where the folder will be.
    pub(super) folder: &'a str,
    /// Scenario below the folder.
    pub(super) scenario: &'a str,
    /// Array tasks.
    pub(super) tasks: u32,
    /// This program.
    pub(super) program: &'a str,
    /// Name of the array; the merge has `-merge` behind it.
    pub(super) job_name: &'a str,
    /// Flags of the command.
    pub(super) options: &'a Options,
}

impl Scripts<'_> {
    /// The script of the array.
    pub(super) fn job(&self) -> String {
        let options = self.options;
        let mut flags = String::new();
        if let Some(jobs) = options.jobs {
            let _ = write!(flags, " --jobs {jobs}");
        }
        if let Some(cycles) = options.checkpoint_every {
            let _ = write!(flags, " --checkpoint-every {cycles}");
        }
        flags += self.keep_going();
        self.filled(
            JOB,
            &[
                ("tasks", self.tasks.to_string()),
                ("last_task", (self.tasks - 1).to_string()),
                ("grace", options.grace.to_string()),
                ("cpus", options.cpus().to_string()),
                ("scenario", for_shell(self.scenario)),
                ("sweep_flags", flags),
                ("job_name", for_directive(self.job_name)),
            ],
        )
    }

    fn keep_going(&self) -> &'static str {
        if self.options.keep_going {
            " --keep-going"
        } else {
            ""
        }
    }

    /// The script that merges.
    pub(super) fn merge(&self) -> String {
        let path = |below: &str| for_shell(&format!("{}/{below}", self.folder));
        let program = for_shell(self.program);
        let resubmit = format!(
            "{program} batch slurm --resubmit {}",
            for_shell(self.folder)
        );
        let (scenario, merged) = (path(self.scenario), path(MERGED));
        let local = format!(
            "{program} sweep {scenario} --out {merged}{}",
            self.keep_going()
        );
        self.filled(
            MERGE,
            &[
                ("merged", MERGED.to_owned()),
                ("resubmit", resubmit),
                ("local", local),
                (
                    "job_name",
                    for_directive(&format!("{}-merge", self.job_name)),
                ),
            ],
        )
    }

    fn filled(&self, template: &str, own: &[(&str, String)]) -> String {
        let directives = self.options.given();
        let lines = directives.iter().map(|(name, value)| match value {
            Some(value) => format!("#SBATCH --{name}={}\n", for_directive(value)),
            None => format!("#SBATCH --{name}\n"),
        });
        let mut values = vec![
            ("folder", for_shell(self.folder)),
            ("folder_option", for_directive(self.folder)),
            ("program", for_shell(self.program)),
            ("time", self.options.time().to_owned()),
            ("options", lines.collect()),
        ];
        values.extend_from_slice(own);
        fill(template, &values)
    }
}

/// Puts values in place of `{{name}}`, in one pass: what a value holds is never looked at.
///
/// # Panics
/// When the template names a value that is not given.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("templates close their braces");
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.unwrap_or_else(|| panic!("the template asks for `{name}`"));
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled + rest
}

/// The command that goes on with a batch.
pub(super) fn resubmit(folder: &Folder) -> String {
    let path = for_shell(&folder.path.display().to_string());
    format!("virtlane batch slurm --resubmit {path}")
}
