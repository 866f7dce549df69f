//! Random admission (D53): which classes ask and for what, when rounds are, and who decides.

use super::Dice;
use std::sync::Arc;
use virtlane::admission::{ADMISSIONS, Admission, AdmissionContext};
use virtlane::control::{ALGORITHMS, Algorithm, ControlContext, WHOLE_LINK};
use virtlane::plan::{AdmissionPlan, ClassPlan, FlowPlan, ONE_FLIT_PER_CYCLE, Plan, Requests};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::units::Clock;

/// Cases with admission, of those whose classes may ask \[percent\].
const SHARE: u32 = 85;
/// Classes that ask, of those that may \[percent\].
const ASKING: u32 = 70;

/// Classes with control that reserve, of those that ask \[percent\].
const RESERVING: u32 = 45;

/// Admission for the flows of some classes, where they are of no phase and wait for none. For tables only, and after the options of the
/// switches are drawn. From a stream of its own, so that all else is drawn as without.
pub(super) fn add(plan: &mut Plan, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 42) + attempt));
    if !dice.chance(SHARE) {
        return;
    }
    let clock = Clock {
        flit_bytes: plan.flit_bytes,
        reference_rate: plan.reference_rate,
    };
    let answers: Vec<u16> = plan
        .classes
        .iter()
        .map(|class| class.size.largest())
        .collect();
    let mut asks = false;
    for (number, class) in (0u16..).zip(&mut plan.classes) {
        let is_bound = |flow: &FlowPlan| {
            flow.class == number && (flow.phase.is_some() || !flow.after.is_empty())
        };
        if class.flows.is_none() || plan.flows.iter().any(is_bound) || !dice.chance(ASKING) {
            continue;
        }
        class.requests = Some(requests(&mut dice));
        let reserves = class.control.is_some() && dice.chance(RESERVING);
        if reserves {
            reserve(&mut dice, class, clock, &answers);
        }
        asks |= !reserves;
        for flow in plan.flows.iter_mut().filter(|flow| flow.class == number) {
            (flow.stop, flow.changes) = (None, Arc::new([]));
        }
    }
    if asks {
        let control = control(&mut dice, plan);
        if control.trials().is_some() {
            for class in plan
                .classes
                .iter_mut()
                .filter(|class| class.requests.is_some())
            {
                let requests = class.requests.as_mut().expect("it has some");
                requests.jitter = dice.chance(85).then(|| dice.between(1, 60).into());
            }
        }
        let mut admission = rounds(&mut dice, control);
        admission.add_probes(&mut plan.classes, &mut plan.flows);
        if plan.observe.is_on() {
            plan.observe.classes.resize(plan.classes.len(), true);
            plan.observe.percentiles.resize(plan.classes.len(), true);
        }
        plan.admission = Some(admission);
    }
}

/// When rounds are, and how long decisions take (D53, D61).
fn rounds(dice: &mut Dice, control: Arc<dyn Admission>) -> AdmissionPlan {
    AdmissionPlan {
        control,
        first: match dice.between(0, 9) {
            0..4 => 0,
            4..8 => dice.between(1, 40).into(),
            _ => dice.between(1, 300).into(),
        },
        gap: match dice.between(0, 9) {
            0 => 1,
            1..8 => dice.between(2, 50).into(),
            _ => dice.between(51, 150).into(),
        },
        empty: dice.between(1, 4),
        most: dice.pick(&[1, 3, 10, 1000, 1000, 1000]),
        decision: dice.pick(&[0, 0, 0, 1, 30]),
        tried: Vec::new(),
    }
}

/// Lets the flows of a class that has control reserve.
fn reserve(dice: &mut Dice, class: &mut ClassPlan, clock: Clock, answers: &[u16]) {
    let Some(control) = &mut class.control else {
        return;
    };
    let context = ControlContext {
        clock,
        smallest: class.size.smallest(),
        largest: class.size.largest(),
        answer: answers[usize::from(control.answers)],
        peak: class.requests.map(|requests| requests.peak),
        link: WHOLE_LINK,
    };
    let text = format!(
        "(utilisation: {}, share: {}, retry: \"{} cycles\", attempts: {}, limit: {})",
        f64::from(dice.between(10, 100)) / 100.0,
        f64::from(dice.between(20, 100)) / 100.0,
        dice.pick(&[1, 5, 20, 90]),
        dice.pick(&["None", "None", "1", "4"]),
        dice.chance(60),
    );
    let build = ALGORITHMS.find("Reservation").expect("its name").build;
    let made = build(Arguments { text: &text }, context);
    let made: Algorithm = made.unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
    control.algorithm = made;
    // it probes (D57)
    control.queue = None;
}

/// What the flows of a class ask for.
fn requests(dice: &mut Dice) -> Requests {
    let parts: u32 = dice.pick(&[3, 5, 8, 12, 16, 30]);
    Requests {
        peak: ONE_FLIT_PER_CYCLE / u64::from(parts) + u64::from(dice.between(0, 1)),
        delay: match dice.between(0, 9) {
            0 => None,
            1..8 => Some(dice.between(1, 20).into()),
            _ => Some(dice.between(1, 600).into()),
        },
        delay_per_switch: dice.pick(&[0, 0, 5, 40]),
        jitter: dice.chance(30).then(|| dice.between(1, 100).into()),
    }
}

/// Who decides: one of those that scenarios can name.
fn control(dice: &mut Dice, plan: &Plan) -> Arc<dyn Admission> {
    let mut names: Vec<_> = ADMISSIONS.names().collect();
    if plan.switch.output_lane_buffer > 0 {
        names.retain(|&name| name != "MeasuredSum");
    } else {
        // what is told of the fabric is wanted more often
        names.extend(["MeasuredSum"; 2]);
    }
    names.extend(["EgressMeasurement"; 5]);
    names.push("LinkByLink");
    names.extend(["JitterProbing"; 9]);
    let mut classes = plan.classes.iter();
    let shares = |class: &ClassPlan| {
        let control = class.control.as_ref();
        control.is_some_and(|control| control.algorithm.is_shared())
    };
    if classes.any(shares) {
        // lanes of a group have no other flows
        names.retain(|&name| name != "JitterProbing");
    }
    let levels = plan.service_level_count().into();
    let name = dice.pick(&names);
    let mut asking = plan.classes.iter().filter(|class| class.requests.is_some());
    // probes on the levels of their flows are wanted often enough
    let own_level = if asking.any(|class| class.service_levels.len() > 1) {
        75
    } else {
        30
    };
    let text = arguments(dice, name, (levels, own_level));
    let context = AdmissionContext {
        clock: Clock {
            flit_bytes: plan.flit_bytes,
            reference_rate: plan.reference_rate,
        },
        lanes: Some([0.2; 16]),
    };
    let build = ADMISSIONS.find(name).expect("its own name").build;
    let made = build(Arguments { text: &text }, context);
    made.unwrap_or_else(|mistake| panic!("{name}{text}: {mistake}"))
}

/// Arguments with which some requests are granted and others are not, where an algorithm refuses any; of so many service levels
/// probes have one of their own, but for this part \[percent\].
fn arguments(dice: &mut Dice, name: &str, (levels, own_level): (u32, u32)) -> String {
    match name {
        "AdmitAll" => String::from("()"),
        "ArbitrationTable" => format!(
            "(utilisation: {}, tables: {})",
            f64::from(dice.between(30, 100)) / 100.0,
            dice.pick(&["None", "[[0, 1], [2]]"]),
        ),
        "JitterProbing" => format!(
            "(packets: {}, sl: {}, gap: {}, queue: {}, look: \"{} cycles\", sessions: {}, accept_zero: {})",
            dice.between(1, 5),
            if dice.chance(100 - own_level) {
                dice.between(0, levels - 1).to_string()
            } else {
                String::from("None")
            },
            dice.pick(&[
                "None",
                "\"1 cycles\"",
                "\"2 cycles\"",
                "\"7 cycles\"",
                "\"20 cycles\""
            ]),
            dice.between(1, 3),
            dice.pick(&[1, 2, 5, 13, 40]),
            dice.pick(&["Own", "Shared"]),
            dice.chance(50),
        ),
        "LinkByLink" if dice.chance(20) => {
            let by = dice.pick(&["available", "inverse"]);
            format!("(utilisation: 1.0, {by}: [0, 1, 2])")
        }
        "CalibratedLoad" => {
            let (one, other) = (dice.between(3, 50), dice.between(3, 50));
            let (one, other) = (f64::from(one) / 100.0, f64::from(other) / 100.0);
            format!("(groups: [([0, 2], {one}), ([1, 3], {other})])")
        }
        "EgressMeasurement" => format!(
            "(slot: \"{} cycles\", slots: {}, windows: {}, alpha: {}, stability: {}, clocks: \"{} cycles\")",
            dice.pick(&[1, 2, 4, 7, 11, 30]),
            dice.pick(&[2, 2, 3, 4, 8]),
            dice.between(2, 5),
            dice.pick(&["0", "1", "3", "3"]),
            dice.chance(70),
            dice.pick(&[0, 0, 3, 40]),
        ),
        "LinkByLink" | "MeasuredSum" => {
            let levels = (0..4).map(|level| format!("({level}, {})", dice.between(1, 9)));
            let shares = levels.collect::<Vec<_>>().join(", ");
            let part = f64::from(dice.between(30, 100)) / 100.0;
            let total = dice.pick(&["None", "10", "20"]);
            format!("(utilisation: {part}, shares: [{shares}], total: {total})")
        }
        name => panic!("give `{name}` arguments here"),
    }
}
