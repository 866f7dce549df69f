//! Any bytes as a message trace and as a GOAL schedule.

#![no_main]

#[path = "../messages.rs"]
mod messages;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    messages::check(bytes, "Trace");
    messages::check(bytes, "Goal");
});
