//! What is told of each class beside the verdict of a run that has jobs.
//!
//! # Algorithm
//! A class with a job is complete or incomplete. Any other that the scenario has is judged by its own packets: *undecided*
//! without data enough, *saturated* when the routes and its pattern ask a
//! channel for more than it carries, when a process offers more than the limit or window of its flow lets through, when it always has a packet waiting, when a flow of it is held back, when switches drop, or full source queues reject, more than 2 % of its flits, or when of
//! the others fewer are delivered than chance explains (0.1 %); *undecided*, too, when what stays behind may be an overload of 10 % or drops or rejections may be
//! too much; else *steady*.
//! Nothing is told of what the program makes: answers and probes belong to their parent.

use super::super::Run;
use super::super::asked::{BEYOND, OF_LIMITS};
use super::super::jobs::Jobs;
use super::held::{Held, doubtful, worst};
use super::window::{Behind, FULL_HOST, Window};
use crate::measure::outcome::{ClassVerdict, Verdict};
use crate::plan::ClassPlan;
use crate::scenario::bounds::headroom;
use crate::scenario::offered::{ByLimit, Part, by_limit};

/// What is asked for by a class alone, in expectation.
#[derive(Clone, Copy, Debug)]
struct OfClass {
    /// A channel is asked for more than it carries.
    is_too_much: bool,
    /// The flow that is offered most beside its limit or its window.
    by_limit: Option<ByLimit>,
}

impl Run<'_> {
    /// What is told of each class, where some class has a job.
    pub(in crate::run::execute) fn judge_classes(
        &self,
        window: &Window<'_>,
        jobs: &Jobs,
        held: &[Held],
    ) -> Vec<Option<ClassVerdict>> {
        let plan = &self.resolved.plan;
        if jobs.is_empty() {
            return vec![None; plan.classes.len()];
        }
        let asked = |number: u16, class: &ClassPlan| {
            let rounding = if class.flows.is_some() {
                OF_LIMITS
            } else {
                BEYOND
            };
            let bound = headroom(
                self.resolved,
                |other| std::ptr::eq(other, class),
                Part::Whole,
            );
            let is_too_much = bound.is_some_and(|bound| 1.0 / bound.load > 1.0 + rounding);
            let by_limit = by_limit(self.resolved, |class| class == number);
            OfClass {
                is_too_much,
                by_limit,
            }
        };
        let judge = |(id, class): (u16, &ClassPlan)| {
            let is_made = class.answers.is_some() || plan.is_of_probes(id);
            let number = usize::from(id);
            match jobs.of_class(number) {
                _ if is_made => None,
                None => Some(window.of_class(number, asked(id, class), held)),
                job => job,
            }
        };
        (0..).zip(&plan.classes).map(judge).collect()
    }
}

impl Window<'_> {
    /// Verdict and reason of the load of a class by itself.
    fn of_class(&self, number: usize, asked: OfClass, held: &[Held]) -> ClassVerdict {
        let class = &self.records.classes[number];
        let (created, delivered) = (class.created_flits, class.delivered_flits);
        let dropped = match class.lost.window_flits {
            0 => String::new(),
            dropped => format!(", {dropped} dropped"),
        };
        let dropped = match class.rejected {
            0 => dropped,
            rejected => format!("{dropped}, {rejected} packets rejected by full source queues"),
        };
        let loads = if delivered <= created {
            format!("{delivered} of {created} flits delivered{dropped}")
        } else {
            format!(
                "{delivered} flits delivered{dropped}, some of them made before the {created} of the measurement"
            )
        };
        let told = |verdict, reason| ClassVerdict { verdict, reason };
        if let Some(shortage) = self.shortage_of(number) {
            return told(Verdict::Undecided, shortage);
        }
        let reason = if asked.is_too_much {
            "it asks a channel for more than that carries".to_owned()
        } else if let Some(by_limit) = asked.by_limit.filter(|by| by.part > 1.0 + BEYOND) {
            self.over_limit(by_limit)
        } else if self.offers_all(number) {
            "its sources offer all the fabric takes".to_owned()
        } else if let Some(held) = worst(held, Some(number)) {
            held
        } else {
            let close = asked.by_limit.filter(|by| by.part >= FULL_HOST);
            let late = doubtful(held, Some(number));
            return match (self.behind(number), close) {
                (Behind::Certainly, _) => told(Verdict::Saturated, loads),
                (Behind::Perhaps, _) => told(Verdict::Undecided, loads),
                (Behind::No, _) if late.is_some() => {
                    let late = late.unwrap_or_default();
                    told(Verdict::Undecided, format!("{late}: {loads}"))
                }
                (Behind::No, Some(close)) if self.is_irregular() => {
                    let close = self.over_limit(close);
                    told(Verdict::Undecided, format!("{close}: {loads}"))
                }
                (Behind::No, _) => told(Verdict::Steady, loads),
            };
        };
        told(Verdict::Saturated, format!("{reason}: {loads}"))
    }
}
