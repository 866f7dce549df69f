//! Routes that flows have of their own: the outputs that their packets take, whatever tables say (D66).
//!
//! The outputs of all flows stand one behind the other in one list, that all shards share. A packet carries the place of the
//! output of the switch where it is, which moves on when it comes to the next one: nothing is looked up by flow after the start,
//! and nothing is hashed. Not with the grant: whoever asks in the cycle of the grant, after it, means the same output.
//!
//! Read by: `Slot::Inject` (the place at the start), `Slot::Route` and what else asks for the output of a packet
//! Written by: `Slot::Route`, the place of a packet that has arrived
//! Cost: a byte per switch on every route, 8 bytes per flow; one look into the record of each packet that arrives

use crate::fabric::PacketRecord;
use crate::fabric::components::NONE;
use crate::fabric::placement::Placement;
use crate::plan::Plan;
use crate::topology::{Endpoint, Graph};

/// The outputs of all flows.
#[derive(Debug)]
pub struct OwnRoutes {
    /// Place of the first output of each flow (global id).
    first: Box<[u32]>,
    /// Its source host (global id).
    sources: Box<[u32]>,
    /// Position of the output among the connected ports of its switch.
    outputs: Box<[u8]>,
}

impl OwnRoutes {
    /// Those of a plan, if its flows have routes.
    pub fn new(graph: &Graph, plan: &Plan, placement: &Placement) -> Option<Self> {
        let routes = plan.routes_of_flows.as_ref()?;
        // before the first output of every flow there is a place
        let (mut first, mut outputs) = (Vec::with_capacity(routes.len()), vec![0]);
        for route in routes.iter() {
            first.push(outputs.len() as u32);
            let ports = route.iter().map(|&channel| graph.channel(channel).from);
            // the first channel is that of a host
            outputs.extend(ports.filter_map(|port| match port {
                Endpoint::Switch(switch, port) => Some(placement.index_of(switch, port)),
                Endpoint::Host(_) => None,
            }));
        }
        Some(Self {
            first: first.into(),
            sources: plan.flows.iter().map(|flow| flow.source.0).collect(),
            outputs: outputs.into(),
        })
    }

    /// Place of the first output of what a flow sends from a host (global ids); `NONE` where it goes by the tables,
    /// as do those without a flow and those that go back to its source.
    #[inline]
    pub fn begin(&self, flow: u32, host: u32) -> u32 {
        if flow == NONE || self.sources[flow as usize] != host {
            return NONE;
        }
        self.first[flow as usize]
    }

    /// The place of a packet that starts: before its first output.
    #[inline]
    pub fn start(&self, flow: u32, host: u32) -> u32 {
        match self.begin(flow, host) {
            NONE => NONE,
            place => place - 1,
        }
    }

    /// The output at a place, unless the packet goes by the tables.
    #[inline]
    pub fn output_at(&self, place: u32) -> Option<u8> {
        (place != NONE).then(|| self.outputs[place as usize])
    }

    /// The output of a packet at the switch where it is; likewise.
    #[inline]
    pub fn output(&self, record: &PacketRecord) -> Option<u8> {
        self.output_at(record.via)
    }

    /// The output of a packet at the switch to which it is under way; likewise.
    #[inline]
    pub fn output_ahead(&self, record: &PacketRecord) -> Option<u8> {
        (record.via != NONE).then(|| self.outputs[record.via as usize + 1])
    }

    /// The packet has come to a switch.
    #[inline]
    pub fn advance(record: &mut PacketRecord) {
        if record.via != NONE {
            record.via += 1;
        }
    }
}
