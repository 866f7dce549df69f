//! Numbers of lanes: which belong to which port, and which bit says who requests.
//!
//! Cost: shifts and masks.

use super::mask::Span;
use super::rows::{HostRow, LaneRow, PortRow};

/// Which lanes belong to which port: every port has as many lane rows, a power of two. A *bit* says who requests an output lane:
/// it is the number of an input lane within its switch; where packets keep their lane from hop to hop
/// ([`Self::with_lanes_kept`]) that of the input, since the lane is the one requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    shift: u32,
    mask: u32,
    /// What of the number of a lane is in its bit ...
    told: u32,
    /// ... and by how many places that moves the number of the input.
    told_shift: u32,
}

impl Numbering {
    /// With room for `lanes` lanes per port, at most 32.
    pub fn new(lanes: u8) -> Self {
        let rows = u32::from(lanes).next_power_of_two();
        Self {
            shift: rows.trailing_zeros(),
            mask: rows - 1,
            told: rows - 1,
            told_shift: rows.trailing_zeros(),
        }
    }

    /// The same with one bit for each input, for switches whose packets request the output lane with the number of theirs.
    #[must_use]
    pub fn with_lanes_kept(self) -> Self {
        Self {
            told: 0,
            told_shift: 0,
            ..self
        }
    }

    /// Whether a bit does not say which lane of its input it is.
    #[inline(always)]
    pub fn has_lanes_kept(self) -> bool {
        self.told != self.mask
    }

    /// Bits of a switch with so many ports.
    pub fn bits(self, ports: usize) -> usize {
        ports << self.told_shift
    }

    /// Lane rows of a port.
    #[inline(always)]
    pub fn lanes(self) -> u32 {
        self.mask + 1
    }

    /// Lane rows of a port, as a power of two.
    #[inline(always)]
    pub fn shift(self) -> u32 {
        self.shift
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

    /// How many lanes there are from the first one of the port `first` to this one.
    #[inline(always)]
    pub fn place(self, first: PortRow, lane: LaneRow) -> u16 {
        (lane.0 - (first.0 << self.shift)) as u16
    }

    /// Bit of an input lane, `first` the first port of its switch.
    #[inline(always)]
    pub fn bit(self, first: PortRow, lane: LaneRow) -> u16 {
        ((lane.0 >> (self.shift - self.told_shift)) - (first.0 << self.told_shift)) as u16
    }

    /// The input lane of a bit that requests `lane`, `first` the first port of the switch.
    #[inline(always)]
    pub fn input_lane(self, first: PortRow, bit: u16, lane: LaneRow) -> LaneRow {
        let input = first.plus(self.input_index(bit));
        self.lane(input, self.lane_number(bit, lane))
    }

    /// Number of the input that a bit belongs to.
    #[inline(always)]
    pub fn input_index(self, bit: u16) -> u32 {
        u32::from(bit) >> self.told_shift
    }

    /// Number within its input of the lane of a bit that requests `lane`.
    #[inline(always)]
    pub fn lane_number(self, bit: u16, lane: LaneRow) -> u32 {
        u32::from(bit) & self.told | lane.0 & (self.mask ^ self.told)
    }

    /// First bit of the input with this number.
    #[inline(always)]
    pub fn first_bit(self, index: u8) -> u16 {
        u16::from(index) << self.told_shift
    }

    /// Bit of a lane of the input with this number.
    pub fn bit_of(self, index: u8, lane: LaneRow) -> u16 {
        self.first_bit(index) + (lane.0 & self.told) as u16
    }

    /// All bits of the input that `bit` belongs to.
    #[inline(always)]
    pub fn beside(self, bit: u16) -> Span {
        Span::new(u32::from(bit) & !self.told, self.told)
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
                assert_eq!(bit, numbering.place(first, lane));
                assert_eq!(bit, (2 * rows + number) as u16);
                for numbering in [numbering, numbering.with_lanes_kept()] {
                    let bit = numbering.bit(first, lane);
                    let out_lane = numbering.lane(PortRow(9), number);
                    assert_eq!(numbering.input_lane(first, bit, out_lane), lane);
                    assert_eq!(numbering.input_index(bit), 2);
                    assert_eq!(numbering.lane_number(bit, out_lane), number);
                    assert!(numbering.bits(3) > usize::from(bit));
                }
                assert_eq!(numbering.first_bit(2), bit - number as u16);
            }
            let kept = numbering.with_lanes_kept();
            assert_eq!((kept.first_bit(2), kept.bits(3)), (2, 3));
            assert_eq!(kept.has_lanes_kept(), rows > 1);
            assert!(!numbering.has_lanes_kept());
            let all: Vec<_> = numbering.lanes_of(PortRow(7)).collect();
            assert_eq!(all.len(), rows as usize);
            assert_eq!(all[0], numbering.first_beside(all[all.len() - 1]));
        }
    }
}
