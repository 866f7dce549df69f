//! The flows of a class that begin at one host and have one sender (D44).

use super::flow::{Look, line};
use super::limit::{Limited, Terms};
use super::sender::Controlled;
use crate::reference::Setting;
use virtlane::ids::HostId;

/// A group.
#[derive(Debug)]
pub(super) struct Group {
    /// Ids of its flows, ascending.
    pub(super) flows: Vec<usize>,
    pub(super) class: usize,
    pub(super) controlled: Controlled,
    limited: Limited,
}

impl Group {
    /// The groups of a host, in the order of their classes.
    pub(super) fn all(setting: Setting<'_>, host: HostId) -> Vec<Self> {
        let plan = setting.plan;
        let takes_rates = plan.host.scheduler.takes_rates();
        let mut groups = Vec::new();
        for (class, of_class) in plan.classes.iter().enumerate() {
            let control = of_class.control.as_ref();
            let Some(control) = control.filter(|control| control.algorithm.is_shared()) else {
                continue;
            };
            let flows = plan.flows.iter().enumerate();
            let flows =
                flows.filter(|(_, flow)| usize::from(flow.class) == class && flow.source == host);
            let flows: Vec<usize> = flows.map(|(id, _)| id).collect();
            if !flows.is_empty() {
                assert!(!takes_rates, "D44");
                groups.push(Self {
                    flows,
                    class,
                    controlled: Controlled::new(
                        &control.algorithm,
                        line(setting, host, class),
                        None,
                    ),
                    limited: Limited::default(),
                });
            }
        }
        groups
    }

    /// The limit of the group, which takes part from cycle 0 on.
    fn terms(&self, look: Look<'_>) -> Terms {
        Terms {
            limit: self.controlled.limit(look.now),
            begin: Some(0),
            pace: look.pace,
        }
    }

    /// Whether its gate is open.
    pub(super) fn is_open(&self, look: Look<'_>) -> bool {
        let eligible = self.limited.eligible(self.terms(look));
        eligible.is_some_and(|cycle| cycle <= look.now) && self.controlled.is_open(look.now)
    }

    /// A packet of one of its flows starts.
    pub(super) fn start(&mut self, look: Look<'_>, flits: u16) {
        assert!(self.is_open(look), "D44: its gate is closed");
        self.limited.go(self.terms(look), flits, look.now);
        self.controlled.start();
    }
}
