//! Weighted max-min fair rates of flows on given routes, by water filling.
//!
//! All flows rise together, each in proportion to its weight, until a link of theirs is full or they have all they want;
//! who is held there stays, the others rise on. What comes out is the only rates at which nobody can get more but from
//! somebody who has no more per weight.
//! Algorithm: the links in a heap by the level at which they are full; a level is computed anew when it comes up, as it only rises
//! when flows of the link stop at other links.
//! Cost: O(links of all routes + links log links).
//!
//! References: [`BERTSEKAS_GALLAGER`](crate::references::BERTSEKAS_GALLAGER), [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Routes, weights and wants of flows.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// What each link carries \[flits per cycle\].
    capacities: Vec<f64>,
    /// First of every flow's links in `links`, then their number.
    first: Vec<usize>,
    /// Links of all routes.
    links: Vec<u32>,
    /// Weights.
    weights: Vec<u16>,
}

impl Demands {
    /// No flows on links that carry so much \[flits per cycle\].
    pub fn new(capacities: Vec<f64>) -> Self {
        Self {
            capacities,
            first: vec![0],
            ..Self::default()
        }
    }

    /// A flow with a weight of at least 1 over some links; `most`: what it wants, if not all it can get
    /// \[flits per cycle\].
    pub fn push(&mut self, weight: u16, most: Option<f64>, route: impl Iterator<Item = usize>) {
        self.links.extend(route.map(|link| link as u32));
        if let Some(most) = most {
            // a link of its own
            self.links.push(self.capacities.len() as u32);
            self.capacities.push(most);
        }
        self.first.push(self.links.len());
        self.weights.push(weight);
    }

    /// The links of a flow.
    fn route(&self, flow: usize) -> &[u32] {
        &self.links[self.first[flow]..self.first[flow + 1]]
    }

    /// The flows of every link: first of each link in the list, then their number; the list.
    fn by_link(&self) -> (Vec<usize>, Vec<u32>) {
        let mut first = vec![0; self.capacities.len() + 1];
        for &link in &self.links {
            first[link as usize + 1] += 1;
        }
        for link in 1..first.len() {
            first[link] += first[link - 1];
        }
        let mut next = first.clone();
        let mut flows = vec![0; self.links.len()];
        for flow in 0..self.weights.len() {
            for &link in self.route(flow) {
                flows[next[link as usize]] = flow as u32;
                next[link as usize] += 1;
            }
        }
        (first, flows)
    }

    /// The rate of every flow \[flits per cycle\]; 0 of a flow without links.
    pub fn fair_rates(&self) -> Vec<f64> {
        let (first, flows) = self.by_link();
        let mut filling = Filling {
            left: self.capacities.clone(),
            weight: vec![0; self.capacities.len()],
        };
        for (flow, &weight) in self.weights.iter().enumerate() {
            for &link in self.route(flow) {
                filling.weight[link as usize] += u64::from(weight);
            }
        }
        let mut rates: Vec<Option<f64>> = vec![None; self.weights.len()];
        let links = 0..self.capacities.len() as u32;
        let levels = links.filter_map(|link| Some(Reverse((filling.level(link)?, link))));
        let mut heap: BinaryHeap<_> = levels.collect();
        let mut reached = 0;
        while let Some(Reverse((level, link))) = heap.pop() {
            let Some(now) = filling.level(link) else {
                continue;
            };
            if now > level {
                heap.push(Reverse((now, link)));
                continue;
            }
            // rounding does not lower the water
            reached = level.max(reached);
            let held = &flows[first[link as usize]..first[link as usize + 1]];
            for &flow in held {
                let rate = &mut rates[flow as usize];
                if rate.is_some() {
                    continue;
                }
                let weight = self.weights[flow as usize];
                let fair = f64::from_bits(reached) * f64::from(weight);
                *rate = Some(fair);
                for &link in self.route(flow as usize) {
                    filling.left[link as usize] -= fair;
                    filling.weight[link as usize] -= u64::from(weight);
                }
            }
        }
        rates.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// What is left of the links, and who shares it.
struct Filling {
    /// \[flits per cycle\]
    left: Vec<f64>,
    /// Of the flows that still rise.
    weight: Vec<u64>,
}

impl Filling {
    /// Rate per weight at which a link is full, as bits, which sort like it; `None` if no flow rises there.
    fn level(&self, link: u32) -> Option<u64> {
        let weight = self.weight[link as usize];
        let left = self.left[link as usize].max(0.0);
        (weight > 0).then(|| (left / weight as f64).to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    fn rates(capacities: &[f64], flows: &[(u16, Option<f64>, &[usize])]) -> Vec<f64> {
        let mut demands = Demands::new(capacities.to_vec());
        for &(weight, most, route) in flows {
            demands.push(weight, most, route.iter().copied());
        }
        demands.fair_rates()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_long_flow_shares_with_every_short_one() {
        // parking lot: one flow over three links, one more on each
        let flows: [(u16, Option<f64>, &[usize]); 4] = [
            (1, None, &[0, 1, 2]),
            (1, None, &[0]),
            (1, None, &[1]),
            (1, None, &[2]),
        ];
        assert_near(&rates(&[1.0; 3], &flows), &[0.5; 4]);
        // the narrow link in the middle holds two of them, the others take what is left
        let found = rates(&[1.0, 0.5, 1.0], &flows);
        assert_near(&found, &[0.25, 0.75, 0.25, 0.75]);
    }

    #[test]
    fn figure_1_1_of_the_source_has_a_quarter_for_everybody() {
        // links: sw1 to sw2, to d1, to d2 (seed-001 section 1.1)
        let flows: [(u16, Option<f64>, &[usize]); 6] = [
            (1, None, &[0, 1]),
            (1, None, &[0, 1]),
            (1, None, &[0, 2]),
            (1, None, &[0, 2]),
            (1, None, &[2]),
            (1, None, &[2]),
        ];
        assert_near(&rates(&[1.0; 3], &flows), &[0.25; 6]);
        // f3 and f4 held to a sixth leave a third each to f1 and f2, and to f5 and f6
        let mut held = flows;
        for flow in &mut held[2..4] {
            flow.1 = Some(1.0 / 6.0);
        }
        let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0);
        let expected = [third, third, sixth, sixth, third, third];
        assert_near(&rates(&[1.0; 3], &held), &expected);
    }

    #[test]
    fn weights_share_and_wants_bound() {
        let flows: [(u16, Option<f64>, &[usize]); 4] = [
            (3, None, &[0]),
            (1, None, &[0]),
            (2, Some(0.0), &[0]),
            (1, None, &[]),
        ];
        assert_near(&rates(&[1.0], &flows), &[0.75, 0.25, 0.0, 0.0]);
        assert_near(&rates(&[0.5], &[(1, Some(0.2), &[0])]), &[0.2]);
        assert!(rates(&[1.0], &[]).is_empty());
    }

    /// The definition itself: nobody is above a full link, and each has a full link on which nobody has more per weight.
    #[test]
    fn random_networks_have_bottlenecks_for_all() {
        for seed in 0..200 {
            let mut rng = stream(seed, Purpose::Flows, 1);
            let links = 1 + below(&mut rng, 12) as usize;
            let paces = (0..links).map(|_| 1.0 / f64::from(1 + below(&mut rng, 3)));
            let capacities: Vec<f64> = paces.collect();
            let count = 1 + below(&mut rng, 40);
            let flows: Vec<(u16, Vec<usize>)> = (0..count)
                .map(|_| {
                    let mut route: Vec<_> =
                        (0..links).filter(|_| below(&mut rng, 3) == 0).collect();
                    if route.is_empty() {
                        route.push(below(&mut rng, links as u32) as usize);
                    }
                    (1 + below(&mut rng, 4) as u16, route)
                })
                .collect();
            let mut demands = Demands::new(capacities.clone());
            for (weight, route) in &flows {
                demands.push(*weight, None, route.iter().copied());
            }
            let found = demands.fair_rates();
            let on = |link: usize| {
                let there = flows.iter().zip(&found);
                there.filter(move |((_, route), _)| route.contains(&link))
            };
            let load: Vec<f64> = (0..links)
                .map(|link| on(link).map(|(_, rate)| rate).sum())
                .collect();
            for (load, capacity) in load.iter().zip(&capacities) {
                assert!(load <= &(capacity + 1e-9), "{seed}");
            }
            for ((weight, route), rate) in flows.iter().zip(&found) {
                let own = rate / f64::from(*weight);
                let holds = |&link: &usize| {
                    load[link] > capacities[link] - 1e-9
                        && on(link)
                            .all(|((weight, _), rate)| rate / f64::from(*weight) <= own + 1e-9)
                };
                assert!(route.iter().any(holds), "{seed}");
            }
        }
    }
}
