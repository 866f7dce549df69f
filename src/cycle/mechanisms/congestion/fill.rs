//! What waits for each output lane (D36), and marking by it.

use super::ecn::{Ecn, MarkStream};
use super::infiniband::{Fill, InfiniBand, Pace};
use crate::cycle::columns::{Contention, OutChannel, OutputBuffer};
use crate::cycle::joints::Joints;
use crate::cycle::mechanism::{Fetched, Mechanism, Rider, ShardBuilder, Site};
use crate::cycle::rules::{Any, RuleSet};
use crate::cycle::slot::Slot;
use crate::cycle::state::{Fact, Grant};
use crate::cycle::ties::Riding;
use crate::cycle::view::{Heads, Optional, View, column};
use crate::fabric::bit_errors::Retry;
use crate::fabric::rows::{LaneRow, PortRow, Rows};
use crate::fabric::{Group, OutLane, OutPort};
use crate::plan::{Marking, Plan};
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::prelude::{Query, Res, Resource};
use bevy_ecs::system::SystemParam;

/// Which of the two.
#[derive(Resource, Debug)]
enum By {
    InfiniBand(InfiniBand),
    Ecn(Ecn),
}

/// Whose packets are marked.
#[derive(Resource, Debug)]
struct Markable {
    /// Classes from this one on are answers.
    answers: u16,
}

/// Marking by fill as a mechanism.
pub struct Filling(By);

impl Mechanism for Filling {
    fn of(site: &Site<'_>) -> Option<Self> {
        let plan: &Plan = site.plan;
        match plan.switch.marking? {
            Marking::Requests(_) => None,
            Marking::InfiniBand {
                threshold,
                hysteresis,
                packet,
                rate,
                victims,
            } => Some(Self(By::InfiniBand(InfiniBand::new(
                plan,
                (threshold, hysteresis),
                (packet, rate),
                victims,
            )))),
            Marking::Ecn {
                least,
                most,
                probability,
            } => Some(Self(By::Ecn(Ecn {
                least,
                most,
                probability,
            }))),
        }
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        shard.subscribe(Fact::Arrived);
        shard.subscribe(Fact::Granted);
        shard.column::<Group<OutLane<W>>, Group<Fill>>(Group::default());
        shard.constant(Markable {
            answers: site.plan.first_answers() as u16,
        });
        match &self.0 {
            By::InfiniBand(_) => {
                shard.column::<OutPort, Pace>(Pace::default());
                shard.system(Slot::Mark, "mark_infiniband", infiniband::<W>);
                shard.rides(Riding::beside(&[(Slot::Mark, "mark_infiniband")]));
            }
            By::Ecn(_) => {
                super::ecn::streams(shard);
                shard.system(Slot::Mark, "mark_ecn", ecn::<W>);
                shard.rides(Riding::beside(&[(Slot::Mark, "mark_ecn")]));
            }
        }
        shard.constant(self.0);
    }
}

/// Counts this cycle's arrivals, grants and drops. Adaptive routing counts what waits itself; the fill of lanes that were granted is all
/// that is looked at.
fn count<const W: usize, P: RuleSet>(view: &View<'_, W, P>, fills: &mut Rows<'_, LaneRow, Fill>) {
    if view.shared.is_adaptive() {
        for grant in accepted(&view.lists.grants) {
            fills[grant.lane].flits = view.optional.contention.fill(grant.lane);
        }
        return;
    }
    view.each_arrival(|lane, flits| fills[lane].flits += flits);
    for grant in accepted(&view.lists.grants) {
        fills[grant.lane].flits -= u32::from(view.packets[grant.packet].size);
    }
    for dropped in &view.lists.dropped {
        fills[dropped.lane].flits -= u32::from(dropped.flits);
    }
}

/// The accepted grants of a cycle.
fn accepted(grants: &[Grant]) -> impl Iterator<Item = &Grant> {
    grants.iter().filter(|grant| grant.accepted)
}

/// Whether the packet of a grant may be marked at all: no answer, not on VL15.
fn is_data<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    markable: &Markable,
    grant: &Grant,
) -> bool {
    let number = view.shared.numbering.number(grant.lane);
    let class = view.records[grant.packet].class;
    class < markable.answers && !view.shared.management().contains(number)
}

/// The system of InfiniBand's marking.
fn infiniband<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut fills: Query<'_, '_, &mut Group<Fill>>,
    mut paces: Query<'_, '_, &mut Pace>,
    (mut buffers, mut retries): (Query<'_, '_, &mut OutputBuffer>, Query<'_, '_, &mut Retry>),
    (mut channels, mut contention): (
        Query<'_, '_, &mut OutChannel>,
        Query<'_, '_, &mut Group<Contention>>,
    ),
    (by, markable): (Res<'_, By>, Res<'_, Markable>),
) {
    let By::InfiniBand(rule) = &*by else {
        return;
    };
    if heads.events.lists().have_moved() {
        let view = &mut heads.view::<Any>(Optional {
            buffers: Rows::new(column!(buffers)),
            channels: Rows::new(column!(channels)),
            retries: Rows::new(column!(retries)),
            contention: Rows::new(column!(contention)),
            ..Optional::default()
        });
        let columns = (Rows::new(column!(fills)), Rows::new(column!(paces)));
        run_infiniband(view, columns, (rule, &markable));
    }
}

/// Runs InfiniBand's marking.
fn run_infiniband<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (mut fills, mut paces): (Rows<'_, LaneRow, Fill>, Rows<'_, PortRow, Pace>),
    (rule, markable): (&InfiniBand, &Markable),
) {
    count(view, &mut fills);
    let has_lanes = view.shared.output_lane_buffer() > 0;
    for i in 0..view.lists.grants.len() {
        let grant = view.lists.grants[i];
        if !grant.accepted {
            continue;
        }
        let flits = view.packets[grant.packet].size;
        let is_root = if view.shared.single_flits() {
            // its flits count themselves
            paces[grant.out].idle == 0
        } else if has_lanes {
            view.optional.channels[grant.out].idle == 0
        } else {
            takes_channel(view, &mut paces, (rule, &grant), flits) == 0
        };
        let out = &view.outs[grant.out];
        let fill = &mut fills[grant.lane];
        rule.look(fill);
        // the records of packets are read for the few that can be marked
        let is_markable = fill.is_congested && is_data(view, markable, &grant);
        if is_markable && rule.marks(fill, is_root, out.peer, flits) {
            view.packets[grant.packet].fecn = true;
        }
    }
}

/// A granted packet takes the channel of its output; time that this has lost lately \[cycles\].
fn takes_channel<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    paces: &mut Rows<'_, PortRow, Pace>,
    (rule, grant): (&InfiniBand, &Grant),
    flits: u16,
) -> u64 {
    let out = &view.outs[grant.out];
    let end = if view.shared.output_buffer() > 0 {
        view.optional.buffers[grant.out].channel_free()
    } else {
        out.free_at
    };
    let end = end - Retry::late(view.optional.retries.seen(), grant.out);
    let pace = &mut paces[grant.out];
    rule.advance(pace, end, flits, out.step);
    pace.idle
}

/// The system of RoCE's marking.
fn ecn<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut fills: Query<'_, '_, &mut Group<Fill>>,
    mut streams: Query<'_, '_, &mut MarkStream>,
    mut contention: Query<'_, '_, &mut Group<Contention>>,
    (by, markable): (Res<'_, By>, Res<'_, Markable>),
) {
    let By::Ecn(rule) = &*by else {
        return;
    };
    if heads.events.lists().have_moved() {
        let view = &mut heads.view::<Any>(Optional {
            contention: Rows::new(column!(contention)),
            ..Optional::default()
        });
        let columns = (Rows::new(column!(fills)), Rows::new(column!(streams)));
        run_ecn(view, columns, (rule, &markable));
    }
}

/// Runs RoCE's marking.
fn run_ecn<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (mut fills, mut streams): (Rows<'_, LaneRow, Fill>, Rows<'_, PortRow, MarkStream>),
    (rule, markable): (&Ecn, &Markable),
) {
    count(view, &mut fills);
    for i in 0..view.lists.grants.len() {
        let grant = view.lists.grants[i];
        let fill = fills[grant.lane].flits;
        if grant.accepted
            && fill > rule.least
            && is_data(view, markable, &grant)
            && rule.marks(fill, &mut streams[grant.out])
        {
            view.packets[grant.packet].fecn = true;
        }
    }
}

/// System parameter: marking by fill in the pass.
#[derive(SystemParam)]
pub(in crate::cycle) struct FillingAboard<'w, 's> {
    by: Option<Res<'w, By>>,
    markable: Option<Res<'w, Markable>>,
    fills: Query<'w, 's, &'static mut Group<Fill>>,
    paces: Query<'w, 's, &'static mut Pace>,
    streams: Query<'w, 's, &'static mut MarkStream>,
}

impl<J: Joints> Rider<J> for FillingAboard<'_, '_> {
    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    ) {
        let (Slot::Mark, Some(by), Some(markable)) = (slot, &self.by, &self.markable) else {
            return;
        };
        if !on.view.lists.have_moved() {
            return;
        }
        let fills = Rows::new(column!(self.fills));
        match &**by {
            By::InfiniBand(rule) => {
                let columns = (fills, Rows::new(column!(self.paces)));
                run_infiniband(on.view, columns, (rule, markable));
            }
            By::Ecn(rule) => {
                let columns = (fills, Rows::new(column!(self.streams)));
                run_ecn(on.view, columns, (rule, markable));
            }
        }
    }
}
