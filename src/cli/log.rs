//! Log lines on standard error, and the spans of a profiled run.
//!
//! `VIRTLANE_LOG` chooses the level of the log (default: warnings). Spans are collected only after
//! [`collect_spans`], at most [`MOST_SPANS`] of them.

use crate::cycle::profile::TRACE;
use crate::report::SpanRecord;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;
use tracing::span::Id;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Spans kept; a trace of more is too large for the viewers.
const MOST_SPANS: usize = 200_000;

static COLLECTING: AtomicBool = AtomicBool::new(false);
static SPANS: Mutex<Vec<SpanRecord>> = Mutex::new(Vec::new());
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Starts the log. A second call in one process keeps the first log.
pub(super) fn start() {
    let level = EnvFilter::try_from_env("VIRTLANE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(super::progress::takes_codes() && std::env::var_os("NO_COLOR").is_none())
        .with_filter(level);
    let is_trace =
        |metadata: &Metadata<'_>| metadata.target() == TRACE && COLLECTING.load(Ordering::Relaxed);
    let spans = Collector.with_filter(filter_fn(is_trace));
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .try_init();
}

/// From now on spans are kept.
pub(super) fn collect_spans() {
    LazyLock::force(&START);
    COLLECTING.store(true, Ordering::Relaxed);
    tracing::callsite::rebuild_interest_cache();
}

/// The spans so far.
pub(super) fn spans() -> Vec<SpanRecord> {
    std::mem::take(&mut SPANS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps when spans are entered and left.
struct Collector;

/// When a span was entered.
struct Entered(Instant);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collector {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let Some(Entered(entered)) = span.extensions_mut().remove::<Entered>() else {
            return;
        };
        let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
        if spans.len() < MOST_SPANS {
            spans.push(SpanRecord {
                name: span.name().to_owned(),
                tid: rayon::current_thread_index().unwrap_or(0) as u32,
                start_us: entered.duration_since(*START).as_secs_f64() * 1e6,
                duration_us: entered.elapsed().as_secs_f64() * 1e6,
            });
        }
    }
}
