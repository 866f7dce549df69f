//! Claims: heads that have waited for long are served before all others (D72).
//!
//! Slots: the end of `Slot::Route` (the walk, with the grants it makes) and the end of `Slot::Arbitrate` (what the walk kept
//! from the rounds is given back); only where the plan says `claims: Every(...)`. Looks are tied to the shard ([`Regular`]).
//! Reads: the claims of the shard, requests, credits, inputs and outputs of their switches
//! Writes: what a grant writes; for the time of one `Slot::Arbitrate` credits of barred lanes, outputs and places of inputs
//! that are kept; the visit list
//! Cost: O(queues) per look; O(claims + ports of their switches) per cycle in which something happens; without a claim a look
//! at an empty list
//!
//! # Rules (D72)
//! 1. A head that stood at one look and stands at the next is a claimant from then on, until it is granted. It is known again
//!    by its source and the cycle in which that sent it (a host sends one packet per cycle), and by the switches it has passed.
//! 2. In the walk each claim bars its output lane, takes output and place when it lacks nothing else, and is granted when both
//!    are there.
//! 3. Arbitration need not know: a barred lane is one without credits, a kept output and a kept input are not free, until the
//!    rounds are over.
//! 4. While a switch has a claim, and in the cycle after its last one ended, all its free outputs are looked at whenever
//!    anything happens in the shard; what a claim waits for is in the calendar. So in cycles that are jumped over nothing
//!    would change.
//!
//! # Deviations
//! None.

mod end;
mod kept;
mod walk;

use self::kept::Kept;
use crate::cycle::columns::Choice;
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::look::{Columns, Look};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::state::Grant;
use crate::cycle::ties::{Regular, Sleeper};
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, QueueRow, SwitchRow};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use serde::{Deserialize, Serialize};

/// A head whose request stands, and what it would claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Standing {
    queue: QueueRow,
    /// Input lane.
    input: LaneRow,
    /// Output lane that it would claim.
    lane: LaneRow,
    /// Source host (global id).
    source: u32,
    /// Cycle in which that sent it.
    injected: u64,
    /// Switches passed.
    hops: u8,
}

impl Standing {
    /// Whether it is the same head.
    fn is(&self, other: &Self) -> bool {
        (self.source, self.injected, self.hops) == (other.source, other.injected, other.hops)
    }
}

/// The claim of a head.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Claim {
    /// Its claim cycle.
    since: u64,
    queue: QueueRow,
    /// Output lane.
    lane: LaneRow,
}

/// The claims of a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Claims {
    /// In the order in which they go: by claim cycle and queue.
    held: Vec<Claim>,
    /// Heads that stood at the last look, by queue.
    stood: Vec<Standing>,
    /// Heads that became claimants.
    made: u64,
    /// Switches of which a claim ended in the cycle before.
    ended: Vec<SwitchRow>,
    /// Some of those held no walk has seen.
    is_new: bool,
    /// What the rounds of this cycle do not see.
    #[serde(skip)]
    kept: Kept,
    /// Grants of the walk of this cycle.
    #[serde(skip)]
    grants: Vec<Grant>,
}

impl Persistent for Claims {}

/// Claims as a mechanism.
pub struct Claiming {
    /// Cycles from look to look.
    period: u64,
    /// Heads may wait for nothing but a turn (D9).
    has_turns: bool,
}

impl Mechanism for Claiming {
    fn of(site: &Site<'_>) -> Option<Self> {
        let period = site.plan.switch.allocation.claims?;
        let has_turns = site.plan.switch.reserve;
        Some(Self { period, has_turns })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(Claims::default());
        shard.count(Count {
            name: "claims.made",
            by: Reduction::Sum,
            value: |world, _| world.resource::<Claims>().made,
        });
        shard.sleeper(Sleeper {
            systems: &["claims", "claims_end"],
            sleeps: |world| world.resource::<Claims>().is_idle(),
            alarm: |world, from| {
                if world.resource::<Claims>().is_new {
                    from
                } else {
                    u64::MAX
                }
            },
        });
        shard.shown().claim = Some(|world, queue| world.resource::<Claims>().of(queue));
        shard.look(Regular {
            name: "claims",
            period: self.period,
            look: |world, now| {
                let standing = Claims::standing(&Look::<W>::new(world));
                world.resource_mut::<Claims>().look(now, standing);
            },
            will_move: if self.has_turns {
                are_coming::<W>
            } else {
                |_| false
            },
        });
        shard.last_system(Slot::Route, "claims", walk::system::<W>);
        shard.last_system(Slot::Arbitrate, "claims_end", end::system::<W>);
    }
}

/// Whether a head stands that has no claim yet: it will need no turn, which was all it may have waited for.
fn are_coming<const W: usize>(world: &World) -> bool {
    let claims = world.resource::<Claims>();
    let mut standing = Claims::standing(&Look::<W>::new(world)).into_iter();
    standing.any(|head| claims.of(head.queue).is_none())
}

impl Claims {
    /// Whether there is no claim, and nothing to be done about one that ended.
    fn is_idle(&self) -> bool {
        self.held.is_empty() && self.ended.is_empty()
    }

    /// Heads whose requests stand, by queue.
    fn standing(view: &dyn Columns) -> Vec<Standing> {
        let (place, shared) = (view.place(), view.shared());
        let (classifier, numbering) = (shared.switch.classifier, shared.numbering);
        let choices = view.grouped::<QueueRow, Choice>();
        let mut all = Vec::new();
        for (row, queue) in view.queues().enumerate() {
            let input = classifier.lane(row);
            if place.is_host(numbering.port(input)) {
                break;
            }
            if !queue.requesting {
                continue;
            }
            let requests = choices.get(row).map_or(&[][..], |choice| &choice.requests);
            let escape = requests.iter().find(|request| request.escape);
            let only = numbering.lane(queue.out, u32::from(queue.out_lane));
            let lane = escape.or(requests.first()).map_or(only, |first| first.lane);
            let (packet, record) = (&view.packets()[queue.head], &view.records()[queue.head]);
            all.push(Standing {
                queue: row,
                input,
                lane,
                source: record.source,
                injected: record.injected,
                hops: packet.hops,
            });
        }
        all
    }

    /// Claim cycle of the head of a queue and the output lane it claims, if it is a claimant. O(claims)
    fn of(&self, queue: QueueRow) -> Option<(u64, LaneRow)> {
        let claim = self.held.iter().find(|claim| claim.queue == queue)?;
        Some((claim.since, claim.lane))
    }

    /// Ends the claim of the head of a grant, if it has one.
    fn end<const W: usize, P: RuleSet>(&mut self, view: &mut View<'_, W, P>, grant: &Grant) {
        let before = self.held.len();
        self.held.retain(|claim| claim.queue != grant.queue);
        if self.held.len() < before {
            self.ended.push(view.outs[grant.out].owner);
            // whoever was kept may go in the next cycle
            view.calendar.at(view.now + 1).wakes.push(grant.out);
        }
    }

    /// A look before cycle `now`, at which these heads stand: those that stood at the one before become claimants.
    fn look(&mut self, now: u64, standing: Vec<Standing>) {
        let mut claiming: Vec<QueueRow> = self.held.iter().map(|claim| claim.queue).collect();
        claiming.sort_unstable();
        let mut new = Vec::new();
        for head in &standing {
            let before = self
                .stood
                .binary_search_by_key(&head.queue, |known| known.queue);
            let stood = before.is_ok_and(|place| self.stood[place].is(head));
            if stood && claiming.binary_search(&head.queue).is_err() {
                new.push(head);
            }
        }
        new.sort_by_key(|head| (head.input, head.lane));
        self.made += new.len() as u64;
        self.is_new |= !new.is_empty();
        self.held.extend(new.into_iter().map(|head| Claim {
            since: now,
            queue: head.queue,
            lane: head.lane,
        }));
        self.stood = standing;
    }
}
