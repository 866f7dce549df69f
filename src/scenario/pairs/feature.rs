//! Options of fabrics as far as pairs of them go: whether a scenario has one, and what it is called.

use super::Given;
use crate::plan::{
    BufferSharing, ClassPlan, Control, DropRule, Forwarding, InputSpeedup, InputTurns, Marking,
    Matching, OutputArbitration, Plan, Queues,
};
use crate::qos::vl_arbitration::{Accept, Rules};
use crate::routing::Routes;
use crate::routing::adaptive::Selection;
use crate::scenario::sections::fluid::Carry;
use crate::scenario::sections::traffic::Class;
use crate::scenario::sections::{Claims, Scenario};
use crate::scenario::syntax::{At, Mistake, Part};

macro_rules! features {
    ($($(#[$meta:meta])* $name:ident = $words:literal),* $(,)?) => {
        /// An option, or a value of one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $($(#[$meta])* $name,)*
        }

        impl Feature {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What it is called beside another one.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }
    };
}

features! {
    /// One queue per lane and output (D4).
    Voq = "`queues: Voq`",
    /// One pool for the lanes of an input (D13).
    PortPool = "`sharing: PortPool`",
    /// Several packets leave an input at a time, but not any number (D3).
    Speedup = "an `input_speedup` above 1",
    /// Any number does.
    Unlimited = "`input_speedup: Unlimited`",
    /// A buffer of an output (D10).
    OutputBuffer = "`output_buffer`",
    /// A buffer of each lane of an output (D18).
    OutputLanes = "`output_lane_buffer`",
    /// Input-first matching (D8).
    InputFirst = "`matching: InputFirst`",
    /// Several rounds (D5).
    Rounds = "more than one of `iterations`",
    /// Random choice among requests (D7).
    Random = "`output_arbitration: Random`",
    /// Winners keep their turns (D9).
    Reserve = "`reserve: true`",
    /// Wormhole switching (D65).
    Wormhole = "`forwarding: Wormhole`",
    /// Packets keep their inputs (D65).
    KeptInputs = "`input_turns: Packets`",
    /// Heads that have waited go first (D72).
    Claims = "`claims: Every(...)`",
    /// Arbitration tables for virtual lanes.
    VlTables = "`qos.vl_arbitration`",
    /// Tables by the rules of D54.
    LegacyTables = "`qos.vl_arbitration.rules: Legacy`",
    /// Inputs accept by priority (D71).
    HighFirst = "`qos.vl_arbitration.accept: HighFirst`",
    /// VL15 (D14).
    Vl15 = "`qos.management_lane: true`",
    /// InfiniBand's marking (D37).
    MarksByPace = "`marking: InfiniBand(...)`",
    /// Switches drop by a threshold (D58).
    DropByFill = "`drop` by a threshold",
    /// Engines without forwarding tables: packets choose among ways (D20), or draw one.
    Adaptive = "routing without forwarding tables",
    /// Heads request several ways at once (D20).
    Open = "routing whose packets request several outputs",
    /// They stand in the queue of each (D84).
    OpenVoq = "`queues: Voq` with routing whose packets request several outputs",
    /// Flows ask before they begin (D53).
    Admission = "`admission`",
    /// Slow sinks (D12).
    SlowSink = "`fabric.host.sink_rate`",
    /// Room for answers is bounded (D57).
    BoundedAnswers = "`answers.queue`",
    /// Control packets go beside the data (D49).
    OutOfBand = "`answers.transport: OutOfBand`",
    /// Control that looks at the own switch (D51).
    Looks = "control that looks at its own switch",
    /// Control that sets delays (D30).
    Delays = "control by delays",
    /// Control with one sender for all flows of a host (D44).
    SharedSender = "control with one sender for all flows of a host",
    /// Flows have rates of their own (D32).
    RateScheduler = "a `fabric.host.scheduler` that gives each flow a rate",
    /// Flows reserve by packets (D60).
    Reservation = "control that reserves",
    /// Routes are set up by packets (D67).
    SetUp = "`control: SetUp`",
    /// Messages of classes (D21).
    Messages = "`messages`",
    /// Sources with a bound (D11).
    BoundedSources = "`fabric.host.source_queue`",
    /// Flows that wait for others (D63).
    Waits = "flows that wait for others",
    /// Routes of the flow level (D66).
    Carry = "`fluid.carry`",
    /// Congestion trees are looked at (D43).
    Trees = "`observe.congestion`",
}

impl Feature {
    /// Whether a scenario has it, as far as is known.
    pub fn is_on(self, given: &Given<'_>) -> bool {
        let scenario = given.scenario;
        let (switch, qos) = (&scenario.fabric.switch, &scenario.qos);
        let tables = qos.vl_arbitration.as_ref().map(|tables| &tables.value);
        match self {
            Self::Voq => switch.queues.value == Queues::Voq,
            Self::PortPool => switch.sharing.value == BufferSharing::PortPool,
            Self::Speedup => {
                matches!(switch.input_speedup.value, InputSpeedup::Limited(places) if places > 1)
            }
            Self::Unlimited => switch.input_speedup.value == InputSpeedup::Unlimited,
            Self::InputFirst => switch.matching.value == Matching::InputFirst,
            Self::Rounds => switch.iterations > 1,
            Self::Random => switch.output_arbitration.value == OutputArbitration::Random,
            Self::Reserve => switch.reserve.value,
            Self::Wormhole => switch.forwarding.value == Forwarding::Wormhole,
            Self::KeptInputs => switch.input_turns.value == InputTurns::Packets,
            Self::Claims => matches!(switch.claims.value, Claims::Every(_)),
            Self::VlTables => tables.is_some(),
            Self::LegacyTables => tables.is_some_and(|one| one.rules.value == Rules::Legacy),
            Self::HighFirst => tables.is_some_and(|one| one.accept.value == Accept::HighFirst),
            Self::Vl15 => qos.management_lane.value,
            Self::Admission => scenario.admission.is_some(),
            Self::BoundedSources => scenario.fabric.host.source_queue.is_some(),
            Self::Carry => scenario.fluid.carry.value != Carry::Nothing,
            Self::OpenVoq => Self::Voq.is_on(given) && Self::Open.is_on(given),
            Self::Adaptive | Self::Open => given.routes.is_some_and(|routes| self.is_of(routes)),
            _ => given.plan.is_some_and(|plan| self.is_in(plan)),
        }
    }

    /// What routes say.
    fn is_of(self, routes: &Routes) -> bool {
        let Routes::Adaptive(adaptive) = routes else {
            return false;
        };
        self == Self::Adaptive || adaptive.routing.selection() == Selection::Open
    }

    /// What the plan says.
    fn is_in(self, plan: &Plan) -> bool {
        let controls = || {
            plan.classes
                .iter()
                .filter_map(|class| class.control.as_ref())
        };
        let rule = plan.switch.drop.as_ref().map(|drop| drop.rule);
        match self {
            Self::OutputBuffer => plan.switch.output_buffer > 0,
            Self::OutputLanes => plan.switch.output_lane_buffer > 0,
            Self::MarksByPace => matches!(plan.switch.marking, Some(Marking::InfiniBand { .. })),
            Self::DropByFill => matches!(rule, Some(DropRule::Threshold(_))),
            Self::SlowSink => plan.host.sink_cycles_per_flit.is_some(),
            Self::BoundedAnswers => plan.bounded().next().is_some(),
            Self::OutOfBand => controls().any(|control| control.transport.is_some()),
            Self::Looks => controls().any(looks),
            Self::Delays => controls().any(|control| control.algorithm.least_shift().is_some()),
            Self::SharedSender => controls().any(|control| control.algorithm.is_shared()),
            Self::RateScheduler => plan.host.scheduler.takes_rates(),
            Self::Reservation => plan.classes.iter().any(ClassPlan::reserves),
            Self::SetUp => plan.sets_up(),
            Self::Messages => !plan.workloads.is_empty(),
            Self::Waits => plan.flows.iter().any(|flow| !flow.after.is_empty()),
            Self::Trees => plan.observe.congestion.is_some(),
            _ => false,
        }
    }

    /// The mistake of its key, which does not go with something else: `rest` says what, and why.
    pub(super) fn mistake(self, given: &Given<'_>, rest: &str) -> Mistake {
        let own = self.of_switch(given.scenario, rest);
        let own = own.or_else(|| self.of_others(given, rest));
        // what has no key of its own comes with the routing
        own.unwrap_or_else(|| {
            let engine = &given.scenario.routing.name;
            engine.mistake(format!("{} {rest}", self.words()))
        })
    }

    /// The same of a key of switches, or of their lanes.
    fn of_switch(self, scenario: &Scenario, rest: &str) -> Option<Mistake> {
        let (switch, qos) = (&scenario.fabric.switch, &scenario.qos);
        let tables = qos.vl_arbitration.as_ref().map(|tables| &tables.value);
        Some(match self {
            Self::Voq => told(&switch.queues, "Voq", rest),
            Self::PortPool => told(&switch.sharing, "PortPool", rest),
            Self::Speedup => (switch.input_speedup).mistake(format!("anything but 1 {rest}")),
            Self::Unlimited => told(&switch.input_speedup, "Unlimited", rest),
            Self::OutputLanes => switch.output_lane_buffer.mistake(rest),
            Self::InputFirst => told(&switch.matching, "InputFirst", rest),
            Self::Reserve => told(&switch.reserve, "true", rest),
            Self::Wormhole => told(&switch.forwarding, "Wormhole", rest),
            Self::KeptInputs => told(&switch.input_turns, "Packets", rest),
            Self::Claims => told(&switch.claims, "Every", rest),
            Self::Vl15 => told(&qos.management_lane, "true", rest),
            Self::LegacyTables => told(&tables?.rules, "Legacy", rest),
            Self::HighFirst => told(&tables?.accept, "HighFirst", rest),
            _ => return None,
        })
    }

    /// The same of a key of another section.
    fn of_others(self, given: &Given<'_>, rest: &str) -> Option<Mistake> {
        let scenario = given.scenario;
        let of_part = |part: &Part| part.name.mistake(format!("`{}` {rest}", part.name.value));
        let classes = || scenario.traffic.iter();
        let (carry, trees) = (&scenario.fluid.carry, &scenario.observe.congestion);
        Some(match self {
            Self::Admission => {
                let desk = &scenario.admission.as_ref()?.control.name;
                desk.mistake(format!("admission {rest}"))
            }
            Self::Carry => carry.mistake(format!("`{:?}` {rest}", carry.value)),
            Self::Trees => (trees.as_ref()?).mistake(format!("a look at congestion trees {rest}")),
            Self::Messages => of_part(classes().find_map(|class| class.messages.as_ref())?),
            Self::BoundedAnswers => {
                let queue = classes().find_map(|class| class.answers.queue.as_ref())?;
                queue.mistake(format!("a bounded queue of answers {rest}"))
            }
            Self::OutOfBand => {
                let class = controlled(given, |control| control.transport.is_some())?;
                told(&class.answers.transport, "OutOfBand", rest)
            }
            _ => {
                let is_it: fn(&Control) -> bool = match self {
                    Self::Looks => looks,
                    Self::Delays => |control| control.algorithm.least_shift().is_some(),
                    Self::SharedSender => |control| control.algorithm.is_shared(),
                    Self::Reservation => |control| control.algorithm.reserves(),
                    Self::SetUp => |control| control.algorithm.set_up().is_some(),
                    _ => return None,
                };
                of_part(controlled(given, is_it)?.control.as_ref()?)
            }
        })
    }
}

/// Whether an algorithm looks at its own switch.
fn looks(control: &Control) -> bool {
    control.algorithm.looks().is_some()
}

/// The mistake of a value that is called so.
fn told<T>(key: &At<T>, value: &str, rest: &str) -> Mistake {
    key.mistake(format!("`{value}` {rest}"))
}

/// The first class that is written whose control is such.
fn controlled<'a>(given: &Given<'a>, is_it: fn(&Control) -> bool) -> Option<&'a Class> {
    let planned = given.plan.into_iter().flat_map(|plan| &plan.classes);
    let mut both = given.scenario.traffic.iter().zip(planned);
    let found = both.find(|(_, planned)| planned.control.as_ref().is_some_and(is_it));
    found.map(|(class, _)| class)
}
