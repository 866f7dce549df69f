//! Draws layers against links: one panel per network size, one curve per granularity.

use crate::chart::axis::{Axis, Scale};
use crate::chart::lines::Mark;
use crate::chart::theme::SIZE;
use crate::chart::{Canvas, LineChart, Series};
use crate::error::Error;
use crate::routing::layers::study::Point;

/// The plot as SVG text: means as thick lines, the largest counts as thin ones.
///
/// # Errors
/// When drawing fails, which the SVG form gives no reason for.
pub(super) fn svg(points: &[Point]) -> Result<String, Error> {
    let panels: Vec<LineChart> = points
        .chunk_by(|a, b| a.switches == b.switches)
        .map(panel)
        .collect();
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (SIZE.0 * columns as u32, SIZE.1 * rows as u32);
    let svg = Canvas::draw(size, |area| {
        let parts = area.split_evenly((rows, columns));
        let pairs = parts.iter().zip(&panels);
        let told: Result<Vec<_>, _> = pairs.map(|(part, panel)| panel.draw(part)).collect();
        Ok(told?.concat())
    })?;
    Ok(svg.standalone())
}

/// One panel.
fn panel(points: &[Point]) -> LineChart {
    let same = |a: &Point, b: &Point| a.granularity == b.granularity;
    let curves = points.chunk_by(same).enumerate();
    let series = curves.flat_map(|(number, curve)| {
        let name = format!("{:?}", curve[0].granularity).to_lowercase();
        let marks = |layers: fn(&Point) -> f64| {
            let points = curve.iter();
            points
                .map(|point| Mark::new(f64::from(point.links), layers(point)))
                .collect()
        };
        let mean = Series::new(
            format!("{name}: mean (thin: most)"),
            number,
            marks(|p| p.mean),
        );
        let most = Series {
            width: 1,
            ..Series::new("", number, marks(|p| f64::from(p.most)))
        };
        [mean.plain(), most.plain()]
    });
    let links = points.iter().map(|point| f64::from(point.links));
    let least = links.clone().fold(f64::MAX, f64::min).max(1.0);
    LineChart {
        title: format!("{} switches", points[0].switches),
        remark: String::new(),
        x: Axis {
            label: "links [number]".into(),
            scale: Scale::Logarithmic,
            range: least..links.fold(least + 1.0, f64::max),
        },
        y: Axis::from_zero(
            "layers [number]",
            points.iter().map(|point| f64::from(point.most)),
        ),
        series: series.collect(),
        guides: Vec::new(),
    }
}
