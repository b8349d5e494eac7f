//! What a learner is shown: a task to learn from, and later a query to answer. Neither carries a label that the protocol does not
//! grant, an old graph or a task's number, so a learner cannot use one by accident.

use treering_graph::{Graph, NodeId, Role};

use crate::LearnError;

/// A task to learn from: a graph without labels, and the labels of its train nodes beside it.
///
/// What is not granted has no name here. There are no labels of test nodes:
/// ```compile_fail,E0599
/// fn peek(task: &treering_learn::TrainingTask) {
///     let _ = task.test();
/// }
/// ```
/// The parts are private, and nothing can be put back into them:
/// ```compile_fail,E0616
/// fn peek(task: &treering_learn::TrainingTask) {
///     let _ = &task.validation;
/// }
/// ```
/// There is no way to the graph that the task was cut from, nor to another task:
/// ```compile_fail,E0599
/// fn look_back(task: &treering_learn::TrainingTask) {
///     let _ = task.earlier();
/// }
/// ```
/// What there is:
/// ```
/// fn learn(task: &treering_learn::TrainingTask) {
///     assert!(task.graph().labels().is_none() && task.graph().split().is_none());
///     let (_, _) = (&task.train().nodes, &task.train().classes);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct TrainingTask {
    graph: Graph,
    classes: Vec<String>,
    train: Labelled,
    validation: Option<Labelled>,
    number: u64,
}

/// Nodes whose class is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labelled {
    /// The nodes.
    pub nodes: Vec<NodeId>,
    /// The class of each, as its place among the task's classes.
    pub classes: Vec<u32>,
}

/// Which labels a protocol grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Those of train nodes.
    Train,
    /// Those of train and validation nodes.
    TrainAndValidation,
}

impl TrainingTask {
    /// Takes a labelled task graph apart. Train nodes are those with the role train; every labelled node where the graph has no split.
    ///
    /// # Arguments
    /// * `number`: seeds what is drawn for this task alone.
    ///
    /// # Errors
    /// A class without a train node; no class at all.
    pub fn new(graph: Graph, number: u64, shown: Shown) -> Result<Self, LearnError> {
        let role = |node: usize| graph.split().map_or(Role::Train, |split| split[node]);
        let known = |wanted: Role| {
            let mut known = Labelled::default();
            for node in NodeId::first(graph.nodes()).filter(|node| role(node.index()) == wanted) {
                if let Some(class) = graph.labels().and_then(|labels| labels.class_of(node)) {
                    known.nodes.push(node);
                    known.classes.push(class.0);
                }
            }
            known
        };
        let classes = graph
            .labels()
            .map_or_else(Vec::new, |labels| labels.names().to_vec());
        let (train, validation) = (known(Role::Train), known(Role::Validation));
        let without = (0..classes.len()).find(|&class| !train.classes.contains(&(class as u32)));
        match without {
            _ if classes.is_empty() => return Err(LearnError::NoClasses),
            Some(class) => return Err(LearnError::NoTrainNodes(classes[class].clone())),
            None => {}
        }
        Ok(TrainingTask {
            graph: graph.unlabelled(),
            classes,
            train,
            validation: (shown == Shown::TrainAndValidation).then_some(validation),
            number,
        })
    }

    /// The task's graph, without labels and split.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The names of the task's classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The train nodes with their classes.
    pub fn train(&self) -> &Labelled {
        &self.train
    }

    /// The validation nodes with their classes, where the protocol grants them.
    pub fn validation(&self) -> Option<&Labelled> {
        self.validation.as_ref()
    }

    /// Seeds what is drawn for this task alone.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// Nodes to classify.
///
/// It has no labels, not even under another name, and its graph cannot be exchanged for one that has some:
/// ```compile_fail,E0599
/// fn peek(query: &treering_learn::Query) {
///     let _ = query.labels();
/// }
/// ```
/// ```compile_fail,E0616
/// fn peek(query: &mut treering_learn::Query, labelled: treering_graph::Graph) {
///     query.graph = labelled;
/// }
/// ```
/// It does not say which task of the stream it is about; only `oracle` fills [`tasks`](Query::tasks):
/// ```compile_fail,E0609
/// fn peek(query: &treering_learn::Query) {
///     let _ = query.task;
/// }
/// ```
/// What there is:
/// ```
/// fn answer(query: &treering_learn::Query) {
///     assert!(query.graph().labels().is_none() && query.graph().split().is_none());
///     let (_, _, _) = (&query.nodes, &query.groups, &query.tasks);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    graph: Graph,
    /// The nodes.
    pub nodes: Vec<NodeId>,
    /// Which of them are known to come from one task.
    pub groups: Groups,
    /// Give isolated nodes a random neighbour before the task is recognised, with draws seeded by this. Only the protocol `paper` does.
    pub patch: Option<u64>,
    /// The task of every node by its place among those learned, where a router or the protocol `oracle` has decided that already.
    pub tasks: Option<Vec<u32>>,
    /// Answer as if only the first so many tasks had been learned; all of them without.
    pub seen: Option<usize>,
}

/// What differs when the same query is asked at several stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// As [`Query::seen`].
    pub seen: usize,
    /// As [`Query::patch`].
    pub patch: Option<u64>,
}

/// Which query nodes are known to come from one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Nothing is known: every node is a group of its own.
    Single,
    /// All of them come from one task.
    All,
    /// Nodes with the same number come from one task; numbers run from 0 without gaps.
    Given(Vec<u32>),
}

impl Query {
    /// A query about `nodes` of a graph, whose labels and split are dropped.
    pub fn new(graph: Graph, nodes: Vec<NodeId>, groups: Groups) -> Self {
        Query {
            graph: graph.unlabelled(),
            nodes,
            groups,
            patch: None,
            tasks: None,
            seen: None,
        }
    }

    /// The graph, without labels and split.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Asks at a stage.
    pub fn go_to(&mut self, stage: Stage) {
        self.seen = Some(stage.seen);
        self.patch = stage.patch;
    }

    /// How many tasks count, of so many learned: for learners that keep every stage.
    pub(crate) fn stage(&self, learned: usize) -> Result<usize, LearnError> {
        match self.seen.unwrap_or(learned) {
            _ if learned == 0 => Err(LearnError::Nothing),
            seen if seen == 0 || seen > learned => Err(LearnError::Stage { seen, learned }),
            seen => Ok(seen),
        }
    }

    /// Refuses a query that does not fit features of this width and so many tasks.
    pub(crate) fn check(&self, features: usize, learned: usize) -> Result<(), LearnError> {
        let found = self.graph().features().columns();
        if found != features {
            return Err(LearnError::Width {
                found,
                expected: features,
            });
        }
        let nodes = self.graph().nodes();
        if let Some(node) = self.nodes.iter().find(|node| node.index() >= nodes) {
            return Err(LearnError::NoSuchNode {
                node: node.0,
                nodes,
            });
        }
        if let Some(&task) = self
            .tasks
            .iter()
            .flatten()
            .find(|&&task| task as usize >= learned)
        {
            return Err(LearnError::NoSuchTask { task, learned });
        }
        let lengths = [
            match &self.groups {
                Groups::Given(numbers) => Some(numbers.len()),
                _ => None,
            },
            self.tasks.as_ref().map(Vec::len),
        ];
        match lengths
            .into_iter()
            .flatten()
            .find(|&length| length != self.nodes.len())
        {
            Some(groups) => Err(LearnError::Groups {
                groups,
                nodes: self.nodes.len(),
            }),
            None => Ok(()),
        }
    }

    /// The group of every node, and how many there are.
    pub fn group_numbers(&self) -> (Vec<u32>, usize) {
        match &self.groups {
            Groups::Single => ((0..self.nodes.len() as u32).collect(), self.nodes.len()),
            Groups::All => (
                vec![0; self.nodes.len()],
                usize::from(!self.nodes.is_empty()),
            ),
            Groups::Given(numbers) => {
                let count = numbers
                    .iter()
                    .max()
                    .map_or(0, |&largest| largest as usize + 1);
                (numbers.clone(), count)
            }
        }
    }
}

/// What a learner says about one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The task, by its place among those learned.
    pub task: u32,
    /// How clear the choice of the task was: 1 where the query lies on the task's prototype, 0 half way to the next one. Infinite where
    /// only one task is known.
    pub margin: f64,
    /// How much the query is like something learned; higher is more. Prototype routers say minus the distance of the group to the nearest prototype,
    /// and only for [`Groups::All`]: for smaller groups every feature column would have to be smoothed. Other learners say the largest probability
    /// over all classes seen. A learner may say a calibrated share instead ([`Learner::familiarity_is_calibrated`](crate::Learner::familiarity_is_calibrated)).
    /// None where the query names the tasks, for then nothing was recognised.
    pub familiarity: Option<f64>,
    /// The probability of every task seen, for the node's group; empty where the learner's router has none.
    pub posterior: Vec<f32>,
    /// The probability of each of that task's classes.
    pub probabilities: Vec<f32>,
}

impl Answer {
    /// The most probable class, by its place in the task; the first of equals.
    pub fn class(&self) -> usize {
        let best = self.probabilities.iter().copied().fold(f32::MIN, f32::max);
        self.probabilities
            .iter()
            .position(|&p| p == best)
            .unwrap_or(0)
    }

    /// The probability that task and class are both right: that of the task, times that of the class within it. None where the router has no
    /// probabilities.
    ///
    /// # Example
    /// ```
    /// let answer = treering_learn::Answer {
    ///     task: 1,
    ///     margin: 0.5,
    ///     familiarity: None,
    ///     posterior: vec![0.25, 0.75],
    ///     probabilities: vec![0.5, 0.5],
    /// };
    /// assert_eq!(answer.confidence(), Some(0.375));
    /// ```
    pub fn confidence(&self) -> Option<f64> {
        let task = *self.posterior.get(self.task as usize)?;
        let class = *self.probabilities.get(self.class())?;
        Some(f64::from(task) * f64::from(class))
    }
}
