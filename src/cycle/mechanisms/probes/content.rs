//! What packets carry.

use crate::cycle::state::parcel::{Content, Kind};
use serde::{Deserialize, Serialize};

/// What the packets of a shard carry that are in band.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    rows: Vec<Content>,
    free: Vec<u32>,
}

impl Contents {
    /// Keeps a content; returns its row.
    pub(super) fn put(&mut self, content: Content) -> u32 {
        if let Some(row) = self.free.pop() {
            self.rows[row as usize] = content;
            return row;
        }
        self.rows.push(content);
        self.rows.len() as u32 - 1
    }

    /// Takes it out.
    pub(super) fn take(&mut self, row: u32) -> Content {
        self.free.push(row);
        self.rows[row as usize]
    }

    /// Contents of packets of data.
    pub(super) fn of_data(&self) -> usize {
        let mut kept = vec![true; self.rows.len()];
        self.free.iter().for_each(|&row| kept[row as usize] = false);
        let rows = self.rows.iter().zip(kept);
        rows.filter(|(content, kept)| *kept && content.kind == Kind::Data)
            .count()
    }

    /// Lets it be changed.
    #[inline]
    pub(super) fn of(&mut self, row: u32) -> &mut Content {
        &mut self.rows[row as usize]
    }
}
