//! What controls a flow, or a group of flows, at its source (D41, D44): its sender, what that has set, and the packets that
//! are outstanding.

use virtlane::control::{Actions, Algorithm, Event, Limit, Line, Sender};

/// A flow of a class with control, or a group.
#[derive(Debug)]
pub(crate) struct Controlled {
    sender: Sender,
    /// Limits, each with the cycle from which it counts.
    limits: Vec<(u64, Limit)>,
    /// Windows, likewise \[packets\]; none at first where the start sets none.
    windows: Vec<(u64, u32)>,
    /// Cycle that the timer is set to.
    timer: Option<u64>,
    /// Packets.
    outstanding: u64,
    /// Acknowledgements: the cycle from which each counts, and its packets.
    acknowledgements: Vec<(u64, u32)>,
    /// Events.
    logged: u64,
    /// Starts and answers that the sender was told.
    told: (u64, u64),
}

impl Controlled {
    /// Before cycle 0.
    pub(crate) fn new(algorithm: &Algorithm, line: Line) -> Self {
        let mut actions = Actions::default();
        let sender = algorithm.start(line, &mut actions);
        assert_eq!(actions.acknowledge, None, "D41: nothing has started");
        Self {
            sender,
            limits: vec![(0, actions.limit.unwrap_or_default())],
            windows: actions
                .window
                .into_iter()
                .map(|window| (0, window))
                .collect(),
            timer: actions.timer.flatten(),
            outstanding: 0,
            acknowledgements: Vec::new(),
            logged: 0,
            told: (0, 0),
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

    /// Stage Notify: what the sender is called with in this cycle, in order.
    pub(crate) fn notify(
        &mut self,
        algorithm: &Algorithm,
        started: Option<u16>,
        answered: Option<u32>,
        now: u64,
    ) {
        if let Some(flits) = started {
            self.told.0 += 1;
            self.call(algorithm, now, Event::Started(flits));
        }
        if let Some(value) = answered {
            self.told.1 += 1;
            self.call(algorithm, now, Event::Answered(value));
        }
        if self.timer == Some(now) {
            self.timer = None;
            self.call(algorithm, now, Event::Timer);
        }
        assert!(self.timer.is_none_or(|cycle| cycle > now), "D41");
    }

    /// D51: what the own switch shows after this cycle.
    pub(super) fn look(&mut self, algorithm: &Algorithm, (own, blocked): (bool, usize), now: u64) {
        let blocked = blocked as u32;
        self.call(algorithm, now, Event::Looked { own, blocked });
    }

    fn call(&mut self, algorithm: &Algorithm, now: u64, event: Event) {
        let mut actions = Actions::default();
        algorithm.send(&mut self.sender, now, event, &mut actions);
        self.act(actions, now);
    }

    /// What a call in this cycle wants done.
    pub(crate) fn act(&mut self, actions: Actions, now: u64) {
        if let Some(limit) = actions.limit {
            self.limits.push((now + 1, limit));
        }
        if let Some(window) = actions.window {
            assert!(window >= 1, "D41");
            self.windows.push((now + 1, window));
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
        self.logged += u64::from(actions.log);
    }

    /// Events that calls logged.
    pub(super) fn logged(&self) -> u64 {
        self.logged
    }

    /// Starts and answers that the sender was told.
    pub(super) fn told(&self) -> (u64, u64) {
        self.told
    }
}
