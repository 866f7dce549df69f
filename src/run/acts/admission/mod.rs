//! Rounds of admission (D53): flows that are over are released, hosts ask for theirs, and the desk answers or tries them (D59).
//!
//! Cost: O(hosts + requests times what the algorithm takes + flows with a size that go times shards) per round; with loads O(channels times lanes) as well.

mod release;
mod trials;

use super::{GlobalAct, LastingAct};
use crate::admission::{DeskState, Fabric, Loads, Request, Shown, Trials};
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::mechanisms::meters::Meters;
use crate::fabric::numbering::Numbering;
use crate::ids::HostId;
use crate::plan::{AdmissionPlan, Plan};
use crate::routing::Routes;
use crate::run::congestion::granted;
use crate::run::outcome::RunError;
use crate::run::shards::Shards;
use crate::topology::Graph;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rounds of a plan.
pub(in crate::run) struct Rounds {
    plan: AdmissionPlan,
    /// Requests in the order in which hosts ask: by host, then by class.
    askers: Vec<Vec<Request>>,
    /// Destination of each request, and what its flow sends in all \[flits\].
    flows: Vec<Vec<(HostId, Option<u64>)>>,
    /// How flows are tried.
    trials: Option<Trials>,
    /// Flows that are tried and their probe flows, ascending.
    probes: Vec<(u32, u32)>,
    /// Lanes of a channel, and channels.
    size: (usize, usize),
    state: State,
}

/// What it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    desk: DeskState,
    /// Flows admitted of each asker.
    admitted: Vec<u32>,
    /// Cycle of the round in which the next flow of each asker was first asked for.
    first_asked: Vec<Option<u64>>,
    /// Cycle of the next act.
    next: u64,
    /// Whether the round that goes on has admitted a flow.
    grants: bool,
    /// Rounds done.
    rounds: u32,
    /// Cycle of the act that ended them.
    ended: Option<u64>,
    /// Rounds in a row that were empty.
    empty: u32,
    /// Flows with a size that were admitted and not released, as (asker, place among its flows), in the order of admission.
    held: Vec<(u32, u32)>,
    /// Flows released.
    released: u64,
    /// Whether somebody has asked in the round that goes on.
    asked: bool,
    /// Requests so far, by class.
    requests: Vec<u64>,
    /// Waits of the flows admitted, sum and most \[cycles\].
    waits: (u64, u64),
    trials: trials::State,
    /// Flits granted before the last round, modulo 2^32, where the desk looks at loads.
    granted: Vec<u32>,
}

impl Rounds {
    /// Those of a plan; `None` when no class asks.
    pub(in crate::run) fn new(plan: &Plan, graph: &Graph, routes: &Routes) -> Option<Self> {
        let admission = plan.admission.clone()?;
        let tables = routes.tables()?;
        let mut askers: BTreeMap<(HostId, u16), Vec<Request>> = BTreeMap::new();
        for request in plan.admission_requests(graph, tables) {
            let source = plan.flows[request.flow as usize].source;
            let own = askers.entry((source, request.class)).or_default();
            own.push(request);
        }
        let paces = graph.channels().iter();
        let paces: Vec<u32> = paces.map(|one| one.timing.cycles_per_flit).collect();
        let desk = admission.control.start(Fabric { paces: &paces });
        let askers: Vec<Vec<Request>> = askers.into_values().collect();
        let of = |request: &Request| {
            let flow = &plan.flows[request.flow as usize];
            (flow.destination, flow.flits)
        };
        Some(Self {
            trials: admission.trials(),
            probes: plan.probe_flows(),
            flows: (askers.iter())
                .map(|own| own.iter().map(of).collect())
                .collect(),
            size: (
                Numbering::new(plan.switch.lane_count()).lanes() as usize,
                paces.len(),
            ),
            state: State {
                desk,
                admitted: vec![0; askers.len()],
                first_asked: vec![None; askers.len()],
                next: admission.first,
                grants: false,
                rounds: 0,
                ended: None,
                empty: 0,
                held: Vec::new(),
                released: 0,
                asked: false,
                requests: vec![0; plan.classes.len()],
                waits: (0, 0),
                trials: trials::State::new(askers.len()),
                granted: Vec::new(),
            },
            plan: admission,
            askers,
        })
    }

    fn is_done(&self) -> bool {
        self.state.rounds >= self.plan.most || self.state.empty >= self.plan.empty
    }

    /// Flits granted since the round before, and those until now.
    fn loads(&self, shards: &Shards) -> (Vec<u64>, Vec<u32>) {
        let (lanes, channels) = self.size;
        let granted = granted(channels, lanes, shards);
        let before = &self.state.granted;
        let since = granted.iter().zip(before);
        let since = since.map(|(now, before)| now.wrapping_sub(*before).into());
        (since.collect(), granted)
    }

    /// Flows that are over are released, then every host asks once for each class.
    fn round(&mut self, at: u64, shards: &mut Shards) {
        self.release(shards);
        let control = self.plan.control.clone();
        let (loads, granted) = if control.looks_at_loads() {
            self.loads(shards)
        } else {
            Default::default()
        };
        let loads = (!loads.is_empty()).then_some(Loads {
            flits: &loads,
            lanes: self.size.0,
            cycles: self.plan.gap,
        });
        self.state.granted = granted;
        for number in 0..self.askers.len() {
            let place = self.state.admitted[number] as usize;
            let Some(request) = self.askers[number].get(place) else {
                continue;
            };
            let flow = request.flow;
            self.state.requests[usize::from(request.class)] += 1;
            self.state.asked = true;
            self.state.first_asked[number].get_or_insert(at);
            if self.tries(number, flow, at, shards) {
                continue;
            }
            let destination = shards.place(self.flows[number][place].0);
            let meters = shards.resource_mut::<Meters>(destination.shard);
            let shown = Shown {
                now: at,
                meter: meters.as_ref().map(|meters| meters.at(destination.row)),
                loads,
            };
            let request = &self.askers[number][place];
            if control.ask(&mut self.state.desk, request, shown) {
                self.admit(number, flow, at, shards);
            }
        }
    }

    /// The next flow of an asker is admitted.
    fn admit(&mut self, asker: usize, flow: u32, at: u64, shards: &mut Shards) {
        let state = &mut self.state;
        state.grants = true;
        let place = state.admitted[asker];
        if self.flows[asker][place as usize].1.is_some() {
            state.held.push((asker as u32, place));
        }
        state.admitted[asker] += 1;
        let start = at + self.plan.decision;
        let wait = start - state.first_asked[asker].take().unwrap_or(at);
        state.waits = (state.waits.0 + wait, state.waits.1.max(wait));
        if let Some(end) = trials::end_of(flow, shards)
            && let Some(mut flows) = shards.resource_mut::<Flows>(end.shard as usize)
        {
            flows.admit(end.row, start);
        }
    }
}

impl GlobalAct for Rounds {
    fn next(&self, from: u64) -> Option<u64> {
        (!self.is_done()).then_some(self.state.next.max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        if self.state.trials.is_open() {
            self.look(at, shards);
        } else {
            self.round(at, shards);
        }
        let state = &mut self.state;
        if let Some(trials) = self.trials.filter(|_| state.trials.is_open()) {
            state.next = at + trials.look;
            return Ok(());
        }
        state.next = at + self.plan.gap;
        state.rounds += 1;
        let asked = std::mem::take(&mut state.asked);
        let grants = std::mem::take(&mut state.grants);
        let is_empty = !grants && (!asked || state.held.is_empty());
        state.empty = if is_empty { state.empty + 1 } else { 0 };
        if self.is_done() {
            self.state.ended = Some(at);
        }
        Ok(())
    }
}

impl LastingAct for Rounds {
    fn name(&self) -> &'static str {
        "admission"
    }

    fn is_over(&self, _: u64) -> bool {
        self.is_done()
    }

    fn counts(&self) -> Vec<(String, u64)> {
        let state = &self.state;
        let mut counts = vec![
            (String::from("admission.rounds"), state.rounds.into()),
            (String::from("admission.released"), state.released),
            (String::from("admission.waits"), state.waits.0),
            (String::from("admission.longest_wait"), state.waits.1),
        ];
        counts.extend(state.ended.map(|at| (String::from("admission.end"), at)));
        for (class, &requests) in state.requests.iter().enumerate() {
            let of_class = |(own, _): &(&Vec<Request>, _)| usize::from(own[0].class) == class;
            let admitted = self.askers.iter().zip(&state.admitted).filter(of_class);
            let admitted = admitted.map(|(_, &admitted)| u64::from(admitted)).sum();
            counts.push((format!("admission.requests.{class}"), requests));
            counts.push((format!("admission.admitted.{class}"), admitted));
        }
        counts
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&self.state)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let state: State = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        let sizes = |state: &State| (state.desk.len(), state.admitted.len(), state.requests.len());
        if sizes(&state) != sizes(&self.state) {
            return Err(String::from("it is of other flows or another control"));
        }
        self.state = state;
        Ok(())
    }
}
