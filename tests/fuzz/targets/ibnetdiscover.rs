//! Any bytes as an ibnetdiscover file.

#![no_main]

#[path = "../context.rs"]
mod context;
#[path = "../importer.rs"]
mod importer;

use libfuzzer_sys::fuzz_target;
use virtlane::topology::formats::export;

fuzz_target!(|bytes: &[u8]| importer::check(bytes, "Ibnetdiscover", export::ibnetdiscover));
