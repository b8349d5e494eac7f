//! What a model remembers about its tasks beside its tensors: for people and for tables, never for answers.

use serde_json::{Map, Value, json};
use treering_graph::Graph;
use treering_store::NewModel;

use super::{Keep, Parameters};
use crate::TrainingTask;

/// The ring that trained the backbone says so in its facts.
pub const TRAINED_BACKBONE: &str = "trained-backbone";

/// What a model begins with, once its first task is learned.
pub fn head(learner: &dyn Keep, task: &TrainingTask, name: &str) -> NewModel {
    let (graph, parameters) = (task.graph(), learner.parameters());
    let facts = contrast(&parameters, graph.nodes()).map(|contrast| {
        json!({ "backbone": {
            "task": name,
            "classes": task.classes(),
            "data": graph.origin().name,
            "synthetic": graph.origin().synthetic.is_some(),
            "contrast": contrast,
        }})
    });
    NewModel {
        learner: parameters.learner().into(),
        parameters: parameters.to_json(),
        feature_width: graph.features().columns(),
        facts: facts.unwrap_or_else(|| json!({})),
        backbone: learner.backbone(),
    }
}

/// What a ring remembers about the task it was learned from.
///
/// # Arguments
/// * `begins`: the task is the first of its model.
pub fn facts(parameters: &Parameters, task: &TrainingTask, begins: bool) -> Value {
    let mut train = Map::new();
    for (place, class) in (0u32..).zip(task.classes()) {
        let nodes = task.train().classes.iter().filter(|&&c| c == place);
        train.insert(class.clone(), nodes.count().into());
    }
    let graph = task.graph();
    let mut facts = json!({
        "data": graph.origin().name,
        "synthetic": graph.origin().synthetic.is_some(),
        "nodes": graph.nodes(),
        "edges": edges(graph),
        "train": train,
        "seed": parameters.seed(),
    });
    if let (true, Some(contrast)) = (begins, contrast(parameters, graph.nodes())) {
        facts[TRAINED_BACKBONE] = true.into();
        facts["contrast"] = contrast.into();
    }
    facts
}

/// How a graph of so many nodes trains the backbone; none where there is none.
pub fn contrast(parameters: &Parameters, nodes: usize) -> Option<String> {
    let Parameters::Tpp(parameters) = parameters else {
        return None;
    };
    let contrasted = parameters.contrastive.contrasted(nodes);
    Some(match (parameters.contrastive.epochs, contrasted < nodes) {
        (0, _) => "none, the backbone is as it was drawn".into(),
        (_, false) => format!("exact, {nodes} nodes"),
        (_, true) => format!("sampled, {contrasted} of {nodes} nodes an epoch"),
    })
}

/// Undirected edges, or arcs where the graph is directed; a loop is one.
fn edges(graph: &Graph) -> usize {
    let (arcs, loops) = (graph.arcs(), graph.arcs().loops());
    match arcs.is_symmetric() {
        true => (arcs.len() - loops) / 2 + loops,
        false => arcs.len(),
    }
}
