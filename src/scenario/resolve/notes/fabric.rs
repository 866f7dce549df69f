//! Keys of the fabric that change nothing: faults that nothing has, links of hosts without values, VL15 that nobody uses.

use super::varied::Varied;
use crate::ids::LinkId;
use crate::scenario::Resolved;
use crate::scenario::sections::faults::Failures;
use crate::scenario::syntax::At;
use crate::topology::Graph;

/// All of them.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let mut notes = faults(resolved, varied);
    notes.extend(host_link(resolved, varied));
    notes.extend(management_lane(resolved, varied));
    notes
}

/// Faults that are none.
fn faults(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let Some(faults) = &resolved.scenario.faults else {
        return Vec::new();
    };
    let is_none = matches!(faults.switches.value, Failures::None)
        && matches!(faults.links.value, Failures::None);
    if is_none {
        let is_for_others = varied.includes("faults.switches") || varied.includes("faults.links");
        let note = "faults changes nothing: neither `switches` nor `links` says what fails";
        let note = (!is_for_others).then(|| note.to_owned());
        return note.into_iter().collect();
    }
    let (graph, failed) = (&resolved.layout.graph, &resolved.layout.failed);
    let switches = (graph.switches().len(), ["switch", "switches"]);
    let links = (
        links_between(graph),
        ["link between switches", "links between switches"],
    );
    let of_switches = failed.switches.is_empty();
    let of_switches = of_switches.then(|| rounded(&faults.switches, switches));
    let of_links = failed.links.is_empty();
    let of_links = of_links.then(|| rounded(&faults.links, links));
    let both = [of_switches, of_links].into_iter();
    both.flatten().flatten().collect()
}

/// A fraction of so many things of which none has failed; what one and several of them are called.
fn rounded<T>(
    failures: &At<Failures<T>>,
    (all, [one, several]): (usize, [&str; 2]),
) -> Option<String> {
    let things = if all == 1 { one } else { several };
    match failures.value {
        Failures::Fraction(fraction) if fraction > 0.0 => Some(format!(
            "{}: `Fraction({fraction:?})` of {all} {things} rounds to 0, so none fails: the least is `Count(1)`",
            failures.path
        )),
        _ => None,
    }
}

/// Links that random faults may hit.
fn links_between(graph: &Graph) -> usize {
    let links = (0..graph.link_count()).map(LinkId::from);
    let between = links.filter(|&link| {
        let mut ends = graph.link_ends(link).into_iter();
        ends.all(|end| end.switch().is_some())
    });
    between.count()
}

/// Links of hosts that do not differ.
fn host_link(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let link = resolved.scenario.fabric.host_link.as_ref()?;
    let is_empty = link.rate.is_none() && link.latency.is_none();
    (is_empty && !varied.includes("fabric.host_link")).then(|| {
        String::from("fabric.host_link changes nothing: it has neither `rate` nor `latency`")
    })
}

/// VL15 without packets.
fn management_lane(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let plan = &resolved.plan;
    let is_used = plan.classes.iter().any(|class| class.management);
    let is_for_others = varied.includes("traffic.*.sl") || varied.includes("traffic.*.answers.sl");
    let is_idle = plan.switch.management_lane && !is_used && !is_for_others;
    is_idle.then(|| {
        format!(
            "{} changes nothing: no class and no answers are on VL15 (`sl: Management`)",
            resolved.scenario.qos.management_lane.path
        )
    })
}
