//! What senders are told of the switch of their host (D51): an act between two cycles.

use super::routing::Routing;
use super::switch::Switch;
use super::{Fabric, Setting, link::Link, packet::Packet};
use virtlane::control::Looks;
use virtlane::routing::Tables;

/// A switch as the last stage of cycle `last` has left it.
#[derive(Clone, Copy, Debug)]
struct Seen<'a> {
    setting: Setting<'a>,
    tables: &'a Tables,
    switch: &'a Switch,
    links: &'a [Link],
    packets: &'a [Packet],
    looks: Looks,
    last: u64,
}

impl Seen<'_> {
    /// Whether packets wait for (output, lane), and few were granted lately.
    fn is_blocked(self, output: usize, lane: usize) -> bool {
        let Some(channel) = &self.switch.outputs[output] else {
            return false;
        };
        let first = (self.last + 1).saturating_sub(self.looks.every);
        let grants = self.links[channel.channel].starts.iter();
        let lately = grants.filter(|start| start.lane == lane && start.cycle >= first);
        let granted: u64 = lately.map(|start| u64::from(start.size)).sum();
        let waiting = self.switch.fill(self.packets, output, lane, self.last);
        waiting > 0 && granted < u64::from(self.looks.few)
    }

    /// All blocked (output, lane)s.
    fn blocked(self) -> Vec<(usize, usize)> {
        let lanes = usize::from(self.setting.plan.switch.lane_count());
        let outputs = 0..self.switch.outputs.len();
        let all = outputs.flat_map(|output| (0..lanes).map(move |lane| (output, lane)));
        all.filter(|&(output, lane)| self.is_blocked(output, lane))
            .collect()
    }
}

impl Fabric<'_> {
    /// Before every stage of a cycle: the looks that are due.
    pub(super) fn look(&mut self, now: u64) {
        let setting = self.setting;
        let options = &setting.plan.switch;
        let Routing::Tables(tables) = setting.routing else {
            return;
        };
        if now == 0 || options.output_lane_buffer > 0 {
            return;
        }
        for (class, plan) in setting.plan.classes.iter().enumerate() {
            let control = plan.control.as_ref();
            let looks = control.and_then(|control| control.algorithm.looks());
            let Some(looks) = looks.filter(|looks| now.is_multiple_of(looks.every)) else {
                continue;
            };
            for host in &mut self.hosts {
                let attachment = setting.graph.attachment(host.id);
                let (switch, port) = attachment.expect("a switch");
                let seen = Seen {
                    setting,
                    tables,
                    switch: &self.switches[switch.index()],
                    links: &self.links,
                    packets: &self.packets,
                    looks,
                    last: now - 1,
                };
                let blocked = seen.blocked();
                let is_blocked = |packet: &Packet| {
                    let input = usize::from(port) - 1;
                    let way = seen.switch.table_way(options, seen.tables, packet, input);
                    blocked.contains(&(way.output, way.lane))
                };
                host.look(setting, class, (&is_blocked, blocked.len()), now - 1);
            }
        }
    }
}
