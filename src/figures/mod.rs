//! Figures of studies and runs. A new one is a new file and a line in `STUDY_FIGURES` or `RUN_FIGURES`.

mod accepted_load;
mod congestion;
mod distribution;
mod flows;
mod heat_map;
mod latency_curves;
mod multiples;
mod stages;
mod timeline;

use crate::chart::{ChartError, Svg};
use crate::results::{Curves, ResultsError, Run};

/// A finished figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of its file, without ending.
    pub name: &'static str,
    /// How to read it.
    pub caption: String,
    /// The drawing.
    pub svg: Svg,
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// It cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
}

/// A figure, or nothing when there is nothing to show.
type Drawn = Result<Option<Figure>, FigureError>;

/// Figures of all runs together.
const STUDY_FIGURES: &[fn(&Curves<'_>) -> Drawn] = &[
    accepted_load::draw,
    latency_curves::draw_mean,
    latency_curves::draw_tail,
];

/// Figures of one run.
const RUN_FIGURES: &[fn(&Run) -> Drawn] = &[
    distribution::draw,
    flows::completion::draw,
    flows::slowdown::draw,
    flows::rates::draw,
    heat_map::draw,
    timeline::draw,
    congestion::draw,
    stages::draw,
];

/// All figures of a study that have something to show.
///
/// # Errors
/// When results cannot be read or a figure cannot be drawn.
pub fn of_study(curves: &Curves<'_>) -> Result<Vec<Figure>, FigureError> {
    let figures = STUDY_FIGURES.iter();
    figures
        .filter_map(|draw| draw(curves).transpose())
        .collect()
}

/// All figures of a run that have something to show.
///
/// # Errors
/// As [`of_study`].
pub fn of_run(run: &Run) -> Result<Vec<Figure>, FigureError> {
    let figures = RUN_FIGURES.iter();
    figures.filter_map(|draw| draw(run).transpose()).collect()
}
