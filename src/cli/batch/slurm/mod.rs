//! `virtlane batch slurm`: a sweep as a Slurm job array.
//!
//! The array task stops when Slurm says that its time is nearly over, with the state of its runs saved, and queues
//! itself again; the job that merges waits for the end of all tasks, however they end. What a lost task leaves open is
//! submitted again with `--resubmit`, and only that.

mod client;
mod script;
mod values;

use super::folder::{Batch, Folder, LOGS, MERGED, absolute};
use super::inputs::Inputs;
use super::{estimate, tasks};
use crate::cli::args::Changes;
use crate::cli::studies::outlook;
use crate::error::Error;
use crate::report::directory::slug;
use crate::scenario::Known;
use crate::study::Record;
use clap::Args;
use script::{JOB_FILE, MERGE_FILE, Scripts};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use values::{TimeLimit, memory, name, option};

/// Tasks without `--tasks`, where there are as many runs.
const USUAL_TASKS: u32 = 16;
/// Time limit without `--time`.
const USUAL_TIME: (&str, u64) = ("01:00:00", 3600);
/// Slurm sends the signal up to this much earlier than asked for \[s\].
const EARLIER: u64 = 60;

/// Arguments of `batch slurm`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "A task that comes near its time limit saves the state of its runs and queues itself again (scontrol \
                  requeue); numbers are those of a run never stopped. The merge starts when all tasks have ended, \
                  however they ended, and names what is missing. Nothing that is finished is made again.\n\n\
                  Examples:\n  \
                  virtlane batch slurm study.ron --out study --tasks 64 --time 04:00:00 --submit\n  \
                  virtlane batch slurm study.ron --out study --tasks 8 --cpus-per-task 16 --mem 32G --partition \
                  short --sbatch-option=--constraint=ib --submit\n  \
                  virtlane batch slurm study.ron --out study --dry-run\n  \
                  virtlane batch slurm --resubmit study\n\n\
                  Exit codes:\n  0 written or submitted; 2 scenario, place or option wrong, or Slurm refuses. A task ends \
                  as `virtlane sweep` does (143: time limit), the merge as `virtlane merge`"
)]
pub struct Slurm {
    /// Scenario file with a section `sweep`
    #[arg(value_name = "FILE", required_unless_present = "resubmit")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub changes: Changes,
    /// Batch folder to write, on a file system that all nodes see
    #[arg(long, value_name = "DIR", required_unless_present = "resubmit")]
    pub out: Option<PathBuf>,
    /// Array tasks; default: one per run, at most 16
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub tasks: Option<u32>,
    #[command(flatten)]
    pub options: Options,
    /// Submit what is written
    #[arg(long, conflicts_with = "dry_run")]
    pub submit: bool,
    /// List the runs of every task; write and submit nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Submit the unfinished tasks of a batch folder and its merge; options of the jobs may be given anew
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["file", "set", "out", "tasks", "jobs", "grace", "checkpoint_every", "keep_going", "submit"]
    )]
    pub resubmit: Option<PathBuf>,
}

/// What the jobs ask for.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Time limit of a task, as sbatch takes it; default: 01:00:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<TimeLimit>,
    /// Cores of a task; default: 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpus_per_task: Option<u32>,
    /// Memory of a job, as sbatch takes it: MiB, or with K, M, G, T behind
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub mem: Option<String>,
    /// Partition, or several joined by commas
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub partition: Option<String>,
    /// Account
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub account: Option<String>,
    /// Further option of sbatch for all jobs, such as `--sbatch-option=--constraint=ib`; repeatable
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, value_parser = option)]
    pub sbatch_option: Vec<String>,
    /// Seconds before the time limit at which a task saves its state
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=65535))]
    pub grace: u32,
    /// Runs of a task at the same time; default: one per core, fewer when they need much memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Save the state of every run at least every N cycles as well, for nodes that fail
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: Option<u64>,
    /// Make the batch for the runs that can be simulated, when some cannot
    #[arg(long)]
    pub keep_going: bool,
}

impl Options {
    /// Time limit as text.
    fn time(&self) -> &str {
        self.time.as_ref().map_or(USUAL_TIME.0, |time| &time.text)
    }

    /// Cores of a task.
    fn cpus(&self) -> u32 {
        self.cpus_per_task.unwrap_or(1)
    }

    /// Options of both jobs that were given, the time limit excepted.
    fn given(&self) -> Vec<(&str, Option<&str>)> {
        let own = [
            ("mem", &self.mem),
            ("partition", &self.partition),
            ("account", &self.account),
        ];
        let own = own
            .into_iter()
            .filter_map(|(name, value)| Some((name, Some(value.as_deref()?))));
        let further = self.sbatch_option.iter().map(|option| {
            let option = option.trim_start_matches("--");
            option
                .split_once('=')
                .map_or((option, None), |(name, value)| (name, Some(value)))
        });
        own.chain(further).collect()
    }

    /// The same for the command line of sbatch, which goes before what the scripts say.
    fn arguments(&self) -> Vec<String> {
        let mut given = self.given();
        if let Some(time) = &self.time {
            given.push(("time", Some(&time.text)));
        }
        let argument = |(name, value): &(&str, Option<&str>)| match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        };
        given.iter().map(argument).collect()
    }

    /// A task needs time to do something before it is told to stop.
    fn check(&self) -> Result<(), Error> {
        let seconds = self.time.as_ref().map_or(USUAL_TIME.1, |time| time.seconds);
        let least = u64::from(self.grace) + EARLIER;
        if seconds >= least {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--time {} is too short: a task is told to stop {} to {least} s before its limit (--grace {})",
            self.time(),
            self.grace,
            self.grace
        )))
    }
}

/// Writes, submits, lists or submits again.
///
/// # Errors
/// When scenario, place or an option is wrong, or Slurm refuses.
pub(in crate::cli) fn execute(arguments: &Slurm) -> Result<ExitCode, Error> {
    match (&arguments.resubmit, &arguments.file, &arguments.out) {
        (Some(folder), ..) => resubmit(arguments, &Folder::open(folder)?)?,
        (None, Some(file), Some(out)) => create(arguments, file, out)?,
        _ => {
            return Err(Error::Usage(
                "expected FILE and --out DIR, or --resubmit DIR".into(),
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A new batch.
fn create(arguments: &Slurm, file: &Path, out: &Path) -> Result<(), Error> {
    let options = &arguments.options;
    options.check()?;
    let document = arguments.changes.open(Some(file))?;
    let record = Record::new(&document, None)?;
    (arguments.changes).tell_axes(&document, &record.design.axes);
    let tasks = count(arguments.tasks, &record)?;
    let place = absolute(out)?;
    let known = Known::new();
    let looked = outlook::of_all(&document, &record.design, &known)?;
    if arguments.dry_run {
        let (runs, head) = (tasks::list(&record, tasks), head(&record, tasks, &place));
        let costs = estimate::costs(&document, &record, &known);
        let costs = estimate::table(&record, tasks, &costs?, options.cpus(), options.jobs);
        crate::cli::print(&format!("{runs}\n{costs}\n{head}"))?;
        return outlook::require(&looked, &record.design, options.keep_going);
    }
    outlook::require(&looked, &record.design, options.keep_going)?;
    let program = std::env::current_exe()
        .map_err(|cause| Error::Usage(format!("the path of this program is not known: {cause}")))?;
    let inputs = Inputs::new(file, &document, record.clone())?;
    let scenario = inputs.scenario()?;
    let scripts = Scripts {
        folder: text(&place)?,
        scenario: text(Path::new(&scenario))?,
        tasks,
        program: text(&program)?,
        job_name: &slug(&record.title),
        options,
    };
    let files = [(JOB_FILE, scripts.job()), (MERGE_FILE, scripts.merge())];
    let batch = Batch {
        version: env!("CARGO_PKG_VERSION").into(),
        scenario: scenario.clone(),
        tasks,
        jobs: Vec::new(),
    };
    let mut folder = Folder::create(&place, batch, &inputs, &files)?;
    let mut said = head(&record, tasks, &place);
    if arguments.submit {
        let all: Vec<u32> = (0..tasks).collect();
        let jobs = submit(&mut folder, options, &all)?;
        said += &told(&folder, &jobs);
    } else {
        let _ = writeln!(said, "submit    {}", script::resubmit(&folder));
    }
    crate::cli::print(&said)
}

/// What is unfinished once more.
fn resubmit(arguments: &Slurm, folder: &Folder) -> Result<(), Error> {
    if arguments.options.time.is_some() {
        arguments.options.check()?;
    }
    let record = folder.record()?;
    let standing = tasks::standing(folder, &record);
    let mut active = Vec::new();
    // the merges among the jobs have no array tasks
    for job in &folder.batch.jobs {
        active.extend(client::active_tasks(job)?);
    }
    let open = (0..folder.batch.tasks).filter(|&task| standing[task as usize].is_open());
    let (busy, open): (Vec<u32>, Vec<u32>) = open.partition(|task| active.contains(task));
    let mut said = head(&record, folder.batch.tasks, &folder.path);
    for &task in &open {
        let tasks::Standing {
            runs,
            finished,
            begun,
        } = standing[task as usize];
        let _ = writeln!(
            said,
            "task {task}: {finished} of {runs} runs finished, {begun} begun"
        );
    }
    if !busy.is_empty() {
        let _ = writeln!(
            said,
            "left out  tasks {}: they wait or run",
            tasks::ranges(&busy)
        );
    }
    if open.is_empty() {
        let state = if busy.is_empty() {
            "every run is finished"
        } else {
            "the others are finished"
        };
        let merge = folder.path.join(MERGE_FILE);
        let _ = writeln!(
            said,
            "nothing to submit: {state}; `sbatch {}` merges",
            merge.display()
        );
    } else if arguments.dry_run {
        let _ = writeln!(said, "to submit tasks {}", tasks::ranges(&open));
    } else {
        let mut folder = folder.clone();
        let jobs = submit(&mut folder, &arguments.options, &open)?;
        said += &told(&folder, &jobs);
    }
    crate::cli::print(&said)
}

/// Numbers of the jobs of one submission.
struct Jobs {
    array: String,
    merge: String,
}

/// Submits the array tasks `open`, and the merge behind them.
fn submit(folder: &mut Folder, options: &Options, open: &[u32]) -> Result<Jobs, Error> {
    let given = options.arguments();
    let mut of_array = given.clone();
    of_array.push(format!("--array={}", tasks::ranges(open)));
    if let Some(cpus) = options.cpus_per_task {
        of_array.push(format!("--cpus-per-task={cpus}"));
    }
    let unsubmitted = |error: Error| {
        let again = script::resubmit(folder);
        Error::Usage(format!(
            "{error}\nnothing is submitted; `{again}` submits what is written"
        ))
    };
    let array = client::submit(&folder.path.join(JOB_FILE), &of_array).map_err(unsubmitted)?;
    folder.add_job(&array)?;
    let mut of_merge = given;
    of_merge.push(format!("--dependency=afterany:{array}"));
    let script = folder.path.join(MERGE_FILE);
    let merge = client::submit(&script, &of_merge).map_err(|error| {
        let script = script.display();
        Error::Usage(format!(
            "{error}\nthe array is job {array}, but nothing merges it: `sbatch --dependency=afterany:{array} {script}`"
        ))
    })?;
    folder.add_job(&merge)?;
    Ok(Jobs { array, merge })
}

/// Array tasks: as asked for, or as many as there are runs.
fn count(asked: Option<u32>, record: &Record) -> Result<u32, Error> {
    let runs = record.design.runs.len() as u32;
    match asked {
        Some(tasks) if tasks > runs => Err(Error::Usage(format!(
            "--tasks {tasks}, but the sweep has {runs} runs: a task makes at least one"
        ))),
        Some(tasks) => Ok(tasks),
        None => Ok(runs.min(USUAL_TASKS)),
    }
}

/// A path as text that can stand in a script.
fn text(path: &Path) -> Result<&str, Error> {
    let text = path
        .to_str()
        .filter(|text| !text.chars().any(char::is_control));
    text.ok_or_else(|| {
        Error::Usage(format!(
            "`{}` cannot stand in a job script: it must be UTF-8 text without control characters",
            path.display().to_string().escape_debug()
        ))
    })
}

/// What the batch is.
fn head(record: &Record, tasks: u32, place: &Path) -> String {
    let Record { title, design, .. } = record;
    let (points, runs) = (design.points.len(), design.runs.len());
    let place = place.display();
    format!(
        "sweep     {title}: {points} points, {runs} runs in {tasks} array tasks\nfolder    {place}\n"
    )
}

/// What was submitted, and how to go on from here.
fn told(folder: &Folder, jobs: &Jobs) -> String {
    let Jobs { array, merge } = jobs;
    let path = |below: String| folder.path.join(below).display().to_string();
    format!(
        "submitted job {array} (array), job {merge} (merge, when all tasks have ended)\n\
         watch     squeue --array --jobs={array},{merge}\n\
         logs      {}\n\
         cancel    scancel {array} {merge}\n\
         failed    {}\n\
         results   {}\n",
        path(format!("{LOGS}/task-*-{array}.log")),
        script::resubmit(folder),
        path(format!("{MERGED}/sweep.csv")),
    )
}
