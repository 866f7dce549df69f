//! Rows: a place in a column. A row of one kind does not index a column of another.
//!
//! A row is a `u32` with a name, a column a slice with the kind of its rows; neither costs anything. Which lanes belong to which
//! port says [`Numbering`](super::numbering::Numbering).

use super::prefetch::prefetch;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::{Deref, Index, IndexMut};

/// A kind of row.
pub trait Row: Copy {
    /// The row as an index into its column.
    fn index(self) -> usize;
    /// The row with this index.
    fn of(index: usize) -> Self;
}

macro_rules! row {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl Row for $name {
            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline(always)]
            fn of(index: usize) -> Self {
                Self(index as u32)
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, none) => {
        row!($(#[$doc])* $name);

        impl $name {
            /// No row.
            pub const NONE: Self = Self(u32::MAX);
        }
    };
}

row!(
    /// A switch.
    SwitchRow
);
row!(
    /// A port of a switch, or of a host.
    PortRow, none
);
row!(
    /// A host.
    HostRow
);
row!(
    /// A lane of a port.
    LaneRow, none
);
row!(
    /// An input queue.
    QueueRow, none
);
row!(
    /// A packet in the fabric.
    PacketRow, none
);
row!(
    /// A pointer of an output over the lanes of one input of its switch.
    TurnRow
);
row!(
    /// A channel that leaves the shard.
    BorderRow
);

impl PortRow {
    /// The port `index` places after this one.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, index: u32) -> Self {
        Self(self.0 + index)
    }

    /// How many places this port is after `first`.
    #[inline(always)]
    pub fn minus(self, first: Self) -> u32 {
        self.0 - first.0
    }
}

/// A column of all entities of a kind, by row.
#[derive(Debug)]
pub struct Column<R, S> {
    rows: S,
    kind: PhantomData<R>,
}

/// A column to work on.
pub type Rows<'a, R, C> = Column<R, &'a mut [C]>;
/// A column to look at.
pub type Seen<'a, R, C> = Column<R, &'a [C]>;

impl<R, S: Copy> Clone for Column<R, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, S: Copy> Copy for Column<R, S> {}

impl<R, S: Default> Default for Column<R, S> {
    #[inline(always)]
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<R, S> Column<R, S> {
    /// A column of rows of the kind `R`.
    #[inline(always)]
    pub fn new(rows: S) -> Self {
        Self {
            rows,
            kind: PhantomData,
        }
    }
}

impl<R: Row, S, C> Index<R> for Column<R, S>
where
    S: Deref<Target = [C]>,
{
    type Output = C;

    #[inline(always)]
    fn index(&self, row: R) -> &C {
        &self.rows[row.index()]
    }
}

impl<R: Row, S, C> Column<R, S>
where
    S: Deref<Target = [C]>,
{
    /// So many rows from `first` on.
    #[inline(always)]
    pub fn part(&self, first: R, count: u32) -> &[C] {
        &self.rows[first.index()..][..count as usize]
    }

    /// Asks for a row that will be needed soon; one that there is not is asked for in vain.
    #[inline(always)]
    pub fn prefetch(&self, row: R) {
        if let Some(row) = self.rows.get(row.index()) {
            prefetch(row);
        }
    }
}

impl<R: Row, C> IndexMut<R> for Rows<'_, R, C> {
    #[inline(always)]
    fn index_mut(&mut self, row: R) -> &mut C {
        &mut self.rows[row.index()]
    }
}

impl<R: Row, C> Rows<'_, R, C> {
    /// The value in a row, when the column is there.
    #[inline]
    pub fn get_mut(&mut self, row: R) -> Option<&mut C> {
        self.rows.get_mut(row.index())
    }

    /// The column, to look at.
    #[inline(always)]
    pub fn seen(&self) -> Seen<'_, R, C> {
        Seen::new(self.rows)
    }

    /// The column, lent.
    #[inline(always)]
    pub fn reborrow(&mut self) -> Rows<'_, R, C> {
        Rows::new(&mut *self.rows)
    }
}

impl<'a, R: Row, C> Seen<'a, R, C> {
    /// Number of rows.
    pub fn len(self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(self) -> bool {
        self.rows.is_empty()
    }

    /// The value in a row, when the column is there.
    pub fn get(self, row: R) -> Option<&'a C> {
        self.rows.get(row.index())
    }

    /// All values with their rows, in row order.
    pub fn enumerate(self) -> impl Iterator<Item = (R, &'a C)> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(index, value)| (R::of(index), value))
    }
}

/// The far end of a channel: a port row of this shard or an entry of its border, as the port's
/// [`Peer`](super::Peer) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct FarEnd(u32);

impl FarEnd {
    /// A port of this shard.
    #[inline(always)]
    pub fn port(self) -> PortRow {
        PortRow(self.0)
    }

    /// An entry of the border.
    #[inline(always)]
    pub fn border(self) -> BorderRow {
        BorderRow(self.0)
    }
}

impl From<PortRow> for FarEnd {
    fn from(port: PortRow) -> Self {
        Self(port.0)
    }
}

impl From<BorderRow> for FarEnd {
    fn from(border: BorderRow) -> Self {
        Self(border.0)
    }
}

/// What is free again: an input that sends one packet at a time, or a queue where inputs send several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Freed(u32);

impl Freed {
    /// The input.
    #[inline(always)]
    pub fn input(self) -> PortRow {
        PortRow(self.0)
    }

    /// The queue.
    #[inline(always)]
    pub fn queue(self) -> QueueRow {
        QueueRow(self.0)
    }
}

impl From<PortRow> for Freed {
    #[inline(always)]
    fn from(input: PortRow) -> Self {
        Self(input.0)
    }
}

impl From<QueueRow> for Freed {
    #[inline(always)]
    fn from(queue: QueueRow) -> Self {
        Self(queue.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_indexed_by_its_own_rows() {
        let mut values = [1, 2, 3];
        let mut column: Rows<'_, HostRow, i32> = Rows::new(&mut values);
        column[HostRow(1)] += 5;
        assert_eq!(column.seen()[HostRow(1)], 7);
        let all: Vec<_> = column.seen().enumerate().collect();
        assert_eq!(all, [(HostRow(0), &1), (HostRow(1), &7), (HostRow(2), &3)]);
        assert_eq!(column.seen().get(HostRow(3)), None);
    }
}
