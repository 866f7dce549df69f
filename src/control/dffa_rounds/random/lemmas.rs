//! Lemmas 4.2.2 to 4.2.6 of the source on one link, in each of its rounds.

use crate::control::Payload;
use crate::control::dffa_rounds::{
    ANNOUNCE, BITS, Channel, Filler, INACTIVE, Link, Round, UPDATE, unpacked,
};

/// What a link knows of its flows.
#[derive(Clone)]
pub(super) struct Known {
    /// Who has announced a start, and no end.
    members: Vec<bool>,
    /// Who has not told its rate in this round.
    active: Vec<bool>,
    /// What they have taken in this round.
    taken: Vec<u64>,
}

impl Known {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            members: vec![false; flows],
            active: vec![false; flows],
            taken: vec![0; flows],
        }
    }

    /// A packet of a flow has visited the link: the packet, the link and its element before and after. Flows come with
    /// their weights.
    pub(super) fn follow(
        &mut self,
        flows: impl Iterator<Item = (Filler, u64)>,
        (flow, sent, left): (usize, Payload, Payload),
        (link_before, element_before): (Channel, Round),
        (link, element): (Channel, Round),
    ) {
        let [what, _, _, round, number, share] = unpacked(sent, BITS);
        let [_, _, other, ..] = unpacked(left, BITS);
        if what != ANNOUNCE && round as u16 != element.now {
            assert_eq!(other, 1, "the sender learns of another round");
            assert_eq!((link, element), (link_before, element_before));
            return;
        }
        if what == ANNOUNCE {
            assert_ne!(
                self.members[flow],
                share == 0,
                "it starts once, and ends once"
            );
            self.members[flow] = share == 0;
        }
        assert_eq!(link.round, element.now);
        // one that nobody has visited has the round 0, which may be that of an announcement, too
        let is_emptied = what == ANNOUNCE || link.round != link_before.round;
        if is_emptied {
            self.active.clone_from(&self.members);
            self.taken.fill(0);
        }
        match what {
            UPDATE => self.taken[flow] += number as u64,
            INACTIVE => {
                assert_eq!(self.taken[flow], number as u64, "4.2.2: they agree");
                self.active[flow] = false;
            }
            _ => {}
        }
        if !is_emptied {
            compare(link_before.link, link.link);
        }
        self.check(flows, &link);
    }

    fn check(&self, flows: impl Iterator<Item = (Filler, u64)>, channel: &Channel) {
        let link = channel.link;
        let (mut all, mut active, mut taken) = (0, 0, 0);
        for (flow, (sender, weight)) in flows.enumerate() {
            all += if self.members[flow] { weight } else { 0 };
            if !self.active[flow] {
                continue;
            }
            active += weight;
            taken += self.taken[flow];
            if sender.round == channel.round {
                assert!(self.taken[flow] <= sender.level * weight, "4.2.4");
                let share = link.share().expect("an active flow");
                assert!(sender.level <= share, "4.2.3: no rate is above the share");
            }
        }
        assert_eq!(channel.all, all);
        assert_eq!(link.weight, active);
        // 4.2.6 is in it, as no number is below 0
        assert_eq!(link.left, taken + link.free, "4.2.5");
    }
}

/// Within one round.
fn compare(before: Link, now: Link) {
    assert!(now.free <= before.free, "4.2.4: what is free never grows");
    if let (Some(before), Some(now)) = (before.share(), now.share()) {
        assert!(now >= before, "4.2.3: shares never fall");
    }
}
