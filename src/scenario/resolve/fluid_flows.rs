//! Flows as solvers of rates know them.

use crate::fluid::network::LARGEST_WEIGHT;
use crate::fluid::routes::Ends;
use crate::plan::{FlowPlan, Limit, Plan};
use crate::scenario::Scenario;
use crate::scenario::sections::Class;
use crate::scenario::sections::fluid::Weights;
use crate::scenario::syntax::Mistake;
use std::collections::BTreeMap;

/// All flows of a run.
#[derive(Clone, Debug)]
pub struct FluidFlows {
    /// The flows, by id.
    pub flows: Vec<FluidFlow>,
    /// Names of the applications: those of phases, of the generator with its class, else of classes.
    pub applications: Vec<String>,
}

/// A flow at flow level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluidFlow {
    /// Where it goes, and what it adds to counters of links.
    pub ends: Ends,
    /// Its traffic class.
    pub class: u16,
    /// What solvers know it by.
    pub weight: u64,
    /// Its application, by the place of the name.
    pub application: u32,
    /// What it sends in all \[flits\]; `None` = without end.
    pub flits: Option<u64>,
    /// Most it may send \[2^-32 flits per cycle\].
    pub most: Option<u64>,
    /// Phase of its application (D50).
    pub phase: Option<u32>,
    /// When it starts: cycle, or cycles after its phase has opened.
    pub start: u64,
}

impl FluidFlows {
    /// Whether they do not all send at once.
    pub fn in_time(&self) -> bool {
        let later = |flow: &FluidFlow| flow.start > 0 || flow.phase.is_some_and(|phase| phase > 0);
        self.flows.iter().any(later)
    }
}

/// The flows of a plan as solvers know them, as if all sent at once.
///
/// # Errors
/// The first flow of which no solver can know what it sends.
pub(super) fn known_to_solvers(scenario: &Scenario, plan: &Plan) -> Result<FluidFlows, Mistake> {
    Flows::all(scenario, plan, check_limit)
}

/// A flow as policies of routes know it.
pub(in crate::scenario) fn ends(flow: &FlowPlan) -> Ends {
    Ends {
        source: flow.source,
        destination: flow.destination,
        weight: flow.weight,
        level: flow.level,
    }
}

/// Says of a flow why it is refused.
type Check = fn(&FlowPlan) -> Result<(), &'static str>;

/// Refuses what is not of the flow level.
fn check_known(flow: &FlowPlan) -> Result<(), &'static str> {
    if flow.stop.is_some() {
        Err("stops: at flow level flows send what they have, give `bytes` in place of `stop`")
    } else if !flow.after.is_empty() {
        Err("waits for others: at flow level flows start at given times and in phases")
    } else if flow.process.is_some() {
        Err("has a process: at flow level every flow always has data")
    } else {
        check_limit(flow)
    }
}

/// Refuses limits that are not one rate.
fn check_limit(flow: &FlowPlan) -> Result<(), &'static str> {
    if matches!(flow.limit, Limit::Delay { .. }) {
        Err("is limited by a delay, and not by a rate")
    } else if !flow.changes.is_empty() {
        Err("has limits that change: at flow level rates are fixed")
    } else {
        Ok(())
    }
}

/// Flows that are being taken over.
pub(super) struct Flows<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    check: Check,
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl Flows<'_> {
    /// All flows of a plan.
    pub(super) fn of(scenario: &Scenario, plan: &Plan) -> Result<FluidFlows, Mistake> {
        let has_flows = |class: &&Class| class.flows.is_some();
        for class in scenario.traffic.iter().filter(has_flows) {
            if class.slots.is_some() || class.requests.is_some() {
                let message = "its flows have slots or requests: at flow level all flows send at once, at fixed rates";
                return Err(class.name.mistake(message));
            }
        }
        if !scenario.traffic.iter().any(|class| class.flows.is_some()) {
            let first = &scenario.traffic[0].name;
            return Err(
                first.mistake("no class has `flows`, and the flow level is about nothing else: give one `flows` in place of pattern and process")
            );
        }
        let flows = Self::all(scenario, plan, check_known)?;
        let endless = |flow: &&FluidFlow| flow.flits.is_none();
        if flows.in_time()
            && let Some(flow) = flows.flows.iter().find(endless)
        {
            let name = &scenario.traffic[usize::from(flow.class)].name;
            return Err(name.mistake("has a flow without a size, and others start later: at flow level flows then all have `bytes`"));
        }
        Ok(flows)
    }

    /// All flows of a plan that this check lets pass.
    fn all(scenario: &Scenario, plan: &Plan, check: Check) -> Result<FluidFlows, Mistake> {
        let mut all = Flows {
            scenario,
            plan,
            check,
            numbers: BTreeMap::new(),
            names: Vec::new(),
        };
        let mut flows = Vec::with_capacity(plan.flows.len());
        for flow in &plan.flows {
            if !plan.is_of_probes(flow.class) {
                flows.push(all.flow(flow)?);
            }
        }
        Ok(FluidFlows {
            flows,
            applications: all.names,
        })
    }

    fn flow(&mut self, flow: &FlowPlan) -> Result<FluidFlow, Mistake> {
        let class = &self.scenario.traffic[usize::from(flow.class)];
        let wrong = |reason: &str| {
            let (from, to) = (flow.source, flow.destination);
            let message = format!("the flow from host {from} to host {to} {reason}");
            class.name.mistake(message)
        };
        (self.check)(flow).map_err(wrong)?;
        let phase = flow
            .phase
            .map(|phase| &self.plan.app_phases[phase as usize]);
        let name = match (phase, flow.application) {
            (Some(phase), _) => phase.application.clone(),
            (None, Some(number)) => format!("{} {number}", class.name.value),
            (None, None) => class.name.value.clone(),
        };
        Ok(FluidFlow {
            ends: ends(flow),
            class: flow.class,
            weight: self.weight(flow).map_err(wrong)?,
            application: self.application(name),
            flits: flow.flits,
            most: match flow.limit {
                Limit::Rate(rate) => Some(rate),
                Limit::None | Limit::Delay { .. } => None,
            },
            phase: phase.map(|phase| phase.number),
            start: flow.start,
        })
    }

    /// What solvers know a flow by.
    fn weight(&self, flow: &FlowPlan) -> Result<u64, &'static str> {
        let weight = u64::from(flow.weight);
        let weight = match (self.scenario.fluid.weights, flow.flits) {
            (Weights::Weights, _) => Some(weight),
            (Weights::Sizes, Some(flits)) => flits.checked_mul(weight),
            (Weights::Sizes, None) => return Err("has no size, and sizes are weights"),
        };
        let weight = weight.filter(|weight| *weight <= LARGEST_WEIGHT);
        weight.ok_or("is too large: its size times its weight is more than 2^40 flits")
    }

    /// Number of an application.
    fn application(&mut self, name: String) -> u32 {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.clone(), number);
        self.names.push(name);
        number
    }
}
