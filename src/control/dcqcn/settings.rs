//! The parameters of DCQCN as the machines use them.

/// alpha = 1.
pub(super) const WHOLE: u64 = 1 << 32;

/// What is added or counted on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amounts {
    /// As it is written, on any link.
    pub(super) written: Option<u64>,
    /// What the preset has for a link of a flit per cycle; `None`: nothing.
    pub(super) preset: Option<u64>,
}

impl Amounts {
    /// What the preset has on a link of so many 2^-32 flits per cycle, rounded up.
    pub(super) fn of_preset(self, line: u64) -> Option<u64> {
        let part = u128::from(self.preset?) * u128::from(line);
        Some(part.div_ceil(WHOLE.into()) as u64)
    }

    /// On a link of so many 2^-32 flits per cycle; without any, more than there can be.
    pub(super) fn at(self, line: u64) -> u64 {
        (self.written.or_else(|| self.of_preset(line))).unwrap_or(u64::MAX)
    }
}

/// Its parameters; times in cycles, rates in 2^-32 flits per cycle.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    pub(super) interval: u64,
    pub(super) gain: u8,
    pub(super) alpha_timer: u64,
    pub(super) timer: u64,
    /// alpha at first \[2^-32\].
    pub(super) alpha: u64,
    /// \[flits\].
    pub(super) bytes: Amounts,
    pub(super) stages: u32,
    pub(super) increase: Amounts,
    pub(super) hyper_increase: Amounts,
    pub(super) least: u64,
}
