//! Second forms of what engine and reference model share: algorithms of control and admission, sources. Each is written from the
//! rules alone, in the plainest way (cycle by cycle, from the whole history), and drawn against the one in use.

mod dcqcn;
mod egress;
mod infiniband;
mod saa_m;
mod self_similar;

use virtlane::control::{
    ALGORITHMS, Actions, Algorithm, Arrival, ControlContext, Event, Line, Sender, WHOLE_LINK,
};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::units::Clock;

/// A cycle is 8 ns: flits of one byte, a reference link of 1 Gbit/s.
const CLOCK: Clock = Clock {
    flit_bytes: 1,
    reference_rate: 1_000_000_000,
};

/// What a case is drawn from.
struct Dice(Stream);

impl Dice {
    fn new(case: u64) -> Self {
        Self(stream(case, Purpose::Arbitration, 77))
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + u64::from(below(&mut self.0, (most - least + 1) as u32))
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }
}

/// Cases of a test, as many as `VIRTLANE_CASES` says.
fn cases(usual: u64) -> std::ops::Range<u64> {
    let number = std::env::var("VIRTLANE_CASES").ok();
    let number = number.and_then(|number| number.parse().ok());
    0..number.unwrap_or(usual)
}

/// An algorithm of control as a scenario names it, for packets of up to so many flits.
fn control(name: &str, arguments: &str, largest: u16) -> Algorithm {
    control_of(name, arguments, largest, WHOLE_LINK)
}

/// The same, for rates that may take so much of a link.
fn control_of(name: &str, arguments: &str, largest: u16, link: u32) -> Algorithm {
    let context = ControlContext {
        clock: CLOCK,
        smallest: 1,
        largest,
        answer: 1,
        peak: None,
        link,
    };
    let text = format!("({arguments})");
    let build = ALGORITHMS.find(name).expect("its own name").build;
    let made = build(Arguments { text: &text }, context);
    made.unwrap_or_else(|mistake| panic!("{name}{text}: {mistake}"))
}

/// A packet of 4 flits that is delivered in cycle `now`.
fn arrival(now: u64, is_marked: bool) -> Arrival {
    Arrival {
        now,
        flits: 4,
        is_marked,
        latency: 9,
    }
}

/// A sender with what it has wanted so far.
struct Machine<'a> {
    algorithm: &'a Algorithm,
    sender: Sender,
    /// The last limit, window and timer; events logged.
    wanted: Actions,
    logged: u64,
    acknowledged: u64,
}

impl<'a> Machine<'a> {
    fn new(algorithm: &'a Algorithm, line: Line) -> Self {
        let mut wanted = Actions::default();
        let sender = algorithm.start(line, &mut wanted);
        Self {
            algorithm,
            sender,
            wanted,
            logged: 0,
            acknowledged: 0,
        }
    }

    fn call(&mut self, now: u64, event: Event) {
        if event == Event::Timer {
            self.wanted.timer = None;
        }
        let mut actions = Actions::default();
        (self.algorithm).send(&mut self.sender, now, event, &mut actions);
        self.wanted.limit = actions.limit.or(self.wanted.limit);
        self.wanted.window = actions.window.or(self.wanted.window);
        self.wanted.timer = actions.timer.or(self.wanted.timer);
        self.logged += u64::from(actions.log);
        let acknowledged = actions.acknowledge.map_or(0, |known| known.packets);
        self.acknowledged += u64::from(acknowledged);
    }

    /// A cycle, in the order of D41.
    fn cycle(&mut self, now: u64, started: Option<u16>, answer: Option<u32>) {
        if let Some(flits) = started.filter(|_| self.algorithm.hears_starts()) {
            self.call(now, Event::Started(flits));
        }
        if let Some(value) = answer {
            self.call(now, Event::Answered(value));
        }
        if self.wanted.timer.flatten() == Some(now) {
            self.call(now, Event::Timer);
        }
    }
}
