//! Connections: flows that have routes set up one after the other (D67 of the model).

use super::Plan;
use crate::control::set_up;
use std::collections::BTreeMap;

/// The connection of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its name in all caches: the id of its first flow.
    pub id: u32,
    /// Its next flow (id) after this one.
    pub next: Option<u32>,
}

/// The connections of all flows of classes that set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connections {
    /// By flow (id).
    of: Vec<Option<Connection>>,
}

impl Connections {
    /// That of a flow (id); `None`: its class does not set up.
    ///
    /// # Panics
    /// When there is no such flow.
    pub fn of(&self, flow: usize) -> Option<Connection> {
        self.of[flow]
    }

    /// Whether a flow (id) of a class that sets up is not the first of its connection: it is told no start.
    pub fn is_later(&self, flow: usize) -> bool {
        self.of[flow].is_some_and(|connection| connection.id as usize != flow)
    }
}

impl Plan {
    /// Whether the routes of some flows are set up (D67).
    pub fn sets_up(&self) -> bool {
        self.classes.iter().any(|class| class.set_up().is_some())
    }

    /// The connections, where routes of flows are set up. Cost: O(flows * log flows).
    pub fn connections(&self) -> Option<Connections> {
        if !self.sets_up() {
            return None;
        }
        let mut of: Vec<Option<Connection>> = vec![None; self.flows.len()];
        // first and last flow so far of each pair, by class
        let mut pairs = BTreeMap::new();
        for (id, flow) in self.flows.iter().enumerate() {
            let class = &self.classes[usize::from(flow.class)];
            let Some(parameters) = class.set_up() else {
                continue;
            };
            let mut first = id as u32;
            if parameters.connections == set_up::Connections::Pairs {
                let key = (flow.class, flow.source, flow.destination);
                let [known, last] = pairs.entry(key).or_insert([first, first]);
                first = *known;
                if let Some(before) = of[*last as usize].as_mut() {
                    before.next = Some(id as u32);
                }
                *last = id as u32;
            }
            of[id] = Some(Connection {
                id: first,
                next: None,
            });
        }
        Some(Connections { of })
    }
}
