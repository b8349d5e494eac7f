//! TWP: as EWC, with a second importance: how much a weight moves the attention between neighbours.

mod topology;

use serde::{Deserialize, Serialize};
use treering_graph::NodeId;

use super::anchor::{Anchor, Importance};
use super::{Baseline, Beside, Lesson, Strategy, Training, Turn};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::session::{Gradient, Session};
use crate::network::source::{Source, smoothed_rows};
use crate::parameters::range;

pub use topology::Form;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// How strong the pull by the loss's importance is.
    pub lambda_loss: f64,
    /// How strong the pull by the topology's importance is.
    pub lambda_topology: f64,
    /// What stands for the topology.
    pub form: Form,
    /// Count the task's own loss twice in every step, as the published code does by not clearing gradients.
    pub doubled_loss: bool,
    /// Add the loss's gradient to the topology's before that is squared, as the published code does by not clearing gradients.
    pub mixed_topology: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            lambda_loss: 1e4,
            lambda_topology: 1e4,
            form: Form::AsCoded,
            doubled_loss: false,
            mixed_topology: false,
        }
    }
}

/// The pull of all tasks learned so far.
pub struct Twp {
    parameters: Parameters,
    anchor: Anchor,
}

impl Twp {
    /// Both importances, each times its strength.
    fn importance(&self, session: &mut Session<'_, '_>, lesson: &Lesson<'_>) -> Importance {
        let mut loss = session.no_gradient();
        lesson.whole().add_loss(session, &mut loss);
        let mut topology = match self.parameters.mixed_topology {
            true => loss.clone(),
            false => session.no_gradient(),
        };
        let (arcs, outputs) = (lesson.task.graph().arcs(), session.outputs());
        let form = self.parameters.form;
        session.add_gradient(1, &mut topology, |logits, slopes| match form {
            // Outputs of classes to come, where there are any, take part as in the published code.
            Form::AsCoded => form.add(arcs, logits, outputs, slopes),
            Form::AsIntended => {
                let seen = lesson.columns.end;
                let logits = logits.chunks(outputs).flat_map(|row| &row[..seen]);
                let logits: Vec<f32> = logits.copied().collect();
                let mut by_seen = vec![0.0; logits.len()];
                let value = form.add(arcs, &logits, seen, &mut by_seen);
                for (row, from) in slopes.chunks_mut(outputs).zip(by_seen.chunks(seen)) {
                    row.iter_mut()
                        .zip(from)
                        .for_each(|(slope, &by)| *slope += by);
                }
                value
            }
        });
        let square = |slope: f64| slope * slope;
        let mut importance = Importance::of(session, &loss, square);
        importance.blend(
            self.parameters.lambda_loss,
            &Importance::of(session, &topology, square),
            self.parameters.lambda_topology,
        );
        importance
    }
}

impl Strategy for Twp {
    fn before(&mut self, lesson: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        // All nodes are read at the end only, but a session has to know all columns from the start.
        let graph = lesson.task.graph();
        let nodes: Vec<NodeId> = NodeId::first(graph.nodes()).collect();
        let all = smoothed_rows(graph, lesson.training.hops, &nodes);
        Ok(Beside {
            sources: vec![Source::rows_of(&all)],
            springs: self.anchor.springs(1.0),
        })
    }

    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        _: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let loss = turn.add_loss(session, gradient);
        if self.parameters.doubled_loss {
            let weights = gradient.first.iter_mut().chain(&mut gradient.second);
            weights.for_each(|slope| *slope *= 2.0);
        }
        loss
    }

    fn after(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
    ) -> Result<(), LearnError> {
        let importance = self.importance(session, lesson);
        self.anchor.add(&importance, session);
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.anchor.numbers()
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Twp>, LearnError> {
    for (name, lambda) in [
        ("lambda-loss", parameters.lambda_loss),
        ("lambda-topology", parameters.lambda_topology),
    ] {
        range(name, lambda, 0.0, 1e15, "between 0 and 1e15")?;
    }
    let training = parameters.training.clone();
    let strategy = Twp {
        parameters,
        anchor: Anchor::default(),
    };
    Baseline::new("twp", training, strategy)
}

#[cfg(test)]
mod tests;
