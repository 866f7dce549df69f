//! `virtlane layers`: how many layers LASH needs on random networks, as a table and a plot.

mod plot;

use super::args::{LayerGranularity, Layers};
use super::print;
use crate::error::Error;
use crate::routing::layers::study::{Point, link_counts, point};
use crate::routing::layers::{Granularity, upper_bound};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

/// Shorter studies show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Draws the networks, counts layers and writes `layers.csv` and `layers.svg`.
///
/// # Errors
/// When a size is out of range or a file cannot be written.
pub(super) fn execute(arguments: &Layers) -> Result<ExitCode, Error> {
    if let Some(size) = arguments.switches.iter().find(|n| !(2..=1024).contains(*n)) {
        let message = format!("--switches: {size} is out of range, expected 2..=1024");
        return Err(Error::Usage(message));
    }
    fs::create_dir_all(&arguments.out).map_err(|cause| unwritable(&arguments.out, cause))?;
    let points = match arguments.threads {
        None => measure(arguments),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize);
            let pool = pool
                .build()
                .map_err(|error| Error::Fault(error.to_string()))?;
            pool.install(|| measure(arguments))
        }
    };
    write_file(&arguments.out.join("layers.csv"), &table(&points))?;
    write_file(&arguments.out.join("layers.svg"), &plot::svg(&points)?)?;
    print(&peaks(&points))?;
    Ok(ExitCode::SUCCESS)
}

/// All points, by size, granularity and links.
fn measure(arguments: &Layers) -> Vec<Point> {
    let mut wanted = Vec::new();
    for &switches in &arguments.switches {
        for &granularity in &arguments.granularity {
            let counts = link_counts(switches).into_iter();
            wanted.extend(counts.map(|links| (switches, links, library(granularity))));
        }
    }
    let started = Instant::now();
    let line = ProgressBar::hidden();
    line.set_length(wanted.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} points, {eta} left") {
        line.set_style(style);
    }
    let mut points = Vec::with_capacity(wanted.len());
    for (switches, links, granularity) in wanted {
        points.push(point(
            switches,
            links,
            granularity,
            arguments.graphs,
            arguments.seed,
        ));
        if started.elapsed() > PATIENCE {
            if line.is_hidden() {
                // indicatif draws nothing when standard error is not a terminal
                line.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            }
            line.set_position(points.len() as u64);
        }
    }
    line.finish_and_clear();
    points
}

fn library(granularity: LayerGranularity) -> Granularity {
    match granularity {
        LayerGranularity::Source => Granularity::Source,
        LayerGranularity::Pair => Granularity::Pair,
        LayerGranularity::Both => Granularity::Both,
        LayerGranularity::Hybrid => Granularity::Hybrid,
    }
}

/// The curves as CSV.
fn table(points: &[Point]) -> String {
    let mut text = String::from(
        "switches,granularity,links,mean_layers,min_layers,max_layers,units,mean_dependencies_searched\n",
    );
    for point in points {
        let Point {
            switches, links, ..
        } = point;
        let _ = writeln!(
            text,
            "{switches},{:?},{links},{:.3},{},{},{},{:.1}",
            point.granularity, point.mean, point.least, point.most, point.units, point.searched
        );
    }
    text
}

/// The highest point of every curve, for people.
fn peaks(points: &[Point]) -> String {
    let mut text = String::from("switches  granularity  peak mean  at links  most ever  bound\n");
    let same = |a: &Point, b: &Point| (a.switches, a.granularity) == (b.switches, b.granularity);
    for curve in points.chunk_by(same) {
        let most = curve.iter().map(|point| point.most).max().unwrap_or(0);
        let peak = curve.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
        if let Some(peak) = peak {
            let granularity = format!("{:?}", peak.granularity);
            let bound = upper_bound(peak.switches as usize);
            let (switches, mean, links) = (peak.switches, peak.mean, peak.links);
            let _ = writeln!(
                text,
                "{switches:>8}  {granularity:11}  {mean:>9.2}  {links:>8}  {most:>9}  {bound:>5}"
            );
        }
    }
    text
}

fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|cause| unwritable(path, cause))
}

fn unwritable(path: &Path, cause: io::Error) -> Error {
    let path: PathBuf = path.into();
    Error::Write {
        path: path.display().to_string(),
        cause,
    }
}
