//! Solvers against worked examples, a naive reference and the definitions.

use super::{Allocation, SOLVERS};
use crate::fluid::check::{self, Unfair};
use crate::fluid::network::{Builder, Network, UNIT, flits_per_cycle};
use crate::fluid::routes::POLICIES;
use crate::rng::{Purpose, Stream, below, stream};
use proptest::prelude::*;

/// Flows as (weight, application, links).
type Written<'a> = &'a [(u64, u32, &'a [u32])];

fn network(capacities: &[u128], flows: Written<'_>) -> Network {
    let mut builder = Builder::new(capacities.to_vec());
    for &(weight, application, route) in flows {
        builder.flow(weight, application, route.iter().copied());
    }
    builder.build()
}

/// Solves, and holds the solver to its promise.
fn solve(solver: &str, network: &Network) -> Allocation {
    let solver = SOLVERS.lookup(solver).unwrap().build;
    let rates = (solver.solve)(network, 7).unwrap();
    (solver.check)(network, &rates).unwrap();
    rates
}

/// Rates as fractions of a flit per cycle.
fn assert_rates(solver: &str, network: &Network, expected: &[(u128, u128)]) {
    let exact: Vec<u128> = expected
        .iter()
        .map(|(over, under)| UNIT * over / under)
        .collect();
    assert_eq!(solve(solver, network).rates, exact, "{solver}");
}

/// Time until the last flow has sent its weight \[cycles\].
fn completion(network: &Network, rates: &Allocation) -> f64 {
    let flows = network.flows().iter().zip(&rates.rates);
    let times = flows.map(|(flow, rate)| flow.weight as f64 / flits_per_cycle(*rate));
    times.fold(0.0, f64::max)
}

/// E0, figure 1.1: links sw1 to sw2, to d1, to d2. A quarter for all: done in 4.
#[test]
fn the_congestion_example_gives_a_quarter_to_all() {
    let network = network(
        &[UNIT; 3],
        &[
            (1, 0, &[0, 1]),
            (1, 0, &[0, 1]),
            (1, 0, &[0, 2]),
            (1, 0, &[0, 2]),
            (1, 0, &[2]),
            (1, 0, &[2]),
        ],
    );
    for solver in SOLVERS.names() {
        let rates = solve(solver, &network);
        assert!((completion(&network, &rates) - 4.0).abs() < 1e-12);
        assert_rates(solver, &network, &[(1, 4); 6]);
    }
}

/// M2, figure 2.2: three flows of application 0 on one link; another of it, and one of application 1, on the next.
#[test]
fn applications_share_by_their_slowest_flow() {
    let network = network(
        &[UNIT; 2],
        &[
            (1, 0, &[0]),
            (1, 0, &[0]),
            (1, 0, &[0]),
            (1, 0, &[1]),
            (1, 1, &[1]),
        ],
    );
    let third = (1, 3);
    assert_rates("Ffa", &network, &[third, third, third, (1, 2), (1, 2)]);
    for solver in ["Afa", "AfaLists", "Pafa"] {
        assert_rates(solver, &network, &[third, third, third, third, (2, 3)]);
        assert_eq!(solve(solver, &network).rounds, 2);
    }
}

/// M3, figure 4.3: flow-fair over SAA is (W + 1)^2 / 4W for the first flow, the most there is (proposition 4.4.1).
#[test]
fn max_min_gains_at_most_what_is_proved_over_saa() {
    for w in [3u64, 5, 7, 9, 11] {
        let flows: Written<'_> = &[(1, 0, &[1]), (w / 2, 1, &[0, 1]), (w.div_ceil(2), 2, &[0])];
        let network = network(&[UNIT; 2], flows);
        let w = u128::from(w);
        assert_eq!(solve("Saa", &network).rates[0], UNIT * 2 / (w + 1));
        let fair = solve("Ffa", &network).rates;
        assert_eq!(fair[0], UNIT / w * w.div_ceil(2));
        assert_eq!(fair[1], UNIT / w * (w / 2));
    }
}

/// M4, figure 4.4: the same bound for applications (proposition 4.4.2).
#[test]
fn application_fairness_gains_at_most_what_is_proved() {
    for w in [3u64, 5, 7, 9, 11] {
        let flows: Written<'_> = &[(1, 0, &[0]), (w / 2, 1, &[0]), (w, 1, &[1])];
        let network = network(&[UNIT; 2], flows);
        let w = u128::from(w);
        assert_eq!(solve("Afa", &network).rates[0], UNIT / w * w.div_ceil(2));
        for solver in ["Ffa", "Saa"] {
            assert_eq!(solve(solver, &network).rates[0], UNIT * 2 / (w + 1));
        }
    }
}

#[test]
fn capacities_count_as_weights_do() {
    // S14: a link of half the rate, and one with a quarter kept for other traffic
    let network = network(
        &[UNIT, UNIT / 2, UNIT / 4 * 3],
        &[(1, 0, &[0, 1]), (1, 1, &[0]), (2, 2, &[1, 2]), (1, 3, &[2])],
    );
    assert_rates("Saa", &network, &[(1, 6), (1, 2), (1, 3), (1, 4)]);
    assert_rates("Ffa", &network, &[(1, 6), (5, 6), (1, 3), (5, 12)]);
    assert_rates("Uniform", &network, &[(1, 6), (1, 6), (1, 3), (1, 6)]);
}

#[test]
fn networks_without_flows_or_links_have_no_rates() {
    for solver in SOLVERS.names() {
        assert!(solve(solver, &network(&[UNIT], &[])).rates.is_empty());
        let solver = SOLVERS.lookup(solver).unwrap().build;
        let rates = (solver.solve)(&network(&[UNIT], &[(3, 0, &[])]), 1);
        assert_eq!(rates.unwrap().rates, [0]);
    }
}

#[test]
fn names_are_sorted_and_have_one_meaning() {
    let solvers: Vec<_> = SOLVERS.names().collect();
    assert!(solvers.is_sorted_by(|a, b| a < b), "{solvers:?}");
    let policies: Vec<_> = POLICIES.names().collect();
    assert!(policies.is_sorted_by(|a, b| a < b), "{policies:?}");
    let aliases = SOLVERS.entries.iter().flat_map(|entry| entry.aliases);
    assert!(aliases.into_iter().all(|alias| !solvers.contains(alias)));
}

#[test]
fn checks_find_what_is_wrong() {
    let network = network(&[UNIT; 2], &[(1, 0, &[0]), (1, 0, &[0, 1]), (1, 1, &[1])]);
    let with = |rates: [u128; 3]| Allocation {
        rates: rates.to_vec(),
        rounds: 1,
    };
    let (half, third) = (UNIT / 2, UNIT / 3);
    let fair = with([half; 3]);
    for check in [
        check::feasible,
        check::max_min,
        check::application_max_min,
        check::guaranteed,
        check::maximal,
        check::uniform,
    ] {
        assert_eq!(check(&network, &fair), Ok(()));
        let over = with([half, half, half + 1]);
        assert_eq!(check(&network, &over), Err(Unfair::Overloaded(1)));
    }
    let slack = with([third; 3]);
    assert_eq!(
        check::max_min(&network, &slack),
        Err(Unfair::NoBottleneck(0))
    );
    assert_eq!(
        check::application_max_min(&network, &slack),
        Err(Unfair::NoBottleneckOf(0))
    );
    assert_eq!(
        check::guaranteed(&network, &slack),
        Err(Unfair::BelowGuarantee(0))
    );
    assert_eq!(
        check::uniform(&network, &slack),
        Err(Unfair::NoBottleneck(0))
    );
    let unfair = with([third * 2, third, third * 2]);
    assert_eq!(
        check::max_min(&network, &unfair),
        Err(Unfair::NoBottleneck(1))
    );
    assert_eq!(
        check::application_max_min(&network, &unfair),
        Err(Unfair::Unequal(1))
    );
    assert_eq!(check::uniform(&network, &unfair), Err(Unfair::Unequal(1)));
    let less = with([half, half, half - 1]);
    assert_eq!(
        check::maximal(&network, &less),
        Err(Unfair::BelowGuarantee(2))
    );
}

/// A network with everything drawn.
pub(in crate::fluid) fn random(seed: u64, applications: u32) -> Network {
    let mut rng = stream(seed, Purpose::Flows, 5);
    let links = 1 + below(&mut rng, 14);
    let capacities = (0..links).map(|_| UNIT / u128::from(1 + below(&mut rng, 3)));
    let mut builder = Builder::new(capacities.collect());
    let most = [1, 4, 1000][below(&mut rng, 3) as usize];
    for flow in 0..=below(&mut rng, 60) {
        let mut route: Vec<u32> = (0..links).filter(|_| below(&mut rng, 4) == 0).collect();
        if route.is_empty() {
            route.push(below(&mut rng, links));
        }
        let application = match applications {
            0 => flow,
            several => below(&mut rng, several),
        };
        builder.flow(1 + u64::from(below(&mut rng, most)), application, route);
    }
    builder.build()
}

/// Progressive filling as it is defined, all links in every round (algorithm 4.5): normalised rates of the flows, and
/// rounds that lead to a level apart. With `together`, all flows of an application are held with the first.
fn naive(network: &Network, together: bool) -> (Vec<f64>, usize) {
    let flows = network.flows();
    let mut residual: Vec<f64> = network
        .capacities()
        .iter()
        .map(|&c| flits_per_cycle(c))
        .collect();
    let mut rates = vec![0.0; flows.len()];
    let mut active = vec![true; flows.len()];
    let mut rounds = 0;
    while active.contains(&true) {
        let mut weights = vec![0.0; residual.len()];
        for flow in (0..flows.len()).filter(|&flow| active[flow]) {
            for &link in network.route(flow) {
                weights[link as usize] += flows[flow].weight as f64;
            }
        }
        let used = || {
            residual
                .iter()
                .zip(&weights)
                .filter(|(_, weight)| **weight > 0.0)
        };
        let step = used()
            .map(|(left, weight)| left / weight)
            .fold(f64::INFINITY, f64::min);
        rounds += usize::from(step > 1e-7);
        for flow in (0..flows.len()).filter(|&flow| active[flow]) {
            rates[flow] += step;
        }
        for (left, weight) in residual.iter_mut().zip(&weights) {
            *left -= step * weight;
        }
        let is_full = |flow: usize| {
            let mut links = network.route(flow).iter();
            links.any(|&link| residual[link as usize] < 1e-9)
        };
        let held: Vec<bool> = (0..flows.len())
            .map(|flow| active[flow] && is_full(flow))
            .collect();
        for flow in 0..flows.len() {
            let mates = (0..flows.len()).filter(|&other| {
                other == flow || together && flows[other].application == flows[flow].application
            });
            active[flow] &= !mates.into_iter().any(|mate| held[mate]);
        }
    }
    (rates, rounds)
}

fn assert_near(network: &Network, found: &Allocation, expected: &[f64]) {
    for (number, flow) in network.flows().iter().enumerate() {
        let found = flits_per_cycle(found.rates[number]) / flow.weight as f64;
        assert!(
            (found - expected[number]).abs() < 1e-9,
            "flow {number}: {found}"
        );
    }
}

/// Different normalised rates \[flits per cycle\]: those that are further apart than what rounding loses, and those clearly so.
fn levels(network: &Network, found: &Allocation) -> [usize; 2] {
    let flows = network.flows().iter().zip(&found.rates);
    let mut all: Vec<u128> = (flows.map(|(flow, rate)| rate / u128::from(flow.weight))).collect();
    all.sort_unstable();
    [1_000_000_000, 100_000].map(|parts| {
        let mut levels = all.clone();
        levels.dedup_by(|next, last| *next - *last < UNIT / parts);
        levels.len()
    })
}

/// As many levels as the naive filling has rounds, where they are clear; links that are full at one level may be so a round
/// apart, for what shares lose when they are rounded down.
fn assert_rounds(network: &Network, found: &Allocation, rounds: usize) {
    let [apart, clear] = levels(network, found);
    assert!(
        (clear..=found.rounds).contains(&rounds),
        "{rounds}: {found:?}"
    );
    assert!(apart > clear || rounds == clear, "{rounds}: {found:?}");
}

/// Flows of the same network, one application each.
fn alone(network: &Network) -> Network {
    let mut builder = Builder::new(network.capacities().to_vec());
    for (number, flow) in network.flows().iter().enumerate() {
        builder.flow(
            flow.weight,
            number as u32,
            network.route(number).iter().copied(),
        );
    }
    builder.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// S7: the naive filling, and as many different normalised rates as it has rounds.
    #[test]
    fn max_min_is_what_naive_filling_finds(seed: u64) {
        let network = random(seed, 0);
        let found = solve("Ffa", &network);
        let (expected, rounds) = naive(&network, false);
        assert_near(&network, &found, &expected);
        assert_rounds(&network, &found, rounds);
        let used = (0..network.capacities().len()).filter(|&link| !network.users(link).is_empty());
        prop_assert!(found.rounds <= used.count().min(network.flows().len()));
    }

    /// S10: all forms of AFA, and the naive one, at most as many rounds as applications.
    #[test]
    fn all_forms_of_application_fairness_agree(seed: u64, applications in 1u32..9) {
        let network = random(seed, applications);
        let found = solve("Afa", &network);
        for other in ["AfaLists", "Pafa"] {
            prop_assert_eq!(&solve(other, &network), &found);
        }
        let (expected, rounds) = naive(&network, true);
        assert_near(&network, &found, &expected);
        assert_rounds(&network, &found, rounds);
        prop_assert!(found.rounds <= network.applications());
    }

    /// S11.
    #[test]
    fn applications_of_one_flow_are_flows(seed: u64) {
        let network = alone(&random(seed, 4));
        prop_assert_eq!(solve("Afa", &network), solve("Ffa", &network));
    }

    /// S12, S14: all flows of one application with their sizes as weights end when the most loaded link has sent all.
    #[test]
    fn every_solver_is_best_for_a_single_application(seed: u64) {
        let network = random(seed, 1);
        let links = 0..network.capacities().len();
        let worst = links.map(|link| {
            network.total(link) as f64 / flits_per_cycle(network.capacities()[link])
        });
        let worst = worst.fold(0.0, f64::max);
        for solver in SOLVERS.names() {
            let time = completion(&network, &solve(solver, &network));
            prop_assert!((time / worst - 1.0).abs() < 1e-12, "{solver}: {time} {worst}");
        }
    }

    /// S4, S13: SAA-M keeps what SAA gives; no flow or application gains more than is proved.
    #[test]
    fn gains_are_bounded(seed: u64, applications in 1u32..9) {
        let network = random(seed, applications);
        let [saa, more, fair, by_application] =
            ["Saa", "SaaM", "Ffa", "Afa"].map(|solver| solve(solver, &network));
        let links = 0..network.capacities().len();
        // capacities count as weights do, of flows that weigh at least 1
        let worst = links.map(|link| {
            network.total(link) as f64 / flits_per_cycle(network.capacities()[link])
        });
        let worst = worst.fold(1.0, f64::max);
        let bound = (worst + 1.0) * (worst + 1.0) / (4.0 * worst) * (1.0 + 1e-12);
        let slowest = |rates: &Allocation, application: u32| {
            let flows = network.flows().iter().zip(&rates.rates);
            let own = flows.filter(|(flow, _)| flow.application == application);
            own.map(|(flow, rate)| flits_per_cycle(*rate) / flow.weight as f64).fold(f64::INFINITY, f64::min)
        };
        for flow in 0..network.flows().len() {
            prop_assert!(more.rates[flow] >= saa.rates[flow]);
            let gain = fair.rates[flow] as f64 / saa.rates[flow] as f64;
            prop_assert!(gain <= bound, "{gain} {bound}");
        }
        for application in network.flows().iter().map(|flow| flow.application) {
            let own = slowest(&by_application, application);
            prop_assert!(own / slowest(&fair, application) <= bound);
            prop_assert!(own / slowest(&saa, application) <= bound);
        }
    }
}

/// A network of the size of the studies: flows over seven links, drawn.
fn large(rng: &mut Stream, flows: u32, links: u32) -> Network {
    let mut builder = Builder::new(vec![UNIT; links as usize]);
    for flow in 0..flows {
        let mut route: Vec<u32> = (0..7).map(|_| below(rng, links)).collect();
        route.sort_unstable();
        route.dedup();
        builder.flow(1, flow % 32, route);
    }
    builder.build()
}

/// 20,480 flows: hundreds of rounds, and every promise kept.
#[test]
fn thousands_of_flows_are_solved_by_all() {
    let network = large(&mut stream(1, Purpose::Flows, 6), 20_480, 24_576);
    for solver in SOLVERS.names() {
        assert_eq!(solve(solver, &network).rates.len(), 20_480);
    }
    let rates = solve("Ffa", &network);
    assert!(rates.rounds > 100);
}
