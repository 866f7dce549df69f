//! The proof of tables against following every path by itself, on random fabrics with random tables.
//!
//! The tables come from a plain description ([`random`]); the same description, not the tables, is what
//! [`naive`] follows, packet by packet. Nothing is shared with what is tested but the graph.

mod fabric;
mod lanes;
mod naive;
mod random;

use super::reach::Reach;
use super::verify::verify;
use crate::ids::SwitchId;
use crate::routing::loads::ChannelLoads;
use crate::routing::{Proof, UNREACHABLE, VerifyError};
use naive::{Found, Wrong};
use random::Case;
use std::collections::BTreeMap;

/// Fabrics drawn.
const CASES: u64 = 3000;

/// What kinds of cases there were, so that none is missing.
type Kinds = BTreeMap<&'static str, u32>;

#[test]
fn the_proof_says_what_following_every_path_says() {
    let mut kinds = Kinds::new();
    for seed in 0..CASES {
        let case = Case::random(seed);
        let found = naive::follow(&case);
        count_kinds(&case, &found, &mut kinds);
        check(&case, &found, seed);
    }
    assert_eq!(kinds.len(), 17, "{kinds:?}");
    assert!(kinds.values().all(|&cases| cases >= 30), "{kinds:?}");
}

/// With leave for it, pairs whose way ends at a switch without an entry are counted; all other faults stay faults.
#[test]
fn pairs_without_an_entry_are_counted_when_they_may_be() {
    let (mut counted, mut refused) = (0, 0);
    for seed in 0..CASES {
        let mut case = Case::random(seed);
        if !matches!(naive::follow(&case).wrong, Some((.., Wrong::NoEntry(_)))) {
            continue;
        }
        case.allow_unreachable = true;
        case.promise(false, false);
        let found = naive::follow(&case);
        check(&case, &found, seed);
        if found.wrong.is_some() {
            refused += 1;
            continue;
        }
        counted += 1;
        let reach = Reach::new(&case.graph, &case.tables);
        for source in case.senders() {
            for destination in case.receivers().filter(|&d| d != source) {
                let injection = case.graph.host_channel(source).index();
                let pair = (
                    destination.index(),
                    case.plain.row[injection],
                    source.index(),
                );
                let has_way = !found.unreachable.contains(&pair);
                assert_eq!(reach.has_way(source, destination), has_way, "{seed}");
            }
        }
    }
    assert!(counted >= 30 && refused >= 10, "{counted} {refused}");
}

/// Tables that ask for what is not there are refused before a path is followed.
#[test]
fn tables_out_of_range_are_malformed() {
    let mut refused = BTreeMap::new();
    for seed in 0..400 {
        let mut case = Case::random(seed);
        let words = case.spoil();
        case.promise(false, false);
        match verify(&case.graph, &case.tables, &case.options()) {
            Err(VerifyError::Malformed { reason, .. }) if reason.contains(words) => {}
            other => panic!("{seed}: {words}: {other:?}"),
        }
        *refused.entry(words).or_insert(0) += 1;
    }
    assert!(
        refused.len() == 5 && refused.values().all(|&n| n > 20),
        "{refused:?}"
    );
}

fn count_kinds(case: &Case, found: &Found, kinds: &mut Kinds) {
    let broken = found.wrong.is_some();
    let merged = case.merged();
    let cyclic = !broken && found.girth().is_some();
    for (kind, is) in [
        ("sound", !broken),
        (
            "no entry",
            matches!(found.wrong, Some((.., Wrong::NoEntry(_)))),
        ),
        (
            "no link",
            matches!(found.wrong, Some((.., Wrong::NoLink(..)))),
        ),
        (
            "wrong host",
            matches!(found.wrong, Some((.., Wrong::OtherHost(..)))),
        ),
        ("loop", matches!(found.wrong, Some((.., Wrong::Loop(_))))),
        ("cyclic", cyclic),
        ("acyclic", !broken && !cyclic),
        ("minimal", !broken && found.detour.is_none()),
        ("detours", !broken && found.detour.is_some()),
        ("rows by input", !case.tables.input_row.is_empty()),
        (
            "lanes by input",
            !merged && !case.tables.lanes.by_input.is_empty(),
        ),
        (
            "lanes by output",
            !merged && case.tables.lanes.by_input.is_empty(),
        ),
        ("hop layers", !case.tables.hop_layer.is_empty()),
        ("path layers", !case.tables.path_layer.is_empty()),
        ("several levels", case.levels.len() > 1),
        ("some senders", case.senders.is_some()),
        ("several blocks", case.graph.hosts().len() > 64),
    ] {
        if is {
            *kinds.entry(kind).or_default() += 1;
        }
    }
}

fn check(case: &Case, found: &Found, seed: u64) {
    let result = verify(&case.graph, &case.tables, &case.options());
    let Some(wrong) = &found.wrong else {
        // without promises there is a proof, whatever the tables do
        let mut free = case.clone();
        free.promise(false, false);
        let proof = verify(&free.graph, &free.tables, &free.options());
        let proof = proof.unwrap_or_else(|error| panic!("{seed}: {error}"));
        same(&proof, found, seed);
        if case.sends_everywhere() {
            let loads = ChannelLoads::uniform(&case.graph, &case.tables);
            assert_eq!(loads.paths, found.loads, "{seed}: loads");
        }
        return promises_are_checked(case, found, &proof, result, seed);
    };
    let &(destination, _, switch, ref wrong) = wrong;
    match result {
        Err(VerifyError::NoPath {
            from,
            to,
            reason,
            is_missing,
        }) => {
            assert_eq!(is_missing, matches!(wrong, Wrong::NoEntry(_)), "{seed}");
            assert_eq!(from, name(case, switch), "{seed}");
            assert_eq!(to, case.graph.hosts()[destination].name, "{seed}");
            assert!(says(case, &reason, wrong), "{seed}: {reason}, {wrong:?}");
        }
        other => panic!("{seed}: {wrong:?} from {switch}: {other:?}"),
    }
}

fn name(case: &Case, switch: usize) -> &str {
    &case.graph.switches()[switch].name
}

fn says(case: &Case, reason: &str, wrong: &Wrong) -> bool {
    match wrong {
        Wrong::NoEntry(switch) => reason == format!("{} has no entry", name(case, *switch)),
        Wrong::NoLink(switch, port) => {
            assert_ne!(*port, UNREACHABLE);
            reason == format!("{} port {port} has no link", name(case, *switch))
        }
        Wrong::OtherHost(switch, port, host) => {
            let host = &case.graph.hosts()[*host].name;
            reason == format!("{} port {port} leads to {host}", name(case, *switch))
        }
        Wrong::Loop(switches) => switches
            .iter()
            .any(|&switch| reason == format!("it loops through {}", name(case, switch))),
    }
}

fn same(proof: &Proof, found: &Found, seed: u64) {
    assert_eq!(
        proof.vertices,
        found.vertices.len() as u64,
        "{seed}: vertices"
    );
    let dependencies = found.dependencies.len() as u64;
    assert_eq!(proof.dependencies, dependencies, "{seed}: dependencies");
    assert_eq!(proof.channels_used, found.channels(), "{seed}: channels");
    assert_eq!(proof.hop_histogram, found.pairs_by_hops, "{seed}: hops");
    let pairs: u64 = found.pairs_by_hops.iter().sum();
    assert_eq!(proof.reachable_pairs, pairs, "{seed}: pairs");
    let unreachable = found.unreachable.len() as u64;
    assert_eq!(proof.unreachable_pairs, unreachable, "{seed}: no way");
    let named = found.unreachable.iter().take(4);
    let named: Vec<_> = named
        .map(|&(to, _, from)| (from.into(), to.into()))
        .collect();
    assert_eq!(proof.unreachable, named, "{seed}: names");
    let longest = found.pairs_by_hops.len().saturating_sub(1);
    assert_eq!(proof.max_hops as usize, longest, "{seed}: longest path");
    let hops = (0u64..).zip(&found.pairs_by_hops).map(|(hops, n)| hops * n);
    let mean = hops.sum::<u64>() as f64 / pairs.max(1) as f64;
    assert!((proof.mean_hops - mean).abs() < 1e-12, "{seed}: mean hops");
    assert_eq!(proof.minimal, found.detour.is_none(), "{seed}: minimal");
    let girth = found.girth();
    assert_eq!(proof.acyclic, girth.is_none(), "{seed}: acyclic");
    assert_eq!(proof.cycle.is_none(), girth.is_none(), "{seed}: cycle");
    if let (Some(cycle), Some(girth)) = (&proof.cycle, girth) {
        let vertices: Vec<_> = cycle.iter().map(|&(c, l)| (c.0, l.0)).collect();
        assert_eq!(
            vertices.iter().min(),
            vertices.first(),
            "{seed}: start of the cycle"
        );
        let next = vertices.iter().cycle().skip(1);
        for (&from, &to) in vertices.iter().zip(next) {
            assert!(
                found.dependencies.contains(&(from, to)),
                "{seed}: {cycle:?}"
            );
        }
        // all starts are tried in fabrics of this size
        assert_eq!(vertices.len(), girth, "{seed}: shortest cycle");
    }
}

fn promises_are_checked(
    case: &Case,
    found: &Found,
    proof: &Proof,
    result: Result<Proof, VerifyError>,
    seed: u64,
) {
    let promised = case.tables.guarantees;
    let is_cyclic = found.girth().is_some();
    match (result, &found.detour) {
        (
            Err(VerifyError::NotMinimal {
                from,
                to,
                hops,
                shortest,
                ..
            }),
            Some(detour),
        ) => {
            assert!(promised.minimal, "{seed}: not promised");
            let SwitchId(switch) = detour.from;
            assert_eq!(from, name(case, switch as usize), "{seed}");
            assert_eq!(to, case.graph.hosts()[detour.destination].name, "{seed}");
            assert_eq!((hops, shortest), (detour.hops, detour.shortest), "{seed}");
        }
        (Err(VerifyError::Cyclic { .. }), detour) => {
            assert!(
                promised.deadlock_free && is_cyclic && !case.pool_shared,
                "{seed}"
            );
            assert!(!promised.minimal || detour.is_none(), "{seed}");
        }
        (Ok(kept), detour) => {
            assert!(!promised.minimal || detour.is_none(), "{seed}: minimal");
            let may_wait = !promised.deadlock_free || case.pool_shared;
            assert!(may_wait || !is_cyclic, "{seed}: deadlock-free");
            assert_eq!(&kept, proof, "{seed}");
        }
        (other, detour) => panic!("{seed}: {other:?}, {detour:?}"),
    }
}
