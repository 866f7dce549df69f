//! Places of inputs that let several flits pass at a time (D78).

use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{PortRow, Row as _};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Until when flits keep the places of every input.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Places {
    /// Places of an input; `usize::MAX`: as many as are asked for.
    each: usize,
    /// First cycle in which each is free, input by input.
    until: Vec<u64>,
}

impl Persistent for Places {}

impl Places {
    /// `each` places for every port, never full where that is at least `most`, which flits may keep at a time.
    pub(super) fn new(ports: usize, each: usize, most: usize) -> Self {
        if each >= most {
            return Self {
                each: usize::MAX,
                until: Vec::new(),
            };
        }
        Self {
            each,
            until: vec![0; ports * each],
        }
    }

    fn of(&self, input: PortRow) -> &[u64] {
        let first = input.index() * self.each;
        &self.until[first..first + self.each]
    }

    /// Places of an input that are free in cycle `now`.
    pub(super) fn free(&self, input: PortRow, now: u64) -> usize {
        if self.until.is_empty() {
            return usize::MAX;
        }
        self.of(input).iter().filter(|&&until| until <= now).count()
    }

    /// First cycle in which a place of an input is free.
    pub(super) fn free_at(&self, input: PortRow) -> u64 {
        if self.until.is_empty() {
            return 0;
        }
        self.of(input).iter().copied().min().unwrap_or(0)
    }

    /// A flit that passes in cycle `now` keeps a place up to `until`.
    pub(super) fn take(&mut self, input: PortRow, now: u64, until: u64) {
        if self.until.is_empty() {
            return;
        }
        let first = input.index() * self.each;
        let places = &mut self.until[first..first + self.each];
        if let Some(place) = places.iter_mut().find(|place| **place <= now) {
            *place = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_flit_has_gone() {
        let mut places = Places::new(3, 2, 4);
        places.take(PortRow(1), 10, 14);
        assert_eq!(
            (places.free(PortRow(1), 10), places.free_at(PortRow(1))),
            (1, 0)
        );
        places.take(PortRow(1), 10, 11);
        assert_eq!(
            (places.free(PortRow(1), 10), places.free_at(PortRow(1))),
            (0, 11)
        );
        places.take(PortRow(1), 11, 12);
        assert_eq!(
            (places.free(PortRow(1), 12), places.free_at(PortRow(1))),
            (1, 12)
        );
        assert_eq!(
            (places.free(PortRow(0), 10), places.free(PortRow(2), 10)),
            (2, 2)
        );
    }

    #[test]
    fn as_many_as_flits_may_keep_are_never_full() {
        let mut places = Places::new(3, 4, 4);
        places.take(PortRow(1), 10, 14);
        assert_eq!(
            (places.free(PortRow(1), 10), places.free_at(PortRow(1))),
            (usize::MAX, 0)
        );
    }
}
