//! What every reader of tensors is tried with.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use treering_graph::{Direction, NodeId};
use treering_store::{Fault, StoreError, Tensor, Tensors, Values, decode, encode};

use super::Keep;
use crate::checks::small_graph;
use crate::{Groups, Query};

/// Asserts that the probabilities of all classes are those of the tasks times those of the classes, each asked for by itself.
pub(crate) fn shares_are_products(learner: &dyn Keep, columns: usize) {
    let graph = small_graph(30, columns, Direction::Undirected);
    let nodes: Vec<NodeId> = NodeId::first(30).collect();
    for groups in [Groups::Single, Groups::All] {
        let mut query = Query::new(graph.clone(), nodes.clone(), groups);
        let found = learner.shares(&query).unwrap();
        let routed = learner.predict(&query).unwrap();
        let classes: usize = (0..learner.rings()).map(|at| learner.classes(at)).sum();
        assert_eq!(found.len(), 30 * classes);
        let mut at = 0;
        for task in 0..learner.rings() {
            query.tasks = Some(vec![task as u32; 30]);
            let own = learner.predict(&query).unwrap();
            for (node, (own, answer)) in own.iter().zip(&routed).enumerate() {
                let recognised = if answer.task as usize == task {
                    1.0
                } else {
                    0.0
                };
                let of_task = answer.posterior.get(task).copied().unwrap_or(recognised);
                for (class, &share) in own.probabilities.iter().enumerate() {
                    let wanted = f64::from(of_task) * f64::from(share);
                    assert_eq!(found[node * classes + at + class], wanted);
                }
            }
            at += learner.classes(task);
        }
        query.nodes = Vec::new();
        query.tasks = None;
        assert!(learner.shares(&query).unwrap().is_empty());
    }
}

/// Asserts that a file of tensors is refused, by the name of the tensor, when any of them is too long or missing, and when there is one too many.
pub(crate) fn tensors_are_checked<T: std::fmt::Debug>(
    good: &[u8],
    read: impl Fn(Tensors) -> Result<T, StoreError>,
) {
    let file = Path::new("some.safetensors");
    let read = |tensors: &[Tensor]| {
        let bytes = encode(tensors, &BTreeMap::new());
        read(decode(file, &bytes).unwrap())
    };
    let all = decode(file, good).unwrap().into_vec();
    read(&all).unwrap();
    let refused = |tensors: &[Tensor], name: &str| {
        let error = read(tensors).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("some.safetensors"), "{told}");
        assert!(told.contains(name), "{name} is not in: {told}");
        error
    };
    for at in 0..all.len() {
        let name = all[at].name.clone();
        let mut longer = all.clone();
        let tensor = &mut longer[at];
        tensor.shape[0] += 1;
        let length = tensor.shape.iter().product();
        match &mut tensor.values {
            Values::F32(values) => values.resize(length, 0.5),
            Values::F64(values) => values.resize(length, 0.5),
        }
        let error = refused(&longer, &name);
        let wrong = matches!(
            *error.fault,
            Fault::WrongShape { .. } | Fault::Damaged { .. }
        );
        assert!(wrong, "{name}: {error}");
        let mut fewer = all.clone();
        fewer.remove(at);
        refused(&fewer, &name);
    }
    let mut more = all;
    more.push(Tensor::f32("spare", &[1], vec![1.0]));
    refused(&more, "spare");
}
