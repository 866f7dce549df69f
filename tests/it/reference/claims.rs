//! Heads that have waited for long claim what they request (D72), and how long heads wait.

use super::input::{Waiting, Way};
use super::legacy_tables::Size;
use super::link::Link;
use super::packet::Packet;
use super::request::{Request, places_left};
use super::switch::{Grant, Switch};
use super::{Fabric, Routing, Setting, wormhole};
use virtlane::ids::ChannelId;
use virtlane::plan::{BufferSharing, InputSpeedup, SwitchOptions};

/// What a head claims.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// Claim cycle.
    pub(super) made: u64,
    pub(super) way: Way,
}

impl Claim {
    /// For the first escape candidate of a head, or the first one.
    fn of(head: &Waiting, made: u64) -> Self {
        let mut ways = head.ways.iter();
        let way = *ways.find(|way| way.escape).unwrap_or(&head.ways[0]);
        Self { made, way }
    }
}

/// From the claim cycle to the grant, if there was one.
type Life = (u64, Option<u64>);

/// What became of the claims of a switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// Claims that have ended.
    ended: Vec<Life>,
    met: Met,
}

/// What was met in walks, and behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Met {
    /// Claims for what another one bars.
    pub(crate) barred: u64,
    /// Claims without the credits, or the room in an output lane.
    pub(crate) without_room: u64,
    /// Claims for an output that is taken, or of an input whose places are.
    pub(crate) behind: u64,
    /// Claims that wait for their output or their place.
    pub(crate) kept: u64,
    /// Claims granted in a walk.
    pub(crate) granted: u64,
    /// Claimants granted in a round: for another candidate (D20).
    pub(crate) elsewhere: u64,
}

/// What is counted of claims, and of the heads that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClaimCounts {
    /// Heads that became claimants, since cycle 0.
    pub(crate) made: u64,
    /// All claims, in no order that matters.
    pub(crate) lives: Vec<Life>,
    pub(crate) met: Met,
    /// The longest time from request to grant of heads granted in the measurement, or standing at its end \[cycles\].
    pub(crate) longest_wait: u64,
}

/// What the walk of a cycle leaves for the rounds.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// (output, lane).
    barred: Vec<(usize, usize)>,
    /// Output and input of each claim that has taken them, and whether it was granted.
    taken: Vec<(usize, usize, bool)>,
    pub(super) grants: Vec<Grant>,
}

impl Walked {
    /// Whether requests for this are kept back.
    pub(super) fn is_barred(&self, way: Way) -> bool {
        self.barred.contains(&(way.output, way.lane))
    }

    /// Whether a claim has taken an output.
    pub(super) fn is_taken(&self, output: usize) -> bool {
        self.taken.iter().any(|taken| taken.0 == output)
    }

    /// Places of an input that claims have taken.
    fn places(&self, input: usize) -> usize {
        self.taken.iter().filter(|taken| taken.1 == input).count()
    }

    /// The same, of claims that were not granted.
    pub(super) fn places_kept(&self, input: usize) -> usize {
        let taken = self.taken.iter();
        taken.filter(|taken| taken.1 == input && !taken.2).count()
    }

    /// Bars a way; with a pool behind the output all of its lanes.
    fn bar(&mut self, options: &SwitchOptions, way: Way) {
        let lanes = match options.sharing {
            BufferSharing::PerLane => way.lane..way.lane + 1,
            BufferSharing::PortPool => 0..options.lane_count().into(),
        };
        self.barred.extend(lanes.map(|lane| (way.output, lane)));
    }
}

/// Asserts that nothing is there that D72 does not go with.
pub(super) fn check_plan(setting: Setting<'_>) {
    let (plan, options) = (setting.plan, &setting.plan.switch);
    let Some(every) = options.allocation.claims else {
        return;
    };
    assert!(every > 0, "D72: looks");
    assert!(!wormhole::is_on(plan), "D72: wormhole switching");
    assert_eq!(options.vl_arbitration, None, "D72: VL tables");
    assert!(!options.management_lane, "D72: VL15");
    let lane = options.output_lane_buffer;
    assert!(
        lane == 0 || lane >= plan.largest_packet().into(),
        "D72: small output lanes"
    );
}

/// Before the first round of a cycle: the claims of a switch in their order.
pub(super) fn walk(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    now: u64,
) -> Walked {
    let options = &setting.plan.switch;
    let mut walked = Walked::default();
    let inputs = 0..switch.inputs.len();
    let places = inputs.map(|input| places_left(options, switch, &walked, input));
    let places: Vec<Option<usize>> = places.collect();
    for (_, input, queue) in claims(switch, now) {
        let (request, way) = claimed(setting, switch, links, packets, (input, queue), now);
        let output = switch.outputs[way.output].as_ref().expect("connected");
        let is_free = output.is_open(now, options);
        let met = &mut switch.claims.met;
        if walked.is_barred(way) {
            met.barred += 1;
            continue;
        }
        walked.bar(options, way);
        if !request.fits {
            met.without_room += 1;
            continue;
        }
        let taken = walked.places(input);
        let all = match options.input_speedup {
            InputSpeedup::Unlimited => None,
            InputSpeedup::Limited(places) => Some(usize::from(places)),
        };
        if walked.is_taken(way.output) || all == Some(taken) {
            met.behind += 1;
            continue;
        }
        let is_granted = is_free && places[input].is_none_or(|left| left > taken);
        walked.taken.push((way.output, input, is_granted));
        if is_granted {
            met.granted += 1;
            let grant = switch.grant(options, links, packets, &request, now);
            walked.grants.push(grant);
        } else {
            met.kept += 1;
        }
    }
    walked
}

/// Claim cycle, input and queue of all claims of a switch, in their order; queues are by lane, then output.
fn claims(switch: &Switch, now: u64) -> Vec<(u64, usize, usize)> {
    let mut all = Vec::new();
    for (index, input) in switch.inputs.iter().enumerate() {
        let queues = input.iter().flat_map(|input| &input.queues);
        for (number, queue) in queues.enumerate() {
            if let Some((head, _)) = queue.request(now)
                && let Some(claim) = head.claim
            {
                all.push((claim.made, index, number));
            }
        }
    }
    all.sort_unstable();
    all
}

/// The request that a head claims.
fn claimed(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    packets: &[Packet],
    (input, queue_index): (usize, usize),
    now: u64,
) -> (Request, Way) {
    let queue = &switch.inputs[input].as_ref().expect("connected").queues[queue_index];
    let (head, requested) = queue.request(now).expect("a claimant requests");
    let way = head.claim.expect("a claimant").way;
    let packet = &packets[head.packet];
    let output = switch.outputs[way.output].as_ref().expect("connected");
    let fits = links[output.channel].fits(way.lane, packet.size);
    let request = Request {
        input,
        queue: queue_index,
        packet: head.packet,
        way,
        input_lane: queue.lane,
        size: Size::new(packet.size, setting.plan.flit_bytes),
        requested,
        created: packet.created,
        fits: has_room_when_free(setting, output.channel)
            || fits && output.takes(way.lane, packet.size),
        // nobody chooses
        preference: (false, 0),
    };
    (request, way)
}

/// Whether a channel leads to a host that has room whenever the channel is free.
fn has_room_when_free(setting: Setting<'_>, channel: usize) -> bool {
    let (plan, options) = (setting.plan, &setting.plan.switch);
    let channel = ChannelId(channel as u32);
    let ends = setting.graph.channel(channel);
    let back = setting.graph.channel(channel.reverse()).timing.latency;
    let credit_latency = options.credit_latency.unwrap_or(back);
    let round_trip = ends.timing.latency + options.crossbar_delay + credit_latency;
    let has_buffers = options.output_buffer > 0 || options.output_lane_buffer > 0;
    let sink_waits = plan.host.sink_cycles_per_flit.is_some() || plan.bounded().count() > 0;
    ends.to.host().is_some()
        && matches!(setting.routing, Routing::Tables(_))
        && options.drop.is_none()
        && !has_buffers
        && !sink_waits
        && u32::from(plan.largest_packet()) + (round_trip - 1) / ends.timing.cycles_per_flit
            <= options.lane_capacity
}

impl Switch {
    /// A claimant is granted.
    pub(super) fn end_claim(&mut self, claim: Claim, way: Way, now: u64) {
        assert!(claim.made <= now, "a claim of later");
        self.claims.ended.push((claim.made, Some(now)));
        self.claims.met.elsewhere += u64::from(claim.way != way);
    }

    /// Heads that claim something.
    fn claimants(&self) -> impl Iterator<Item = Claim> {
        let queues = self.inputs.iter().flatten().flat_map(|input| &input.queues);
        let heads = queues.filter(|queue| !queue.leaving);
        heads.filter_map(|queue| queue.packets.first()?.claim)
    }
}

impl Fabric<'_> {
    /// Before every stage of a cycle: the looks at heads that have waited.
    pub(super) fn look_for_claims(&mut self, now: u64) {
        let Some(every) = self.setting.plan.switch.allocation.claims else {
            return;
        };
        if now == 0 || !now.is_multiple_of(every) {
            return;
        }
        let switches = self.switches.iter_mut();
        let inputs = switches.flat_map(|switch| switch.inputs.iter_mut().flatten());
        for queue in inputs.flat_map(|input| &mut input.queues) {
            // as the last stage of the cycle before has left it
            let Some((_, requested)) = queue.request(now - 1) else {
                continue;
            };
            let head = &mut queue.packets[0];
            if requested + every < now && head.claim.is_none() {
                head.claim = Some(Claim::of(head, now));
            }
        }
    }

    /// At the end of a measurement: how long heads have stood.
    pub(super) fn count_standing(&mut self, now: u64) {
        let phases = &self.setting.plan.phases;
        let end = phases.warmup + phases.measure;
        if now + 1 != end {
            return;
        }
        let switches = self.switches.iter();
        let inputs = switches.flat_map(|switch| switch.inputs.iter().flatten());
        let requests = inputs.flat_map(|input| input.requesting(now));
        self.standing = requests.map(|head| end - head.since).max().unwrap_or(0);
    }

    /// What was counted.
    pub(super) fn claim_counts(&self) -> ClaimCounts {
        let phases = &self.setting.plan.phases;
        let window = phases.warmup..phases.warmup + phases.measure;
        let mut counts = ClaimCounts::default();
        for switch in &self.switches {
            counts.lives.extend(&switch.claims.ended);
            let going = switch.claimants().map(|claim| (claim.made, None));
            counts.lives.extend(going);
            let (sum, met) = (&mut counts.met, switch.claims.met);
            sum.barred += met.barred;
            sum.without_room += met.without_room;
            sum.behind += met.behind;
            sum.kept += met.kept;
            sum.granted += met.granted;
            sum.elsewhere += met.elsewhere;
        }
        counts.made = counts.lives.len() as u64;
        let switches = self.switches.iter();
        let waits = switches.flat_map(|switch| &switch.waits);
        let waits = waits.filter(|(granted, _)| window.contains(granted));
        let longest = waits.map(|(_, wait)| *wait).max().unwrap_or(0);
        counts.longest_wait = longest.max(self.standing);
        counts
    }
}
