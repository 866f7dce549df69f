//! Looks at how long heads have waited: those that stood at the look before claim their outputs (D72).
//!
//! Cost: O(queues) per look

use super::{GlobalAct, LastingAct};
use crate::cycle::Columns;
use crate::cycle::mechanisms::claims::{Claims, Standing};
use crate::plan::Plan;
use crate::run::outcome::RunError;
use crate::run::shard::Inspect;
use crate::run::shards::Shards;

/// The looks of a plan.
pub(in crate::run) struct Looks {
    /// Cycles from look to look.
    period: u64,
    /// Heads may wait for nothing but a turn (D9).
    has_turns: bool,
}

impl Looks {
    /// Those of a plan; `None` where nobody looks.
    pub(in crate::run) fn new(plan: &Plan) -> Option<Self> {
        let period = plan.switch.allocation.claims?;
        let has_turns = plan.switch.reserve;
        Some(Self { period, has_turns })
    }
}

/// Heads whose requests stand, shard by shard.
#[derive(Default)]
struct Standings(Vec<Vec<Standing>>);

impl Inspect for Standings {
    fn look(&mut self, view: &dyn Columns) {
        self.0.push(Claims::standing(view));
    }
}

/// Whether a head stands that has no claim yet.
struct Coming(bool);

impl Inspect for Coming {
    fn look(&mut self, view: &dyn Columns) {
        let claims = view.resource::<Claims>();
        let mut standing = Claims::standing(view).into_iter();
        self.0 |= claims.is_some_and(|claims| standing.any(|head| !claims.has(&head)));
    }
}

impl GlobalAct for Looks {
    fn next(&self, from: u64) -> Option<u64> {
        Some(from.max(1).next_multiple_of(self.period))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        let mut standing = Standings::default();
        shards.inspect(&mut standing);
        for (mut claims, standing) in shards.each_mut::<Claims>().zip(standing.0) {
            claims.look(at, standing);
        }
        Ok(())
    }
}

impl LastingAct for Looks {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn is_over(&self, _: u64) -> bool {
        true
    }

    /// A head that will claim needs no turn, which was all it may have waited for.
    fn will_move(&self, shards: &Shards) -> bool {
        let mut coming = Coming(false);
        if self.has_turns {
            shards.inspect(&mut coming);
        }
        coming.0
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}
