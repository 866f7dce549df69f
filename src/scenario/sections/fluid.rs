//! Section `fluid`: routes and rates at flow level.

use super::values::{Read, one_of, part, whole};
use crate::fluid::rates::Solver;
use crate::fluid::routes::Policy;
use crate::scenario::Parts;
use crate::scenario::print::Printer;
use crate::scenario::syntax::{At, Item, Mistake, Part};

section! {
    /// The flows of the scenario as fluids, for `virtlane flow`: on fixed routes, at rates that are calculated once, or anew whenever
    /// a flow starts or a phase of an application ends. Buffers,
    /// packets, windows and `control` play no part there; `carry` brings routes, or routes and rates, into runs with packets. What is `reserved` is left out in runs with packets as well, by algorithms of `control` that calculate rates.
    Fluid = "fluid" in "fluid" {
        /// How rates are computed
        solver: Part = part("solver of rates"), "solver of rates" or "Ffa()";
        /// Over which links flows go
        policy: Part = part("policy of routes"), "policy of routes" or "Static()";
        /// What solvers know flows by: their weights, or their weights times what they send in all
        weights: Weights = one_of(&[Weights::Weights, Weights::Sizes]), "Weights | Sizes" or "Weights";
        /// What packets of flows have of it in `virtlane run`: nothing, so that they go by the forwarding tables; the routes; or the
        /// routes and, where a flow has neither limit nor control of its own, the rates as limits
        carry: At<Carry> = one_of(&[Carry::Nothing, Carry::Routes, Carry::Rates]), "Nothing | Routes | Rates" or "Nothing";
        /// Part of every link that rates leave to other traffic, here and with `control` that calculates rates
        reserved: At<f64> = reserved, "0 <= number < 1" or "0";
        /// Runs with flows and routes of their own, with seeds from that of the scenario on
        runs: At<u32> = whole(1), "integer >= 1" or "1";
    }
}

/// What solvers know flows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Their weights.
    Weights,
    /// Their weights times their sizes \[flits\].
    Sizes,
}

/// What packets of flows have of the flow level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Nothing.
    Nothing,
    /// Their routes.
    Routes,
    /// Their routes, and their rates as limits.
    Rates,
}

fn reserved(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number),
        _ => Err(item.unexpected("a number from 0 to below 1, such as 0.1")),
    }
}

impl Fluid {
    /// Keys whose values are not what they are when they are left out.
    pub(in crate::scenario) fn written(&self) -> impl Iterator<Item = &'static str> + use<> {
        let keys = [
            ("solver", !self.has_default_solver()),
            ("policy", self.policy.name.value != "Static"),
            ("weights", self.weights != Weights::Weights),
            ("carry", self.carry.value != Carry::Nothing),
            ("reserved", self.reserved.value > 0.0),
            ("runs", self.runs.value != 1),
        ];
        keys.into_iter()
            .filter_map(|(key, is_other)| is_other.then_some(key))
    }

    /// Whether the solver is that of scenarios that name none.
    pub fn has_default_solver(&self) -> bool {
        self.solver.name.value == "Ffa"
    }

    /// Whether its parts exist and take their arguments.
    pub(in crate::scenario) fn check_parts(&self, parts: &Parts<'_>) -> Result<(), Mistake> {
        self.solver(parts)?;
        self.policy(parts).map(drop)
    }

    /// The solver.
    pub(in crate::scenario) fn solver(&self, parts: &Parts<'_>) -> Result<Solver, Mistake> {
        let entry = self.solver.entry(parts.solvers)?;
        self.solver.build(|arguments| {
            let Nothing {} = arguments.parse()?;
            Ok(entry.build)
        })
    }

    /// The policy.
    pub(in crate::scenario) fn policy(
        &self,
        parts: &Parts<'_>,
    ) -> Result<Box<dyn Policy>, Mistake> {
        self.policy.build(self.policy.entry(parts.policies)?.build)
    }

    /// The section with the values of the plan.
    pub(super) fn print(&self, printer: &mut Printer, parts: &Parts<'_>) {
        printer.part("solver", &self.solver, parts.solvers);
        printer.part("policy", &self.policy, parts.policies);
        printer.key("weights", format_args!("{:?}", self.weights));
        printer.key("carry", format_args!("{:?}", self.carry.value));
        printer.key("reserved", format_args!("{:?}", self.reserved.value));
        printer.key("runs", self.runs.value);
    }
}

/// Solvers have no parameters.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}
