//! A measurement as the verdict sees it: loads, shortfalls, busy channels, trends.
//!
//! Cost: O(hosts + channels) per question; asked at the end of a run and at the decisions of one that finds its own
//! length.

use crate::ids::{ChannelId, HostId};
use crate::measure::precision::stationarity::{dispersion, is_growing, normal_bound, rise};
use crate::measure::precision::{Batch, BatchSeries};
use crate::measure::{ClassRecords, FlowCounts, Records};
use crate::plan::Plan;
use crate::topology::{Endpoint, Graph};

use crate::run::execute::asked::Asked;

/// Level of each test that says *saturated*.
pub(super) const CERTAIN: f64 = 0.001;
/// The overload that is not to be called *steady*, as a factor of what the fabric takes.
pub(super) const OVERLOAD: f64 = 1.1;
/// Standard normal quantiles of 0.99 and 0.9, for the growth of all flits.
const GROWTH: (f64, f64) = (2.326, 1.282);
/// Load of a host's link that may be too much: a queue there fills in the long run.
pub(super) const FULL_HOST: f64 = 0.99;
/// Utilisation of a channel between switches that may be too much; it idles until its queue stands.
pub(super) const FULL_CHANNEL: f64 = 0.98;
/// Part of what is missing that waits at hosts where the fabric takes less than is offered: lanes fill as well, but not alone.
const AT_HOSTS: f64 = 0.1;
/// Level of the tests of trends, and the least rise that matters.
const TREND: (f64, f64) = (0.005, 0.05);
/// Batches of the tests of growth: long enough to be told apart from bursts.
const CHANGES: usize = 16;
/// Batches of trends and of the dispersion.
pub(super) const LEVELS: usize = 32;
/// Dispersion, in packets, below which creation is regular: such a load is told from an overload by growth alone.
const REGULAR: f64 = 0.1;

/// Whether a class falls behind what is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Beyond what chance explains.
    Certainly,
    /// By a part that an overload may leave.
    Perhaps,
    /// It does not.
    No,
}

/// What tells the channels of the way of a flow, by its id, each with what a flit takes there at the least, by its pace and by
/// credits that come back \[cycles\]; those of its hosts where more is not known.
pub(crate) type Ways<'a> = dyn Fn(usize) -> Vec<(ChannelId, f64)> + 'a;

/// A measurement.
pub(crate) struct Window<'a> {
    pub(super) graph: &'a Graph,
    plan: &'a Plan,
    /// `None` where it is not known.
    pub(super) asked: Option<Asked>,
    /// Classes whose sources have made all that they may.
    pub(super) done: Vec<usize>,
    pub(super) records: &'a Records,
    pub(super) series: &'a BatchSeries,
    /// Cycles before it.
    warmup: u64,
    /// Length \[cycles\].
    cycles: u64,
    /// What counts of flits vary by: variance over mean \[flits\].
    dispersion: f64,
    /// Mean size of a packet \[flits\].
    pub(super) size: f64,
    /// Cycles for which packets only filled the fabric.
    filling: f64,
    /// What the flows did up to the end of the run, by id; empty while that is not known.
    pub(super) flows: &'a [FlowCounts],
    /// Known as they are.
    ways: Option<&'a Ways<'a>>,
}

impl<'a> Window<'a> {
    /// The measurement of `cycles` cycles after a warm-up of `warmup`.
    pub(crate) fn new(
        (graph, plan): (&'a Graph, &'a Plan),
        (asked, done): (Option<Asked>, Vec<usize>),
        records: &'a Records,
        series: &'a BatchSeries,
        [warmup, cycles]: [u64; 2],
    ) -> Self {
        let sum = |count: fn(&ClassRecords) -> u64| records.classes.iter().map(count).sum::<u64>();
        let packets = sum(|class| class.created_packets);
        let size = sum(|class| class.created_flits) as f64 / packets.max(1) as f64;
        let created: Vec<f64> = (series.joined(LEVELS).iter())
            .map(|batch| batch.created_flits as f64)
            .collect();
        let latency = mean_latency(series);
        Self {
            graph,
            plan,
            asked,
            done,
            records,
            series,
            warmup,
            cycles,
            dispersion: dispersion(&created).unwrap_or(size),
            size,
            filling: (latency - warmup as f64).max(0.0),
            flows: &[],
            ways: None,
        }
    }

    /// The same at the end of a run in which flows did so much on their ways.
    pub(crate) fn with_flows(self, flows: &'a [FlowCounts], ways: &'a Ways<'a>) -> Self {
        let ways = Some(ways);
        Self {
            flows,
            ways,
            ..self
        }
    }

    /// The way of a flow; empty where flows are not known.
    pub(super) fn way(&self, flow: usize) -> Vec<(ChannelId, f64)> {
        self.ways.map_or_else(Vec::new, |ways| ways(flow))
    }

    pub(super) fn plan(&self) -> &Plan {
        self.plan
    }

    pub(super) fn cycles(&self) -> u64 {
        self.cycles
    }

    pub(super) fn warmup(&self) -> u64 {
        self.warmup
    }

    pub(super) fn sum(&self, count: impl Fn(&ClassRecords) -> u64) -> u64 {
        self.records.classes.iter().map(count).sum()
    }

    /// Flits created, and delivered.
    pub(super) fn flits(&self) -> (f64, f64) {
        let created = self.sum(|class| class.created_flits);
        let delivered = self.sum(|class| class.delivered_flits);
        (created as f64, delivered as f64)
    }

    /// Flits of packets that switches dropped.
    pub(super) fn dropped(&self) -> f64 {
        self.sum(|class| class.lost.window_flits) as f64
    }

    /// Flits of packets that are neither delivered nor present: dropped or rejected.
    pub(super) fn lost(&self) -> f64 {
        let rejected = self
            .records
            .classes
            .iter()
            .map(ClassRecords::rejected_flits);
        self.dropped() + rejected.sum::<f64>()
    }

    /// Flits created and neither delivered nor dropped.
    pub(crate) fn present_growth(&self) -> i64 {
        let created = self.sum(|class| class.created_flits);
        let gone = self.sum(|class| class.delivered_flits + class.lost.window_flits);
        created.cast_signed() - gone.cast_signed()
    }

    /// Standard deviation of a count of flits.
    pub(super) fn noise(&self, flits: f64) -> f64 {
        (self.dispersion * flits + 2.0 * self.size.powi(2)).sqrt()
    }

    /// What is missing of `asked` flits, beyond those that filled the fabric.
    pub(super) fn shortfall(&self, asked: f64, delivered: f64) -> f64 {
        asked - delivered - asked / self.cycles as f64 * self.filling
    }

    /// Flits by which more of the classes that pace themselves are on their way at the end than at the start: they fill buffers once,
    /// however long a measurement is.
    pub(super) fn filled(&self) -> f64 {
        let classes = self.records.classes.iter().enumerate();
        let paced = classes.filter(|(number, _)| self.paces_itself(*number));
        let growth = paced.map(|(_, class)| {
            let gone = class.delivered_flits + class.lost.window_flits;
            class.created_flits as f64 - gone as f64
        });
        growth.map(|growth| growth.max(0.0)).sum()
    }

    /// Load a channel or a host was asked for or carried, as a fraction of what it carries, and the standard deviation of that.
    pub(super) fn load(&self, flits: f64, cycles_per_flit: f64) -> (f64, f64) {
        let part = cycles_per_flit / self.cycles as f64;
        (flits * part, self.noise(flits) * part)
    }

    pub(super) fn cycles_per_flit(&self, channel: ChannelId) -> f64 {
        f64::from(self.graph.channel(channel).timing.cycles_per_flit)
    }

    /// How long a flit keeps a channel, mean, with what link-level retry repeats of the smallest packets \[cycles\].
    pub(super) fn time_of_flit(&self, channel: ChannelId) -> f64 {
        let sizes = self.plan.classes.iter().map(|class| class.size.smallest());
        let smallest = sizes.min().unwrap_or(1);
        self.plan.time_of_flit(self.graph, channel, smallest)
    }

    /// Part of the time in which a channel carried flits.
    pub(super) fn utilisation(&self, channel: ChannelId) -> f64 {
        let flits = self.records.channels.flits(channel) as f64;
        // the last flit of a slow channel may take longer than the measurement
        self.load(flits, self.time_of_flit(channel)).0.min(1.0)
    }

    /// The channel that was busy for most of the time.
    pub(super) fn busiest(
        &self,
        channels: impl Iterator<Item = ChannelId>,
    ) -> Option<(ChannelId, f64)> {
        let all = channels.map(|channel| (channel, self.utilisation(channel)));
        all.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Why the fabric certainly takes less than is offered.
    pub(super) fn overload(&self) -> Option<String> {
        self.asked_too_much()
            .or_else(|| self.losing())
            .or_else(|| self.growing())
            .or_else(|| self.host_that_falls_short())
    }

    /// Flits present that drift upwards, at hosts too: what fills the lanes of a fabric alone ends by itself.
    fn growing(&self) -> Option<String> {
        let changes: Vec<f64> = (self.series.joined(CHANGES).iter())
            .map(|batch| {
                batch.created_flits as f64 - (batch.delivered_flits + batch.dropped_flits) as f64
            })
            .collect();
        let (created, delivered) = self.flits();
        let filled = self.filled();
        let missing = self.shortfall(created, delivered + self.lost()) - filled;
        let waiting = created - self.sum(|class| class.injected_flits) as f64;
        // what fills buffers, or is rejected, drifts as well: then more than chance must be missing
        let least = if filled > 0.0 || self.lost() > self.dropped() {
            normal_bound(CERTAIN) * self.noise(created)
        } else {
            0.0
        };
        let is_drift = is_growing(&changes, CERTAIN) && missing > least;
        (is_drift && waiting > AT_HOSTS * missing).then(|| self.loads())
    }

    /// A host of whose flits fewer are delivered than chance explains, or losses: these are a matter of their class.
    fn host_that_falls_short(&self) -> Option<String> {
        let hosts = self.records.hosts.iter();
        let counts = hosts.flat_map(|host| {
            let taken = (host.destined_flits, host.received_flits);
            [taken, (host.created_flits, host.accepted_flits)]
        });
        let counts: Vec<(f64, f64)> = counts.map(|(a, b)| (a as f64, b as f64)).collect();
        let tests = counts.iter().filter(|(asked, _)| *asked > 0.0).count();
        let bound = normal_bound(CERTAIN / tests.max(1) as f64);
        let filled = self.filled() + self.lost();
        let beyond = |&(asked, delivered): &(f64, f64)| {
            let noise = self.noise(asked).hypot(self.edges(asked));
            (self.shortfall(asked, delivered) - filled) / noise - bound
        };
        let beyond = counts.iter().map(beyond).enumerate();
        let (worst, beyond) = beyond.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let (asked, delivered) = counts[worst];
        (beyond > 0.0).then(|| {
            let name = self
                .graph
                .endpoint_name(Endpoint::Host(HostId::from(worst / 2)));
            let whose = ["for", "by"][worst % 2];
            let loads = self.loads();
            format!("of {asked} flits created {whose} {name} {delivered} were delivered; {loads}")
        })
    }

    /// Whether creation is irregular, so that queues fill at the full load.
    pub(super) fn is_irregular(&self) -> bool {
        self.dispersion > REGULAR * self.size
    }

    /// Whether of a class less is delivered than is offered, or too much is dropped.
    pub(super) fn behind(&self, class: usize) -> Behind {
        let (lost, kept) = (self.loses(class), self.keeps(class));
        let is_either = |behind| lost == behind || kept == behind;
        let mut worse = [Behind::Certainly, Behind::Perhaps].into_iter();
        let found = worse.find(|behind| is_either(*behind));
        found.unwrap_or(Behind::No)
    }

    /// Whether of a class less is delivered or lost than is offered.
    fn keeps(&self, class: usize) -> Behind {
        let paces_itself = self.paces_itself(class);
        let class = &self.records.classes[class];
        let asked = class.created_flits as f64;
        // what filled the fabric and what grows are the same where packets are under way for long
        let kept = if paces_itself {
            0.0
        } else {
            let gone = (class.delivered_flits + class.lost.window_flits) as f64;
            asked - gone - class.rejected_flits()
        };
        let missing = self.shortfall(asked, asked - kept);
        let noise = self.noise(asked);
        if missing / noise > normal_bound(CERTAIN) {
            Behind::Certainly
        } else if kept > self.least_growth(asked) * asked {
            Behind::Perhaps
        } else {
            Behind::No
        }
    }

    /// Part of so many flits that an overload may leave behind.
    pub(super) fn least_growth(&self, created: f64) -> f64 {
        let noise = self.noise(created) / created;
        (1.0 - 1.0 / OVERLOAD - GROWTH.0 * noise).max(GROWTH.1 * noise)
    }

    /// Packets present or latency that rise.
    pub(super) fn trend(&self) -> Option<String> {
        let levels = self.series.joined(LEVELS);
        let tell = |name: &str, levels: Vec<f64>| {
            let rise = rise(&levels, TREND.0).filter(|rise| *rise > TREND.1)?;
            let percent = rise * 100.0;
            Some(format!(
                "{name} rises by {percent:.0} % of its mean over the measurement"
            ))
        };
        let present = levels.iter().map(|batch| batch.present as f64).collect();
        let with_packets = levels.iter().filter(|batch| batch.delivered > 0);
        let latency =
            with_packets.map(|batch| batch.packet_latency as f64 / batch.delivered as f64);
        tell("the number of packets present", present)
            .or_else(|| tell("packet latency", latency.collect()))
    }
}

/// Mean network latency of a measurement \[cycles\].
pub(super) fn mean_latency(series: &BatchSeries) -> f64 {
    let all = (series.batches().iter()).fold(Batch::default(), |sum, batch| sum.join(*batch));
    all.network_latency as f64 / all.delivered.max(1) as f64
}

/// Growth of the flits present \[% of those created\], in words.
pub(super) fn of_present(percent: f64) -> String {
    // what is 0.0 in words does not shrink
    let verb = if percent <= -0.05 { "shrink" } else { "grow" };
    let percent = percent.abs();
    format!("flits present {verb} by {percent:.1} % of those created")
}
