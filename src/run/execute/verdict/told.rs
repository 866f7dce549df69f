//! A measurement in words: loads, growth, channels.

use super::shares::CLEARLY_LESS;
use super::window::{FULL_CHANNEL, Window, of_present};
use crate::ids::{ChannelId, HostId};
use std::collections::BTreeSet;

impl Window<'_> {
    /// `S3 port 2 to H17`.
    pub(super) fn channel_name(&self, channel: ChannelId) -> String {
        let ends = self.graph.channel(channel);
        let [from, to] = [ends.from, ends.to].map(|end| self.graph.endpoint_name(end));
        format!("{from} to {to}")
    }

    /// Accepted and offered load, growth, and the busiest channel, in words.
    pub(super) fn loads(&self) -> String {
        let classes = 0..self.plan().classes.len() as u16;
        let hosts = classes.flat_map(|class| self.plan().senders(class));
        let hosts: BTreeSet<HostId> = hosts.collect();
        let rate = |host| 1.0 / self.cycles_per_flit(self.graph.host_channel(host));
        let capacity = hosts.into_iter().map(rate).sum::<f64>() * self.cycles() as f64;
        let (created, delivered) = self.flits();
        let dropped = self.dropped();
        let percent = |flits: f64| flits / created.max(1.0) * 100.0;
        let rejected = self.lost() - dropped;
        let growth = percent(created - delivered - dropped - rejected);
        let told = [(dropped, "dropped"), (rejected, "rejected")];
        let told = told.iter().filter(|(flits, _)| *flits > 0.0);
        let told = told.map(|(flits, how)| format!(", {:.2} % of them {how}", percent(*flits)));
        let lost = told.collect::<String>();
        let [accepted, offered] = [delivered, created].map(|flits| flits / capacity.max(1.0));
        let busiest = self.busiest(self.graph.channel_ids());
        let busiest = busiest.map_or_else(String::new, |(channel, utilisation)| {
            let name = self.channel_name(channel);
            format!(", busiest channel {name} at {utilisation:.3}")
        });
        format!(
            "accepted {accepted:.3} of {offered:.3} offered, {}{lost}{busiest}",
            of_present(growth)
        )
    }

    /// How far accepted load is below offered load, where that is more than a little and the packets at the edges; in words.
    pub(super) fn falls_short(&self) -> Option<String> {
        let (missing, (created, _)) = (self.missing(), self.flits());
        let is_short = missing > CLEARLY_LESS && missing * created > 2.0 * self.size;
        let percent = missing * 100.0;
        is_short.then(|| format!("accepted load is {percent:.1} % below offered load"))
    }

    /// The channel that was busy for most of the time, where it was full, in words.
    pub(super) fn full(&self) -> Option<String> {
        let (channel, part) = self.busiest(self.graph.channel_ids())?;
        let name = self.channel_name(channel);
        (part >= FULL_CHANNEL).then(|| format!("channel {name} carries {part:.3} of what it can"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::of_present;

    #[test]
    fn what_becomes_less_shrinks() {
        for (percent, words) in [
            (2.14, "grow by 2.1 %"),
            (0.0, "grow by 0.0 %"),
            (-0.04, "grow by 0.0 %"),
            (-0.06, "shrink by 0.1 %"),
            (-28.2, "shrink by 28.2 %"),
        ] {
            let told = format!("flits present {words} of those created");
            assert_eq!(of_present(percent), told);
        }
    }
}
