//! The synthetic graphs that kernels are measured on, made once.

use treering_data::{Context, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_graph::Graph;
use treering_learn::treering::{Parameters, Ring, Treering};
use treering_learn::{Learner, Shown, TrainingTask};

use super::{Clock, Fallible, Kernel};

/// Nodes that pre-training contrasts: the default budget.
const BUDGET: usize = 4096;

/// What there is to measure on; parts that no kernel asks for stay empty.
#[derive(Default)]
pub(crate) struct Shapes {
    /// For smoothing: many nodes and 50 arcs each.
    pub products: Option<Graph>,
    /// For smoothing: fewer nodes and 7 arcs each.
    pub arxiv: Option<Graph>,
    /// The first task of products-like, for prompts, profiles and heads.
    pub products_task: Option<TrainingTask>,
    /// The same nodes, all of one class, so that there is no head.
    pub products_class: Option<TrainingTask>,
    /// The first task of arxiv-like, for pre-training.
    pub arxiv_task: Option<TrainingTask>,
    /// Nodes that pre-training contrasts in an epoch.
    pub budget: usize,
    /// What times are taken by.
    pub clock: Clock,
    /// The share of every size.
    pub scale: f64,
    /// corafull-like, for the router: wide rows and many tasks.
    pub words: Option<Words>,
}

/// A graph, and what the learner `treering` keeps of its tasks.
pub(crate) struct Words {
    pub graph: Graph,
    pub first: Graph,
    pub rings: Vec<Ring>,
}

impl Shapes {
    pub(crate) fn new(scale: f64, kernels: &[Kernel], clock: Clock) -> Fallible<Self> {
        let asked = |kernel| kernels.contains(&kernel);
        // Contrast grows with the square of its nodes.
        let budget = ((BUDGET as f64 * scale.min(1.0).sqrt()) as usize).clamp(64, BUDGET);
        let mut shapes = Shapes {
            budget,
            clock,
            scale,
            ..Shapes::default()
        };
        if asked(Kernel::Smoothing) || asked(Kernel::Prompt) || asked(Kernel::Ring) {
            let graph = made("products-like", scale)?;
            if asked(Kernel::Prompt) || asked(Kernel::Ring) {
                let (task, class) = first_task(&graph)?;
                (shapes.products_task, shapes.products_class) = (Some(task), Some(class));
            }
            shapes.products = asked(Kernel::Smoothing).then_some(graph);
        }
        if asked(Kernel::Smoothing) || asked(Kernel::Pretraining) {
            let graph = made("arxiv-like", scale)?;
            if asked(Kernel::Pretraining) {
                shapes.arxiv_task = Some(first_task(&graph)?.0);
            }
            shapes.arxiv = asked(Kernel::Smoothing).then_some(graph);
        }
        if asked(Kernel::Router) {
            shapes.words = Some(Words::new(made("corafull-like", scale)?)?);
        }
        Ok(shapes)
    }
}

fn made(preset: &str, scale: f64) -> Fallible<Graph> {
    eprintln!("making {preset}");
    let recipe = Recipe::preset(preset).ok_or("no such preset")?;
    let recipe = recipe.scaled(scale)?;
    Ok(synthesize(&recipe, &Context::with_free_memory(&Silent))?)
}

/// The first task of a graph's stream, and once more with one class instead of two.
fn first_task(graph: &Graph) -> Fallible<(TrainingTask, TrainingTask)> {
    let stream = Stream::plan(graph, &StreamOptions::default())?;
    let cut = stream.task_graph(graph, stream.tasks[0].id);
    let one = vec![0; cut.nodes()];
    let labels = treering_graph::Labels::new(one.into(), vec!["all".into()])?;
    let alike = cut.clone().with_labels(labels)?;
    Ok((
        TrainingTask::new(cut, 1, Shown::Train)?,
        TrainingTask::new(alike, 1, Shown::Train)?,
    ))
}

impl Words {
    fn new(graph: Graph) -> Fallible<Self> {
        let stream = Stream::plan(&graph, &StreamOptions::default())?;
        let tasks = treering_eval::tasks_of(&graph, &stream, Shown::Train)?;
        let mut learner = Treering::new(Parameters::default())?;
        learner.learn(&tasks, &Silent)?;
        Ok(Words {
            graph,
            first: tasks[0].graph().clone(),
            rings: learner.rings().to_vec(),
        })
    }
}

/// A shape that a kernel needs and [`Shapes::new`] was not asked for.
pub(crate) fn there<T>(part: &Option<T>) -> Fallible<&T> {
    part.as_ref().ok_or_else(|| "a shape was not made".into())
}
