//! Draws layers against links: one panel per network size, one curve per granularity.

use crate::error::Error;
use crate::routing::layer_study::Point;
use plotters::prelude::*;

/// Colours of the granularities, in the order of their first points; readable without colour vision.
const COLORS: [RGBColor; 4] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 50, 32),
    RGBColor(26, 133, 85),
    RGBColor(120, 80, 160),
];

/// Size of one panel \[pixels\].
const PANEL: (u32, u32) = (520, 340);

/// The plot as SVG text: means as thick lines, the largest counts as thin ones.
///
/// # Errors
/// When drawing fails, which the SVG form gives no reason for.
pub(super) fn svg(points: &[Point]) -> Result<String, Error> {
    let panels: Vec<&[Point]> = points.chunk_by(|a, b| a.switches == b.switches).collect();
    let columns = panels.len().clamp(1, 2) as u32;
    let rows = (panels.len() as u32).div_ceil(columns).max(1);
    let mut text = String::new();
    let size = (PANEL.0 * columns, PANEL.1 * rows);
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = area.fill(&WHITE).map_err(fault).and_then(|()| {
            let parts = area.split_evenly((rows as usize, columns as usize));
            let pairs = parts.iter().zip(&panels);
            pairs
                .into_iter()
                .try_for_each(|(part, panel)| draw(part, panel))
        });
        drawn.and_then(|()| area.present().map_err(fault))?;
    }
    Ok(text)
}

fn fault(error: impl std::fmt::Display) -> Error {
    Error::Fault(format!("cannot draw the plot: {error}"))
}

/// One panel.
fn draw(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    points: &[Point],
) -> Result<(), Error> {
    let Some(first) = points.first() else {
        return Ok(());
    };
    let links = points.iter().map(|point| f64::from(point.links));
    let (least, most) = links.fold((f64::MAX, 1.0), |(a, b), x| {
        (f64::min(a, x), f64::max(b, x))
    });
    let top = points.iter().map(|point| point.most).max().unwrap_or(1);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{} switches", first.switches), ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(38)
        .build_cartesian_2d(
            (least.max(1.0)..most.max(least + 1.0)).log_scale(),
            // room above the curves for the legend
            0.0..f64::from(top) * 1.25 + 1.0,
        )
        .map_err(fault)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("links")
        .y_desc("layers")
        .x_labels(5)
        .x_label_formatter(&|links| format!("{links:.0}"))
        .y_label_formatter(&|layers| format!("{layers:.0}"))
        .draw()
        .map_err(fault)?;
    let same = |a: &Point, b: &Point| a.granularity == b.granularity;
    for (number, curve) in points.chunk_by(same).enumerate() {
        let color = COLORS[number % COLORS.len()];
        let mean = curve.iter().map(|p| (f64::from(p.links), p.mean));
        let most = curve
            .iter()
            .map(|p| (f64::from(p.links), f64::from(p.most)));
        let name = format!("{:?}", curve[0].granularity).to_lowercase();
        chart
            .draw_series(LineSeries::new(mean, color.stroke_width(2)))
            .map_err(fault)?
            .label(format!("{name}: mean (thin: most)"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        chart
            .draw_series(LineSeries::new(most, color.mix(0.5)))
            .map_err(fault)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()
        .map_err(fault)?;
    Ok(())
}
