//! Broadcasts (D68): hosts begin them, elements of switches send them on; a copy over each channel.

use super::Setting;
use super::beside::{Id, Item, Network, Networks, by_port};
use super::elements::Elements;
use virtlane::ids::{ChannelId, HostId};
use virtlane::topology::Endpoint;

/// A copy of a broadcast, over one channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// Class of the flows.
    pub(super) class: usize,
    word: u32,
    /// Cycle in which the element at the far end of the channel has heard it.
    pub(super) heard: Option<u64>,
}

impl Networks {
    /// The element of a class at a host wants a broadcast in this cycle.
    pub(super) fn want_broadcast(&mut self, (class, host): (usize, HostId), word: u32) {
        self.of_class(class).wanted.push((host, word));
    }

    /// Before anything is created in a cycle: what was wanted in the last one joins the queues of the hosts' channels.
    pub(super) fn begin_broadcasts(&mut self, setting: Setting<'_>) {
        for network in &mut self.by_class {
            for (host, word) in std::mem::take(&mut network.wanted) {
                let channel = setting.graph.host_channel(host);
                network.copy(&mut self.copies, word, channel);
            }
        }
    }

    /// Stage Notify: hosts hear the copies that have come to them in this cycle.
    pub(super) fn hear_at_hosts(
        &mut self,
        setting: Setting<'_>,
        elements: &mut Elements,
        now: u64,
    ) {
        for network in &mut self.by_class {
            for (host, id) in std::mem::take(&mut network.at_hosts) {
                let place = Endpoint::Host(host);
                network.hear(setting, (&mut self.copies, elements), (id, place), now);
            }
        }
    }
}

impl Network {
    /// A new copy joins the queue of a channel.
    fn copy(&mut self, copies: &mut Vec<Copied>, word: u32, channel: ChannelId) {
        let item = Item::Copy(copies.len());
        self.servers[channel.index()].queue.push(item);
        copies.push(Copied {
            class: self.class,
            word,
            heard: None,
        });
    }

    /// A copy is heard; whether it is sent on.
    fn hear(
        &self,
        setting: Setting<'_>,
        (copies, elements): (&mut [Copied], &mut Elements),
        (id, place): (Id, Endpoint),
        now: u64,
    ) -> bool {
        assert_eq!(copies[id].heard.replace(now), None);
        elements.hear(setting, (self.class, place), copies[id].word, now)
    }

    /// The copies whose service at the input of a switch ends are heard, in the order of the inputs; of one that is sent on
    /// a copy joins the queue of each output but the one at the port that it came by.
    pub(super) fn hear_at_switches(
        &mut self,
        setting: Setting<'_>,
        copies: &mut Vec<Copied>,
        elements: &mut Elements,
        now: u64,
    ) {
        for channel in by_port(setting, |channel| channel.to) {
            let Some(Item::Copy(id)) = self.inputs[channel.index()].end(now) else {
                continue;
            };
            let input = setting.graph.channel(channel).to;
            if !self.hear(setting, (copies, elements), (id, input), now) {
                continue;
            }
            let switch = input.switch().expect("hosts have no input servers");
            for &output in setting.graph.ports(switch).iter().flatten() {
                if setting.graph.channel(output).from != input {
                    self.copy(copies, copies[id].word, output);
                }
            }
        }
    }
}
