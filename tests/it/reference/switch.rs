//! One switch: queues of the inputs, packets on their way through.
//!
//! Model rules 2 (holding), 3 and D1 (request time), 4 (no underrun), D2 (crossbar delay), D4 (queues).
//! Inputs are in `input`, the matching itself is in `arbitration`, the outputs are in `output`, the choices of D20 in `adaptive`, and what
//! takes the place of holding and matching with D65 in `wormhole`.

use super::Setting;
use super::claims;
use super::drops::Leaving;
use super::input::{Input, new_input};
pub(super) use super::input::{Waiting, Way};
use super::link::{Link, Moving, Stored};
use super::output::Output;
use super::output_lanes::OutputLanes;
use super::own_routes;
use super::packet::{Flit, Packet, PacketId};
use super::request::Request;
use super::routing::tables_of;
use super::set_up::{self, SetUps};
use super::wormhole::{FlitLanes, Ports};
use virtlane::ids::{ChannelId, SwitchId};
use virtlane::plan::{Forwarding, Queues, SwitchOptions};
use virtlane::routing::Tables;

/// A granted packet on its way from an input to an output.
#[derive(Clone, Debug)]
struct Transfer {
    packet: PacketId,
    size: u16,
    input: usize,
    queue: usize,
    output: usize,
    lane: usize,
    granted: u64,
    /// Cycle in which its first flit crosses the channel; with output lanes the channel decides (D18).
    start: Option<u64>,
    /// D74: what its flits come late by; 0 where the channel decides.
    late: u64,
    sent: u16,
    /// Cycle from which its next flit can leave; after the last flit: in which it frees its input.
    due: u64,
}

/// A grant of this cycle, for marking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub(super) packet: PacketId,
    pub(super) output: usize,
    pub(super) lane: usize,
    /// Cycle in which it takes the channel, where D37 asks for it; without an output buffer that of the grant.
    pub(super) takes_channel: u64,
}

/// A switch.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) id: SwitchId,
    /// By port, `None` where nothing is connected.
    pub(super) inputs: Vec<Option<Input>>,
    /// By port.
    pub(super) outputs: Vec<Option<Output>>,
    transfers: Vec<Transfer>,
    /// D58: dropped packets that leave their queues.
    pub(super) drops: Vec<Leaving>,
    /// D67; none where no class sets up.
    pub(super) set_ups: Option<SetUps>,
    /// D65.
    pub(super) ports: Ports,
    /// D72.
    pub(super) claims: claims::Told,
    /// Cycle of each grant, and the time since the request.
    pub(super) waits: Vec<(u64, u64)>,
}

impl Switch {
    pub(super) fn new(setting: Setting<'_>, id: SwitchId) -> Self {
        let ports = setting.graph.ports(id);
        let input = |channel: ChannelId| new_input(setting, channel.reverse(), ports.len());
        let output = |channel: ChannelId| Output::new(setting, channel, ports.len());
        Self {
            id,
            inputs: ports.iter().map(|port| port.map(input)).collect(),
            outputs: ports.iter().map(|port| port.map(output)).collect(),
            transfers: Vec::new(),
            drops: Vec::new(),
            set_ups: SetUps::new(setting, id),
            ports: Ports::new(&setting.plan.switch, ports.len()),
            claims: claims::Told::default(),
            waits: Vec::new(),
        }
    }

    /// Granted packets leaving an input now.
    pub(super) fn leaving(&self, input: usize) -> usize {
        self.transfers.iter().filter(|t| t.input == input).count()
    }

    /// Rule 2 and D4: packets whose time is over free their input and queue.
    pub(super) fn retire(&mut self, setting: Setting<'_>, now: u64) {
        let (over, going): (Vec<Transfer>, Vec<Transfer>) = self
            .transfers
            .iter()
            .cloned()
            .partition(|transfer| transfer.sent == transfer.size && transfer.due <= now);
        self.transfers = going;
        for transfer in over {
            let output = self.outputs[transfer.output].as_mut().expect("connected");
            let length = u64::from(transfer.size) * output.cycles_per_flit;
            match &mut output.lanes {
                None => assert_eq!(now, transfer.granted + length, "a packet torn apart"),
                Some(lanes) => {
                    let packet = (transfer.packet, transfer.size);
                    lanes.release(transfer.lane, packet, transfer.granted, now);
                }
            }
            self.free_queue((transfer.input, transfer.queue), transfer.packet, now);
        }
        self.retire_dropped(setting, now);
    }

    /// D4, D58, D65: the packet that leaves a queue has left it, and the next one becomes head in a cycle.
    pub(super) fn free_queue(
        &mut self,
        (input, queue): (usize, usize),
        packet: PacketId,
        head_since: u64,
    ) {
        let input = self.inputs[input].as_mut().expect("connected");
        let queue = &mut input.queues[queue];
        assert!(queue.leaving);
        assert_eq!(queue.packets.remove(0).packet, packet);
        queue.leaving = false;
        queue.head_since = head_since;
    }

    /// A header arrives at `input`: it is queued, and routed by tables when it has some (D83: one of VL15 always); or it will be
    /// directed (D67), or choose its queue (D75), or come to stand in several (D84).
    pub(super) fn arrive(
        &mut self,
        setting: Setting<'_>,
        links: &[Link],
        packet: &Packet,
        input: usize,
        stored: Stored,
    ) {
        let options = &setting.plan.switch;
        if set_up::directed(setting, packet).is_some() {
            let connected = self.inputs[input].as_ref().expect("connected");
            // all channels have one pace
            let pace = links[connected.channel].cycles_per_flit;
            let ready = stored.since + ready_after(options, packet.size, pace, pace);
            let packet = (stored.flit.packet, stored.lane);
            self.expect(input, packet, (stored.since, ready));
            return;
        }
        let ways = match tables_of(setting, packet) {
            Some(tables) => vec![match own_routes::of_packet(setting, packet) {
                Some(route) => self.way_of_route(setting, tables, (packet, route), input),
                None => self.table_way(options, tables, packet, input),
            }],
            None => Vec::new(),
        };
        let paces = self
            .outputs
            .iter()
            .enumerate()
            .filter_map(|(index, output)| {
                let possible = ways.is_empty() || ways[0].output == index;
                Some(output.as_ref()?.cycles_per_flit).filter(|_| possible)
            });
        let s_out = paces.min().expect("an output");
        let input = self.inputs[input].as_mut().expect("connected");
        let s_in = links[input.channel].cycles_per_flit;
        let ready = stored.since + ready_after(options, packet.size, s_in, s_out);
        let stands = setting.routing.has_standing(options);
        let queue = match (options.queues, &ways[..]) {
            (Queues::Fifo, _) => Some(stored.lane),
            (Queues::Voq, [way]) if !stands => Some(stored.lane * self.outputs.len() + way.output),
            (Queues::Voq, _) => None,
        };
        let waiting = Waiting {
            packet: stored.flit.packet,
            ways: setting.routing.early(options, ways),
            told: None,
            arrived: stored.since,
            ready,
            claim: None,
        };
        match queue {
            Some(queue) => input.queues[queue].enter(waiting, stored.since),
            None => input.undecided.push((stored.lane, waiting)),
        }
    }

    /// Output and lane of a packet that comes in over `input`, by tables.
    pub(super) fn table_way(
        &self,
        options: &SwitchOptions,
        tables: &Tables,
        packet: &Packet,
        input: usize,
    ) -> Way {
        let from = ChannelId::from(self.inputs[input].as_ref().expect("connected").channel);
        let row = tables.row(from, self.id);
        let port = tables.next_port(row, packet.destination);
        let output = usize::from(port.expect("a route")) - 1;
        let to = ChannelId::from(self.outputs[output].as_ref().expect("connected").channel);
        let lane = if packet.management {
            usize::from(options.lanes)
        } else {
            let layer = packet.layer + tables.hop_layer(row, packet.destination);
            tables.lanes.lane(from, to, packet.sl, layer).index()
        };
        assert!(lane < usize::from(options.lane_count()));
        Way {
            output,
            lane,
            escape: false,
        }
    }

    /// D66: output and lane of a packet with a route that comes in over `input`.
    fn way_of_route(
        &self,
        setting: Setting<'_>,
        tables: &Tables,
        (packet, route): (&Packet, &[ChannelId]),
        input: usize,
    ) -> Way {
        let from = ChannelId::from(self.inputs[input].as_ref().expect("connected").channel);
        let to = own_routes::next(route, from);
        let mut outputs = self.outputs.iter();
        let is_next = |output: &Output| output.channel == to.index();
        let output = outputs.position(|output| output.as_ref().is_some_and(is_next));
        Way {
            output: output.expect("D66: a channel of this switch"),
            lane: if packet.management {
                usize::from(setting.plan.switch.lanes)
            } else {
                own_routes::lane(tables, (from, to), packet.sl)
            },
            escape: false,
        }
    }

    /// The head of a queue is granted an output it requests now; all its other requests are withdrawn (D20).
    pub(super) fn grant(
        &mut self,
        options: &SwitchOptions,
        links: &mut [Link],
        packets: &[Packet],
        request: &Request,
        now: u64,
    ) -> Grant {
        let input = self.inputs[request.input].as_mut().expect("connected");
        input.settle(request.packet, request.queue, request.way.output);
        let from = &mut input.queues[request.queue];
        let (head, since) = from.request(now).expect("a head is granted once");
        let (packet, way, claim) = (head.packet, request.way, head.claim);
        assert!(head.ways.contains(&way), "only requests are granted");
        from.leaving = true;
        self.waits.push((now, now - since));
        if let Some(claim) = claim {
            self.end_claim(claim, way, now);
        }
        let size = packets[packet].size;
        let output = self.outputs[way.output].as_mut().expect("connected");
        assert!(output.is_open(now, options), "an output granted twice");
        let link = &mut links[output.channel];
        link.take_credits(way.lane, size);
        let late = match output.lanes {
            None => link.start(way.lane, size, now),
            Some(_) => 0,
        };
        let start = output.grant(options, way.lane, (packet, size), late, now);
        self.transfers.push(Transfer {
            packet,
            size,
            input: request.input,
            queue: request.queue,
            output: way.output,
            lane: way.lane,
            granted: now,
            start,
            late,
            sent: 0,
            due: now,
        });
        Grant {
            packet,
            output: way.output,
            lane: way.lane,
            takes_channel: match options.output_buffer {
                0 => now,
                _ => start.expect("no output lanes"),
            },
        }
    }

    /// Stage Cross: every granted packet moves the flit that is due.
    pub(super) fn cross(&mut self, options: &SwitchOptions, links: &mut [Link], now: u64) {
        for transfer in &mut self.transfers {
            let output = self.outputs[transfer.output].as_mut().expect("connected");
            let lanes = output.lanes.as_ref();
            let has_place = lanes.is_none_or(|lanes| lanes.has_place(transfer.lane));
            if transfer.sent == transfer.size || now < transfer.due || !has_place {
                continue;
            }
            let input = self.inputs[transfer.input].as_ref().expect("connected");
            let flit = Flit {
                packet: transfer.packet,
                index: transfer.sent,
            };
            check_flit(options, &links[input.channel], transfer);
            let since = links[input.channel].remove(flit, now);
            let delay = u64::from(options.routing_delay + options.allocation_delay);
            assert!(since + delay <= now, "rule 4: a flit skips the pipeline");
            if let Some(start) = transfer.start {
                links[output.channel].hand_over(Moving {
                    flit,
                    lane: transfer.lane,
                    past_crossbar: now + u64::from(options.crossbar_delay),
                    crosses: start + u64::from(transfer.sent) * output.cycles_per_flit,
                    late: transfer.late,
                });
            } else {
                let lanes = output.lanes.as_mut().expect("D18");
                lanes.store(transfer.lane, flit, transfer.granted, now);
            }
            transfer.sent += 1;
            transfer.due = now + output.cycles_per_flit;
        }
    }

    /// D18: every channel behind output lanes is granted when it is free and moves the flit that is due; the packet with the
    /// grant takes it (D37).
    pub(super) fn send(&mut self, setting: Setting<'_>, links: &mut [Link], now: u64) {
        for output in self.outputs.iter_mut().flatten() {
            let link = &mut links[output.channel];
            if let Some(lanes) = &mut output.flit_lanes
                && lanes.send(link, setting.plan.flit_bytes, now)
            {
                let largest = setting.plan.largest_packet().into();
                output.marks.take_flit(now, output.cycles_per_flit, largest);
            }
            let Some(lanes) = &mut output.lanes else {
                continue;
            };
            if let Some(size) = lanes.send(link, setting.plan.flit_bytes, now) {
                let length = u64::from(size) * output.cycles_per_flit;
                let most = output.cycles_per_flit * u64::from(setting.plan.largest_packet());
                output.marks.take(now, length, most);
            }
        }
    }

    /// D18: flits in output lanes.
    pub(super) fn buffered_flits(&self) -> impl Iterator<Item = Flit> {
        let outputs = self.outputs.iter().flatten();
        outputs.flat_map(|output| {
            let whole = output.lanes.iter().flat_map(OutputLanes::flits);
            let single = output.flit_lanes.iter().flat_map(FlitLanes::flits);
            whole.chain(single)
        })
    }
}

/// D1: from the header's arrival to the earliest request.
fn ready_after(options: &SwitchOptions, size: u16, s_in: u64, s_out: u64) -> u64 {
    let tail = u64::from(size) - 1;
    let delay = u64::from(options.routing_delay + options.allocation_delay);
    match options.forwarding {
        Forwarding::CutThrough => delay + tail * s_in.saturating_sub(s_out),
        Forwarding::StoreAndForward => delay + tail * s_in,
        Forwarding::Wormhole => options.allocation_delay.into(),
    }
}

/// Store-and-forward: the whole packet is there when its header leaves.
fn check_flit(options: &SwitchOptions, link: &Link, transfer: &Transfer) {
    if options.forwarding == Forwarding::StoreAndForward && transfer.sent == 0 {
        let stored = link.buffer.iter();
        let there = stored.filter(|s| s.flit.packet == transfer.packet).count();
        assert_eq!(there, usize::from(transfer.size), "forwarded before stored");
    }
}
