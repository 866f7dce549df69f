//! Packets that an algorithm lets a flow have under way, where their number follows nothing but what comes back.

use super::Algorithm;

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

impl Algorithm {
    /// What it lets a flow have under way; `None`: as much as there is, or what it finds by other means.
    pub fn under_way(&self) -> Option<UnderWay> {
        match self {
            Self::RequestReply(own) => Some(own.under_way()),
            Self::Window(own) => Some(own.under_way()),
            _ => None,
        }
    }
}
