//! Quantities with units, as written in scenarios and as the engine counts them.
//!
//! A scenario says `"2 KiB"`, `"10 Gbit/s"`, `"100 ns"`; the engine counts flits and cycles. One cycle is
//! the time one flit takes on the reference link, so the conversion needs a [`Clock`].

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Flit size and reference link rate: what turns bytes into flits and time into cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Size of a flit \[bytes\].
    pub flit_bytes: u32,
    /// Rate of the reference link \[bit/s\].
    pub reference_rate: u64,
}

impl Clock {
    /// Length of one cycle \[ps\].
    pub fn cycle_picoseconds(&self) -> f64 {
        f64::from(self.flit_bytes) * 8e12 / self.reference_rate as f64
    }

    /// So many cycles in time: `1.31 ms`.
    pub fn time(&self, cycles: u64) -> String {
        time(cycles as f64 * self.cycle_picoseconds() / 1000.0)
    }
}

/// A time of so many ns, to three digits: `1.31 ms`.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns >= 999.5e6 => (ns / 1e9, "s"),
        ns if ns >= 999.5e3 => (ns / 1e6, "ms"),
        ns if ns >= 999.5 => (ns / 1e3, "us"),
        ns => (ns, "ns"),
    };
    let digits = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// Length of a cycle \[ns\] and cycles of a flit in words, where a flit takes several cycles on the fastest link too: rates
/// that are no multiples of each other make cycles short. `fastest`: cycles per flit of that link.
pub fn cycles_of_a_flit(cycle_ns: f64, fastest: u32) -> Option<String> {
    let digits = (3.0 - libm::log10(cycle_ns).floor()).clamp(0.0, 9.0) as usize;
    let told = || {
        format!(
            "1 cycle = {cycle_ns:.digits$} ns; a flit takes {fastest} cycles on the fastest link"
        )
    };
    (fastest > 1).then(told)
}

/// A link rate \[bit/s\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// A number of cycles.
    Cycles(u64),
    /// Real time \[ps\].
    Picoseconds(u64),
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of flits.
    Flits(u64),
    /// A number of bytes.
    Bytes(u64),
}

/// A quantity that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct UnitError {
    /// What was written.
    pub text: String,
    /// What is allowed, with an example.
    pub expected: &'static str,
}

impl Time {
    /// The time in seconds; `None` for cycles.
    pub fn seconds(self) -> Option<f64> {
        match self {
            Self::Cycles(_) => None,
            Self::Picoseconds(ps) => Some(ps as f64 / 1e12),
        }
    }

    /// The time in cycles, rounded to the nearest.
    pub fn cycles(self, clock: Clock) -> u64 {
        match self {
            Self::Cycles(cycles) => cycles,
            Self::Picoseconds(ps) => (ps as f64 / clock.cycle_picoseconds()).round() as u64,
        }
    }
}

impl Amount {
    /// The amount in flits, rounded up: a packet that does not fill its last flit still takes it.
    pub fn flits(self, clock: Clock) -> u64 {
        match self {
            Self::Flits(flits) => flits,
            Self::Bytes(bytes) => bytes.div_ceil(u64::from(clock.flit_bytes)),
        }
    }
}

/// Splits `"2.5 KiB"` into its number and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Quantities are below, in their smallest unit; numbers from 512 below it on are read as this one.
const MOST: f64 = (1_u64 << 63) as f64;

/// Reads a quantity by a table of units; the result must be a whole number of base units: `countable` says of which.
fn read(
    text: &str,
    units: &[(&str, f64)],
    expected: &'static str,
    countable: &'static str,
) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.to_owned(),
        expected,
    };
    let (number, unit) = split(text).ok_or_else(error)?;
    let (_, factor) = units
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(error)?;
    let value = number * factor;
    let whole = value.round();
    if !(0.0..MOST).contains(&value) || (value - whole).abs() > 1e-6 * value.max(1.0) {
        let expected = countable;
        return Err(UnitError {
            expected,
            ..error()
        });
    }
    Ok(whole as u64)
}

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("bit/s", 1.0),
            ("kbit/s", 1e3),
            ("Mbit/s", 1e6),
            ("Gbit/s", 1e9),
            ("Tbit/s", 1e12),
        ];
        let expected =
            "a rate such as \"10 Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s; above 0)";
        match read(
            text,
            UNITS,
            expected,
            "a whole number of bit/s below 2^63 - 512",
        )? {
            0 => Err(UnitError {
                text: text.to_owned(),
                expected,
            }),
            rate => Ok(Self(rate)),
        }
    }
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("ps", 1.0),
            ("ns", 1e3),
            ("us", 1e6),
            ("ms", 1e9),
            ("s", 1e12),
        ];
        let expected =
            "a time such as \"300 cycles\" or \"100 ns\" (units: cycles, ps, ns, us, ms, s)";
        let countable = "a whole number of cycles, or of ps, below 2^63 - 512";
        match read(
            text,
            &[("cycles", 1.0), ("cycle", 1.0)],
            expected,
            countable,
        ) {
            Ok(cycles) => Ok(Self::Cycles(cycles)),
            Err(error) if error.expected == countable => Err(error),
            Err(_) => read(text, UNITS, expected, countable).map(Self::Picoseconds),
        }
    }
}

impl FromStr for Amount {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("B", 1.0),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
        ];
        let expected =
            "a size such as \"16 flits\" or \"2 KiB\" (units: flits, B, KiB, MiB, GiB, kB, MB, GB)";
        let countable = "a whole number of flits, or of bytes, below 2^63 - 512";
        match read(text, &[("flits", 1.0), ("flit", 1.0)], expected, countable) {
            Ok(flits) => Ok(Self::Flits(flits)),
            Err(error) if error.expected == countable => Err(error),
            Err(_) => read(text, UNITS, expected, countable).map(Self::Bytes),
        }
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if rate.is_multiple_of(1_000_000) => write!(f, "{} Gbit/s", rate as f64 / 1e9),
            rate => write!(f, "{rate} bit/s"),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cycles(cycles) => write!(f, "{cycles} cycles"),
            Self::Picoseconds(ps) if ps.is_multiple_of(1000) => write!(f, "{} ns", ps / 1000),
            Self::Picoseconds(ps) => write!(f, "{ps} ps"),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flits(flits) => write!(f, "{flits} flits"),
            Self::Bytes(bytes) if bytes > 0 && bytes.is_multiple_of(1 << 20) => {
                write!(f, "{} MiB", bytes >> 20)
            }
            Self::Bytes(bytes) if bytes > 0 && bytes.is_multiple_of(1024) => {
                write!(f, "{} KiB", bytes / 1024)
            }
            Self::Bytes(bytes) => write!(f, "{bytes} B"),
        }
    }
}

macro_rules! as_string {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
as_string!(BitRate, Time, Amount);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_cycles_are_told() {
        assert_eq!(cycles_of_a_flit(51.2, 1), None);
        let told = |length| cycles_of_a_flit(length, 21).unwrap();
        assert!(told(0.380_952_38).starts_with("1 cycle = 0.3810 ns; a flit takes 21 cycles"));
        assert!(told(0.000_012_345_6).starts_with("1 cycle = 0.00001235 ns"));
        assert!(told(51.2).starts_with("1 cycle = 51.20 ns"));
        assert!(told(51_200.0).starts_with("1 cycle = 51200 ns"));
    }

    #[test]
    fn quantities_are_read_and_printed() {
        assert_eq!("10 Gbit/s".parse(), Ok(BitRate(10_000_000_000)));
        assert_eq!("300 cycles".parse(), Ok(Time::Cycles(300)));
        assert_eq!("1.5 us".parse(), Ok(Time::Picoseconds(1_500_000)));
        assert_eq!("2 KiB".parse(), Ok(Amount::Bytes(2048)));
        assert!("2 parsec".parse::<Time>().is_err());
        assert!("0 Gbit/s".parse::<BitRate>().is_err());
        assert!("-3 flits".parse::<Amount>().is_err());
        let error = "99999999999999999999 cycles".parse::<Time>().unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("is not a whole number of cycles, or of ps, below 2^63 - 512")
        );
        let most = 9_223_372_036_854_774_784;
        assert_eq!(format!("{most} cycles").parse(), Ok(Time::Cycles(most)));
        assert!("9223372036854775808 cycles".parse::<Time>().is_err());
        let error = "2.5 cycles".parse::<Time>().unwrap_err();
        assert!(error.to_string().contains("a whole number of cycles"));
        assert_eq!(
            "64 flits".parse::<Amount>().map(|a| a.to_string()),
            Ok("64 flits".into())
        );
    }

    #[test]
    fn conversion_uses_the_reference_link() {
        let clock = Clock {
            flit_bytes: 64,
            reference_rate: 32_000_000_000,
        };
        assert!((clock.cycle_picoseconds() - 16_000.0).abs() < 1e-9);
        assert_eq!(Time::Picoseconds(160_000).cycles(clock), 10);
        assert_eq!(Amount::Bytes(2049).flits(clock), 33);
    }
}
