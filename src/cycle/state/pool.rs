//! The pool of packet rows.

use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{PacketRow, Row};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Which packet rows are in use.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct PacketPool {
    size: u32,
    free: Vec<PacketRow>,
    /// Rows that a cycle can need.
    reserve: u32,
}

impl PacketPool {
    /// An empty pool; `reserve`: rows that a cycle can need.
    pub fn new(reserve: usize) -> Self {
        Self {
            reserve: reserve as u32,
            ..Self::default()
        }
    }

    /// Whether the unused rows may not last for one more cycle.
    #[inline]
    pub fn is_low(&self) -> bool {
        self.free.len() < self.reserve as usize
    }

    /// Rows that a cycle can need.
    pub fn reserve(&self) -> usize {
        self.reserve as usize
    }

    /// Rows in all.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Unused rows.
    #[inline]
    pub fn unused(&self) -> usize {
        self.free.len()
    }

    /// Whether each row is in use.
    pub fn used(&self) -> Vec<bool> {
        let mut used = vec![true; self.size()];
        self.free.iter().for_each(|row| used[row.index()] = false);
        used
    }

    /// Rows in use.
    pub fn in_use(&self) -> u64 {
        u64::from(self.size) - self.free.len() as u64
    }

    /// Adds `count` unused rows behind the others.
    pub fn grow(&mut self, count: u32) {
        let known = self.size;
        self.size += count;
        let rows = (known..self.size).rev();
        self.free.extend(rows.map(PacketRow));
    }

    /// Gives a row back.
    #[inline]
    pub fn release(&mut self, row: PacketRow) {
        self.free.push(row);
    }

    /// Takes a row.
    ///
    /// # Panics
    /// When there is none: the shard fills the pool up between cycles.
    #[inline]
    pub fn claim(&mut self) -> PacketRow {
        let row = self.free.pop();
        row.expect("the pool is filled up between cycles")
    }
}

impl Persistent for PacketPool {}
