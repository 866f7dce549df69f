//! Runs of a study in parallel: one run per core, large ones with several.
//!
//! A run needs one slot, or as many as its share of the memory asks for, and gets the cores of its slots. What a
//! run gives does not depend on that, nor on which run is done first.

use super::directory::{Finished, StudyDirectory};
use super::{Design, RunKey, StudyError, states};
use crate::memory;
use crate::report::result::{RunResult, Verdict};
use crate::report::{PacketFile, summarize, usage, write_run};
use crate::run::{
    self, Continuation, Keeping, Overload, PacketSink, Progress, RunError, Settings, Start, sizing,
};
use crate::scenario::{Document, Known, Parts, Resolved};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

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
    /// `cores` are all that the machine has, or that many.
    pub fn new(cores: Option<usize>, jobs: Option<usize>, runs: usize) -> Self {
        let all = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = cores.unwrap_or_else(all);
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
    /// A run is done; when it could not be kept, the error follows.
    Finished(usize, Finished),
}

/// Runs to make.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The scenario of the study.
    pub document: &'a Document,
    /// Its points and runs.
    pub design: &'a Design,
    /// Where they are kept.
    pub directory: &'a StudyDirectory,
    /// Which of them are made.
    pub todo: &'a [usize],
    /// Who makes them.
    pub crew: Crew,
    /// What is known of their routes.
    pub known: &'a Known,
    /// When a run is certainly overloaded and need not go on; `None` = all go to their ends.
    pub overload: Option<Overload>,
    /// Least distance of two saved states of a run \[cycles\]; `None` = only when it is stopped.
    pub save_every: Option<u64>,
    /// Ends all runs when set.
    pub stop: &'a AtomicBool,
}

/// Makes the runs of an order and keeps them. `watch` is called in this thread. Of runs that are stopped the state is
/// saved; the next order goes on from there, to the same results.
///
/// # Errors
/// When a run cannot be kept, threads cannot be started, or `watch` fails; then all runs are ended.
pub fn execute(
    order: Order<'_>,
    watch: &mut dyn FnMut(Event) -> Result<(), StudyError>,
) -> Result<(), StudyError> {
    let floor = Floor {
        order,
        free: Slots::new(order.crew.slots),
        parts: AtomicU64::new(0),
    };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..order.crew.slots {
            let sender = sender.clone();
            scope.spawn(|| floor.work(&next, sender));
        }
        drop(sender);
        let mut result = Ok(());
        loop {
            let (event, kept) = match receiver.recv_timeout(TICK) {
                Ok((run, finished, kept)) => {
                    (finished.map(|done| Event::Finished(run, done)), kept)
                }
                Err(RecvTimeoutError::Timeout) => {
                    let parts = floor.parts.load(Ordering::Relaxed);
                    (Some(Event::Tick(parts)), Ok(()))
                }
                Err(RecvTimeoutError::Disconnected) => return result,
            };
            // what is done is told, also after an error
            let told = event.map_or(Ok(()), &mut *watch);
            if let Err(error) = kept.and(told)
                && result.is_ok()
            {
                // the first error is returned; the others follow from it
                order.stop.store(true, Ordering::Relaxed);
                result = Err(error);
            }
        }
    })
}

/// A run, what became of it, and whether that is kept.
type Report = (usize, Option<Finished>, Result<(), StudyError>);

/// What all workers share.
struct Floor<'a> {
    order: Order<'a>,
    free: Slots,
    parts: AtomicU64,
}

/// What became of a run, and whether that is kept.
type Kept = (Finished, Result<(), StudyError>);

impl Floor<'_> {
    /// One worker: takes runs until there are none left, or one of its own is not kept.
    fn work(&self, next: &AtomicUsize, sender: Sender<Report>) {
        while !self.is_stopped()
            && let Some(&run) = self.order.todo.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let report = match self.simulate(&self.order.design.runs[run]) {
                Ok(None) => return,
                Ok(Some((finished, kept))) => (run, Some(finished), kept),
                Err(error) => (run, None, Err(error)),
            };
            let is_kept = report.2.is_ok();
            if sender.send(report).is_err() || !is_kept {
                return;
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.order.stop.load(Ordering::Relaxed)
    }

    /// One run, and whether it is kept; `None` when it was stopped.
    fn simulate(&self, key: &RunKey) -> Result<Option<Kept>, StudyError> {
        let Order {
            document,
            design,
            directory,
            crew,
            known,
            ..
        } = self.order;
        let document = design.document(document, key.point, key.seed)?;
        let resolved = match document.resolve_known(&Parts::registered(), known) {
            Ok(resolved) => resolved,
            Err(error) => return Ok(Some(self.fail(key, error.of_run(), false))),
        };
        let bytes = sizing::state_bytes(&resolved.plan, &resolved.layout.graph);
        let wanted = crew.slots_for(bytes, memory::available());
        let _taken = self.free.take(wanted);
        let state = states::file(directory.path(), key);
        let (outcome, packets) = match self.run(&resolved, wanted * crew.threads, &state) {
            Ok(done) => done,
            Err(
                error @ (RunError::Threads(_) | RunError::Checkpoint(_) | RunError::Packets(_)),
            ) => {
                return Err(error.into());
            }
            Err(
                error @ (RunError::Invariant { .. } | RunError::Messages(_) | RunError::Memory(_)),
            ) => {
                let is_broken = matches!(error, RunError::Invariant { .. });
                return Ok(Some(self.fail(key, error.to_string(), is_broken)));
            }
        };
        if outcome.verdict == Verdict::Interrupted && self.is_stopped() {
            return Ok(None);
        }
        let result = RunResult::new(&resolved, outcome, key.identity.clone());
        let kept = keep(directory, key, &result, packets);
        if kept.is_ok() {
            states::discard(&state);
        }
        let finished = Finished::Run {
            summary: Box::new(summarize(&result)),
            reason: result.reason,
        };
        Ok(Some((finished, kept)))
    }

    fn fail(&self, key: &RunKey, reason: String, is_broken: bool) -> Kept {
        let directory = self.order.directory;
        let kept = directory.keep_failure(key, &reason, is_broken);
        self.parts.fetch_add(PARTS, Ordering::Relaxed);
        (Finished::Failed { reason, is_broken }, kept)
    }

    /// Runs from the state in the file, if there is one, and saves it there when it is stopped.
    fn run(
        &self,
        resolved: &Resolved,
        threads: usize,
        state: &Path,
    ) -> Result<(run::Outcome, Option<PacketFile>), RunError> {
        // the time of this thread is the time of the run only when it has no others
        let clock: fn() -> f64 = if threads == 1 {
            usage::thread_cpu_seconds
        } else {
            || usage().cpu_seconds
        };
        let settings = Settings {
            threads: Some(threads),
            cpu_clock: Some(clock),
            overload: self.order.overload,
            ..Settings::default()
        };
        let mut told = 0;
        let mut progress = |progress: Progress| {
            let done = progress.cycle.min(progress.planned);
            let parts = (done as f64 / progress.planned as f64 * PARTS as f64) as u64;
            self.parts.fetch_add(parts - told, Ordering::Relaxed);
            told = parts;
        };
        let mut from = |start: Start| {
            let mut packets = states::packet_file(&resolved.plan, state);
            let keeping = Some(Keeping {
                file: state.to_owned(),
                every: self.order.save_every,
                at_wall_time: false,
                warm: None,
                last: start.cycle(),
            });
            let continuation = Continuation {
                start,
                keeping,
                packets: packets.as_mut().map(|file| file as &mut dyn PacketSink),
            };
            let stop = self.order.stop;
            let outcome = run::execute_from(resolved, settings, continuation, &mut progress, stop)?;
            Ok((outcome, packets))
        };
        let (outcome, packets) = match from(states::read(state)) {
            Err(RunError::Checkpoint(cause)) => {
                states::refuse(state, &cause);
                from(Start::Fresh)
            }
            outcome => outcome,
        }?;
        self.parts.fetch_add(PARTS - told, Ordering::Relaxed);
        Ok((outcome, packets))
    }
}

/// Writes a run to its place.
fn keep(
    directory: &StudyDirectory,
    key: &RunKey,
    result: &RunResult,
    packets: Option<PacketFile>,
) -> Result<(), StudyError> {
    let run = directory.prepare(key)?;
    write_run(&run, result, packets, &[])?;
    run.finish()?;
    Ok(())
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
        assert_eq!(Crew::new(None, Some(4), 2).slots, 2);
        assert_eq!(Crew::new(None, Some(4), 0).slots, 1);
        let cores = thread::available_parallelism().unwrap().get();
        assert_eq!(Crew::new(None, None, 1).threads, cores);
        let full = Crew::new(None, None, 100);
        assert_eq!((full.slots, full.threads), (cores, 1));
        let few = Crew::new(Some(6), None, 2);
        assert_eq!((few.slots, few.threads), (2, 3));
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
