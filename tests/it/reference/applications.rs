//! Phases of applications (D50): in which cycle each opens.

use super::Setting;
use super::packet::Packet;
use virtlane::plan::Plan;

/// The phases of all applications, by their place in the plan.
#[derive(Debug)]
pub(super) struct Applications {
    /// Cycle in which each opened.
    opened: Vec<Option<u64>>,
}

/// Ids and flits of the flows of a phase.
fn flows(plan: &Plan, phase: usize) -> impl Iterator<Item = (usize, u64)> {
    let flows = plan.flows.iter().enumerate();
    let flows = flows.filter(move |(_, flow)| flow.phase == Some(phase as u32));
    flows.map(|(id, flow)| {
        assert!(flow.process.is_none() && flow.stop.is_none(), "D50");
        assert!(flow.changes.is_empty(), "D50");
        (id, flow.flits.expect("D50: a flow of a phase has a size"))
    })
}

/// Whether all flits of a flow are delivered (D34).
pub(super) fn is_complete(packets: &[Packet], (flow, flits): (usize, u64)) -> bool {
    let packets = packets.iter().filter(|p| p.flow == Some(flow));
    let delivered = packets.filter(|packet| packet.delivered.is_some());
    delivered.map(|packet| u64::from(packet.size)).sum::<u64>() == flits
}

impl Applications {
    pub(super) fn new(plan: &Plan) -> Self {
        let phases = &plan.app_phases;
        for (place, phase) in phases.iter().enumerate() {
            assert!(flows(plan, place).next().is_some(), "D50: a gap");
            if phase.number > 0 {
                let before = &phases[place - 1];
                assert_eq!(before.application, phase.application);
                assert_eq!(before.number + 1, phase.number, "D50: a gap");
            }
        }
        let first = |number| (number == 0).then_some(0);
        Self {
            opened: phases.iter().map(|phase| first(phase.number)).collect(),
        }
    }

    /// After the deliveries of a cycle: opens the phases whose turn it is, and returns them.
    pub(super) fn open(
        &mut self,
        setting: Setting<'_>,
        packets: &[Packet],
        now: u64,
    ) -> Vec<usize> {
        let plan = setting.plan;
        if self.opened.iter().all(Option::is_some) {
            return Vec::new();
        }
        let delivered = packets.iter().filter(|p| p.delivered == Some(now));
        let delivered: Vec<usize> = delivered.filter_map(|packet| packet.flow).collect();
        let mut open = Vec::new();
        for place in 0..self.opened.len() {
            if self.opened[place].is_some() || self.opened[place - 1].is_none() {
                continue;
            }
            let mut before = flows(plan, place - 1);
            if before.any(|(id, _)| delivered.contains(&id))
                && flows(plan, place - 1).all(|flow| is_complete(packets, flow))
            {
                open.push(place);
            }
        }
        for &place in &open {
            self.opened[place] = Some(now);
        }
        open
    }
}
