//! A flow watched whose packets switches drop (D58), and one whose requests a host holds back (D57).

use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::run::Settings;
use virtlane::run::watch::{FlowEvent, FlowStory, FlowWhat, watch_flow};
use virtlane::scenario::{Document, Parts};

fn story(scenario: &str, id: u32, until: u64, shards: usize) -> FlowStory {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(scenario);
    let text = std::fs::read_to_string(path).expect("it is there");
    let document = Document::parse(scenario, &text, Path::new("")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered()).expect("it is right");
    let settings = Settings {
        threads: Some(1),
        shards: Some(shards),
        ..Settings::default()
    };
    let stop = AtomicBool::new(false);
    watch_flow(&resolved, id, 0..until, settings, &stop).expect("there is one")
}

fn of(story: &FlowStory, what: FlowWhat) -> Vec<&FlowEvent> {
    let events = story.events.iter();
    events.filter(|event| event.event == what).collect()
}

/// The head of the scenario has the cycles: flow 0 loses both of its packets at the second switch, flow 1 none.
#[test]
fn packets_that_are_dropped_are_told() {
    for shards in [1, 3] {
        let lost = story("scenarios/flows/dropping.ron", 0, u64::MAX, shards);
        assert_eq!((lost.started, lost.delivered, lost.dropped), (2, 0, 2));
        assert_eq!(lost.complete, None);
        let drops = of(&lost, FlowWhat::Dropped);
        let cells = drops.iter().map(|event| (event.cycle, &event.place[..]));
        assert_eq!(
            cells.collect::<Vec<_>>(),
            [(6, "S1 port 2"), (18, "S1 port 2")]
        );
        let whole = story("scenarios/flows/dropping.ron", 1, u64::MAX, shards);
        assert_eq!((whole.delivered, whole.dropped), (2, 0));
        assert!(of(&whole, FlowWhat::Dropped).is_empty() && whole.complete.is_some());
    }
}

/// A host answers one request at a time, 100 cycles each, so the second one waits for about as long. What is held is not
/// on its way any more: the hold is the part of its latency that the first one does not have, but for credits that it
/// has waited for.
#[test]
fn requests_that_are_held_say_for_how_long() {
    let scenario = "scenarios/validation/replies_level.ron";
    let told = story(scenario, 0, 1000, 2);
    let delivered = of(&told, FlowWhat::Delivered);
    let own = |event: &&&FlowEvent| {
        event
            .packet
            .as_deref()
            .is_some_and(|id| id.starts_with("0/calls/"))
    };
    let own: Vec<_> = delivered.iter().filter(own).collect();
    let latency = |event: &FlowEvent| {
        let number = event.detail.split(' ').nth(2);
        number
            .and_then(|number| number.parse::<u64>().ok())
            .expect("a latency")
    };
    let held = |event: &FlowEvent| {
        let number = event.detail.split("held there for ").nth(1)?;
        number.split(' ').next()?.parse::<u64>().ok()
    };
    assert_eq!(held(own[0]), None, "{}", own[0].detail);
    let second = held(own[1]).expect("it is held");
    assert!(
        (90..=latency(own[1]) - latency(own[0])).contains(&second),
        "{}",
        own[1].detail
    );
}
