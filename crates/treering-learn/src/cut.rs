//! One task out of a graph: which classes, which nodes, what is held out.

use rand::seq::SliceRandom;
use treering_data::{Purpose, induced, nearest, random, shortened};
use treering_graph::{Graph, Labels, NodeId, Role};

use crate::LearnError;

/// One task: the nodes of the chosen classes and those without a label, which may belong to them. Without a choice, all classes that have
/// a train node.
///
/// # Errors
/// A graph without labels, a class that is not there, no class with a train node.
pub fn one_task(graph: Graph, chosen: &[String]) -> Result<Graph, LearnError> {
    let Some(labels) = graph.labels() else {
        return Err(LearnError::NoClasses);
    };
    check_names(labels, chosen)?;
    let trained = trained(&graph, labels);
    let kept: Vec<usize> = (0..labels.names().len())
        .filter(|&class| match chosen.is_empty() {
            true => trained[class],
            false => chosen.contains(&labels.names()[class]),
        })
        .collect();
    if kept.is_empty() {
        return Err(LearnError::NoClasses);
    }
    if kept.len() == labels.names().len() {
        return Ok(graph);
    }
    let place = |class: usize| kept.iter().position(|&k| k == class);
    let mut nodes = Vec::new();
    let mut class_of = Vec::new();
    for node in NodeId::first(graph.nodes()) {
        let label = labels.class_of(node).map(|class| place(class.index()));
        if label != Some(None) {
            nodes.push(node);
            class_of.push(label.flatten().map_or(Labels::NONE, |place| place as u32));
        }
    }
    let names = kept.iter().map(|&c| labels.names()[c].clone()).collect();
    let labels = Labels::new(class_of.into(), names);
    Ok(induced(&graph, &nodes)?.with_labels(labels?)?)
}

/// Which classes have a train node.
fn trained(graph: &Graph, labels: &Labels) -> Vec<bool> {
    let mut trained = vec![false; labels.names().len()];
    for node in train_nodes(graph) {
        if let Some(class) = labels.class_of(node) {
            trained[class.index()] = true;
        }
    }
    trained
}

fn train_nodes(graph: &Graph) -> impl Iterator<Item = NodeId> {
    let is_train = |node: &NodeId| {
        graph
            .split()
            .is_none_or(|split| split[node.index()] == Role::Train)
    };
    NodeId::first(graph.nodes()).filter(is_train)
}

fn check_names(labels: &Labels, chosen: &[String]) -> Result<(), LearnError> {
    for name in chosen {
        if !labels.names().contains(name) {
            let near = nearest(name, labels.names().iter().map(String::as_str));
            let hint = match near.is_empty() {
                true => "`treering data stats` lists the classes".to_owned(),
                false => format!("did you mean {}?", near.join(" or ")),
            };
            let name = shortened(name);
            return Err(LearnError::NoSuchClass { name, hint });
        }
    }
    Ok(())
}

/// Holds out a share of every class's train nodes for validation; a class keeps at least one. What the data itself holds out for
/// validation is then left alone.
///
/// # Arguments
/// * `share`: from 0 on, less than 1.
/// * `number`: seeds the draw, beside the seed.
///
/// # Errors
/// None that a graph of this crate's making can cause.
pub fn hold_out(graph: Graph, share: f64, seed: u64, number: u64) -> Result<Graph, LearnError> {
    let Some(labels) = graph.labels() else {
        return Ok(graph);
    };
    let mut of_class = vec![Vec::new(); labels.names().len()];
    for node in train_nodes(&graph) {
        if let Some(class) = labels.class_of(node) {
            of_class[class.index()].push(node);
        }
    }
    let mut roles = vec![Role::None; graph.nodes()];
    for (class, mut nodes) in (0u64..).zip(of_class) {
        nodes.shuffle(&mut random(seed, Purpose::Split, number << 32 | class));
        let held = (share * nodes.len() as f64).round() as usize;
        let held = held.min(nodes.len().saturating_sub(1));
        for (at, node) in nodes.into_iter().enumerate() {
            roles[node.index()] = if at < held {
                Role::Validation
            } else {
                Role::Train
            };
        }
    }
    Ok(graph.with_split(roles)?)
}
