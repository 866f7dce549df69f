//! Random admission (D53): which classes ask and for what, when rounds are, and who decides.

use super::Dice;
use std::sync::Arc;
use virtlane::admission::{ADMISSIONS, Admission, AdmissionContext};
use virtlane::plan::{AdmissionPlan, FlowPlan, ONE_FLIT_PER_CYCLE, Plan, Requests};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::units::Clock;

/// Cases with admission, of those whose classes may ask \[percent\].
const SHARE: u32 = 60;
/// Classes that ask, of those that may \[percent\].
const ASKING: u32 = 65;

/// Admission for the flows of some classes, where they are of no phase and wait for none. For tables only, and after the options of the
/// switches are drawn. From a stream of its own, so that all else is drawn as without.
pub(super) fn add(plan: &mut Plan) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, 1 << 42));
    if !dice.chance(SHARE) {
        return;
    }
    let mut asks = false;
    for (number, class) in (0u16..).zip(&mut plan.classes) {
        let is_bound = |flow: &FlowPlan| {
            flow.class == number && (flow.phase.is_some() || !flow.after.is_empty())
        };
        if class.flows.is_none() || plan.flows.iter().any(is_bound) || !dice.chance(ASKING) {
            continue;
        }
        asks = true;
        class.requests = Some(requests(&mut dice));
        for flow in plan.flows.iter_mut().filter(|flow| flow.class == number) {
            (flow.stop, flow.changes) = (None, Arc::new([]));
        }
    }
    if asks {
        plan.admission = Some(AdmissionPlan {
            control: control(&mut dice, plan),
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
        });
    }
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
        names.push("MeasuredSum");
    }
    names.extend(["EgressMeasurement"; 5]);
    names.push("LinkByLink");
    let name = dice.pick(&names);
    let text = arguments(dice, name);
    let context = AdmissionContext {
        clock: Clock {
            flit_bytes: plan.flit_bytes,
            reference_rate: plan.reference_rate,
        },
    };
    let build = ADMISSIONS.find(name).expect("its own name").build;
    let made = build(Arguments { text: &text }, context);
    made.unwrap_or_else(|mistake| panic!("{name}{text}: {mistake}"))
}

/// Arguments with which some requests are granted and others are not, where an algorithm refuses any.
fn arguments(dice: &mut Dice, name: &str) -> String {
    match name {
        "AdmitAll" => String::from("()"),
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
