//! Layer counts.
