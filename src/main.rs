//! The `virtlane` program.

fn main() {}
