//! Section `drop`: which packets a switch drops, and when.

use super::values::{Read, amount, list, small};
use super::{Scenario, traffic};
use crate::ids::SlId;
use crate::plan::{self, ClassPlan, DropRule, FlowPlan, Plan, Until};
use crate::scenario::resolve::quantity::buffer;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Amount, Clock};

section! {
    /// Packets that switches drop, to keep others of their service level from waiting.
    Dropping = "drop" in "fabric.switch.drop" {
        /// Service levels whose packets are dropped; all others are lossless
        sl: At<Vec<At<u8>>> = levels, "[service levels]";
        /// When: Held = in the cycle of its first request at a switch it does not fit the credits in hand, so flow control would
        /// hold it; Threshold(size) = so much waits for its output lane when it comes to join its queue
        rule: Rule = rule, "Held | Threshold(size, at least 1 flit)" or "Held";
    }
}

/// When packets are dropped, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Where flow control would hold them.
    Held,
    /// By what waits.
    Threshold(At<Amount>),
}

fn levels(item: &Item<'_>) -> Read<Vec<At<u8>>> {
    let levels = list(|item| small(0, 15)(item).map(|level| item.at(level)))(item)?;
    if levels.is_empty() {
        return Err(item.mistake("the list is empty: expected at least one service level"));
    }
    for (number, level) in levels.iter().enumerate() {
        if levels[..number]
            .iter()
            .any(|other| other.value == level.value)
        {
            return Err(level.mistake(format!("service level {} stands here twice", level.value)));
        }
    }
    Ok(levels)
}

fn rule(item: &Item<'_>) -> Read<Rule> {
    match item.variant() {
        Some(("Held", None)) => Ok(Rule::Held),
        Some(("Threshold", Some(arguments))) => {
            let size = &arguments.tuple(1, "a size such as `Threshold(\"32 flits\")`")?[0];
            Ok(Rule::Threshold(size.at(amount(size)?)))
        }
        _ => Err(item.unexpected("a rule of dropping: expected `Held` or `Threshold(size)`")),
    }
}

impl Dropping {
    /// In flits.
    pub(super) fn plan(&self, clock: Clock) -> Result<plan::Dropping, Mistake> {
        let mut levels: Vec<_> = self.sl.value.iter().map(|sl| SlId(sl.value)).collect();
        levels.sort_unstable();
        Ok(plan::Dropping {
            service_levels: levels,
            rule: match &self.rule {
                Rule::Held => DropRule::Held,
                Rule::Threshold(size) => DropRule::Threshold(buffer(size, clock, 1)?),
            },
        })
    }

    /// The section on one line.
    pub(super) fn print(dropping: &plan::Dropping) -> String {
        let levels: Vec<_> = (dropping.service_levels.iter())
            .map(|level| level.0.to_string())
            .collect();
        let rule = match dropping.rule {
            DropRule::Held => String::from("Held"),
            DropRule::Threshold(flits) => format!("Threshold(\"{flits} flits\")"),
        };
        format!("(sl: [{}], rule: {rule})", levels.join(", "))
    }
}

/// What waits for every one of its packets does not lose any (D58).
///
/// # Errors
/// A class whose packets would be dropped and may not, or a service level on which nothing is sent.
pub(in crate::scenario) fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let Some(drop) = &scenario.fabric.switch.drop else {
        return Ok(());
    };
    for level in &drop.value.sl.value {
        let sends = |class: &&ClassPlan| {
            let answered = class
                .answers
                .map(|number| &plan.classes[usize::from(number)]);
            let control = answered.and_then(|class| class.control.as_ref());
            // control packets out of band have no service level
            let is_out_of_band = control.is_some_and(|control| control.transport.is_some());
            let is_data = !class.management && !is_out_of_band;
            is_data && class.service_levels.contains(&SlId(level.value))
        };
        let classes = (0u16..).zip(&plan.classes);
        let mut classes = classes.filter(|(_, class)| sends(class)).peekable();
        if classes.peek().is_none() {
            return Err(level.mistake(format!(
                "no class sends on service level {}: name one that is used",
                level.value
            )));
        }
        for (number, class) in classes {
            if let Some(what) = excluded(plan, number, class) {
                let place = traffic::place(scenario, plan, number.into());
                return Err(level.mistake(format!(
                    "service level {} is that of {place}, {what}, and a packet that is dropped is not sent again: give \
                     the class another service level",
                    level.value
                )));
            }
        }
    }
    Ok(())
}

/// Why no packet of a class may be lost, if that is so.
fn excluded(plan: &Plan, number: u16, class: &ClassPlan) -> Option<&'static str> {
    let any = |has: fn(&FlowPlan) -> bool| {
        let mut flows = plan.flows.iter();
        flows.any(|flow| flow.class == number && has(flow))
    };
    let waits_for_flows = plan.phases.until == Some(Until::Flows);
    let cases = [
        (
            class.messages.is_some(),
            "whose messages are complete with all their packets",
        ),
        (
            class.control.is_some(),
            "whose control waits for what arrives",
        ),
        (class.answers.is_some(), "for which control waits"),
        (
            any(|flow| flow.window.is_some()),
            "whose windows open with what arrives",
        ),
        (
            any(|flow| flow.phase.is_some()),
            "whose phases end with all their packets",
        ),
        (
            waits_for_flows && any(|flow| flow.flits.is_some()),
            "for whose flows the measurement waits",
        ),
    ];
    let found = cases.iter().find(|(is_so, _)| *is_so);
    found.map(|(_, what)| *what)
}
