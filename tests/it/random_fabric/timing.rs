//! Times of channels: one pace for all of them, or as it comes.

use super::Dice;
use virtlane::ids::LinkId;
use virtlane::topology::{ChannelTiming, Graph, GraphBuilder};

/// The same graph with other times; `uniform`: all channels run at one pace.
pub(super) fn timed(dice: &mut Dice, graph: &Graph, uniform: bool) -> Graph {
    let pace = dice.pick(&[1, 1, 1, 2, 3]);
    let longest = dice.pick(&[1, 5, 5, 5, 5, 5, 12, 40]);
    let mut timing = || ChannelTiming {
        cycles_per_flit: if uniform {
            pace
        } else {
            dice.pick(&[1, 1, 2, 3])
        },
        latency: dice.between(1, longest),
    };
    let mut builder = GraphBuilder::new();
    for switch in graph.switches() {
        builder.add_switch(switch.name.clone(), switch.guid, switch.port_count);
    }
    for host in graph.hosts() {
        builder.add_host(host.name.clone(), host.guid);
    }
    for link in 0..graph.link_count() {
        let [a, b] = graph.link_ends(LinkId::from(link));
        let timing = [timing(), timing()];
        builder.connect_with(a, b, timing).expect("as before");
    }
    builder.set_shape(graph.shape().clone());
    builder.build().expect("well-formed")
}
