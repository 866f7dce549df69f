//! The key `claims` of a switch: when heads that have waited for long go before all others.

use super::values::Read;
use super::{Qos, Switch};
use crate::plan::Forwarding;
use crate::qos::vl_arbitration::Accept;
use crate::scenario::resolve::quantity::{LONGEST_PHASE, cycles};
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Clock, Time};

/// From look to look where nobody says it \[cycles\]: longer than heads wait in the shipped scenarios, overloaded ones
/// included, and soon beside a measurement.
const USUAL: u64 = 65_536;

/// Whether anybody looks at how long heads have waited, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Claims {
    /// `USUAL` cycles from look to look where that goes with everything else.
    Auto,
    /// From look to look.
    Every(At<Time>),
    /// Nobody does.
    Off,
}

impl Claims {
    pub(super) fn read(item: &Item<'_>) -> Read<At<Self>> {
        let value = match item.variant() {
            Some(("Auto", None)) => Self::Auto,
            Some(("Off", None)) => Self::Off,
            Some(("Every", Some(arguments))) => {
                let time = &arguments.tuple(1, "a time such as `Every(\"65536 cycles\")`")?[0];
                Self::Every(time.at(time.quantity()?))
            }
            _ => {
                return Err(item.unexpected(
                    "claims of heads that wait: expected `Auto`, `Every(time)` or `Off`",
                ));
            }
        };
        Ok(item.at(value))
    }

    /// What a head that goes before all others does not go with (D72), as far as keys tell: there what holds an output or an
    /// input could itself wait for another lane.
    fn conflict(switch: &Switch, qos: &Qos) -> Option<&'static str> {
        if switch.forwarding.value == Forwarding::Wormhole {
            return Some("`forwarding: Wormhole`, whose packets stop half-way");
        }
        if let Some(tables) = &qos.vl_arbitration {
            return Some(if tables.value.accept.value == Accept::HighFirst {
                "`qos.vl_arbitration.accept: HighFirst`, which says whose grants inputs accept first"
            } else {
                "`qos.vl_arbitration`, whose tables say which lane goes first"
            });
        }
        let has_management = qos.management_lane.value;
        has_management.then_some("`qos.management_lane: true`: VL15 goes before all other lanes")
    }

    /// Refuses what [`Self::Every`] does not go with.
    pub(super) fn check(switch: &Switch, qos: &Qos) -> Result<(), Mistake> {
        if !matches!(switch.claims.value, Self::Every(_)) {
            return Ok(());
        }
        Self::conflict(switch, qos).map_or(Ok(()), |refused| {
            Err(switch
                .claims
                .mistake(format!("`Every` does not go with {refused}: use `Off`")))
        })
    }

    /// From look to look \[cycles\].
    pub(super) fn plan(switch: &Switch, qos: &Qos, clock: Clock) -> Result<Option<u64>, Mistake> {
        match &switch.claims.value {
            Self::Every(time) => cycles(time, clock, 1, LONGEST_PHASE).map(Some),
            Self::Auto if Self::conflict(switch, qos).is_none() => Ok(Some(USUAL)),
            Self::Auto | Self::Off => Ok(None),
        }
    }

    /// The value of the plan.
    pub(super) fn print(claims: Option<u64>) -> String {
        match claims {
            Some(cycles) => format!("Every(\"{cycles} cycles\")"),
            None => String::from("Off"),
        }
    }
}
