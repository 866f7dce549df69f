//! Traffic classes.

use super::FlowPlan;
use crate::control::Algorithm;
use crate::control::set_up::SetUp;
use crate::ids::{HostId, SlId};
use crate::traffic::messages::{Senders, Silent};
use crate::traffic::{Pattern, Process, SizeDistribution, SlotSource};
use std::sync::Arc;

/// Hosts (ascending) whose links have a speed of their own, and their process.
pub type OtherProcess = (Vec<HostId>, Arc<dyn Process>);

/// One traffic class.
#[derive(Clone, Debug)]
pub struct ClassPlan {
    /// Name shown in tables.
    pub name: String,
    /// Hosts that send this class, ascending.
    pub hosts: Vec<HostId>,
    /// The same hosts as the scenario counts them: the rank of a host is its place here.
    pub ranks: Vec<HostId>,
    /// Where packets go.
    pub pattern: Arc<dyn Pattern>,
    /// When packets are made, at hosts whose link has the speed of the first host's.
    pub process: Arc<dyn Process>,
    /// The same load at hosts whose link has another speed: (hosts, ascending, and their process).
    pub other_processes: Vec<OtherProcess>,
    /// How long packets are.
    pub size: SizeDistribution,
    /// Service levels: one drawn uniformly per packet (no draw when there is one); flows have one of them each, messages of a host in turn.
    pub service_levels: Vec<SlId>,
    /// Sent on VL15, before everything else; `service_levels` does not matter then.
    pub management: bool,
    /// Offered load, fraction of the host's link rate; 1.0 for a saturating process, 0.0 for messages.
    pub load: f64,
    /// Packets each host sends in all; `None` = without end.
    pub packets_per_host: Option<u64>,
    /// Messages it sends in all, in place of pattern and process.
    pub messages: Option<u64>,
    /// Flows it has, in place of pattern and process.
    pub flows: Option<u64>,
    /// Slots in which its flows make their packets.
    pub slots: Option<Slots>,
    /// What its flows ask for before they may begin.
    pub requests: Option<Requests>,
    /// What controls its flows.
    pub control: Option<Control>,
    /// Class whose packets it answers; it has nothing to send of its own.
    pub answers: Option<u16>,
}

impl ClassPlan {
    /// A class that makes nothing of its own: what it sends, messages, flows or answers, others make for it.
    pub fn silent(
        name: String,
        hosts: Vec<HostId>,
        size: SizeDistribution,
        service_levels: Vec<SlId>,
    ) -> Self {
        Self {
            name,
            ranks: hosts.clone(),
            hosts,
            pattern: Arc::new(Senders::default()),
            process: Arc::new(Silent),
            other_processes: Vec::new(),
            size,
            service_levels,
            management: false,
            load: 0.0,
            packets_per_host: None,
            messages: None,
            flows: None,
            slots: None,
            requests: None,
            control: None,
            answers: None,
        }
    }
}

/// What the flows of a class ask for (D53).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Peak rate \[2^-32 flits per cycle\], at least 1.
    pub peak: u64,
    /// Delay bound over one switch \[cycles\]; `None` = none.
    pub delay: Option<u64>,
    /// What each further switch adds to it \[cycles\].
    pub delay_per_switch: u64,
    /// Jitter bound \[cycles\]; `None` = none.
    pub jitter: Option<u64>,
}

/// Slots of hosts, in which the flows of a class make their packets (D52).
#[derive(Clone, Debug)]
pub struct Slots {
    /// Slots of a host, at least as many as the class has flows there.
    pub count: u32,
    /// When its ticks come.
    pub ticks: Arc<dyn Process>,
    /// Load of a host whose slots all have flows \[fraction of its link\]; expected loads know it.
    pub load: f64,
    /// Whether a flow sends in a tick of its slot; `None` = in every one.
    pub source: Option<Arc<dyn SlotSource>>,
}

/// How the flows of a class are controlled (D39).
#[derive(Clone, Debug)]
pub struct Control {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Class of the answers.
    pub answers: u16,
    /// How its control packets go, if not as packets of that class.
    pub transport: Option<OutOfBand>,
    /// Packets of answers that a host has room for (D57); `None` = without bound.
    pub queue: Option<u32>,
}

impl Control {
    /// Whether its control packets are more than answers in the data network (D47).
    pub fn is_apart(&self) -> bool {
        self.transport.is_some() || self.algorithm.probes()
    }
}

/// A control network beside the data network (D49) \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBand {
    /// What a control packet takes of a channel, at least 1.
    pub serialisation: u32,
    /// From its arrival at a switch to the queue of its output.
    pub routing: u32,
    /// What a visit adds to the service at a switch output.
    pub processing: u32,
    /// From the end of a service to the far end of the channel, at least 1.
    pub propagation: u32,
    /// Of broadcasts, where switches and hosts have elements (D68).
    pub broadcast: Option<Broadcast>,
}

/// Times of broadcasts (D68) \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broadcast {
    /// What one takes of a channel, at least 1.
    pub serialisation: u32,
    /// What it takes of the input of a switch before it is heard, at least 1.
    pub processing: u32,
}

impl OutOfBand {
    /// Cycles from the end of a service to the queue of the next switch.
    pub fn hop(&self) -> u64 {
        u64::from(self.propagation) + u64::from(self.routing)
    }
}

impl ClassPlan {
    /// Service level of what it sends for a flow, of its own or of the class that it answers or tries: that of the flow, unless all
    /// have one.
    pub fn level_of(&self, flow: &FlowPlan) -> SlId {
        match self.service_levels[..] {
            [one] => one,
            _ => flow.level,
        }
    }

    /// Whether its hosts may send data to any other: what it sends is told neither by flows nor by what it answers.
    pub fn sends_to_all(&self) -> bool {
        self.flows.is_none() && self.answers.is_none() && !self.management
    }

    /// Whether its flows begin by reservations of their own (D60): no desk is asked.
    pub fn reserves(&self) -> bool {
        let control = self.control.as_ref();
        self.requests.is_some() && control.is_some_and(|control| control.algorithm.reserves())
    }

    /// How the routes of its flows are set up (D67), if they are.
    pub fn set_up(&self) -> Option<&SetUp> {
        self.control.as_ref()?.algorithm.set_up()
    }

    /// Whether the senders of its flows begin them (D60, D67).
    pub fn begins(&self) -> bool {
        self.reserves() || self.set_up().is_some()
    }

    /// Number of the process of `host`: 0 = [`Self::process`], else 1 + the index of the other process.
    pub fn process_number(&self, host: HostId) -> u8 {
        let others = self.other_processes.iter();
        let found = others
            .take(usize::from(u8::MAX))
            .position(|(hosts, _)| hosts.binary_search(&host).is_ok());
        found.map_or(0, |index| index as u8 + 1)
    }

    /// Whether its sources always have a packet waiting: asked of the process, on a scratch stream.
    pub fn is_backlogged(&self) -> bool {
        let mut rng = crate::rng::stream(0, crate::rng::Purpose::Pattern, 0);
        let mut state = self.process.start(&mut rng);
        (0..2).any(|_| self.process.gap(&mut state, &mut rng) == crate::traffic::Gap::WhenSent)
    }

    /// The process of that number.
    pub fn numbered_process(&self, number: u8) -> &dyn Process {
        match usize::from(number).checked_sub(1) {
            None => &*self.process,
            Some(index) => &*self.other_processes[index].1,
        }
    }
}
