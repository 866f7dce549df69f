//! What exists, from the registries: the common form behind `list` and `describe`.

use crate::admission::ADMISSIONS;
use crate::control::ALGORITHMS;
use crate::error::Error;
use crate::fluid::rates::SOLVERS;
use crate::fluid::routes::POLICIES;
use crate::metrics;
use crate::plan::SCHEDULERS;
use crate::references::Reference;
use crate::registry::{Parameter, Registry, unknown};
use crate::routing::ENGINES;
use crate::scenario::sections::{PRESETS, SECTIONS};
use crate::topology::TOPOLOGIES;
use crate::traffic::{FLOW_GENERATORS, MESSAGE_SOURCES, PATTERNS, PROCESSES, SLOT_SOURCES};

/// One thing that can be described.
#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) summary: &'static str,
    /// Where it stands in a scenario, or its unit.
    pub(super) note: Option<String>,
    pub(super) parameters: &'static [Parameter],
    pub(super) guarantees: &'static [&'static str],
    pub(super) references: &'static [Reference],
}

/// All things of one kind.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// Name on the command line.
    pub(super) name: &'static str,
    /// Heading.
    pub(super) title: &'static str,
    pub(super) items: Vec<Description>,
}

/// Every kind.
pub(super) fn kinds() -> Vec<Kind> {
    vec![
        parts("topology", "Topologies: fabric.topology", &TOPOLOGIES),
        parts("switch", "Switches: fabric.switch.preset", &PRESETS),
        parts("routing", "Routing engines: routing", &ENGINES),
        parts(
            "pattern",
            "Traffic patterns: traffic[...].pattern",
            &PATTERNS,
        ),
        parts(
            "process",
            "Arrival processes: traffic[...].process",
            &PROCESSES,
        ),
        parts(
            "messages",
            "Message sources: traffic[...].messages",
            &MESSAGE_SOURCES,
        ),
        parts(
            "flows",
            "Flow generators: traffic[...].flows[...].pairs",
            &FLOW_GENERATORS,
        ),
        parts(
            "scheduler",
            "Schedulers of flows: fabric.host.scheduler",
            &SCHEDULERS,
        ),
        parts(
            "slots",
            "Slot sources: traffic[...].slots.source",
            &SLOT_SOURCES,
        ),
        parts(
            "admission",
            "Admission controls: admission.control",
            &ADMISSIONS,
        ),
        parts(
            "control",
            "Control algorithms: traffic[...].control",
            &ALGORITHMS,
        ),
        parts(
            "solver",
            "Solvers of rates at flow level: fluid.solver",
            &SOLVERS,
        ),
        parts(
            "policy",
            "Policies of routes at flow level: fluid.policy",
            &POLICIES,
        ),
        sections(),
        metrics(),
    ]
}

/// The kind of a name.
pub(super) fn kind(name: &str) -> Result<Kind, Error> {
    let kinds = kinds();
    let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    let found = kinds.into_iter().find(|kind| kind.name == name);
    found.ok_or_else(|| Error::Usage(unknown("kind", name, names.into_iter())))
}

fn parts<B: Copy>(name: &'static str, title: &'static str, registry: &Registry<B>) -> Kind {
    let items = registry.entries.iter().map(|entry| Description {
        name: entry.name,
        aliases: entry.aliases,
        summary: entry.summary,
        note: None,
        parameters: entry.parameters,
        guarantees: entry.guarantees,
        references: entry.references,
    });
    Kind {
        name,
        title,
        items: items.collect(),
    }
}

fn plain(name: &'static str, summary: &'static str, note: String) -> Description {
    Description {
        name,
        aliases: &[],
        summary,
        note: Some(note),
        parameters: &[],
        guarantees: &[],
        references: &[],
    }
}

fn sections() -> Kind {
    let items = SECTIONS.iter().map(|section| Description {
        parameters: section.keys,
        ..plain(
            section.name,
            section.summary,
            match section.path {
                "" => "The whole file: Scenario(...)".into(),
                path => format!("In a scenario: {path}"),
            },
        )
    });
    Kind {
        name: "section",
        title: "Sections of a scenario",
        items: items.collect(),
    }
}

fn metrics() -> Kind {
    let items = metrics::all().map(|metric| {
        let note = format!("Unit: {}", metric.unit);
        plain(metric.path, metric.summary, note)
    });
    Kind {
        name: "metric",
        title: "Values of summary.json",
        items: items.collect(),
    }
}
