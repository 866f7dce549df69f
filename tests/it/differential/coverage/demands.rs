//! What must have been met.

use super::{
    ADAPTIVE_SETS, BEGUN, CLAIMED, Coverage, DROPPED, ELSEWHERE, EMPTIED, ENTERED,
    FORKED_IN_CLAIMS, FULL, HELD, HELD_FLITS, LANES_KEPT, LEVELS, NO_ROOM, REFUSED,
    REFUSED_BY_MEASUREMENT, REFUSED_BY_TRIAL, REJECTED, RELEASED, REPEATED, RESUMED_IN_CLAIMS,
    RIDERS, SETS, SOME, TRIED,
};
use crate::random_fabric::{
    ADMISSION, BESIDE_ROUTES, BESIDE_SET_UPS, CLAIMS, CLAIMS_OF_CANDIDATES, CLAIMS_ON_TABLES,
    DROPPING, DROPPING_OF_CHOICES, FLOWS, HALF_WAY_OF_CHOICES, Kind, MARKS_BEHIND_LANES,
    OPEN_HALF_WAY, QUEUES_OF_ROUTES, QUEUES_OF_SET_UPS, RETRY, RETRY_ON_TABLES, ROUTES, SCHEDULERS,
    SET_UPS, STANDING, STANDING_ON_ANY_LANE, VL15_BESIDE_CHOICES, WORMHOLE_CHOICES,
    WORMHOLE_HALF_WAY, WORMHOLE_HOSTS, WORMHOLE_HOSTS_OF_CHOICES, WORMHOLE_OPTIONS,
    WORMHOLE_OPTIONS_OF_CHOICES, WORMHOLE_QUEUES, WORMHOLE_QUEUES_OF_CHOICES, WORMHOLE_REQUESTS,
    WORMHOLE_ROUTES, WORMHOLE_SET_UPS, WORMHOLE_VL15, engines, wanted,
};
use virtlane::topology::TOPOLOGIES;

impl Coverage {
    fn require(&self, names: impl IntoIterator<Item = impl AsRef<str>>, times: u64) {
        let names = names.into_iter();
        let met = |name: &str| self.met.get(name).copied().unwrap_or(0);
        let missing: Vec<String> = names
            .filter(|name| met(name.as_ref()) < times)
            .map(|name| format!("{}: {}", name.as_ref(), met(name.as_ref())))
            .collect();
        assert!(missing.is_empty(), "{missing:?} of {times}\n{self}");
    }

    /// A path of the cycle, with every number of threads and every width of the masks.
    fn require_widths(&self, path: &str, widths: &[usize]) {
        for threads in 1..=3 {
            let name = |words| format!("{path}, {words} words, {threads} threads");
            self.require(widths.iter().map(name), 1);
        }
    }

    /// What all kinds of routing have in common.
    pub(in crate::differential) fn require_general(&self, kind: Kind) {
        assert!(
            self.deliveries > 50 * self.cases && self.messages > self.cases,
            "the cases hardly deliver anything: {self}"
        );
        self.require_widths("general", &[1, 2, 8, 16, 128]);
        let sets: &[&str] = match kind {
            Kind::Tables | Kind::OwnRoutes | Kind::SetUps => &SETS,
            Kind::Adaptive => &ADAPTIVE_SETS,
        };
        self.require(sets.iter().map(|name| format!("rules {name}")), 3);
        self.require((1..=7).map(|count| format!("{count} shards")), 1);
        self.require(["long", "many hosts", "64 hosts"], 6);
        let mut names = [true, false].map(|plain| wanted(kind, plain)).concat();
        names.extend(FLOWS.map(String::from));
        names.extend(MARKS_BEHIND_LANES.map(String::from));
        names.extend(WORMHOLE_OPTIONS.map(String::from));
        names.extend([REJECTED, HELD, DROPPED].map(String::from));
        names.extend(RELEASED.map(String::from));
        names.extend(CLAIMS.map(String::from));
        names.extend(CLAIMED.map(String::from));
        names.extend(RETRY.map(String::from));
        names.push(String::from(REPEATED));
        // combinations of several options
        let mut few = Vec::new();
        let keep_lanes = match kind {
            Kind::Tables => self.cases / 8,
            _ => self.cases / 16,
        };
        self.require([LANES_KEPT], keep_lanes);
        names.push(String::from(LANES_KEPT));
        if kind == Kind::Adaptive {
            names.extend(CLAIMS_OF_CANDIDATES.map(String::from));
            names.extend(WORMHOLE_CHOICES.map(String::from));
            names.extend(WORMHOLE_OPTIONS_OF_CHOICES.map(String::from));
            names.extend(WORMHOLE_HOSTS_OF_CHOICES.map(String::from));
            few.extend(WORMHOLE_QUEUES_OF_CHOICES);
            self.require_seldom();
            names.extend(DROPPING_OF_CHOICES.map(String::from));
            names.push(String::from(ELSEWHERE));
        }
        self.require([RESUMED_IN_CLAIMS], 10);
        self.require([FORKED_IN_CLAIMS], 1);
        if kind == Kind::Tables {
            names.extend(CLAIMS_ON_TABLES.map(String::from));
            names.extend(RETRY_ON_TABLES.map(String::from));
            names.extend(ADMISSION.map(String::from));
            names.extend(DROPPING.map(String::from));
            names.extend(WORMHOLE_REQUESTS.map(String::from));
            names.extend(WORMHOLE_HOSTS.map(String::from));
            names.extend(WORMHOLE_VL15.map(String::from));
            few.extend(WORMHOLE_QUEUES);
            few.extend(WORMHOLE_HALF_WAY);
            few.push(HELD_FLITS);
            names.extend([SOME, REFUSED, REFUSED_BY_MEASUREMENT].map(String::from));
            names.extend([REFUSED_BY_TRIAL, BEGUN, NO_ROOM].map(String::from));
            // few trials are long enough to end
            self.require([TRIED], 2);
            self.require([format!("resumed with {TRIED}")], 1);
        }
        self.require_resumed(few, [2, 2]);
        self.require_resumed(names, [2, 3]);
    }

    /// What few cases with adaptive routing have.
    fn require_seldom(&self) {
        let [places, unlimited, input_first, ..] = OPEN_HALF_WAY;
        let mut few = HALF_WAY_OF_CHOICES.to_vec();
        few.extend([places, input_first]);
        self.require_resumed(few, [2, 2]);
        self.require([unlimited], 1);
        // heads that choose once are seldom packets as units
        let [any, _, kinds @ ..] = VL15_BESIDE_CHOICES;
        self.require_resumed(vec![any], [3, 6]);
        self.require(kinds, 1);
        self.require(STANDING, 1);
    }

    /// Packets that stand in several queues (D84), resumed as well.
    pub(in crate::differential) fn require_standing(&self) {
        self.require(STANDING, 2);
        self.require(STANDING.map(|name| format!("resumed with {name}")), 1);
    }

    /// The same, all of them on any lane.
    pub(in crate::differential) fn require_any_lane(&self) {
        self.require([STANDING_ON_ANY_LANE], self.cases);
    }

    /// Each so often resumed, and in all.
    fn require_resumed<N: AsRef<str>>(&self, names: Vec<N>, [resumed, all]: [u64; 2]) {
        for name in names {
            self.require([format!("resumed with {}", name.as_ref())], resumed);
            self.require([name], all);
        }
    }

    /// Routes of flows (D66), and what goes with them, resumed as well.
    pub(in crate::differential) fn require_routes(&self) {
        assert!(self.deliveries > 50 * self.cases, "hardly anything: {self}");
        self.require(ROUTES, 3);
        self.require(ROUTES.map(|name| format!("resumed with {name}")), 2);
        self.require(WORMHOLE_ROUTES, 3);
        self.require(QUEUES_OF_ROUTES, 3);
        self.require(
            QUEUES_OF_ROUTES.map(|name| format!("resumed with {name}")),
            2,
        );
        let resumed = WORMHOLE_ROUTES.map(|name| format!("resumed with {name}"));
        self.require(resumed, 2);
        self.require(BESIDE_ROUTES.iter().chain(&SCHEDULERS), 2);
        self.require((2..=7).map(|count| format!("{count} shards")), 1);
        self.require([BEGUN, DROPPED, HELD], 2);
        self.require(LEVELS, 3);
        self.require(RELEASED, 1);
    }

    /// Routes set up by packets (D67), and what goes with them, resumed as well.
    pub(in crate::differential) fn require_set_ups(&self) {
        assert!(self.deliveries > 50 * self.cases, "hardly anything: {self}");
        self.require(SET_UPS, 3);
        self.require(SET_UPS.map(|name| format!("resumed with {name}")), 2);
        self.require(WORMHOLE_SET_UPS, 3);
        self.require(QUEUES_OF_SET_UPS, 3);
        self.require(
            QUEUES_OF_SET_UPS.map(|name| format!("resumed with {name}")),
            2,
        );
        let resumed = WORMHOLE_SET_UPS.map(|name| format!("resumed with {name}"));
        self.require(resumed, 2);
        self.require(BESIDE_SET_UPS.iter().chain(&SCHEDULERS), 2);
        self.require(["flows that wait"], 2);
        self.require(LEVELS, 3);
        self.require((2..=7).map(|count| format!("{count} shards")), 1);
        let kept = [FULL, ENTERED, EMPTIED];
        self.require(kept, 10);
        self.require(kept.map(|name| format!("resumed with {name}")), 5);
        self.require([DROPPED], 2);
    }

    /// What only tables have: the fast path.
    pub(in crate::differential) fn require_plain(&self) {
        self.require_widths("plain", &[1, 2, 4, 8, 16, 128]);
        self.require(["plain", "general"], self.cases * 2 / 5);
    }

    /// The pass, compiled for each of these sets of rules, from a state in the middle as well.
    pub(in crate::differential) fn require_pass(&self, sets: &[&str]) {
        self.require(sets.iter().map(|name| format!("pass, rules {name}")), 2);
        self.require(["pass"], self.cases * 2 / 5);
        self.require(["pass, resumed", "pass, several shards"], self.cases / 8);
    }

    /// Cases of mechanisms that ride in the pass.
    pub(in crate::differential) fn require_riders(&self, times: u64) {
        self.require(RIDERS.iter().map(|name| format!("pass, {name}")), times);
        self.require(["pass, resumed", "pass, several shards"], self.cases / 16);
    }

    /// Parts that scenarios name: tables and adaptive engines of both kinds.
    pub(in crate::differential) fn require_shipped(&self) {
        self.require(["plain", "general"], 5);
        self.require(engines().iter().map(|name| format!("engine {name}")), 1);
        self.require(TOPOLOGIES.names().map(|name| format!("topology {name}")), 1);
        self.require(["open heads", "drawn choices"], 3);
        self.require(["dropping with any lane", "wormhole with any lane"], 1);
        self.require(["chosen queues"], 1);
    }
}
