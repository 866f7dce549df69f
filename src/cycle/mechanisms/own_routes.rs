//! Routes that flows have of their own: the outputs that their packets take, whatever tables say (D66).
//!
//! The outputs of all flows stand one behind the other in one list, that all shards share. A packet carries the place of the
//! one that it had last, or has where it is, which moves on when it comes to a switch: nothing is looked up by flow after the start, and
//! nothing is hashed. All that is done with a packet in the cycle of its grant, marks by what waits included, finds the output of
//! that switch.
//!
//! Read by: `Slot::Inject` (the place at the start), `Slot::Route` and what else asks for the output of a packet
//! Written by: `Slot::Route`, the place of a packet that may request from this cycle on
//! Cost: a byte per channel of every route, 8 bytes per flow; one look into the record of each new head

use crate::fabric::PacketRecord;
use crate::fabric::components::NONE;
use crate::fabric::placement::Placement;
use crate::plan::Plan;
use crate::topology::{Endpoint, Graph};

/// The outputs of all flows.
#[derive(Debug)]
pub struct OwnRoutes {
    /// Place of the channel of its host of each flow (global id).
    first: Box<[u32]>,
    /// Its source host (global id).
    sources: Box<[u32]>,
    /// Position of the output among the connected ports of its switch, for every channel of a route.
    outputs: Box<[u8]>,
}

impl OwnRoutes {
    /// Those of a plan, if its flows have routes.
    pub fn new(graph: &Graph, plan: &Plan, placement: &Placement) -> Option<Self> {
        let routes = plan.routes_of_flows.as_ref()?;
        let (mut first, mut outputs) = (Vec::with_capacity(routes.len()), Vec::new());
        for route in routes.iter() {
            first.push(outputs.len() as u32);
            let ports = route.iter().map(|&channel| graph.channel(channel).from);
            outputs.extend(ports.map(|port| match port {
                Endpoint::Switch(switch, port) => placement.index_of(switch, port),
                // where a packet is before its first switch; nobody asks for it
                Endpoint::Host(_) => u8::MAX,
            }));
        }
        Some(Self {
            first: first.into(),
            sources: plan.flows.iter().map(|flow| flow.source.0).collect(),
            outputs: outputs.into(),
        })
    }

    /// Place of a packet of a flow that starts at a host (global ids); `NONE` where it goes by the tables, as do those without a flow and those that go back to its source.
    #[inline]
    pub fn begin(&self, flow: u32, host: u32) -> u32 {
        if flow == NONE || self.sources[flow as usize] != host {
            return NONE;
        }
        self.first[flow as usize]
    }

    /// The output at a place, unless the packet goes by the tables.
    #[inline]
    pub fn output_at(&self, place: u32) -> Option<u8> {
        (place != NONE).then(|| self.outputs[place as usize])
    }

    /// The output of a packet at the switch to whose inputs it has come; likewise.
    #[inline]
    pub fn output(&self, record: &PacketRecord) -> Option<u8> {
        self.output_at(record.via)
    }

    /// The output of a packet at the switch to which it is under way; likewise.
    #[inline]
    pub fn output_ahead(&self, record: &PacketRecord) -> Option<u8> {
        self.output_at(Self::behind(record.via))
    }

    /// The place behind one.
    #[inline]
    pub fn behind(place: u32) -> u32 {
        if place == NONE { NONE } else { place + 1 }
    }
}
