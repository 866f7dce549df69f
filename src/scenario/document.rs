//! A scenario file with the changes of the command line.

use super::base::{self, Find};
use super::identity::{self, Settings};
use super::resolve;
use super::resolve::fluid::FluidScenario;
use super::resolve::fluid_flows::FluidFlows;
use super::resolve::{Known, Layout, Parts, Resolved};
use super::sections::{Scenario, Sweep};
use super::syntax::doubles::{Assigned, read};
use super::syntax::edit::sections;
use super::syntax::path::numbered;
use super::syntax::{At, Field, Mistake, Node, Place, ScenarioError, Sources, Value};
use crate::routing::Tables;
use crate::text_file::without_mark;
use std::path::{Path, PathBuf};

/// The scenario that runs when no file is given.
pub const DEFAULT: &str = include_str!("../../scenarios/default.ron");

/// Scenario text, parsed but not interpreted.
///
/// # Examples
/// ```
/// use virtlane::scenario::Document;
///
/// let mut document = Document::embedded();
/// document.set("traffic.uniform.process.load=0.7")?;
/// assert!(document.to_text().contains("Bernoulli(load: 0.7)"));
/// assert_eq!(document.scenario()?.traffic[0].name.value, "uniform");
/// # Ok::<(), virtlane::scenario::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    sources: Sources,
    root: Node,
    base: PathBuf,
    /// What it starts from, as that was.
    starts_from: Option<Node>,
    is_point: bool,
    /// Key paths that were set since it is a point: other points have other values there.
    varied: Vec<String>,
}

/// Sections about runs rather than of them: long ones, which no other section is read with.
const ABOUT_RUNS: [&str; 2] = ["expect", "sweep"];

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// When the file cannot be read or is not RON.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let whole_file = |message: String| ScenarioError {
            place: name.clone(),
            path: String::new(),
            message,
        };
        let bytes = std::fs::read(path)
            .map_err(|cause| whole_file(format!("cannot read the file: {cause}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| whole_file("the file is not UTF-8 text".into()))?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, without_mark(&text), base)
    }

    /// The embedded default scenario.
    ///
    /// # Panics
    /// Never: the text is part of the program and parsed in its tests.
    pub fn embedded() -> Self {
        Self::parse("default.ron", DEFAULT, Path::new("")).expect("the embedded scenario is tested")
    }

    /// Reads a text; `name` is shown in messages, relative file names start from `base`.
    ///
    /// # Errors
    /// When the text is not RON.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, ScenarioError> {
        Self::with_bases(name, text, base, &base::of_file)
    }

    /// As [`Self::parse`], with the bases that `find` finds.
    pub(super) fn with_bases(
        name: &str,
        text: &str,
        base: &Path,
        find: Find<'_>,
    ) -> Result<Self, ScenarioError> {
        let mut sources = Sources::new(name, text);
        let merged = read(text, 0).and_then(|mut root| {
            let starts_from = base::merge(&mut root, &mut sources, (base, find))?;
            Ok((root, starts_from))
        });
        match merged {
            Ok((root, starts_from)) => Ok(Self {
                sources,
                root,
                starts_from,
                is_point: false,
                varied: Vec::new(),
                base: base.to_owned(),
            }),
            Err(mistake) => Err(sources.error(mistake)),
        }
    }

    /// What is other than in the scenario that this one starts from: key path, value there, value here. `None` when it starts
    /// from none. Title, sweep and claims are not compared.
    pub fn changes_of_base(&self) -> Option<Vec<(String, String, String)>> {
        let base = identity::settings(self.starts_from.as_ref()?);
        Some(identity::differences(&base, &self.settings()))
    }

    /// Changes one value: `path=value`, as `--set` takes it.
    ///
    /// # Errors
    /// When there is no `=`, or the path leads nowhere.
    pub fn set(&mut self, assignment: &str) -> Result<(), ScenarioError> {
        match assignment.split_once('=') {
            Some((path, value)) => self.assign(path.trim(), value),
            None => Err(ScenarioError {
                place: format!("--set {assignment}"),
                path: String::new(),
                message: "expected `path=value`, such as `traffic.0.process.load=0.5`".into(),
            }),
        }
    }

    /// Changes the value at `path` to `value`, RON text or a bare string.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn assign(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        let source = self.sources.add(Self::assignment(path, value), value);
        super::syntax::edit::set(&mut self.root, path, value, source)
            .map_err(|mistake| self.sources.error(mistake))?;
        if self.is_point {
            self.varied.push(path.to_owned());
        }
        Ok(())
    }

    /// The keys of a path with all elements of lists by their numbers: the same for paths that lead to the same value.
    pub(crate) fn keys(&self, path: &str) -> Vec<String> {
        numbered(&self.root, path)
    }

    /// What the place of a value is called that was changed.
    pub(crate) fn assignment(path: &str, value: &str) -> String {
        format!("--set {path}={value}")
    }

    /// `file:line:column` of a place.
    pub(crate) fn locate(&self, place: Place) -> String {
        self.sources.locate(place)
    }

    /// The error to show for a mistake in this scenario.
    pub(crate) fn error(&self, mistake: Mistake) -> ScenarioError {
        self.sources.error(mistake)
    }

    /// Refuses more seeds than there are from the first one on, none of which begins again at 0.
    ///
    /// # Errors
    /// Where it is written how many are asked for.
    pub(crate) fn require_seeds(&self, first: u64, asked: &At<u32>) -> Result<(), ScenarioError> {
        let (count, left) = (u64::from(asked.value), u64::MAX - first);
        if count <= left.saturating_add(1) {
            return Ok(());
        }
        Err(self.error(asked.mistake(format!(
            "{count} seeds from `seed: {first}` on go beyond {}, the largest: expected at most {}, or a smaller `seed`",
            u64::MAX,
            left + 1
        ))))
    }

    /// Keeps the claims for which the list, by their order, says so.
    pub(super) fn retain_claims(&mut self, kept: &[bool]) {
        let mut fields = sections(&mut self.root).into_iter().flatten();
        if let Some(claims) = fields.find(|field| field.key == "expect")
            && let Value::List(claims) = &mut claims.value.value
        {
            let mut kept = kept.iter();
            claims.retain(|_| kept.next().is_none_or(|&kept| kept));
        }
    }

    /// Reads every key and value, without looking up names.
    ///
    /// # Errors
    /// The first wrong key or value.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let scenario = Scenario::of(&self.root).map_err(|mistake| self.sources.error(mistake))?;
        self.check_axes(&scenario)?;
        Ok(scenario)
    }

    /// Every value of every axis must fit its key, by itself. Cost: the scenario without claims is read once per value.
    fn check_axes(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        let Some(sweep) = scenario.sweep.as_ref().filter(|_| !self.is_point) else {
            return Ok(());
        };
        self.check_paths(sweep)
            .map_err(|mistake| self.sources.error(mistake))?;
        let mut bare = self.root.clone();
        if let Some(fields) = sections(&mut bare) {
            fields.retain(|field| !ABOUT_RUNS.contains(&field.key.as_str()));
        }
        for axis in sweep.axes.iter().flatten() {
            let path = axis.path.value.as_str();
            let section = path.split('.').next().unwrap_or(path);
            let is_about_runs = ABOUT_RUNS.contains(&section);
            let root = if is_about_runs { &self.root } else { &bare };
            for value in &axis.values {
                let mut root = root.clone();
                let source = value.place.source;
                super::syntax::edit::set(&mut root, path, &value.value, source)
                    .and_then(|()| Scenario::of(&root).map(drop))
                    .map_err(|mistake| {
                        let message = format!("`{path}`: {}", mistake.message);
                        self.sources.error(value.mistake(message))
                    })?;
            }
        }
        Ok(())
    }

    /// No axis sets again what one before it has set, and no change of the quick form does.
    fn check_paths(&self, sweep: &Sweep) -> Result<(), Mistake> {
        let mut axes = Assigned::default();
        for axis in sweep.axes.iter().flatten() {
            axes.add(&self.root, &axis.path)?;
        }
        let mut changes = Assigned::default();
        for (path, _) in sweep.quick.iter().flat_map(|quick| &quick.set) {
            changes.add(&self.root, path)?;
        }
        Ok(())
    }

    /// One of the points of a design, whose axes were checked with the design: they are not checked with each run.
    pub(crate) fn into_point(mut self) -> Self {
        self.is_point = true;
        self
    }

    /// The scenario without the sections about runs, which are long and change nothing in what is simulated.
    pub(crate) fn bare(&self) -> Self {
        let mut document = self.clone();
        if let Some(fields) = sections(&mut document.root) {
            fields.retain(|field| !ABOUT_RUNS.contains(&field.key.as_str()));
        }
        document
    }

    /// The scenario with all changes: the text as it was when there are none, else a section a line.
    pub fn to_text(&self) -> String {
        if let Some(text) = self.sources.unchanged() {
            return text.to_owned();
        }
        let Value::Named(name, arguments) = &self.root.value else {
            return self.root.to_text() + "\n";
        };
        let Value::Struct(fields) = &arguments.value else {
            return self.root.to_text() + "\n";
        };
        let line = |field: &Field| format!("    {}: {},\n", field.key, field.value.to_text());
        let lines: String = fields.iter().map(line).collect();
        format!("{name}(\n{lines})\n")
    }

    /// Every value by its key path, as written.
    pub fn settings(&self) -> Settings {
        identity::settings(&self.root)
    }

    /// SHA-256 of every file that the scenario names.
    pub fn files(&self) -> Settings {
        identity::files(&self.root, &self.base)
    }

    /// The same for two scenarios exactly when they are the same run of the same version of this program.
    pub fn identity(&self) -> String {
        identity::identity(&self.root, &self.base)
    }

    /// The same for two scenarios whose values say the same, however they are spelled, as far as they say it by themselves.
    pub(crate) fn sense(&self) -> String {
        identity::sense_of(&self.root)
    }

    /// Builds clock and graph only.
    ///
    /// # Errors
    /// The first mistake.
    pub fn layout(&self, parts: &Parts<'_>) -> Result<(Scenario, Layout), ScenarioError> {
        let scenario = self.scenario()?;
        let layout = resolve::stages::layout(&scenario, parts, &self.base);
        match layout {
            Ok(layout) => Ok((scenario, layout)),
            Err(mistake) => Err(self.sources.error(mistake)),
        }
    }

    /// Ports to the management ports of switches, for dumps of a scenario's `tables`.
    ///
    /// # Errors
    /// What is wrong with `routing`.
    pub fn management(
        &self,
        resolved: &Resolved,
        tables: &Tables,
        parts: &Parts<'_>,
    ) -> Result<Vec<u8>, ScenarioError> {
        resolve::management(resolved, tables, parts, &self.base)
            .map_err(|mistake| self.sources.error(mistake))
    }

    /// Resolves what the flow level needs: fabric, solver, policy, and forwarding tables where the policy follows some.
    ///
    /// # Errors
    /// The first mistake.
    pub fn fluid(&self, parts: &Parts<'_>) -> Result<FluidScenario, ScenarioError> {
        resolve::fluid::resolve(self.scenario()?, parts, &self.base)
            .map_err(|mistake| self.sources.error(mistake))
    }

    /// The flows of the flow level with another seed; the fabric stays.
    ///
    /// # Errors
    /// The first mistake: what the flow level does not take.
    pub fn fluid_flows(
        &self,
        fluid: &FluidScenario,
        parts: &Parts<'_>,
        seed: u64,
    ) -> Result<FluidFlows, ScenarioError> {
        resolve::fluid::flows(fluid, parts, seed, &self.base)
            .map_err(|mistake| self.sources.error(mistake))
    }

    /// Resolves everything a run needs.
    ///
    /// # Errors
    /// The first mistake.
    pub fn resolve(&self, parts: &Parts<'_>) -> Result<Resolved, ScenarioError> {
        self.resolve_known(parts, &Known::nothing())
    }

    /// The same as one of many runs of a study, with what was computed for others of them.
    ///
    /// # Errors
    /// The first mistake.
    pub fn resolve_known(
        &self,
        parts: &Parts<'_>,
        known: &Known,
    ) -> Result<Resolved, ScenarioError> {
        resolve::resolve(self.scenario()?, parts, &self.base, known, &self.varied)
            .map_err(|mistake| self.sources.error(mistake))
    }
}
