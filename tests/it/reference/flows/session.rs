//! Sessions of probe flows (D59): when they make their packets.

use crate::reference::Setting;
use virtlane::admission::Trials;
use virtlane::rng::{Stream, below};

/// What a session is to be.
#[derive(Clone, Copy, Debug)]
pub(in crate::reference) struct NewSession {
    pub(in crate::reference) number: u64,
    /// k of D59.
    pub(in crate::reference) packets: u32,
    /// d of D59.
    pub(in crate::reference) mean_gap: u32,
}

/// The session of a probe flow, also when it is over.
#[derive(Debug)]
pub(in crate::reference) struct Session {
    pub(super) number: u64,
    /// Cycles in which its packets are made, in order.
    due: Vec<u64>,
    /// Of these: how many were rejected.
    rejected: u32,
}

impl Session {
    /// One begins in an act of this cycle.
    pub(super) fn begin(new: NewSession, gaps: &mut Stream, now: u64) -> Self {
        let (mean, half) = (new.mean_gap, new.mean_gap / 2);
        assert!(mean >= 1 && new.packets >= 1, "D59");
        let mut cycle = now;
        let mut next = || {
            cycle += u64::from(mean - half + below(gaps, 2 * half + 1));
            cycle
        };
        Self {
            number: new.number,
            due: (0..new.packets).map(|_| next()).collect(),
            rejected: 0,
        }
    }

    /// Whether it makes a packet in this cycle.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.due.contains(&now)
    }

    /// Its packet of this cycle met a full queue.
    pub(super) fn reject(&mut self) {
        self.rejected += 1;
    }

    /// Cycle in which its last packet is made.
    pub(in crate::reference) fn last(&self) -> u64 {
        *self.due.last().expect("at least one packet")
    }

    /// Packets that were rejected.
    pub(in crate::reference) fn rejected(&self) -> u32 {
        self.rejected
    }
}

/// How flows are tried for which this class has the probes; `None`: it is another class.
pub(in crate::reference) fn trials_of(setting: Setting<'_>, class: usize) -> Option<Trials> {
    let admission = setting.plan.admission.as_ref()?;
    let mut tried = admission.tried.iter();
    let is_of_probes = tried.any(|tried| usize::from(tried.probes) == class);
    admission.control.trials().filter(|_| is_of_probes)
}
