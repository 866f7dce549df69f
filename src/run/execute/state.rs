//! Taking over a saved state, and saving one.

use super::Run;
use crate::run::checkpoint::{Checkpoint, CheckpointError, Start};
use crate::run::outcome::Verdict;
use std::path::Path;

impl Run<'_> {
    /// Takes over the state to start from.
    pub(super) fn start(&mut self, start: &Start) -> Result<(), CheckpointError> {
        let (checkpoint, fork) = match start {
            Start::Fresh => return Ok(()),
            Start::Resume(checkpoint) => {
                checkpoint.require_same_run(self.resolved)?;
                self.driver = checkpoint.driver.clone();
                (checkpoint, false)
            }
            Start::Fork(checkpoint) => {
                checkpoint.require_forkable(self.resolved)?;
                self.driver.spent = checkpoint.driver.spent;
                (checkpoint, true)
            }
        };
        let restored = (self.simulation).restore(checkpoint.cycle, &checkpoint.state, fork);
        restored.map_err(CheckpointError::Damaged)?;
        if let Some(packets) = &mut self.packets.sink
            && !fork
        {
            let written = self.driver.packets;
            packets.go_on(written).map_err(CheckpointError::Packets)?;
        }
        if fork {
            let (totals, origin) = (self.simulation.totals(), &checkpoint.driver.timeline);
            (self.driver.timeline).fork(origin, checkpoint.cycle, totals);
        }
        Ok(())
    }

    /// The state between two steps.
    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint, CheckpointError> {
        let handed = self.packets.hand_over(&mut self.simulation);
        handed.map_err(CheckpointError::Packets)?;
        if let Some(packets) = &mut self.packets.sink {
            self.driver.packets = packets.secure().map_err(CheckpointError::Packets)?;
        }
        let state = self.simulation.save().map_err(CheckpointError::Damaged)?;
        let (cycle, mut driver) = (self.simulation.now(), self.driver.clone());
        driver.spent = self.cost();
        let asked = self.options.shards;
        Ok(Checkpoint::new(self.resolved, cycle, driver, asked, state))
    }

    /// Ends a run early for the reason given, and saves its state if it `is_saved` and there is a place for it.
    pub(super) fn interrupt(&mut self, reason: String, is_saved: bool) {
        let keeping = self.keeping.as_ref().filter(|_| is_saved);
        let file = keeping.map(|keeping| keeping.file.clone());
        let reason = match file {
            None => reason,
            Some(file) => match self.save(&file) {
                Ok(()) => format!("{reason}, state saved in {}", file.display()),
                Err(cause) => format!("{reason}; {}: {cause}", file.display()),
            },
        };
        self.ended = Some((Verdict::Interrupted, reason));
    }

    /// Writes a checkpoint to the place of the latest one.
    fn save(&mut self, file: &Path) -> Result<(), CheckpointError> {
        self.checkpoint()?.write(file)?;
        if let Some(packets) = &mut self.packets.sink {
            packets.is_needed();
        }
        self.has_saved = true;
        Ok(())
    }

    /// Makes a checkpoint when one is due. A checkpoint that fails costs the time since the one before it, not the run; the first one
    /// is told.
    pub(super) fn keep(&mut self, now: u64) {
        let Some(keeping) = &mut self.keeping else {
            return;
        };
        if keeping.every.is_none_or(|every| now < keeping.last + every) {
            return;
        }
        keeping.last = now;
        if self.packets.sink.as_ref().is_some_and(|sink| sink.is_cut()) {
            return;
        }
        let file = keeping.file.clone();
        let Err(cause) = self.save(&file) else {
            return;
        };
        let is_told = std::mem::replace(&mut self.has_told_unsaved, true);
        if !is_told && !self.packets.sink.as_ref().is_some_and(|sink| sink.is_cut()) {
            let file = file.display();
            tracing::warn!("{file}: {cause}; further states that cannot be saved are not told");
        }
    }
}
