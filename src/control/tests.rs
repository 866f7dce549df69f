//! Every algorithm of the registry: its defaults, and what it refuses.

use super::*;
use std::fmt::Write;

/// A reference link of 1 Gbit/s with flits of 64 B, so a cycle is 512 ns.
const CONTEXT: ControlContext = ControlContext {
    clock: Clock {
        flit_bytes: 64,
        reference_rate: 1_000_000_000,
    },
    smallest: 32,
    largest: 32,
    answer: 16,
    peak: Some(1 << 30),
    link: WHOLE_LINK,
};

fn build(text: &str) -> Result<Algorithm, ArgumentError> {
    let (name, arguments) = text.split_at(text.find('(').unwrap());
    let build = ALGORITHMS.find(name).unwrap().build;
    build(Arguments { text: arguments }, CONTEXT)
}

/// The algorithm as a scenario has it.
pub(super) fn made(text: &str) -> Algorithm {
    build(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A packet of 8 flits.
pub(super) fn arrival(now: u64, is_marked: bool, latency: u64) -> Arrival {
    Arrival {
        now,
        flits: 8,
        is_marked,
        latency,
    }
}

/// A flow of weight 1 without end.
pub(super) const FLOW: Facts = Facts {
    id: 0,
    start: 0,
    stop: None,
    flits: None,
    weight: 1,
};

/// The sender of a flow, on a line of a flit per cycle with packets of up to 8, and what it has wanted so far.
pub(super) fn begun<A: Probing>(own: &A, flow: Facts) -> (A::Sender, Actions) {
    let mut actions = Actions::default();
    let line = Line {
        pace: 1,
        largest: 8,
    };
    let mut sender = own.start(line, &mut actions);
    own.begin(&mut sender, flow, &mut actions);
    (sender, actions)
}

/// What an algorithm is without its defaults, and with them.
const DEFAULTS: &[(&str, &str)] = &[
    (
        "Dcqcn()",
        "Dcqcn(preset: Paper, interval: \"50 us\", gain: 8, alpha: 1.0, alpha_timer: \"55 us\", timer: \"55 us\", stages: 5, \
     least: \"100 Mbit/s\")",
    ),
    (
        "Delay(target: \"10 us\", most: 9)",
        "Swift(target: \"10 us\", most: 9, start: 1, increase: 1.0, beta: 0.8, most_decrease: 0.5)",
    ),
    (
        "Inc(interval: \"1 us\", few: 9)",
        "Inc(interval: \"2 cycles\", few: 9, strong: 4, mild: 1, relax: 1, most: 64, shift: 2)",
    ),
    (
        "Dffa(begin: \"1 ms\")",
        "Dffa(begin: \"1953 cycles\", one_packet: true)",
    ),
    (
        "InfiniBand(timer: \"153.6 us\", table: Linear(most: 127, shift: 0))",
        "Cca(timer: \"300 cycles\", table: Linear(most: 127, shift: 0), increase: 1, limit: 127, minimum: 0, \
     answers: Cnp, window: None, per: QueuePair, trigger: 0)",
    ),
    (
        "InfiniBand(timer: \"1 us\", table: Entries([(0, 0), (1, 1)]))",
        "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 1), limit: 1)",
    ),
    (
        "RequestReply()",
        "RequestReply(outstanding: 1, server: \"1 cycles\", think: \"1 cycles\", request: 1, reply: 1)",
    ),
    (
        // packets of 2 KiB, answers of 1 KiB
        "RequestReply(request: 3, reply: 2)",
        "ClosedLoop(request: \"4097 B\", reply: \"17 flits\")",
    ),
    (
        "Reservation()",
        "Rsvp(utilisation: 0.5, share: 1.0, retry: \"1000 cycles\", attempts: None, limit: true)",
    ),
    (
        "Saa()",
        "SAA(period: \"10 us\", weights: Given, piggy_back: false)",
    ),
    (
        "SaaM()",
        "SaaM(period: \"20 cycles\", back_off: \"10 us\", random: true)",
    ),
    (
        "SetUp()",
        "AdaptiveFlowRouting(hops: 8, free: false, cache: None, connections: Flows, release: Acknowledged)",
    ),
    ("Window(window: 3)", "Fixed(window: 3, aimd: false)"),
    (
        "Window(aimd: true, most: 9)",
        "Aimd(aimd: true, start: 1, most: 9)",
    ),
];

#[test]
#[allow(clippy::too_many_lines, reason = "mostly a list of algorithms")]
fn documented_defaults_are_those_that_happen() {
    for (least, whole) in DEFAULTS {
        let [least, whole] = [least, whole].map(|text| format!("{:?}", made(text)));
        // shifts of entries without a multiplier say nothing
        assert_eq!(
            least.replace("(0, 0)", "(1, 0)"),
            whole.replace("(0, 0)", "(1, 0)")
        );
    }
    for entry in ALGORITHMS.entries {
        let defaults = entry.parameters.iter().filter_map(|parameter| {
            let written = parameter
                .default
                .filter(|text| !text.contains(' ') || text.starts_with('"'));
            Some(format!("{}: {}", parameter.name, written?))
        });
        // what must be given is not there: every default is a value that its parameter takes
        let text = format!("({})", defaults.collect::<Vec<_>>().join(", "));
        let result = (entry.build)(Arguments { text: &text }, CONTEXT);
        let message = result.err().map_or_else(String::new, |error| error.message);
        let is_good = message.is_empty() || message.contains("missing") || entry.name == "Window";
        assert!(is_good, "{}{text}: {message}", entry.name);
    }
}

#[test]
fn times_and_rates_are_in_units_of_the_reference_link() {
    // 55 us / 512 ns = 107.4; 50 us: 97.7; 10 MB / 64 B; 40 Mbit/s: ceil(0.04 * 2^32). The preset's, for links of 40 Gbit/s:
    // ceil(10 MB / 64 B / 40), a thousandth
    let text = made("Dcqcn(bytes: \"10 MB\", increase: \"40 Mbit/s\")");
    let text = format!("{text:?}");
    for part in [
        "interval: 98,",
        "alpha_timer: 107,",
        "timer: 107,",
        "bytes: Amounts { written: Some(156250), preset: Some(3907) },",
        " increase: Amounts { written: Some(171798692), preset: Some(4294968) },",
        "hyper_increase: Amounts { written: Some(171798692), preset: Some(4294968) },",
        "least: 429496730",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Each is refused.
const WRONG: &[&str] = &[
    "Dcqcn(gain: 0)",
    "Dcqcn(gain: 17)",
    "Dcqcn(interval: \"0 cycles\")",
    "Dcqcn(timer: \"1 ns\")",
    "Dcqcn(timer: \"1 week\")",
    "Dcqcn(bytes: \"0 B\")",
    "Dcqcn(stages: 70000)",
    "Dcqcn(alpha: 0.0)",
    "Dcqcn(preset: Qcn)",
    "Dcqcn(increase: \"2 Gbit/s\")",
    "Dcqcn(least: \"0 bit/s\")",
    "Dcqcn(rate: \"1 bit/s\")",
    "Delay(most: 3)",
    "Delay(target: \"10 us\")",
    "Delay(target: \"10 us\", most: 70000)",
    "Delay(target: \"10 us\", most: 3, start: 4)",
    "Delay(target: \"10 us\", most: 3, beta: 1.5)",
    "Delay(target: \"10 us\", most: 3, increase: 0.0)",
    "Delay(target: \"10 us\", most: 3, most_decrease: -1.0)",
    "Inc(interval: \"1 us\")",
    "Inc(interval: \"0 us\", few: 1)",
    "Inc(interval: \"1 us\", few: 0)",
    "Inc(interval: \"1 us\", few: 1, most: 3)",
    "Inc(interval: \"1 us\", few: 1, most: 16384)",
    "Inc(interval: \"1 us\", few: 1, relax: 0)",
    "Inc(interval: \"1 us\", few: 1, shift: 4)",
    "Dffa()",
    "Dffa(begin: \"0 cycles\")",
    "InfiniBand(timer: \"1 us\")",
    "InfiniBand(preset: Opa)",
    "InfiniBand(preset: CcManager, table: Linear(most: 1, shift: 0))",
    "InfiniBand(preset: IbCcConfig)",
    "InfiniBand(timer: \"1 us\", table: Longest(\"3 cycles\"))",
    "InfiniBand(timer: \"1 us\", table: Longest(\"524288 cycles\"))",
    "InfiniBand(table: Linear(most: 1, shift: 0))",
    "InfiniBand(timer: \"0 us\", table: Linear(most: 1, shift: 0))",
    "InfiniBand(timer: \"100 ms\", table: Linear(most: 1, shift: 0))",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 16384, shift: 0))",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 4))",
    "InfiniBand(timer: \"1 us\", table: Linear(least: 1))",
    "InfiniBand(timer: \"1 us\", table: Entries([]))",
    "InfiniBand(timer: \"1 us\", table: Entries([(0, 1), (5, 1)]))",
    "InfiniBand(timer: \"1 us\", table: Entries([(0, 1)]), limit: 1)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), limit: 16320)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), increase: 0)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), increase: 256)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), limit: 5, minimum: 6)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), answers: Ack)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), window: 4)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), answers: Acknowledgement, window: 0)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), trigger: 256)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), per: Port)",
    "InfiniBand(timer: \"1 us\", table: Linear(most: 1, shift: 0), per: ServiceLevel, answers: Acknowledgement, window: 4)",
    "RequestReply(outstanding: 0)",
    "RequestReply(request: 0)",
    "RequestReply(request: \"0 B\")",
    "RequestReply(request: 70000)",
    "RequestReply(reply: \"1 GB\")",
    "RequestReply(reply: 2.5)",
    "RequestReply(reply: \"2 packets\")",
    "RequestReply(server: \"0 cycles\")",
    "RequestReply(think: \"3000000000 cycles\")",
    "Saa(period: \"0 cycles\")",
    "Saa(weights: Both)",
    "Saa(period: \"1 us\", piggy_back: true)",
    "SaaM(back_off: \"0 cycles\")",
    "Window()",
    "Window(window: 0)",
    "Window(window: 4, most: 5)",
    "Window(aimd: true)",
    "Window(aimd: true, window: 4)",
    "Window(aimd: true, most: 0)",
    "Window(aimd: true, most: 4, start: 5)",
];

#[test]
fn what_is_out_of_range_is_refused_with_what_is_allowed() {
    let mut list = String::new();
    for &text in WRONG {
        let error = build(text).expect_err(text);
        writeln!(list, "{text}\n    {error}").unwrap();
    }
    insta::assert_snapshot!(list);
}
