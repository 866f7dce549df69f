//! `virtlane check`: everything before the run.

use super::args::Check;
use super::studies::outlook;
use super::{print, share};
use crate::error::Error;
use crate::plan::{ClassPlan, Plan, Times};
use crate::routing::loads::credit_loop::Limit;
use crate::scenario::credit_loops::OfKind;
use crate::scenario::{self, Document, Known, Parts, Resolved, credit_loops, uncounted};
use crate::study::Design;
use crate::topology::Graph;
use crate::units::cycles_of_a_flit;
use std::fmt::Write;
use std::process::ExitCode;

/// Resolves the scenario; prints a verdict or the plan.
///
/// # Errors
/// When the scenario is wrong.
pub(super) fn execute(arguments: &Check) -> Result<ExitCode, Error> {
    let parts = Parts::registered();
    let document = arguments.input.open()?;
    let known = Known::new();
    let resolved = document.resolve_known(&parts, &known)?;
    if arguments.print_plan {
        print(&scenario::print::plan(&resolved, &parts))?;
        return Ok(ExitCode::SUCCESS);
    }
    if resolved.scenario.sweep.is_none() {
        print(&verdict(&resolved, "ok"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let design = Design::new(&document)?;
    (arguments.input.changes).tell_axes(&document, &design.axes);
    sweep(&document, &design, &resolved, &known)
}

/// Looks at every run of the sweep: how many can be simulated, and by how many proofs that is known.
fn sweep(
    document: &Document,
    design: &Design,
    resolved: &Resolved,
    known: &Known,
) -> Result<ExitCode, Error> {
    let outlook = outlook::of_all(document, design, known)?;
    let (_, proofs) = known.computed();
    let word = if outlook.is_bright() {
        "ok"
    } else {
        "ok without its sweep"
    };
    print(&format!(
        "{}  sweep    {} of {}, {} of which can be simulated; {}\n",
        verdict(resolved, word),
        super::count(design.runs.len(), "run", "s"),
        super::count(design.points.len(), "point", "s"),
        design.runs.len() - outlook.failing.len(),
        super::count(proofs, "proof", "s"),
    ))?;
    if outlook.is_bright() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Error::Usage(outlook.told(design)))
}

/// How many classes are written, and how many come with them.
fn classes(resolved: &Resolved) -> String {
    let written = super::count(resolved.scenario.traffic.len(), "class", "es");
    let all = resolved.plan.classes.iter();
    match all.filter(|class| class.answers.is_some()).count() {
        0 => written,
        answers => format!("{written}, and {answers} of answers"),
    }
}

/// What a proof covers beside the ways of packets, or rests on, where packets are answered.
pub(super) fn scope(resolved: &Resolved) -> &'static str {
    let mut classes = resolved.plan.classes.iter();
    let is_answered = |class: &ClassPlan| {
        let control = class.control.as_ref();
        control.is_some_and(|control| control.transport.is_none())
    };
    if resolved.proof.held.is_some() {
        ", over requests and answers, too"
    } else if classes.any(is_answered) {
        ", as hosts always consume"
    } else {
        ""
    }
}

/// What flows with routes of their own do, if they have some.
pub(super) fn own_routes(resolved: &Resolved) -> Option<String> {
    let plan = &resolved.plan;
    if plan.sets_up() {
        return Some(set_up(plan));
    }
    let routes = plan.routes_of_flows.as_ref()?;
    let policy = &resolved.scenario.fluid.policy.name.value;
    let lengths = || routes.iter().map(<[_]>::len);
    let channels = resolved.layout.graph.channels().len();
    let mean = lengths().sum::<usize>() as f64 / routes.len().max(1) as f64;
    Some(format!(
        "{} by {policy}, {mean:.3} channels on average and {} at most; at most {} over one channel",
        super::count(routes.len(), "flow", "s"),
        lengths().max().unwrap_or(0),
        super::count(
            routes.loads(channels).into_iter().max().unwrap_or(0) as usize,
            "flow",
            "s"
        ),
    ))
}

/// How routes are set up, class by class.
fn set_up(plan: &Plan) -> String {
    let number = |value: u32| match value {
        u32::MAX => String::from("any number of"),
        value => value.to_string(),
    };
    let classes = plan.classes.iter().filter_map(|class| {
        let set_up = class.set_up()?;
        let direction = if set_up.free {
            "either side"
        } else {
            "the farther end"
        };
        Some(format!(
            "set up for `{}`: {} horizontal hops of a level, to {direction}; {} places of a cache",
            class.name,
            number(set_up.hops),
            number(set_up.cache)
        ))
    });
    classes.collect::<Vec<_>>().join("; ")
}

/// What the scenario is, behind a word for it.
fn verdict(resolved: &Resolved, word: &str) -> String {
    let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
    let free = if resolved.proof.acyclic {
        format!("free of deadlock{}", scope(resolved))
    } else {
        String::from("NOT proved free of deadlock (allow_deadlock: true)")
    };
    let unreachable = match resolved.proof.unreachable_pairs {
        0 => String::new(),
        _ => format!(
            "\n  pairs    {} with a way, {}",
            resolved.proof.reachable_pairs,
            scenario::unreachable_pairs(graph, &resolved.proof)
        ),
    };
    let loops = credit_loops::of_kinds(resolved);
    let loops = loops.iter().map(|found| {
        let text = credit_loop(graph, found);
        let name = match found.credit_loop.limit {
            Limit::Credits => "credits",
            Limit::Headers => "headers",
        };
        format!("\n  {name}  {text}")
    });
    let loops: String = loops.collect();
    let errors = errors(resolved).map(|text| format!("\n  errors   {text}"));
    let errors = errors.unwrap_or_default();
    let own_routes = own_routes(resolved).map(|text| format!("\n  routes   {text}"));
    let shared = uncounted::shared(resolved);
    let shared = shared.iter().fold(String::new(), |mut text, shared| {
        let _ = write!(text, "\n  rates    {shared}");
        text
    });
    let paces = (graph.channels().iter()).map(|channel| channel.timing.cycles_per_flit);
    let cycle_ns = resolved.layout.clock.cycle_picoseconds() / 1000.0;
    let clock = paces
        .min()
        .and_then(|pace| cycles_of_a_flit(cycle_ns, pace));
    let clock = clock.map_or(String::new(), |told| format!("  clock    {told}\n"));
    format!(
        "{}: {word}\n  fabric   {}, {}, {}\n  routing  {}, {free}{unreachable}{}{errors}{loops}{shared}\n  traffic  {}\n  \
         cycles   {} warm-up + {} measurement, then at most {} drain; looks for deadlocks at \
         least {} apart\n{clock}",
        plan.title,
        super::count(graph.switches().len(), "switch", "es"),
        super::count(graph.hosts().len(), "host", "s"),
        super::count(graph.link_count(), "link", "s"),
        engine(resolved),
        own_routes.unwrap_or_default(),
        classes(resolved),
        plan.phases.warmup,
        plan.phases.measure,
        plan.phases.drain_limit,
        Times::of(plan, graph).between_looks(plan.phases.watchdog),
    )
}

/// The engine, and what routes VL15 beside it.
fn engine(resolved: &Resolved) -> String {
    let engine = resolved.routes.engine();
    match &resolved.plan.management_tables {
        Some(tables) => format!("{engine} (VL15: {})", tables.engine),
        None => engine.to_owned(),
    }
}

/// What errors of links make of the slowest of them.
fn errors(resolved: &Resolved) -> Option<String> {
    let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
    let retry = plan.link_retry?;
    let largest = plan.largest_packet();
    let flits = plan.transmission(largest);
    let bytes = u64::from(flits) * u64::from(plan.flit_bytes);
    let pace = |id| f64::from(graph.channel(id).timing.cycles_per_flit);
    let left = |id| pace(id) / plan.time_of_flit(graph, id, largest);
    let least = graph.channel_ids().map(left).fold(1.0, f64::min);
    Some(format!(
        "{:.1e} of the transmissions of {bytes} B come with one; a channel carries {} of its rate at least, on average",
        retry.failure(8 * bytes),
        share(least)
    ))
}

/// What a class can send over the channels of a kind.
pub(super) fn credit_loop(graph: &Graph, found: &OfKind) -> String {
    let channel = graph.channel(found.channel);
    let [from, to] = [channel.from, channel.to].map(|end| graph.endpoint_name(end));
    let (part, words) = (share(found.part), credit_loops::words(&found.credit_loop));
    let beside = match &found.beside[..] {
        [] => String::new(),
        [other] => format!("; class {other} takes of its lanes"),
        others => format!("; classes {} take of its lanes", others.join(", ")),
    };
    format!(
        "class {}: at most {part} of the {}, {words} ({from} to {to}){beside}",
        found.class, found.place
    )
}
