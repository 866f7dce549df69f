//! Sizes of meshes and tori, and the places in them.

use std::collections::{BTreeMap, VecDeque};

/// A size: switches along each dimension, and whether it is a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) radix: [u32; 3],
    pub(super) wrap: [bool; 3],
}

impl Size {
    /// The coordinates one step on in a direction.
    pub(super) fn step(&self, mut place: [u32; 3], direction: usize) -> Option<[u32; 3]> {
        let d = direction / 2;
        let (radix, here) = (self.radix[d], place[d]);
        let is_end = if direction.is_multiple_of(2) {
            here + 1 == radix
        } else {
            here == 0
        };
        if is_end && !self.wrap[d] {
            return None;
        }
        place[d] = match (direction.is_multiple_of(2), is_end) {
            (true, false) => here + 1,
            (true, true) => 0,
            (false, false) => here - 1,
            (false, true) => radix - 1,
        };
        Some(place)
    }

    pub(super) fn number(&self, place: [u32; 3]) -> usize {
        let numbers = place.iter().zip(&self.radix).rev();
        numbers.fold(0, |number, (&coordinate, &radix)| {
            number * radix as usize + coordinate as usize
        })
    }

    pub(super) fn switches(&self) -> u64 {
        self.radix.iter().map(|&radix| u64::from(radix)).product()
    }

    pub(super) fn neighbors(&self, place: [u32; 3]) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..6).filter_map(move |direction| self.step(place, direction))
    }

    /// `4 x 4 torus`, `4 x 3 x 2 mesh`, `3 (ring) x 4 (open)`.
    pub(super) fn text(&self) -> String {
        let used: Vec<usize> = (0..3).filter(|&d| self.radix[d] > 1).collect();
        let join = |words: Vec<String>| words.join(" x ");
        let radix = |d: &usize| self.radix[*d].to_string();
        // two switches are no ring, in a torus neither
        let rings = used.iter().filter(|&&d| self.wrap[d]).count();
        let open = used
            .iter()
            .filter(|&&d| !self.wrap[d] && self.radix[d] > 2)
            .count();
        match (rings, open) {
            (_, 0) if rings > 0 => join(used.iter().map(radix).collect()) + " torus",
            (0, _) => join(used.iter().map(radix).collect()) + " mesh",
            _ => join(
                used.iter()
                    .map(|d| {
                        format!(
                            "{} ({})",
                            radix(d),
                            if self.wrap[*d] { "ring" } else { "open" }
                        )
                    })
                    .collect(),
            ),
        }
    }
}

/// All places from one outward, each with the number of the place it was found from.
pub(super) fn outward(size: Size, from: [u32; 3]) -> Vec<([u32; 3], usize)> {
    let mut order = vec![(from, size.number(from))];
    let mut is_found = vec![false; size.switches() as usize];
    is_found[size.number(from)] = true;
    let mut queue = VecDeque::from([from]);
    while let Some(place) = queue.pop_front() {
        for next in size.neighbors(place) {
            if !std::mem::replace(&mut is_found[size.number(next)], true) {
                order.push((next, size.number(place)));
                queue.push_back(next);
            }
        }
    }
    order
}

/// Switches of a size by number of neighbours.
pub(super) fn degrees_of(size: Size) -> BTreeMap<usize, usize> {
    let mut degrees = BTreeMap::from([(0, 1)]);
    for (&radix, &wrap) in size.radix.iter().zip(&size.wrap) {
        let radix = radix as usize;
        let own = match (radix, wrap) {
            (1, _) => vec![(0, 1)],
            (_, true) => vec![(2, radix)],
            (2, false) => vec![(1, 2)],
            (_, false) => vec![(1, 2), (2, radix - 2)],
        };
        let mut next = BTreeMap::new();
        for (neighbors, switches) in degrees {
            for (more, times) in &own {
                *next.entry(neighbors + more).or_default() += switches * times;
            }
        }
        degrees = next;
    }
    degrees
}
