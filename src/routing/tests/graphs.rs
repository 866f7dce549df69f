//! Graphs for the tests of routing, numbered as [`GridShape`] and [`TreeShape`] say.

use crate::ids::SwitchId;
use crate::rng::{Purpose, below, stream};
use crate::topology::graph::{GridShape, TreeShape};
use crate::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder, Shape};

/// Adds `count` switches named `S0 ..`.
pub(in crate::routing) fn switches(builder: &mut GraphBuilder, count: u32, ports: u32) {
    for switch in 0..count {
        builder.add_switch(
            format!("S{switch}"),
            u64::from(0x20_0000 + switch),
            ports as u16,
        );
    }
}

/// Links two switches.
pub(in crate::routing) fn link(builder: &mut GraphBuilder, a: (u32, u32), b: (u32, u32)) {
    let end = |(switch, port)| Endpoint::Switch(SwitchId(switch), port as u16);
    builder
        .connect(end(a), end(b), ChannelTiming::default())
        .unwrap();
}

/// Adds the next host, named `H0 ..`, to a port.
pub(in crate::routing) fn host(builder: &mut GraphBuilder, number: u32, switch: u32, port: u32) {
    let host = builder.add_host(format!("H{number}"), u64::from(0x10_0000 + 2 * number + 1));
    let end = Endpoint::Switch(SwitchId(switch), port as u16);
    builder
        .connect(Endpoint::Host(host), end, ChannelTiming::default())
        .unwrap();
}

/// A mesh or torus.
pub(in crate::routing) fn grid(radix: &[u32], wrap: bool, hosts: u32) -> Graph {
    let shape = GridShape {
        radix: radix.to_vec(),
        wrap: vec![wrap; radix.len()],
        hosts_per_switch: hosts,
    };
    let (count, dimensions) = (radix.iter().product::<u32>(), radix.len() as u32);
    let mut builder = GraphBuilder::new();
    switches(&mut builder, count, 2 * dimensions + hosts);
    for switch in 0..count {
        let mut stride = 1;
        for d in 0..dimensions {
            let k = radix[d as usize];
            let at = switch / stride % k;
            if k > 1 && (wrap || at + 1 < k) {
                let neighbor = switch - at * stride + (at + 1) % k * stride;
                link(&mut builder, (switch, 2 * d + 1), (neighbor, 2 * d + 2));
            }
            stride *= k;
        }
        for j in 0..hosts {
            host(
                &mut builder,
                switch * hosts + j,
                switch,
                2 * dimensions + 1 + j,
            );
        }
    }
    builder.set_shape(Shape::Grid(shape));
    builder.build().unwrap()
}

/// A k-ary n-tree.
pub(in crate::routing) fn tree(arity: u32, levels: u32) -> Graph {
    let shape = TreeShape { arity, levels };
    let per_level = shape.switches_per_level();
    let mut builder = GraphBuilder::new();
    switches(&mut builder, per_level * levels, 2 * arity);
    for level in 0..levels - 1 {
        // weight of digit `w_level` of a word
        let weight = arity.pow(levels - 2 - level);
        for word in 0..per_level {
            let own = word / weight % arity;
            for d in 0..arity {
                let child = (level + 1) * per_level + word - own * weight + d * weight;
                let parent = level * per_level + word;
                link(&mut builder, (parent, d + 1), (child, arity + 1 + own));
            }
        }
    }
    for number in 0..per_level * arity {
        let leaf = (levels - 1) * per_level + number / arity;
        host(&mut builder, number, leaf, number % arity + 1);
    }
    builder.set_shape(Shape::Tree(shape));
    builder.build().unwrap()
}

/// A random spanning tree plus random links (parallel ones too) up to `degree`, with 0 to 3 hosts a switch.
pub(in crate::routing) fn irregular(count: u32, degree: u32, seed: u64) -> Graph {
    let mut rng = stream(seed, Purpose::Topology, 0);
    let mut builder = GraphBuilder::new();
    switches(&mut builder, count, degree + 3);
    let mut used = vec![0; count as usize];
    let mut add = |builder: &mut GraphBuilder, a: u32, b: u32| {
        let free = a != b && used[a as usize] < degree && used[b as usize] < degree;
        if free {
            used[a as usize] += 1;
            used[b as usize] += 1;
            link(builder, (a, used[a as usize]), (b, used[b as usize]));
        }
        free
    };
    for switch in 1..count {
        while !add(&mut builder, switch, below(&mut rng, switch)) {}
    }
    for _ in 0..count * degree / 2 {
        let (a, b) = (below(&mut rng, count), below(&mut rng, count));
        add(&mut builder, a, b);
    }
    let mut number = 0;
    for switch in 0..count {
        let hosts = if switch == 0 { 2 } else { below(&mut rng, 4) };
        for j in 0..hosts {
            host(&mut builder, number, switch, degree + 1 + j);
            number += 1;
        }
    }
    builder.build().unwrap()
}

/// Two levels: every leaf has `parallel` links to every spine, and 4 hosts.
pub(in crate::routing) fn spine_leaf(spines: u32, leaves: u32, parallel: u32) -> Graph {
    let mut builder = GraphBuilder::new();
    switches(
        &mut builder,
        spines + leaves,
        (spines * parallel + 4).max(leaves * parallel),
    );
    for leaf in 0..leaves {
        for up in 0..spines * parallel {
            let (spine, j) = (up / parallel, up % parallel);
            link(
                &mut builder,
                (spine, leaf * parallel + j + 1),
                (spines + leaf, up + 5),
            );
        }
        for j in 0..4 {
            host(&mut builder, leaf * 4 + j, spines + leaf, j + 1);
        }
    }
    builder.build().unwrap()
}

/// Nine spines and 31 leaves of 8 hosts, 20 of the links between them missing, a host on all but two spines: what a real
/// cluster of 40 switches is like.
pub(in crate::routing) fn degraded_leaf_spine() -> Graph {
    let (spines, leaves) = (9, 31);
    let mut builder = GraphBuilder::new();
    switches(&mut builder, spines + leaves, 36);
    let mut number = 0;
    let mut add_host = |builder: &mut GraphBuilder, switch, port| {
        host(builder, number, switch, port);
        number += 1;
    };
    for spine in 0..spines {
        for leaf in 0..leaves {
            if (spine * leaves + leaf) % 14 != 3 {
                link(&mut builder, (spine, leaf + 1), (spines + leaf, spine + 1));
            }
        }
        if spine % 5 != 4 {
            add_host(&mut builder, spine, 36);
        }
    }
    for leaf in 0..leaves {
        for port in 10..18 {
            add_host(&mut builder, spines + leaf, port);
        }
    }
    builder.build().unwrap()
}

/// An 8 x 8 torus without the link between the first two switches, of no known shape.
pub(in crate::routing) fn torus_with_a_failed_link() -> Graph {
    without_link(&grid(&[8, 8], true, 1), 0)
}

/// The same graph without one link, given by its number.
pub(in crate::routing) fn without_link(graph: &Graph, failed: usize) -> Graph {
    let mut builder = GraphBuilder::new();
    for node in graph.switches() {
        builder.add_switch(node.name.clone(), node.guid, node.port_count);
    }
    for node in graph.hosts() {
        builder.add_host(node.name.clone(), node.guid);
    }
    let cables = graph.channels().chunks(2).enumerate();
    for (_, cable) in cables.filter(|&(number, _)| number != failed) {
        builder
            .connect(cable[0].from, cable[0].to, cable[0].timing)
            .unwrap();
    }
    builder.build().unwrap()
}

/// Every two of `count` switches linked, one host each.
pub(in crate::routing) fn complete(count: u32) -> Graph {
    let mut builder = GraphBuilder::new();
    switches(&mut builder, count, count);
    for a in 0..count {
        for b in a + 1..count {
            link(&mut builder, (a, b), (b, a + 1));
        }
        host(&mut builder, a, a, count);
    }
    builder.build().unwrap()
}
