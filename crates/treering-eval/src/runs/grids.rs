//! What is kept of a search for parameters.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use treering_data::ClassOrder;
use treering_learn::registry::Settings;

use super::spec::{canonical, digest};
use super::{DataId, FORMAT, RunSpec};
use crate::Protocol;

/// One search as its file has it: what was tried, what was chosen, and which test runs were made with it. Run files know nothing of it, so the same
/// run can be made with and without a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridRecord {
    /// The version of the file.
    pub format: u32,
    /// The data.
    pub data: DataId,
    /// The order of classes.
    pub order: ClassOrder,
    /// The learner's name.
    pub learner: String,
    /// What it was shown.
    pub protocol: Protocol,
    /// The values of every searched parameter.
    pub grid: Map<String, Value>,
    /// Every combination, in the order of the grid.
    pub tried: Vec<Tried>,
    /// The one with the highest average accuracy on validation nodes, the first of equals; none where none has one for every seed.
    pub chosen: Option<Settings>,
    /// The hashes of the runs that were then asked about test nodes.
    pub test_runs: Vec<String>,
}

/// One combination of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its values.
    pub parameters: Settings,
    /// Average accuracy on validation nodes, the mean over seeds; none where a seed failed.
    pub validation_aa: Option<f64>,
    /// The hashes of its runs, one for every seed.
    pub runs: Vec<String>,
}

impl GridRecord {
    /// What was searched for, from one of the runs; nothing is tried yet.
    pub fn new(spec: &RunSpec, grid: Map<String, Value>) -> Self {
        GridRecord {
            format: FORMAT,
            data: spec.data.clone(),
            order: spec.stream.order,
            learner: spec.learner.clone(),
            protocol: spec.protocol,
            grid,
            tried: Vec::new(),
            chosen: None,
            test_runs: Vec::new(),
        }
    }

    /// SHA-256 over the grid and the hashes of all runs that were tried, which hold all the rest. What came out is no part of it: the same search has the
    /// same hash.
    pub fn hash(&self) -> String {
        let runs: Vec<&[String]> = self.tried.iter().map(|tried| &tried.runs[..]).collect();
        digest(canonical(&(&self.grid, runs)).as_bytes())
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.json", &self.hash()[..16])
    }
}
