//! Arguments of the commands that make or read studies of many runs.

use super::Input;
use crate::study::Crew;
use crate::study::saturation::FEWEST_SEEDS;
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;

/// One slice of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number, from 1.
    pub number: u32,
    /// Of how many.
    pub count: u32,
}

impl FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let pair = text.split_once('/');
        let pair =
            pair.and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match pair {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("expected `i/n` with i from 1 to n, such as 2/8".into()),
        }
    }
}

/// Flags of commands that make many runs.
#[derive(Args, Clone, Debug)]
pub struct Work {
    /// Runs at the same time; default: one per core, fewer when they need much memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Threads of all runs together; default: one per core. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Save the state of every run at least every N cycles, to go on from there after a crash
    ///
    /// SIGINT, SIGTERM and SIGUSR1 save it in any case and end the command.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: Option<u64>,
    /// Use the directory although it holds another study; its finished runs are kept
    #[arg(long)]
    pub force: bool,
    /// No progress line and no table
    #[arg(long)]
    pub quiet: bool,
}

impl Work {
    /// Who makes `runs` runs.
    pub fn crew(&self, runs: usize) -> Crew {
        let number = |flag: Option<u32>| flag.map(|number| number as usize);
        Crew::new(number(self.threads), number(self.jobs), runs)
    }
}

/// Arguments of `sweep`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The axes are the section `sweep` of the scenario (`virtlane describe section sweep`). A sweep that \
                  was stopped goes on where it was when the same command is given again, half-done runs included; one \
                  that was killed loses its half-done runs only.\n\nExamples:\n  \
                  virtlane sweep study.ron --dry-run\n  \
                  virtlane sweep study.ron --set 'sweep.seeds=8' --out results\n  \
                  virtlane sweep study.ron --shard 2/16 --out part-2\n  \
                  virtlane merge part-* --out results\n  \
                  virtlane batch slurm study.ron --tasks 16 --out study --submit\n\n\
                  Exit codes:\n  0 all runs done; 2 scenario or place wrong, or some runs cannot be simulated (told before any begins); 3 a run deadlocked or failed (see its row in \
                  the table); 4 results could not be written (full disk), those before are kept; 130 (SIGINT) or 143 (SIGTERM, SIGUSR1) interrupted, finished runs are kept, the state of the \
                  others is saved"
)]
pub struct Sweep {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Directory of the sweep: sweep.csv and one run directory per run; default: runs/TITLE-sweep
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make only every N-th run, starting with the I-th
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// List the runs instead of making them, and say which of them cannot be simulated
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with the runs that can be simulated, when some cannot; they are told in any case, and their rows say why
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub work: Work,
}

/// Arguments of `merge`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Exit codes:\n  0 every run of the sweep is there; 1 some are missing (they are named); 2 a directory is \
                  wrong; 3 a run deadlocked or failed"
)]
pub struct Merge {
    /// Directories of the shards
    #[arg(value_name = "DIR", required = true)]
    pub parts: Vec<PathBuf>,
    /// Directory of the joined study
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Use the directory although it holds another study; its finished runs are kept
    #[arg(long)]
    pub force: bool,
    /// No table
    #[arg(long)]
    pub quiet: bool,
}

/// Arguments of `saturate`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The load of all classes is varied in proportion, or that of one class, at every point of the \
                  other axes of the scenario's `sweep`. A load is sustained when, over the seeds, accepted load is \
                  within the tolerance of offered load, the source queues do not grow by more than that, and no \
                  sources or destinations certainly miss more; a load that the runs cannot tell is undecided. Runs \
                  that are certainly overloaded are cut short. A random pattern is another one for every seed. A \
                  search that was stopped goes on with the runs it has made.\n\n\
                  Examples:\n  virtlane saturate torus.ron\n  \
                  virtlane saturate torus.ron --seeds 8 --resolution 0.002 --out results\n\n\
                  Exit codes:\n  0 found; 2 scenario or place wrong; 3 a load deadlocks; 4 results could not be \
                  written; 130 or 143 interrupted, \
                  states are saved"
)]
pub struct Saturate {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Directory of the search: saturate.csv, saturation.json and one run directory per run; default: runs/TITLE-saturate
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Vary the load of this class only
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// Part of the offered load that may be missing
    #[arg(long, value_name = "PART", default_value_t = 0.02, value_parser = part)]
    pub tolerance: f64,
    /// Width of the interval around the saturation point, as a fraction of link rate
    #[arg(long, value_name = "PART", default_value_t = 0.005, value_parser = part)]
    pub resolution: f64,
    /// Runs of a load that two runs do not decide, at least 3; up to three times as many where these do not either
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = seeds)]
    pub seeds: u32,
    /// Complete the curve: loads between a quarter of the saturation point and one and a half of it, by whole runs
    #[arg(long)]
    pub curve: bool,
    /// Go on with the points that can be simulated, when some cannot; they are told in any case
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub work: Work,
}

/// Seeds of a search.
fn seeds(text: &str) -> Result<u32, String> {
    const FEWEST: u32 = FEWEST_SEEDS as u32;
    const MOST: u32 = 1000;
    match text.parse() {
        Ok(seeds @ FEWEST..=MOST) => Ok(seeds),
        Ok(0..FEWEST) => Err(format!(
            "of fewer than {FEWEST} runs no interval is narrow enough to judge by: at least {FEWEST}"
        )),
        _ => Err(format!("expected a number from {FEWEST} to {MOST}")),
    }
}

/// A number between 0 and 1, both left out.
fn part(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(part) if 0.0 < part && part < 1.0 => Ok(part),
        _ => Err("expected a number between 0 and 1, such as 0.01".into()),
    }
}

/// Arguments of `compare`.
#[derive(Args, Clone, Debug)]
pub struct Compare {
    /// Run or sweep directory
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Run or sweep directory with the same axes
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Metric to compare, as in summary.json (`virtlane list metric`); repeatable
    #[arg(long, value_name = "PATH")]
    pub metric: Vec<String>,
}

/// Arguments of `reproduce`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  virtlane reproduce                        list the studies\n  \
                  virtlane reproduce lash_layers\n  \
                  virtlane reproduce lash_layers --print    its scenario: run or change it as any other\n  \
                  virtlane reproduce all --quick            what takes minutes of all of them\n  \
                  virtlane reproduce all --table            all claims as a Markdown table\n\n\
                  Exit codes:\n  0 all claims hold; 1 a claim fails; 130 interrupted: `--resume` goes on"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are independent"
)]
pub struct Reproduce {
    /// Study, or `all`; default: list them
    #[arg(value_name = "STUDY")]
    pub id: Option<String>,
    /// Folder for one sweep directory per study
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    pub out: PathBuf,
    /// Print the scenario instead of running it
    #[arg(long, requires = "id")]
    pub print: bool,
    /// Show the claims as rows of a Markdown table
    #[arg(long, requires = "id")]
    pub table: bool,
    /// Fewer points, seeds and cycles, and the claims that these can be held to, where a study says which
    #[arg(long, requires = "id")]
    pub quick: bool,
    /// Folder of stored results: a table per study, in which those of this form of it are replaced
    #[arg(long, value_name = "DIR", requires = "id", conflicts_with = "print")]
    pub store: Option<PathBuf>,
    /// What stored results say of the state of the program, such as a commit
    #[arg(long, value_name = "NAME", requires = "store", default_value = "-")]
    pub commit: String,
    /// Keep the runs of an earlier, interrupted reproduction
    #[arg(long, requires = "id")]
    pub resume: bool,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub work: Work,
}
