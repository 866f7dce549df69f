//! Requests that are not what flows do, bounds that nobody looks at and additions to one that there is not, and shares of service levels that nobody asks on.

use super::varied::Varied;
use crate::ids::HostId;
use crate::plan::{AdmissionPlan, ClassPlan, FlowPlan, Limit, ONE_FLIT_PER_CYCLE};
use crate::scenario::Resolved;
use crate::topology::{Endpoint, Graph};

/// All of it.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let mut notes = above_peaks(resolved);
    if !varied.includes("traffic.*.requests") {
        notes.extend(further(resolved));
        if !varied.includes("admission") {
            notes.extend(jitter(resolved));
        }
    }
    notes.extend(levels(resolved, varied));
    notes
}

/// What further switches add to a bound that there is not.
fn further(resolved: &Resolved) -> Vec<String> {
    let classes = resolved.scenario.traffic.iter().zip(&resolved.plan.classes);
    let notes = classes.filter_map(|(class, planned)| {
        let (section, requests) = (class.requests.as_ref()?, planned.requests?);
        let is_idle = requests.delay.is_none() && requests.delay_per_switch > 0;
        is_idle.then(|| {
            format!(
                "{} changes nothing: further switches add it to `delay`, which is None",
                section.delay_per_switch.path
            )
        })
    });
    notes.collect()
}

/// Bounds of the jitter where nobody tries flows.
fn jitter(resolved: &Resolved) -> Option<String> {
    let tries = |admission: &AdmissionPlan| admission.trials().is_some();
    if resolved.plan.admission.as_ref().is_some_and(tries) {
        return None;
    }
    let requests = resolved.scenario.traffic.iter();
    let mut bounds = requests.filter_map(|class| class.requests.as_ref()?.jitter.as_ref());
    let first = &bounds.next()?.path;
    let what = match bounds.count() {
        0 => format!("{first} changes nothing"),
        more => format!("{first} and {more} more change nothing"),
    };
    Some(format!(
        "{what}: only `admission.control: JitterProbing` tries flows for it"
    ))
}

/// Cycles per flit of a host's channel.
fn pace(graph: &Graph, host: HostId) -> u32 {
    let channel = graph.channel(graph.host_channel(host));
    channel.timing.cycles_per_flit
}

/// Flows that may send more than the peak that they ask for.
fn above_peaks(resolved: &Resolved) -> Vec<String> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let classes = resolved.scenario.traffic.iter().zip(&plan.classes);
    let notes = classes.enumerate().filter_map(|(number, (class, planned))| {
        let (section, peak) = (class.requests.as_ref()?, planned.requests?.peak);
        let own = plan.flows.iter().enumerate();
        let above = own.filter(|(_, flow)| {
            usize::from(flow.class) == number && most(resolved, planned, flow) > peak
        });
        let above: Vec<(usize, &FlowPlan)> = above.collect();
        let &(id, first) = above.first()?;
        let of_link = |rate: u64| {
            let pace = pace(graph, first.source);
            rate as f64 * f64::from(pace) / ONE_FLIT_PER_CYCLE as f64
        };
        let limit = match first.limit {
            Limit::Rate(rate) => format!("its limit is {:.3} of the link", of_link(rate)),
            Limit::None | Limit::Delay { .. } => "it always has a packet and no limit".to_owned(),
        };
        let [from, to] = [first.source, first.destination]
            .map(|host| graph.endpoint_name(Endpoint::Host(host)));
        Some(format!(
            "{}: {} of {} flows may send more than they ask for, the first of them flow {id} ({from} to {to}): {limit}, the peak \
             {:.3}",
            section.peak.path,
            above.len(),
            planned.flows.unwrap_or_default(),
            of_link(peak)
        ))
    });
    notes.collect()
}

/// What a flow is known to be able to send \[2^-32 flits per cycle\]; 0 where its process, window or control says how much.
fn most(resolved: &Resolved, class: &ClassPlan, flow: &FlowPlan) -> u64 {
    match flow.limit {
        Limit::Rate(rate) => rate,
        Limit::None
            if resolved.plan.is_backlogged(flow)
                && flow.window.is_none()
                && class.control.is_none() =>
        {
            ONE_FLIT_PER_CYCLE.div_ceil(pace(&resolved.layout.graph, flow.source).into())
        }
        Limit::None | Limit::Delay { .. } => 0,
    }
}

/// Service levels that an admission control limits, and nobody is on.
fn levels(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let classes = &resolved.plan.classes;
    let section = resolved.scenario.admission.as_ref()?;
    let limited = resolved.plan.admission.as_ref()?.control.limited()?;
    if limited == [true; 16] || varied.includes("traffic.*.sl") {
        return None;
    }
    let is_on = |class: &ClassPlan, level: u8| {
        let mut own = class.service_levels.iter();
        !class.management && own.any(|own| own.0 == level)
    };
    let limited = (0..16_u8).filter(|&level| limited[usize::from(level)]);
    let asks = |class: &ClassPlan| class.requests.is_some() && !class.reserves();
    let is_asked = |level: u8| {
        let mut all = classes.iter();
        all.any(|class| asks(class) && is_on(class, level))
    };
    let path = &section.control.name.path;
    if !limited.clone().any(is_asked) {
        let levels = words(limited);
        return Some(format!(
            "{path} limits {levels} only, and no class that asks is there: every flow is admitted"
        ));
    }
    let idle = limited.filter(|&level| !classes.iter().any(|class| is_on(class, level)));
    idle.clone().next()?;
    let levels = words(idle);
    Some(format!("{path} limits {levels}, and no class is there"))
}

/// Service levels in words.
fn words(levels: impl Iterator<Item = u8>) -> String {
    let levels: Vec<String> = levels.map(|level| level.to_string()).collect();
    let plural = if levels.len() == 1 { "" } else { "s" };
    format!("service level{plural} {}", levels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, said_beside};

    #[test]
    fn additions_to_no_bound_are_told() {
        let of = |bounds: &str, varied: &[&str]| {
            let class = format!(
                "flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate(0.1))], requests: (peak: 0.1{bounds})"
            );
            let control = ", admission: (control: AdmitAll())";
            said_beside(varied, &[("CLASS", &*class), ("SCENARIO", control)])
        };
        let further = ", delay_per_switch: \"25 cycles\"";
        let told = "traffic[0].requests.delay_per_switch changes nothing: further switches add it to `delay`, which is None";
        assert_eq!(of(further, &[]), [told]);
        let jitter = "traffic[0].requests.jitter changes nothing: only `admission.control: JitterProbing` tries flows for it";
        assert_eq!(
            of(&format!("{further}, jitter: \"9 cycles\""), &[]),
            [told, jitter]
        );
        assert_eq!(of(", jitter: \"9 cycles\"", &["admission"]), NOTHING);
        assert_eq!(
            of(&format!("{further}, delay: \"90 cycles\""), &[]),
            NOTHING
        );
        assert_eq!(of(", delay_per_switch: \"0 cycles\"", &[]), NOTHING);
        for varied in ["traffic.u.requests.delay", "traffic.u.requests"] {
            assert_eq!(of(further, &[varied]), NOTHING, "{varied}");
        }
    }
}
