//! Random fabrics, and which of their inputs share a forwarding row.

use crate::ids::SwitchId;
use crate::rng::{Stream, below};
use crate::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// True in one of so many cases.
pub(super) fn one_in(rng: &mut Stream, cases: u32) -> bool {
    below(rng, cases) == 0
}

/// Puts a list in any order.
pub(super) fn shuffle<T>(rng: &mut Stream, list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(rng, last as u32 + 1) as usize);
    }
}

/// A connected fabric with parallel links, links of a switch to itself, unconnected ports and hosts in any order.
pub(super) fn fabric(rng: &mut Stream) -> Graph {
    let is_large = one_in(rng, 60);
    let switches = 1 + below(rng, if is_large { 3 } else { 8 });
    let mut cables: Vec<(Option<u32>, u32)> = Vec::new();
    for switch in 1..switches {
        cables.push((Some(below(rng, switch)), switch));
    }
    for _ in 0..below(rng, 2 * switches + 1) {
        let ends = (below(rng, switches), below(rng, switches));
        if ends.0 != ends.1 || one_in(rng, 10) {
            cables.push((Some(ends.0), ends.1));
        }
    }
    let hosts = 2 + if is_large { 66 } else { below(rng, 9) };
    cables.extend((0..hosts).map(|_| (None, below(rng, switches))));
    shuffle(rng, &mut cables);
    let mut builder = GraphBuilder::new();
    let mut free: Vec<Vec<u16>> = Vec::new();
    for switch in 0..switches {
        let ends = cables
            .iter()
            .map(|&(a, b)| u16::from(a == Some(switch)) + u16::from(b == switch));
        let ports = ends.sum::<u16>() + below(rng, 3) as u16;
        builder.add_switch(format!("S{switch}"), 0, ports);
        let mut numbers: Vec<u16> = (1..=ports).collect();
        shuffle(rng, &mut numbers);
        free.push(numbers);
    }
    let mut port = |switch: u32| {
        let port = free[switch as usize].pop().expect("all were counted");
        Endpoint::Switch(SwitchId(switch), port)
    };
    for (number, (a, b)) in cables.into_iter().enumerate() {
        let name = format!("H{number}");
        let a = a.map_or_else(|| Endpoint::Host(builder.add_host(name, 0)), &mut port);
        let (mut a, mut b) = (a, port(b));
        if one_in(rng, 2) {
            (a, b) = (b, a);
        }
        builder.connect(a, b, ChannelTiming::default()).unwrap();
    }
    builder.build().unwrap()
}

/// Row of each channel and switch of each row: one row per switch, or several, in any order.
pub(super) fn rows(rng: &mut Stream, graph: &Graph) -> (Vec<usize>, Vec<SwitchId>) {
    let mut row = vec![0; graph.channels().len()];
    let mut switch = Vec::new();
    let most = [1, 2, 4, 100][below(rng, 4) as usize];
    for at in graph.switch_ids() {
        let (first, mut count) = (switch.len(), 0);
        let mut inputs: Vec<usize> = graph
            .connected_ports(at)
            .map(|(_, channel)| channel.reverse().index())
            .collect();
        shuffle(rng, &mut inputs);
        for input in inputs {
            // a new one while there may be more
            let chosen = below(rng, (count + 1).min(most));
            count = count.max(chosen + 1);
            row[input] = first + chosen as usize;
        }
        switch.resize(first + count as usize, at);
    }
    if most > 1 && one_in(rng, 2) {
        let mut order: Vec<usize> = (0..switch.len()).collect();
        shuffle(rng, &mut order);
        for (channel, row) in graph.channels().iter().zip(&mut row) {
            if channel.to.switch().is_some() {
                *row = order[*row];
            }
        }
        let old = switch.clone();
        for (at, &place) in old.into_iter().zip(&order) {
            switch[place] = at;
        }
    }
    (row, switch)
}
