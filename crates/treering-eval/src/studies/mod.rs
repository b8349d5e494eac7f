//! Studies: what a bench finds out about its tasks beside its runs, one file each in `DIR/studies`. docs/report.md has the fields.

mod embeddings;
mod pair;
mod principal;
mod profiles;

use serde::{Deserialize, Serialize};
use treering_data::{ClassOrder, Grouping, Progress, Stream};
use treering_graph::Graph;
use treering_learn::LearnError;

use crate::runs::DataId;
use crate::runs::spec::{canonical, digest};

/// The version of study files that can be read.
pub const FORMAT: u32 = 1;

/// One study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The version of the file.
    pub format: u32,
    /// The data's name.
    pub data: String,
    /// The data's content.
    pub checksum: String,
    /// Whether a generator made it up.
    pub synthetic: bool,
    /// The seed of stream and learner.
    pub seed: u64,
    /// The order of classes.
    pub order: ClassOrder,
    /// Classes per task, where all have the same number.
    pub classes_per_task: Option<usize>,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What a study found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// How far the profiles of tasks are from each other.
    ProfileDistances(ProfileDistances),
    /// A task's embeddings before and after its prompt.
    Embeddings(Embeddings),
    /// How two tasks differ.
    PairDifference(PairDifference),
}

/// How far the profiles of tasks are from each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileDistances {
    /// The tasks' names.
    pub tasks: Vec<String>,
    /// Steps of smoothing.
    pub steps: usize,
    /// Euclidean. Row i: the prototype of task i's test nodes; column j: the prototype of task j's train nodes.
    pub distances: Vec<Vec<f64>>,
}

/// A task's embeddings in two dimensions: x, y and the class of every node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embeddings {
    /// The task, from 0.
    pub task: usize,
    /// The classes' names.
    pub classes: Vec<String>,
    /// Without the prompt.
    pub before: Vec<(f64, f64, usize)>,
    /// With it.
    pub after: Vec<(f64, f64, usize)>,
    /// How much of the variance the two axes have.
    pub share: Shares,
}

/// Shares of variance of two axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Without the prompt.
    pub before: [f64; 2],
    /// With it.
    pub after: [f64; 2],
}

/// How two tasks differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairDifference {
    /// The tasks' names.
    pub tasks: [String; 2],
    /// Quantiles of the root of nodes' degrees.
    pub degrees: Degrees,
    /// The attributes that differ most.
    pub attributes: Attributes,
    /// The norm of the difference in degrees.
    pub structure: f64,
    /// The norm of the difference in attributes.
    pub attribute: f64,
}

/// Quantiles of the root of nodes' degrees, from the lowest to the highest at even steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Degrees {
    /// Of the first task.
    pub first: Vec<f64>,
    /// Of the second.
    pub second: Vec<f64>,
}

/// Means of some attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// Which columns.
    pub columns: Vec<usize>,
    /// Over the first task's nodes.
    pub first: Vec<f64>,
    /// Over the second's.
    pub second: Vec<f64>,
}

/// What can be studied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// See [`ProfileDistances`].
    ProfileDistances,
    /// See [`Embeddings`].
    Embeddings,
    /// See [`PairDifference`].
    PairDifference,
}

impl Kind {
    /// The name of a study's file. It covers what the study depends on, so what is there need not be done again.
    pub fn file_name(self, data: &DataId, stream: &Stream, seed: u64) -> String {
        let key = canonical(&(FORMAT, self, data, &stream.options, seed));
        format!("{}-{}.json", self.name(), &digest(key.as_bytes())[..16])
    }

    /// As files have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ProfileDistances => "profile-distances",
            Kind::Embeddings => "embeddings",
            Kind::PairDifference => "pair-difference",
        }
    }

    /// Studies the tasks of a stream; nothing where it has too few of them.
    ///
    /// # Errors
    /// A learner that refuses the stream.
    pub fn study(
        self,
        graph: &Graph,
        data: &DataId,
        stream: &Stream,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<Study>, LearnError> {
        if stream.tasks.len() < 2 {
            return Ok(None);
        }
        let finding = match self {
            Kind::ProfileDistances => {
                Finding::ProfileDistances(profiles::distances(graph, stream, seed)?)
            }
            Kind::Embeddings => {
                Finding::Embeddings(embeddings::embeddings(graph, stream, seed, progress)?)
            }
            Kind::PairDifference => Finding::PairDifference(pair::difference(graph, stream)),
        };
        Ok(Some(Study {
            format: FORMAT,
            data: data.name.clone(),
            checksum: data.checksum.clone(),
            synthetic: graph.origin().synthetic.is_some(),
            seed,
            order: stream.options.order,
            classes_per_task: match stream.options.grouping {
                Grouping::PerTask(classes) => Some(classes),
                Grouping::Groups(_) => None,
            },
            finding,
        }))
    }
}

/// What a task is called in a figure: its classes.
fn name(graph: &Graph) -> String {
    let names = graph.labels().map(|labels| labels.names().join(", "));
    names.unwrap_or_default()
}

impl Study {
    /// Why its parts do not fit together, if they do not.
    pub fn contradiction(&self) -> Option<&'static str> {
        match &self.finding {
            Finding::ProfileDistances(found) => {
                let tasks = found.tasks.len();
                let square = found.distances.len() == tasks
                    && found.distances.iter().all(|row| row.len() == tasks);
                (!square).then_some("`distances` has to have a row and a column for every task")
            }
            Finding::Embeddings(found) => {
                let points = found.before.iter().chain(&found.after);
                let known = points.map(|point| point.2).max() < Some(found.classes.len());
                let some = !found.before.is_empty() && !found.after.is_empty();
                (!(known && some))
                    .then_some("every point has to have a class, and there have to be points")
            }
            Finding::PairDifference(found) => {
                let (degrees, attributes) = (&found.degrees, &found.attributes);
                let even = degrees.first.len() == degrees.second.len()
                    && degrees.first.len() > 1
                    && attributes.first.len() == attributes.columns.len()
                    && attributes.second.len() == attributes.columns.len();
                (!even)
                    .then_some("both tasks have to have as many quantiles and as many attributes")
            }
        }
    }
}

#[cfg(test)]
mod tests;
