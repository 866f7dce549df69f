//! `virtlane plot`: the figures of a report as files.

use crate::chart::png::png;
use crate::error::Error;
use crate::figures::{Figure, of_run, of_study};
use crate::report::directory::replace_file;
use crate::results::{Curves, Detailed, Results};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Forms of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FigureFormat {
    /// Drawing, for pages and papers.
    Svg,
    /// Pixels, two per unit, with a font of its own.
    Png,
}

/// Arguments of `plot`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  virtlane plot runs/10-ary-3-tree-uniform-1\n  virtlane plot runs/load-* --format \
                        svg,png --out figures"
)]
pub struct Plot {
    /// Run directories, sweep directories or folders of run directories
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Forms of the files
    #[arg(
        long,
        value_enum,
        value_name = "FORM,..",
        value_delimiter = ',',
        default_value = "svg"
    )]
    pub format: Vec<FigureFormat>,
    /// Folder for the files; default: figures in the first directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Writes the figures and prints their paths.
///
/// # Errors
/// When results cannot be read or a file cannot be written.
pub(super) fn execute(arguments: &Plot) -> Result<ExitCode, Error> {
    let results = Results::read(&arguments.directories)?;
    let figures = figures(&results)?;
    let out = match &arguments.out {
        Some(folder) => folder.clone(),
        None => arguments.directories[0].join("figures"),
    };
    fs::create_dir_all(&out).map_err(|cause| Error::Write {
        path: out.display().to_string(),
        cause,
    })?;
    let mut written = String::new();
    for (name, figure) in &figures {
        for format in &arguments.format {
            let (ending, content) = match format {
                FigureFormat::Svg => ("svg", figure.svg.standalone().into_bytes()),
                FigureFormat::Png => ("png", png(&figure.svg)?),
            };
            let path = out.join(format!("{name}.{ending}"));
            replace_file(&path, &content)?;
            let _ = writeln!(written, "{}", path.display());
        }
    }
    super::print(&written)?;
    Ok(ExitCode::SUCCESS)
}

/// Figures with the names of their files: those of runs start with the name of the run where there are several.
fn figures(results: &Results) -> Result<Vec<(String, Figure)>, Error> {
    let curves = Curves::new(results)?;
    let mut all: Vec<(String, Figure)> = of_study(&curves)?
        .into_iter()
        .map(|figure| (figure.name.to_owned(), figure))
        .collect();
    let runs = curves.detailed();
    for (number, Detailed { run, .. }) in (1..).zip(&runs) {
        for figure in of_run(run)? {
            let directory = run.path.file_name().unwrap_or_default().to_string_lossy();
            let name = match runs.len() {
                1 => figure.name.to_owned(),
                _ => format!("{number}-{directory}-{}", figure.name),
            };
            all.push((name, figure));
        }
    }
    Ok(all)
}
