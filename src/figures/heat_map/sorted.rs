//! Channels sorted by their use, for fabrics without a regular form.

use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::chart::{LineChart, Series};
use crate::figures::{Figure, FigureError};
use crate::results::tables::ChannelUse;

/// Draws one curve for channels between switches and one for those of hosts.
pub(super) fn draw(channels: &[ChannelUse]) -> Result<Figure, FigureError> {
    let (of_hosts, between): (Vec<_>, Vec<_>) =
        channels.iter().partition(|channel| channel.is_of_host());
    let kinds = [("between switches", between), ("of hosts", of_hosts)];
    let with_some = kinds
        .into_iter()
        .filter(|(_, channels)| !channels.is_empty());
    let series = with_some.enumerate().map(|(number, (name, mut channels))| {
        channels.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
        let count = channels.len();
        let points = (0..).zip(&channels).flat_map(|(place, channel)| {
            // a step per channel
            [place, place + 1]
                .map(|end| Mark::new(100.0 * f64::from(end) / count as f64, channel.utilisation))
        });
        Series::new(format!("{count} channels {name}"), number, points.collect()).plain()
    });
    let series: Vec<Series> = series.collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let chart = LineChart {
        title: "Use of channels, the busiest first".into(),
        remark: String::new(),
        x: Axis {
            range: 0.0..100.0,
            ..Axis::from_zero("channels [%]", [])
        },
        y: Axis::from_zero(
            "utilisation [fraction of time]",
            points().map(|point| point.y),
        ),
        series,
        guides: Vec::new(),
    };
    Ok(Figure {
        name: "channel-utilisation",
        caption: CAPTION.to_owned(),
        svg: chart.svg()?,
    })
}

const CAPTION: &str = "Share of the window in which a channel carried flits. A flat curve is balanced; a steep start is a few \
     channels that carry most.";
