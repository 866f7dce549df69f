//! Entries by (row, destination host), as forwarding tables have them.
//!
//! A row is cut into blocks of 64 destinations, as InfiniBand's linear forwarding tables are, and equal blocks are there once:
//! in a fat tree most switches of a level differ in the blocks of their own hosts only.
//!
//! Cost: a look-up is two loads; memory 64 bytes per different block and 4 bytes per (row, block), which copies share; building
//! hashes the blocks that differ from that of the row before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Destinations of a block.
pub const BLOCK: usize = 64;

type Block = [u8; BLOCK];

/// A table of bytes.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The blocks, each once; what is beyond the last destination is 0.
    blocks: Arc<[Block]>,
    /// Block of `[row][destination / 64]`.
    places: Arc<[u32]>,
    /// Blocks of a row.
    width: usize,
    /// Destinations.
    hosts: usize,
}

impl Entries {
    /// Of a table `[row][host]`.
    pub fn new(table: &[u8], hosts: usize) -> Self {
        let mut builder = Builder::new(hosts);
        for row in table.chunks(hosts.max(1)) {
            builder.push(row);
        }
        builder.finish()
    }

    /// The entry of a row for a destination.
    #[inline]
    pub fn get(&self, row: usize, destination: usize) -> u8 {
        self.at(self.start(row as u32), destination as u32)
    }

    /// Where a row starts, for [`Self::at`].
    pub fn start(&self, row: u32) -> u32 {
        row.saturating_mul(self.width as u32)
    }

    /// The entry for a destination of the row that starts here.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once per packet-hop")]
    pub fn at(&self, start: u32, destination: u32) -> u8 {
        let (block, entry) = (destination / BLOCK as u32, destination % BLOCK as u32);
        let place = self.places[(start + block) as usize];
        self.blocks[place as usize][entry as usize]
    }

    /// Destinations of a row.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.places.len() / self.width.max(1)
    }

    /// The entries of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = u8> + '_ {
        let places = &self.places[row * self.width..][..self.width];
        let blocks = places.iter().map(|&place| &self.blocks[place as usize]);
        blocks.flatten().copied().take(self.hosts)
    }

    /// All entries, row by row.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.rows()).flat_map(|row| self.row(row))
    }

    /// The table `[row][host]`.
    pub fn to_vec(&self) -> Vec<u8> {
        self.iter().collect()
    }

    /// Changes the table `[row][host]`.
    pub fn change(&mut self, act: impl FnOnce(&mut Vec<u8>)) {
        let mut table = self.to_vec();
        act(&mut table);
        *self = Self::new(&table, self.hosts);
    }

    /// The same with other values: those of `value(row, entry)`.
    #[must_use]
    pub fn map(&self, value: impl Fn(usize, u8) -> u8) -> Self {
        let mut builder = Builder::new(self.hosts);
        let mut values = Vec::with_capacity(self.hosts);
        for row in 0..self.rows() {
            values.clear();
            values.extend(self.row(row).map(|entry| value(row, entry)));
            builder.push(&values);
        }
        builder.finish()
    }

    /// The columns of some destinations of one block, a vector each.
    pub fn columns(&self, hosts: &Range<usize>) -> Vec<Vec<u8>> {
        let (block, first) = (hosts.start / BLOCK, hosts.start % BLOCK);
        let mut columns = vec![vec![0; self.rows()]; hosts.len()];
        for row in 0..self.rows() {
            let place = self.places[row * self.width + block];
            let entries = &self.blocks[place as usize][first..];
            for (column, &entry) in columns.iter_mut().zip(entries) {
                column[row] = entry;
            }
        }
        columns
    }

    /// Checksum of the entries.
    pub fn checksum(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for &place in &*self.places {
            sum.update(&self.blocks[place as usize]);
        }
        sum.finalize()
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        (self.hosts, self.places.len()) == (other.hosts, other.places.len())
            && (self.places.iter().zip(&*other.places))
                .all(|(&own, &its)| self.blocks[own as usize] == other.blocks[its as usize])
    }
}

impl Eq for Entries {}

/// Entries as an engine gives them.
pub trait Given {
    /// The table, for so many destinations.
    fn entries(self, hosts: usize) -> Entries;
}

impl Given for Entries {
    fn entries(self, _hosts: usize) -> Entries {
        self
    }
}

impl Given for Vec<u8> {
    fn entries(self, hosts: usize) -> Entries {
        Entries::new(&self, hosts)
    }
}

/// Takes rows one after the other.
#[derive(Debug)]
pub struct Builder {
    blocks: Vec<Block>,
    places: Vec<u32>,
    width: usize,
    hosts: usize,
    /// The first block with a hash; of others with the same one equal blocks may be there twice.
    known: HashMap<u64, u32>,
}

impl Builder {
    /// Of rows for so many destinations.
    pub fn new(hosts: usize) -> Self {
        Self {
            blocks: Vec::new(),
            places: Vec::new(),
            width: hosts.div_ceil(BLOCK),
            hosts,
            known: HashMap::new(),
        }
    }

    /// Another row.
    pub fn push(&mut self, row: &[u8]) {
        for chunk in row.chunks(BLOCK) {
            let mut block = [0; BLOCK];
            block[..chunk.len()].copy_from_slice(chunk);
            let place = self.place(block);
            self.places.push(place);
        }
    }

    fn place(&mut self, block: Block) -> u32 {
        let above = self.places.len().checked_sub(self.width);
        if let Some(above) = above.map(|above| self.places[above])
            && self.blocks[above as usize] == block
        {
            return above;
        }
        let mut hasher = DefaultHasher::new();
        block.hash(&mut hasher);
        let next = self.blocks.len() as u32;
        let known = *self.known.entry(hasher.finish()).or_insert(next);
        if known != next && self.blocks[known as usize] == block {
            return known;
        }
        self.blocks.push(block);
        next
    }

    /// The table.
    pub fn finish(self) -> Entries {
        Entries {
            blocks: self.blocks.into(),
            places: self.places.into(),
            width: self.width,
            hosts: self.hosts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that differ in some places, of destinations that do not fill the last block.
    fn table(rows: usize, hosts: usize) -> Vec<u8> {
        let entry = |row: usize, host: usize| {
            if host % 97 == row {
                7
            } else {
                (host % 5) as u8
            }
        };
        let rows = (0..rows).flat_map(|row| (0..hosts).map(move |host| entry(row, host)));
        rows.collect()
    }

    #[test]
    fn entries_are_those_of_the_table() {
        for hosts in [1, 63, 64, 65, 200] {
            let table = table(9, hosts);
            let entries = Entries::new(&table, hosts);
            assert_eq!((entries.rows(), entries.is_empty()), (9, false));
            assert_eq!(entries.iter().collect::<Vec<u8>>(), table);
            for (place, &entry) in table.iter().enumerate() {
                assert_eq!(entries.get(place / hosts, place % hosts), entry);
            }
            for start in (0..hosts).step_by(BLOCK) {
                let block = start..hosts.min(start + BLOCK);
                for (host, column) in block.clone().zip(entries.columns(&block)) {
                    let own: Vec<u8> = (0..9).map(|row| table[row * hosts + host]).collect();
                    assert_eq!(column, own);
                }
            }
            let more = entries.map(|row, entry| entry + row as u8);
            assert_eq!(more.get(8, hosts - 1), entries.get(8, hosts - 1) + 8);
            assert_ne!((&more, more.checksum()), (&entries, entries.checksum()));
        }
    }

    #[test]
    fn equal_blocks_are_there_once() {
        let entries = Entries::new(&vec![3; 100 * 640], 640);
        assert_eq!((entries.blocks.len(), entries.rows()), (1, 100));
        // each row has blocks of its own where its hosts are: 97 places apart
        let entries = Entries::new(&table(50, 640), 640);
        assert!(entries.blocks.len() < 50 * 8 + 10);
        assert!(Entries::new(&[], 5).is_empty());
    }
}
