//! Signals that end a run: SIGINT, SIGTERM, and SIGUSR1, which batch systems send before their limit.

use crate::error::{INTERRUPTED, TERMINATED};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A file that grows above the limit of the process is from now on an error of its write, which is told and cleaned up after, and
/// no end in the middle of it.
pub(super) fn write_errors() {
    // without the handler the signal ends the program at once, as it always has
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// What has come in.
#[derive(Debug, Default)]
pub(super) struct Signals {
    stop: Arc<AtomicBool>,
    /// Set when someone has asked for the end, not only a batch system for a pause.
    asked: Arc<AtomicBool>,
    code: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on. SIGINT or SIGTERM after one of them ends the program as usual; after SIGUSR1 the first of
    /// them does not, because a batch system sends it while the state is still being saved.
    pub(super) fn listen() -> Self {
        let signals = Self::default();
        let codes = [
            (SIGINT, INTERRUPTED),
            (SIGTERM, TERMINATED),
            (SIGUSR1, TERMINATED),
        ];
        for (signal, code) in codes {
            // without the handlers the signal ends the program at once, as it always has
            if signal != SIGUSR1 {
                let asked = Arc::clone(&signals.asked);
                let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&asked));
                let _ = signal_hook::flag::register(signal, asked);
            }
            let stop = Arc::clone(&signals.stop);
            let number = Arc::clone(&signals.code);
            let _ = signal_hook::flag::register_usize(signal, number, usize::from(code));
            let _ = signal_hook::flag::register(signal, stop);
        }
        signals
    }

    /// Set when a signal has come.
    pub(super) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Exit code that tells the signal, when one has come.
    pub(super) fn code(&self) -> Option<ExitCode> {
        let code = self.code.load(Ordering::Relaxed);
        u8::try_from(code)
            .ok()
            .filter(|&code| code != 0)
            .map(ExitCode::from)
    }
}
