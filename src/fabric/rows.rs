//! Rows: a place in a column. A row of one kind does not index a column of another.
//!
//! A row is a `u32` with a name, a column a slice with the kind of its rows; neither costs anything. [`Numbering`] says which
//! lanes belong to which port.

use super::mask::Span;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

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
    S: std::ops::Deref<Target = [C]>,
{
    type Output = C;

    #[inline(always)]
    fn index(&self, row: R) -> &C {
        &self.rows[row.index()]
    }
}

impl<R: Row, C> IndexMut<R> for Rows<'_, R, C> {
    #[inline(always)]
    fn index_mut(&mut self, row: R) -> &mut C {
        &mut self.rows[row.index()]
    }
}

impl<R: Row, C> Rows<'_, R, C> {
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

/// Which lanes belong to which port: every port has as many lane rows, a power of two. A *bit* is the number of an input lane
/// within its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    shift: u32,
    mask: u32,
}

impl Numbering {
    /// With room for `lanes` lanes per port, at most 32.
    pub fn new(lanes: u8) -> Self {
        let rows = u32::from(lanes).next_power_of_two();
        Self {
            shift: rows.trailing_zeros(),
            mask: rows - 1,
        }
    }

    /// Lane rows of a port.
    #[inline(always)]
    pub fn lanes(self) -> u32 {
        self.mask + 1
    }

    /// Whether a port has a single lane row.
    #[inline(always)]
    pub fn is_single(self) -> bool {
        self.shift == 0
    }

    /// Lane `number` of a port.
    #[inline(always)]
    pub fn lane(self, port: PortRow, number: u32) -> LaneRow {
        LaneRow((port.0 << self.shift) + number)
    }

    /// All lanes of a port.
    pub fn lanes_of(self, port: PortRow) -> impl Iterator<Item = LaneRow> {
        let first = port.0 << self.shift;
        (first..first + self.lanes()).map(LaneRow)
    }

    /// Port of a lane.
    #[inline(always)]
    pub fn port(self, lane: LaneRow) -> PortRow {
        PortRow(lane.0 >> self.shift)
    }

    /// Number of a lane within its port.
    #[inline(always)]
    pub fn number(self, lane: LaneRow) -> u32 {
        lane.0 & self.mask
    }

    /// First lane of the port of `lane`.
    #[inline(always)]
    pub fn first_beside(self, lane: LaneRow) -> LaneRow {
        LaneRow(lane.0 & !self.mask)
    }

    /// The lane number after `number`, round robin.
    #[inline(always)]
    pub fn after(self, number: u32) -> u8 {
        ((number + 1) & self.mask) as u8
    }

    /// The lane number that `after` was told of.
    pub fn before(self, after: u8) -> u32 {
        u32::from(after).wrapping_sub(1) & self.mask
    }

    /// Lane rows of `ports` ports.
    pub fn rows(self, ports: usize) -> usize {
        ports << self.shift
    }

    /// Bit of an input lane, `first` the first port of its switch.
    #[inline(always)]
    pub fn bit(self, first: PortRow, lane: LaneRow) -> u16 {
        (lane.0 - (first.0 << self.shift)) as u16
    }

    /// The input lane of a bit, `first` the first port of its switch.
    #[inline(always)]
    pub fn input_lane(self, first: PortRow, bit: u16) -> LaneRow {
        LaneRow((first.0 << self.shift) + u32::from(bit))
    }

    /// Number of the input that a bit belongs to.
    #[inline(always)]
    pub fn input_index(self, bit: u16) -> u32 {
        u32::from(bit) >> self.shift
    }

    /// Lane number of a bit within its input.
    #[inline(always)]
    pub fn lane_number(self, bit: u16) -> u32 {
        u32::from(bit) & self.mask
    }

    /// First bit of the input with this number.
    #[inline(always)]
    pub fn first_bit(self, index: u8) -> u16 {
        u16::from(index) << self.shift
    }

    /// All bits of the input that `bit` belongs to.
    #[inline(always)]
    pub fn beside(self, bit: u16) -> Span {
        Span::new(u32::from(bit) & !self.mask, self.mask)
    }

    /// Number of the source queue of a host's lane.
    #[inline(always)]
    pub fn source_queue(self, host: HostRow, number: u32) -> usize {
        ((host.0 << self.shift) + number) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_lanes_follow_from_ports_and_back() {
        for (lanes, rows) in [(1, 1), (2, 2), (3, 4), (16, 16), (17, 32), (32, 32)] {
            let numbering = Numbering::new(lanes);
            assert_eq!(numbering.lanes(), rows);
            let first = PortRow(5);
            for number in 0..rows {
                let lane = numbering.lane(PortRow(7), number);
                assert_eq!(numbering.port(lane), PortRow(7));
                assert_eq!(numbering.number(lane), number);
                let bit = numbering.bit(first, lane);
                assert_eq!(numbering.input_lane(first, bit), lane);
                assert_eq!(numbering.input_index(bit), 2);
                assert_eq!(numbering.lane_number(bit), number);
                assert_eq!(numbering.first_bit(2), bit - number as u16);
            }
            let all: Vec<_> = numbering.lanes_of(PortRow(7)).collect();
            assert_eq!(all.len(), rows as usize);
            assert_eq!(all[0], numbering.first_beside(all[all.len() - 1]));
        }
    }

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
