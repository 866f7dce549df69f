//! What the simulation of a cycle costs, stage by stage.

use super::{Figure, FigureError};
use crate::chart::bars::{Bar, bars, three_digits};
use crate::results::Run;

/// Draws the stages of a run with `--profile`.
pub(super) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let stages = &run.summary.stages;
    if stages.is_empty() {
        return Ok(None);
    }
    let rows: Vec<Bar> = stages
        .iter()
        .map(|stage| Bar {
            name: stage.name.clone(),
            value: stage.ns_per_cycle,
            note: format!(
                "{} ns, {} %",
                three_digits(stage.ns_per_cycle),
                three_digits(stage.share * 100.0)
            ),
        })
        .collect();
    let title = "Cost of the simulation, by stage";
    let svg = bars(title, "processor time [ns per simulated cycle]", &rows)?;
    let caption = "Processor time of all threads for one simulated cycle of the whole fabric, in the order of the stages \
                   of a cycle. `virtlane schedule` says what each does."
        .to_owned();
    Ok(Some(Figure {
        name: "stages",
        caption,
        svg,
    }))
}
