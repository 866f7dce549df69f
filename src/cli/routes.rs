//! `virtlane routes`: the forwarding of a scenario, surveyed, verified or dumped.

use super::args::Routes;
use super::{print, share};
use crate::error::Error;
use crate::ids::HostId;
use crate::plan::InputSpeedup;
use crate::report::directory::replace_files;
use crate::routing::adaptive::{Adaptive, Selection};
use crate::routing::dump::{self, write_lfts};
use crate::routing::loads::ChannelLoads;
use crate::routing::loads::bound::{Bound, Inner, Place};
use crate::routing::{self, Choices, Proof, Tables};
use crate::scenario::bounds::Bounds;
use crate::scenario::credit_loops;
use crate::scenario::service::{LevelShares, Service};
use crate::scenario::{Document, Parts, Resolved, unreachable_pairs};
use crate::topology::{Endpoint, Graph};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Routes the fabric and prints what came out.
///
/// # Errors
/// When the scenario is wrong, or a proof is asked for and there is none.
pub(super) fn execute(arguments: &Routes) -> Result<ExitCode, Error> {
    let mut document = arguments.input.open()?;
    let allow_deadlock = if arguments.verify { "false" } else { "true" };
    document.assign("allow_deadlock", allow_deadlock)?;
    let resolved = document.resolve(&Parts::registered())?;
    if let Some(folder) = &arguments.export_dir {
        export(&document, &resolved, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    if arguments.dump {
        let tables = tables(&resolved)?;
        dump::require_destination_only(tables).map_err(|error| Error::Usage(error.to_string()))?;
        // a string takes all text
        let management = document.management(&resolved, tables, &Parts::registered())?;
        let _ = write_lfts(&resolved.layout.graph, tables, &management, &mut text);
    } else {
        survey(&resolved, &mut text);
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The forwarding tables.
fn tables(resolved: &Resolved) -> Result<&Tables, Error> {
    resolved.routes.tables().ok_or_else(|| {
        let engine = resolved.routes.engine();
        Error::Usage(format!(
            "{engine} routes while packets travel and has no forwarding tables; choose an engine that computes some"
        ))
    })
}

/// Writes every file of `routing::dump`; nothing when the tables have no form in one of them, or one cannot be written.
fn export(document: &Document, resolved: &Resolved, folder: &Path) -> Result<(), Error> {
    let (graph, tables) = (&resolved.layout.graph, tables(resolved)?);
    let management = document.management(resolved, tables, &Parts::registered())?;
    let inexpressible = |error: dump::InexpressibleError| Error::Usage(error.to_string());
    let mut files = [const { String::new() }; 5];
    let [lfts, fdbs, sl2vl, guid2lid, path_sl] = &mut files;
    dump::write_sl2vl(graph, tables, sl2vl).map_err(inexpressible)?;
    dump::write_path_sl(graph, tables, path_sl).map_err(inexpressible)?;
    // a string takes all text
    let _ = write_lfts(graph, tables, &management, lfts);
    let _ = dump::write_fdbs(graph, tables, &management, fdbs);
    let _ = dump::write_guid2lid(graph, guid2lid);
    let names = [
        "opensm-lfts.dump",
        "opensm.fdbs",
        "opensm-sl2vl.dump",
        "guid2lid",
        "path-sl",
    ];
    let texts = files.iter().map(String::as_str);
    let files: Vec<(&str, &str)> = names.into_iter().zip(texts).collect();
    Ok(replace_files(folder, &files)?)
}

fn survey(resolved: &Resolved, text: &mut String) {
    let (routes, proof) = (&resolved.routes, &resolved.proof);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24}{value}");
    };
    let yes = |holds| if holds { "yes" } else { "no" }.to_owned();
    let guarantees = routes.guarantees();
    line("engine", routes.engine().to_owned());
    let scope = if proof.acyclic {
        super::check::scope(resolved)
    } else {
        ""
    };
    line("free of deadlock", yes(proof.acyclic) + scope);
    line("minimal", yes(proof.minimal));
    line("in order", yes(guarantees.in_order));
    line("lanes needed", guarantees.lanes_needed.to_string());
    if let Some(tables) = routes.tables() {
        line("layers", tables.lanes.layers.to_string());
    }
    line(
        "channels used",
        format!("{} between switches", proof.channels_used),
    );
    line("dependencies", proof.dependencies.to_string());
    if let Some(held) = proof.held {
        line(
            "",
            format!("{held} with those of hosts that hold requests back"),
        );
    }
    if let Some(tables) = &resolved.plan.management_tables {
        line("VL15", format!("tables of {}", tables.engine));
    }
    if let Some(own_routes) = super::check::own_routes(resolved) {
        line("routes of flows", own_routes);
    }
    paths(resolved, &mut line);
    let remarks = match routes {
        routing::Routes::Tables(tables) => &tables.remarks,
        routing::Routes::Adaptive(adaptive) => &adaptive.remarks,
    };
    for (name, value) in remarks {
        line(name, value.clone());
    }
    if let Some(tables) = routes.ports() {
        let graph = &resolved.layout.graph;
        loads(&ChannelLoads::uniform(graph, tables), &mut line);
    }
    bounds(resolved, &mut line);
    if let Some(service) = Service::of(resolved) {
        waits(&resolved.layout.graph, &service, &mut line);
        if let Some(shares) = &service.shares {
            self::shares(shares, &mut line);
        }
    }
}

/// How many pairs of hosts have a way, and how long it is.
fn paths(resolved: &Resolved, line: &mut impl FnMut(&str, String)) {
    let (routes, proof) = (&resolved.routes, &resolved.proof);
    let pairs = match proof.unreachable_pairs {
        0 => format!("{}, all with a path", proof.reachable_pairs),
        _ => format!(
            "{} with a path, {}",
            proof.reachable_pairs,
            unreachable_pairs(&resolved.layout.graph, proof)
        ),
    };
    line("pairs of hosts", pairs);
    if let (Some(choices), Some(adaptive)) = (&proof.choices, routes.adaptive()) {
        ways(adaptive, proof, choices, line);
    } else {
        line("mean path", format!("{:.3} hops", proof.mean_hops));
        line("longest path", format!("{} hops", proof.max_hops));
        for (hops, pairs) in proof.hop_histogram.iter().enumerate() {
            if *pairs > 0 {
                line("", format!("{hops} hops: {pairs} pairs"));
            }
        }
    }
}

/// How long packets may wait for others, by switches on the way.
fn waits(graph: &Graph, service: &Service, line: &mut impl FnMut(&str, String)) {
    let mut name = "worst-case latency";
    let host = |host: HostId| graph.endpoint_name(Endpoint::Host(host));
    for wait in &service.waits {
        let (from, to) = wait.pair;
        let words = format!(
            "{} cycles for {} packets over {}, such as {} to {}",
            service.cycles(wait),
            wait.packets,
            count(u64::from(wait.switches), "switch", "switches"),
            host(from),
            host(to)
        );
        line(name, words);
        name = "";
    }
    if name.is_empty() {
        let remark = format!(
            "with one lane, buffers of one packet and {} cycles per packet; packets ahead that wait further on come on top",
            service.transmission
        );
        line("", remark);
    }
}

/// What service levels get of a saturated channel.
fn shares(shares: &LevelShares, line: &mut impl FnMut(&str, String)) {
    let mut name = "guaranteed share";
    for level in &shares.levels {
        let others: Vec<_> = level.beside.iter().map(|sl| sl.0.to_string()).collect();
        let others = match &others[..] {
            [] => String::new(),
            several => format!(", in part with service level {}", several.join(", ")),
        };
        let share = share(level.share);
        line(
            name,
            format!(
                "{share} of a channel to service level {}{others}",
                level.level.0
            ),
        );
        name = "";
    }
    let bytes = shares.packet_bytes;
    line(
        "",
        format!(
            "where all lanes of the tables have packets, of {bytes} bytes; more where some have none"
        ),
    );
}

fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// What the traffic can reach at most.
fn bounds(resolved: &Resolved, line: &mut impl FnMut(&str, String)) {
    let graph = &resolved.layout.graph;
    let mut tell = |loads: String, whose: &str, bound: &Bound| {
        line(
            "throughput bound",
            format!("{loads} of each host's link rate, {whose}"),
        );
        line("", limit(graph, bound));
    };
    let bounds = Bounds::of(resolved);
    if let Some(bound) = &bounds.uniform {
        let of_link = graph.host_ids().map(|host| {
            let channel = graph.channel(graph.host_channel(host));
            1.0 / f64::from(channel.timing.cycles_per_flit)
        });
        let mean = bound.load * of_link.sum::<f64>() / graph.hosts().len() as f64;
        let whose = format!("uniform traffic of all hosts ({mean:.3} flits per host per cycle)");
        tell(share(bound.load), &whose, bound);
    }
    for (name, bound) in &bounds.classes {
        tell(share(bound.load), &format!("class {name} alone"), bound);
    }
    if let Some(together) = &bounds.together {
        let loads = together.loads.iter();
        let loads: Vec<_> = loads
            .map(|(name, load)| format!("{name} {}", share(*load)))
            .collect();
        let whose = "all classes together, in the proportion of their loads";
        tell(loads.join(", "), whose, &together.bound);
    }
    let paces = graph.channels().iter().map(|c| c.timing.cycles_per_flit);
    let is_limited = resolved.plan.switch.input_speedup != InputSpeedup::Unlimited;
    if is_limited && paces.clone().min() != paces.max() {
        let remark = "links differ in rate: a packet holds its input at the pace of its output, so that less may be sustained with this \
                      input_speedup";
        line("", remark.to_owned());
    }
    let remark = match bounds.inner {
        Inner::Expected => None,
        Inner::AnyWays => Some(
            "at most: what holds for hosts, cuts and hops whatever ways packets take; what single channels between switches \
             are asked for depends on the traffic",
        ),
        Inner::Unknown => {
            Some("of hosts alone: unknown between switches, where it depends on the traffic")
        }
    };
    if let Some(remark) = remark {
        line("", remark.to_owned());
    }
    for found in credit_loops::of_kinds(resolved) {
        let name = credit_loops::name(&found.credit_loop);
        line(name, super::check::credit_loop(graph, &found));
    }
}

/// What is full first.
fn limit(graph: &Graph, bound: &Bound) -> String {
    let channel = graph.channel(bound.channel);
    let [from, to] = [channel.from, channel.to].map(|end| graph.endpoint_name(end));
    let plural = if bound.cycles_per_flit == 1 { "" } else { "s" };
    let place = bound.place;
    if matches!(place, Place::Cut | Place::Hops) {
        let channels = count(bound.channels.into(), "channel", "channels");
        return format!(
            "limited by the {place}: {channels} between switches, such as {from} to {to}"
        );
    }
    if let Some(credit_loop) = &bound.credit_loop {
        let (name, words) = (
            credit_loops::name(credit_loop),
            credit_loops::words(credit_loop),
        );
        return format!("limited by the {name} of the {place}: {from} to {to}, {words}");
    }
    format!(
        "limited by the {place}: {from} to {to}, {} cycle{plural} per flit",
        bound.cycles_per_flit
    )
}

/// What packets of adaptive routing may choose. Which ways they take depends on the traffic, so there are no loads.
fn ways(
    adaptive: &Adaptive,
    proof: &Proof,
    choices: &Choices,
    line: &mut impl FnMut(&str, String),
) {
    let selection = match adaptive.routing.selection() {
        Selection::First => "the first way listed",
        Selection::Random => "one way at random",
        Selection::LeastLoad => "the way for which fewest flits wait",
        Selection::Open => "all ways requested, the first grant counts",
    };
    line("choice", selection.to_owned());
    line("states proved", choices.states.to_string());
    let mean = choices.ways as f64 / choices.states.max(1) as f64;
    line(
        "ways on",
        format!("{mean:.3} on average, {} at most", choices.most_ways),
    );
    let straight = match choices.mean_longest - proof.mean_hops {
        more if more > 0.0 => format!("{:.3} to {:.3} hops", proof.mean_hops, choices.mean_longest),
        _ => format!("{:.3} hops", proof.mean_hops),
    };
    line("mean straight path", straight);
    let detours = if choices.detours {
        ", through another switch"
    } else {
        ""
    };
    line("longest path", format!("{} hops{detours}", proof.max_hops));
}

/// Channel loads under uniform traffic.
fn loads(loads: &ChannelLoads, line: &mut impl FnMut(&str, String)) {
    line(
        "channel load",
        format!(
            "{} paths at most, {:.1} on average, between switches",
            loads.max(),
            loads.mean()
        ),
    );
    for (paths, channels) in loads.histogram() {
        if channels > 0 {
            let (first, last) = (paths.start(), paths.end());
            line("", format!("{first} to {last} paths: {channels} channels"));
        }
    }
}
