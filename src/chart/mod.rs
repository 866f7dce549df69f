//! Charts as SVG: axes, curves, bars and coloured cells in one look, for light and dark pages, files and paper.
//!
//! A chart is drawn once, in the colours of paper. [`Svg`] then turns it into a file of its own, into part of a page
//! whose style sheet decides the colours, or into pixels. Every series has a dash and a marker beside its colour, and
//! colour maps grow evenly lighter, so that nothing depends on colour vision.

pub mod axis;
pub mod bars;
pub mod canvas;
pub mod color_map;
pub mod lines;
pub mod panels;
mod paths;
pub mod png;
pub mod svg;
pub mod theme;

pub use axis::{Axis, Scale};
pub use canvas::{Area, Canvas, Hover, Spot};
pub use lines::{LineChart, Series};
pub use svg::Svg;

/// Why a chart cannot be drawn or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the figure: {0}")]
pub struct ChartError(String);

impl ChartError {
    /// What a drawing library complains of.
    pub(crate) fn new(cause: impl std::fmt::Display) -> Self {
        Self(cause.to_string())
    }
}
