//! What the forms of InfiniBand's tools have no word for.

use super::{one_way, speed_name};
use crate::ids::LinkId;
use crate::topology::BuildContext;
use crate::topology::graph::Graph;

/// Links whose rate or latency a form has no word for, so that who reads it takes that of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Of the first link without its rate, its ends and the rate.
    pub first_rate: Option<String>,
    /// Links without their rates.
    pub rates: usize,
    /// Links without their latencies.
    pub latencies: usize,
}

impl Dropped {
    /// In the form of `ibnetdiscover` or `ibsim`, which have a rate if `is_word` says so, and no latencies.
    pub fn of(graph: &Graph, context: &BuildContext<'_>, is_word: fn(u64, &str) -> bool) -> Self {
        let mut dropped = Self::default();
        for link in (0..graph.link_count()).map(LinkId::from) {
            let both = link.channels().map(|channel| graph.channel(channel));
            let [there, back] = both.map(|channel| channel.timing.cycles_per_flit);
            let lost = both.map(|channel| {
                let (own, latency) = one_way(channel, context);
                let is_said = || {
                    let name = speed_name(channel.timing, context);
                    name.is_some_and(|(lanes, speed)| is_word(lanes, speed))
                };
                // a link has one rate both ways
                (
                    own.filter(|_| there != back || !is_said()),
                    latency.is_some(),
                )
            });
            if let Some(rate) = lost.iter().find_map(|(rate, _)| *rate) {
                let [a, b] = graph.link_ends(link).map(|end| graph.endpoint_name(end));
                let first = dropped.first_rate.take();
                dropped.first_rate = first.or_else(|| Some(format!("{a} to {b}, {rate}")));
                dropped.rates += 1;
            }
            dropped.latencies += usize::from(lost.iter().any(|(_, is_lost)| *is_lost));
        }
        dropped
    }

    /// In words, of a form called so; `None` where nothing is.
    pub fn told(&self, form: &str) -> Option<String> {
        let links = |count: usize| match count {
            1 => "1 link".to_owned(),
            many => format!("{many} links"),
        };
        let rates = self.first_rate.as_ref().map(|first| {
            let links = links(self.rates);
            format!("the rates of {links} are not kept, for which {form} has no width and speed (the first: {first})")
        });
        let latencies = (self.latencies > 0).then(|| {
            let links = links(self.latencies);
            format!("the latencies of {links} are not kept, for which {form} has no word")
        });
        let both: Vec<String> = [rates, latencies].into_iter().flatten().collect();
        (!both.is_empty()).then(|| {
            format!(
                "{}: who reads the file takes those of the scenario",
                both.join("; ")
            )
        })
    }
}
