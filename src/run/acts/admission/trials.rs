//! Trials within rounds of admission (D59): sessions begin, looks find those that are over.
//!
//! Cost: O(flows on trial) per look.

use super::Rounds;
use crate::admission::{Heard, Sessions, Trials};
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::mechanisms::trials::{Counter, Counters};
use crate::cycle::state::{FlowEnd, Place};
use crate::run::shards::Shards;
use serde::{Deserialize, Serialize};

/// What is remembered of trials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Askers whose flow is on trial, ascending.
    on_trial: Vec<u32>,
    /// Sessions begun, by asker.
    pub(super) sessions: Vec<u32>,
}

impl State {
    pub(super) fn new(askers: usize) -> Self {
        Self {
            on_trial: Vec::new(),
            sessions: vec![0; askers],
        }
    }

    /// Whether a flow is on trial.
    pub(super) fn is_open(&self) -> bool {
        !self.on_trial.is_empty()
    }
}

impl Rounds {
    /// Puts the flow of an asker on trial in cycle `at`, if it is to be tried.
    pub(super) fn tries(&mut self, asker: usize, flow: u32, at: u64, shards: &mut Shards) -> bool {
        let Some((trials, probe)) = self.trials.zip(self.probe_of(flow)) else {
            return false;
        };
        let Some(end) = end_of(probe, shards) else {
            return false;
        };
        let state = &mut self.state.trials;
        state.sessions[asker] += 1;
        state.on_trial.push(asker as u32);
        let number = state.sessions[asker];
        // that of one flow knows no sessions of others; a shared one goes by its own count
        if trials.sessions == Sessions::Own {
            expect(end, number, shards);
        }
        if let Some(mut flows) = shards.resource_mut::<Flows>(end.shard as usize) {
            flows.begin_session(end.row, at, trials.packets);
        }
        true
    }

    /// A look at cycle `at`: decides on the flows whose trials are over.
    pub(super) fn look(&mut self, at: u64, shards: &mut Shards) {
        let Some(trials) = self.trials else { return };
        for asker in std::mem::take(&mut self.state.trials.on_trial) {
            let number = asker as usize;
            let request = &self.askers[number][self.state.admitted[number] as usize];
            let flow = request.flow;
            let end = self.probe_of(flow).and_then(|probe| end_of(probe, shards));
            let heard = end.and_then(|end| heard((at, trials), end, shards));
            let Some((heard, end, expected)) = heard else {
                self.state.trials.on_trial.push(asker);
                continue;
            };
            let control = self.plan.control.clone();
            let grants = control.judge(&mut self.state.desk, request, heard);
            expect(end, expected + 1, shards);
            if grants {
                self.admit(number, flow, at, shards);
            }
        }
    }

    /// The probe flow of a flow.
    fn probe_of(&self, flow: u32) -> Option<u32> {
        let place = self.probes.binary_search_by_key(&flow, |&(flow, _)| flow);
        place.ok().map(|place| self.probes[place].1)
    }
}

/// Where a flow begins and ends.
pub(super) fn end_of(flow: u32, shards: &mut Shards) -> Option<FlowEnd> {
    let ends = shards.each::<Place>().next();
    ends.map(|place| place.shared.flow_ends[flow as usize])
}

/// The counter of a probe flow counts from nothing the session with this number.
fn expect(end: FlowEnd, number: u32, shards: &mut Shards) {
    if let Some(mut counters) = shards.resource_mut::<Counters>(end.tail_shard as usize) {
        counters.expect(end.tail, number);
    }
}

/// What became of the session of a probe flow, if it is over before cycle `at`, and the number that its counter expected.
fn heard(
    (at, trials): (u64, Trials),
    end: FlowEnd,
    shards: &mut Shards,
) -> Option<(Heard, FlowEnd, u32)> {
    let made = (shards.resource_mut::<Flows>(end.shard as usize))?.session(end.row)?;
    let counters = shards.resource_mut::<Counters>(end.tail_shard as usize)?;
    let counter: Counter = counters.at(end.tail);
    let all = counter.received + made.rejected >= trials.packets;
    let heard = Heard {
        packets: trials.packets,
        received: counter.received,
        latencies: counter.latencies(),
        rejected: made.rejected,
    };
    (all || at >= made.last + u64::from(made.gap)).then_some((heard, end, counter.expected))
}
