//! `graph.json`: what tables cannot say about a graph that this program wrote.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use treering_graph::{Features, Graph, Origin};

use crate::open::open_file;
use crate::{Context, Fault, Result};

/// The file's name in the folder.
pub(super) const FILE: &str = "graph.json";

const FORMAT: &str = "treering folder";
const VERSION: u64 = 1;

/// The content of `graph.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Description {
    format: String,
    version: u64,
    name: String,
    synthetic: Option<String>,
    pub(super) directed: bool,
    pub(super) features: Shape,
    pub(super) classes: Vec<String>,
    pub(super) nodes: usize,
}

/// What the features are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) kind: FeatureKind,
    pub(super) columns: usize,
}

/// How the features are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FeatureKind {
    Dense,
    Sparse,
}

impl Description {
    pub(super) fn of(graph: &Graph) -> Self {
        let kind = match graph.features() {
            Features::Dense(_) => FeatureKind::Dense,
            Features::Sparse(_) => FeatureKind::Sparse,
        };
        let origin = graph.origin();
        Description {
            format: FORMAT.into(),
            version: VERSION,
            name: origin.name.clone(),
            synthetic: origin.synthetic.clone(),
            directed: !graph.arcs().is_symmetric(),
            features: Shape {
                kind,
                columns: graph.features().columns(),
            },
            classes: graph.labels().map_or(Vec::new(), |l| l.names().to_vec()),
            nodes: graph.nodes(),
        }
    }

    /// Reads the file and checks that it is one of ours.
    pub(super) fn read(path: &Path, context: &Context<'_>) -> Result<Self> {
        let told = |error| Fault::from_io(error).at(path);
        let mut file = open_file(path)?;
        context.take(path, file.metadata().map_err(told)?.len())?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(told)?;
        let read: Description = serde_json::from_str(&text).map_err(|error| {
            let why = error.to_string();
            let column = error.column().to_string();
            Fault::Damaged { why }
                .at(path)
                .line(error.line() as u64)
                .column(column)
        })?;
        read.check().map_err(|fault| fault.at(path))?;
        Ok(read)
    }

    fn check(&self) -> std::result::Result<(), Fault> {
        if self.format != FORMAT {
            return Err(Fault::UnknownFormat {
                found: self.format.clone(),
            });
        }
        if self.version != VERSION {
            return Err(Fault::Version {
                found: self.version.to_string(),
                expected: "1",
            });
        }
        if self.features.columns > u32::MAX as usize {
            return Err(Fault::BadValue {
                text: self.features.columns.to_string(),
                expected: "a number of feature columns",
            });
        }
        match repeated(&self.classes) {
            Some(name) => Err(Fault::BadValue {
                text: name.to_owned(),
                expected: "the name of only one class",
            }),
            None => Ok(()),
        }
    }

    pub(super) fn origin(&self) -> Origin {
        Origin {
            name: self.name.clone(),
            synthetic: self.synthetic.clone(),
        }
    }

    pub(super) fn is_sparse(&self) -> bool {
        self.features.kind == FeatureKind::Sparse
    }
}

/// The first name that stands twice in a list.
pub(super) fn repeated(names: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    let mut names = names.iter().map(String::as_str);
    names.find(|&name| !seen.insert(name))
}
