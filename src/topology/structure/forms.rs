//! Which regular topologies a fabric may be, by what can be counted; whether it is one is found by comparing.
//!
//! # Algorithm
//! Of topologies that are the same graph the first counts (`docs/model.md`, section 15): full mesh, ring, hypercube,
//! torus, mesh, `HyperX`, concentrated mesh, dragonfly, Kautz graph, Petersen graph, k-ary n-fly; trees have switches
//! without hosts, and so have flies of three stages and more. Where all switches have hosts:
//! - the links of a switch give the dimensions: two for each of a torus, one for each of a hypercube and for each of
//!   the corner of a mesh, `size - 1` for each of a `HyperX`; doubled ones are rings of two, or the multiplicity;
//! - radices are factors of the number of switches whose halves (torus), or themselves less one (mesh), add up to the
//!   hops to the farthest switch;
//! - groups of a dragonfly are of a size that divides the number of switches; what is left of the links must be the
//!   same between every two groups.
//!
//! Elsewhere levels are hops from the switches with hosts, and children, parents and parallel links those that the
//! switches of a level have.

use super::net::Net;
use super::trees;

/// Factors are looked for in this many ways at most.
const MOST_FACTORS: usize = 64;

/// What all switches have in common.
struct Uniform {
    switches: u32,
    hosts: u32,
    /// Links of a switch, fewest and most.
    degrees: (u32, u32),
    /// Neighbours by parallel links, `(links, neighbours)` ascending, of every switch; `None` when they differ.
    weights: Option<Vec<(u32, u32)>>,
}

/// Topologies as scenarios write them, the first ones first.
pub(super) fn of(net: &Net) -> Vec<String> {
    let Some(&hosts) = net.hosts.iter().max() else {
        return Vec::new();
    };
    if hosts == 0 {
        return Vec::new();
    }
    if net.hosts.iter().any(|&own| own != hosts) {
        let all_or_none = net.hosts.iter().all(|&own| own == 0 || own == hosts);
        return if all_or_none {
            trees::forms(net, hosts)
        } else {
            Vec::new()
        };
    }
    let uniform = Uniform::new(net, hosts);
    if net.len() == 1 && uniform.degrees.1 == 0 {
        return single(hosts);
    }
    let mut forms = Vec::new();
    uniform.one_dimension(net, &mut forms);
    uniform.cube_and_grids(net, &mut forms);
    uniform.hyper_x(&mut forms);
    uniform.express_mesh(&mut forms);
    uniform.dragonflies(net, &mut forms);
    uniform.words(&mut forms);
    forms
}

/// A single switch.
fn single(hosts: u32) -> Vec<String> {
    let mut forms = Vec::new();
    if hosts > 1 {
        forms.push(format!("KAryNTree(k: {hosts}, n: 1)"));
    }
    forms.push(format!("Mesh(radix: [1], hosts_per_switch: {hosts})"));
    forms.push(format!("Complete(switches: 1, hosts_per_switch: {hosts})"));
    forms.push(format!(
        "Hypercube(dimensions: 0, hosts_per_switch: {hosts})"
    ));
    forms.push(format!("Dragonfly(p: {hosts}, a: 1, h: 0)"));
    forms
}

impl Uniform {
    fn new(net: &Net, hosts: u32) -> Self {
        let weights = |switch: usize| {
            let mut links: Vec<u32> = net.links[switch].iter().map(|&(_, links)| links).collect();
            links.sort_unstable();
            let runs = links.chunk_by(|a, b| a == b);
            runs.map(|run| (run[0], run.len() as u32))
                .collect::<Vec<_>>()
        };
        let first = weights(0);
        let degrees = || (0..net.len()).map(|switch| net.degree(switch));
        Self {
            switches: net.len() as u32,
            hosts,
            degrees: (degrees().min().unwrap_or(0), degrees().max().unwrap_or(0)),
            weights: (1..net.len())
                .all(|switch| weights(switch) == first)
                .then_some(first),
        }
    }

    /// Neighbours over so many links.
    fn neighbors(&self, links: u32) -> u32 {
        let weights = self.weights.iter().flatten();
        weights
            .filter(|&&(own, _)| own == links)
            .map(|&(_, count)| count)
            .sum()
    }

    /// Full mesh and ring.
    fn one_dimension(&self, net: &Net, forms: &mut Vec<String>) {
        let (switches, hosts) = (self.switches, self.hosts);
        let links_itself = net.links[0].iter().any(|&(to, _)| to == 0);
        if let Some([(links, neighbors)]) = self.weights.as_deref()
            && neighbors + 1 == switches
            && !links_itself
        {
            forms.push(match links {
                1 => format!("Complete(switches: {switches}, hosts_per_switch: {hosts})"),
                _ => format!(
                    "HyperX(sizes: [{switches}], multiplicity: [{links}], hosts_per_switch: {hosts})"
                ),
            });
        }
        if self.degrees == (2, 2) && switches > 2 {
            forms.push(format!(
                "Ring(switches: {switches}, hosts_per_switch: {hosts})"
            ));
        }
    }

    fn cube_and_grids(&self, net: &Net, forms: &mut Vec<String>) {
        let (least, most) = self.degrees;
        let hosts = self.hosts;
        let farthest = |switch: u32| {
            let hops = net.distances(std::iter::once(switch)).into_iter().max();
            hops.unwrap_or(0)
        };
        if least == most && most < 32 && self.neighbors(1) == most && self.switches == 1 << most {
            forms.push(format!(
                "Hypercube(dimensions: {most}, hosts_per_switch: {hosts})"
            ));
        }
        let two_by_two = self.neighbors(2);
        if least == most && most.is_multiple_of(2) && 2 * two_by_two + self.neighbors(1) == most {
            let rings = most / 2 - two_by_two;
            for radix in self.radices(rings, two_by_two, |k| k / 2, farthest(0)) {
                forms.push(format!(
                    "Torus(radix: {radix:?}, hosts_per_switch: {hosts})"
                ));
            }
        }
        let is_simple = net.links.iter().flatten().all(|&(_, links)| links == 1);
        if is_simple && most <= 2 * least {
            let corner = (0..net.len()).find(|&switch| net.degree(switch) == least);
            let hops = farthest(corner.unwrap_or(0) as u32);
            let long = most - least;
            for radix in self.radices(long, least - long, |k| k - 1, hops) {
                forms.push(format!("Mesh(radix: {radix:?}, hosts_per_switch: {hosts})"));
            }
        }
    }

    /// Radices of `long` dimensions of three and more, the longest first, and `short` of two, whose `spans` add up to
    /// `hops`.
    fn radices(&self, long: u32, short: u32, span: fn(u32) -> u32, hops: u32) -> Vec<Vec<u32>> {
        let pairs = 1u32.checked_shl(short).unwrap_or(0);
        if pairs == 0 || !self.switches.is_multiple_of(pairs) || long + short == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        factors(
            self.switches / pairs,
            long,
            u32::MAX,
            &mut Vec::new(),
            &mut found,
        );
        for radix in &mut found {
            radix.resize((long + short) as usize, 2);
        }
        found.retain(|radix| radix.iter().map(|&k| span(k)).sum::<u32>() == hops);
        found
    }

    fn hyper_x(&self, forms: &mut Vec<String>) {
        let Some(weights) = &self.weights else {
            return;
        };
        let mut found = Vec::new();
        hamming(
            self.switches,
            weights,
            u32::MAX,
            &mut Vec::new(),
            &mut found,
        );
        for dimensions in found {
            let (sizes, links): (Vec<u32>, Vec<u32>) = dimensions.into_iter().unzip();
            forms.push(format!(
                "HyperX(sizes: {sizes:?}, multiplicity: {links:?}, hosts_per_switch: {})",
                self.hosts
            ));
        }
    }

    /// The concentrated mesh with express channels; without them it is a mesh.
    fn express_mesh(&self, forms: &mut Vec<String>) {
        if self.degrees != (4, 4) {
            return;
        }
        let (hosts, switches) = (self.hosts, self.switches);
        let is_wide = |k: u32| k >= 4 && k.is_multiple_of(2);
        let wide = (4..=switches / 4).filter(|&k| switches.is_multiple_of(k) && is_wide(k));
        let block = (1..=hosts)
            .filter(|&x| hosts.is_multiple_of(x) && x * x <= hosts)
            .max();
        let block = block.unwrap_or(1);
        for x in wide.filter(|&x| is_wide(switches / x) && x >= switches / x) {
            forms.push(format!(
                "ConcentratedMesh(radix: [{x}, {}], block: [{}, {block}], express: true)",
                switches / x,
                hosts / block
            ));
        }
    }

    fn dragonflies(&self, net: &Net, forms: &mut Vec<String>) {
        let (p, switches, links) = (self.hosts, u64::from(self.switches), net.link_count());
        let sizes = (1..=self.degrees.1 + 1).map(u64::from);
        for a in sizes.filter(|&a| switches.is_multiple_of(a)) {
            let (g, local) = (switches / a, switches * (a - 1) / 2);
            let pairs = g * (g - 1) / 2;
            let Some(global) = links.checked_sub(local) else {
                continue;
            };
            if pairs == 0 {
                if global == 0 {
                    forms.push(format!("Dragonfly(p: {p}, a: {a}, h: 0)"));
                }
                continue;
            }
            if global == 0 || !global.is_multiple_of(pairs) {
                continue;
            }
            // the first router of a group has all its global links in use, or all that there are
            let h = u64::from(self.degrees.1) - (a - 1);
            if h == 0 || a * h / (g - 1) != global / pairs {
                continue;
            }
            for arrangement in ["Relative", "Absolute"] {
                forms.push(format!(
                    "Dragonfly(p: {p}, a: {a}, h: {h}, g: {g}, arrangement: {arrangement})"
                ));
            }
        }
    }

    /// Kautz and Petersen graphs, and the fly of two stages.
    fn words(&self, forms: &mut Vec<String>) {
        let (least, most) = self.degrees;
        let (hosts, switches) = (self.hosts, u64::from(self.switches));
        if least == most && most.is_multiple_of(2) && most > 0 {
            let degree = u64::from(most / 2);
            let mut words = degree + 1;
            for k in 0..=32 {
                if words == switches {
                    forms.push(format!(
                        "Kautz(degree: {degree}, k: {k}, hosts_per_switch: {hosts})"
                    ));
                }
                if words >= switches || degree == 1 {
                    break;
                }
                words *= degree;
            }
        }
        if (least, most, switches) == (3, 3, 10) {
            forms.push(format!("Petersen(hosts_per_switch: {hosts})"));
        }
        if u64::from(hosts) == switches && hosts > 1 {
            forms.push(format!("KAryNFly(k: {hosts}, n: 2)"));
        }
    }
}

/// Adds all ways to write `number` as a product of `count` factors of at least 3 and at most `most`, the largest first.
fn factors(number: u32, count: u32, most: u32, chosen: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    if count == 0 {
        if number == 1 {
            found.push(chosen.clone());
        }
        return;
    }
    if found.len() >= MOST_FACTORS || 3u32.checked_pow(count).is_none_or(|least| least > number) {
        return;
    }
    let fits = |k: u32| number.is_multiple_of(k) && k <= most;
    let choices: Vec<u32> = match count {
        1 => vec![number],
        _ => (3..=number / 3).filter(|&k| fits(k)).collect(),
    };
    for k in choices.into_iter().rev().filter(|&k| fits(k)) {
        chosen.push(k);
        factors(number / k, count - 1, k, chosen, found);
        chosen.pop();
    }
}

/// Adds all sizes and multiplicities of `HyperX` networks of so many switches, with `(links, neighbours)` at each.
fn hamming(
    switches: u32,
    weights: &[(u32, u32)],
    most: u32,
    chosen: &mut Vec<(u32, u32)>,
    found: &mut Vec<Vec<(u32, u32)>>,
) {
    let Some((&(links, neighbors), rest)) = weights.split_first() else {
        if switches == 1 && !chosen.is_empty() {
            found.push(chosen.clone());
        }
        return;
    };
    if neighbors == 0 {
        hamming(switches, rest, u32::MAX, chosen, found);
        return;
    }
    if found.len() >= MOST_FACTORS {
        return;
    }
    let largest = most.min(neighbors + 1).min(switches);
    for size in (2..=largest)
        .rev()
        .filter(|&size| switches.is_multiple_of(size))
    {
        chosen.push((size, links));
        let left = [&[(links, neighbors - (size - 1))], rest].concat();
        hamming(switches / size, &left, size, chosen, found);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_found_once() {
        let mut found = Vec::new();
        factors(60, 2, u32::MAX, &mut Vec::new(), &mut found);
        assert_eq!(found, [[20, 3], [15, 4], [12, 5], [10, 6]]);
        let mut found = Vec::new();
        // 4 * 2 switches, of each 3 neighbours over one link and 1 over two
        hamming(8, &[(1, 3), (2, 1)], u32::MAX, &mut Vec::new(), &mut found);
        assert_eq!(found, [[(4, 1), (2, 2)]]);
    }
}
