//! Link-level retry: channels make errors in bits, and what comes with one is sent again.
//!
//! Stages: where packets start on channels: `Slot::Cross`, `Slot::Inject`, behind output lanes `Slot::Transmit`; with single flits those
//! that pass them. Only with `fabric.link.retry`
//! Reads: nothing
//! Writes: its own column
//! Cost: that of [`Retry::send`] per start
//!
//! # Rules (D74)
//! 1. What is sent again ([`Errors`]) comes late, all of it, and keeps the channel for as long. What
//!    is before the channel does not know of it.
//!
//! # Deviations
//! Hardware repeats frames or code words, not packets, and goes on sending what the far end will drop: what arrives, and
//! when the channel carries something new, is the same up to the length of a frame. Its replay buffer holds a round trip; here it
//! holds what is under way.

use crate::cycle::counts::{Count, Reduction};
use crate::cycle::joints::Sending;
use crate::cycle::look;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::view::View;
use crate::fabric::OutPort;
use crate::fabric::bit_errors::{Errors, Retry};
use crate::fabric::rows::PortRow;
use crate::ids::ChannelId;
use crate::rng::{Purpose, stream};
use bevy_ecs::world::World;

impl Persistent for Retry {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        self.keep_fixed(&built);
        if how.fork {
            self.redraw(built);
        }
    }
}

impl<const W: usize, P: RuleSet> Sending for View<'_, W, P> {
    #[inline(always)]
    fn late(&mut self, out: PortRow, flits: u16) -> u64 {
        match self.shared.errors() {
            None => 0,
            Some(errors) => transmit(self, errors, out, flits),
        }
    }

    #[inline(never)]
    fn repeat(&mut self, out_row: PortRow, flits: u16) -> u64 {
        let delay = self.late(out_row, flits);
        let out = &mut self.outs[out_row];
        if self.shared.output_buffer() == 0 {
            out.free_at += delay;
        } else {
            let channel_free = &mut self.optional.buffers[out_row].channel_free;
            *channel_free += delay;
            let ahead = u64::from(self.shared.output_buffer()) * u64::from(out.step);
            out.free_at = channel_free.saturating_sub(ahead).max(self.now + 1);
        }
        delay
    }
}

/// What a packet is late by where channels make errors: a call, so that the hop of other fabrics is no longer for it.
#[inline(never)]
fn transmit<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    errors: &Errors,
    out: PortRow,
    flits: u16,
) -> u64 {
    view.optional.retries[out].send(errors, flits, view.outs[out].step)
}

/// Link-level retry as a mechanism.
pub struct Retrying {
    /// By port.
    channels: Vec<Retry>,
}

impl Mechanism for Retrying {
    fn of(site: &Site<'_>) -> Option<Self> {
        let (errors, retry) = (site.shared.errors?, site.plan.link_retry?);
        let (graph, placement) = (site.graph, site.placement);
        let switches = placement.switch_channels(graph, site.number);
        let hosts = placement.hosts[site.number].iter();
        let channels = switches.chain(hosts.map(|&host| graph.host_channel(host)));
        let latency = |id: ChannelId| u64::from(graph.channel(id).timing.latency);
        let channel = |id: ChannelId| {
            let own = stream(site.plan.seed, Purpose::BitErrors, id.0.into());
            let trip = latency(id) + latency(id.reverse()) + u64::from(retry.delay);
            Retry::new(&errors, own, trip)
        };
        Some(Self {
            channels: channels.map(channel).collect(),
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let Self { channels } = self;
        shard.column_by::<OutPort, Retry>(move |row| channels[row].clone());
        shard.count(Count {
            name: "links.repeats",
            by: Reduction::Sum,
            value: |world, _| sum(world)[0],
        });
        shard.count(Count {
            name: "links.repeated_flits",
            by: Reduction::Sum,
            value: |world, _| sum(world)[1],
        });
    }
}

/// Repeats of all channels, and their flits.
fn sum(world: &World) -> [u64; 2] {
    let channels = look::column::<Retry>(world).iter();
    channels.fold([0, 0], |[repeats, flits], retry| {
        let own = retry.repeated();
        [repeats + own[0], flits + own[1]]
    })
}
