//! How busy every channel was, drawn on the topology.
//!
//! Grids of one or two dimensions (and slices of three) are a surface map of switches with their channels; regular
//! trees and other networks of kinds or levels of channels are strips, one per kind; all others are the channels sorted
//! by their use.

mod grid;
mod sorted;
mod strips;

use super::{Figure, FigureError};
use crate::results::Run;
use crate::results::tables::ChannelUse;
use crate::topology::{Graph, Shape};
use std::ops::Range;

/// What colours mean.
const LABEL: &str = "utilisation [fraction of time a channel carries flits]";

/// Draws the form that fits the fabric.
pub(super) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let channels = run.channels()?;
    let most = channels
        .iter()
        .map(|channel| channel.utilisation)
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return Ok(None);
    }
    let graph = run.graph(&channels);
    if let Some(graph) = &graph
        && let Shape::Grid(shape) = graph.shape()
        && let Some(layout) = grid::Layout::new(shape)
    {
        return grid::draw(&layout, graph, &channels).map(Some);
    }
    match strips::kinds(graph.as_ref(), &channels) {
        Some(kinds) => strips::draw(&kinds, &channels).map(Some),
        None => sorted::draw(&channels).map(Some),
    }
}

/// What the colours go over: the shares there are, so that differences show where all channels are about as busy.
struct Shades(Range<f64>);

impl Shades {
    /// From the least share to the largest, to round numbers; over at least [`Self::NARROWEST`].
    fn over(shares: impl IntoIterator<Item = f64>) -> Self {
        let (least, most) = shares
            .into_iter()
            .fold((f64::MAX, 0.0), |(least, most), share| {
                (f64::min(least, share), f64::max(most, share))
            });
        let span = (most - least.min(most)).max(Self::NARROWEST);
        let step = libm::pow(10.0, libm::log10(span).floor()) / 2.0;
        let start = ((least.min(most) / step).floor() * step).max(0.0);
        let end = (most / step).ceil() * step;
        Self(start..end.max(start + Self::NARROWEST))
    }

    /// Less than this is no difference: colours do not show it.
    const NARROWEST: f64 = 0.01;

    /// Where a share is on the scale, from 0 to 1.
    fn place(&self, share: f64) -> f64 {
        (share - self.0.start) / (self.0.end - self.0.start)
    }

    /// A remark for scales that do not start at 0.
    fn caption(&self) -> String {
        match self.0.start {
            0.0 => String::new(),
            start => {
                let start = format!("{start:.4}");
                let start = start.trim_end_matches('0');
                format!(" The scale of colours starts at {start}, not at 0.")
            }
        }
    }
}

/// Use of the busiest channel out of a switch, to hosts too, `[switch]`; `None` for a switch without.
fn busiest(graph: &Graph, channels: &[ChannelUse]) -> Vec<Option<f64>> {
    let of_switch = |switch| {
        let ports = graph.connected_ports(switch);
        let uses = ports.map(|(_, channel)| channels[channel.index()].utilisation);
        uses.reduce(f64::max)
    };
    graph.switch_ids().map(of_switch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_go_over_what_there_is() {
        let range = |shares: &[f64]| {
            let Range { start, end } = Shades::over(shares.iter().copied()).0;
            [start, end].map(|end| (end * 1000.0).round() as u32)
        };
        assert_eq!(range(&[0.471, 0.589]), [450, 600]);
        assert_eq!(range(&[0.0, 0.93]), [0, 950]);
        assert_eq!(range(&[0.5, 0.5]), [500, 510]);
        let shades = Shades::over([0.471, 0.589]);
        assert!(shades.place(0.471) < 0.2 && shades.place(0.589) > 0.9);
        assert!(shades.caption().contains("starts at 0.45,"));
        let caption = Shades::over([0.0151, 0.0199]).caption();
        assert!(caption.contains("starts at 0.015,"), "{caption}");
    }
}
