//! A plain flit loop: wormhole switching as flit simulators do it, every port and lane visited in every cycle.
//!
//! It follows D65 of `docs/model.md` on a square mesh with links of one cycle, a routing delay of one cycle and
//! dimension-order routing, over one column per property. It counts flits that pass switches and the latency of
//! packets, nothing else.

use std::collections::VecDeque;
use virtlane::rng::{Purpose, Stream, below, stream, unit_interval};

/// Ports of a switch: two per dimension, then the one of the host.
const PORTS: usize = 5;
/// The port of the host.
const HOST: usize = 4;
/// No input lane, no output.
const NONE: u16 = u16::MAX;

/// A flit; what it knows of its packet is in it.
#[derive(Clone, Copy, Default)]
struct Flit {
    destination: u16,
    /// Flits of the packet behind it.
    left: u16,
    is_first: bool,
    /// Cycle in which the packet was made.
    created: u64,
}

/// A packet that waits at its source.
#[derive(Clone, Copy)]
struct Packet {
    destination: u16,
    created: u64,
}

/// A mesh in motion. Rows of lanes are `(switch * PORTS + port) * lanes + lane`.
pub(crate) struct FlitLoop {
    radix: usize,
    lanes: usize,
    capacity: usize,
    size: u16,
    /// Packets per host and cycle; `None` = one waits always.
    rate: Option<f64>,
    now: u64,
    // input lanes
    flits: Vec<Flit>,
    first: Vec<u8>,
    present: Vec<u8>,
    output: Vec<u16>,
    routed_at: Vec<u64>,
    input_pointer: Vec<u16>,
    // output lanes; those of hosts' own channels are after those of switches
    credits: Vec<u8>,
    holder: Vec<u16>,
    request_pointer: Vec<u16>,
    output_pointer: Vec<u16>,
    // hosts
    sources: Vec<Stream>,
    waiting: Vec<VecDeque<Packet>>,
    sending: Vec<Flit>,
    // under way: due in the next cycle
    arriving: Vec<(usize, Flit)>,
    returning: Vec<usize>,
    picks: Vec<Pick>,
    /// Flits that have passed a switch.
    pub(crate) flit_hops: u64,
    /// Packets delivered, and the sum of their latencies \[cycles\].
    pub(crate) delivered: (u64, u64),
}

/// A flit that an output of the switch would pass.
#[derive(Clone, Copy)]
struct Pick {
    output: usize,
    lane: usize,
    input: usize,
    /// Row of the input lane.
    from: usize,
}

impl FlitLoop {
    pub(crate) fn new(
        radix: usize,
        lanes: usize,
        capacity: u8,
        size: u16,
        load: Option<f64>,
    ) -> Self {
        let hosts = radix * radix;
        let rows = hosts * PORTS * lanes;
        Self {
            radix,
            lanes,
            capacity: usize::from(capacity),
            size,
            rate: load.map(|load| load / f64::from(size)),
            now: 0,
            flits: vec![Flit::default(); rows * usize::from(capacity)],
            first: vec![0; rows],
            present: vec![0; rows],
            output: vec![NONE; rows],
            routed_at: vec![0; rows],
            input_pointer: vec![0; hosts * PORTS],
            credits: vec![capacity; rows + hosts * lanes],
            holder: vec![NONE; rows],
            request_pointer: vec![0; rows],
            output_pointer: vec![0; hosts * (PORTS + 1)],
            sources: (0..hosts as u64)
                .map(|host| stream(1, Purpose::Arrivals, host))
                .collect(),
            waiting: vec![VecDeque::new(); hosts * lanes],
            sending: vec![Flit::default(); hosts * lanes],
            arriving: Vec::new(),
            returning: Vec::new(),
            picks: Vec::new(),
            flit_hops: 0,
            delivered: (0, 0),
        }
    }

    pub(crate) fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.arrive();
            for host in 0..self.radix * self.radix {
                self.make(host);
            }
            for switch in 0..self.radix * self.radix {
                self.switch(switch);
            }
            for host in 0..self.radix * self.radix {
                self.inject(host);
            }
            self.now += 1;
        }
    }

    /// Flits and credits that were sent in the last cycle.
    fn arrive(&mut self) {
        for row in self.returning.drain(..) {
            self.credits[row] += 1;
        }
        let mut arriving = std::mem::take(&mut self.arriving);
        for (row, flit) in arriving.drain(..) {
            let place =
                (usize::from(self.first[row]) + usize::from(self.present[row])) % self.capacity;
            self.flits[row * self.capacity + place] = flit;
            self.present[row] += 1;
            if flit.is_first && self.present[row] == 1 {
                self.route(row, flit, self.now + 1);
            }
        }
        self.arriving = arriving;
    }

    /// The header in front of an input lane knows its output, and requests it from `at` on.
    fn route(&mut self, row: usize, flit: Flit, at: u64) {
        let switch = row / (PORTS * self.lanes);
        let (to_x, to_y) = (
            usize::from(flit.destination) % self.radix,
            usize::from(flit.destination) / self.radix,
        );
        let (x, y) = (switch % self.radix, switch / self.radix);
        let output = match () {
            () if to_x > x => 0,
            () if to_x < x => 1,
            () if to_y > y => 2,
            () if to_y < y => 3,
            () => HOST,
        };
        self.output[row] = output as u16;
        self.routed_at[row] = at;
    }

    /// A new packet of a host.
    fn make(&mut self, host: usize) {
        let rng = &mut self.sources[host];
        let is_due = if let Some(rate) = self.rate {
            unit_interval(rng) <= rate
        } else {
            let lanes = host * self.lanes..(host + 1) * self.lanes;
            self.waiting[lanes].iter().all(VecDeque::is_empty)
        };
        if !is_due {
            return;
        }
        let hosts = (self.radix * self.radix) as u32;
        let mut destination = below(rng, hosts - 1);
        destination += u32::from(destination >= host as u32);
        let lane = below(rng, self.lanes as u32) as usize;
        self.waiting[host * self.lanes + lane].push_back(Packet {
            destination: destination as u16,
            created: self.now,
        });
    }

    /// Outputs of a switch pick a flit each, inputs accept one of them each, flits pass.
    fn switch(&mut self, switch: usize) {
        self.picks.clear();
        let mut accepted: [Option<usize>; PORTS] = [None; PORTS];
        for output in 0..PORTS {
            let Some(pick) = self.pick(switch, output) else {
                continue;
            };
            let pointer = usize::from(self.input_pointer[switch * PORTS + pick.input]);
            let turn = |output: usize| (output + PORTS - pointer) % PORTS;
            let best = &mut accepted[pick.input];
            if best.is_none_or(|rival| turn(output) < turn(self.picks[rival].output)) {
                *best = Some(self.picks.len());
            }
            self.picks.push(pick);
        }
        for number in accepted.into_iter().flatten() {
            let pick = self.picks[number];
            self.pass(switch, pick);
        }
    }

    /// The flit whose turn it is at an output: lanes in turn, in a free lane requests in turn.
    fn pick(&self, switch: usize, output: usize) -> Option<Pick> {
        let port = switch * PORTS + output;
        let pointer = usize::from(self.output_pointer[port]);
        for step in 0..self.lanes {
            let lane = (pointer + step) % self.lanes;
            let row = port * self.lanes + lane;
            if output != HOST && self.credits[row] == 0 {
                continue;
            }
            let pick = |input: usize| Pick {
                output,
                lane,
                input,
                from: (switch * PORTS + input) * self.lanes + lane,
            };
            if self.holder[row] != NONE {
                let held = pick(usize::from(self.holder[row]));
                if self.present[held.from] > 0 {
                    return Some(held);
                }
                continue;
            }
            let pointer = usize::from(self.request_pointer[row]);
            let found = (0..PORTS)
                .map(|step| pick((pointer + step) % PORTS))
                .find(|pick| self.requests(pick.from, output));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether a packet that holds no lane asks for an output.
    fn requests(&self, from: usize, output: usize) -> bool {
        usize::from(self.output[from]) == output
            && self.routed_at[from] <= self.now
            && self.front(from).is_first
    }

    /// The first flit of an input lane.
    fn front(&self, row: usize) -> Flit {
        self.flits[row * self.capacity + usize::from(self.first[row])]
    }

    /// A flit leaves its lane over an output.
    fn pass(&mut self, switch: usize, pick: Pick) {
        let Pick {
            output,
            lane,
            input,
            from,
        } = pick;
        let port = switch * PORTS + output;
        let row = port * self.lanes + lane;
        let flit = self.front(from);
        self.first[from] = ((usize::from(self.first[from]) + 1) % self.capacity) as u8;
        self.present[from] -= 1;
        if flit.is_first {
            self.holder[row] = input as u16;
            self.request_pointer[row] = ((input + 1) % PORTS) as u16;
        }
        self.input_pointer[switch * PORTS + input] = ((output + 1) % PORTS) as u16;
        self.output_pointer[port] = ((lane + 1) % self.lanes) as u16;
        self.flit_hops += 1;
        let before = self.upstream(switch, input, lane);
        self.returning.push(before);
        if flit.left == 0 {
            self.holder[row] = NONE;
            self.output[from] = NONE;
            if self.present[from] > 0 {
                self.route(from, self.front(from), self.now + 2);
            }
        }
        if output == HOST {
            if flit.left == 0 {
                self.delivered.0 += 1;
                self.delivered.1 += self.now + 1 - flit.created;
            }
            return;
        }
        self.credits[row] -= 1;
        let to = self.neighbour(switch, output) * PORTS + (output ^ 1);
        self.arriving.push((to * self.lanes + lane, flit));
    }

    fn neighbour(&self, switch: usize, port: usize) -> usize {
        match port {
            0 => switch + 1,
            1 => switch - 1,
            2 => switch + self.radix,
            _ => switch - self.radix,
        }
    }

    /// Row of the credits of an input lane.
    fn upstream(&self, switch: usize, input: usize, lane: usize) -> usize {
        let hosts = self.radix * self.radix;
        if input == HOST {
            return (hosts * PORTS + switch) * self.lanes + lane;
        }
        (self.neighbour(switch, input) * PORTS + (input ^ 1)) * self.lanes + lane
    }

    /// A host passes a flit: of a lane that a packet holds, or the first one of a waiting packet.
    fn inject(&mut self, host: usize) {
        let hosts = self.radix * self.radix;
        let pointer = usize::from(self.output_pointer[hosts * PORTS + host]);
        for step in 0..self.lanes {
            let lane = (pointer + step) % self.lanes;
            let row = host * self.lanes + lane;
            let credits = hosts * PORTS * self.lanes + row;
            if self.credits[credits] == 0 {
                continue;
            }
            let mut flit = self.sending[row];
            if flit.left == 0 {
                let Some(packet) = self.waiting[row].pop_front() else {
                    continue;
                };
                flit = Flit {
                    destination: packet.destination,
                    left: self.size,
                    is_first: true,
                    created: packet.created,
                };
            }
            flit.left -= 1;
            self.credits[credits] -= 1;
            self.output_pointer[hosts * PORTS + host] = ((lane + 1) % self.lanes) as u16;
            self.sending[row] = Flit {
                is_first: false,
                ..flit
            };
            let to = (host * PORTS + HOST) * self.lanes + lane;
            self.arriving.push((to, flit));
            return;
        }
    }
}
