//! Links from the list of all that has ever passed them, flows as the source's text has them, one claim after the other.

use super::Dice;
use virtlane::control::{Limit, ONE_FLIT_PER_CYCLE};

/// What a control packet says, with what links have written into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Says {
    Announce { weight: u64, most: u64 },
    Look { most: u64, over: u64, least: i128 },
    Tell { more: i128, reserved: i128 },
    Reserve { claim: i128, granted: bool },
    Cancel { claim: i128 },
    End { flow: u64, rate: i128 },
}

/// A link.
pub(super) struct Channel {
    pub(super) drain: u16,
    capacity: i128,
    /// All that has passed and leaves something, in order.
    passed: Vec<Says>,
}

impl Channel {
    /// One that no packet has passed.
    pub(super) fn draw(slowest: u64, whole: u128, dice: &mut Dice) -> Self {
        let least = if dice.chance(30) { slowest } else { 1 };
        let drain = dice.between(least, slowest) as u16;
        Self {
            drain,
            capacity: (whole / u128::from(drain)) as i128,
            passed: Vec::new(),
        }
    }

    /// Weight of its flows, what they leave, what is reserved.
    pub(super) fn sums(&self) -> (u64, i128, i128) {
        let (mut weight, mut free, mut reserved) = (0, self.capacity, 0);
        for says in &self.passed {
            match *says {
                Says::Announce { weight: more, .. } => weight += more,
                Says::Tell { more, reserved: x } => (free, reserved) = (free - more, reserved - x),
                Says::Reserve { claim, .. } => reserved += claim,
                Says::Cancel { claim } => reserved -= claim,
                Says::End { flow, rate } => (weight, free) = (weight - flow, free + rate),
                Says::Look { .. } => {}
            }
        }
        (weight, free, reserved)
    }

    pub(super) fn pass(&mut self, says: &mut Says) {
        if !matches!(says, Says::Look { .. }) {
            self.passed.push(*says);
        }
        let (weight, free, reserved) = self.sums();
        let own = weight * u64::from(self.drain);
        match says {
            Says::Announce { most, .. } => *most = own.max(*most),
            Says::Look { most, over, least } => {
                *most = own.max(*most);
                if free < 0 {
                    *over = own.max(*over);
                }
                *least = (free - reserved).min(*least);
            }
            // the packet goes on and reserves everywhere
            Says::Reserve { granted, .. } => *granted = *granted && free - reserved >= 0,
            Says::Tell { .. } | Says::Cancel { .. } | Says::End { .. } => {}
        }
    }
}

/// When a flow looks again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wake {
    Never,
    At(u64),
    /// After a random time, up to the longest.
    Drawn,
}

/// A flow.
pub(super) struct Flow {
    pub(super) weight: u64,
    /// What rates may take of a link of one flit per cycle.
    whole: u128,
    pub(super) period: u64,
    /// The time after a refusal, where it is always the same.
    pub(super) back_off: Option<u64>,
    /// Least rate that counts as such.
    pub(super) slowest: u64,
    pub(super) left: Option<u64>,
    pub(super) stop: Option<u64>,
    has_joined: bool,
    pub(super) is_over: bool,
    waits: bool,
    pub(super) rate: Option<i128>,
    pub(super) wake: Wake,
    pub(super) refused: u64,
}

impl Flow {
    /// One that has sent nothing, before it knows its times.
    pub(super) fn draw(heaviest: u64, whole: u128, dice: &mut Dice) -> Self {
        let lightest = if dice.chance(30) { heaviest } else { 1 };
        Self {
            weight: [1, dice.between(lightest, heaviest)][usize::from(dice.chance(70))],
            whole,
            period: 1,
            back_off: None,
            slowest: 1,
            left: dice.chance(30).then(|| dice.between(1, 400)),
            stop: dice.chance(40).then(|| dice.between(1, 800)),
            has_joined: false,
            is_over: false,
            waits: false,
            rate: None,
            wake: Wake::Never,
            refused: 0,
        }
    }

    fn part(&self, all: u64) -> i128 {
        let part = u128::from(self.weight) * self.whole / u128::from(all);
        part.min(ONE_FLIT_PER_CYCLE.into()) as i128
    }

    /// Sends this, and waits for what comes back.
    fn send(&mut self, says: Says) -> Says {
        self.waits = true;
        says
    }

    fn look(&mut self) -> Says {
        self.send(Says::Look {
            most: 0,
            over: 0,
            least: i128::MAX,
        })
    }

    /// Takes so much more or less, of which so much was reserved.
    fn take(&mut self, more: i128, reserved: i128) -> Option<Says> {
        self.rate = Some(self.rate.unwrap_or(0) + more);
        if more == 0 {
            return if self.is_over {
                self.end()
            } else {
                Some(self.look())
            };
        }
        Some(self.send(Says::Tell { more, reserved }))
    }

    /// Nothing starts any more.
    fn end(&mut self) -> Option<Says> {
        self.is_over = true;
        self.wake = Wake::Never;
        if self.waits || !self.has_joined {
            return None;
        }
        // nothing comes back, so this is the last one
        Some(self.send(Says::End {
            flow: self.weight,
            rate: self.rate.unwrap_or(0),
        }))
    }

    pub(super) fn started(&mut self, flits: u64) -> Option<Says> {
        self.left = self.left.map(|left| left - flits.min(left));
        if self.is_over || self.left == Some(0) {
            return self.end();
        }
        if self.has_joined {
            return None;
        }
        self.has_joined = true;
        Some(self.send(Says::Announce {
            weight: self.weight,
            most: 0,
        }))
    }

    pub(super) fn timer(&mut self, now: u64) -> Option<Says> {
        if self.stop.is_some_and(|stop| stop <= now) {
            return self.end();
        }
        if self.wake != Wake::At(now) {
            return None;
        }
        self.wake = Wake::Never;
        Some(self.look())
    }

    pub(super) fn returned(&mut self, now: u64, says: Says) -> Option<Says> {
        self.waits = false;
        // what was announced is taken, and what was reserved is claimed or given back, before weight and rate are
        let goes_on = matches!(says, Says::Announce { .. } | Says::Reserve { .. });
        if self.is_over && !goes_on {
            return self.end();
        }
        let rate = self.rate.unwrap_or(0);
        match says {
            Says::Announce { most, .. } => self.take(self.part(most), 0),
            Says::Tell { .. } => Some(self.look()),
            Says::Look { most, .. } if rate < self.part(most) => {
                self.take(self.part(most) - rate, 0)
            }
            Says::Look { over, .. } if over > 0 && self.part(over) < rate => {
                self.take(self.part(over) - rate, 0)
            }
            Says::Look { over: 0, least, .. } if least > 0 => Some(self.send(Says::Reserve {
                claim: least,
                granted: true,
            })),
            Says::Look { .. } => {
                self.wake = Wake::At(now + self.period);
                None
            }
            Says::Reserve { claim, granted } if granted => self.take(claim, claim),
            Says::Reserve { claim, .. } => {
                self.refused += 1;
                Some(self.send(Says::Cancel { claim }))
            }
            Says::Cancel { .. } => {
                self.wake = self
                    .back_off
                    .map_or(Wake::Drawn, |time| Wake::At(now + time));
                None
            }
            Says::End { .. } => unreachable!("nothing comes back"),
        }
    }

    pub(super) fn limit(&self) -> Option<Limit> {
        self.has_joined.then(|| {
            let rate = self.rate.map_or(0, |rate| (rate as u64).max(self.slowest));
            Limit::Rate(rate.min(ONE_FLIT_PER_CYCLE))
        })
    }

    /// What the timer is set to, once the random time is known.
    pub(super) fn next(&self) -> Option<u64> {
        let wake = match self.wake {
            Wake::At(cycle) => Some(cycle),
            Wake::Never | Wake::Drawn => None,
        };
        wake.into_iter()
            .chain(self.stop.filter(|_| !self.is_over))
            .min()
    }
}
