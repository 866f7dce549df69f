//! Rounds of admission (D53): hosts ask for their flows, and the desk answers.
//!
//! Cost: O(hosts + requests times what the algorithm takes) per round; with loads O(channels times lanes) as well.

use super::{GlobalAct, LastingAct};
use crate::admission::{DeskState, Fabric, Loads, Request, Shown};
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::mechanisms::meters::Meters;
use crate::cycle::state::Place;
use crate::fabric::rows::Numbering;
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
    /// Destination of each request.
    destinations: Vec<Vec<HostId>>,
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
    /// Rounds done.
    rounds: u32,
    /// Rounds in a row that have admitted nothing.
    empty: u32,
    /// Requests so far, by class.
    requests: Vec<u64>,
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
        let to = |request: &Request| plan.flows[request.flow as usize].destination;
        Some(Self {
            plan: admission,
            destinations: (askers.iter())
                .map(|own| own.iter().map(to).collect())
                .collect(),
            size: (
                Numbering::new(plan.switch.lane_count()).lanes() as usize,
                paces.len(),
            ),
            state: State {
                desk,
                admitted: vec![0; askers.len()],
                rounds: 0,
                empty: 0,
                requests: vec![0; plan.classes.len()],
                granted: Vec::new(),
            },
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
}

impl GlobalAct for Rounds {
    fn next(&self, from: u64) -> Option<u64> {
        let at = self.plan.first + u64::from(self.state.rounds) * self.plan.gap;
        (!self.is_done()).then_some(at.max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
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
        let state = &mut self.state;
        state.granted = granted;
        let mut grants = false;
        for (number, own) in self.askers.iter().enumerate() {
            let place = state.admitted[number] as usize;
            let Some(request) = own.get(place) else {
                continue;
            };
            state.requests[usize::from(request.class)] += 1;
            let destination = shards.place(self.destinations[number][place]);
            let meters = shards.resource_mut::<Meters>(destination.shard);
            let shown = Shown {
                now: at,
                meter: meters.as_ref().map(|meters| meters.at(destination.row)),
                loads,
            };
            if !control.ask(&mut state.desk, request, shown) {
                continue;
            }
            grants = true;
            state.admitted[number] += 1;
            let ends = shards.each::<Place>().next();
            let end = ends.map(|place| place.shared.flow_ends[request.flow as usize]);
            if let Some(end) = end
                && let Some(mut flows) = shards.resource_mut::<Flows>(end.shard as usize)
            {
                flows.admit(end.row, at);
            }
        }
        state.rounds += 1;
        state.empty = if grants { 0 } else { state.empty + 1 };
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
        let mut counts = vec![(String::from("admission.rounds"), state.rounds.into())];
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
