//! What can be wrong with a task, a query or a parameter.

/// Why learning or answering is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LearnError {
    /// A graph without labels.
    #[error(
        "the graph has no labelled node to train on; give some nodes a class (tables: --label-column names the column) and, where there is a split, the role train"
    )]
    NoClasses,
    /// Nothing to learn a class from.
    #[error("class {0} has no train node; give it at least one, or leave the class out")]
    NoTrainNodes(String),
    /// A class by a name that no class has.
    #[error("there is no class `{name}`; {hint}")]
    NoSuchClass {
        /// What was asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// Parts that do not make a graph.
    #[error(transparent)]
    Graph(#[from] treering_graph::GraphError),
    /// Features of another width.
    #[error(
        "the graph has {found} feature columns, the model was learned on {expected}; bring the same columns in the same order"
    )]
    Width {
        /// Here.
        found: usize,
        /// In the model.
        expected: usize,
    },
    /// No columns.
    #[error("the graph has no feature columns; a learner needs at least one")]
    NoFeatures,
    /// Nothing learned yet.
    #[error("nothing has been learned yet; learn a task first")]
    Nothing,
    /// A parameter outside its range.
    #[error("{name} is {value}; it has to be {allowed}")]
    Parameter {
        /// Which.
        name: &'static str,
        /// Found.
        value: String,
        /// The remedy.
        allowed: &'static str,
    },
    /// The first head does not fit.
    #[error(
        "without heads of their own, tasks use that of the first task, which has {first} classes; this one has {here}"
    )]
    SharedHead {
        /// Classes of the first task.
        first: usize,
        /// Classes of this task.
        here: usize,
    },
    /// A node outside the graph.
    #[error("node {node} is not in the graph, which has {nodes} nodes")]
    NoSuchNode {
        /// Which.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// A task that was never learned.
    #[error("the query names task {task} (counted from 0), of {learned} learned")]
    NoSuchTask {
        /// Named.
        task: u32,
        /// There are.
        learned: usize,
    },
    /// A learner that does not exist.
    #[error("there is no learner {name}; {hint}")]
    NoSuchLearner {
        /// Asked for.
        name: String,
        /// The remedy.
        hint: String,
    },
    /// A parameter that the learner does not have.
    #[error("{learner} has no parameter {name}; {hint}")]
    NoSuchParameter {
        /// Whose.
        learner: String,
        /// Asked for.
        name: String,
        /// The remedy.
        hint: String,
    },
    /// A value of the wrong kind.
    #[error("{learner}.{name} is {value}; {reason}")]
    Value {
        /// Whose.
        learner: String,
        /// Which.
        name: String,
        /// Found.
        value: String,
        /// What it should have been.
        reason: String,
    },
    /// A router upon a router.
    #[error("{0} recognises tasks by itself; leave out +tp")]
    RecognisesAlready(String),
    /// Groups of another length.
    #[error("{groups} group numbers for {nodes} nodes")]
    Groups {
        /// Found.
        groups: usize,
        /// Needed.
        nodes: usize,
    },
    /// A stage that was never reached.
    #[error("the query asks for the stage after {seen} tasks, of {learned} learned")]
    Stage {
        /// Asked for.
        seen: usize,
        /// There are.
        learned: usize,
    },
    /// An answer is not a number.
    #[error(
        "the features around node {0} (counted from 0) are so large that its class scores are not finite; scale them as they were when the model was learned"
    )]
    TooLarge(u32),
    /// An array that is too large for memory found no place on a disk.
    #[error("{0}")]
    NoRoom(String),
    /// A search for a step did not end.
    #[error(
        "{steps} steps of task {task} (counted from 1) had no step that spares all old tasks, to the accuracy asked for; set epsilon larger"
    )]
    Unsettled {
        /// How many.
        steps: usize,
        /// When.
        task: usize,
    },
    /// Training went out of bounds.
    #[error(
        "training gave numbers that are not finite ({what}); features of very large values need scaling, or the learning rate is too high"
    )]
    Diverged {
        /// Where.
        what: &'static str,
    },
}

impl From<treering_data::DataError> for LearnError {
    fn from(error: treering_data::DataError) -> Self {
        LearnError::NoRoom(error.to_string())
    }
}
