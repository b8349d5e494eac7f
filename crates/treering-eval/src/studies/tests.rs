use treering_data::{Context, Recipe, Silent, StreamOptions, synthesize};
use treering_learn::tpp::TppParameters;
use treering_learn::{Groups, Query};

use super::*;
use crate::runs::checksum;

fn toy() -> (Graph, Stream, DataId) {
    let recipe = Recipe::demo().scaled(0.15).unwrap();
    let graph = synthesize(&recipe, &Context::new(&Silent, 1 << 30)).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    let id = DataId {
        name: "toy".into(),
        checksum: checksum(&graph),
    };
    (graph, stream, id)
}

#[test]
fn every_study_is_sound_and_comes_back_from_its_file() {
    let (graph, stream, id) = toy();
    for kind in [
        Kind::ProfileDistances,
        Kind::Embeddings,
        Kind::PairDifference,
    ] {
        let study = kind.study(&graph, &id, &stream, 3, &Silent).unwrap();
        let study = study.unwrap();
        assert_eq!(study.contradiction(), None, "{kind:?}");
        assert!(study.synthetic);
        let text = serde_json::to_string(&study).unwrap();
        assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), study);
        let again = kind.study(&graph, &id, &stream, 3, &Silent).unwrap();
        assert_eq!(again.as_ref(), Some(&study));
        let names = [3, 4].map(|seed| kind.file_name(&id, &stream, seed));
        assert_ne!(names[0], names[1]);
    }
}

#[test]
fn a_stream_of_one_task_has_nothing_to_compare() {
    let (graph, _, id) = toy();
    let all = StreamOptions {
        grouping: Grouping::PerTask(12),
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &all).unwrap();
    let study = Kind::PairDifference.study(&graph, &id, &stream, 0, &Silent);
    assert_eq!(study.unwrap(), None);
}

#[test]
fn distances_are_smallest_on_the_diagonal_where_tasks_are_recognised() {
    let (graph, stream, _) = toy();
    let found = profiles::distances(&graph, &stream, 0).unwrap();
    assert_eq!(found.steps, TppParameters::default().smoothing);
    for (task, row) in found.distances.iter().enumerate() {
        let nearest = row.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        assert_eq!(nearest.map(|(place, _)| place), Some(task), "{row:?}");
    }
}

#[test]
fn quantiles_and_means_are_those_of_the_two_graphs() {
    let (graph, stream, _) = toy();
    let found = pair::difference(&graph, &stream);
    let first = stream.task_graph(&graph, stream.tasks[0].id);
    let degree = |node: usize| (first.arcs().row(node).len() + 1) as f64;
    let most = (0..first.nodes()).map(degree).fold(0.0, f64::max);
    assert_eq!(found.degrees.first.len(), 101);
    assert!((found.degrees.first[100] - most.sqrt()).abs() < 1e-12);
    assert!(found.degrees.first.is_sorted());
    let dense = first.features().to_dense();
    let column = found.attributes.columns[0];
    let values = (0..dense.rows()).map(|row| f64::from(dense.row(row)[column]));
    let mean = values.sum::<f64>() / dense.rows() as f64;
    assert!((found.attributes.first[0] - mean).abs() < 1e-9);
}

#[test]
fn embeddings_without_a_prompt_are_those_of_the_backbone() {
    use treering_learn::tpp::Tpp;
    use treering_learn::{Learner, Shown};
    let (graph, stream, _) = toy();
    let tasks = crate::tasks_of(&graph, &stream, Shown::Train).unwrap();
    let mut learner = Tpp::new(TppParameters {
        hidden: 8,
        epochs: 5,
        ..TppParameters::default()
    })
    .unwrap();
    learner.learn(&tasks[..2], &Silent).unwrap();
    let cut = stream.task_graph(&graph, stream.tasks[1].id);
    let nodes: Vec<_> = treering_graph::NodeId::first(cut.nodes()).collect();
    let query = Query::new(cut.clone(), nodes, Groups::All);
    let plain = learner.embeddings(&query, None).unwrap();
    let with = learner.embeddings(&query, Some(1)).unwrap();
    assert_ne!(plain, with);
    // Head and softmax on top of the embeddings are what the learner answers.
    let mut asked = query.clone();
    asked.tasks = Some(vec![1; cut.nodes()]);
    let ring = &learner.rings()[1];
    for (answer, row) in learner.predict(&asked).unwrap().iter().zip(with.chunks(8)) {
        let score = |class: usize| {
            let weights = &ring.head.weights[class * 8..(class + 1) * 8];
            let product: f32 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
            product + ring.head.bias[class]
        };
        let odds = (score(1) - score(0)).exp();
        let expected = odds / (1.0 + odds);
        assert!((answer.probabilities[1] - expected).abs() < 1e-4);
    }
    assert!(learner.embeddings(&query, Some(2)).is_err());
}
