//! Limits that every topology keeps, with one wording for breaking them.

use crate::topology::TopologyError;

/// Most ports of a switch: InfiniBand numbers them in eight bits, 0 is the management port and 255 means
/// "no path" in forwarding tables.
pub const MAX_PORTS: u16 = 254;

/// Most switches, and most hosts, of a graph. Forwarding tables grow with their product, so this is far
/// beyond what can be routed; it keeps every id in 32 bits and a mistyped parameter from filling memory.
pub const MAX_NODES: u32 = 1_000_000;

/// The error for a parameter that makes no sense.
pub(in crate::topology) fn parameter_error(
    parameter: &'static str,
    reason: impl Into<String>,
) -> TopologyError {
    TopologyError::Parameter {
        parameter,
        reason: reason.into(),
    }
}

/// Checks that `value` is at least `least`.
pub(in crate::topology) fn at_least(
    parameter: &'static str,
    value: u32,
    least: u32,
) -> Result<(), TopologyError> {
    if value >= least {
        return Ok(());
    }
    Err(parameter_error(
        parameter,
        format!("{value} is too small, expected at least {least}"),
    ))
}

/// Checks a number of switches or hosts (`things`); `None` = it does not even fit 64 bits.
pub(in crate::topology) fn node_count(
    parameter: &'static str,
    things: &str,
    count: Option<u64>,
) -> Result<u32, TopologyError> {
    let small = count.and_then(|count| u32::try_from(count).ok());
    small.filter(|&count| count <= MAX_NODES).ok_or_else(|| {
        let count = count.map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string());
        parameter_error(
            parameter,
            format!("this makes {count} {things}, expected at most {MAX_NODES}"),
        )
    })
}

/// Checks the number of ports that the parameters give every switch.
pub(in crate::topology) fn port_count(
    parameter: &'static str,
    count: u64,
) -> Result<u16, TopologyError> {
    match u16::try_from(count) {
        Ok(ports) if ports <= MAX_PORTS => Ok(ports),
        _ => Err(parameter_error(
            parameter,
            format!("this makes switches of {count} ports, expected at most {MAX_PORTS}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_limit() {
        assert_eq!(
            port_count("k", 400).unwrap_err().to_string(),
            "`k`: this makes switches of 400 ports, expected at most 254"
        );
        assert_eq!(
            node_count("n", "hosts", None).unwrap_err().to_string(),
            "`n`: this makes more than 2^64 hosts, expected at most 1000000"
        );
        assert_eq!(
            at_least("k", 1, 2).unwrap_err().to_string(),
            "`k`: 1 is too small, expected at least 2"
        );
    }
}
