//! Any bytes as a message trace and as a GOAL schedule.

#![no_main]

#[allow(dead_code, reason = "no network is built here")]
#[path = "../context.rs"]
mod context;
#[path = "../messages.rs"]
mod messages;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    messages::check(bytes, "Trace");
    messages::check(bytes, "Goal");
});
