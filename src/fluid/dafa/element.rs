//! One element: its part in a PIF, and what it knows in the end.

use super::messages::{Answer, Stamp};
use std::sync::Arc;

/// A switch or a host.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Links that it works for.
    pub(super) links: Vec<u32>,
    /// The PIF it is in, or was last.
    pub(super) stamp: Stamp,
    /// Who told it first; `None` at the leader.
    pub(super) parent: Option<u32>,
    /// Neighbours that it has not heard from.
    pub(super) pending: usize,
    /// What it and its children have found.
    pub(super) answer: Answer,
    /// Levels of applications, and of which calculation.
    pub(super) levels: (u32, Arc<[u128]>),
}

impl Element {
    pub(super) fn new() -> Self {
        Self {
            links: Vec::new(),
            stamp: Stamp::default(),
            parent: None,
            pending: 0,
            answer: Answer::Share(None),
            levels: (0, Arc::new([])),
        }
    }
}
