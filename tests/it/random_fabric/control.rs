//! Random control of flows (D39): which classes have it, with what parameters, and the classes of their answers.

use super::{Dice, levels};
use std::sync::Arc;
use virtlane::control::erratic::Erratic;
use virtlane::control::{ALGORITHMS, Algorithm, ControlContext, Looks, WHOLE_LINK};
use virtlane::ids::SlId;
use virtlane::plan::{Broadcast, ClassPlan, Control, Limit, OutOfBand, Plan};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, Rng, Stream, stream};
use virtlane::topology::Graph;
use virtlane::traffic::SizeDistribution;
use virtlane::units::Clock;

/// Algorithms that calculate rates: [`probe`] puts them in place of some machines that probe.
const CALCULATING: [&str; 4] = ["Dffa", "Saa", "SaaM", ROUNDS];
/// The one of them that goes out of band only.
const ROUNDS: &str = "DffaRounds";

/// An algorithm for a class: one that reacts to everything, or one of those that scenarios can name, with small times.
fn algorithm(dice: &mut Dice, plan: &Plan, class: usize, answer: u16) -> Algorithm {
    let takes_rates = plan.host.scheduler.takes_rates();
    // lanes of a group have no other flows
    let flows = plan.classes.iter().filter(|class| class.flows.is_some());
    let may_share = !takes_rates && flows.count() == 1;
    if dice.chance(if may_share { 70 } else { 45 }) {
        return Algorithm::Erratic(Erratic {
            seed: dice.0.next_u64(),
            delays: !takes_rates && dice.chance(70),
            window: dice.chance(70),
            answers: dice.pick(&[30, 100, 100, 100]),
            shared: may_share && dice.chance(90),
            packets: dice.pick(&[1, 1, 1, 2, 5]),
            looks: dice.chance(25).then(|| Looks {
                every: dice.between(1, 60).into(),
                few: dice.between(1, 30),
            }),
            probes: 0,
            elements: false,
            of_links: false,
            carries: false,
        });
    }
    let mut names: Vec<_> = ALGORITHMS.names().collect();
    // `admission` makes classes that ask reserve, `set_up` some that set up
    names.retain(|&name| !["Reservation", "SetUp"].contains(&name) && !CALCULATING.contains(&name));
    if takes_rates {
        names.retain(|&name| !["InfiniBand", "Inc"].contains(&name));
    } else {
        names.push("InfiniBand");
    }
    // with few parameters or many, each of them is wanted often enough
    names.extend(["Dcqcn", "Window", "Delay"]);
    let name = dice.pick(&names);
    let arguments = arguments(dice, name, may_share);
    let context = ControlContext {
        clock: clock(plan),
        smallest: plan.classes[class].size.smallest(),
        largest: plan.classes[class].size.largest(),
        answer,
        peak: None,
        link: WHOLE_LINK,
    };
    made(name, &arguments, context)
}

fn clock(plan: &Plan) -> Clock {
    Clock {
        flit_bytes: plan.flit_bytes,
        reference_rate: plan.reference_rate,
    }
}

/// A named algorithm.
fn made(name: &str, arguments: &str, context: ControlContext) -> Algorithm {
    let text = format!("({arguments})");
    let build = ALGORITHMS.find(name).expect("its own name").build;
    let made = build(Arguments { text: &text }, context);
    made.unwrap_or_else(|mistake| panic!("{name}{text}: {mistake}"))
}

/// One that calculates rates, for a class with packets of so many flits at most; one that goes out of band where packets go by
/// tables.
fn calculating(dice: &mut Dice, clock: Clock, largest: u16, has_tables: bool) -> Algorithm {
    let fitting = CALCULATING.iter().copied();
    let names: Vec<_> = fitting
        .filter(|&name| has_tables || name != ROUNDS)
        .collect();
    let name = dice.pick(&names);
    let arguments = arguments(dice, name, false);
    let link = dice.pick(&[WHOLE_LINK, WHOLE_LINK, WHOLE_LINK / 10 * 9]);
    made(name, &arguments, calculating_context(clock, largest, link))
}

fn calculating_context(clock: Clock, largest: u16, link: u32) -> ControlContext {
    ControlContext {
        clock,
        smallest: 1,
        largest,
        answer: 1,
        peak: None,
        link,
    }
}

/// Arguments of a named algorithm.
fn arguments(dice: &mut Dice, name: &str, may_share: bool) -> String {
    let cycles = |dice: &mut Dice, most| format!("\"{} cycles\"", dice.between(1, most));
    match name {
        "InfiniBand" => infiniband(dice, may_share),
        "Dcqcn" => dcqcn(dice),
        "Window" if dice.chance(50) => format!("window: {}", dice.between(1, 6)),
        "Window" => format!("aimd: true, start: {}, most: 9", dice.between(1, 9)),
        "Inc" => format!(
            "interval: {}, few: {}, strong: {}, relax: {}",
            cycles(dice, 80),
            dice.between(1, 40),
            dice.between(1, 9),
            dice.between(1, 9)
        ),
        "Delay" => format!(
            "target: {}, most: {}, start: {}",
            cycles(dice, 120),
            dice.between(3, 9),
            dice.between(1, 3)
        ),
        "RequestReply" => format!(
            "outstanding: {}, server: {}, think: {}, request: {}, reply: {}",
            dice.between(1, 5),
            cycles(dice, 50),
            cycles(dice, 50),
            dice.pick(&[1, 1, 2, 5]),
            dice.pick(&[1, 1, 2, 7])
        ),
        "Saa" => {
            let (period, weights) = (cycles(dice, 200), dice.pick(&["Given", "Sizes"]));
            if dice.chance(50) {
                format!("weights: {weights}, piggy_back: true")
            } else {
                format!("period: {period}, weights: {weights}")
            }
        }
        "SaaM" => format!(
            "period: {}, back_off: {}, random: {}",
            cycles(dice, 200),
            cycles(dice, 100),
            dice.chance(80)
        ),
        "Dffa" => format!(
            "begin: {}, one_packet: {}",
            cycles(dice, 500),
            dice.chance(50)
        ),
        ROUNDS => format!("hold: {}", dice.chance(50)),
        name => panic!("no arguments are drawn for `{name}`"),
    }
}

fn dcqcn(dice: &mut Dice) -> String {
    let cycles = |dice: &mut Dice, most| format!("\"{} cycles\"", dice.between(1, most));
    if dice.chance(30) {
        return format!(
            "preset: {}, interval: {}, alpha_timer: {}, timer: {}, alpha: 0.{}",
            dice.pick(&["Paper", "Ns3", "Production"]),
            cycles(dice, 60),
            cycles(dice, 90),
            cycles(dice, 90),
            dice.between(1, 9),
        );
    }
    format!(
        "interval: {}, gain: {}, alpha_timer: {}, timer: {}, bytes: \"{} flits\", stages: {}, increase: \"{} Mbit/s\", \
             least: \"{} Mbit/s\"",
        cycles(dice, 60),
        dice.between(1, 8),
        cycles(dice, 90),
        cycles(dice, 90),
        dice.between(20, 400),
        dice.between(1, 5),
        dice.between(10, 4000),
        dice.between(10, 300),
    )
}

fn infiniband(dice: &mut Dice, may_share: bool) -> String {
    let timer = format!("\"{} cycles\"", dice.between(1, 200));
    format!(
        "timer: {}, table: Linear(most: {}, shift: {}), increase: {}, limit: {}, trigger: {}, {}",
        timer,
        dice.between(1, 60),
        dice.between(0, 3),
        dice.between(1, 4),
        dice.between(1, 30),
        dice.between(0, 20),
        dice.pick(if may_share {
            &[
                "per: ServiceLevel",
                "per: ServiceLevel, answers: Acknowledgement",
                "answers: Cnp",
            ]
        } else {
            &[
                "answers: Cnp",
                "answers: Acknowledgement, window: Some(3)",
                "answers: Acknowledgement",
            ]
        }),
    )
}

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
        if number != first && dice.chance(30) {
            continue;
        }
        let answers = plan.classes.len() as u16;
        let size = dice.between(1, 6) as u16;
        plan.classes[number].control = Some(Control {
            algorithm: algorithm(dice, plan, number, size),
            answers,
            transport: None,
            queue: None,
        });
        let (name, hosts) = (format!("answers to {number}"), graph.host_ids().collect());
        let level = SlId(dice.between(0, levels - 1) as u8);
        let level = levels::of_answers(dice, level, &plan.classes[number]);
        plan.classes.push(ClassPlan {
            management: management && dice.chance(65),
            answers: Some(number as u16),
            ..ClassPlan::silent(name, hosts, SizeDistribution::fixed(size), level)
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

/// Probes (D47) for those of the classes with control whose machines have them, and control networks (D49) for some where
/// packets go by tables, with elements (D68) for half of those that probe, and packets that carry (D69) for a third of the others;
/// from streams of each class and attempt at a case, so that all else is drawn as without.
pub(super) fn probe(plan: &mut Plan, has_tables: bool, attempt: u64) {
    let on_vl15: Vec<bool> = plan.classes.iter().map(|class| class.management).collect();
    let clock = clock(plan);
    for (number, class) in (0..).zip(&mut plan.classes) {
        let largest = class.size.largest();
        let Some(control) = &mut class.control else {
            continue;
        };
        let mut dice = Dice(of_class(plan.seed, 1 << 40, attempt, number));
        // machines are others with every attempt at a case (`strata`), and so is what is drawn by their seed
        let drawn = match &control.algorithm {
            Algorithm::Erratic(machines) => machines.seed,
            _ => plan.seed,
        };
        let beside = if on_vl15[usize::from(control.answers)] {
            20
        } else {
            50
        };
        if let Algorithm::Erratic(machines) = &mut control.algorithm {
            let is_group = machines.shared && dice.chance(85);
            machines.probes = if is_group {
                0
            } else {
                dice.pick(&[0, 40, 90, 100])
            };
            if machines.probes > 0 {
                (machines.shared, machines.packets) = (false, 1);
                // from another stream, so that the transport stays
                let mut dice = Dice(stream(drawn, Purpose::Topology, (1 << 42) + number));
                if dice.chance(25) {
                    control.algorithm = calculating(&mut dice, clock, largest, has_tables);
                }
            }
        }
        let may_be_beside = has_tables && control.algorithm.packets_per_answer() == 1;
        if may_be_beside && (dice.chance(beside) || control.algorithm.has_elements()) {
            control.transport = Some(OutOfBand {
                serialisation: dice.pick(&[1, 1, 2, 3, 6, 30]),
                processing: dice.pick(&[0, 0, 1, 5, 20]),
                routing: dice.pick(&[0, 0, 1, 7]),
                propagation: dice.between(1, 5),
                broadcast: None,
            });
            // from another stream, so that all else stays
            let mut dice = Dice(stream(drawn, Purpose::Topology, (1 << 43) + number));
            add_elements(&mut dice, control);
        }
        if let Algorithm::Erratic(machines) = &mut control.algorithm {
            // likewise
            let mut dice = Dice(stream(drawn, Purpose::Topology, (1 << 46) + number));
            machines.carries = machines.probes > 0 && !machines.elements && dice.chance(35);
        }
    }
    share(plan, has_tables, attempt);
}

/// Agents, and elements, that classes have in common (D73): half of the classes whose machines probe calculate as the first of
/// them does, or have in common what they have; as [`probe`], after it.
fn share(plan: &mut Plan, has_tables: bool, attempt: u64) {
    let mut dice = Dice(of_class(plan.seed, 1 << 47, attempt, 0));
    if dice.chance(40) {
        return;
    }
    let clock = clock(plan);
    let elements = has_tables && dice.chance(30);
    let mut first: Option<&'static str> = None;
    for class in &mut plan.classes {
        let largest = class.size.largest();
        let Some(control) = class.control.as_mut() else {
            continue;
        };
        let own = format!("{:?}", control.algorithm);
        let own = CALCULATING
            .into_iter()
            .find(|name| own.starts_with(&format!("{name} ")));
        let is_erratic = matches!(&control.algorithm, Algorithm::Erratic(one) if one.probes > 0);
        if own.is_none() && !is_erratic || dice.chance(20) {
            continue;
        }
        match (&mut control.algorithm, first.or(own)) {
            (Algorithm::Erratic(machines), None) => machines.of_links = true,
            (algorithm, Some(name)) => {
                let arguments = arguments(&mut dice, name, false);
                let context = calculating_context(clock, largest, WHOLE_LINK);
                *algorithm = made(name, &arguments, context);
                first = Some(name);
            }
            (_, None) => {}
        }
        let is_beside = control.transport.is_some();
        if elements
            && is_beside
            && let Algorithm::Erratic(machines) = &mut control.algorithm
        {
            (machines.elements, machines.carries) = (true, false);
        }
        if control.algorithm.has_elements() {
            let mut times = control.transport.unwrap_or(OutOfBand {
                serialisation: 2,
                processing: 1,
                routing: 3,
                propagation: 1,
                broadcast: None,
            });
            times.broadcast.get_or_insert(Broadcast {
                serialisation: dice.pick(&[1, 1, 3]),
                processing: dice.pick(&[1, 4]),
            });
            control.transport = Some(times);
        }
    }
}

/// The stream of a class in an attempt, of those from `first` on.
fn of_class(seed: u64, first: u64, attempt: u64, number: u64) -> Stream {
    stream(seed, Purpose::Topology, first + 64 * attempt + number)
}

/// Elements for half of the machines that probe, and times of broadcasts for all with elements.
fn add_elements(dice: &mut Dice, control: &mut Control) {
    if let Algorithm::Erratic(machines) = &mut control.algorithm {
        machines.elements = machines.probes > 0 && dice.chance(50);
    }
    let has_elements = control.algorithm.has_elements();
    if let Some(times) = control.transport.as_mut().filter(|_| has_elements) {
        times.broadcast = Some(Broadcast {
            serialisation: dice.pick(&[1, 1, 2, 5, 20]),
            processing: dice.pick(&[1, 1, 2, 7, 30]),
        });
    }
}

/// Bounds of the queues of answers (D57) for some of the classes with control that answer in band; as [`probe`], after it.
pub(super) fn bound(plan: &mut Plan, attempt: u64) {
    for (number, class) in (0..).zip(&mut plan.classes) {
        let Some(control) = &mut class.control else {
            continue;
        };
        let mut dice = Dice(of_class(plan.seed, 1 << 41, attempt, number));
        let least = u32::from(control.algorithm.packets_per_answer());
        let bounded = if least > 1 { 70 } else { 35 };
        if !control.is_apart() && dice.chance(bounded) {
            control.queue = Some(least + dice.pick(&[0, 0, 1, 2, 5, 20]));
        }
    }
}
