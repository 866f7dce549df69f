//! `claims.csv` of a run or sweep.

use super::ResultsError;
use serde::Deserialize;
use std::path::Path;

/// Name of the file.
const FILE: &str = "claims.csv";

/// A claim and what became of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claim {
    /// What it says.
    pub claim: String,
    /// Relation, expected value and tolerance.
    pub relation: String,
    /// What the source says.
    pub published: Option<f64>,
    /// What was found.
    pub found: Option<f64>,
    /// The middle of the interval that it is an end of, else the same; absent in files of older versions.
    #[serde(default)]
    pub estimate: Option<f64>,
    /// How the seeds became one value.
    pub seeds: String,
    /// `reproduced`, `ordering only`, `differs` or `fails`.
    pub verdict: String,
    /// Where the value comes from.
    pub source: String,
    /// Why the value is not the source's.
    pub deviation: String,
}

/// The claims of a directory; none where it has no such file.
///
/// # Errors
/// When the file is damaged.
pub(super) fn read(directory: &Path) -> Result<Vec<Claim>, ResultsError> {
    let path = directory.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let damaged = |cause: csv::Error| ResultsError::new(&path, format!("is damaged: {cause}"));
    let reader = csv::Reader::from_path(&path).map_err(damaged)?;
    reader
        .into_deserialize()
        .collect::<Result<_, _>>()
        .map_err(damaged)
}
