//! Which flows may begin: rounds of admission (D53), an act between two cycles, in which flows that are over are released, with meters (D55), loads (D56) and trials
//! (D59), and decisions that take time (D61); what is counted of flows that their own senders begin (D60).

use super::levels::level;
use super::link::Link;
use super::packet::Packet;
use super::trials::{Trials, Tried};
use super::{Fabric, Routing, Setting};
use std::collections::BTreeMap;
use virtlane::admission::Arrived;
use virtlane::admission::{self, DeskState, Loads, Meter, Request, Shown};
use virtlane::plan::{AdmissionPlan, FlowPlan, Plan};

/// What is counted of admission, since cycle 0.
#[derive(PartialEq, Eq, Clone, Debug, Default)]
pub(crate) struct AdmissionCounts {
    /// Rounds.
    pub(crate) rounds: u64,
    /// Flows released.
    pub(crate) released: u64,
    /// By class: requests.
    pub(crate) requests: Vec<u64>,
    /// By class: flows admitted.
    pub(crate) admitted: Vec<u64>,
    /// From the first request to the start cycle, of flows admitted: sum and most \[cycles\].
    pub(crate) waits: (u64, u64),
    /// Cycle of the act that ended the rounds.
    pub(crate) end: Option<u64>,
}

/// What is counted of flows that their own senders begin, since cycle 0.
#[derive(PartialEq, Eq, Clone, Copy, Debug, Default)]
pub(crate) struct ReservationCounts {
    /// Events that their senders logged.
    pub(crate) requests: u64,
    /// Flows begun.
    pub(crate) begun: u64,
    /// From the start cycle written to the one there is, of these: sum and most \[cycles\].
    pub(crate) waits: (u64, u64),
}

/// A round.
#[derive(Clone, Copy, Debug)]
struct Round {
    begin: u64,
    /// Cycle of the act that ended it.
    end: Option<u64>,
    /// Flows admitted so far.
    admitted: u64,
    /// Requests so far.
    asked: u64,
    /// Whether flows that were admitted before its end have a size and are not released.
    is_held: bool,
}

impl Round {
    fn is_empty(&self) -> bool {
        self.admitted == 0 && (self.asked == 0 || !self.is_held)
    }
}

/// The desk of the fabric, and the meters of its hosts.
#[derive(Debug)]
pub(super) struct Admission<'a> {
    plan: &'a AdmissionPlan,
    /// In the order of their flows.
    requests: Vec<Request>,
    desk: DeskState,
    /// By host; none if the desk does not measure.
    meters: Vec<Meter>,
    trials: Option<Trials<'a>>,
    /// Rounds so far; the last one may go on.
    rounds: Vec<Round>,
    /// By class: requests and flows admitted.
    classes: Vec<(u64, u64)>,
    /// By flow: cycle of the round in which it was first asked for.
    first_asked: BTreeMap<usize, u64>,
    /// Flows that were admitted, and whether they have been released.
    admitted: BTreeMap<usize, bool>,
    /// Of flows admitted.
    waits: Vec<u64>,
}

/// Whether the desk is asked for a flow.
fn asks(plan: &Plan, flow: &FlowPlan) -> bool {
    let class = &plan.classes[usize::from(flow.class)];
    class.requests.is_some() && !class.reserves()
}

/// What D53 and D60 say of flows that have no start cycle at first.
fn check_flows(setting: Setting<'_>) {
    let plan = setting.plan;
    for flow in &plan.flows {
        let class = &plan.classes[usize::from(flow.class)];
        let control = class.control.as_ref().map(|control| &control.algorithm);
        if let Some(algorithm) = control.filter(|algorithm| algorithm.reserves()) {
            assert!(class.requests.is_some() && algorithm.probes(), "D60");
        }
        if class.requests.is_some() {
            assert!(matches!(setting.routing, Routing::Tables(_)), "D53");
            assert_eq!((flow.phase, flow.stop), (None, None), "D53");
            assert!(flow.changes.is_empty(), "D53");
        }
    }
}

impl<'a> Admission<'a> {
    /// Before cycle 0; `None` where nobody asks a desk.
    pub(super) fn new(setting: Setting<'a>) -> Option<Self> {
        let plan = setting.plan;
        check_flows(setting);
        let mut classes = plan.classes.iter();
        if classes.all(|class| class.requests.is_none() || class.reserves()) {
            return None;
        }
        let Routing::Tables(tables) = setting.routing else {
            panic!("D53: tables only");
        };
        let requests = plan.admission_requests(setting.graph, tables);
        let flows = plan.flows.iter().filter(|flow| asks(plan, flow));
        assert_eq!(requests.len(), flows.count());
        for request in &requests {
            let own = level(plan, request.class, request.flow as usize);
            assert_eq!(request.level, own.0, "D53");
        }
        let admission = plan.admission.as_ref().expect("classes ask");
        assert!(
            admission.gap >= 1 && admission.empty >= 1 && admission.most >= 1,
            "D53"
        );
        let control = &admission.control;
        assert!(
            !control.looks_at_loads() || plan.switch.output_lane_buffer == 0,
            "D56"
        );
        let channels = setting.graph.channels().iter();
        let paces: Vec<u32> = channels.map(|c| c.timing.cycles_per_flit).collect();
        let hosts = setting.graph.host_ids();
        Some(Self {
            plan: admission,
            requests,
            desk: control.start(admission::Fabric { paces: &paces }),
            meters: hosts.filter_map(|_| control.meter()).collect(),
            trials: Trials::new(setting),
            rounds: Vec::new(),
            classes: vec![(0, 0); plan.classes.len()],
            first_asked: BTreeMap::new(),
            admitted: BTreeMap::new(),
            waits: Vec::new(),
        })
    }

    /// Whether there is a round in this cycle.
    fn is_round_due(&self, now: u64) -> bool {
        let next = match self.rounds.last() {
            None => Some(self.plan.first),
            Some(round) => round.end.map(|end| end + self.plan.gap),
        };
        next == Some(now) && self.ended().is_none()
    }

    /// The cycle of the act that ended the last of all rounds.
    fn ended(&self) -> Option<u64> {
        let AdmissionPlan { empty, most, .. } = *self.plan;
        let end = self.rounds.last()?.end?;
        let last = self.rounds.iter().rev();
        let in_vain = last.take_while(|round| round.is_empty()).count();
        let is_over = in_vain >= empty as usize || self.rounds.len() >= most as usize;
        is_over.then_some(end)
    }

    /// D59: whether there is a look in this cycle.
    fn is_look_due(&self, now: u64) -> bool {
        let (Some(trials), Some(round)) = (&self.trials, self.rounds.last()) else {
            return false;
        };
        let since = now - round.begin;
        round.end.is_none() && since > 0 && since.is_multiple_of(trials.rules.look)
    }

    /// The round that goes on.
    fn round(&mut self) -> &mut Round {
        let round = self.rounds.last_mut();
        round.filter(|round| round.end.is_none()).expect("a round")
    }

    /// The end of a round or look: the round is over unless flows are on trial.
    fn end(&mut self, flows: &[FlowPlan], now: u64) {
        let mut trials = self.trials.iter();
        if trials.all(|trials| trials.on_trial().is_empty()) {
            let mut held = self.admitted.iter();
            let is_held = held.any(|(&flow, released)| flows[flow].flits.is_some() && !released);
            let round = self.round();
            (round.end, round.is_held) = (Some(now), is_held);
        }
    }

    fn request(&self, flow: usize) -> &Request {
        let mut requests = self.requests.iter();
        let request = requests.find(|request| request.flow as usize == flow);
        request.expect("a flow that asks")
    }

    /// A request for a flow is counted; returns it if it is tried in place of being asked for.
    fn count(&mut self, class: usize, flow: usize, now: u64) -> Option<Tried> {
        self.classes[class].0 += 1;
        self.round().asked += 1;
        self.first_asked.entry(flow).or_insert(now);
        self.trials.as_ref()?.find(flow)
    }

    /// The answer to a request for a flow.
    fn ask(&mut self, flow: usize, now: u64, flits: Option<&[Vec<u64>]>, host: usize) -> bool {
        let flat: Option<Vec<u64>> = flits.map(<[Vec<u64>]>::concat);
        let shown = Shown {
            now,
            meter: self.meters.get(host),
            loads: flits.zip(flat.as_ref()).map(|(flits, flat)| Loads {
                flits: flat,
                lanes: flits[0].len(),
                cycles: self.plan.gap,
            }),
        };
        let request = self.request(flow).clone();
        self.plan.control.ask(&mut self.desk, &request, shown)
    }

    /// A flow is admitted; returns its start cycle (D61).
    fn admit(&mut self, flow: usize, now: u64) -> u64 {
        let start = now + self.plan.decision;
        let class = usize::from(self.request(flow).class);
        self.classes[class].1 += 1;
        self.waits.push(start - self.first_asked[&flow]);
        self.round().admitted += 1;
        self.admitted.insert(flow, false);
        start
    }

    /// D56: flits granted in the cycles since the round before, by channel and lane; none in the first round.
    fn loads(&self, setting: Setting<'_>, links: &[Link], now: u64) -> Option<Vec<Vec<u64>>> {
        if !self.plan.control.looks_at_loads() || self.rounds.is_empty() {
            return None;
        }
        let lanes = usize::from(setting.plan.switch.lane_count());
        let since = now - self.plan.gap;
        let of_lane = |link: &Link, lane: usize| {
            let starts = link.starts.iter();
            let mine = starts.filter(|s| s.lane == lane && (since..now).contains(&s.cycle));
            mine.map(|start| u64::from(start.size)).sum()
        };
        let of_link = |link| (0..lanes).map(|lane| of_lane(link, lane)).collect();
        Some(links.iter().map(of_link).collect())
    }

    /// D55, stage Notify: the meter of its destination is told a packet that was delivered in this cycle.
    fn tell(&mut self, packet: &Packet, now: u64) {
        let host = packet.destination;
        if let Some(meter) = self.meters.get_mut(host.index()) {
            meter.arrive(Arrived {
                now,
                created: packet.created,
                source: packet.source.0,
                host: host.0,
                class: packet.class,
                flits: packet.size,
            });
        }
    }

    fn counts(&self) -> AdmissionCounts {
        let over = self.rounds.iter().filter(|round| round.end.is_some());
        AdmissionCounts {
            rounds: over.count() as u64,
            released: self.admitted.values().filter(|released| **released).count() as u64,
            requests: self.classes.iter().map(|class| class.0).collect(),
            admitted: self.classes.iter().map(|class| class.1).collect(),
            waits: sum_and_most(&self.waits),
            end: self.ended(),
        }
    }
}

fn sum_and_most(waits: &[u64]) -> (u64, u64) {
    (waits.iter().sum(), waits.iter().max().copied().unwrap_or(0))
}

impl Fabric<'_> {
    /// Before every stage of a cycle: the round or the look that is due.
    pub(super) fn admit(&mut self, now: u64) {
        let Some(mut admission) = self.admission.take() else {
            return;
        };
        if admission.is_round_due(now) {
            self.round(&mut admission, now);
        } else if admission.is_look_due(now) {
            self.look_at_trials(&mut admission, now);
        }
        self.admission = Some(admission);
    }

    fn round(&mut self, admission: &mut Admission<'_>, now: u64) {
        let setting = self.setting;
        let loads = admission.loads(setting, &self.links, now);
        self.give_back(admission);
        admission.rounds.push(Round {
            begin: now,
            end: None,
            admitted: 0,
            asked: 0,
            is_held: false,
        });
        for host in &mut self.hosts {
            for (class, plan) in setting.plan.classes.iter().enumerate() {
                if plan.requests.is_none() || plan.reserves() {
                    continue;
                }
                let Some(flow) = host.asks_for(setting, class) else {
                    continue;
                };
                if let Some(tried) = admission.count(class, flow, now) {
                    let trials = admission.trials.as_mut().expect("it tries");
                    host.try_out(tried.probe, trials.begin(tried), now);
                    continue;
                }
                let destination = setting.plan.flows[flow].destination.index();
                if admission.ask(flow, now, loads.as_deref(), destination) {
                    host.admit(setting, flow, admission.admit(flow, now));
                }
            }
        }
        admission.end(&setting.plan.flows, now);
    }

    /// The flows that were admitted and are over since an earlier cycle give back what the desk keeps for them.
    fn give_back(&self, admission: &mut Admission<'_>) {
        let flows = &self.setting.plan.flows;
        let waiting = admission
            .admitted
            .iter()
            .filter(|(_, released)| !**released);
        let waiting: Vec<usize> = waiting.map(|(&flow, _)| flow).collect();
        for flow in waiting {
            let host = &self.hosts[flows[flow].source.index()];
            let own = self
                .packets
                .iter()
                .filter(|p| p.flow == Some(flow) && p.saying.is_none());
            let is_gone = |p: &&Packet| p.delivered.is_some() || p.dropped.is_some();
            let gone: u64 = own.filter(is_gone).map(|p| u64::from(p.size)).sum();
            // what happens in this cycle comes after its acts
            if flows[flow].flits != Some(gone + host.flits_rejected(flow)) {
                continue;
            }
            let request = admission.request(flow).clone();
            admission
                .plan
                .control
                .release(&mut admission.desk, &request);
            admission.admitted.insert(flow, true);
        }
    }

    /// D59.
    fn look_at_trials(&mut self, admission: &mut Admission<'_>, now: u64) {
        let setting = self.setting;
        let trials = admission.trials.as_ref().expect("it tries");
        for tried in trials.on_trial() {
            let source = setting.plan.flows[tried.flow].source;
            let host = &mut self.hosts[source.index()];
            let session = host.session(tried.probe).expect("on trial");
            let trials = admission.trials.as_mut().expect("it tries");
            let Some(heard) = trials.end(tried, session, now) else {
                continue;
            };
            let request = admission.request(tried.flow).clone();
            let control = &admission.plan.control;
            if control.judge(&mut admission.desk, &request, heard) {
                host.admit(setting, tried.flow, admission.admit(tried.flow, now));
            }
        }
        admission.end(&setting.plan.flows, now);
    }

    /// Stage Notify: the meters (D55), and the counters of probe packets (D59).
    pub(super) fn measure(&mut self, now: u64) {
        let Some(admission) = &mut self.admission else {
            return;
        };
        for packet in &self.packets {
            if packet.delivered != Some(now) {
                continue;
            }
            let class = &self.setting.plan.classes[usize::from(packet.class)];
            if class.requests.is_some() {
                admission.tell(packet, now);
            }
            if let Some(trials) = &mut admission.trials {
                trials.hear(packet, now);
            }
        }
    }

    /// What was counted; nothing where no class asks.
    pub(super) fn admission_counts(&self) -> AdmissionCounts {
        let admission = self.admission.as_ref();
        admission.map_or_else(AdmissionCounts::default, Admission::counts)
    }

    /// D60, D67.
    pub(super) fn reservation_counts(&self) -> ReservationCounts {
        let plan = self.setting.plan;
        let (mut requests, mut waits) = (0, Vec::new());
        for host in &self.hosts {
            for (flow, start, logged, _) in host.control().0.started_and_logged() {
                let flow = &plan.flows[flow];
                if plan.classes[usize::from(flow.class)].begins() {
                    requests += logged;
                    waits.extend(start.map(|start| start - flow.start));
                }
            }
        }
        ReservationCounts {
            requests,
            begun: waits.len() as u64,
            waits: sum_and_most(&waits),
        }
    }
}
