//! The worked example, and that segments cover what lies on cycles.

use super::*;
use crate::routing::tests::graphs::{
    grid, host, irregular, link, switches, torus_with_a_failed_link,
};
use crate::topology::GraphBuilder;
use std::collections::BTreeSet;

/// Figure 3.8: 12 switches A..L in a 3 x 4 grid, 14 links; ports of H with link 11 before link 7.
fn figure_3_8() -> Graph {
    let mut builder = GraphBuilder::new();
    switches(&mut builder, 12, 6);
    // link n joins these two switches; links 1 and 14 are A-B and B-C
    let ends = [
        "AB", "CD", "CG", "DH", "EF", "FG", "GH", "EI", "FJ", "GK", "HL", "IJ", "KL", "BC",
    ];
    let mut used = [0; 12];
    // port order = link order, but 11 before 7
    let order = [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 7, 12, 13, 14];
    let mut made = Vec::new();
    for number in order {
        let at = ends[number - 1]
            .bytes()
            .map(|letter| u32::from(letter - b'A'));
        let at: Vec<u32> = at.collect();
        for &switch in &at {
            used[switch as usize] += 1;
        }
        let port = |switch: u32| used[switch as usize];
        link(&mut builder, (at[0], port(at[0])), (at[1], port(at[1])));
        made.push(number);
    }
    for switch in 0..12 {
        host(&mut builder, switch, switch, 6);
    }
    builder.build().unwrap()
}

#[test]
fn the_worked_example_has_three_segments_and_four_subnets() {
    // start I, H prefers link 11 to 7
    let graph = figure_3_8();
    let found = segment(&graph, SwitchId(8), Search::Depth);
    assert_eq!(found.subnets, 4);
    let letters = |segment: &Segment| {
        let name = |switch: SwitchId| char::from(b'A' + switch.0 as u8);
        let path = segment.path.iter().map(|&(_, switch)| name(switch));
        let text: String = std::iter::once(name(segment.start)).chain(path).collect();
        (segment.subnet, text)
    };
    let segments: Vec<_> = found.segments.iter().map(letters).collect();
    assert_eq!(
        segments,
        [
            (0, "IEFJI".to_owned()),
            (1, "GCDHLKG".to_owned()),
            (1, "GH".to_owned())
        ]
    );
    let shortest = segment(&graph, SwitchId(8), Search::Shortest);
    assert_eq!((shortest.segments.len(), shortest.subnets), (3, 4));
}

#[test]
fn every_link_on_a_cycle_is_in_one_segment() {
    //
    let mut graphs = vec![
        figure_3_8(),
        grid(&[4, 8], false, 1),
        grid(&[8, 8], true, 1),
        torus_with_a_failed_link(),
    ];
    graphs.extend((0..100).map(|seed| irregular(8 + seed as u32 % 40, 3 + seed as u32 % 4, seed)));
    for graph in &graphs {
        for search in [Search::Shortest, Search::Depth] {
            let found = segment(graph, SwitchId(0), search);
            let mut links = BTreeSet::new();
            let mut visited = BTreeSet::new();
            for part in &found.segments {
                let end = part.path.last().unwrap().1;
                let own = &part.path[..part.path.len() - 1];
                let is_first = !visited.contains(&part.start) || end == part.start;
                assert!(is_first || visited.contains(&end));
                assert!(own.iter().all(|(_, switch)| !visited.contains(switch)));
                visited.insert(part.start);
                visited.extend(part.path.iter().map(|step| step.1));
                assert!(part.path.iter().all(|step| links.insert(step.0)));
            }
            // one segment per independent cycle, and the rest are bridges: links - bridges - switches + parts
            let inner = graph
                .switch_ids()
                .map(|s| graph.neighbors(s).count())
                .sum::<usize>()
                / 2;
            let cycles = inner + 1 - graph.switches().len();
            assert_eq!(found.segments.len(), cycles);
            assert_eq!(inner - links.len(), found.subnets as usize - 1);
        }
    }
}
