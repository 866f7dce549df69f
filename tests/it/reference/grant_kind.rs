//! Kinds of grants (D71): which of them an input accepts first.

use virtlane::plan::SwitchOptions;
use virtlane::qos::vl_arbitration::Accept;

/// Kind of a grant; the smaller is accepted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GrantKind {
    /// For VL15.
    Management,
    /// For a lane with an entry of a weight above 0 in the high table.
    High,
    Other,
}

impl GrantKind {
    /// Kind of a grant for an output lane; all are of one kind where inputs accept in turn.
    pub(super) fn of(options: &SwitchOptions, lane: usize) -> Self {
        let tables = options.vl_arbitration.as_ref();
        let Some(tables) = tables.filter(|tables| tables.accept == Accept::HighFirst) else {
            return Self::Other;
        };
        let is_its = |&(of, weight): &(u8, u8)| usize::from(of) == lane && weight > 0;
        // VL15 comes after the data lanes
        if lane >= usize::from(options.lanes) {
            Self::Management
        } else if tables.high.iter().any(is_its) {
            Self::High
        } else {
            Self::Other
        }
    }
}
