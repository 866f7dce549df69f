//! Sources of a host, one for each class that it sends (rule 12, D11, D17), and when they go on.

use super::Setting;
use super::packet::PacketId;
use virtlane::ids::HostId;
use virtlane::traffic::{Gap, Source};

/// When a source makes its next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    At(u64),
    /// One cycle after this packet has started on the channel.
    AfterStartOf(PacketId),
    Never,
}

/// One class at this host.
#[derive(Debug)]
pub(super) struct ClassSource {
    pub(super) class: usize,
    pub(super) source: Source,
    pub(super) next: Next,
}

/// The sources of a host before cycle 0.
pub(super) fn sources(setting: Setting<'_>, id: HostId) -> Vec<ClassSource> {
    let mut sources = Vec::new();
    for (index, class) in setting.plan.classes.iter().enumerate() {
        if class.hosts.contains(&id) {
            let mut source = Source::new(setting.plan.seed, index, class, id);
            let next = match source.next_gap(class) {
                Gap::After(cycles) => Next::At(cycles),
                Gap::WhenSent => Next::At(0),
                Gap::Never => Next::Never,
            };
            sources.push(ClassSource {
                class: index,
                source,
                next,
            });
        }
    }
    sources
}

/// Goes on with the sources of another plan, whose first gaps count from now; their numbers of packets go on, and
/// saturating sources stay as they are.
pub(super) fn fork(olds: &mut Vec<ClassSource>, setting: Setting<'_>, id: HostId, now: u64) {
    let mut forked = sources(setting, id);
    for new in &mut forked {
        let old = olds.iter_mut().find(|old| old.class == new.class);
        let old = old.expect("the same senders");
        if setting.plan.classes[new.class].is_backlogged() {
            std::mem::swap(new, old);
            continue;
        }
        new.source.number_after(&old.source);
        new.next = match new.next {
            Next::At(first) if !new.source.is_done() => Next::At(first + now),
            _ => Next::Never,
        };
    }
    *olds = forked;
}

/// When a source goes on after a packet made now, which was accepted as `packet` or rejected (D11, D17).
pub(super) fn next_creation(gap: Gap, now: u64, packet: Option<PacketId>) -> Next {
    match (gap, packet) {
        (Gap::Never, _) => Next::Never,
        (Gap::After(cycles), _) => {
            assert!(cycles > 0, "two packets of a source in one cycle");
            Next::At(now + cycles)
        }
        (Gap::WhenSent, None) => Next::At(now + 1),
        (Gap::WhenSent, Some(id)) => Next::AfterStartOf(id),
    }
}
