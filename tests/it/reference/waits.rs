//! Flows that wait for others (D63): looked at one by one after every cycle, against the packets that there are.

use super::Fabric;
use super::flows::pace;
use virtlane::plan::FlowPlan;

impl Fabric<'_> {
    /// D63: what a flow waits for has a smaller id, a size, and an end at the source of the flow.
    fn check_waiting(&self, flow: usize) {
        let plan = self.setting.plan;
        let waiting = &plan.flows[flow];
        let class = &plan.classes[usize::from(waiting.class)];
        assert!(waiting.flits.is_some(), "D63");
        assert!(waiting.process.is_none() && class.slots.is_none(), "D63");
        assert_eq!((waiting.stop, waiting.phase), (None, None), "D63");
        assert!(waiting.changes.is_empty(), "D63");
        assert!(class.requests.is_none(), "D63");
        for after in &waiting.after {
            let other = &plan.flows[after.flow as usize];
            assert!((after.flow as usize) < flow && other.flits.is_some(), "D63");
            let ends = [other.source, other.destination];
            assert!(ends.contains(&waiting.source), "D63");
        }
    }

    /// At the end of a cycle: flows get the start cycles that follow from what has started and been delivered.
    pub(super) fn release_flows(&mut self, now: u64) {
        for (flow, plan) in self.setting.plan.flows.iter().enumerate() {
            if plan.after.is_empty() {
                continue;
            }
            if now == 0 {
                self.check_waiting(flow);
            }
            let source = plan.source.index();
            if self.hosts[source].has_start_cycle(flow) {
                continue;
            }
            if let Some(start) = self.release(plan) {
                assert!(start > now, "flow {flow} should have started");
                self.hosts[source].start_flow(self.setting, flow, start);
            }
        }
    }

    /// The start cycle of a flow that waits, if it is known.
    fn release(&self, flow: &FlowPlan) -> Option<u64> {
        let mut start = flow.start;
        for after in &flow.after {
            let other = after.flow as usize;
            let from = if self.setting.plan.flows[other].source == flow.source {
                self.sent_from(other)?
            } else {
                self.received_from(other)?
            };
            start = start.max(from + after.delay);
        }
        Some(start)
    }

    /// The first cycle in which the channel is free of the last packet of a flow; `None`: some flits have not started.
    fn sent_from(&self, flow: usize) -> Option<u64> {
        let plan = &self.setting.plan.flows[flow];
        let pace = pace(self.setting, plan.source);
        let mine = self.packets.iter().filter(|p| p.flow == Some(flow));
        let (mut flits, mut free) = (0, None);
        for packet in mine {
            let size = u64::from(packet.size);
            if let Some(start) = packet.injected {
                flits += size;
                free = free.max(Some(start + size * pace));
            }
        }
        free.filter(|_| Some(flits) == plan.flits)
    }

    /// The cycle after the last delivery of a flow; `None`: it is not complete.
    fn received_from(&self, flow: usize) -> Option<u64> {
        let plan = &self.setting.plan.flows[flow];
        let mine = self.packets.iter().filter(|p| p.flow == Some(flow));
        let (mut flits, mut last) = (0, None);
        for packet in mine {
            if packet.delivered.is_some() {
                flits += u64::from(packet.size);
                last = last.max(packet.delivered);
            }
        }
        let last = last.filter(|_| Some(flits) == plan.flits)?;
        Some(last + 1)
    }
}
