//! Stage Notify: receivers, elements of hosts, then senders (D40, D41, D47, D68).

use super::Fabric;
use super::packet::{Saying, Says};
use virtlane::ids::HostId;

impl Fabric<'_> {
    /// Receivers, then senders.
    pub(super) fn notify(&mut self, now: u64) {
        let mut classes = self.setting.plan.classes.iter();
        if classes.all(|class| class.control.is_none()) {
            return;
        }
        for packet in &self.packets {
            if packet.delivered == Some(now) {
                self.hosts[packet.destination.index()].receive(self.setting, packet, now);
            }
        }
        let delivered: Vec<Saying> = self
            .control_packets()
            .into_iter()
            .filter(|(_, delivered)| *delivered == Some(now))
            .map(|(saying, _)| saying)
            .collect();
        let elements = &mut self.agents.elements;
        self.networks.hear_at_hosts(self.setting, elements, now);
        for class in 0..self.setting.plan.classes.len() {
            for &saying in &delivered {
                if usize::from(self.setting.plan.flows[saying.flow].class) == class {
                    self.tell_element(saying, saying.ends(self.setting).1, now);
                }
            }
        }
        for &saying in &delivered {
            let (_, to) = saying.ends(self.setting);
            self.hosts[to.index()].receive_control(self.setting, saying, now);
        }
        for host in &mut self.hosts {
            host.notify(self.setting, &self.packets, &delivered, now);
        }
        for host in &mut self.hosts {
            for said in self.agents.elements.tell(self.setting, host.id) {
                host.tell(self.setting, said, now);
            }
        }
    }

    /// D68: a control packet was delivered at a host; of a probe its element is told.
    fn tell_element(&mut self, saying: Saying, host: HostId, now: u64) {
        let Says::Probe(payload) = saying.says else {
            return;
        };
        let class = usize::from(self.setting.plan.flows[saying.flow].class);
        let elements = &mut self.agents.elements;
        let word = elements.arrive(self.setting, (class, host), payload, now);
        if let Some(word) = word {
            self.networks.want_broadcast((class, host), word);
        }
    }

    /// All answers, replies and probes in band and out of band, and when they were delivered: answers with the last of
    /// their packets (D45).
    pub(super) fn control_packets(&self) -> Vec<(Saying, Option<u64>)> {
        let packets = self.packets.iter();
        let in_band = packets.filter_map(|packet| Some((packet.saying?, packet.delivered)));
        let in_band: Vec<(Saying, Option<u64>)> = in_band.collect();
        let is_same = |one: &(Saying, Option<u64>), next: &(Saying, Option<u64>)| {
            matches!(one.0.says, Says::Answer(_)) && one.0 == next.0
        };
        let whole = in_band.chunk_by(is_same).map(|own| {
            let delivered: Option<Vec<u64>> = own.iter().map(|packet| packet.1).collect();
            (
                own[0].0,
                delivered.and_then(|cycles| cycles.into_iter().max()),
            )
        });
        let beside = self.networks.all.iter();
        let beside = beside.map(|carried| (carried.saying, carried.delivered));
        whole.chain(beside).collect()
    }
}
