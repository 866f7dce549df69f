//! A resolved scenario as a scenario: every default filled in, times in cycles, sizes in flits.
//!
//! Reading the printed text again gives the same plan.

mod study;

use super::resolve::{Parts, Resolved};
use super::schema::{Demand, FailedLink, Failures, LinkException, Member, Scenario};
use super::syntax::tree::quote;
use super::syntax::{At, Part};
use crate::ids::HostId;
use crate::measure::Sample;
use crate::plan::{ClassPlan, InputSpeedup, Plan, SwitchOptions};
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::HighPriorityLimit;
use crate::registry::Registry;
use crate::units::BitRate;
use std::fmt::Write;

/// Lines with indentation.
#[derive(Default)]
struct Printer {
    text: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, line: impl AsRef<str>) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{}", line.as_ref());
    }

    fn key(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(format!("{key}: {value},"));
    }

    fn cycles(&mut self, key: &str, cycles: impl Into<u64>) {
        self.key(key, format_args!("\"{} cycles\"", cycles.into()));
    }

    fn flits(&mut self, key: &str, flits: u32) {
        self.key(key, format_args!("\"{flits} flits\""));
    }

    fn block(&mut self, open: &str, close: &str, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line(close);
    }

    /// A part under its registered name; parameters that are left out are named in a comment.
    fn part<B: Copy>(&mut self, key: &str, part: &Part, registry: &Registry<B>) {
        let entry = registry.find(&part.name.value);
        let name = entry.map_or(part.name.value.as_str(), |entry| entry.name);
        let parameters = entry.map_or(&[][..], |entry| entry.parameters);
        let defaults: Vec<_> = parameters
            .iter()
            .filter(|parameter| part.parameter(parameter.name).is_none())
            .filter_map(|parameter| Some(format!("{}: {}", parameter.name, parameter.default?)))
            .collect();
        let comment = if defaults.is_empty() {
            String::new()
        } else {
            format!(" // default {}", defaults.join(", ").replace('\n', " "))
        };
        self.line(format!("{key}: {name}{},{comment}", part.arguments()));
    }
}

/// Prints the plan as a scenario file.
pub fn plan(resolved: &Resolved, parts: &Parts<'_>) -> String {
    let mut printer = Printer::default();
    let (scenario, plan) = (&resolved.scenario, &resolved.plan);
    printer.block("Scenario(", ")", |printer| {
        printer.key("title", quote(&plan.title));
        printer.key("seed", plan.seed);
        printer.block("fabric: (", "),", |printer| {
            fabric(printer, resolved, parts);
        });
        faults(printer, scenario);
        printer.block("qos: (", "),", |printer| qos(printer, &plan.switch));
        printer.part("routing", &scenario.routing, parts.engines);
        printer.block("traffic: [", "],", |printer| {
            for (number, class) in plan.classes.iter().enumerate() {
                printer.block("(", "),", |printer| {
                    traffic(printer, resolved, number, class, parts);
                });
            }
        });
        printer.block("phases: (", "),", |printer| phases(printer, plan));
        printer.key("allow_deadlock", plan.allow_deadlock);
        printer.key("allow_unreachable", plan.allow_unreachable);
        observe(printer, plan);
        study::study(printer, scenario);
    });
    printer.text
}

fn fabric(printer: &mut Printer, resolved: &Resolved, parts: &Parts<'_>) {
    let (written, layout) = (&resolved.scenario.fabric, &resolved.layout);
    printer.part("topology", &written.topology, parts.topologies);
    printer.key("flit", format_args!("\"{} B\"", layout.clock.flit_bytes));
    let cycle = layout.clock.cycle_picoseconds() / 1000.0;
    let reference = BitRate(layout.clock.reference_rate);
    printer.line(format!(
        "// 1 cycle = {cycle:.3} ns: one flit at {reference}"
    ));
    let links = [
        ("link", &written.link, layout.switch_link),
        ("host_link", &written.host_link, layout.host_link),
    ];
    for (key, link, timing) in links {
        let (rate, latency) = (link.rate.value, timing.latency);
        let except = match key {
            "link" => exceptions(&written.except),
            _ => String::new(),
        };
        printer.key(
            key,
            format_args!("(rate: \"{rate}\", latency: \"{latency} cycles\"{except})"),
        );
    }
    printer.block("switch: (", "),", |printer| {
        switch(printer, &resolved.plan.switch);
    });
    let host = &resolved.plan.host;
    printer.block("host: (", "),", |printer| {
        match &written.sink_rate {
            Some(rate) => printer.key("sink_rate", format_args!("\"{}\"", rate.value)),
            None => printer.key("sink_rate", "None"),
        }
        match host.source_queue {
            Some(packets) => printer.key("source_queue", packets),
            None => printer.key("source_queue", "None"),
        }
    });
}

/// The last key of section `link`, when some links differ.
fn exceptions(except: &[LinkException]) -> String {
    if except.is_empty() {
        return String::new();
    }
    let entries: Vec<_> = except
        .iter()
        .map(|LinkException { on, link }| {
            let (rate, latency) = (link.rate.value, link.latency.value);
            format!(
                "(on: {}, rate: \"{rate}\", latency: \"{latency}\")",
                on.value
            )
        })
        .collect();
    format!(", except: [{}]", entries.join(", "))
}

fn switch(printer: &mut Printer, switch: &SwitchOptions) {
    printer.key("lanes", switch.lanes);
    printer.flits("lane_capacity", switch.lane_capacity);
    printer.key("queues", format_args!("{:?}", switch.queues));
    printer.key("sharing", format_args!("{:?}", switch.sharing));
    match switch.input_speedup {
        InputSpeedup::Limited(packets) => printer.key("input_speedup", packets),
        InputSpeedup::Unlimited => printer.key("input_speedup", "Unlimited"),
    }
    printer.flits("output_buffer", switch.output_buffer);
    printer.flits("output_lane_buffer", switch.output_lane_buffer);
    printer.key("matching", format_args!("{:?}", switch.matching));
    printer.key("iterations", switch.iterations);
    printer.key(
        "output_arbitration",
        format_args!("{:?}", switch.output_arbitration),
    );
    printer.key("reserve", switch.reserve);
    printer.key("forwarding", format_args!("{:?}", switch.forwarding));
    printer.cycles("routing_delay", switch.routing_delay);
    printer.cycles("allocation_delay", switch.allocation_delay);
    printer.cycles("crossbar_delay", switch.crossbar_delay);
    match switch.credit_latency {
        Some(cycles) => printer.cycles("credit_latency", cycles),
        None => printer.key("credit_latency", "Auto"),
    }
    match switch.marking_threshold {
        Some(flits) => printer.key("marking", format_args!("(threshold: \"{flits} flits\")")),
        None => printer.key("marking", "None"),
    }
}

fn faults(printer: &mut Printer, scenario: &Scenario) {
    let Some(faults) = &scenario.faults else {
        return printer.key("faults", "None");
    };
    printer.block("faults: (", "),", |printer| {
        printer.key("switches", failures(&faults.switches.value, member));
        let link = |link: &At<FailedLink>| match &link.value {
            FailedLink::Between(a, b) => format!("({}, {})", member(a), member(b)),
            FailedLink::Port(switch, port) => format!("Port({}, {port})", member(switch)),
        };
        printer.key("links", failures(&faults.links.value, link));
        printer.key("keep_connected", faults.keep_connected);
        printer.key("seed", faults.seed.unwrap_or(scenario.seed));
    });
}

fn failures<T>(failures: &Failures<T>, print: impl Fn(&T) -> String) -> String {
    match failures {
        Failures::None => "None".into(),
        Failures::Count(count) => format!("Count({count})"),
        Failures::Fraction(fraction) => format!("Fraction({fraction:?})"),
        Failures::List(list) => {
            let list: Vec<_> = list.iter().map(print).collect();
            format!("List([{}])", list.join(", "))
        }
    }
}

fn member(member: &At<Member>) -> String {
    match &member.value {
        Member::Number(number) => number.to_string(),
        Member::Name(name) => quote(name),
    }
}

fn qos(printer: &mut Printer, switch: &SwitchOptions) {
    match &switch.vl_arbitration {
        Some(tables) => printer.block("vl_arbitration: (", "),", |printer| {
            vl_arbitration(printer, tables);
        }),
        None => printer.key("vl_arbitration", "None"),
    }
    printer.key("management_lane", switch.management_lane);
}

fn vl_arbitration(printer: &mut Printer, tables: &VlArbitrationTables) {
    printer.key("high", format_args!("{:?}", tables.high));
    printer.key("low", format_args!("{:?}", tables.low));
    let key = "limit_of_high_priority";
    match tables.limit {
        HighPriorityLimit::Units(units) => printer.key(key, units),
        HighPriorityLimit::Packets(packets) => printer.key(key, format_args!("Packets({packets})")),
        HighPriorityLimit::Unlimited => printer.key(key, "Unlimited"),
    }
}

fn traffic(
    printer: &mut Printer,
    resolved: &Resolved,
    number: usize,
    class: &ClassPlan,
    parts: &Parts<'_>,
) {
    let written = &resolved.scenario.traffic[number];
    printer.key("name", quote(&class.name));
    printer.key(
        "hosts",
        hosts(&class.hosts, resolved.layout.graph.hosts().len()),
    );
    match &written.demand {
        Demand::Packets { pattern, process } => {
            printer.part("pattern", pattern, parts.patterns);
            printer.part("process", process, parts.processes);
        }
        Demand::Messages(messages) => printer.part("messages", messages, parts.messages),
    }
    match class.size.entries() {
        [(flits, _)] => printer.flits("size", u32::from(*flits)),
        entries => {
            let entry = |(flits, weight): &(u16, u32)| format!("(\"{flits} flits\", {weight})");
            let entries: Vec<_> = entries.iter().map(entry).collect();
            printer.key("size", format_args!("Mixed([{}])", entries.join(", ")));
        }
    }
    let levels: Vec<_> = class.service_levels.iter().map(|level| level.0).collect();
    match levels[..] {
        _ if class.management => printer.key("sl", "Management"),
        [level] => printer.key("sl", level),
        _ => printer.key("sl", format_args!("{levels:?}")),
    }
    match class.packets_per_host {
        Some(packets) => printer.key("packets", packets),
        None => printer.key("packets", "None"),
    }
}

/// A set of hosts in its shortest form.
fn hosts(hosts: &[HostId], count: usize) -> String {
    let (first, last) = (hosts[0].0, hosts[hosts.len() - 1].0);
    if hosts.len() == count {
        return "All".into();
    }
    if (last - first) as usize + 1 == hosts.len() {
        return format!("Range({first}, {last})");
    }
    let step = hosts[1].0 - first;
    let even = hosts.windows(2).all(|pair| pair[1].0 - pair[0].0 == step);
    if even && (last + step) as usize >= count {
        return format!("EveryNth({step}, {first})");
    }
    let numbers: Vec<_> = hosts.iter().map(ToString::to_string).collect();
    format!("List([{}])", numbers.join(", "))
}

fn phases(printer: &mut Printer, plan: &Plan) {
    let phases = &plan.phases;
    if phases.find_warmup {
        let bound = phases.warmup;
        printer.key("warmup", format_args!("Auto(at_most: \"{bound} cycles\")"));
    } else {
        printer.cycles("warmup", phases.warmup);
    }
    match phases.precision {
        Some(precision) => printer.block("measure: Auto(", "),", |printer| {
            printer.cycles("at_most", phases.measure);
            printer.key("confidence", precision.confidence);
            printer.key("half_width", precision.half_width);
            match phases.wall_seconds {
                Some(seconds) => printer.key("wall_time", format_args!("\"{seconds} s\"")),
                None => printer.key("wall_time", "None"),
            }
        }),
        None if phases.until_messages => {
            let bound = phases.measure;
            printer.key(
                "measure",
                format_args!("Messages(at_most: \"{bound} cycles\")"),
            );
        }
        None => printer.cycles("measure", phases.measure),
    }
    printer.cycles("drain", plan.phases.drain_limit);
    printer.cycles("watchdog", plan.phases.watchdog);
}

fn observe(printer: &mut Printer, plan: &Plan) {
    let observe = &plan.observe;
    printer.block("observe: (", "),", |printer| {
        match observe.packets {
            Sample::None => printer.key("packets", "None"),
            Sample::All => printer.key("packets", "All"),
            Sample::Every(n) => printer.key("packets", format_args!("Every({n})")),
            Sample::Fraction(f) => printer.key("packets", format_args!("Fraction({f:?})")),
        }
        printer.key("flows", observe.flows);
        if observe.classes.iter().all(|&taken| taken) {
            return printer.key("classes", "All");
        }
        let taken = plan
            .classes
            .iter()
            .zip(&observe.classes)
            .filter(|(_, taken)| **taken);
        let names: Vec<_> = taken.map(|(class, _)| quote(&class.name)).collect();
        printer.key("classes", format_args!("[{}]", names.join(", ")));
    });
}
