//! Which flows may begin: rounds of admission (D53), an act between two cycles, with meters (D55) and loads (D56).

use super::link::Link;
use super::packet::Packet;
use super::{Fabric, Routing, Setting};
use virtlane::admission::Arrived;
use virtlane::admission::{self, DeskState, Loads, Meter, Request, Shown};
use virtlane::plan::AdmissionPlan;

/// What is counted of admission, since cycle 0.
#[derive(PartialEq, Eq, Clone, Debug, Default)]
pub(crate) struct AdmissionCounts {
    /// Rounds.
    pub(crate) rounds: u64,
    /// By class: requests.
    pub(crate) requests: Vec<u64>,
    /// By class: flows admitted.
    pub(crate) admitted: Vec<u64>,
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
    /// Flows admitted in each round so far.
    rounds: Vec<u64>,
    /// By class: requests and flows admitted.
    classes: Vec<(u64, u64)>,
}

impl<'a> Admission<'a> {
    /// Before cycle 0; `None` where no class asks.
    pub(super) fn new(setting: Setting<'a>) -> Option<Self> {
        let plan = setting.plan;
        if plan.classes.iter().all(|class| class.requests.is_none()) {
            return None;
        }
        let Routing::Tables(tables) = setting.routing else {
            panic!("D53: tables only");
        };
        let asks = |flow: &&virtlane::plan::FlowPlan| {
            let class = &plan.classes[usize::from(flow.class)];
            class.requests.is_some()
        };
        for flow in plan.flows.iter().filter(asks) {
            assert_eq!((flow.phase, flow.stop), (None, None), "D53");
            assert!(flow.changes.is_empty(), "D53");
        }
        let requests = plan.admission_requests(setting.graph, tables);
        assert_eq!(requests.len(), plan.flows.iter().filter(asks).count());
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
            rounds: Vec::new(),
            classes: vec![(0, 0); plan.classes.len()],
        })
    }

    /// Whether there is a round in this cycle.
    fn is_due(&self, now: u64) -> bool {
        let AdmissionPlan {
            first,
            gap,
            empty,
            most,
            ..
        } = *self.plan;
        let done = self.rounds.len();
        let last = self.rounds.iter().rev();
        let in_vain = last.take_while(|&&admitted| admitted == 0).count();
        let is_over = in_vain >= empty as usize || done >= most as usize;
        !is_over && now == first + done as u64 * gap
    }

    /// The answer to a request for a flow.
    fn ask(&mut self, flow: usize, now: u64, flits: Option<&[Vec<u64>]>, host: usize) -> bool {
        let mut requests = self.requests.iter();
        let request = requests.find(|request| request.flow as usize == flow);
        let request = request.expect("a flow that asks");
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
        let is_admitted = self.plan.control.ask(&mut self.desk, request, shown);
        let counts = &mut self.classes[usize::from(request.class)];
        counts.0 += 1;
        counts.1 += u64::from(is_admitted);
        is_admitted
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
        AdmissionCounts {
            rounds: self.rounds.len() as u64,
            requests: self.classes.iter().map(|class| class.0).collect(),
            admitted: self.classes.iter().map(|class| class.1).collect(),
        }
    }
}

impl Fabric<'_> {
    /// Before every stage of a cycle: the round that is due.
    pub(super) fn admit(&mut self, now: u64) {
        let setting = self.setting;
        let Some(admission) = &mut self.admission else {
            return;
        };
        if !admission.is_due(now) {
            return;
        }
        let loads = admission.loads(setting, &self.links, now);
        let mut admitted = 0;
        for host in &mut self.hosts {
            for (class, plan) in setting.plan.classes.iter().enumerate() {
                if plan.requests.is_none() {
                    continue;
                }
                let Some(flow) = host.asks_for(setting, class) else {
                    continue;
                };
                let destination = setting.plan.flows[flow].destination.index();
                if admission.ask(flow, now, loads.as_deref(), destination) {
                    host.admit(setting, flow, now);
                    admitted += 1;
                }
            }
        }
        admission.rounds.push(admitted);
    }

    /// Stage Notify: the meters (D55).
    pub(super) fn measure(&mut self, now: u64) {
        let Some(admission) = &mut self.admission else {
            return;
        };
        for packet in &self.packets {
            let class = &self.setting.plan.classes[usize::from(packet.class)];
            if packet.delivered == Some(now) && class.requests.is_some() {
                admission.tell(packet, now);
            }
        }
    }

    /// What was counted; nothing where no class asks.
    pub(super) fn admission_counts(&self) -> AdmissionCounts {
        let admission = self.admission.as_ref();
        admission.map_or_else(AdmissionCounts::default, Admission::counts)
    }
}
