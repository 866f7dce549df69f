//! Runs of a study in parallel: one run per core, large ones with several.
//!
//! A run needs one slot, or as many as its share of the memory asks for, and gets the cores of its slots. What a
//! run gives does not depend on that, nor on which run is done first.

use super::directory::{Finished, StudyDirectory};
use super::{Design, RunKey, StudyError};
use crate::report::result::{Cost, RunResult, Verdict};
use crate::report::{PacketFile, packets, summarize, usage, write_run};
use crate::run::{self, Continuation, PacketSink, Progress, RunError, Settings, sizing};
use crate::scenario::{Document, Parts, Resolved};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Parts of a run that progress is counted in.
pub const PARTS: u64 = 1000;
/// Time between two looks at progress.
const TICK: Duration = Duration::from_millis(200);
/// Part of the free memory that runs may fill.
const MEMORY: f64 = 0.7;

/// Who works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    /// Runs at the same time, at most.
    pub slots: usize,
    /// Threads of a run in one slot.
    pub threads: usize,
}

impl Crew {
    /// One slot per core, or `jobs` of them, but no more than there are runs; cores left over make runs faster.
    pub fn new(jobs: Option<usize>, runs: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let slots = jobs.unwrap_or(cores).min(runs).max(1);
        let threads = (cores / slots).max(1);
        Self { slots, threads }
    }

    /// Slots of a run with `bytes` of state, when `free` bytes are there for all.
    fn slots_for(self, bytes: u64, free: Option<u64>) -> usize {
        let Some(free) = free else { return 1 };
        let share = free as f64 * MEMORY / self.slots as f64;
        ((bytes as f64 / share).ceil() as usize).clamp(1, self.slots)
    }
}

/// What happens while runs are made.
#[derive(Debug)]
pub enum Event {
    /// Time passes: [`PARTS`] of runs done since the start.
    Tick(u64),
    /// A run is done and kept.
    Finished(usize, Finished),
}

/// Makes the runs `todo` and keeps them. `watch` is called in this thread; a set `stop` ends all runs, and
/// those that are not done are not kept.
///
/// # Errors
/// When a run cannot be kept, threads cannot be started, or `watch` fails; then all runs are ended.
pub fn execute(
    document: &Document,
    design: &Design,
    directory: &StudyDirectory,
    todo: &[usize],
    crew: Crew,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Event) -> Result<(), StudyError>,
) -> Result<(), StudyError> {
    let floor = Floor {
        document,
        design,
        directory,
        crew,
        stop,
        free: Slots::new(crew.slots),
        parts: AtomicU64::new(0),
    };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..crew.slots {
            let sender = sender.clone();
            scope.spawn(|| floor.work(todo, &next, sender));
        }
        drop(sender);
        let mut result = Ok(());
        loop {
            let event = match receiver.recv_timeout(TICK) {
                Ok((run, Ok(finished))) => Ok(Event::Finished(run, finished)),
                Ok((_, Err(error))) => Err(error),
                Err(RecvTimeoutError::Timeout) => {
                    Ok(Event::Tick(floor.parts.load(Ordering::Relaxed)))
                }
                Err(RecvTimeoutError::Disconnected) => return result,
            };
            if result.is_err() {
                // the first error is told; the others follow from it
                continue;
            }
            if let Err(error) = event.and_then(&mut *watch) {
                stop.store(true, Ordering::Relaxed);
                result = Err(error);
            }
        }
    })
}

/// A run and what became of it.
type Report = (usize, Result<Finished, StudyError>);

/// What all workers share.
struct Floor<'a> {
    document: &'a Document,
    design: &'a Design,
    directory: &'a StudyDirectory,
    crew: Crew,
    stop: &'a AtomicBool,
    free: Slots,
    parts: AtomicU64,
}

impl Floor<'_> {
    /// One worker: takes runs until there are none left.
    fn work(&self, todo: &[usize], next: &AtomicUsize, sender: Sender<Report>) {
        while !self.stop.load(Ordering::Relaxed)
            && let Some(&run) = todo.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let report = match self.simulate(&self.design.runs[run]) {
                Ok(None) => return,
                Ok(Some(finished)) => (run, Ok(finished)),
                Err(error) => (run, Err(error)),
            };
            if sender.send(report).is_err() {
                return;
            }
        }
    }

    /// One run, kept; `None` when it was stopped.
    fn simulate(&self, key: &RunKey) -> Result<Option<Finished>, StudyError> {
        let document = self.design.document(self.document, key.point, key.seed)?;
        let resolved = match document.resolve(&Parts::registered()) {
            Ok(resolved) => resolved,
            Err(error) => return self.fail(key, error.to_string()).map(Some),
        };
        let bytes = sizing::state_bytes(&resolved.plan, &resolved.layout.graph);
        let wanted = self.crew.slots_for(bytes, usage::available_memory());
        let _taken = self.free.take(wanted);
        let directory = self.directory.prepare(key)?;
        let path = directory.path().join(packets::FILE);
        let mut packets = PacketFile::asked_for(&resolved.plan, path);
        let sink = packets.as_mut().map(|file| file as &mut dyn PacketSink);
        let (outcome, cost) = match self.run(&resolved, sink, wanted * self.crew.threads) {
            Ok(done) => done,
            Err(
                error @ (RunError::Threads(_) | RunError::Checkpoint(_) | RunError::Packets(_)),
            ) => {
                return Err(error.into());
            }
            Err(error @ RunError::Invariant { .. }) => {
                return self.fail(key, error.to_string()).map(Some);
            }
        };
        if outcome.verdict == Verdict::Interrupted && self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let result = RunResult::new(&resolved, outcome, cost, key.identity.clone());
        write_run(&directory, &result, packets, &[])?;
        directory.finish()?;
        Ok(Some(Finished::Run {
            summary: Box::new(summarize(&result)),
            reason: result.reason,
        }))
    }

    fn fail(&self, key: &RunKey, reason: String) -> Result<Finished, StudyError> {
        self.directory.keep_failure(key, &reason)?;
        self.parts.fetch_add(PARTS, Ordering::Relaxed);
        Ok(Finished::Failed { reason })
    }

    fn run<'a>(
        &self,
        resolved: &'a Resolved,
        packets: Option<&'a mut dyn PacketSink>,
        threads: usize,
    ) -> Result<(run::Outcome, Cost), RunError> {
        // the time of this thread is the time of the run only when it has no others
        let clock = if threads == 1 {
            usage::thread_cpu_seconds
        } else {
            || usage().cpu_seconds
        };
        let settings = Settings {
            threads: Some(threads),
            ..Settings::default()
        };
        let mut told = 0;
        let mut progress = |progress: Progress| {
            let done = progress.cycle.min(progress.planned);
            let parts = (done as f64 / progress.planned as f64 * PARTS as f64) as u64;
            self.parts.fetch_add(parts - told, Ordering::Relaxed);
            told = parts;
        };
        let (started, before) = (Instant::now(), clock());
        let continuation = Continuation {
            packets,
            ..Continuation::default()
        };
        let outcome =
            run::execute_from(resolved, settings, continuation, &mut progress, self.stop)?;
        self.parts.fetch_add(PARTS - told, Ordering::Relaxed);
        let cost = Cost {
            wall_seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: clock() - before,
        };
        Ok((outcome, cost))
    }
}

/// Slots that nobody uses.
struct Slots {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// Slots in use, given back when dropped.
struct Taken<'a> {
    slots: &'a Slots,
    count: usize,
}

impl Slots {
    fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count),
            given_back: Condvar::new(),
        }
    }

    /// Waits until `count` slots are free, and takes them.
    fn take(&self, count: usize) -> Taken<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.given_back.wait_while(free, |free| *free < count);
        *waited.unwrap_or_else(PoisonError::into_inner) -= count;
        let slots = self;
        Taken { slots, count }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let free = self.slots.free.lock();
        *free.unwrap_or_else(PoisonError::into_inner) += self.count;
        self.slots.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_runs_take_several_slots() {
        let crew = Crew {
            slots: 8,
            threads: 1,
        };
        let free = Some(80_000_000_000);
        assert_eq!(crew.slots_for(1_000_000, free), 1);
        assert_eq!(crew.slots_for(7_000_000_000, free), 1);
        assert_eq!(crew.slots_for(15_000_000_000, free), 3);
        assert_eq!(crew.slots_for(900_000_000_000, free), 8);
        assert_eq!(crew.slots_for(900_000_000_000, None), 1);
    }

    #[test]
    fn a_crew_is_no_larger_than_its_work() {
        assert_eq!(Crew::new(Some(4), 2).slots, 2);
        assert_eq!(Crew::new(Some(4), 0).slots, 1);
        let cores = thread::available_parallelism().unwrap().get();
        assert_eq!(Crew::new(None, 1).threads, cores);
        let full = Crew::new(None, 100);
        assert_eq!((full.slots, full.threads), (cores, 1));
    }

    #[test]
    fn slots_are_never_given_twice() {
        let (slots, used) = (Slots::new(3), AtomicUsize::new(0));
        thread::scope(|scope| {
            for count in [1, 3, 2, 1, 2, 3] {
                let (slots, used) = (&slots, &used);
                scope.spawn(move || {
                    for _ in 0..50 {
                        let _taken = slots.take(count);
                        assert!(used.fetch_add(count, Ordering::SeqCst) + count <= 3);
                        used.fetch_sub(count, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*slots.free.lock().unwrap(), 3);
    }
}
