//! Which learner a model has, and its parameters, as flags. They are given when a model begins and stay as they are: a ring is worth nothing among rings
//! that were learned otherwise.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::Value;
use treering_learn::network::pretrain::EdgeMask;
use treering_learn::saved::{LEARNERS, Parameters};
use treering_learn::tpp::{Profile, Routing, TppParameters};
use treering_learn::treering::{self, Router};

use crate::failure::Failure;

/// The learner and its parameters, for a model that begins. Those that are not given keep their defaults.
#[derive(Args, Default)]
pub(crate) struct LearnerFlags {
    /// The learner: treering, our own, or tpp, the paper's [default: treering].
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(LEARNERS), help_heading = BEGINS)]
    learner: Option<String>,
    /// Seed of everything random [default: 0].
    #[arg(long, allow_negative_numbers = true, help_heading = BEGINS)]
    seed: Option<u64>,
    /// Steps of propagation [default: 3; 2 for tpp, the paper's two-layer SGC].
    #[arg(long, value_name = "N", help_heading = BEGINS)]
    hops: Option<usize>,
    #[command(flatten)]
    treering: TreeringFlags,
    #[command(flatten)]
    tpp: TppFlags,
}

impl LearnerFlags {
    /// The parameters asked for, beginning with those of the model that is there.
    pub(crate) fn asked(
        &self,
        folder: &Path,
        there: Option<&Parameters>,
    ) -> Result<Parameters, Failure> {
        let learner = self.learner.as_deref();
        let begun = there.map(Parameters::learner);
        if let (Some(learner), Some(begun)) = (learner, begun)
            && learner != begun
        {
            return Err(Failure::input(format!(
                "{}: the learner of this model is {begun}, and --learner asks for {learner}. Leave the flag out, or begin a new model",
                folder.display()
            )));
        }
        let name = begun.or(learner).unwrap_or(LEARNERS[0]);
        let default = || Parameters::of(name).ok_or_else(|| Failure::system("no such learner"));
        let mut asked = there.cloned().map_or_else(default, Ok)?;
        *asked.seed_mut() = self.seed.unwrap_or(asked.seed());
        match &mut asked {
            Parameters::Treering(_) if self.tpp != TppFlags::default() => {
                return Err(foreign(name, "tpp"));
            }
            Parameters::Tpp(_) if self.treering != TreeringFlags::default() => {
                return Err(foreign(name, "treering"));
            }
            Parameters::Treering(parameters) => {
                set(&mut parameters.hops, self.hops);
                self.treering.apply(parameters);
            }
            Parameters::Tpp(parameters) => {
                set(&mut parameters.hops, self.hops);
                self.tpp.apply(parameters);
            }
        }
        asked.check()?;
        if let Some(there) = there {
            check_same(folder, there, &asked)?;
        }
        Ok(asked)
    }
}

fn foreign(learner: &str, owner: &str) -> Failure {
    Failure::input(format!(
        "the learner is {learner}, and a flag was given that only {owner} has (`treering learn --help` lists them by learner). Leave it out, or begin a \
         model with --learner {owner}"
    ))
}

/// Flags of `treering`.
#[derive(Args, Default, PartialEq)]
struct TreeringFlags {
    /// How a query finds its task [default: ridge].
    #[arg(long, value_enum, value_name = "NAME", help_heading = TREERING)]
    router: Option<RouterKind>,
    /// Most columns of the space in which tasks are recognised [default: 2048; a ring grows with it].
    #[arg(long, value_name = "N", help_heading = TREERING)]
    width: Option<usize>,
    /// Principal directions that a ring keeps [default: 256; a ring grows with it, and 16 are enough for groups].
    #[arg(long, value_name = "N", help_heading = TREERING)]
    rank: Option<usize>,
}

impl TreeringFlags {
    /// Changes what was asked for, and leaves the rest.
    fn apply(&self, to: &mut treering::Parameters) {
        set(&mut to.router, self.router.map(Router::from));
        set(&mut to.width, self.width);
        set(&mut to.rank, self.rank);
    }
}

/// How a query finds its task.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum RouterKind {
    /// One class against all others, by least squares.
    Ridge,
    /// A normal distribution for every class, with one scatter for all.
    Evidence,
    /// The nearest smoothed mean, the paper's; it has no probabilities and no `unknown`.
    Prototype,
}

impl From<RouterKind> for Router {
    fn from(kind: RouterKind) -> Self {
        match kind {
            RouterKind::Ridge => Router::Ridge,
            RouterKind::Evidence => Router::Evidence,
            RouterKind::Prototype => Router::Prototype,
        }
    }
}

fn set<T: Copy>(into: &mut T, from: Option<T>) {
    if let Some(value) = from {
        *into = value;
    }
}

/// Flags of `tpp`. Those that are not given keep the paper's value.
#[derive(Args, Default, PartialEq)]
struct TppFlags {
    /// Width of the hidden layer [default: 256, the paper's; a ring grows with it].
    #[arg(long, value_name = "N", help_heading = BACKBONE)]
    hidden: Option<usize>,
    /// Passes over the first task's graph [default: 200].
    #[arg(long, value_name = "N", help_heading = BACKBONE)]
    pretrain_epochs: Option<usize>,
    /// Length of a step in pre-training [default: 0.001].
    #[arg(long, value_name = "X", help_heading = BACKBONE)]
    pretrain_rate: Option<f64>,
    /// Decay of weights in pre-training [default: 0.00001].
    #[arg(long, value_name = "X", help_heading = BACKBONE)]
    pretrain_decay: Option<f64>,
    /// Share of arcs that the corrupted view lacks [default: 0.2].
    #[arg(long, value_name = "SHARE", help_heading = BACKBONE)]
    edge_removal: Option<f64>,
    /// How these arcs are drawn [default: fixed-count, as in the published code].
    #[arg(long, value_enum, help_heading = BACKBONE)]
    edge_mask: Option<Mask>,
    /// Probability that the corrupted view lacks a feature column [default: 0.3].
    #[arg(long, value_name = "SHARE", help_heading = BACKBONE)]
    attribute_masking: Option<f64>,
    /// Divides similarities in the contrast [default: 0.5].
    #[arg(long, value_name = "X", help_heading = BACKBONE)]
    temperature: Option<f64>,
    /// Most nodes contrasted in an epoch; larger graphs are sampled [default: 4096, because time grows with its square].
    #[arg(long, value_name = "N", help_heading = BACKBONE)]
    contrast_budget: Option<usize>,
    /// Contrast all nodes whatever their number.
    #[arg(long, help_heading = BACKBONE)]
    exact: bool,
    /// Corrupt both views instead of one.
    #[arg(long, help_heading = BACKBONE)]
    corrupt_both_views: bool,

    /// What tasks are recognised by [default: smoothed, the paper's].
    #[arg(long, value_enum, help_heading = PROFILES)]
    profile: Option<ProfileKind>,
    /// Steps of smoothing in a prototype [default: 3].
    #[arg(long, value_name = "N", help_heading = PROFILES)]
    smoothing: Option<usize>,
    /// Leave isolated nodes of a task alone when its prototype is taken; the paper gives them a random neighbour.
    #[arg(long, help_heading = PROFILES)]
    no_patch: bool,

    /// Tokens in a prompt [default: 3, where the paper's accuracy levels off].
    #[arg(long, value_name = "N", help_heading = PROMPTS)]
    tokens: Option<usize>,
    /// Passes over a task for its prompt and head [default: 200].
    #[arg(long, value_name = "N", help_heading = PROMPTS)]
    epochs: Option<usize>,
    /// Length of a step [default: 0.005].
    #[arg(long, value_name = "X", help_heading = PROMPTS)]
    rate: Option<f64>,
    /// Decay of weights [default: 0.0005].
    #[arg(long, value_name = "X", help_heading = PROMPTS)]
    decay: Option<f64>,

    /// Weigh classes equally in the loss, as the metric does.
    #[arg(long, help_heading = VARIANTS)]
    balanced_loss: bool,
    /// Give the first task a prompt too, as the paper's text has it.
    #[arg(long, help_heading = VARIANTS)]
    prompt_first_task: bool,
    /// Mix tokens without a bias, as the paper's formula has it.
    #[arg(long, help_heading = VARIANTS)]
    scorer_without_bias: bool,
    /// Ablation: no prompts; heads alone tell classes apart.
    #[arg(long, conflicts_with = "tokens", help_heading = VARIANTS)]
    no_prompt: bool,
    /// Ablation: every task uses the first task's head.
    #[arg(long, help_heading = VARIANTS)]
    shared_head: bool,
    /// Ablation: the backbone stays as it was drawn.
    #[arg(long, conflicts_with = "pretrain_epochs", help_heading = VARIANTS)]
    untrained_backbone: bool,
    /// How a query finds its task [default: prototype; most-confident is the ablation without task recognition].
    #[arg(long, value_enum, help_heading = VARIANTS)]
    routing: Option<RoutingKind>,
}

const BEGINS: &str = "When a model begins";
const TREERING: &str = "When a model begins, learner treering";
const BACKBONE: &str = "When a model begins, learner tpp: backbone";
const PROFILES: &str = "When a model begins, learner tpp: profiles";
const PROMPTS: &str = "When a model begins, learner tpp: prompts and heads";
const VARIANTS: &str = "When a model begins, learner tpp: ablations and variants";

/// How arcs are drawn for removal.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mask {
    /// A fixed number of them.
    FixedCount,
    /// Each with the same probability, as in the paper's text.
    Bernoulli,
}

/// What tasks are recognised by.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ProfileKind {
    /// The degree-scaled mean of smoothed features.
    Smoothed,
    /// The plain mean of features, without the graph.
    FeatureMean,
}

/// How a query finds its task.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum RoutingKind {
    /// The nearest prototype.
    Prototype,
    /// The most confident head of all.
    MostConfident,
}

impl TppFlags {
    /// Changes what was asked for, and leaves the rest.
    fn apply(&self, to: &mut TppParameters) {
        fn turn(into: &mut bool, asked: bool, value: bool) {
            set(into, asked.then_some(value));
        }
        set(&mut to.hidden, self.hidden);
        let backbone = &mut to.contrastive;
        set(&mut backbone.epochs, self.pretrain_epochs);
        set(&mut backbone.epochs, self.untrained_backbone.then_some(0));
        set(&mut backbone.adam.rate, self.pretrain_rate);
        set(&mut backbone.adam.decay, self.pretrain_decay);
        set(&mut backbone.edge_removal, self.edge_removal);
        set(&mut backbone.edge_mask, self.edge_mask.map(Mask::into));
        set(&mut backbone.attribute_masking, self.attribute_masking);
        set(&mut backbone.temperature, self.temperature);
        set(&mut backbone.budget, self.contrast_budget);
        turn(&mut backbone.exact, self.exact, true);
        turn(&mut backbone.corrupt_both, self.corrupt_both_views, true);
        set(&mut to.profile, self.profile.map(ProfileKind::into));
        set(&mut to.smoothing, self.smoothing);
        turn(&mut to.patch, self.no_patch, false);
        set(&mut to.tokens, self.tokens);
        set(&mut to.tokens, self.no_prompt.then_some(0));
        set(&mut to.epochs, self.epochs);
        set(&mut to.adam.rate, self.rate);
        set(&mut to.adam.decay, self.decay);
        turn(&mut to.balanced_loss, self.balanced_loss, true);
        turn(&mut to.prompt_first_task, self.prompt_first_task, true);
        turn(&mut to.scorer_without_bias, self.scorer_without_bias, true);
        turn(&mut to.shared_head, self.shared_head, true);
        set(&mut to.routing, self.routing.map(RoutingKind::into));
    }
}

impl Mask {
    fn into(self) -> EdgeMask {
        match self {
            Mask::FixedCount => EdgeMask::FixedCount,
            Mask::Bernoulli => EdgeMask::Bernoulli,
        }
    }
}

impl ProfileKind {
    fn into(self) -> Profile {
        match self {
            ProfileKind::Smoothed => Profile::Smoothed,
            ProfileKind::FeatureMean => Profile::FeatureMean,
        }
    }
}

impl RoutingKind {
    fn into(self) -> Routing {
        match self {
            RoutingKind::Prototype => Routing::Prototype,
            RoutingKind::MostConfident => Routing::MostConfident,
        }
    }
}

/// Refuses flags that ask a model for other parameters than it has.
fn check_same(model: &Path, has: &Parameters, asked: &Parameters) -> Result<(), Failure> {
    match differences(&has.to_json(), &asked.to_json()).first() {
        None => Ok(()),
        Some((name, has, asked)) => Err(Failure::input(format!(
            "{}: this model has {name} {has}, and the flags ask for {asked}. Parameters stay as they were when a model began; leave the \
             flag out, or begin a new model",
            model.display()
        ))),
    }
}

/// Names of parameters of one learner that differ, each with both values.
pub(crate) fn differences(one: &Value, other: &Value) -> Vec<(String, Value, Value)> {
    let leaves = |parameters: &Value| {
        let mut leaves = Vec::new();
        collect(String::new(), parameters, &mut leaves);
        leaves
    };
    leaves(one)
        .into_iter()
        .zip(leaves(other))
        .filter(|(one, other)| one.1 != other.1)
        .map(|(one, other)| (one.0, one.1, other.1))
        .collect()
}

fn collect(name: String, value: &Value, into: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let inner = match name.is_empty() {
                    true => field.clone(),
                    false => format!("{name}.{field}"),
                };
                collect(inner, value, into);
            }
        }
        value => into.push((name, value.clone())),
    }
}
