//! TPP, the paper's learner: Task Profiling and Prompting.
//!
//! A backbone is trained once, by contrast, on the first task and then frozen. Every task leaves a [`Ring`]: its prototype, by which queries
//! find it, and its prompt and head, by which they are classified. Nothing is replayed and nothing learned before changes.

mod answer;
mod parameters;
mod profile;
mod prompt;
pub(crate) mod saved;
mod together;

pub use parameters::{Profile, Routing, TppParameters};
pub use profile::{Recogniser, Route, patched, routes};
pub use prompt::{Head, Prompt};

use serde_json::{Value, json};
use treering_data::{Progress, Purpose, random};

use crate::network::backbone::Backbone;
use crate::network::pretrain::pretrain;
use crate::{
    Answer, Foundation, LearnError, Learner, PRETRAINING, Query, Stages, Stored, TrainingTask,
};
use prompt::Session;

/// The learner's name.
pub const LEARNER: &str = "tpp";

/// The tasks whose prompts are trained in one go: their running means take 3 x 12 bytes per token and feature column each.
const TOGETHER: usize = 64;

/// What a task leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// Recognises the task's queries.
    pub prototype: Vec<f64>,
    /// The first task has none.
    pub prompt: Option<Prompt>,
    /// Tells the task's classes apart.
    pub head: Head,
}

impl Ring {
    /// How many classes it knows.
    pub fn classes(&self) -> usize {
        self.head.bias.len()
    }

    /// Numbers that it keeps.
    pub fn numbers(&self) -> usize {
        let prompt = self
            .prompt
            .as_ref()
            .map_or(0, |p| p.tokens.len() + p.scorer.len() + p.bias.len());
        self.prototype.len() + prompt + self.head.weights.len() + self.head.bias.len()
    }
}

/// The learner.
#[derive(Clone, Debug)]
pub struct Tpp {
    parameters: TppParameters,
    backbone: Option<Backbone>,
    rings: Vec<Ring>,
    /// The backbone is another learner's, trained on the task that this one is yet to learn first.
    begun: bool,
}

impl Tpp {
    /// A learner that has learned nothing.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(parameters: TppParameters) -> Result<Self, LearnError> {
        parameters.check()?;
        Ok(Tpp {
            parameters,
            backbone: None,
            rings: Vec::new(),
            begun: false,
        })
    }

    /// A learner put together from what it learned before.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn restore(
        parameters: TppParameters,
        backbone: Backbone,
        rings: Vec<Ring>,
    ) -> Result<Self, LearnError> {
        parameters.check()?;
        Ok(Tpp {
            parameters,
            backbone: Some(backbone),
            rings,
            begun: false,
        })
    }

    /// The parameters.
    pub fn parameters(&self) -> &TppParameters {
        &self.parameters
    }

    /// The backbone, once there is one.
    pub fn backbone(&self) -> Option<&Backbone> {
        self.backbone.as_ref()
    }

    /// The rings, in the order in which they were learned.
    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }

    /// Trains the backbone on a task, if there is none yet. Returns the loss of every epoch.
    ///
    /// # Errors
    /// Features without columns; training that leaves the finite numbers.
    pub fn pretrain(
        &mut self,
        task: &TrainingTask,
        progress: &dyn Progress,
    ) -> Result<Vec<f64>, LearnError> {
        let (graph, parameters) = (task.graph(), &self.parameters);
        let features = graph.features().columns();
        if features == 0 {
            return Err(LearnError::NoFeatures);
        }
        if self.backbone.is_some() {
            return Ok(Vec::new());
        }
        let mut start = random(parameters.seed, Purpose::Initialisation, 0);
        let mut backbone = Backbone::new(features, parameters.hidden, parameters.hops, &mut start);
        progress.begin(PRETRAINING, parameters.contrastive.epochs as u64);
        let losses = match parameters.contrastive.epochs {
            0 => Vec::new(),
            _ => pretrain(
                &mut backbone,
                graph.arcs(),
                graph.features(),
                &parameters.contrastive,
                parameters.seed,
                progress,
            ),
        };
        progress.end();
        if !all_finite(&backbone.first) || !all_finite(&backbone.second) {
            return Err(LearnError::Diverged {
                what: "the backbone",
            });
        }
        self.backbone = Some(backbone);
        Ok(losses)
    }

    /// How it recognises tasks.
    pub fn recogniser(&self) -> Recogniser {
        Recogniser {
            seed: self.parameters.seed,
            profile: self.parameters.profile,
            smoothing: self.parameters.smoothing,
            patch: self.parameters.patch,
        }
    }

    /// The prototype of a task.
    pub fn profile(&self, task: &TrainingTask) -> Vec<f64> {
        self.recogniser().prototype(task)
    }

    /// The prompts and heads of tasks; `first` says that the first of them trained the backbone.
    ///
    /// # Errors
    /// A task that does not fit the backbone or the shared head; training that leaves the finite numbers.
    pub fn train(
        &self,
        tasks: &[TrainingTask],
        first: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<(Option<Prompt>, Head)>, LearnError> {
        let backbone = self.backbone.as_ref().ok_or(LearnError::Nothing)?;
        for task in tasks {
            check_width(task.graph(), backbone)?;
        }
        progress.begin(
            "training prompts and heads",
            (tasks.len() * self.parameters.epochs) as u64,
        );
        let mut trained: Vec<(Option<Prompt>, Head)> = Vec::with_capacity(tasks.len());
        let mut rest = tasks;
        while !rest.is_empty() {
            // A shared head has to be learned before others can use it.
            let alone = first && trained.is_empty() && self.parameters.shared_head;
            let (batch, later) = rest.split_at(if alone { 1 } else { rest.len().min(TOGETHER) });
            let sessions = batch
                .iter()
                .enumerate()
                .map(|(at, task)| {
                    let is_first = first && trained.is_empty() && at == 0;
                    let shared = self
                        .rings
                        .first()
                        .map(|ring| &ring.head)
                        .or(trained.first().map(|(_, head)| head));
                    self.session(backbone, task, is_first, shared)
                })
                .collect::<Result<Vec<_>, _>>()?;
            trained.extend(together::train(
                &self.parameters,
                backbone,
                sessions,
                progress,
            ));
            rest = later;
        }
        progress.end();
        for (prompt, head) in &trained {
            let prompt_sound = prompt.as_ref().is_none_or(|p| {
                all_finite(&p.tokens) && all_finite(&p.scorer) && all_finite(&p.bias)
            });
            if !prompt_sound || !all_finite(&head.weights) || !all_finite(&head.bias) {
                return Err(LearnError::Diverged {
                    what: "prompt or head",
                });
            }
        }
        Ok(trained)
    }

    fn session<'a>(
        &'a self,
        backbone: &'a Backbone,
        task: &'a TrainingTask,
        is_first: bool,
        shared: Option<&Head>,
    ) -> Result<Session<'a, f32>, LearnError> {
        let p = &self.parameters;
        let count = if is_first && !p.prompt_first_task {
            0
        } else {
            p.tokens
        };
        let classes = task.classes().len();
        let shared = shared.filter(|_| p.shared_head && !is_first);
        let head = match shared {
            None => Head::start(p.seed, backbone.hidden, classes),
            Some(head) if head.bias.len() == classes => head.clone(),
            Some(head) => {
                return Err(LearnError::SharedHead {
                    first: head.bias.len(),
                    here: classes,
                });
            }
        };
        let width = together::padded_width(backbone.hidden);
        Session::new(p, backbone, task, count, head, shared.is_some(), width)
    }
}

fn all_finite(values: &[f32]) -> bool {
    values.iter().all(|value| value.is_finite())
}

fn check_width(graph: &treering_graph::Graph, backbone: &Backbone) -> Result<(), LearnError> {
    let found = graph.features().columns();
    match found == backbone.features {
        true => Ok(()),
        false => Err(LearnError::Width {
            found,
            expected: backbone.features,
        }),
    }
}

impl Learner for Tpp {
    fn name(&self) -> &str {
        LEARNER
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        let Some(task) = tasks.first() else {
            return Ok(());
        };
        let first = self.backbone.is_none() || self.begun;
        self.pretrain(task, progress)?;
        let prototypes = self.recogniser().prototypes(tasks, progress);
        let trained = self.train(tasks, first, progress)?;
        let rings = prototypes.into_iter().zip(trained);
        self.rings
            .extend(rings.map(|(prototype, (prompt, head))| Ring {
                prototype,
                prompt,
                head,
            }));
        self.begun = false;
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        self.answers(query)
    }

    fn stages(&self) -> Stages {
        Stages::Kept
    }

    fn stored(&self) -> Stored {
        let shared = self
            .backbone
            .as_ref()
            .map_or(0, |backbone| backbone.first.len() + backbone.second.len());
        let rings: usize = self.rings.iter().map(Ring::numbers).sum();
        Stored {
            model: (shared + rings) as u64,
            memory: 0,
        }
    }

    fn recognises(&self) -> bool {
        self.parameters.routing == Routing::Prototype
    }

    fn foundation_parameters(&self) -> Option<Value> {
        let p = &self.parameters;
        Some(json!({
            "seed": p.seed,
            "hidden": p.hidden,
            "hops": p.hops,
            "contrastive": p.contrastive,
        }))
    }

    fn foundation(&self) -> Option<Foundation> {
        self.backbone.clone().map(Foundation)
    }

    fn begin_with(&mut self, foundation: Foundation) {
        if self.rings.is_empty() {
            self.backbone = Some(foundation.0);
            self.begun = true;
        }
    }
}
