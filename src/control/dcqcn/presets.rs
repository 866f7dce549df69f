//! Parameter sets of DCQCN, each stated for links of one rate.
//!
//! Rate increases and the byte counter go with the rate of the host's link: at ten times the rate they are ten times as much, so
//! that rates recover in the time that they take on the link that the set is for. Times stay as stated: a faster link can send so much
//! more in them, so that short jobs there want a shorter `timer` (5 us at 400 Gbit/s). Sources:
//! - `Paper`: Zhu et al., 2015: the values that the paper deploys in place of QCN's.
//! - `Ns3`: what the authors' model for ns-3 comes with.
//! - `Production`: the settings of a vendor as the comparison of HPCC (Li et al., 2019) tells them, for each 25 Gbit/s; without
//!   stages by bytes.

use serde::Deserialize;

/// Its name, as scenarios write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Preset {
    /// Zhu et al.
    #[default]
    Paper,
    /// The authors' model for ns-3.
    Ns3,
    /// As in the comparison of HPCC.
    Production,
}

/// A parameter set.
#[derive(Debug)]
pub(super) struct Parameters {
    /// Rate of the links that it is stated for \[bit/s\].
    pub rate: u64,
    /// \[us\].
    pub interval: u64,
    /// \[us\].
    pub alpha_timer: u64,
    /// \[us\].
    pub timer: u64,
    /// \[bytes\]; `None`: no stages by bytes.
    pub bytes: Option<u64>,
    pub stages: u64,
    /// \[bit/s\].
    pub increase: u64,
    /// \[bit/s\]; `None`: additive increase goes on.
    pub hyper_increase: Option<u64>,
}

impl Preset {
    /// Its values.
    pub(super) const fn parameters(self) -> Parameters {
        match self {
            Self::Paper => Parameters {
                rate: 40_000_000_000,
                interval: 50,
                alpha_timer: 55,
                timer: 55,
                bytes: Some(10_000_000),
                stages: 5,
                increase: 40_000_000,
                hyper_increase: None,
            },
            Self::Ns3 => Parameters {
                rate: 40_000_000_000,
                interval: 50,
                alpha_timer: 55,
                timer: 60,
                bytes: Some(300_000_000),
                stages: 5,
                increase: 40_000_000,
                hyper_increase: Some(200_000_000),
            },
            Self::Production => Parameters {
                rate: 25_000_000_000,
                interval: 4,
                alpha_timer: 1,
                timer: 300,
                bytes: None,
                stages: 1,
                increase: 5_000_000,
                hyper_increase: Some(50_000_000),
            },
        }
    }
}

impl Parameters {
    /// A rate as a part of that of the link \[2^-32\], rounded up.
    pub(super) fn part(&self, rate: u64) -> u64 {
        (u128::from(rate) << 32).div_ceil(self.rate.into()) as u64
    }

    /// An amount, as so much for a link of another rate \[flits\], rounded up.
    pub(super) fn flits(&self, bytes: u64, reference_rate: u64, flit_bytes: u32) -> u64 {
        let scaled = u128::from(bytes) * u128::from(reference_rate);
        let flit = u128::from(self.rate) * u128::from(flit_bytes);
        scaled.div_ceil(flit) as u64
    }
}
