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

/// Explains shares above 1.
fn above_one(channels: &[ChannelUse]) -> &'static str {
    if channels.iter().any(|channel| channel.utilisation > 1.0) {
        " A packet counts whole in the cycle it starts, so a short window can show a little more than 1."
    } else {
        ""
    }
}

/// The top of the colour scale: the busiest channel, rounded up to a tenth.
fn top(channels: &[ChannelUse]) -> f64 {
    let most = channels
        .iter()
        .map(|channel| channel.utilisation)
        .fold(0.0, f64::max);
    (most * 10.0).ceil().max(1.0) / 10.0
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
