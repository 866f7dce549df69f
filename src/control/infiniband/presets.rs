//! Parameter sets of InfiniBand's congestion control that are in use, as far as their public sources state them.
//!
//! A preset has both sides, the switches' (`fabric.switch.marking: InfiniBand(preset: ...)`) and the channel adapters'
//! (`control: InfiniBand(preset: ...)`). What its source leaves open it leaves open, too: that has to be written. Whatever is
//! written beside a preset counts in place of its value.
//!
//! OpenSM's own default is no set: it has congestion control off. Sources:
//! - `CcManager`: the manual of Mellanox' OFED on its congestion control manager, which makes timer and table from the number of
//!   hosts.
//! - `FirstExperiences`: what the experiments of Gran et al. with the first hardware used, at second hand; the table is not told.
//! - `IbCcConfig`: the example in the manual of `ibccconfig`, of a switch with 36 ports that all mark as victims; without a table.
//! - `OpaFm`: what the fabric manager of Omni-Path has as defaults, with victim marking on, as in the file it comes with: then
//!   all ports of a switch have their bit.

use crate::plan::Victims;
use serde::Deserialize;

/// Its name, as scenarios write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Preset {
    /// None.
    #[default]
    None,
    /// Mellanox' congestion control manager.
    CcManager,
    /// The first experiments with hardware.
    FirstExperiences,
    /// The example of `ibccconfig`.
    IbCcConfig,
    /// Omni-Path's fabric manager.
    OpaFm,
}

/// A parameter set.
#[derive(Debug)]
pub struct Parameters {
    /// Where its values are from, in words.
    pub source: &'static str,
    /// Of switches: Threshold.
    pub threshold: u8,
    /// Of switches: `Packet_Size` \[bytes\].
    pub packet_bytes: u64,
    /// Of switches: `Marking_Rate`.
    pub marking_rate: u16,
    /// Of switches: `Victim_Mask`.
    pub victims: Victims,
    /// Of channel adapters: `CCTI_Increase`.
    pub(super) increase: u64,
    /// Of channel adapters: `Trigger_Threshold`.
    pub(super) trigger: u64,
    /// Of channel adapters: `CCTI_Timer` \[1.024 us\].
    pub(super) timer: Option<u64>,
    /// Of channel adapters: `CCTI_Limit`.
    pub(super) limit: Option<u64>,
    /// Of channel adapters: the delay of the last entry of a linear table \[ns\].
    pub(super) longest: Option<u64>,
}

impl Preset {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::None,
        Self::CcManager,
        Self::FirstExperiences,
        Self::IbCcConfig,
        Self::OpaFm,
    ];

    /// Its values; `None` without a preset.
    pub fn parameters(self) -> Option<&'static Parameters> {
        match self {
            Self::None => None,
            Self::CcManager => Some(&Parameters {
                source: "manual of the congestion control manager",
                threshold: 15,
                packet_bytes: 0x200,
                marking_rate: 10,
                victims: Victims::Hosts,
                increase: 1,
                trigger: 2,
                timer: None,
                limit: None,
                longest: None,
            }),
            Self::FirstExperiences => Some(&Parameters {
                source: "source of `FirstExperiences`",
                threshold: 15,
                packet_bytes: 0,
                marking_rate: 0,
                victims: Victims::Hosts,
                increase: 1,
                trigger: 0,
                timer: Some(150),
                limit: Some(127),
                longest: None,
            }),
            Self::IbCcConfig => Some(&Parameters {
                source: "manual of ibccconfig",
                threshold: 15,
                packet_bytes: 8 * 64,
                marking_rate: 1,
                victims: Victims::All,
                increase: 1,
                trigger: 0,
                timer: Some(150),
                limit: None,
                longest: None,
            }),
            Self::OpaFm => Some(&Parameters {
                source: "fabric manager of Omni-Path",
                threshold: 8,
                packet_bytes: 0,
                marking_rate: 0,
                victims: Victims::All,
                increase: 5,
                trigger: 8,
                timer: Some(10),
                limit: Some(127),
                longest: Some(8_000),
            }),
        }
    }
}
