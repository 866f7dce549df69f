//! Outputs that packets of flows take whatever tables say: those of routes given before cycle 0 (D66), or those that switches
//! choose when set-ups pass (D67).
//!
//! The outputs of given routes stand one behind the other in one list, that all shards share. A packet carries the place of the
//! one that it has where it is, or had last, which moves on when it comes to a switch: nothing is looked up by flow after the
//! start, and nothing is hashed. All that is done with a packet in the cycle of its grant, marks by what waits included, finds the
//! output of that switch. Where switches choose it carries the output itself, from its direction at a switch
//! ([`set_up`](crate::cycle::mechanisms::set_up)) to the next one.
//!
//! Read by: `Slot::Inject` (the place at the start), `Slot::Route` and what else asks for the output of a packet
//! Written by: the start of `Slot::Route`, the place of a packet that may request from this cycle on; `Slot::Deliver`, the output that
//! was chosen
//! Cost: a byte per channel of every given route, 8 bytes per flow; one look into the record of each packet that arrives

use super::set_up_flows::SetUpFlows;
use crate::fabric::PacketRecord;
use crate::fabric::components::NONE;
use crate::fabric::placement::Placement;
use crate::plan::{Plan, RoutesOfFlows};
use crate::topology::{Endpoint, Graph};

/// The outputs of all flows.
#[derive(Debug)]
pub enum OwnRoutes {
    /// By routes that are known before cycle 0.
    Given(GivenRoutes),
    /// Chosen by switches.
    SetUp(SetUpFlows),
}

/// Routes that are known before cycle 0.
#[derive(Debug)]
pub struct GivenRoutes {
    /// Place of the channel of its host of each flow (global id).
    first: Box<[u32]>,
    /// Its source host (global id).
    sources: Box<[u32]>,
    /// Position of the output among the connected ports of its switch, for every channel of a route.
    outputs: Box<[u8]>,
}

impl GivenRoutes {
    fn new(graph: &Graph, plan: &Plan, placement: &Placement, routes: &RoutesOfFlows) -> Self {
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
        Self {
            first: first.into(),
            sources: plan.flows.iter().map(|flow| flow.source.0).collect(),
            outputs: outputs.into(),
        }
    }
}

impl OwnRoutes {
    /// Those of a plan, if its flows have routes.
    pub fn new(graph: &Graph, plan: &Plan, placement: &Placement) -> Option<Self> {
        let given = plan.routes_of_flows.as_ref();
        let given = given.map(|routes| GivenRoutes::new(graph, plan, placement, routes));
        let set_up = || SetUpFlows::new(plan).map(Self::SetUp);
        given.map(Self::Given).or_else(set_up)
    }

    /// What is known of flows whose routes are set up.
    #[inline]
    pub fn set_up(&self) -> Option<&SetUpFlows> {
        match self {
            Self::Given(_) => None,
            Self::SetUp(flows) => Some(flows),
        }
    }

    /// Place of a packet of a flow that starts at a host (global ids); `NONE` where it goes by the tables,
    /// as do those without a flow and those that go back to its source, or where switches choose.
    #[inline]
    pub fn begin(&self, flow: u32, host: u32) -> u32 {
        match self {
            Self::Given(routes) if flow != NONE && routes.sources[flow as usize] == host => {
                routes.first[flow as usize]
            }
            _ => NONE,
        }
    }

    /// The output at a place, unless the packet goes by the tables.
    #[inline]
    pub fn output_at(&self, place: u32) -> Option<u8> {
        match self {
            _ if place == NONE => None,
            Self::Given(routes) => Some(routes.outputs[place as usize]),
            Self::SetUp(_) => Some(place as u8),
        }
    }

    /// The output of a packet at the switch to whose inputs it has come; likewise.
    #[inline]
    pub fn output(&self, record: &PacketRecord) -> Option<u8> {
        self.output_at(record.via)
    }

    /// The output of a packet at the switch to which it is under way, where it is known; likewise.
    #[inline]
    pub fn output_ahead(&self, record: &PacketRecord) -> Option<u8> {
        match self {
            Self::Given(_) => self.output_at(self.behind(record.via)),
            Self::SetUp(_) => None,
        }
    }

    /// The place behind one; itself where switches choose.
    #[inline]
    pub fn behind(&self, place: u32) -> u32 {
        match self {
            Self::Given(_) if place != NONE => place + 1,
            _ => place,
        }
    }
}
