//! `virtlane flow`: a scenario at flow level, without packets.

use super::args::{Format, Input};
use super::print;
use crate::claims;
use crate::cli::run::verdict;
use crate::control::ALGORITHMS;
use crate::error::Error;
use crate::flow_level::{self, FlowLevelError, Results, Summary};
use crate::fluid::rates::SOLVERS;
use crate::fluid::routes::POLICIES;
use crate::registry::Registry;
use crate::report::{Replaces, RunDirectory};
use crate::scenario::{Document, FluidScenario, Parts};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Arguments of `flow`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The flows of the scenario are fluids: on fixed routes, at rates calculated once, or anew when a flow starts \
                  or a phase ends (`virtlane describe section fluid`). Buffers, packets, windows and congestion control play no part.\n\nExamples:\n  \
                  virtlane flow study.ron\n  \
                  virtlane flow study.ron --solver Saa --runs 1000 --out contention\n  \
                  virtlane flow study.ron --policy 'ForcedDir(hops: 8)'\n  \
                  virtlane list solver\n  virtlane describe policy ForcedDir\n\n\
                  Exit codes:\n  0 done; 1 done, but an expectation about `fluid` failed; 2 usage or scenario wrong; \
                  3 rates that break a rule (a mistake of this program); 4 results could not be written"
)]
pub struct Flow {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub input: Input,
    /// Solver of rates, as by `--set fluid.solver=NAME`; expectations are not judged
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// Policy of routes, with its parameters, as by `--set fluid.policy=NAME`; expectations are not judged
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Runs with seeds from that of the scenario on; same as `--set fluid.runs=N`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Seed of the first run; same as `--set seed=N`
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Directory to write: flows.csv, links.csv, contention.csv, rates.csv, runs.csv, summary.json; default: none
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results that are in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Worker threads; default: one per core. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Hold the rates of every run to all that the solver promises
    #[arg(long)]
    pub check: bool,
    /// Form of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// No table
    #[arg(long)]
    pub quiet: bool,
}

/// Makes the runs, shows what they gave, and writes it where that is asked for.
///
/// # Errors
/// When the scenario is wrong or the results cannot be written.
pub fn execute(arguments: &Flow) -> Result<ExitCode, Error> {
    let document = open(arguments)?;
    let directory = match &arguments.out {
        Some(place) => Some(directory(place, arguments.force)?),
        None => None,
    };
    let started = Instant::now();
    let scenario = document.fluid(&Parts::registered())?;
    if let Some(note) = of_control(&scenario).filter(|_| arguments.solver.is_none()) {
        super::note(&note);
    }
    for class in &scenario.left_out {
        super::note(&format!("class `{class}` has no flows and is left out"));
    }
    let results = match arguments.threads {
        None => flow_level::run(&document, &scenario, arguments.check),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize);
            let pool = pool.build();
            let pool = pool.map_err(|error| Error::Fault(error.to_string()))?;
            pool.install(|| flow_level::run(&document, &scenario, arguments.check))
        }
    }?;
    let summary = Summary::new(&results);
    // another solver or policy than the scenario says cannot be held to its claims
    let claims = if arguments.solver.is_none() && arguments.policy.is_none() {
        claims::of_flows(&scenario.scenario, &summary.value())
    } else {
        Vec::new()
    };
    // shown before anything is written: whatever fails then, the numbers are there
    match arguments.format {
        Format::Json => print(&summary.json())?,
        Format::Human if arguments.quiet => {}
        Format::Human => {
            print(&flow_level::table(&results, &summary))?;
            if !claims.is_empty() {
                print(&format!("\n{}\n", claims::table(&claims)))?;
            }
        }
    }
    if let Some(directory) = directory {
        let place = keep(directory, &document, &results, &summary, started)?;
        if arguments.format == Format::Human && !arguments.quiet {
            print(&format!("results   {}\n", place.display()))?;
        }
    }
    Ok(verdict(&claims))
}

/// The scenario with all changes.
fn open(arguments: &Flow) -> Result<Document, Error> {
    let mut document = arguments.input.open()?;
    let changes = &arguments.input.changes;
    if let Some(solver) = &arguments.solver {
        let solver = named(&SOLVERS, "--solver", solver)?;
        changes.tell_flag(&document, "--solver", "fluid.solver");
        document.assign("fluid.solver", &solver)?;
    }
    if let Some(policy) = &arguments.policy {
        let policy = named(&POLICIES, "--policy", policy)?;
        changes.tell_flag(&document, "--policy", "fluid.policy");
        document.assign("fluid.policy", &policy)?;
    }
    if let Some(runs) = arguments.runs {
        changes.tell_flag(&document, "--runs", "fluid.runs");
        document.assign("fluid.runs", &runs.to_string())?;
    }
    if let Some(seed) = arguments.seed {
        changes.tell_flag(&document, "--seed", "seed");
        document.assign("seed", &seed.to_string())?;
    }
    Ok(document)
}

/// What is said where all flows have an algorithm of `control` that calculates the rates of the solver of its name, and the
/// scenario names no solver: which one gives them.
fn of_control(scenario: &FluidScenario) -> Option<String> {
    let scenario = &scenario.scenario;
    if !scenario.fluid.has_default_solver() {
        return None;
    }
    let asked = SOLVERS.find(&scenario.fluid.solver.name.value)?;
    let classes = scenario
        .traffic
        .iter()
        .filter(|class| class.flows.is_some());
    let mut names = classes.map(|class| {
        let algorithm = ALGORITHMS.find(&class.control.as_ref()?.name.value)?;
        Some(algorithm.name)
    });
    let first = names.next()??;
    let is_of_all = names.all(|name| name == Some(first));
    let own = SOLVERS.find(first).filter(|_| is_of_all)?;
    Some(format!(
        "`control: {first}` plays no part here, rates are those of the solver `{}`: `--solver {}` gives those of the algorithm",
        asked.name, own.name
    ))
}

/// A part as it stands in scenarios, by one of its names and with its parameters, if there are some.
fn named<B>(registry: &Registry<B>, flag: &str, written: &str) -> Result<String, Error> {
    let end = written.find('(').unwrap_or(written.len());
    let (name, parameters) = written.split_at(end);
    let entry = registry.lookup(name.trim());
    let entry = entry.map_err(|message| Error::Usage(format!("{flag}: {message}")))?;
    let parameters = if parameters.is_empty() {
        "()"
    } else {
        parameters
    };
    Ok(format!("{}{parameters}", entry.name))
}

fn directory(place: &Path, force: bool) -> Result<RunDirectory, Error> {
    let replaces = if force {
        Replaces::AnyRun
    } else {
        Replaces::Nothing
    };
    Ok(RunDirectory::create_over(place, replaces)?)
}

/// Writes the results; their place.
fn keep(
    directory: RunDirectory,
    document: &Document,
    results: &Results<'_>,
    summary: &Summary,
    started: Instant,
) -> Result<PathBuf, Error> {
    let text = document.to_text();
    let identity = document.identity();
    let seconds = started.elapsed().as_secs_f64();
    let known = (text.as_str(), identity.as_str());
    flow_level::write(&directory, results, summary, known, seconds)?;
    Ok(directory.finish()?)
}

impl From<FlowLevelError> for Error {
    fn from(error: FlowLevelError) -> Self {
        match error {
            FlowLevelError::Scenario(error) => error.into(),
            FlowLevelError::Broken { .. } => Self::Fault(error.to_string()),
            FlowLevelError::Policy(_) | FlowLevelError::Solver(_) => Self::Usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a class for each of these.
    fn said(classes: &[&str], fluid: &str) -> Option<String> {
        let class = |(number, class): (usize, &&str)| {
            format!(
                "(name: \"c{number}\", size: \"4 flits\", flows: [(pairs: List(pairs: [({number}, 3)]))], {class})"
            )
        };
        let classes: Vec<String> = classes.iter().enumerate().map(class).collect();
        let text = format!(
            "Scenario(
                fabric: (topology: Complete(switches: 2, hosts_per_switch: 2), link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                         switch: (lane_capacity: \"32 flits\")),
                routing: MinHop(), traffic: [{}], {fluid}
                phases: (warmup: \"0 cycles\", measure: \"1000 cycles\"))",
            classes.join(", ")
        );
        let document = Document::parse("t.ron", &text, Path::new("")).expect("a scenario");
        let scenario = document.fluid(&Parts::registered());
        of_control(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    #[test]
    fn solvers_of_algorithms_are_named() {
        let (saa, saa_m, dffa) = (
            "control: Saa()",
            "control: SaaM(), answers: (sl: 0)",
            "control: Dffa(begin: \"20 us\")",
        );
        let told = |name: &str| {
            format!(
                "`control: {name}` plays no part here, rates are those of the solver `Ffa`: `--solver {name}` gives those of the algorithm"
            )
        };
        assert_eq!(said(&[saa], ""), Some(told("Saa")));
        assert_eq!(said(&[saa, saa], ""), Some(told("Saa")));
        assert_eq!(said(&[saa_m], ""), Some(told("SaaM")));
        assert_eq!(said(&[saa, saa_m], ""), None);
        assert_eq!(said(&[saa, ""], ""), None);
        assert_eq!(said(&[""], ""), None);
        assert_eq!(said(&[saa], "fluid: (solver: Saa()),"), None);
        // of these the solver that is asked anyway gives the rates
        assert_eq!(said(&[dffa], ""), None);
    }

    #[test]
    fn more_seeds_than_there_are_are_refused() {
        let text = "Scenario(
            seed: 18446744073709551614,
            fabric: (topology: Complete(switches: 2, hosts_per_switch: 2), link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                     switch: (lane_capacity: \"32 flits\")),
            routing: MinHop(),
            traffic: [(name: \"c\", size: \"4 flits\", flows: [(pairs: AllToAll)])],
            fluid: (runs: RUNS),
            phases: (warmup: \"0 cycles\", measure: \"1000 cycles\"))";
        let made = |runs: &str| {
            let text = text.replace("RUNS", runs);
            let document = Document::parse("t.ron", &text, Path::new("")).expect("a scenario");
            let scenario = document.fluid(&Parts::registered()).expect("flows");
            let results = flow_level::run(&document, &scenario, false);
            let made = results.map(|results| results.runs.len());
            made.map_err(|error| error.to_string())
        };
        assert_eq!(made("2"), Ok(2));
        let error = made("3").expect_err("there is no third");
        let words = "t.ron:7:27: fluid.runs: 3 seeds from `seed: 18446744073709551614` on go beyond 18446744073709551615";
        assert!(error.starts_with(words), "{error}");
    }
}
