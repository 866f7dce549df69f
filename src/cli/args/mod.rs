//! Commands and flags.

mod changes;
mod checkpoints;
mod study;

pub use changes::Changes;
pub use checkpoints::Checkpoints;
pub use study::{Compare, Merge, Reproduce, Saturate, Shard, Sweep, Work};

use crate::error::Error;
use crate::scenario::Document;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  virtlane                                          run the embedded 1000-host scenario
  virtlane run study.ron --seed 7 --out results     run a scenario file
  virtlane run study.ron --set traffic.bulk.process.load=0.8
  virtlane sweep study.ron --jobs 8                 all points and seeds of its section `sweep`
  virtlane check study.ron --print-plan             show every resolved value
  virtlane list topology                            what can be connected
  virtlane describe routing FatTree                 parameters, guarantees, references
  virtlane topology study.ron --export dot | neato -Tsvg > fabric.svg

Exit codes:
  0 done; 1 done, but an expectation of the scenario failed; 2 usage or scenario wrong;
  3 simulation fault (deadlock, broken invariant);
  4 results could not be written (full disk); the table was shown, and what is kept is named;
  130 (SIGINT) or 143 (SIGTERM, SIGUSR1) interrupted, results so far written, state saved";

/// Cycle-accurate simulator of lossless cluster fabrics (InfiniBand-like).
///
/// A scenario file (RON) describes a fabric, its routing, its traffic and what to measure; `virtlane run`
/// simulates it and writes tables. Without a command the embedded scenario runs.
#[derive(Debug, Parser)]
#[command(name = "virtlane", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; nothing = `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of `run`.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one scenario: a short table on standard output, all results in a run directory
    Run(Run),
    /// Run a scenario's sweep: every point with several seeds, in parallel; one table
    Sweep(Sweep),
    /// Find the largest load that a fabric sustains, over several seeds
    Saturate(Saturate),
    /// Compare two runs or sweeps, paired by point and seed
    Compare(Compare),
    /// Reproduce published experiments: claim, published value, value found, verdict
    Reproduce(Reproduce),
    /// Join the directories of a sweep that was made in shards
    Merge(Merge),
    /// Make a sweep on a cluster: writes and submits the jobs of a batch system
    Batch(super::batch::Batch),
    /// Check a scenario: parse, resolve, route and verify it without running it
    Check(Check),
    /// List what a scenario can name: topologies, routing engines, patterns, metrics, ...
    List(List),
    /// Describe one part: parameters, units, defaults, guarantees, references
    Describe(Describe),
    /// Survey a scenario's fabric: counts, degrees, distances; export it
    Topology(Topology),
    /// Survey a scenario's forwarding: engine, lanes, path lengths, channel loads
    Routes(Routes),
    /// Compute routes and rates of flows as fluids, without packets: contention, rates, completion times
    Flow(super::flow::Flow),
    /// Count the layers LASH needs on random networks, against links: table, plot, peaks
    Layers(Layers),
    /// Show the effective cycle: stages and systems in order, what each reads and writes
    Schedule(Schedule),
    /// Count what arrival processes make, without the fabric: load, variability, Hurst parameter
    Sources(super::sources::Sources),
    /// Run with per-stage timing and write a trace
    Profile(super::profile::Profile),
    /// Follow one packet or one flow cycle by cycle: where it is, what it waits for
    Watch(super::watch::Watch),
    /// Make one HTML page of runs and sweeps: verdict, curves, distributions, heat maps, plan
    Report(super::report::Report),
    /// Write the figures of a report as SVG or PNG files
    Plot(super::plot::Plot),
    /// Print completions for a shell
    Completions(super::completions::Completions),
    /// Print the manual page, for `man -l -`
    Man,
}

/// Form of the result on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A short table for people.
    #[default]
    Human,
    /// Exactly the summary (summary.json).
    Json,
}

/// Flags of `run`.
#[derive(Args, Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every flag of the command line is one of its own"
)]
pub struct RunOptions {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the program"
    )]
    pub changes: Changes,
    /// Run directory to write; default: runs/TITLE-SEED
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the directory, when this one is finished
    #[arg(long)]
    pub force: bool,
    /// Seed of all random streams; same as `--set seed=N`
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Worker threads; default: one per core. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Parts the fabric is cut into; default: chosen from fabric and threads. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub shards: Option<u32>,
    /// Length of the measurement in cycles, as by `--set phases.measure="N cycles"`; expectations are not judged
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cycles: Option<u64>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the program"
    )]
    pub checkpoints: Checkpoints,
    /// Check all invariants in every cycle (slow)
    #[arg(long)]
    pub check: bool,
    /// Measure the cost of every stage
    #[arg(long)]
    pub profile: bool,
    /// Form of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// No progress line and no table
    #[arg(long)]
    pub quiet: bool,
}

impl RunOptions {
    /// Reads the scenario with all changes, `--seed` and `--cycles` included.
    ///
    /// # Errors
    /// When the file cannot be read, or a change does not fit.
    pub fn open(&self, file: Option<&Path>) -> Result<Document, Error> {
        let mut document = self.changes.open(file)?;
        if let Some(seed) = self.seed {
            self.changes.tell_flag(&document, "--seed", "seed");
            document.assign("seed", &seed.to_string())?;
        }
        if let Some(cycles) = self.cycles {
            self.changes
                .tell_flag(&document, "--cycles", "phases.measure");
            document.assign("phases.measure", &format!("\"{cycles} cycles\""))?;
        }
        Ok(document)
    }
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct Run {
    /// Scenario file; default: the embedded 1000-host scenario
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub options: RunOptions,
}

/// A scenario file with changes.
#[derive(Args, Clone, Debug)]
pub struct Input {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub changes: Changes,
}

impl Input {
    /// Reads and changes the scenario.
    ///
    /// # Errors
    /// When the file cannot be read, or a change does not fit.
    pub fn open(&self) -> Result<Document, Error> {
        self.changes.open(Some(&self.file))
    }
}

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
pub struct Check {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Print every resolved value as a scenario: defaults filled in, times in cycles, sizes in flits
    #[arg(long)]
    pub print_plan: bool,
}

/// Arguments of `list`.
#[derive(Args, Clone, Debug)]
pub struct List {
    /// topology, routing, pattern, process, section or metric; default: all
    pub kind: Option<String>,
}

/// Arguments of `describe`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  virtlane describe topology KAryNTree\n  virtlane describe section \
                        switch\n  virtlane describe metric latency.network.p99"
)]
pub struct Describe {
    /// topology, routing, pattern, process, section or metric
    pub kind: String,
    /// Name as written in a scenario
    pub name: String,
}

/// Forms a fabric can be exported in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Our own edge list, which topology `EdgeList` reads.
    Edges,
    /// As networkx reads it, and topology `GraphMl`.
    Graphml,
    /// As `ibnetdiscover` prints a fabric, which topology `Ibnetdiscover` reads.
    Ibnetdiscover,
    /// For the simulator ibsim (.net), which topology `Ibsim` reads.
    Ibsim,
}

/// Arguments of `topology`.
#[derive(Args, Clone, Debug)]
pub struct Topology {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Print the fabric instead of the survey
    #[arg(long, value_enum, value_name = "FORM")]
    pub export: Option<GraphFormat>,
}

/// Arguments of `routes`.
#[derive(Args, Clone, Debug)]
pub struct Routes {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Fail (exit code 2) unless every guarantee of the engine is proved
    #[arg(long)]
    pub verify: bool,
    /// Print the forwarding tables in the form of OpenSM's opensm-lfts.dump
    #[arg(long, conflicts_with = "export_dir")]
    pub dump: bool,
    /// Write opensm-lfts.dump, opensm.fdbs, opensm-sl2vl.dump, guid2lid and path-sl to DIR
    ///
    /// The folder is made when it does not exist; files in it are replaced. The routing engine
    /// `TableImport` reads them.
    #[arg(long, value_name = "DIR")]
    pub export_dir: Option<PathBuf>,
}

/// What is placed into a layer at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayerGranularity {
    /// All paths from one source (DAG).
    Source,
    /// One path.
    Pair,
    /// Both directions between two switches.
    Both,
    /// Sources, split when they fit nowhere.
    Hybrid,
}

/// Arguments of `layers`.
#[derive(Args, Clone, Debug)]
pub struct Layers {
    /// Sizes of the networks
    #[arg(
        long,
        value_name = "N,..",
        value_delimiter = ',',
        default_value = "8,16,32,64,128"
    )]
    pub switches: Vec<u32>,
    /// Networks drawn for every size and number of links
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub graphs: u32,
    /// What is placed into a layer at a time
    #[arg(
        long,
        value_enum,
        value_name = "UNIT,..",
        value_delimiter = ',',
        default_value = "source,pair"
    )]
    pub granularity: Vec<LayerGranularity>,
    /// Seed of the networks
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Worker threads; default: one per core. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Folder for layers.csv and layers.svg
    #[arg(long, value_name = "DIR", default_value = "layers")]
    pub out: PathBuf,
}

/// Arguments of `schedule`.
#[derive(Args, Clone, Debug)]
pub struct Schedule {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
}
