//! Sets of applications as doubly linked lists in arrays.
//!
//! Cost: O(1) to insert, to remove and per element to go through; a set of all takes 12 bytes an application.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §4.3.2, figure 4.2

/// No application.
const NONE: u32 = u32::MAX;

/// A set of applications below a number.
#[derive(Clone, Debug)]
pub(super) struct AppSet {
    first: u32,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    is_in: bool,
    before: u32,
    behind: u32,
}

impl AppSet {
    /// The empty set of applications below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        let out = Slot {
            is_in: false,
            before: NONE,
            behind: NONE,
        };
        Self {
            first: NONE,
            slots: vec![out; bound],
        }
    }

    /// Whether it has one.
    pub(super) fn contains(&self, application: u32) -> bool {
        self.slots[application as usize].is_in
    }

    /// Inserts one, if it is not there.
    pub(super) fn insert(&mut self, application: u32) {
        if self.contains(application) {
            return;
        }
        let behind = self.first;
        self.slots[application as usize] = Slot {
            is_in: true,
            before: NONE,
            behind,
        };
        if behind != NONE {
            self.slots[behind as usize].before = application;
        }
        self.first = application;
    }

    /// Removes one, if it is there.
    pub(super) fn remove(&mut self, application: u32) {
        let Slot {
            is_in,
            before,
            behind,
        } = self.slots[application as usize];
        if !is_in {
            return;
        }
        if before == NONE {
            self.first = behind;
        } else {
            self.slots[before as usize].behind = behind;
        }
        if behind != NONE {
            self.slots[behind as usize].before = before;
        }
        self.slots[application as usize].is_in = false;
    }

    /// Its applications, the last one inserted first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.first;
        std::iter::from_fn(move || {
            let application = (at != NONE).then_some(at)?;
            at = self.slots[application as usize].behind;
            Some(application)
        })
    }

    /// Removes all. Cost: O(its size).
    pub(super) fn clear(&mut self) {
        while self.first != NONE {
            self.remove(self.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set() {
        let mut known = BTreeSet::new();
        let mut set = AppSet::new(10);
        for step in 0..2000u32 {
            let application = step.wrapping_mul(2_654_435_761) >> 13 & 7;
            if step % 3 == 0 {
                set.remove(application);
                known.remove(&application);
            } else if step % 97 == 0 {
                set.clear();
                known.clear();
            } else {
                set.insert(application);
                known.insert(application);
            }
            assert_eq!(set.iter().collect::<BTreeSet<_>>(), known);
            assert_eq!(set.iter().count(), known.len());
            assert_eq!(set.contains(3), known.contains(&3));
        }
    }
}
