//! EWC: every weight is pulled back to where old tasks left it, the more the steeper their losses were there.

mod fisher;

use serde::{Deserialize, Serialize};

use super::anchor::Anchor;
use super::{Baseline, Beside, Lesson, Strategy, Training};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::session::Session;
use crate::parameters::range;

pub use fisher::Fisher;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// How strong the pull is.
    pub lambda: f64,
    /// How the importance of a weight is estimated. Always over all train rows of a task at once, in whatever batches it was trained.
    pub fisher: Fisher,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            lambda: 1e4,
            fisher: Fisher::SquaredMean,
        }
    }
}

/// The pull of all tasks learned so far.
pub struct Ewc {
    lambda: f64,
    fisher: Fisher,
    anchor: Anchor,
}

impl Strategy for Ewc {
    fn before(&mut self, _: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        Ok(Beside {
            springs: self.anchor.springs(self.lambda),
            ..Beside::default()
        })
    }

    fn after(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
    ) -> Result<(), LearnError> {
        let importance = self.fisher.importance(session, lesson);
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
pub fn learner(parameters: Parameters) -> Result<Baseline<Ewc>, LearnError> {
    let Parameters {
        training,
        lambda,
        fisher,
    } = parameters;
    range("lambda", lambda, 0.0, 1e15, "between 0 and 1e15")?;
    let strategy = Ewc {
        lambda,
        fisher,
        anchor: Anchor::default(),
    };
    Baseline::new("ewc", training, strategy)
}
