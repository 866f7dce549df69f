//! What controls a flow, or a group of flows, at its source (D41, D44, D47, D60, D67 to D69): its sender, what that has set, and the packets
//! that are outstanding.

use crate::reference::packet::Says;
use virtlane::control::{Actions, Algorithm, Event, Facts, Limit, Line, Payload, Probe, Sender};

/// A call of a sender.
enum Call {
    /// One of D41.
    Event(Event),
    /// A reply with this payload was delivered (D47).
    Returned(Payload),
}

/// A flow of a class with control, or a group.
#[derive(Debug)]
pub(crate) struct Controlled {
    sender: Sender,
    /// Limits, each with the cycle from which it counts.
    limits: Vec<(u64, Limit)>,
    /// Windows, likewise \[packets\]; none at first where the start sets none.
    windows: Vec<(u64, u32)>,
    /// What packets of the flow carry, likewise (D69).
    carried: Vec<(u64, Payload)>,
    /// Cycle that the timer is set to.
    timer: Option<u64>,
    /// Packets.
    outstanding: u64,
    /// Acknowledgements: the cycle from which each counts, and its packets.
    acknowledgements: Vec<(u64, u32)>,
    /// Events.
    logged: u64,
    /// Cycle of the last one, and answers and replies told by then (D42).
    last_logged: Option<(u64, u64)>,
    /// Start cycle that the first call has set that begins the flow (D60).
    begun: Option<u64>,
    /// Cycle of the first call that has closed it (D67).
    closed: Option<u64>,
    /// Starts, and answers and replies, that the sender was told.
    told: (u64, u64),
    /// Probes that it sent.
    sent: u64,
}

impl Controlled {
    /// Before cycle 0; `facts` of a flow, none of a group, which does not probe.
    pub(crate) fn new(algorithm: &Algorithm, line: Line, facts: Option<Facts>) -> Self {
        let mut actions = Actions::default();
        let mut sender = algorithm.start(line, &mut actions);
        if algorithm.probes() {
            let facts = facts.expect("D47: a group does not probe");
            algorithm.begin(&mut sender, facts, &mut actions);
        }
        assert_eq!(actions.acknowledge, None, "D41: nothing has started");
        assert!(actions.carry.is_none() || algorithm.carries(), "D69");
        Self {
            sender,
            limits: vec![(0, actions.limit.unwrap_or_default())],
            windows: actions
                .window
                .into_iter()
                .map(|window| (0, window))
                .collect(),
            carried: actions
                .carry
                .into_iter()
                .map(|payload| (0, payload))
                .collect(),
            timer: actions.timer.flatten(),
            outstanding: 0,
            acknowledgements: Vec::new(),
            logged: 0,
            last_logged: None,
            begun: None,
            closed: None,
            told: (0, 0),
            sent: 0,
        }
    }

    /// The limit that counts in a cycle.
    pub(crate) fn limit(&self, now: u64) -> Limit {
        let latest = self.limits.iter().rfind(|limit| limit.0 <= now);
        latest.expect("one from cycle 0 on").1
    }

    /// Whether the window that counts in a cycle is open.
    pub(crate) fn is_open(&self, now: u64) -> bool {
        let latest = self.windows.iter().rfind(|window| window.0 <= now);
        latest.is_none_or(|window| self.outstanding < u64::from(window.1))
    }

    /// D69: what a packet of the flow carries that starts in a cycle; zeros before a call has said something.
    pub(crate) fn carried(&self, now: u64) -> Payload {
        let latest = self.carried.iter().rfind(|carried| carried.0 <= now);
        latest.map_or([0; 4], |carried| carried.1)
    }

    /// A packet of the flow starts.
    pub(crate) fn start(&mut self) {
        self.outstanding += 1;
    }

    /// Stage Generate: the acknowledgements of this cycle.
    pub(crate) fn acknowledge(&mut self, now: u64) {
        for &(due, packets) in &self.acknowledgements {
            if due == now {
                self.outstanding = self.outstanding.saturating_sub(packets.into());
            }
        }
    }

    /// Stage Notify: what the sender is called with in this cycle, in order; returns the probes that it sends.
    pub(crate) fn notify(
        &mut self,
        algorithm: &Algorithm,
        started: Option<u16>,
        said: Option<Says>,
        now: u64,
    ) -> Vec<Probe> {
        let mut sent = Vec::new();
        if let Some(flits) = started {
            self.told.0 += 1;
            sent.extend(self.call(algorithm, now, Call::Event(Event::Started(flits))));
        }
        if let Some(says) = said {
            self.told.1 += 1;
            let call = match says {
                Says::Answer(value) => Call::Event(Event::Answered(value)),
                Says::Reply { payload, .. } => Call::Returned(payload),
                Says::Probe(_) => panic!("probes go to receivers"),
            };
            sent.extend(self.call(algorithm, now, call));
        }
        if self.timer == Some(now) {
            self.timer = None;
            sent.extend(self.call(algorithm, now, Call::Event(Event::Timer)));
        }
        assert!(self.timer.is_none_or(|cycle| cycle > now), "D41");
        self.sent += sent.len() as u64;
        sent
    }

    /// D51: what the own switch shows after this cycle; returns the probe that the sender sends.
    pub(super) fn look(
        &mut self,
        algorithm: &Algorithm,
        (own, blocked): (bool, usize),
        now: u64,
    ) -> Option<Probe> {
        let blocked = blocked as u32;
        let probe = self.call(algorithm, now, Call::Event(Event::Looked { own, blocked }));
        self.sent += u64::from(probe.is_some());
        probe
    }

    /// D68: what the element of the host says from now on; returns the probe that the sender sends.
    pub(super) fn hear(&mut self, algorithm: &Algorithm, word: u32, now: u64) -> Option<Probe> {
        let probe = self.call(algorithm, now, Call::Event(Event::Told(word)));
        self.sent += u64::from(probe.is_some());
        probe
    }

    /// Calls the sender; returns the probe that it sends.
    fn call(&mut self, algorithm: &Algorithm, now: u64, call: Call) -> Option<Probe> {
        let mut actions = Actions::default();
        let sender = &mut self.sender;
        match call {
            Call::Event(event) => algorithm.send(sender, now, event, &mut actions),
            Call::Returned(payload) => algorithm.returned(sender, now, payload, &mut actions),
        }
        self.act(actions, now);
        assert!(actions.send.is_none() || algorithm.probes(), "D47");
        assert!(actions.carry.is_none() || algorithm.carries(), "D69");
        let sets_up = algorithm.set_up().is_some();
        assert!(!actions.begin || algorithm.reserves() || sets_up, "D60");
        assert!(!actions.close || sets_up, "D67");
        actions.send
    }

    /// What a call in this cycle wants done, but for a probe.
    pub(crate) fn act(&mut self, actions: Actions, now: u64) {
        if let Some(limit) = actions.limit {
            self.limits.push((now + 1, limit));
        }
        if let Some(window) = actions.window {
            assert!(window >= 1, "D41");
            self.windows.push((now + 1, window));
        }
        if let Some(payload) = actions.carry {
            self.carried.push((now + 1, payload));
        }
        if let Some(those) = actions.acknowledge {
            assert!(those.after >= 1 && those.packets >= 1, "D41");
            let due = now + those.after;
            self.acknowledgements.push((due, those.packets));
        }
        if let Some(timer) = actions.timer {
            assert!(timer.is_none_or(|cycle| cycle > now), "D41");
            self.timer = timer;
        }
        if actions.log {
            self.logged += 1;
            self.last_logged = Some((now, self.told.1));
        }
        if actions.close && self.closed.is_none() {
            self.closed = Some(now);
        }
        if actions.begin && self.begun.is_none() {
            self.begun = Some(now + 1);
        }
    }

    /// D60: the start cycle of the flow, once a call has begun it.
    pub(super) fn begun(&self) -> Option<u64> {
        self.begun
    }

    /// D67: whether the connection of the flow is free for its next flow from this cycle on.
    pub(super) fn closes(&self, now: u64) -> bool {
        self.closed == Some(now)
    }

    /// D67: the flow before it on its connection is over in this cycle; `start` is what is written for this one.
    pub(super) fn follow(&mut self, start: u64, now: u64) {
        self.timer = Some(start.max(now + 1));
    }

    /// Events that calls logged.
    pub(super) fn logged(&self) -> u64 {
        self.logged
    }

    /// Cycle of the last of them, and answers and replies told by then.
    pub(super) fn last_logged(&self) -> Option<(u64, u64)> {
        self.last_logged
    }

    /// Starts, and answers and replies, that the sender was told; probes that it sent.
    pub(super) fn told(&self) -> (u64, u64, u64) {
        (self.told.0, self.told.1, self.sent)
    }
}
