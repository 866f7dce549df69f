//! Puts switches at the places of a mesh or torus, one after the other.

use super::torus_labels::Network;
use super::torus_size::Size;

/// No switch.
pub(super) const NONE: u32 = u32::MAX;

/// A place that no switch fitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Stuck {
    pub(super) place: [u32; 3],
    /// Switches of the places around it.
    pub(super) beside: Vec<u32>,
}

/// Switches at some of the places.
pub(super) struct Placing<'a> {
    pub(super) network: &'a Network<'a>,
    pub(super) size: Size,
    pub(super) switch_of: Vec<u32>,
    pub(super) is_placed: Vec<bool>,
}

impl Placing<'_> {
    pub(super) fn put(&mut self, number: usize, switch: u32) {
        self.switch_of[number] = switch;
        self.is_placed[switch as usize] = true;
    }

    pub(super) fn take_back(&mut self, number: usize) {
        let switch = std::mem::replace(&mut self.switch_of[number], NONE);
        if switch != NONE {
            self.is_placed[switch as usize] = false;
        }
    }

    /// Switches at the places around one.
    pub(super) fn beside(&self, place: [u32; 3]) -> Vec<u32> {
        let around = self.size.neighbors(place);
        let switches = around.map(|place| self.switch_of[self.size.number(place)]);
        switches.filter(|&switch| switch != NONE).collect()
    }

    /// Those of `candidates` that fit a place, the first one last.
    pub(super) fn fitting(&self, place: [u32; 3], candidates: Vec<u32>) -> Vec<u32> {
        let beside = self.beside(place);
        let degree = self.size.neighbors(place).count();
        let fits = |&candidate: &u32| {
            let own = &self.network.neighbors[candidate as usize];
            let placed = own.iter().filter(|&&other| self.is_placed[other as usize]);
            !self.is_placed[candidate as usize]
                && own.len() == degree
                && placed.count() == beside.len()
                && beside.iter().all(|other| own.contains(other))
        };
        candidates.into_iter().filter(fits).rev().collect()
    }

    pub(super) fn stuck(&self, place: [u32; 3]) -> Stuck {
        Stuck {
            place,
            beside: self.beside(place),
        }
    }
}
