//! What runs of a large set: one in four, or in as many as `VIRTLANE_PARTS` says; which, `VIRTLANE_DRAW` says (the gate: the commit).

/// Whether the one of this number runs.
pub(crate) fn is_drawn(number: usize) -> bool {
    let value = |name: &str, default: usize| {
        let text = std::env::var(name).ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let parts = value("VIRTLANE_PARTS", 4).max(1);
    (number % parts + value("VIRTLANE_DRAW", 0) % parts).is_multiple_of(parts)
}
