//! Egress measurement: the destination measures what arrives and how fast the fabric serves it, and grants a flow if its delay
//! bound is likely to hold with it (000 S-26, equation 5.5; 003 S16, equations 5.13 to 5.17).
//!
//! # Rules
//! The meter has windows of T slots of tau cycles and keeps the last M of them.
//! 1. A window opens with a packet that arrives while none is open, and ends T * tau cycles later.
//! 2. Arrivals: the flits that come in each slot of the window.
//! 3. Service: the creation a and the delivery d of the last B = T packets. When there are so many, the *backlogged run* goes
//!    from the first of them to the last packet that was created before the one ahead of it was delivered; serving p + 1 packets
//!    took at most U\[p\] = d\[p\] - a\[0\] for every p of the run, the largest of the window.
//! 4. At the end of a window its arrivals become the envelope A\[k\] = most flits of k slots in a row, 0 < k < T, and U is made
//!    not to fall.
//!
//! A request of peak P with delay bound D is granted if for all i from 0 to T - 1, with t = i * tau,
//! t * R + t * P - S + alpha * sqrt(t^2 * var R + var S) < 0,
//! R the mean of A\[i\] / t over the windows, S that of the flits served in t + D, from U inverted.
//! 5. Windows that are missing among the M, and U that has not been measured, count as service without end. Without a window
//!    everything is granted. So are requests without a delay bound.
//! 6. The mean of R is that of the windows with arrivals, its variance the sum over all over their number (at least 2) less 1; the
//!    mean of S is that of all M, its variance that of the newest ones, as many as have arrivals less 1.
//! 7. `stability`: R + P of the longest time, i = T - 1, must also be less than the rate of the destination's channel.
//!
//! # Deviations
//! Rules 5 and 6 are those of the program that the source's results came from, not of its text; they make windows without
//! measurements votes to accept. With `clocks` every host's clock has an offset of its own.
//!
//! Cost: O(T) per packet, O(M * T) per request.
//!
//! References: [`CETINKAYA_KNIGHTLY`]

use super::meter::{Meter, UNBOUNDED, Window};
use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, invalid,
};
use crate::control::ONE_FLIT_PER_CYCLE;
use crate::references::{CETINKAYA_KNIGHTLY, REINEMO, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::{Clock, Time};
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Registers `EgressMeasurement`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "EgressMeasurement",
    aliases: &["EM", "EB"],
    summary: "the destination measures arrivals and service and grants what should keep its delay bound",
    parameters: &[
        Parameter {
            name: "slot",
            kind: "time, at least 1 cycle",
            default: Some("\"500 cycles\""),
            summary: "tau",
        },
        Parameter {
            name: "slots",
            kind: "2..=1024",
            default: Some("20"),
            summary: "slots of a window, T, and packets of the backlog, B",
        },
        Parameter {
            name: "windows",
            kind: "2..=64",
            default: Some("5"),
            summary: "windows that are kept, M",
        },
        Parameter {
            name: "alpha",
            kind: "number >= 0",
            default: Some("1"),
            summary: "standard deviations of safety",
        },
        Parameter {
            name: "stability",
            kind: "true | false",
            default: Some("false"),
            summary: "whether arrivals and the peak must be less than the destination's channel carries",
        },
        Parameter {
            name: "clocks",
            kind: "time",
            default: Some("\"0 cycles\""),
            summary: "most by which the clock of a host is wrong, either way",
        },
    ],
    guarantees: &[],
    references: &[CETINKAYA_KNIGHTLY, REINEMO, SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "EgressMeasurement", default)]
struct Written {
    slot: Time,
    slots: u32,
    windows: u32,
    alpha: f64,
    stability: bool,
    clocks: Time,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            slot: Time::Cycles(500),
            slots: 20,
            windows: 5,
            alpha: 1.0,
            stability: false,
            clocks: Time::Cycles(0),
        }
    }
}

#[derive(Debug)]
struct EgressMeasurement {
    slot: u64,
    slots: u32,
    windows: u32,
    alpha: f64,
    stability: bool,
    clocks: u64,
}

/// The desk keeps the paces of the channels.
impl Admission for EgressMeasurement {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        fabric.paces.iter().map(|&pace| pace.into()).collect()
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, shown: Shown<'_>) -> bool {
        let (Some(delay), Some(meter)) = (request.delay, shown.meter) else {
            return true;
        };
        let windows = meter.ended(shown.now);
        if windows.is_empty() {
            return true;
        }
        let peak = request.peak as f64 / ONE_FLIT_PER_CYCLE as f64;
        let bounds = (delay as f64, peak, f64::from(request.packet));
        if !(0..self.slots as usize).all(|slots| self.holds(&windows, slots, bounds)) {
            return false;
        }
        let most = self.slots as usize - 1;
        let rate = self.arrivals(&windows, most).0;
        let pace = request
            .way
            .last()
            .map_or(1, |&(last, _)| desk[last as usize]);
        !self.stability || rate + peak < 1.0 / pace as f64
    }

    fn meter(&self) -> Option<Meter> {
        let size = (self.slots, self.windows);
        Some(Meter::new(self.slot, size, self.clocks))
    }
}

impl EgressMeasurement {
    /// Mean and variance of the arrivals in so many slots \[flits per cycle\].
    fn arrivals(&self, windows: &VecDeque<Window>, slots: usize) -> (f64, f64) {
        if slots == 0 {
            return (0.0, 0.0);
        }
        let time = (slots as u64 * self.slot) as f64;
        let measured = windows
            .iter()
            .filter(|window| window.has_arrivals())
            .count();
        let rates = || windows.iter().map(|w| w.arrivals[slots] as f64 / time);
        let mean = rates().sum::<f64>() / measured.max(1) as f64;
        let missing = self.windows as usize - windows.len();
        let squares = rates()
            .map(|rate| (rate - mean) * (rate - mean))
            .sum::<f64>();
        let squares = squares + missing as f64 * mean * mean;
        (mean, squares / (measured.max(2) - 1) as f64)
    }

    /// Mean and variance of what is served in a time \[flits\].
    fn service(&self, windows: &VecDeque<Window>, time: f64, packet: f64) -> (f64, f64) {
        let missing = self.windows as usize - windows.len();
        let missing = std::iter::repeat_n(UNBOUNDED * packet, missing);
        let served = windows.iter().map(|w| w.served(time) * packet);
        let all: Vec<f64> = missing.chain(served).collect();
        let mean = all.iter().sum::<f64>() / f64::from(self.windows);
        let measured = windows
            .iter()
            .filter(|window| window.has_arrivals())
            .count();
        let newest = measured.max(2) - 1;
        let squares = all.iter().rev().take(newest);
        let squares: f64 = squares.map(|one| (one - mean) * (one - mean)).sum();
        (mean, squares / newest as f64)
    }

    /// The inequality for a time of so many slots.
    fn holds(
        &self,
        windows: &VecDeque<Window>,
        slots: usize,
        (delay, peak, packet): (f64, f64, f64),
    ) -> bool {
        let time = (slots as u64 * self.slot) as f64;
        let (rate, rate_variance) = self.arrivals(windows, slots);
        let (served, service_variance) = self.service(windows, time + delay, packet);
        let spread = f64::sqrt(time * time * rate_variance + service_variance);
        time * rate + time * peak - served + self.alpha * spread < 0.0
    }
}

fn build(
    arguments: Arguments<'_>,
    context: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let written: Written = arguments.parse()?;
    let range = |name, value: u32, most| {
        if (2..=most).contains(&value) {
            return Ok(value);
        }
        Err(invalid(format!(
            "`{name}` is {value}: expected 2 to {most}"
        )))
    };
    let cycles = |name, time: Time, least, clock: Clock| {
        let cycles = time.cycles(clock);
        if (least..=1 << 31).contains(&cycles) {
            return Ok(cycles);
        }
        Err(invalid(format!(
            "`{name}` is `{time}`: expected {least} to 2^31 cycles"
        )))
    };
    if !(written.alpha >= 0.0 && written.alpha.is_finite()) {
        return Err(invalid(format!(
            "`alpha` is {}: expected a number of at least 0",
            written.alpha
        )));
    }
    Ok(Arc::new(EgressMeasurement {
        slot: cycles("slot", written.slot, 1, context.clock)?,
        slots: range("slots", written.slots, 1024)?,
        windows: range("windows", written.windows, 64)?,
        alpha: written.alpha,
        stability: written.stability,
        clocks: cycles("clocks", written.clocks, 0, context.clock)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::meter::tests::measured;
    use super::super::tests::{build, request};
    use super::*;

    /// C16: without measurements everything is granted; transits above the bound in two windows of five are accepted, in three
    /// not.
    #[test]
    fn the_bound_is_held_by_a_vote_of_the_windows() {
        let control =
            build("EgressMeasurement(slot: \"100 cycles\", slots: 4, windows: 5, alpha: 1)");
        let mut desk = control.start(Fabric { paces: &[1] });
        let mut ask = |(meter, now): (Meter, u64), delay| {
            let request = Request {
                delay,
                ..request(0, ONE_FLIT_PER_CYCLE / 1000)
            };
            let shown = Shown {
                now,
                meter: Some(&meter),
                loads: None,
            };
            control.ask(&mut desk, &request, shown)
        };
        let fresh = (control.meter().unwrap(), 0);
        assert!(ask(fresh, Some(30)), "nothing has been measured");
        assert!(ask(measured(&[20, 20, 20, 40, 40]), Some(30)));
        assert!(!ask(measured(&[20, 20, 40, 40, 40]), Some(30)));
        assert!(!ask(measured(&[40; 5]), Some(30)));
        assert!(ask(measured(&[40; 5]), Some(41)));
        assert!(ask(measured(&[40; 5]), None), "without a bound");
    }
}
