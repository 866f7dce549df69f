//! Control of a class's flows: the algorithm, and its answers, which are a class of their own.

use super::limits::Allowed;
use super::transport::Transport;
use super::{Class, ServiceLevels, service_levels};
use crate::control::{Algorithm, ControlContext};
use crate::ids::SlId;
use crate::plan::{ClassPlan, Control, Plan};
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{flits, of_links};
use crate::scenario::sections::values::{Read, amount, whole};
use crate::scenario::syntax::{At, Fields, Item, Mistake, Part};
use crate::scenario::{Layout, Parts, Resolved, Scenario};
use crate::traffic::SizeDistribution;
use crate::units::Amount;

/// Most packets of a queue of answers.
const MOST_PLACES: u32 = 1_000_000;

section! {
    /// Control packets of a class with control, such as answers to its packets: a class of its own, called NAME answers.
    Answers = "answers" in "traffic[...].answers" checked by Answers::check_transport {
        /// Size of each, 1..=65535 flits
        size: At<Amount> = amount, "size" or "\"1 flit\"";
        /// Service level; Management = VL15
        sl: Option<At<ServiceLevels>> = level, "0..=15 | Management" else "that of the class";
        /// Whether they are packets, or go by a control network beside the data network, see section out_of_band; then they
        /// have no size and no service level
        transport: At<Transport> = Transport::read, "InBand | OutOfBand(...)" or "InBand";
        /// Packets of answers a host has room for, waiting or still to be created; it holds back in their buffers packets whose
        /// answers would have none. None = unbounded, hosts always consume
        queue: Option<At<u32>> = whole(1), "None | 1..=1000000" or None;
    }
}

fn level(item: &Item<'_>) -> Read<ServiceLevels> {
    match service_levels(item) {
        Ok(levels) if item.items().is_err() => Ok(levels),
        _ => Err(item.unexpected("a service level: expected 0 to 15 or `Management`")),
    }
}

/// Name of the class of answers to the packets of a class.
pub(super) fn name_of_answers(class: &str) -> String {
    format!("{class} answers")
}

/// The names of answers are those of no other class.
pub(super) fn check_names(classes: &[Class]) -> Result<(), Mistake> {
    for (number, class) in classes.iter().enumerate() {
        let name = name_of_answers(&class.name.value);
        let mut others = classes.iter();
        if class.control.is_some()
            && let Some(other) = others.find(|other| other.name.value == name)
        {
            return Err(other.name.mistake(format!(
                "the name `{name}` is taken by the answers of traffic[{number}], which has `control`"
            )));
        }
    }
    Ok(())
}

impl Class {
    /// What goes with control, and what does not.
    pub(super) fn check_control(&self, fields: &Fields<'_>) -> Result<(), Mistake> {
        let Some(control) = &self.control else {
            let answers = fields.get("answers");
            return match answers.filter(|item| item.node.to_text() != "()") {
                Some(item) => Err(item.mistake(
                    "`answers` are those of a class with `control`, and this one has none",
                )),
                None => Ok(()),
            };
        };
        let Some(entries) = &self.flows else {
            return Err(control.name.mistake(
                "`control` goes with `flows` only: pattern, process and messages hand their packets over and are asked nothing",
            ));
        };
        for flows in entries {
            let own = |key: &str| {
                format!(
                    "a flow of a class with `control` has no `{key}` of its own: the algorithm sets limits and windows"
                )
            };
            if flows.limit.value != Allowed::Any {
                return Err(flows.limit.mistake(own("limit")));
            }
            if let Some((at, _)) = flows.changes.first() {
                return Err(at.mistake(own("changes")));
            }
            if let Some(window) = &flows.window {
                return Err(window.mistake(own("window")));
            }
            if let Some(time) = &flows.acknowledgement {
                return Err(time.mistake(own("acknowledgement")));
            }
        }
        Ok(())
    }

    /// The algorithm, and the answers as the plan has them.
    pub(super) fn print_control(
        &self,
        printer: &mut Printer,
        resolved: &Resolved,
        number: usize,
        parts: &Parts<'_>,
    ) {
        let classes = &resolved.plan.classes;
        let planned = classes[number].control.as_ref();
        let (Some(part), Some(control)) = (&self.control, planned) else {
            return;
        };
        printer.part("control", part, parts.control);
        let answers = &classes[usize::from(control.answers)];
        printer.block("answers: (", "),", |printer| {
            if let Some(times) = control.transport {
                return Transport::print(times, printer);
            }
            printer.flits("size", answers.size.largest().into());
            if answers.management {
                printer.key("sl", "Management");
            } else if let [level] = answers.service_levels[..] {
                printer.key("sl", level.0);
            }
            printer.or_none("queue", control.queue);
        });
    }
}

/// The algorithms of all classes; appends the classes of their answers (D39).
pub(in crate::scenario) fn control(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    classes: &mut Vec<ClassPlan>,
) -> Result<(), Mistake> {
    for (number, class) in scenario.traffic.iter().enumerate() {
        let Some(part) = &class.control else {
            continue;
        };
        let Ok(last) = u16::try_from(classes.len()) else {
            let mistake = format!("more than {} traffic classes with answers", u16::MAX);
            return Err(part.name.mistake(mistake));
        };
        let answers = answers(scenario, layout, class, &classes[number])?;
        let answers = ClassPlan {
            answers: Some(number as u16),
            ..answers
        };
        let sizes = answers.size.largest();
        let link = of_links(scenario.fluid.reserved.value);
        let context = context(layout, &classes[number], (sizes, link));
        let algorithm = algorithm(part, parts, context, &classes[number])?;
        same_weights(scenario, part, &algorithm, &classes[..number])?;
        let transport = class.answers.transport.value.plan(layout.clock)?;
        Transport::check_elements(&class.answers.transport, part, &algorithm)?;
        if transport.is_some() && algorithm.packets_per_answer() > 1 {
            return Err(class.answers.transport.mistake(
                "out of band an answer is one packet: answers of several packets go in band",
            ));
        }
        let queue = class.answers.places(&algorithm)?;
        classes[number].control = Some(Control {
            algorithm,
            answers: last,
            transport,
            queue,
        });
        classes.push(answers);
    }
    Ok(())
}

impl Answers {
    /// The bound of the queue, when there is one.
    fn places(&self, algorithm: &Algorithm) -> Result<Option<u32>, Mistake> {
        let Some(queue) = &self.queue else {
            return Ok(None);
        };
        if algorithm.probes() {
            return Err(queue.mistake(
                "control packets of an algorithm that probes have no bound: hosts take all of them",
            ));
        }
        let least = u32::from(algorithm.packets_per_answer());
        if queue.value < least {
            return Err(queue.mistake(format!(
                "an answer is {least} packets, which a queue of {} never has room for: it needs {least} or more",
                queue.value
            )));
        }
        if queue.value > MOST_PLACES {
            return Err(queue.mistake(format!(
                "`{}` is out of range: allowed are 1 to {MOST_PLACES} packets, or `None`",
                queue.value
            )));
        }
        Ok(Some(queue.value))
    }
}

/// What an algorithm for a class is made with.
fn context(layout: &Layout, class: &ClassPlan, (answer, link): (u16, u32)) -> ControlContext {
    ControlContext {
        clock: layout.clock,
        smallest: class.size.smallest(),
        largest: class.size.largest(),
        answer,
        peak: class.requests.map(|requests| requests.peak),
        link,
    }
}

/// D73: links add up the weights of all classes with the algorithm, so these must be of one kind.
fn same_weights(
    scenario: &Scenario,
    part: &Part,
    algorithm: &Algorithm,
    before: &[ClassPlan],
) -> Result<(), Mistake> {
    let Some(own) = algorithm.weights() else {
        return Ok(());
    };
    let others = scenario.traffic.iter().zip(before);
    for (class, planned) in others {
        let control = planned.control.as_ref();
        let other = control.and_then(|control| control.algorithm.weights());
        if let Some(other) = other.filter(|&other| other != own) {
            return Err(part.parameter_mistake(
                "weights",
                &format!(
                    "`{own:?}`, but class `{}` has `{other:?}` on the same links, where weights are added up: expected the same in \
                     all classes with `{}`",
                    class.name.value, part.name.value
                ),
            ));
        }
    }
    Ok(())
}

fn algorithm(
    part: &Part,
    parts: &Parts<'_>,
    context: ControlContext,
    class: &ClassPlan,
) -> Result<Algorithm, Mistake> {
    let make = part.entry(parts.control)?.build;
    let algorithm = part.build(|arguments| make(arguments, context))?;
    if algorithm.set_up().is_some() && class.requests.is_some() {
        return Err(part.name.mistake(
            "its flows begin when their routes are set up, not when they are admitted: expected no `requests` in the class",
        ));
    }
    Ok(algorithm)
}

/// The class of answers: packets of one size, which nothing makes but the receivers.
fn answers(
    scenario: &Scenario,
    layout: &Layout,
    class: &Class,
    answered: &ClassPlan,
) -> Result<ClassPlan, Mistake> {
    let size = flits(&class.answers.size, layout.clock, 1, u64::from(u16::MAX))?;
    let (service_levels, management) = match &class.answers.sl {
        None => (answered.service_levels.clone(), false),
        Some(level) => match &level.value {
            ServiceLevels::Data(levels) => {
                (levels.iter().map(|&level| SlId(level)).collect(), false)
            }
            ServiceLevels::Management if scenario.qos.management_lane.value => {
                (vec![SlId(0)], true)
            }
            ServiceLevels::Management => {
                return Err(
                    level.mistake("`Management` needs VL15: set `qos.management_lane: true`")
                );
            }
        },
    };
    let (name, hosts) = (name_of_answers(&class.name.value), answered.hosts.clone());
    let size = SizeDistribution::fixed(size as u16);
    Ok(ClassPlan {
        management,
        ..ClassPlan::silent(name, hosts, size, service_levels)
    })
}

/// Where a class of the plan is written.
pub(in crate::scenario) fn place(scenario: &Scenario, plan: &Plan, number: usize) -> String {
    let path = |number: usize| {
        let path = &scenario.traffic[number].name.path;
        path.trim_end_matches(".name").to_owned()
    };
    if let Some(answered) = plan.classes[number].answers {
        return path(usize::from(answered)) + ".answers";
    }
    let mut tried = plan.admission.iter().flat_map(|one| &one.tried);
    match tried.find(|tried| usize::from(tried.probes) == number) {
        Some(tried) => format!("the probes of {}", path(usize::from(tried.class))),
        None => path(number),
    }
}
