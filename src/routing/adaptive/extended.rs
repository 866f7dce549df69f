//! The extended dependency graph of escape lanes, as far as it takes to know whether it has a cycle.
//!
//! Cost: one exploration of all goals per round; a round raises levels, so there are at most as many as vertices, and
//! rarely more than three.

use super::Leg;
use super::proof::{Check, Scratch};
use crate::ids::SwitchId;
use crate::routing::VerifyError;
use crate::routing::proof::dependency_graph::DependencyGraph;
use rayon::prelude::*;

impl Check<'_> {
    /// Step 3 of `proof.rs`: adds indirect dependencies until the levels agree with all of them, or they form a cycle.
    pub(super) fn settle(&self, dependencies: &mut DependencyGraph<'_>) -> Result<(), VerifyError> {
        let homes = self.homes();
        while let Some(levels) = dependencies.levels() {
            let search = |scratch: &mut Scratch, &home: &SwitchId| {
                self.against(home, &levels, dependencies, scratch)
            };
            let found = homes.par_iter().map_init(Scratch::default, search);
            let found: Vec<_> = found.collect();
            let mut indirect = Vec::new();
            for part in found {
                indirect.append(&mut part?);
            }
            if indirect.is_empty() {
                break;
            }
            dependencies.add_indirect(indirect);
        }
        Ok(())
    }

    /// Dependencies, as (vertex, vertex), of packets to `home` that lead to a level that is not higher.
    fn against(
        &self,
        home: SwitchId,
        levels: &[u32],
        dependencies: &DependencyGraph<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<(u32, u32)>, VerifyError> {
        self.starts(home, Leg::Last, scratch)?;
        let Scratch {
            starts,
            explored,
            lowest,
            ..
        } = scratch;
        let mut found = Vec::new();
        for (word, starts) in (0..).zip(starts).filter(|(_, starts)| !starts.is_empty()) {
            explored.follow(&self.question, starts, home, word)?;
            lowest.clear();
            lowest.resize(explored.switches.len(), (u32::MAX, 0));
            for &state in explored.order.iter().rev() {
                let mut least = (u32::MAX, 0);
                for way in explored.ways(state) {
                    let after = match way.to {
                        Some(to) => lowest[to as usize],
                        None => (u32::MAX, 0),
                    };
                    if way.escape {
                        let (channel, lane) = self.vertex(way);
                        let vertex = dependencies.vertex(channel, lane);
                        let level = levels[vertex];
                        if level >= after.0 {
                            found.push((vertex as u32, after.1));
                        }
                        least = least.min((level, vertex as u32));
                    } else {
                        least = least.min(after);
                    }
                }
                lowest[state as usize] = least;
            }
        }
        Ok(found)
    }
}
