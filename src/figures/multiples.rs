//! Curves of a study in one chart, or in small multiples where there are more than one chart tells apart.

use super::FigureError;
use crate::chart::lines::Mark;
use crate::chart::panels::panels;
use crate::chart::theme::SERIES;
use crate::chart::{LineChart, Series, Svg};
use crate::report::summary::Summary;
use crate::results::{Curve, Curves};

/// Most curves of a chart: as many as there are colours, dashes and marks.
const MOST_CURVES: usize = SERIES.len();
/// Curves of a chart out of several, where nothing says which belong together.
const FEW: usize = 6;

/// One series per curve.
pub(super) fn series(curves: &Curves<'_>, number: fn(&Summary) -> Option<f64>) -> Vec<Series> {
    let all = curves.curves.iter().enumerate().map(|(place, curve)| {
        let points = marks(curve, number);
        Series::new(curve.label.clone(), place, points)
    });
    all.collect()
}

fn marks(curve: &Curve<'_>, number: fn(&Summary) -> Option<f64>) -> Vec<Mark> {
    let points = curve.points.iter().filter_map(|point| {
        let interval = point.mean(number)?;
        Some(Mark {
            x: point.x,
            y: interval.mean,
            half_width: interval.half_width,
            is_open: !point.keeps_up(),
        })
    });
    points.collect()
}

/// Whether there are more curves than one chart tells apart.
pub(super) fn is_split(curves: &Curves<'_>) -> bool {
    curves.curves.len() > MOST_CURVES
}

/// The chart whose series are those of all curves, or several with the same axes that have them all.
pub(super) fn drawn(curves: &Curves<'_>, chart: LineChart) -> Result<Svg, FigureError> {
    if !is_split(curves) {
        return Ok(chart.svg()?);
    }
    let parts: Vec<&[String]> = curves.curves.iter().map(|curve| &curve.parts[..]).collect();
    let charts: Vec<LineChart> = split(&parts)
        .into_iter()
        .map(|Panel { title, curves }| {
            let series = curves.into_iter().map(|(curve, number, name)| Series {
                name,
                number,
                ..chart.series[curve].clone()
            });
            LineChart {
                title,
                series: series.collect(),
                ..chart.clone()
            }
        })
        .collect();
    let remark = format!("{} curves; all parts have the same axes", parts.len());
    Ok(panels(&chart.title, &remark, &charts)?)
}

/// One chart of several.
#[derive(Debug, PartialEq, Eq)]
struct Panel {
    title: String,
    /// Curve, number of its colour, name.
    curves: Vec<(usize, usize, String)>,
}

/// Which curves go together: those with the same word for the setting that gives the fewest charts, in which other words
/// have the same colour everywhere; without such a setting those next to each other.
fn split(parts: &[&[String]]) -> Vec<Panel> {
    let settings = parts.iter().map(|parts| parts.len()).min().unwrap_or(0);
    let rest = |curve: usize, setting: usize| -> String {
        let words = parts[curve].iter().enumerate();
        let words = words.filter(|(place, _)| *place != setting);
        let words: Vec<&str> = words.map(|(_, word)| word.as_str()).collect();
        words.join(", ")
    };
    let choices = (0..settings).filter_map(|setting| {
        let mut names: Vec<String> = Vec::new();
        let mut panels: Vec<Panel> = Vec::new();
        for (curve, words) in parts.iter().enumerate() {
            let name = rest(curve, setting);
            let known = names.iter().position(|other| *other == name);
            let number = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(name.clone());
            }
            let title = &words[setting];
            let entry = (curve, number, name);
            match panels.iter_mut().find(|panel| panel.title == *title) {
                Some(panel) => panel.curves.push(entry),
                None => panels.push(Panel {
                    title: title.clone(),
                    curves: vec![entry],
                }),
            }
        }
        let is_clear = names.len() <= MOST_CURVES && settings > 1;
        is_clear.then_some(panels)
    });
    choices.min_by_key(Vec::len).unwrap_or_else(|| {
        let all: Vec<usize> = (0..parts.len()).collect();
        let chunks = all.chunks(FEW).map(|chunk| Panel {
            title: format!("curves {} to {}", chunk[0] + 1, chunk[chunk.len() - 1] + 1),
            curves: chunk
                .iter()
                .zip(0..)
                .map(|(&curve, number)| (curve, number, parts[curve].join(", ")))
                .collect(),
        });
        chunks.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels_of(curves: &[Vec<String>]) -> Vec<Panel> {
        let parts: Vec<&[String]> = curves.iter().map(|parts| &parts[..]).collect();
        split(&parts)
    }

    #[test]
    fn curves_with_the_same_word_go_together_in_the_same_colors() {
        let curves: Vec<Vec<String>> = (0..28)
            .map(|number| {
                vec![
                    format!("engine {}", number / 4),
                    format!("pattern {}", number % 4),
                ]
            })
            .collect();
        let panels = panels_of(&curves);
        assert_eq!(panels.len(), 4);
        assert_eq!(panels[1].title, "pattern 1");
        assert_eq!(panels[1].curves[2], (9, 2, "engine 2".to_owned()));
    }

    #[test]
    fn no_curve_is_left_out_and_none_has_the_colors_of_another_one_beside_it() {
        for count in [13, 20, 40, 100] {
            for settings in 1..4 {
                let curves: Vec<Vec<String>> = (0..count)
                    .map(|number| {
                        let words = (0..settings).map(|at| match at {
                            0 => format!("{}", number / 3),
                            at => format!("{}", (number / at) % 3),
                        });
                        words.collect()
                    })
                    .collect();
                let panels = panels_of(&curves);
                let mut all: Vec<usize> = Vec::new();
                for panel in &panels {
                    let numbers = panel.curves.iter().map(|curve| curve.1);
                    let numbers: std::collections::BTreeSet<usize> = numbers.collect();
                    assert_eq!(numbers.len(), panel.curves.len(), "{panel:?}");
                    assert!(numbers.last() < Some(&MOST_CURVES), "{panel:?}");
                    all.extend(panel.curves.iter().map(|curve| curve.0));
                }
                all.sort_unstable();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                if settings == 1 {
                    let numbers = panels.iter().map(|panel| panel.curves.len());
                    assert!(numbers.max().unwrap() <= FEW);
                }
            }
        }
    }
}
