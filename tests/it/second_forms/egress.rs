//! Egress measurement from the list of all packets that have ever come: nothing is kept from one packet to the next.

use super::{CLOCK, Dice, cases};
use virtlane::admission::meter::Arrived;
use virtlane::admission::{ADMISSIONS, AdmissionContext, Fabric, Request, Shown};
use virtlane::registry::Arguments;

/// What is measured and asked, as the rules name it.
struct Rules {
    tau: u64,
    slots: usize,
    windows: usize,
    alpha: f64,
    stability: bool,
    /// Cycles per flit of the destination's channel.
    pace: f64,
}

/// Service without end \[packets\].
const ENDLESS: f64 = 1e7;

/// Begin of every window that a packet has opened.
fn windows(rules: &Rules, packets: &[Arrived]) -> Vec<u64> {
    let length = rules.tau * rules.slots as u64;
    let mut begins: Vec<u64> = Vec::new();
    for packet in packets {
        if begins
            .last()
            .is_none_or(|begin| packet.now >= begin + length)
        {
            begins.push(packet.now);
        }
    }
    begins
}

/// Most flits per cycle of so many slots of a window in a row.
fn arrivals(rules: &Rules, begin: u64, packets: &[Arrived], slots: usize) -> f64 {
    let sums = (0..=rules.slots - slots).map(|first| {
        let from = begin + first as u64 * rules.tau;
        let to = from + slots as u64 * rules.tau;
        let within = packets
            .iter()
            .filter(|packet| (from..to).contains(&packet.now));
        within.map(|packet| u64::from(packet.flits)).sum::<u64>()
    });
    sums.max().expect("a slot") as f64 / (slots as u64 * rules.tau) as f64
}

/// Most time to serve 1, 2, ... packets, of the runs whose last packet came in a window.
fn service(rules: &Rules, begin: u64, packets: &[Arrived]) -> Vec<u64> {
    let end = begin + rules.tau * rules.slots as u64;
    let mut most = vec![0; rules.slots];
    for last in 0..packets.len() {
        if !(begin..end).contains(&packets[last].now) || last + 1 < rules.slots {
            continue;
        }
        let listed = &packets[last + 1 - rules.slots..=last];
        for (place, packet) in listed.iter().enumerate() {
            if place > 0 && listed[place - 1].now <= packet.created {
                break;
            }
            most[place] = most[place].max(packet.now - listed[0].created);
        }
    }
    for place in 1..most.len() {
        most[place] = most[place].max(most[place - 1]);
    }
    most
}

/// Packets served within a time.
fn served(most: &[u64], time: f64) -> f64 {
    let count = most.iter().filter(|&&known| (known as f64) < time).count();
    if count == 0 || count == most.len() {
        return if count == 0 { 0.0 } else { ENDLESS };
    }
    let [low, high] = [count - 1, count].map(|place| most[place] as f64);
    count as f64
        + if high > low {
            (time - low) / (high - low)
        } else {
            0.0
        }
}

/// The largest left side of the test for any length of time, and R + P of the longest.
fn margins(rules: &Rules, packets: &[Arrived], now: u64, request: &Request) -> Option<[f64; 2]> {
    let length = rules.tau * rules.slots as u64;
    let mut begins = windows(rules, packets);
    begins.retain(|begin| begin + length <= now);
    let newest: Vec<u64> = begins.into_iter().rev().take(rules.windows).collect();
    if newest.is_empty() {
        return None;
    }
    // windows that are missing have no arrivals, and service without end
    let missing = rules.windows - newest.len();
    let divisor = newest.len().max(2) as f64 - 1.0;
    let peak = request.peak as f64 / 4_294_967_296.0;
    let bound = request.delay.expect("asked with a bound") as f64;
    let mut worst = [f64::NEG_INFINITY, 0.0];
    for slots in 0..rules.slots {
        let time = slots as f64 * rules.tau as f64;
        let rates: Vec<f64> = newest
            .iter()
            .map(|&begin| {
                if slots == 0 {
                    0.0
                } else {
                    arrivals(rules, begin, packets, slots)
                }
            })
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let all = rates
            .iter()
            .copied()
            .chain(std::iter::repeat_n(0.0, missing));
        let variance = all.map(|rate| (rate - mean).powi(2)).sum::<f64>() / divisor;
        let inverse: Vec<f64> = newest
            .iter()
            .map(|&begin| served(&service(rules, begin, packets), time + bound))
            .chain(std::iter::repeat_n(ENDLESS, missing))
            .map(|count| count * f64::from(request.packet))
            .collect();
        let middle = inverse.iter().sum::<f64>() / rules.windows as f64;
        let some = inverse.iter().take(divisor as usize);
        let spread = some.map(|flits| (flits - middle).powi(2)).sum::<f64>() / divisor;
        let deviation = (time * time * variance + spread).sqrt();
        worst[0] = worst[0].max(time * mean + time * peak - middle + rules.alpha * deviation);
        // of the longest time
        worst[1] = mean + peak;
    }
    Some(worst)
}

/// Whether the request is granted; `None`: too close to tell.
fn granted(rules: &Rules, packets: &[Arrived], now: u64, request: &Request) -> Option<bool> {
    if request.delay.is_none() {
        return Some(true);
    }
    let Some([left, rate]) = margins(rules, packets, now, request) else {
        return Some(true);
    };
    let room = 1.0 / rules.pace - rate;
    let is_close = left.abs() < 1e-6 || (rules.stability && room.abs() < 1e-9);
    (!is_close).then_some(left < 0.0 && (!rules.stability || room > 0.0))
}

#[test]
#[allow(clippy::too_many_lines, reason = "draws, then packets")]
fn egress_measurement_is_what_its_rules_say_of_the_whole_history() {
    let mut counts = [0; 2];
    for case in cases(300) {
        let mut dice = Dice::new(case);
        let rules = Rules {
            tau: dice.between(1, 60),
            slots: dice.between(2, 7) as usize,
            windows: dice.between(2, 6) as usize,
            alpha: [0.0, 0.5, 1.0, 2.0][dice.between(0, 3) as usize],
            stability: dice.chance(40),
            pace: dice.between(1, 3) as f64,
        };
        let text = format!(
            "(slot: \"{} cycles\", slots: {}, windows: {}, alpha: {:?}, stability: {})",
            rules.tau, rules.slots, rules.windows, rules.alpha, rules.stability
        );
        let build = ADMISSIONS
            .find("EgressMeasurement")
            .expect("it is there")
            .build;
        let context = AdmissionContext {
            clock: CLOCK,
            lanes: None,
        };
        let desk = build(Arguments { text: &text }, context);
        let desk = desk.unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
        let mut state = desk.start(Fabric {
            paces: &[1, rules.pace as u32],
        });
        let mut meter = desk.meter().expect("it measures");
        let (mut packets, mut now): (Vec<Arrived>, u64) = (Vec::new(), 0);
        let (gap, slow) = (dice.between(1, 40), dice.between(1, 200));
        for _ in 0..dice.between(0, 120) {
            now += dice.between(1, 2 * gap);
            let packet = Arrived {
                now,
                created: now.saturating_sub(dice.between(1, slow)),
                source: 0,
                host: 1,
                class: 0,
                flits: dice.between(1, 20) as u16,
            };
            meter.arrive(packet);
            packets.push(packet);
            if !dice.chance(30) {
                continue;
            }
            let request = Request {
                flow: 0,
                class: 0,
                level: 0,
                peak: dice.between(0, 1 << 30),
                packet: dice.between(1, 20) as u16,
                delay: dice.chance(90).then(|| dice.between(1, 300)),
                jitter: None,
                way: vec![(0, 1), (1, 1)],
            };
            let round = now + dice.between(1, 3 * rules.tau);
            let shown = Shown {
                now: round,
                meter: Some(&meter),
                loads: None,
            };
            let found = desk.ask(&mut state, &request, shown);
            // a round is between two packets
            now = round;
            let Some(expected) = granted(&rules, &packets, round, &request) else {
                continue;
            };
            assert_eq!(
                found, expected,
                "case {case}, cycle {round}: {text} {request:?}"
            );
            counts[usize::from(found && request.delay.is_some())] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 200), "{counts:?}");
}
