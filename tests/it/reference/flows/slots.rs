//! The clocks of a host, which say when flows of classes with slots make a packet (D52, D64).

use super::flow::Flow;
use crate::reference::Setting;
use virtlane::ids::HostId;
use virtlane::plan::Slots;
use virtlane::rng::{Purpose, Stream, source_id, stream};
use virtlane::traffic::{Gap, ProcessState};

/// Most slots of a host.
const MOST_SLOTS: u32 = 1 << 20;

/// The clock of a class at a host.
#[derive(Debug)]
pub(super) struct Clock {
    class: usize,
    gaps: Stream,
    state: ProcessState,
    /// Ticks that have come.
    ticks: u64,
    /// Cycle of the next tick; `None`: the clock has ended.
    next: Option<u64>,
}

fn slots(setting: Setting<'_>, class: usize) -> &Slots {
    let slots = setting.plan.classes[class].slots.as_ref();
    slots.expect("a class with slots")
}

impl Clock {
    /// The clocks of a host with these flows, in the order of their classes.
    pub(super) fn all(setting: Setting<'_>, host: HostId, flows: &[Flow]) -> Vec<Self> {
        let mut clocks = Vec::new();
        for (class, plan) in setting.plan.classes.iter().enumerate() {
            let Some(slots) = &plan.slots else {
                continue;
            };
            assert!((1..=MOST_SLOTS).contains(&slots.count), "D52");
            let mine = flows.iter().filter(|flow| flow.class(setting) == class);
            let mine = mine.inspect(|flow| {
                let plan = flow.plan(setting);
                assert!(plan.process.is_none() && plan.phase.is_none(), "D52");
            });
            let count = mine.count();
            assert!(count <= slots.count as usize, "D52");
            if count == 0 {
                continue;
            }
            let id = source_id(class, host.0);
            let mut gaps = stream(setting.plan.seed, Purpose::SlotTicks, id);
            let mut clock = Self {
                class,
                state: slots.ticks.start(&mut gaps),
                gaps,
                ticks: 0,
                next: None,
            };
            clock.next = clock.tick_after(setting, 0);
            clocks.push(clock);
        }
        clocks
    }

    /// D64: the clock starts anew from this cycle on, also when it has ended; its ticks go on with the next slot.
    pub(super) fn fork(&mut self, setting: Setting<'_>, host: HostId, now: u64) {
        let id = source_id(self.class, host.0);
        self.gaps = stream(setting.plan.seed, Purpose::SlotTicks, id);
        let ticks = &slots(setting, self.class).ticks;
        self.state = ticks.start(&mut self.gaps);
        self.next = self.tick_after(setting, now);
    }

    /// The cycle of the next tick, counted from the last one (at first: from cycle 0, or from that of a fork).
    fn tick_after(&mut self, setting: Setting<'_>, from: u64) -> Option<u64> {
        let ticks = &slots(setting, self.class).ticks;
        match ticks.gap(&mut self.state, &mut self.gaps) {
            Gap::After(cycles) => Some(from + cycles),
            Gap::Never => None,
            Gap::WhenSent => panic!("D52: not a saturating process"),
        }
    }

    /// Stage Generate: the place of the flow that makes a packet in this cycle, if there is a tick and its slot has one.
    pub(super) fn tick(
        &mut self,
        setting: Setting<'_>,
        flows: &mut [Flow],
        now: u64,
    ) -> Option<usize> {
        if self.next != Some(now) {
            return None;
        }
        let of_class = flows.iter().enumerate();
        let of_class = of_class.filter(|(_, flow)| flow.class(setting) == self.class);
        if !of_class.clone().any(|(_, flow)| flow.goes_on(setting, now)) {
            self.next = None;
            return None;
        }
        let holders = of_class.filter(|(_, flow)| flow.is_active(setting, now));
        let holders: Vec<usize> = holders.map(|(place, _)| place).collect();
        let count = u64::from(slots(setting, self.class).count);
        let slot = self.ticks % count;
        self.ticks += 1;
        self.next = self.tick_after(setting, now);
        assert_ne!(self.next, Some(now), "two ticks of a clock in one cycle");
        let slot_of = |rank: usize| rank as u64 * count / holders.len() as u64;
        let mut ranks = (0..holders.len()).filter(|&rank| slot_of(rank) == slot);
        let holder = ranks.next().map(|rank| holders[rank])?;
        assert_eq!(ranks.next(), None, "two holders of a slot");
        flows[holder].sends_in_slot(setting).then_some(holder)
    }
}
