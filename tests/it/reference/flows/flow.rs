//! One flow: what it has to send, and from which cycle on it may (D27, D28, D30, D33, D41, D46, D50, D52, D53, D59,
//! D60, D63, D64, D67).

use super::limit::{Limited, Terms};
use super::sender::Controlled;
use super::session::{NewSession, Session, trials_of};
use crate::reference::Setting;
use crate::reference::packet::{Packet, PacketId};
use crate::reference::set_up;
use virtlane::control::{Facts, Line};
use virtlane::ids::HostId;
use virtlane::plan::{FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Scheduler};
use virtlane::rng::{Purpose, Stream, stream};
use virtlane::traffic::{Gap, ProcessState, SlotState};

/// What a flow may look at.
#[derive(Clone, Copy, Debug)]
pub(in crate::reference) struct Look<'a> {
    pub(in crate::reference) setting: Setting<'a>,
    pub(in crate::reference) packets: &'a [Packet],
    /// Cycles per flit of the host's channel.
    pub(in crate::reference) pace: u64,
    pub(in crate::reference) now: u64,
}

impl Look<'_> {
    /// D32: whether every flow has a rate.
    fn takes_rates(self) -> bool {
        let scheduler = self.setting.plan.host.scheduler;
        matches!(scheduler, Scheduler::VirtualClock | Scheduler::Paced) || self.has_buckets()
    }

    /// D46: whether packets of flows enter a FIFO before they start.
    pub(super) fn has_buckets(self) -> bool {
        self.setting.plan.host.scheduler == Scheduler::LeakyBucket
    }
}

/// A flow at its host.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) id: usize,
    /// Injection lane of all its packets.
    pub(super) lane: usize,
    /// Start cycle; `None` before its phase is open (D50), or before it is admitted (D53), begins (D60, D67) or is released (D63).
    start: Option<u64>,
    /// Delays of its window (D33), each with the cycle from which deliveries have it.
    delays: Vec<(u64, u64)>,
    arrivals: Stream,
    sizes: Stream,
    /// State of its process; `None`: it is backlogged, has a slot, or is a probe flow.
    process: Option<ProcessState>,
    /// Whether its packets are made in a slot (D52).
    has_slot: bool,
    /// State of what says whether it sends in a tick of its slot.
    slot_source: Option<SlotState>,
    /// Whether its packets are made in sessions (D59).
    is_probe: bool,
    /// The last session that has begun.
    pub(super) session: Option<Session>,
    /// Cycle in which its process makes the next packet.
    due: Option<u64>,
    /// The draw for its next packet \[flits\].
    drawn: u16,
    /// Flits made, rejected ones included.
    made: u64,
    /// Flits rejected.
    rejected: u64,
    /// Packets that wait.
    pub(super) queue: Vec<PacketId>,
    /// Packets that have started or entered (D46), in order.
    gone: Vec<PacketId>,
    limited: Limited,
    /// v of D32 \[2^-32 cycles\].
    pub(super) clock: u128,
    /// D41, of a flow of a class with control, unless it is one of a group (D44).
    pub(super) controlled: Option<Controlled>,
}

impl Flow {
    pub(super) fn new(setting: Setting<'_>, id: usize, lane: usize) -> Self {
        let plan = &setting.plan.flows[id];
        let class = &setting.plan.classes[usize::from(plan.class)];
        let seed = setting.plan.seed;
        let mut arrivals = stream(seed, Purpose::FlowArrivals, id as u64);
        let mut sizes = stream(seed, Purpose::FlowPackets, id as u64);
        let process = plan.process.as_ref();
        let source = class.slots.as_ref().and_then(|slots| slots.source.as_ref());
        let mut flow = Self {
            id,
            lane,
            start: (begins(setting, plan) && set_up::set_up_of(setting, id).is_none())
                .then_some(plan.start),
            delays: plan.window.iter().map(|window| (0, window.delay)).collect(),
            process: process.map(|process| process.process.start(&mut arrivals)),
            has_slot: class.slots.is_some(),
            slot_source: source.map(|source| source.start(&mut arrivals)),
            is_probe: trials_of(setting, plan.class.into()).is_some(),
            session: None,
            arrivals,
            due: None,
            drawn: class.size.draw(&mut sizes),
            sizes,
            made: 0,
            rejected: 0,
            queue: Vec::new(),
            gone: Vec::new(),
            limited: Limited::default(),
            clock: 0,
            controlled: class.control.as_ref().and_then(|control| {
                assert_eq!((plan.limit, plan.window), (Limit::None, None), "D39");
                assert!(plan.changes.is_empty(), "D39");
                let known = line(setting, plan.source, plan.class.into());
                let facts = Facts {
                    id: id as u32,
                    start: set_up::told_start(setting, id),
                    stop: plan.stop,
                    flits: plan.flits,
                    weight: plan.weight,
                };
                let algorithm = &control.algorithm;
                (!algorithm.is_shared()).then(|| Controlled::new(algorithm, known, Some(facts)))
            }),
        };
        if let Some(start) = flow.start {
            flow.due = flow.next_creation(plan, start);
        }
        flow
    }

    /// D64: goes on as the flow of another plan, from this cycle on. Its limit and changes, weight, stop and window are
    /// looked up there whenever they are asked for.
    pub(super) fn fork(&mut self, setting: Setting<'_>, now: u64) {
        let plan = self.plan(setting);
        let class = &setting.plan.classes[usize::from(plan.class)];
        let (seed, id) = (setting.plan.seed, self.id as u64);
        assert_eq!(self.process.is_some(), plan.process.is_some(), "D64");
        assert_eq!(self.delays.is_empty(), plan.window.is_none(), "D64");
        // what was delivered before has the delay it had
        let delay = plan.window.iter().map(|window| (now, window.delay));
        self.delays.extend(delay);
        self.sizes = stream(seed, Purpose::FlowPackets, id);
        self.drawn = class.size.draw(&mut self.sizes);
        self.arrivals = stream(seed, Purpose::FlowArrivals, id);
        let process = plan.process.as_ref();
        self.process = process.map(|process| process.process.start(&mut self.arrivals));
        let source = class.slots.as_ref().and_then(|slots| slots.source.as_ref());
        self.slot_source = source.map(|source| source.start(&mut self.arrivals));
        // D60: one that has not begun counts its first gap when it begins
        let from = self.start.map(|start| start.max(now));
        self.due = from.and_then(|from| self.next_creation(plan, from));
    }

    /// D50: its phase opens in this cycle.
    pub(super) fn open(&mut self, setting: Setting<'_>, now: u64) {
        assert_eq!(self.start, None);
        self.start = Some(now + self.plan(setting).start);
    }

    /// D53: it is admitted with this start cycle.
    pub(super) fn admit(&mut self, setting: Setting<'_>, start: u64) {
        assert_eq!(self.start, None);
        self.start = Some(start);
        self.due = self.next_creation(self.plan(setting), start);
    }

    /// D60, D67: it begins if its sender has said so.
    pub(super) fn begin(&mut self, setting: Setting<'_>) {
        let begun = self.controlled.as_ref().and_then(Controlled::begun);
        if let (Some(start), None) = (begun, self.start) {
            self.admit(setting, start);
        }
    }

    /// D59: a session begins in this cycle.
    pub(super) fn try_out(&mut self, new: NewSession, now: u64) {
        assert!(self.is_probe, "D59");
        self.session = Some(Session::begin(new, &mut self.arrivals, now));
    }

    /// Its start cycle.
    pub(super) fn start_cycle(&self) -> Option<u64> {
        self.start
    }

    /// The cycle of the next creation, counted from the last one (at first: from the start cycle; after a fork: D64).
    fn next_creation(&mut self, plan: &FlowPlan, from: u64) -> Option<u64> {
        let process = plan.process.as_ref()?;
        let state = self.process.as_mut().expect("a process has a state");
        match process.process.gap(state, &mut self.arrivals) {
            Gap::After(cycles) => Some(from + cycles),
            Gap::Never => None,
            Gap::WhenSent => panic!("D28: not a saturating process"),
        }
    }

    pub(super) fn plan<'a>(&self, setting: Setting<'a>) -> &'a FlowPlan {
        &setting.plan.flows[self.id]
    }

    pub(super) fn class(&self, setting: Setting<'_>) -> usize {
        self.plan(setting).class.into()
    }

    pub(super) fn is_active(&self, setting: Setting<'_>, now: u64) -> bool {
        let plan = self.plan(setting);
        self.start.is_some_and(|start| start <= now) && plan.stop.is_none_or(|stop| now < stop)
    }

    /// Flits that are not made yet.
    pub(super) fn left(&self, setting: Setting<'_>) -> u64 {
        let flits = self.plan(setting).flits;
        flits.map_or(u64::MAX, |flits| flits - self.made)
    }

    /// Size of the packet that would be made next.
    fn next_size(&self, setting: Setting<'_>) -> u16 {
        let left = self.left(setting);
        u64::from(self.drawn).min(left) as u16
    }

    /// Whether its process or its session makes a packet in this cycle, stage Generate; the next creation is found.
    pub(super) fn is_due(&mut self, setting: Setting<'_>, now: u64) -> bool {
        if let Some(session) = &self.session {
            return session.is_due(now);
        }
        if self.due != Some(now) {
            return false;
        }
        self.due = self.next_creation(self.plan(setting), now);
        assert_ne!(self.due, Some(now), "two packets of a flow in one cycle");
        self.is_active(setting, now) && self.left(setting) > 0
    }

    /// D52: whether it can make a packet in this cycle or later.
    pub(super) fn goes_on(&self, setting: Setting<'_>, now: u64) -> bool {
        let is_stopped = self.plan(setting).stop.is_some_and(|stop| stop <= now);
        self.left(setting) > 0 && !is_stopped
    }

    /// D52: whether it makes a packet in a tick of its slot, which is now.
    pub(super) fn sends_in_slot(&mut self, setting: Setting<'_>) -> bool {
        if self.left(setting) == 0 {
            return false;
        }
        let slots = setting.plan.classes[self.class(setting)].slots.as_ref();
        match &slots.expect("a class with slots").source {
            Some(source) => {
                let state = self.slot_source.as_mut().expect("a source has a state");
                source.sends(state, &mut self.arrivals)
            }
            None => true,
        }
    }

    /// A packet is made; returns its size.
    pub(super) fn make(&mut self, setting: Setting<'_>) -> u16 {
        let size = self.next_size(setting);
        assert!(size > 0, "nothing is left");
        self.made += u64::from(size);
        let class = self.class(setting);
        self.drawn = setting.plan.classes[class].size.draw(&mut self.sizes);
        size
    }

    /// A packet made met a full queue.
    pub(super) fn reject(&mut self, size: u16) {
        self.rejected += u64::from(size);
        if let Some(session) = &mut self.session {
            session.reject();
        }
    }

    /// Whether its packets are made when they start.
    pub(super) fn is_backlogged(&self) -> bool {
        self.process.is_none() && !self.has_slot && !self.is_probe
    }

    /// Flits of the packet that it has.
    pub(super) fn head(&self, look: Look<'_>) -> Option<u16> {
        if self.is_backlogged() {
            let size = self.next_size(look.setting);
            return (self.is_active(look.setting, look.now) && size > 0).then_some(size);
        }
        let head = self.queue.first();
        head.map(|&id| look.packets[id].size)
    }

    /// D33: packets that have started (D46: entered) and do not count as delivered yet.
    fn outstanding(&self, look: Look<'_>) -> usize {
        let delay_of = |cycle: u64| {
            let latest = self.delays.iter().rfind(|delay| delay.0 <= cycle);
            latest.expect("one from cycle 0 on").1
        };
        let delivered = |&&id: &&PacketId| look.packets[id].delivered;
        let counts =
            |id: &&PacketId| delivered(id).is_none_or(|cycle| look.now < cycle + delay_of(cycle));
        self.gone.iter().filter(counts).count()
    }

    /// D29.
    pub(super) fn is_sendable(&self, look: Look<'_>) -> bool {
        let is_open = match (&self.controlled, self.plan(look.setting).window) {
            (Some(controlled), _) => controlled.is_open(look.now),
            (None, Some(window)) => self.outstanding(look) < window.packets as usize,
            (None, None) => true,
        };
        is_open && self.head(look).is_some()
    }

    /// D29.
    pub(super) fn is_ready(&self, look: Look<'_>) -> bool {
        self.is_sendable(look) && self.eligible(look).is_some_and(|cycle| cycle <= look.now)
    }

    /// The limit now, with the schedulers of D32 and D46 as a rate.
    fn limit(&self, look: Look<'_>) -> Limit {
        let plan = self.plan(look.setting);
        let mut changes = plan.changes.iter();
        let latest = changes.rfind(|change| change.0 <= look.now);
        let limit = match &self.controlled {
            Some(controlled) => controlled.limit(look.now),
            None => latest.map_or(plan.limit, |change| change.1),
        };
        if !look.takes_rates() {
            return limit;
        }
        match limit {
            Limit::None => Limit::Rate(ONE_FLIT_PER_CYCLE.div_ceil(look.pace)),
            Limit::Rate(_) => limit,
            Limit::Delay { .. } => panic!("D32: no delays"),
        }
    }

    /// r of D32 \[2^-32 flits per cycle\].
    pub(super) fn rate(&self, look: Look<'_>) -> u128 {
        match self.limit(look) {
            Limit::Rate(rate) => rate.into(),
            limit => panic!("D32: {limit:?} is no rate"),
        }
    }

    /// What D30 follows from.
    fn terms(&self, look: Look<'_>) -> Terms {
        Terms {
            limit: self.limit(look),
            begin: self.start,
            pace: look.pace,
        }
    }

    /// e of D30; `None` = never.
    pub(super) fn eligible(&self, look: Look<'_>) -> Option<u64> {
        self.limited.eligible(self.terms(look))
    }

    /// D31; of a flow that is ready.
    pub(super) fn since(&self, look: Look<'_>) -> u64 {
        let eligible = self.eligible(look).expect("ready");
        if let Some(&head) = self.queue.first() {
            return eligible.max(look.packets[head].created);
        }
        assert!(self.is_backlogged(), "ready without a packet");
        let begin = self.start.expect("ready");
        let after = self.limited.last().map_or(0, |start| start + 1);
        eligible.max(begin).max(after)
    }

    /// Flits rejected.
    pub(super) fn rejected(&self) -> u64 {
        self.rejected
    }

    /// D31: flits of its size that have neither started nor been rejected.
    pub(super) fn remaining(&self, look: Look<'_>) -> Option<u64> {
        let sizes = self.gone.iter().map(|&id| look.packets[id].size);
        let started: u64 = sizes.map(u64::from).sum();
        let flits = self.plan(look.setting).flits;
        flits.map(|flits| flits - started - self.rejected)
    }

    /// A packet starts, or enters (D46).
    pub(super) fn go(&mut self, look: Look<'_>, id: PacketId) {
        let terms = self.terms(look);
        self.limited.go(terms, look.packets[id].size, look.now);
        self.gone.push(id);
        if let Some(controlled) = &mut self.controlled {
            controlled.start();
        }
    }
}

/// Whether a flow has a start cycle from the beginning: it does not ask (D53) or wait (D63), and has no phase, or the
/// first of its application.
fn begins(setting: Setting<'_>, plan: &FlowPlan) -> bool {
    let asks = setting.plan.classes[usize::from(plan.class)].requests;
    let phases = &setting.plan.app_phases;
    let number = plan.phase.map(|phase| phases[phase as usize].number);
    asks.is_none() && plan.after.is_empty() && number.is_none_or(|number| number == 0)
}

/// Cycles per flit of a host's channel.
pub(in crate::reference) fn pace(setting: Setting<'_>, host: HostId) -> u64 {
    let channel = setting.graph.host_channel(host);
    setting.graph.channel(channel).timing.cycles_per_flit.into()
}

/// What a sender of flows of this class at this host knows.
pub(super) fn line(setting: Setting<'_>, host: HostId, class: usize) -> Line {
    let pace = pace(setting, host);
    Line {
        pace: pace.try_into().expect("a pace"),
        largest: setting.plan.classes[class].size.largest(),
    }
}
