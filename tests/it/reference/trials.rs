//! Flows that are tried in place of being asked for (D59): who is on trial, and what was heard of the sessions.

use super::Setting;
use super::flows::{NewSession, Session};
use super::packet::Packet;
use virtlane::admission::{self, Heard, Sessions};
use virtlane::ids::SlId;
use virtlane::plan::{ClassPlan, FlowPlan, Limit, Plan};

/// A counter of probe packets.
#[derive(Clone, Debug)]
struct Counter {
    /// Number of the session whose packets count.
    expected: u64,
    /// Their network latencies.
    latencies: Vec<u64>,
}

/// A flow that is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) flow: usize,
    pub(super) probe: usize,
}

/// All trials.
#[derive(Debug)]
pub(super) struct Trials<'a> {
    setting: Setting<'a>,
    pub(super) rules: admission::Trials,
    /// All flows that are ever tried, in order.
    all: Vec<Tried>,
    /// Those whose sessions have begun, in order, again for each session.
    begun: Vec<Tried>,
    /// By place in `all`; with `Shared` the first of those that have one counter has it.
    counters: Vec<Counter>,
    /// In the order in which they were asked for.
    on_trial: Vec<Tried>,
}

impl<'a> Trials<'a> {
    /// Before cycle 0; `None` where no flow is tried.
    pub(super) fn new(setting: Setting<'a>) -> Option<Self> {
        let control = &setting.plan.admission.as_ref()?.control;
        let rules = control.trials()?;
        assert!(
            control.meter().is_none() && !control.looks_at_loads(),
            "D59"
        );
        assert!(
            rules.packets >= 1 && rules.queue >= 1 && rules.look >= 1,
            "D59"
        );
        let all = tried(setting.plan);
        check_classes(setting.plan, rules.level);
        check_flows(setting.plan, &all);
        let counter = Counter {
            expected: 1,
            latencies: Vec::new(),
        };
        Some(Self {
            setting,
            rules,
            counters: vec![counter; all.len()],
            all,
            begun: Vec::new(),
            on_trial: Vec::new(),
        })
    }

    fn plan(&self, flow: usize) -> &'a FlowPlan {
        &self.setting.plan.flows[flow]
    }

    /// The flow, if it is tried.
    pub(super) fn find(&self, flow: usize) -> Option<Tried> {
        self.all.iter().copied().find(|tried| tried.flow == flow)
    }

    /// d.
    fn mean_gap(&self, tried: Tried) -> u32 {
        let class = &self.setting.plan.classes[usize::from(self.plan(tried.flow).class)];
        let peak = class.requests.expect("a class that asks").peak;
        let at_peak = (u64::from(class.size.largest()) << 32).div_ceil(peak);
        let most = (1 << 31) - 1;
        self.rules.gap.unwrap_or(at_peak.min(most) as u32)
    }

    /// The number of the session of a flow that begins next.
    fn next_number(&self, tried: Tried) -> u64 {
        let of = |one: Tried| (self.plan(one.flow).class, self.plan(one.flow).source);
        let is_counted = |other: &&Tried| match self.rules.sessions {
            Sessions::Own => other.flow == tried.flow,
            Sessions::Shared => of(**other) == of(tried),
        };
        self.begun.iter().filter(is_counted).count() as u64 + 1
    }

    /// A flow goes on trial.
    pub(super) fn begin(&mut self, tried: Tried) -> NewSession {
        let session = NewSession {
            number: self.next_number(tried),
            packets: self.rules.packets,
            mean_gap: self.mean_gap(tried),
        };
        self.begun.push(tried);
        self.on_trial.push(tried);
        session
    }

    /// The flows on trial, in their turn.
    pub(super) fn on_trial(&self) -> Vec<Tried> {
        self.on_trial.clone()
    }

    /// The counter of a flow.
    fn counter(&mut self, tried: Tried) -> &mut Counter {
        let plan = |one: Tried| &self.setting.plan.flows[one.flow];
        let of = |one: Tried| (plan(one).destination, plan(one).class);
        let has_it = |other: &Tried| match self.rules.sessions {
            Sessions::Own => other.flow == tried.flow,
            Sessions::Shared => of(*other) == of(tried),
        };
        let place = self
            .all
            .iter()
            .position(has_it)
            .expect("a flow that is tried");
        &mut self.counters[place]
    }

    /// Stage Notify: a packet of a probe flow was delivered in this cycle.
    pub(super) fn hear(&mut self, packet: &Packet, now: u64) {
        let Some(session) = packet.session else {
            return;
        };
        let mut all = self.all.iter();
        let tried = all.find(|tried| packet.flow == Some(tried.probe));
        let tried = *tried.expect("sessions are those of probe flows");
        let latency = now - packet.injected.expect("delivered");
        let counter = self.counter(tried);
        if counter.expected == session {
            counter.latencies.push(latency);
        }
    }

    /// A look: if the trial is over, it ends, with what the desk is shown.
    pub(super) fn end(&mut self, tried: Tried, session: &Session, now: u64) -> Option<Heard> {
        let (packets, mean_gap) = (self.rules.packets, self.mean_gap(tried));
        let counter = self.counter(tried);
        let heard = counter.latencies.len() as u64;
        let all_made = session.last() < now;
        let all_known = heard + u64::from(session.rejected()) >= packets.into();
        let is_late = now >= session.last() + u64::from(mean_gap);
        if !(all_made && (all_known || is_late)) {
            return None;
        }
        let latencies = std::mem::take(&mut counter.latencies);
        counter.expected += 1;
        self.on_trial.retain(|other| other.flow != tried.flow);
        let least = latencies.iter().min().copied();
        Some(Heard {
            packets,
            received: latencies.len() as u32,
            latencies: least.zip(latencies.iter().max().copied()),
            rejected: session.rejected(),
        })
    }
}

/// Whether the flows of a class are tried.
fn is_tried(class: &ClassPlan) -> bool {
    let has_bound = class.requests.is_some_and(|one| one.jitter.is_some());
    has_bound && !class.reserves()
}

/// The flows that are tried, in order, each with its probe flow.
fn tried(plan: &Plan) -> Vec<Tried> {
    let of = |class: u16| {
        let flows = plan.flows.iter().enumerate();
        let flows = flows.filter(move |(_, flow)| flow.class == class);
        flows.map(|(id, _)| id)
    };
    let classes = &plan.admission.as_ref().expect("a desk").tried;
    let mut all = Vec::new();
    for classes in classes {
        assert_eq!(of(classes.class).count(), of(classes.probes).count(), "D59");
        let pairs = of(classes.class).zip(of(classes.probes));
        all.extend(pairs.map(|(flow, probe)| Tried { flow, probe }));
    }
    all.sort_unstable_by_key(|tried| tried.flow);
    all
}

/// What D59 says of the classes of probes.
fn check_classes(plan: &Plan, level: Option<u8>) {
    let tried = &plan.admission.as_ref().expect("a desk").tried;
    let classes = (0u16..).zip(&plan.classes);
    let asking = classes.filter(|(_, class)| is_tried(class));
    let asking: Vec<u16> = asking.map(|(number, _)| number).collect();
    let found: Vec<u16> = tried.iter().map(|tried| tried.class).collect();
    assert_eq!(found, asking, "D59");
    let end = plan
        .classes
        .iter()
        .take_while(|class| class.answers.is_none());
    let first = end.count() - tried.len();
    for (number, tried) in (first..).zip(tried) {
        assert_eq!(usize::from(tried.probes), number, "D59");
        let own = &plan.classes[usize::from(tried.class)];
        let probes = &plan.classes[number];
        assert_eq!((&probes.size, &probes.hosts), (&own.size, &own.hosts));
        let named = level.map(|level| vec![SlId(level)]);
        let expected = named.unwrap_or_else(|| own.service_levels.clone());
        assert_eq!(probes.service_levels, expected, "D59");
        assert!(probes.control.is_none() && probes.slots.is_none(), "D59");
        assert!(
            probes.requests.is_none() && probes.messages.is_none(),
            "D59"
        );
        assert!(!probes.management, "D59");
    }
}

/// What D59 says of probe flows.
fn check_flows(plan: &Plan, all: &[Tried]) {
    let first = plan.flows.len() - all.len();
    for (number, tried) in (first..).zip(all) {
        assert_eq!(tried.probe, number, "D59");
        let (flow, probe) = (&plan.flows[tried.flow], &plan.flows[number]);
        let ends = |flow: &FlowPlan| (flow.source, flow.destination);
        assert_eq!(ends(flow), ends(probe));
        assert_eq!((probe.start, probe.weight, probe.stop), (0, 1, None));
        assert_eq!((probe.flits, probe.window), (None, None));
        assert_eq!((probe.limit, probe.phase), (Limit::None, None));
        assert!(probe.changes.is_empty() && probe.process.is_none(), "D59");
    }
}
