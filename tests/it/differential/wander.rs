//! An adaptive routing function that may deadlock: on their way to each host packets come through the switches in an order of their
//! own, by any way that leads on in it.

use crate::random_fabric::{Adaptive, Dice};
use std::sync::Arc;
use virtlane::ids::{HostId, SwitchId};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Selection};
use virtlane::topology::{Endpoint, Graph};

/// See the module.
#[derive(Debug)]
struct Wander {
    graph: Graph,
    width: u8,
    /// Ports of the candidates of a head.
    most: usize,
    selection: Selection,
    /// Whether lane 0 is an escape; it may deadlock as well.
    escapes: bool,
    /// Place of a switch, the first one that of the host: `[destination host][switch]`.
    places: Vec<Vec<usize>>,
}

/// A function for a graph.
pub(super) fn wander(dice: &mut Dice, graph: &Graph) -> Adaptive {
    let places = graph.host_ids().map(|host| walk(dice, graph, host));
    let function = Wander {
        places: places.collect(),
        graph: graph.clone(),
        width: dice.pick(&[1, 1, 1, 2, 3]),
        most: dice.pick(&[1, 1, 2, 8]),
        selection: dice.pick(&[
            Selection::First,
            Selection::Random,
            Selection::LeastLoad,
            Selection::Open,
            Selection::Open,
            Selection::Open,
        ]),
        escapes: dice.chance(50),
    };
    Adaptive {
        function: Arc::new(function),
        deadlock_free: false,
    }
}

/// The places of all switches in a walk from that of the host that goes on as long as it can.
fn walk(dice: &mut Dice, graph: &Graph, host: HostId) -> Vec<usize> {
    let (home, _) = graph.attachment(host).expect("a switch");
    let mut places = vec![usize::MAX; graph.switches().len()];
    places[home.index()] = 0;
    let (mut path, mut seen) = (vec![home], 1);
    while let Some(&at) = path.last() {
        let next = graph.neighbors(at).map(|(_, _, next)| next);
        let next: Vec<SwitchId> = next
            .filter(|next| places[next.index()] == usize::MAX)
            .collect();
        if next.is_empty() {
            path.pop();
            continue;
        }
        let next = dice.pick(&next);
        places[next.index()] = seen;
        seen += 1;
        path.push(next);
    }
    places
}

impl AdaptiveRouting for Wander {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn candidates(&self, at: SwitchId, destination: HostId, _: Course, found: &mut Vec<Candidate>) {
        found.clear();
        let (home, port) = self.graph.attachment(destination).expect("a switch");
        if at == home {
            found.push(Candidate {
                port,
                lane: 0,
                escape: false,
            });
            return;
        }
        let places = &self.places[destination.index()];
        let leads_on = |channel| match self.graph.channel(channel).to {
            Endpoint::Switch(next, _) => places[next.index()] < places[at.index()],
            Endpoint::Host(_) => false,
        };
        let ports = self.graph.connected_ports(at);
        let ports = ports.filter(|&(_, channel)| leads_on(channel));
        for (port, _) in ports.take(self.most) {
            found.extend((0..self.width).map(|lane| Candidate {
                port,
                lane,
                escape: self.escapes && lane == 0,
            }));
        }
    }
}
