//! What a link does for PAFA, DAFA* and DAFA, and the sets of applications that control packets carry.
//!
//! A worker is told who is held and at what level, and says what share is left; told the least share of all links, it says
//! who is held by it. It knows no other link.
//!
//! Cost: O(applications / 64 + applications that are held) for a call, O(applications) memory.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §4.3.3

/// A set of applications, a bit for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppBits(Vec<u64>);

impl AppBits {
    /// The empty set of applications below `bound`.
    pub fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether it has one.
    pub fn contains(&self, application: usize) -> bool {
        self.0[application / 64] >> (application % 64) & 1 != 0
    }

    /// Inserts one.
    pub fn insert(&mut self, application: usize) {
        self.0[application / 64] |= 1 << (application % 64);
    }

    /// Removes one.
    pub fn remove(&mut self, application: usize) {
        self.0[application / 64] &= !(1 << (application % 64));
    }

    /// Inserts all of another set of the same bound.
    pub fn insert_all(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Its applications, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(place, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * place + bit)
            })
        })
    }
}

/// What a link knows.
#[derive(Clone, Debug)]
pub struct LinkWorker {
    capacity: u128,
    /// Weight of every application there, as it was announced.
    announced: Vec<u128>,
    /// The same when it was reset.
    weights: Vec<u128>,
    /// What those that are held leave.
    left: u128,
    /// Weight of those that rise.
    rising: u128,
    /// Those that rise.
    applications: AppBits,
}

impl LinkWorker {
    /// A link without flows, of so many applications that there may be
    /// \[[`UNIT`](crate::fluid::network::UNIT)ths of a flit per cycle\].
    pub fn new(capacity: u128, applications: usize) -> Self {
        Self {
            capacity,
            announced: vec![0; applications],
            weights: vec![0; applications],
            left: capacity,
            rising: 0,
            applications: AppBits::new(applications),
        }
    }

    /// A flow of an application begins: it counts after the next [`reset`](Self::reset).
    pub fn add(&mut self, application: usize, weight: u64) {
        self.announced[application] += u128::from(weight);
    }

    /// A flow of an application ends, likewise.
    pub fn take_off(&mut self, application: usize, weight: u64) {
        self.announced[application] -= u128::from(weight);
    }

    /// All applications rise from 0.
    pub fn reset(&mut self) {
        self.left = self.capacity;
        self.weights.copy_from_slice(&self.announced);
        self.rising = self.weights.iter().sum();
        self.applications = AppBits::new(self.weights.len());
        for (application, _) in self.weights.iter().enumerate().filter(|own| *own.1 > 0) {
            self.applications.insert(application);
        }
    }

    /// Collection: these are held at this level; returns the share that the others have, `None` without others.
    pub fn collect(&mut self, held: &AppBits, level: u128) -> Option<u128> {
        for application in held.iter() {
            if self.applications.contains(application) {
                self.applications.remove(application);
                self.left -= self.weights[application] * level;
                self.rising -= self.weights[application];
            }
        }
        self.share()
    }

    /// Distribution: the least share of all links; returns those that this link holds to it, `None` if none.
    pub fn hold(&self, level: u128) -> Option<&AppBits> {
        (self.share() == Some(level)).then_some(&self.applications)
    }

    fn share(&self) -> Option<u128> {
        self.left.checked_div(self.rising)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn bits_are_a_set() {
        let (mut bits, mut known) = (AppBits::new(130), BTreeSet::new());
        assert!(bits.is_empty());
        for step in 0..1000usize {
            let application = step.wrapping_mul(2_654_435_761) >> 13 & 127;
            if step % 3 == 0 {
                bits.remove(application);
                known.remove(&application);
            } else {
                bits.insert(application);
                known.insert(application);
            }
            assert!(bits.iter().eq(known.iter().copied()));
            assert_eq!(bits.contains(5), known.contains(&5));
        }
        let mut all = AppBits::new(130);
        all.insert(129);
        all.insert_all(&bits);
        assert!(all.iter().eq(known.into_iter().chain([129])));
    }
}
