//! Stage Inject of a host that passes single flits (D65), each of them a transmission (D74); VL15 goes first (D78).

use crate::reference::Setting;
use crate::reference::flows::Look;
use crate::reference::host::{First, Host};
use crate::reference::legacy_tables::Size;
use crate::reference::link::{Link, Moving};
use crate::reference::packet::{Flit, Packet, Through};

impl Host {
    /// One cycle: a free channel passes a flit of one of its ready lanes.
    pub(in crate::reference) fn inject_flit(
        &mut self,
        setting: Setting<'_>,
        links: &mut [Link],
        packets: &mut Vec<Packet>,
        now: u64,
    ) {
        if now < self.free_at {
            return;
        }
        let link = &mut links[self.outgoing];
        let look = Look {
            setting,
            packets,
            pace: link.cycles_per_flit,
            now,
        };
        let lanes = 0..self.held.len();
        // candidates of the lanes that are not held
        let firsts: Vec<Option<First>> = lanes
            .map(|lane| match self.held[lane] {
                Some(_) => None,
                None => self.first(look, lane),
            })
            .collect();
        let has_next = |lane: usize| self.held[lane].is_some() || firsts[lane].is_some();
        let ready: Vec<bool> = (0..firsts.len())
            .map(|lane| link.fits(lane, 1) && has_next(lane))
            .collect();
        let Some(choice) = self.chooser.choose(&ready) else {
            return;
        };
        let lane = choice.lane;
        let id = if let Some(id) = self.held[lane] {
            id
        } else {
            let first = firsts[lane].expect("a ready lane");
            let pace = link.cycles_per_flit;
            self.begin((setting, pace), packets, (lane, first), now)
        };
        let taken = Size::new(1, setting.plan.flit_bytes);
        self.chooser.accepted(choice, taken);
        let packet = &mut packets[id];
        let flit = Flit {
            packet: id,
            index: packet.flits_sent,
        };
        let delay = link.take_for_flit(lane, now);
        link.hand_over(Moving {
            flit,
            lane,
            past_crossbar: now,
            crosses: now,
            late: delay,
        });
        packet.flits_sent += 1;
        let is_last = packet.flits_sent == packet.size;
        self.held[lane] = (!is_last).then_some(id);
        self.free_at = now + link.cycles_per_flit + delay;
        packet.through = is_last.then_some(Through {
            known: now,
            free: self.free_at,
        });
    }
}
