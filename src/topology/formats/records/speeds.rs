//! Speeds of the links of a fabric file: its own, the scenario's, or others for some of them.
//!
//! Fails with: [`TopologyError::Parameter`] for a speed that no link has; a complaint of the reader for one that has two rates.

use super::Speed;
use crate::registry::Parameter;
use crate::topology::TopologyError;
use crate::topology::graph::limits::parameter_error;
use crate::units::BitRate;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The parameter of every fabric file with speeds.
pub(in crate::topology::formats) const SPEEDS: Parameter = Parameter {
    name: "speeds",
    kind: "File, Scenario or Replace({\"4xFDR\": \"50 Gbit/s\"})",
    default: Some("File"),
    summary: "rates of links: as the file says, all as the scenario says, or the file's with some replaced; \
              \"unknown\" stands for links whose speed the file does not say",
};

/// Key of links without a speed.
const UNKNOWN: &str = "unknown";

/// Where the rates of links come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Speeds {
    /// The file.
    #[default]
    File,
    /// The scenario.
    Scenario,
    /// The file, with other rates for the speeds listed.
    Replace(#[serde(deserialize_with = "each_once")] BTreeMap<String, BitRate>),
}

/// Reads rates by speed, each speed once.
fn each_once<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, BitRate>, D::Error> {
    struct Once;
    impl<'de> Visitor<'de> for Once {
        type Value = BTreeMap<String, BitRate>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("rates by speed such as `{\"4xFDR\": \"50 Gbit/s\"}`")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut rates = BTreeMap::new();
            while let Some((speed, rate)) = map.next_entry::<String, BitRate>()? {
                match rates.entry(speed) {
                    Entry::Vacant(free) => {
                        free.insert(rate);
                    }
                    Entry::Occupied(taken) => {
                        let speed = taken.key();
                        return Err(A::Error::custom(format!(
                            "speed `{speed}` stands here twice: expected it once"
                        )));
                    }
                }
            }
            Ok(rates)
        }
    }
    deserializer.deserialize_map(Once)
}

impl Speeds {
    /// The rate of a link; `None` = that of the scenario.
    pub(in crate::topology::formats) fn rate(&self, speed: Option<&Speed>) -> Option<BitRate> {
        let own = speed.and_then(|speed| speed.rate);
        match self {
            Self::File => own,
            Self::Scenario => None,
            Self::Replace(rates) => rates.get(key(speed)).copied().or(own),
        }
    }

    /// Checks that a speed is one, or has a rate here.
    pub(in crate::topology::formats) fn require_rate(&self, speed: &Speed) -> Result<(), String> {
        if *self == Self::Scenario || self.rate(Some(speed)).is_some() {
            return Ok(());
        }
        let text = &speed.text;
        Err(format!(
            "unknown link speed `{text}`, expected a width (1x, 2x, 4x, 8x, 12x) and a speed (SDR, DDR, QDR, FDR10, FDR, EDR, \
             HDR, NDR, XDR) such as `4xQDR`, or `4x???`; `speeds: Replace({{\"{text}\": \"100 Gbit/s\"}})` gives it a rate"
        ))
    }

    /// Whether links whose speed the file does not say have none that is meant for them.
    pub(in crate::topology::formats) fn is_missed(&self) -> bool {
        match self {
            Self::File => true,
            Self::Scenario => false,
            Self::Replace(rates) => !rates.contains_key(UNKNOWN),
        }
    }

    /// Checks that every speed with another rate exists.
    pub(in crate::topology::formats) fn require_known<'a>(
        &self,
        speeds: impl Iterator<Item = Option<&'a Speed>>,
    ) -> Result<(), TopologyError> {
        let Self::Replace(rates) = self else {
            return Ok(());
        };
        let known: BTreeSet<&str> = speeds.map(key).collect();
        let Some(missing) = rates.keys().find(|name| !known.contains(name.as_str())) else {
            return Ok(());
        };
        let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        let reason = format!(
            "no link has the speed `{missing}`, expected one of {}",
            known.join(", ")
        );
        Err(parameter_error("speeds", reason))
    }
}

fn key(speed: Option<&Speed>) -> &str {
    speed.map_or(UNKNOWN, |speed| &speed.text)
}
