//! Random control of flows (D39): which classes have it, with what parameters, and the classes of their answers.

use super::Dice;
use std::sync::Arc;
use virtlane::control::Algorithm;
use virtlane::control::erratic::Erratic;
use virtlane::ids::SlId;
use virtlane::plan::{ClassPlan, Control, Limit, Plan};
use virtlane::rng::Rng;
use virtlane::topology::Graph;
use virtlane::traffic::SizeDistribution;
use virtlane::traffic::messages::{Senders, Silent};

/// Control for most classes with flows, for one at least; their answers on one of so many service levels, or on VL15 where
/// there is one.
pub(super) fn add(
    dice: &mut Dice,
    graph: &Graph,
    (levels, management): (u32, bool),
    plan: &mut Plan,
) {
    let numbers = 0..plan.classes.len();
    let numbers: Vec<usize> = numbers
        .filter(|&number| plan.classes[number].flows.is_some())
        .collect();
    let first = dice.pick(&numbers);
    for number in numbers {
        if number != first && dice.chance(40) {
            continue;
        }
        let answers = plan.classes.len() as u16;
        plan.classes[number].control = Some(Control {
            algorithm: Algorithm::Erratic(Erratic {
                seed: dice.0.next_u64(),
                delays: !plan.host.scheduler.has_clocks() && dice.chance(70),
                window: dice.chance(60),
                answers: dice.pick(&[30, 100, 100, 100]),
            }),
            answers,
        });
        plan.classes.push(ClassPlan {
            name: format!("answers to {number}"),
            hosts: graph.host_ids().collect(),
            pattern: Arc::new(Senders::default()),
            process: Arc::new(Silent),
            other_processes: Vec::new(),
            size: SizeDistribution::fixed(dice.between(1, 6) as u16),
            service_levels: vec![SlId(dice.between(0, levels - 1) as u8)],
            management: management && dice.chance(50),
            load: 0.0,
            packets_per_host: None,
            messages: None,
            flows: None,
            control: None,
            answers: Some(number as u16),
        });
        for flow in &mut plan.flows {
            if usize::from(flow.class) == number {
                flow.limit = Limit::None;
                flow.changes = Arc::new([]);
                flow.window = None;
            }
        }
    }
}
