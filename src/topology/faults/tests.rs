//! What fails, what remains, and what is refused.

use super::*;
use crate::topology::Shape;
use crate::topology::TOPOLOGIES;
use crate::topology::survey::Survey;
use crate::topology::tests::{built, context, samples};
use proptest::prelude::*;

fn graph(text: &str) -> Graph {
    built(text, &context())
}

fn plan(switches: Failing<SwitchId>, links: Failing<LinkId>) -> FaultPlan {
    FaultPlan {
        switches,
        links,
        keep_connected: true,
        seed: 1,
    }
}

#[test]
fn without_faults_the_graph_is_the_same() {
    for (name, graph) in samples() {
        let same = apply(&graph, &plan(Failing::Count(0), Failing::Fraction(0.0))).unwrap();
        assert_eq!(same.graph, graph, "{name}");
    }
}

/// 8x8 mesh with 5 % of its 112 links failed: 6 links.
#[test]
fn a_fraction_of_links_is_rounded() {
    let mesh = graph("Mesh(radix: [8, 8])");
    let faulty = apply(&mesh, &plan(Failing::Count(0), Failing::Fraction(0.05))).unwrap();
    assert_eq!(faulty.failed.links.len(), 6);
    let survey = Survey::new(&faulty.graph);
    assert_eq!((survey.switch_links, survey.components.len()), (106, 1));
    assert_eq!(faulty.graph.shape(), &Shape::Irregular);
    assert_eq!(faulty.graph.hosts().len(), 64);
}

#[test]
fn hosts_of_failed_switches_disappear() {
    let mesh = graph("Mesh(radix: [3, 3], hosts_per_switch: 2)");
    let faulty = apply(
        &mesh,
        &plan(Failing::List(vec![SwitchId(4)]), Failing::Count(0)),
    );
    let faulty = faulty.unwrap();
    assert_eq!(faulty.failed.switches, ["S1.1"]);
    assert_eq!(faulty.failed.hosts, ["H8", "H9"]);
    assert!(faulty.failed.links.is_empty());
    assert_eq!(faulty.graph.switches()[4].name, "S2.1");
    assert_eq!(faulty.graph.hosts()[8].name, "H10");
    assert_eq!(Survey::new(&faulty.graph).switch_links, 8);
}

#[test]
fn a_host_goes_with_its_link() {
    let ring = graph("Ring(switches: 3)");
    let host_link = ring.host_channel(crate::ids::HostId(1)).link();
    let faulty = apply(
        &ring,
        &plan(Failing::Count(0), Failing::List(vec![host_link])),
    );
    let faulty = faulty.unwrap();
    assert_eq!(faulty.failed.hosts, ["H1"]);
    assert_eq!(faulty.failed.links, ["H1 - S1 port 3"]);
    assert_eq!(
        faulty.graph.attachment(crate::ids::HostId(1)),
        Some((SwitchId(2), 3))
    );
}

#[test]
fn a_cut_is_refused_unless_allowed() {
    let ring = graph("Ring(switches: 6)");
    let both = plan(Failing::Count(0), Failing::List(vec![LinkId(0), LinkId(3)]));
    assert_eq!(
        apply(&ring, &both).unwrap_err().to_string(),
        "the failure of `S3 port 1 - S4 port 2` cuts the fabric in two, expected another one or \
         `keep_connected: false`"
    );
    let allowed = FaultPlan {
        keep_connected: false,
        ..both
    };
    let parts = Survey::new(&apply(&ring, &allowed).unwrap().graph).components;
    assert_eq!(parts.len(), 2);
    assert_eq!(
        apply(&ring, &plan(Failing::Count(0), Failing::Count(2)))
            .unwrap_err()
            .to_string(),
        "2 of 6 links between switches cannot fail without cutting the fabric in two (with this seed 1 \
         can): expected fewer, or `keep_connected: false`"
    );
    assert_eq!(
        apply(&ring, &plan(Failing::Count(9), Failing::Count(0)))
            .unwrap_err()
            .to_string(),
        "9 switches cannot fail, there are 6"
    );
    let twice = plan(
        Failing::List(vec![SwitchId(1), SwitchId(1)]),
        Failing::Count(0),
    );
    assert_eq!(
        apply(&ring, &twice).unwrap_err().to_string(),
        "`S1` has failed already, expected it once"
    );
    let all = FaultPlan {
        keep_connected: false,
        ..plan(Failing::Fraction(1.0), Failing::Count(0))
    };
    assert_eq!(
        apply(&ring, &all).unwrap_err().to_string(),
        "too much fails: the topology has no switch"
    );
}

proptest! {
    #[test]
    fn what_is_connected_stays_connected(
        sample in 0..TOPOLOGIES.entries.len(),
        switches in 0u32..4,
        fraction in 0.0f64..0.3,
        seed in 0u64..1000,
    ) {
        let (name, graph) = samples().swap_remove(sample);
        let plan = FaultPlan {
            seed,
            ..plan(Failing::Count(switches), Failing::Fraction(fraction))
        };
        if let Ok(faulty) = apply(&graph, &plan) {
            let survey = Survey::new(&faulty.graph);
            prop_assert!(survey.components.len() == 1, "{}", name);
            prop_assert_eq!(faulty.failed.switches.len(), switches as usize);
            prop_assert_eq!(faulty.failed.hosts.len() + faulty.graph.hosts().len(), graph.hosts().len());
            prop_assert_eq!(apply(&graph, &plan).unwrap(), faulty);
        }
    }
}
