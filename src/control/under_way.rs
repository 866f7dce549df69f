//! Packets that an algorithm lets a flow have under way, where their number follows nothing but what comes back.

/// So many packets may be under way until the answers to them are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// At first \[packets\].
    pub first: u32,
    /// At most \[packets\].
    pub most: u32,
    /// Packets that are answered together, at least 1.
    pub together: u32,
    /// What is waited for beside the ways of packets and answers \[cycles\].
    pub waits: u64,
}
