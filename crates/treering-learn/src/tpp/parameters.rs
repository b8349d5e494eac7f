//! Everything about TPP that can be set, checked once before any work.

use serde::{Deserialize, Serialize};

use crate::LearnError;
use crate::network::adam::Adam;
use crate::network::pretrain::Contrastive;
use crate::parameters::{count, range, share};

/// The parameters of TPP. The defaults are the paper's; `docs/tpp.md` gives the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TppParameters {
    /// Seeds everything that is drawn.
    pub seed: u64,
    /// Width of the backbone's hidden layer.
    pub hidden: usize,
    /// Steps of propagation in the backbone.
    pub hops: usize,
    /// How the backbone is trained on the first task.
    pub contrastive: Contrastive,
    /// What tasks are recognised by.
    pub profile: Profile,
    /// Steps of smoothing in a prototype.
    pub smoothing: usize,
    /// Give isolated nodes of a task a random neighbour before its prototype is taken.
    pub patch: bool,
    /// Tokens in a prompt; none is the ablation without prompts.
    pub tokens: usize,
    /// Passes over a task for its prompt and head.
    pub epochs: usize,
    /// How prompts and heads follow their gradient.
    pub adam: Adam,
    /// Give the first task a prompt too, as the paper's text has it.
    pub prompt_first_task: bool,
    /// Leave out the bias of the scores that mix tokens, as the paper's formula does.
    pub scorer_without_bias: bool,
    /// Weigh classes equally in the loss, as the metric does.
    pub balanced_loss: bool,
    /// Use the first task's head for all: the ablation without heads.
    pub shared_head: bool,
    /// How a query finds its task.
    pub routing: Routing,
}

/// What tasks are recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The degree-scaled mean of smoothed features.
    Smoothed,
    /// The plain mean of features, without the graph.
    FeatureMean,
}

/// How a query finds its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The nearest prototype.
    Prototype,
    /// The most confident head of all: the ablation without task recognition.
    MostConfident,
}

impl Default for TppParameters {
    fn default() -> Self {
        TppParameters {
            seed: 0,
            hidden: 256,
            hops: 2,
            contrastive: Contrastive::default(),
            profile: Profile::Smoothed,
            smoothing: 3,
            patch: true,
            tokens: 3,
            epochs: 200,
            adam: Adam {
                rate: 0.005,
                decay: 5e-4,
            },
            prompt_first_task: false,
            scorer_without_bias: false,
            balanced_loss: false,
            shared_head: false,
            routing: Routing::Prototype,
        }
    }
}

impl TppParameters {
    /// Refuses what cannot work. Errors name the flag and, where it is another, the key.
    ///
    /// # Errors
    /// The first parameter that is outside its range.
    pub fn check(&self) -> Result<(), LearnError> {
        let c = &self.contrastive;
        count("hidden", self.hidden, 1..=8192, "between 1 and 8192")?;
        count("hops", self.hops, 0..=1000, "between 0 and 1000")?;
        count("smoothing", self.smoothing, 0..=1000, "between 0 and 1000")?;
        count("tokens", self.tokens, 0..=1024, "between 0 and 1024")?;
        count(
            "epochs",
            self.epochs,
            0..=1_000_000,
            "between 0 and 1000000",
        )?;
        count(
            "pretrain-epochs (contrastive.epochs)",
            c.epochs,
            0..=1_000_000,
            "between 0 and 1000000",
        )?;
        count(
            "contrast-budget (contrastive.budget)",
            c.budget,
            2..=1_000_000,
            "between 2 and 1000000",
        )?;
        share("edge-removal (contrastive.edge-removal)", c.edge_removal)?;
        share(
            "attribute-masking (contrastive.attribute-masking)",
            c.attribute_masking,
        )?;
        range(
            "temperature (contrastive.temperature)",
            c.temperature,
            0.02,
            1e6,
            "between 0.02 and 1000000",
        )?;
        for (name, value) in [
            ("rate (adam.rate)", self.adam.rate),
            ("pretrain-rate (contrastive.adam.rate)", c.adam.rate),
        ] {
            range(name, value, 1e-12, 1e3, "above 0 and at most 1000")?;
        }
        for (name, value) in [
            ("decay (adam.decay)", self.adam.decay),
            ("pretrain-decay (contrastive.adam.decay)", c.adam.decay),
        ] {
            range(name, value, 0.0, 1e3, "between 0 and 1000")?;
        }
        Ok(())
    }
}
