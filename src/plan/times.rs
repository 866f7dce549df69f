//! How slow a fabric is: the times that limits in cycles are scaled by.

use super::Plan;
use crate::topology::Graph;

/// Hops that a packet's way through a fabric may take, as the waits for it allow.
const HOPS: u64 = 8;

/// Times of the slowest parts of a fabric \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From a grant to the cycle in which its credit counts again, a packet's time left out: the delays of a switch, the
    /// channel, the way back of the credit; the longest of all channels.
    pub round_trip: u64,
    /// Of the largest packet on the slowest channel, or at the sink.
    pub packet: u64,
}

impl Times {
    /// Those of a plan on its graph.
    pub fn of(plan: &Plan, graph: &Graph) -> Self {
        let switch = &plan.switch;
        let delays = u64::from(switch.routing_delay)
            + u64::from(switch.allocation_delay)
            + u64::from(switch.crossbar_delay);
        let round_trip = |id: crate::ids::ChannelId| {
            let [there, back] = [id, id.reverse()].map(|id| graph.channel(id).timing.latency);
            u64::from(there) + u64::from(switch.credit_latency.unwrap_or(back))
        };
        let paces = graph.channels().iter();
        let paces = paces.map(|channel| channel.timing.cycles_per_flit);
        let slowest = paces.chain(plan.host.sink_cycles_per_flit).max();
        Self {
            round_trip: delays + graph.channel_ids().map(round_trip).max().unwrap_or(0),
            packet: u64::from(plan.largest_packet()) * u64::from(slowest.unwrap_or(1)),
        }
    }

    /// A packet's hop, with the way back of its credits \[cycles\].
    pub fn hop(self) -> u64 {
        self.round_trip + self.packet
    }

    /// Time in which a packet gets through the fabric unless it is held up \[cycles\].
    pub fn crossing(self) -> u64 {
        HOPS.saturating_mul(self.hop())
    }

    /// Cycles between two looks for packets that can never move again, at least `least` of them (section 6 of the model).
    pub fn between_looks(self, least: u64) -> u64 {
        least.max(2 * self.hop()).max(1)
    }
}
