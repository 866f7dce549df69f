//! Escape lanes: the extended dependency graph by its definition, on drawn functions.

use super::*;

/// The extended dependency graph of the escape lanes, from its definition.
pub(super) fn extended(graph: &Graph, legs: &dyn Legs) -> BTreeMap<Vertex, BTreeSet<Vertex>> {
    let mut after: BTreeMap<Vertex, BTreeSet<Vertex>> = BTreeMap::new();
    for goal in graph.switch_ids() {
        if graph.attached_hosts(goal).next().is_none() {
            continue;
        }
        let ways = |at: SwitchId, word: u16| {
            let mut found = Vec::new();
            if at != goal {
                legs.ways(at, goal, word, &mut found);
            }
            found.into_iter().map(move |candidate| {
                let channel = graph.port_channel(at, candidate.port).unwrap();
                (channel, candidate)
            })
        };
        for word in 0..legs.words() {
            let mut reached = BTreeSet::new();
            let mut open: Vec<SwitchId> = graph
                .switch_ids()
                .filter(|&source| {
                    let mut words = Vec::new();
                    if source != goal && graph.attached_hosts(source).next().is_some() {
                        legs.starts(source, goal, Leg::Last, &mut words);
                    }
                    words.contains(&word)
                })
                .collect();
            while let Some(at) = open.pop() {
                if reached.insert(at) {
                    open.extend(ways(at, word).filter_map(|(c, _)| graph.channel(c).to.switch()));
                }
            }
            for &at in &reached {
                for (channel, escape) in ways(at, word).filter(|(_, way)| way.escape) {
                    let mut met = BTreeSet::new();
                    let mut open = vec![graph.channel(channel).to.switch().unwrap()];
                    let next = after.entry((channel, escape.lane)).or_default();
                    while let Some(at) = open.pop() {
                        if !met.insert(at) {
                            continue;
                        }
                        for (channel, way) in ways(at, word) {
                            if way.escape {
                                next.insert((channel, way.lane));
                            } else {
                                open.extend(graph.channel(channel).to.switch());
                            }
                        }
                    }
                }
            }
        }
    }
    after
}

/// Shortest ways on an adaptive lane, and one escape each, drawn.
#[derive(Debug)]
struct Drawn {
    ports: Vec<Vec<u16>>,
    escape: Vec<(u16, u8)>,
    switches: usize,
    escape_lanes: u8,
}

impl Drawn {
    fn new(graph: &Graph, seed: u64, escape_lanes: u8) -> Self {
        let mut rng = stream(seed, Purpose::Routing, 0);
        let adjacency = Adjacency::new(graph);
        let (mut ports, mut escape) = (Vec::new(), Vec::new());
        for goal in graph.switch_ids() {
            let hops = adjacency.distances(&[goal]);
            for at in graph.switch_ids() {
                let exits = adjacency.exits(at.index()).iter();
                let nearer = exits.filter(|exit| hops[exit.neighbor as usize] < hops[at.index()]);
                let nearer: Vec<u16> = nearer.map(|exit| exit.port).collect();
                let drawn = nearer.get(below(&mut rng, nearer.len().max(1) as u32) as usize);
                escape.push((
                    drawn.copied().unwrap_or(0),
                    below(&mut rng, u32::from(escape_lanes)) as u8,
                ));
                ports.push(nearer);
            }
        }
        Self {
            ports,
            escape,
            switches: graph.switches().len(),
            escape_lanes,
        }
    }
}

impl Legs for Drawn {
    fn width(&self) -> u8 {
        self.escape_lanes + 1
    }
    fn selection(&self) -> Selection {
        Selection::Open
    }
    fn ways(&self, at: SwitchId, goal: SwitchId, _: u16, found: &mut Vec<Candidate>) {
        let place = goal.index() * self.switches + at.index();
        let lane = self.escape_lanes;
        let ports = self.ports[place].iter();
        found.extend(ports.map(|&port| Candidate {
            port,
            lane,
            escape: false,
        }));
        let (port, lane) = self.escape[place];
        found.push(Candidate {
            port,
            lane,
            escape: true,
        });
    }
}

#[test]
fn the_extended_graph_is_that_of_the_definition() {
    let budget = LaneBudget {
        lanes: 15,
        service_levels: 1,
    };
    let (mut acyclic, mut only_indirect, mut cyclic) = (0, 0, 0);
    for graph in [
        grid(&[3, 3], false, 1),
        grid(&[5], true, 1),
        grid(&[2, 3], false, 1),
        complete(5),
    ] {
        for seed in 0..60 {
            let legs = Drawn::new(&graph, seed, 1 + (seed % 4) as u8);
            let wanted = is_acyclic(extended(&graph, &legs));
            let adaptive = Adaptive::by_legs(&graph, "Drawn", legs, budget, [true, false]).unwrap();
            let proof = prove(&graph, &adaptive).unwrap();
            assert_eq!(proof.acyclic, wanted, "seed {seed}");
            match proof.cycle {
                None => acyclic += 1,
                Some(cycle) => {
                    cyclic += 1;
                    let turns = (0..cycle.len()).all(|i| {
                        let (from, to) = (cycle[i].0, cycle[(i + 1) % cycle.len()].0);
                        graph.channel(from).to.switch() == graph.channel(to).from.switch()
                    });
                    only_indirect += u32::from(!turns);
                }
            }
        }
    }
    assert!(
        acyclic > 20 && cyclic > 20 && only_indirect > 0,
        "{acyclic} {cyclic} {only_indirect}"
    );
}
