//! EWC, MAS, LwF, TWP and GEM over whole streams: with no strength they are fine-tuning to the bit, and no shape of task breaks them.
#![allow(clippy::unwrap_used, clippy::panic)]

use treering_data::{Context, Grouping, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_eval::tasks_of;
use treering_graph::{Arcs, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Sparse};
use treering_learn::baselines::{Training, ewc, finetune, gem, lwf, mas, twp};
use treering_learn::network::classifier::Classifier;
use treering_learn::registry::{build, complete};
use treering_learn::{Answer, Groups, LearnError, Learner, Query, Shown, TrainingTask};

const NAMES: [&str; 5] = ["ewc", "mas", "lwf", "twp", "gem"];

fn quick(batch: usize) -> Training {
    Training {
        hidden: 12,
        epochs: 20,
        batch,
        ..Training::default()
    }
}

fn tasks(preset: &str, scale: f64, directed: bool) -> Vec<TrainingTask> {
    let context = Context::with_free_memory(&Silent);
    let mut recipe = Recipe::preset(preset).unwrap().scaled(scale).unwrap();
    recipe.directed = directed;
    let graph = synthesize(&recipe, &context).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    let tasks = tasks_of(&graph, &stream, Shown::Train).unwrap();
    assert!(tasks.len() >= 3, "the tests need a few tasks");
    tasks[..3].to_vec()
}

/// Weights after every task.
macro_rules! weights {
    ($learner:expr, $tasks:expr) => {{
        let mut learner = $learner.unwrap();
        let mut weights = Vec::new();
        for task in $tasks.chunks(1) {
            learner.learn(task, &Silent).unwrap();
            weights.push(bits(learner.network().unwrap()));
        }
        weights
    }};
}

fn bits(network: &Classifier) -> Vec<u32> {
    let weights = network.first().iter().chain(network.second());
    // Zeros of either sign are the same number.
    weights.map(|&weight| (weight + 0.0).to_bits()).collect()
}

#[test]
fn without_strength_all_are_fine_tuning_to_the_bit() {
    let streams = [
        tasks("demo", 0.4, false),
        tasks("corafull-like", 0.03, false),
        tasks("corafull-like", 0.03, true),
    ];
    for (tasks, batch) in streams.iter().zip([0, 0, 16]) {
        let training = quick(batch);
        let plain = finetune::Parameters {
            training: training.clone(),
        };
        let right = weights!(finetune::learner(plain), tasks);
        let ewc = ewc::Parameters {
            training: training.clone(),
            lambda: 0.0,
            ..ewc::Parameters::default()
        };
        assert!(weights!(ewc::learner(ewc), tasks) == right, "ewc");
        let mas = mas::Parameters {
            training: training.clone(),
            lambda: 0.0,
            ..mas::Parameters::default()
        };
        assert!(weights!(mas::learner(mas), tasks) == right, "mas");
        let lwf = lwf::Parameters {
            training: training.clone(),
            lambda: 0.0,
            ..lwf::Parameters::default()
        };
        assert!(weights!(lwf::learner(lwf), tasks) == right, "lwf");
        let twp = twp::Parameters {
            training: training.clone(),
            lambda_loss: 0.0,
            lambda_topology: 0.0,
            ..twp::Parameters::default()
        };
        assert!(weights!(twp::learner(twp), tasks) == right, "twp");
        let gem = gem::Parameters {
            training,
            ..gem::Parameters::default()
        };
        let gem = weights!(gem::learner(gem), tasks);
        assert!(gem[0] == right[0] && gem[2] != right[2], "gem");
    }
}

fn learned(name: &str, changed: &str, tasks: &[TrainingTask]) -> Box<dyn Learner> {
    let mut all = vec![
        ("hidden".to_owned(), 12.into()),
        ("epochs".to_owned(), 20.into()),
    ];
    for change in changed.split_whitespace() {
        let (key, value) = change.split_once('=').unwrap();
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        all.push((key.to_owned(), value));
    }
    let mut learner = build(name, complete(name, &all).unwrap()).unwrap();
    learner.learn(tasks, &Silent).unwrap();
    learner
}

fn answers(learner: &dyn Learner, tasks: &[TrainingTask]) -> Vec<Vec<Answer>> {
    let ask = |task: &TrainingTask| {
        let graph = task.graph().clone();
        let nodes = NodeId::first(graph.nodes()).collect();
        learner
            .predict(&Query::new(graph, nodes, Groups::All))
            .unwrap()
    };
    tasks.iter().map(ask).collect()
}

#[test]
fn every_parameter_of_a_method_changes_what_is_learned() {
    let tasks = tasks("demo", 0.4, false);
    let variants = [
        ("ewc", "lambda=1"),
        ("ewc", "fisher=per-row"),
        ("ewc", "fisher=per-row-sampled"),
        ("mas", "lambda=1"),
        ("mas", "original=true"),
        ("lwf", "lambda=10"),
        ("lwf", "temperature=20"),
        ("lwf", "prefix-sum=true"),
        ("lwf", "kaiming-start=true"),
        ("twp", "lambda-loss=1"),
        ("twp", "lambda-topology=1"),
        ("twp", "form=as-intended"),
        ("twp", "doubled-loss=true"),
        ("twp", "mixed-topology=true"),
        ("gem", "memory-rows=5"),
        ("gem", "margin=0.1"),
        ("gem", "epsilon=10"),
        ("gem", "relative-epsilon=true"),
        ("gem", "first-rows=true"),
    ];
    for name in NAMES {
        // At the usual margin, steps here are bound to it whatever epsilon is.
        let base = if name == "gem" { "margin=0 " } else { "" };
        let plain = answers(&*learned(name, base, &tasks), &tasks);
        for (_, change) in variants.iter().filter(|variant| variant.0 == name) {
            let changed = answers(&*learned(name, &format!("{base}{change}"), &tasks), &tasks);
            assert!(plain != changed, "{name} {change}");
        }
    }
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let wrong = [
        ("ewc", "lambda", -1.0),
        ("mas", "lambda", -1.0),
        ("lwf", "lambda", -1.0),
        ("lwf", "temperature", 0.0),
        ("twp", "lambda-loss", -1.0),
        ("twp", "lambda-topology", -1.0),
        ("gem", "margin", -0.1),
        ("gem", "epsilon", -0.1),
    ];
    for (name, key, value) in wrong {
        let settings = complete(name, &[(key.to_owned(), value.into())]).unwrap();
        let refused = build(name, settings);
        let is_named = |error| matches!(error, LearnError::Parameter { name, .. } if name == key);
        assert!(refused.is_err_and(is_named), "{name} {key}");
    }
    let none = complete("gem", &[("memory-rows".to_owned(), 0.into())]).unwrap();
    assert!(matches!(
        build("gem", none),
        Err(LearnError::Parameter { .. })
    ));
}

#[test]
fn any_number_of_threads_gives_the_same_answers() {
    let tasks = tasks("demo", 0.4, false);
    for name in NAMES {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| answers(&*learned(name, "batch=64", &tasks), &tasks))
        };
        assert!(with(1) == with(5), "{name}");
    }
}

/// A graph with the given classes of nodes and no edges; class c has the feature columns c and c + 1.
fn edgeless(class_of: &[u32], names: &[&str], first: u32) -> TrainingTask {
    let offsets: Vec<u64> = (0..=class_of.len() as u64).map(|row| 2 * row).collect();
    let columns = class_of
        .iter()
        .flat_map(|class| [class + first, class + first + 1]);
    let values = (0..2 * class_of.len()).map(|at| 1.0 + at as f32 / 10.0);
    let features = Sparse::new(
        9,
        offsets.into(),
        columns.collect::<Vec<_>>().into(),
        values.collect::<Vec<_>>().into(),
    );
    let names = names.iter().map(|name| name.to_string()).collect();
    let graph = Graph::new(Parts {
        arcs: Arcs::none(class_of.len()),
        features: Features::Sparse(features.unwrap()),
        labels: Some(Labels::new(class_of.to_vec().into(), names).unwrap()),
        names: NodeNames::Positions(class_of.len()),
        split: None,
        origin: Origin::default(),
    });
    TrainingTask::new(graph.unwrap(), u64::from(first) + 1, Shown::Train).unwrap()
}

#[test]
fn tasks_of_any_shape_are_learned() {
    // No edges; a class of one node; a task of one class; a task of one node.
    let tasks = [
        edgeless(&[0, 1, 0, 0, 1], &["a", "b"], 0),
        edgeless(&[0, 0, 0, 1], &["c", "d"], 2),
        edgeless(&[0, 0], &["e"], 4),
        edgeless(&[0], &["f"], 5),
    ];
    let variants = [
        ("ewc", "fisher=squared-mean"),
        ("ewc", "fisher=per-row-sampled"),
        ("mas", ""),
        ("mas", "original=true"),
        ("lwf", "prefix-sum=true"),
        ("twp", ""),
        ("twp", "form=as-intended"),
        ("gem", ""),
        ("gem", "epsilon=0 margin=0"),
    ];
    for (name, change) in variants {
        for batch in ["", " batch=2"] {
            let change = format!("{change}{batch}");
            let alone = learned(name, &change, &tasks[..1]);
            let all = learned(name, &change, &tasks);
            assert_eq!(answers(&*alone, &tasks[..1])[0].len(), 5);
            for (answers, task) in answers(&*all, &tasks).iter().zip(&tasks) {
                assert_eq!(answers.len(), task.graph().nodes(), "{name} {change}");
            }
            let stored = (alone.stored().memory, all.stored().memory);
            match name {
                "lwf" => assert_eq!(stored, (0, 0)),
                // Two features a node, all of them kept.
                "gem" => assert_eq!(stored, (10, 24)),
                // Two numbers a weight: 9 columns and 2 or 6 classes.
                _ => assert_eq!(stored, (2 * 11 * 12, 2 * 15 * 12)),
            }
        }
    }
}

#[test]
fn classes_of_any_number_in_a_task_are_learned() {
    let context = Context::with_free_memory(&Silent);
    let recipe = Recipe::preset("demo").unwrap().scaled(0.4).unwrap();
    let graph = synthesize(&recipe, &context).unwrap();
    let groups = [vec!["0"], vec!["1", "2", "3"], vec!["4", "5"]];
    let groups = groups.map(|group| group.into_iter().map(String::from).collect());
    let options = StreamOptions {
        grouping: Grouping::Groups(groups.into()),
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &options).unwrap();
    let tasks = tasks_of(&graph, &stream, Shown::Train).unwrap();
    for name in NAMES {
        let learner = learned(name, "", &tasks);
        for answers in answers(&*learner, &tasks) {
            assert!(answers.iter().all(|answer| {
                let sum: f32 = answer.probabilities.iter().sum();
                sum > 0.0 && sum < 1.0001
            }));
        }
    }
}
