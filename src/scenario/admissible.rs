//! Flows that ask for more than is ever granted: they never begin, however long a run is.
//!
//! # Algorithm
//! A flow is refused for ever when it is refused before any other has asked: by a desk to which what it grants and measures
//! leaves no more room, or, where packets reserve, by a channel of its way of which nothing is reserved.
//!
//! Cost: that of the ways of all flows that ask.

use super::Resolved;
use super::sections::traffic;
use crate::admission::{Fabric, Request, Shown};
use crate::control::Algorithm;
use crate::control::probe::Place;
use crate::plan::{FlowPlan, ONE_FLIT_PER_CYCLE};
use crate::topology::Endpoint;

/// Which flows never begin, class by class, in words.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let never: Vec<u32> = by_desk(resolved).chain(by_packets(resolved)).collect();
    let classes = plan.classes.iter().enumerate();
    let notes = classes.filter_map(|(number, class)| {
        let requests = class.requests?;
        let is_own = |id: &&u32| usize::from(plan.flows[**id as usize].class) == number;
        let own: Vec<u32> = never.iter().filter(is_own).copied().collect();
        let first = &plan.flows[*own.first()? as usize];
        let all = class.flows.unwrap_or_default();
        let pace = graph.channel(graph.host_channel(first.source)).timing.cycles_per_flit;
        let peak = requests.peak as f64 * f64::from(pace) / ONE_FLIT_PER_CYCLE as f64;
        let [from, to] = [first.source, first.destination]
            .map(|host| graph.endpoint_name(Endpoint::Host(host)));
        let (id, section) = (own[0], traffic::place(&resolved.scenario, plan, number));
        Some(format!(
            "{section}.requests: {} of {all} flows are never admitted, the first of them flow {id} ({from} to {to}): a channel of \
             its way never has room for a peak of {peak:.3} of the link, even before any flow is admitted: lower `peak` or raise \
             what may be granted",
            own.len()
        ))
    });
    notes.collect()
}

/// Those that a desk refuses for ever.
fn by_desk(resolved: &Resolved) -> impl Iterator<Item = u32> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let admission = plan.admission.as_ref();
    let desk = admission.filter(|one| one.control.refuses_for_ever());
    let found = desk.zip(resolved.routes.tables()).map(|(desk, tables)| {
        let channels = graph.channels().iter();
        let paces: Vec<u32> = channels
            .map(|channel| channel.timing.cycles_per_flit)
            .collect();
        let mut state = desk.control.start(Fabric { paces: &paces });
        let mut is_refused = |request: &Request| {
            let is_granted = desk.control.ask(&mut state, request, Shown::default());
            if is_granted {
                desk.control.release(&mut state, request);
            }
            !is_granted
        };
        let requests = plan.admission_requests(graph, tables).into_iter();
        let refused = requests.filter(|request| is_refused(request));
        refused.map(|request| request.flow).collect::<Vec<u32>>()
    });
    found.into_iter().flatten()
}

/// Those whose packets never find room.
fn by_packets(resolved: &Resolved) -> impl Iterator<Item = u32> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let is_refused = |flow: &FlowPlan| {
        let class = &plan.classes[usize::from(flow.class)];
        let algorithm = class.control.as_ref().map(|control| &control.algorithm);
        let Some(Algorithm::Reservation(own)) = algorithm else {
            return false;
        };
        let level = flow.level;
        let tables = resolved.routes.tables();
        let way = tables.and_then(|one| one.path(graph, flow.source, flow.destination, level));
        way.into_iter().flatten().any(|(channel, _)| {
            let ends = graph.channel(channel);
            let pace = ends.timing.cycles_per_flit as u16;
            !own.has_room(Place {
                pace,
                drain: pace,
                from_host: ends.from.host().is_some(),
                to_host: ends.to.host().is_some(),
            })
        })
    };
    let flows = (0_u32..).zip(&plan.flows);
    let refused = flows.filter(move |(_, flow)| is_refused(flow));
    refused.map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Document, Parts};
    use std::path::Path;

    /// What is said of six flows with a peak of 0.4 of their link.
    fn said(of_class: &str, of_scenario: &str) -> Vec<String> {
        let text = format!(
            "Scenario(
                title: \"star\", seed: 1,
                fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 4), flit: \"64 B\",
                         link: (rate: \"100 Gbit/s\", latency: \"1 cycles\"), switch: (lanes: 1, lane_capacity: \"64 flits\")),
                routing: UpDown(), qos: (management_lane: true), {of_scenario}
                traffic: [(name: \"c\", flows: [(pairs: List(pairs: [(0, 1)]), copies: 6, bytes: \"400 flits\")],
                           requests: (peak: 0.4), size: \"8 flits\"{of_class})],
                phases: (warmup: \"0 cycles\", measure: \"6000 cycles\"))"
        );
        let document = Document::parse("star.ron", &text, Path::new("")).expect("a scenario");
        let resolved = document.resolve(&Parts::registered());
        notes(&resolved.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn flows_that_no_empty_link_has_room_for_are_told() {
        let by_packets = |of: &str| {
            said(
                &format!(", control: Reservation({of}), answers: (sl: Management)"),
                "",
            )
        };
        let by_desk = |control: &str| said("", &format!("admission: (control: {control}),"));
        let words = "traffic[0].requests: 6 of 6 flows are never admitted, the first of them flow 0 (H0 to H1): a channel of its \
                     way never has room for a peak of 0.400 of the link";
        for said in [
            by_packets("utilisation: 0.3"),
            // all channels but those from hosts have to have more than the peak
            by_packets("utilisation: 0.4"),
            by_packets("utilisation: 1.0, share: 0.3"),
            by_desk("LinkByLink(utilisation: 0.3, shares: [(0, 1)])"),
            by_desk("LinkByLink(utilisation: 0.9, shares: [(0, 1), (1, 2)])"),
            by_desk("CalibratedLoad(groups: [([0], 0.3)])"),
            // measured is nothing or more
            by_desk("MeasuredSum(utilisation: 0.3, shares: [(0, 1)])"),
        ] {
            assert!(said.len() == 1 && said[0].starts_with(words), "{said:?}");
        }
        for said in [
            by_packets("utilisation: 0.5"),
            by_desk("LinkByLink(utilisation: 0.5, shares: [(0, 1)])"),
            by_desk("LinkByLink(utilisation: 0.1, shares: [(1, 1)])"),
            by_desk("AdmitAll()"),
            by_desk("MeasuredSum(shares: [(0, 1)])"),
        ] {
            assert_eq!(said, Vec::<String>::new());
        }
    }

    #[test]
    fn classes_of_which_every_flow_may_begin_are_not_told() {
        let small = "), (name: \"d\", flows: [(pairs: List(pairs: [(2, 3)]), bytes: \"400 flits\")], \
                     requests: (peak: 0.1), size: \"8 flits\"";
        let desk = "admission: (control: LinkByLink(utilisation: 0.3, shares: [(0, 1)])),";
        let said = said(small, desk);
        let words = "traffic[0].requests: 6 of 6 flows are never admitted";
        assert!(said.len() == 1 && said[0].starts_with(words), "{said:?}");
    }
}
