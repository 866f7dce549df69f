//! The words of a report, for readers who have not met them.

use maud::{Markup, html};

const WORDS: [(&str, &str); 14] = [
    ("cycle", "The time one flit takes on the reference link."),
    ("flit", "The unit in which packets cross channels."),
    (
        "channel",
        "One direction of a link, between two switches or between a host and a switch.",
    ),
    (
        "offered load",
        "What the sending hosts create, as a fraction of the rate of their links.",
    ),
    (
        "accepted load",
        "What of it is delivered in the window of measurement, as a fraction of the same rate.",
    ),
    (
        "network latency",
        "From the moment a packet enters its first channel until its last flit has arrived.",
    ),
    (
        "packet latency",
        "From the creation of a packet until its last flit has arrived: time in the source queue counts.",
    ),
    (
        "p99",
        "99th percentile: the latency that 99 % of the packets do not exceed; p50 and p95 likewise.",
    ),
    (
        "complete",
        "All messages, or all flows with a size, were delivered. Loads beside them are told class by class.",
    ),
    (
        "steady",
        "Accepted load follows offered load and nothing grows; an overload of 10 % would be called so in less than 1 %.",
    ),
    (
        "undecided",
        "Too close to the limit, or too few packets, to tell in the cycles measured: the reason says what would tell.",
    ),
    (
        "incomplete",
        "Messages, or flows with a size, were not delivered: the bound of the measurement came first, or packets are lost.",
    ),
    (
        "saturated",
        "The fabric accepts less than is offered, certainly: packets pile up as long as the run lasts.",
    ),
    (
        "jitter",
        "Mean change of network latency from one packet of a flow to the next.",
    ),
];

/// Makes it.
pub(super) fn section() -> Markup {
    html! {
        section {
            h2 id="words" { "Words" }
            dl class="words" { @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } } }
        }
    }
}
