//! A fabric under other numbers, and small changes of it.

use super::{dice, number};
use virtlane::ids::{HostId, LinkId, SwitchId};
use virtlane::rng::Stream;
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// What is mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    /// The order of switches, hosts and links, and ports.
    KeepNames,
    /// Names too.
    All,
    /// As `All`, and two links get each other's second ends.
    Cross,
    /// As `All`, and a link is added.
    Add,
    /// As `All`, and so many links between switches are left out.
    Drop(usize),
}

fn shuffled(rng: &mut Stream, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in 0..count {
        order.swap(i, i + number(rng, count - i));
    }
    order
}

/// The graph mixed, by a seed; it has no shape.
pub(crate) fn mixed(graph: &Graph, mix: Mix, seed: u64) -> Graph {
    let mut rng = dice(seed);
    let switches = shuffled(&mut rng, graph.switches().len());
    let hosts = shuffled(&mut rng, graph.hosts().len());
    let nodes = |end: Endpoint| match end {
        Endpoint::Switch(switch, _) => Endpoint::Switch(switch, 0),
        Endpoint::Host(_) => end,
    };
    let links = (0..graph.link_count()).map(LinkId::from);
    let mut links: Vec<[Endpoint; 2]> =
        links.map(|link| graph.link_ends(link).map(nodes)).collect();
    let order = shuffled(&mut rng, links.len());
    links = order.into_iter().map(|link| links[link]).collect();
    change(&mut rng, &mut links, mix, switches.len());
    let mut place = vec![0; switches.len()];
    let mut builder = GraphBuilder::new();
    for (number, &switch) in switches.iter().enumerate() {
        place[switch] = number;
        let name = match mix {
            Mix::KeepNames => graph.switches()[switch].name.clone(),
            _ => format!("node{number}"),
        };
        let linked = links
            .iter()
            .flatten()
            .filter(|end| end.switch() == Some(SwitchId::from(switch)));
        builder.add_switch(name, 100 + number as u64, linked.count() as u16 + 2);
    }
    let mut host_place = vec![0; hosts.len()];
    for (number, &host) in hosts.iter().enumerate() {
        host_place[host] = number;
        let name = match mix {
            Mix::KeepNames => graph.hosts()[host].name.clone(),
            _ => format!("server{number}"),
        };
        builder.add_host(name, 9000 + number as u64);
    }
    // the first of the two spare ports of some switches stays empty
    let mut next: Vec<u16> = switches
        .iter()
        .map(|_| 1 + number(&mut rng, 3) as u16)
        .collect();
    for ends in links {
        let [a, b] = ends.map(|end| match end {
            Endpoint::Switch(switch, _) => {
                let place = place[switch.index()];
                next[place] += 1;
                Endpoint::Switch(SwitchId::from(place), next[place] - 1)
            }
            Endpoint::Host(host) => Endpoint::Host(HostId::from(host_place[host.index()])),
        });
        let ends = if number(&mut rng, 2) == 0 {
            [a, b]
        } else {
            [b, a]
        };
        builder
            .connect(ends[0], ends[1], ChannelTiming::default())
            .expect("free ports");
    }
    builder.build().expect("a graph")
}

/// The change of a mix.
fn change(rng: &mut Stream, links: &mut Vec<[Endpoint; 2]>, mix: Mix, switches: usize) {
    let between = |links: &[[Endpoint; 2]]| -> Vec<usize> {
        let is_inner = |&link: &usize| links[link].iter().all(|end| end.switch().is_some());
        (0..links.len()).filter(is_inner).collect()
    };
    let are_linked =
        |links: &[[Endpoint; 2]], a, b| links.contains(&[a, b]) || links.contains(&[b, a]);
    match mix {
        Mix::KeepNames | Mix::All => {}
        Mix::Cross => loop {
            let inner = between(links);
            let pick = |rng: &mut Stream| inner[number(rng, inner.len())];
            let (one, other) = (pick(rng), pick(rng));
            let ([a, b], [c, d]) = (links[one], links[other]);
            let is_apart = a != c && a != d && b != c && b != d && one != other;
            if is_apart && !are_linked(links, a, d) && !are_linked(links, c, b) {
                (links[one], links[other]) = ([a, d], [c, b]);
                return;
            }
        },
        Mix::Add => loop {
            let pick =
                |rng: &mut Stream| Endpoint::Switch(SwitchId::from(number(rng, switches)), 0);
            let (a, b) = (pick(rng), pick(rng));
            if a != b && !are_linked(links, a, b) {
                links.push([a, b]);
                return;
            }
        },
        Mix::Drop(count) => {
            for _ in 0..count {
                let inner = between(links);
                let link = inner[number(rng, inner.len())];
                links.remove(link);
            }
        }
    }
}
