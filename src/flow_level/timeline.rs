//! Flows that do not all send at once: starts and phases of applications at flow level (F7 of the model).
//!
//! # Rules
//! 1. A *moment* is a cycle, whole or not, in which a flow starts or a phase ends. In each of them rates are calculated for the
//!    flows that have started and have not ended, as if these were all there are; until the next one nothing changes.
//! 2. A phase ends with the last of its flows, and the next phase of its application opens then.
//! 3. A flow that nothing lets go never ends, nor does its phase.
//!
//! Cost: a calculation of rates for each moment.

use super::FlowLevelError;
use crate::fluid::network::flits_per_cycle;
use crate::fluid::routes::FlowRoutes;
use crate::scenario::resolve::network::network;
use crate::scenario::{FluidFlow, FluidScenario};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a run in time gives of each flow, and of links.
#[derive(Debug)]
pub(super) struct Timeline {
    /// Cycle from which each flow sends; `None`: its phase never opens.
    pub(super) starts: Vec<Option<f64>>,
    /// Cycle in which all of it is sent; `None`: never.
    pub(super) ends: Vec<Option<f64>>,
    /// Most flows at once over each channel.
    pub(super) loads: Vec<u32>,
    /// Most flows at once over a channel of each flow's route, while it sends.
    pub(super) contention: Vec<u32>,
    /// Rounds of all calculations.
    pub(super) rounds: usize,
}

/// Plays the flows of a run, each with a size, on their routes.
///
/// # Errors
/// When rates cannot be calculated, or are not what they should be.
pub(super) fn play(
    scenario: &FluidScenario,
    (flows, routes): (&[FluidFlow], &FlowRoutes),
    seed: u64,
    check: bool,
) -> Result<Timeline, FlowLevelError> {
    let mut playing = Playing::new(scenario, (flows, routes), seed, check);
    playing.open_first();
    while playing.begin() {
        let rates = playing.rates()?;
        playing.advance(&rates);
    }
    Ok(playing.told)
}

/// A start that is to come, and its flow.
type Start = Reverse<(Moment, u32)>;

/// A moment, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment(f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A phase of an application that is open.
#[derive(Debug)]
struct OpenPhase {
    application: u32,
    number: u32,
    /// Its flows that have not ended.
    left: usize,
}

struct Playing<'a> {
    scenario: &'a FluidScenario,
    flows: &'a [FluidFlow],
    routes: &'a FlowRoutes,
    seed: u64,
    check: bool,
    now: f64,
    /// Flows of each phase of each application.
    phases: BTreeMap<(u32, u32), Vec<u32>>,
    open: Vec<OpenPhase>,
    starts: BinaryHeap<Start>,
    /// Flows that send, in order.
    active: Vec<u32>,
    /// What is left of each flow \[flits\].
    left: Vec<f64>,
    told: Timeline,
}

impl<'a> Playing<'a> {
    fn new(
        scenario: &'a FluidScenario,
        (flows, routes): (&'a [FluidFlow], &'a FlowRoutes),
        seed: u64,
        check: bool,
    ) -> Self {
        let mut phases: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (number, flow) in (0..).zip(flows) {
            if let Some(phase) = flow.phase {
                let key = (flow.application, phase);
                phases.entry(key).or_default().push(number);
            }
        }
        let size = |flow: &FluidFlow| flow.flits.unwrap_or(0) as f64;
        Self {
            scenario,
            flows,
            routes,
            seed,
            check,
            now: 0.0,
            phases,
            open: Vec::new(),
            starts: BinaryHeap::new(),
            active: Vec::new(),
            left: flows.iter().map(size).collect(),
            told: Timeline {
                starts: vec![None; flows.len()],
                ends: vec![None; flows.len()],
                loads: vec![0; scenario.layout.graph.channels().len()],
                contention: vec![0; flows.len()],
                rounds: 0,
            },
        }
    }

    /// Cycle 0: flows of no phase, and first phases.
    fn open_first(&mut self) {
        for (number, flow) in (0..).zip(self.flows) {
            if flow.phase.is_none() {
                let at = Moment(flow.start as f64);
                self.starts.push(Reverse((at, number)));
            }
        }
        let first = self.phases.keys().filter(|(_, number)| *number == 0);
        let applications: Vec<u32> = first.map(|&(application, _)| application).collect();
        for application in applications {
            self.open(application, 0);
        }
    }

    /// A phase of an application opens, if there is one.
    fn open(&mut self, application: u32, number: u32) {
        let Some(flows) = self.phases.get(&(application, number)) else {
            return;
        };
        for &flow in flows {
            let start = self.flows[flow as usize].start as f64;
            let at = Moment(self.now + start);
            self.starts.push(Reverse((at, flow)));
        }
        self.open.push(OpenPhase {
            application,
            number,
            left: flows.len(),
        });
    }

    /// Flows that start now, or if none sends those that start next; whether some send.
    fn begin(&mut self) -> bool {
        if self.active.is_empty()
            && let Some(Reverse((at, _))) = self.starts.peek()
        {
            self.now = at.0;
        }
        while let Some(&Reverse((at, flow))) = self.starts.peek()
            && at.0 <= self.now
        {
            self.starts.pop();
            self.told.starts[flow as usize] = Some(self.now);
            self.active.push(flow);
        }
        self.active.sort_unstable();
        !self.active.is_empty()
    }

    /// Rates of the flows that send \[flits per cycle\].
    fn rates(&mut self) -> Result<Vec<f64>, FlowLevelError> {
        let scenario = self.scenario;
        let graph = &scenario.layout.graph;
        let active = self.active.iter().map(|&flow| flow as usize);
        let routes = FlowRoutes::collect(active.clone().map(|flow| self.routes.of(flow)));
        let flows: Vec<FluidFlow> = active.clone().map(|flow| self.flows[flow]).collect();
        let loads = routes.loads(graph.channels().len());
        for (place, flow) in active.enumerate() {
            let shared = routes.of(place).iter();
            let shared = shared.map(|&channel| loads[channel as usize]).max();
            let most = &mut self.told.contention[flow];
            *most = shared.unwrap_or(0).max(*most);
        }
        for (most, load) in self.told.loads.iter_mut().zip(loads) {
            *most = load.max(*most);
        }
        let links = (
            scenario.scenario.fluid.reserved.value,
            scenario.sink_cycles_per_flit,
        );
        let network = network(graph, links, &flows, &routes);
        let rates = super::rates(scenario, &network, self.seed, self.check)?;
        self.told.rounds += rates.rounds;
        Ok(rates.rates.into_iter().map(flits_per_cycle).collect())
    }

    /// Up to the next moment; for ever if there is none.
    fn advance(&mut self, rates: &[f64]) {
        let through = |(&flow, &rate): (&u32, &f64)| self.now + self.left[flow as usize] / rate;
        let ends: Vec<f64> = self.active.iter().zip(rates).map(through).collect();
        let mut next = f64::INFINITY;
        if let Some(Reverse((at, _))) = self.starts.peek() {
            next = at.0;
        }
        for phase in &self.open {
            let mut latest: f64 = 0.0;
            let mut sending = 0;
            for (&flow, &end) in self.active.iter().zip(&ends) {
                let flow = &self.flows[flow as usize];
                if flow.application == phase.application && flow.phase == Some(phase.number) {
                    latest = latest.max(end);
                    sending += 1;
                }
            }
            if sending == phase.left {
                next = next.min(latest);
            }
        }
        let active = std::mem::take(&mut self.active);
        for ((flow, &rate), end) in active.into_iter().zip(rates).zip(ends) {
            if end <= next && end < f64::INFINITY {
                self.end(flow, end);
            } else if next < f64::INFINITY {
                let left = &mut self.left[flow as usize];
                *left = (*left - rate * (next - self.now)).max(0.0);
                self.active.push(flow);
            }
        }
        self.now = next;
        let (over, open): (Vec<OpenPhase>, _) =
            (std::mem::take(&mut self.open).into_iter()).partition(|phase| phase.left == 0);
        self.open = open;
        for phase in over {
            self.open(phase.application, phase.number + 1);
        }
    }

    fn end(&mut self, flow: u32, at: f64) {
        self.told.ends[flow as usize] = Some(at);
        let FluidFlow {
            application, phase, ..
        } = self.flows[flow as usize];
        let mut open = self.open.iter_mut();
        let own = open.find(|open| open.application == application && Some(open.number) == phase);
        if let Some(own) = own {
            own.left -= 1;
        }
    }
}
