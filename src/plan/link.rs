//! Options of links.

/// Link-level retry (D74): channels make errors in bits, and their ends repeat what came with one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRetry {
    /// Probability of an error in a bit, between 0 and 1.
    pub bit_error_rate: f64,
    /// What both ends need for a repeat, beside the latencies of both channels \[cycles\].
    pub delay: u32,
}

impl LinkRetry {
    /// Most repeats of one packet; the transmission after them is good.
    pub const MOST: u32 = 16;

    /// Probability of an error in a transmission of so many bits.
    pub fn failure(&self, bits: u64) -> f64 {
        -libm::expm1(bits as f64 * libm::log1p(-self.bit_error_rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 - (1 - p)^b, also where p is far below the precision of 1 - p.
    #[test]
    fn the_probability_of_an_error_grows_with_the_bits() {
        let of = |bit_error_rate, bits| {
            let retry = LinkRetry {
                bit_error_rate,
                delay: 0,
            };
            retry.failure(bits)
        };
        assert!((of(0.5, 2) - 0.75).abs() < 1e-15);
        assert!((of(1e-3, 1000) - (1.0 - 0.999f64.powi(1000))).abs() < 1e-12);
        assert!((of(1e-18, 8192) / 8192e-18 - 1.0).abs() < 1e-12);
    }
}
