//! Longest wait of a packet with one lane per port and buffers of one packet: P = sum of (Q - 2)^k, latency T P.
//!
//! # Algorithm
//! At a switch of Q links a packet lets Q - 2 others pass: one from each link but its own and the one it goes to. Each of
//! them needs the buffer behind, whose packet lets Q' - 2 others pass at the next switch. So over n switches
//! (Q1 - 2) + (Q1 - 2)(Q2 - 2) + ... + (Q1 - 2)...(Qn - 2) packets go before; with equal switches this is the source's sum.
//! At a switch of two links none passes it, but the packet itself needs the buffer behind: such a switch counts as one factor of 1.
//!
//! # Deviations
//! The source has one Q for all switches, of more than two links. It counts packets ahead as if they went no further than the packet itself, and
//! as if each were served in one packet time T: a tree with one receiver takes longer, so this is an estimate of the
//! worst case, not a bound of every fabric.
//!
//! References: [`REINEMO`](crate::references::REINEMO) (4.1), (4.2); [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) (3.1)

/// Packets that may go before one on its way through switches with these numbers of links, first switch first; the largest
/// number there is when it is larger.
///
/// # Examples
/// ```
/// use virtlane::qos::worst_case::{latency, packets_ahead};
///
/// assert_eq!(packets_ahead([4; 3]), 14);
/// assert_eq!(packets_ahead([10; 3]), 584);
/// assert_eq!(latency(32, packets_ahead([10; 4])), 149_760);
/// ```
pub fn packets_ahead(links: impl IntoIterator<Item = u64, IntoIter: DoubleEndedIterator>) -> u128 {
    let switches = links.into_iter().rev();
    switches.fold(0, |behind, links| with_switch(links, behind))
}

/// As [`packets_ahead`], over one switch more in front: `behind` is that of the switches behind it.
pub fn with_switch(links: u64, behind: u128) -> u128 {
    let others = u128::from(links.saturating_sub(2));
    others.max(1).saturating_mul(behind).saturating_add(others)
}

/// What so many packets take \[cycles\], `transmission` \[cycles\] each; the largest number there is when it is larger.
pub fn latency(transmission: u64, packets: u128) -> u128 {
    packets.saturating_mul(u128::from(transmission))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed 000, A-01: (4.1), (4.2) and the table derived from them.
    #[test]
    fn the_published_values_come_out() {
        assert_eq!(packets_ahead([4; 3]), 14);
        let table = [
            (8, 256),
            (72, 2304),
            (584, 18688),
            (4680, 149_760),
            (37448, 1_198_336),
        ];
        for (switches, (packets, cycles)) in (1..).zip(table) {
            let found = packets_ahead(vec![10; switches]);
            assert_eq!(
                (found, latency(32, found)),
                (packets, cycles),
                "{switches} switches"
            );
        }
    }

    #[test]
    fn switches_differ_and_nothing_overflows() {
        // 3 at the first, each lets 5 pass at the second
        assert_eq!(packets_ahead([5, 7]), 3 + 15);
        assert_eq!(packets_ahead([7, 5]), 5 + 15);
        assert_eq!(packets_ahead([2, 9]), 7, "7 others at the second");
        assert_eq!(packets_ahead([2, 3, 2]), 1);
        assert_eq!(packets_ahead([9, 2, 5]), 7 + 7 * 3);
        assert_eq!(packets_ahead([2, 2]), 0);
        assert_eq!(packets_ahead([1]), 0);
        assert_eq!(packets_ahead([]), 0);
        assert_eq!(latency(2, packets_ahead(vec![256; 1000])), u128::MAX);
    }
}
