//! Every packet followed one by one: the same promises, cycles and lengths.

use super::escape::extended;
use super::*;

/// Dependencies of committed packets, found by following every course of every pair.
#[derive(Default)]
struct Followed {
    after: BTreeMap<Vertex, BTreeSet<Vertex>>,
    longest: usize,
}

impl Followed {
    fn packet(
        &mut self,
        graph: &Graph,
        adaptive: &Adaptive,
        at: SwitchId,
        destination: HostId,
        course: Course,
        path: &mut Vec<Vertex>,
        seen: &mut BTreeSet<(SwitchId, Course, Option<Vertex>)>,
    ) {
        assert!(path.len() < 100, "a packet goes round");
        let mut found = Vec::new();
        adaptive
            .routing
            .candidates(at, destination, course, &mut found);
        let (home, port) = graph.attachment(destination).unwrap();
        self.longest = self.longest.max(path.len());
        if at == home {
            let ejection = Candidate {
                port,
                lane: 0,
                escape: false,
            };
            assert_eq!(found, [ejection]);
            return;
        }
        assert!(!found.is_empty());
        for candidate in found {
            assert!(candidate.lane < adaptive.routing.width());
            let channel = graph.port_channel(at, candidate.port).unwrap();
            let vertex = (channel, candidate.lane);
            self.after.entry(vertex).or_default();
            if let Some(&last) = path.last() {
                self.after.get_mut(&last).unwrap().insert(vertex);
            }
            let next = graph.channel(channel).to.switch().unwrap();
            let course = adaptive.routing.advance(next, destination, course);
            path.push(vertex);
            if seen.insert((next, course, Some(vertex))) {
                self.packet(graph, adaptive, next, destination, course, path, seen);
            }
            path.pop();
        }
    }
}

#[test]
fn every_engine_keeps_its_promises_on_every_graph() {
    let mut proved = BTreeMap::new();
    for graph in graphs() {
        for text in TEXTS {
            let adaptive = match adapt(&graph, text) {
                Err(RoutingError::Unsupported { .. }) => continue,
                adaptive => adaptive.unwrap(),
            };
            let proof = prove(&graph, &adaptive).unwrap_or_else(|error| panic!("{text}: {error}"));
            let hosts = graph.hosts().len() as u64;
            assert_eq!(proof.reachable_pairs, hosts * (hosts - 1), "{text}");
            assert!(
                proof.acyclic || !adaptive.guarantees.deadlock_free,
                "{text}"
            );
            agrees_with_packets(&graph, &adaptive, &proof, text);
            *proved.entry(text).or_insert(0) += 1;
        }
    }
    assert!(TEXTS.iter().all(|text| proved[text] >= 4), "{proved:?}");
}

/// The proof's cycle, length and number of dependencies against packets followed one by one.
fn agrees_with_packets(graph: &Graph, adaptive: &Adaptive, proof: &Proof, text: &str) {
    let legs = adaptive.routing.legs().unwrap();
    let mut followed = Followed::default();
    let mut dice = Dice(stream(7, Purpose::Adaptive, 0).into());
    for destination in graph.host_ids() {
        let (home, _) = graph.attachment(destination).unwrap();
        for source in graph.host_ids() {
            let (source, _) = graph.attachment(source).unwrap();
            if source == home {
                continue;
            }
            let known = courses(graph, legs, source, home);
            for _ in 0..4 {
                let course = adaptive.routing.depart(source, destination, &mut dice);
                assert!(known.contains(&course), "{text}: {course:?}");
            }
            let mut seen = BTreeSet::new();
            for course in known {
                let path = &mut Vec::new();
                followed.packet(
                    graph,
                    adaptive,
                    source,
                    destination,
                    course,
                    path,
                    &mut seen,
                );
            }
        }
    }
    assert!(followed.longest <= proof.max_hops as usize, "{text}");
    let choices = proof.choices.as_ref().unwrap();
    if adaptive.routing.selection() == Selection::Open {
        assert_eq!(is_acyclic(extended(graph, legs)), proof.acyclic, "{text}");
        return;
    }
    let dependencies: usize = followed.after.values().map(BTreeSet::len).sum();
    assert!(dependencies as u64 <= proof.dependencies, "{text}");
    if !choices.detours {
        assert_eq!(dependencies as u64, proof.dependencies, "{text}");
        assert_eq!(followed.longest, proof.max_hops as usize, "{text}");
    }
    assert!(is_acyclic(followed.after) || !proof.acyclic, "{text}");
}
