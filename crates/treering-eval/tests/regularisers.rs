//! EWC, MAS, LwF, TWP and GEM over whole streams: with no strength they are fine-tuning to the bit.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use treering_data::{Recipe, Silent};
use treering_eval::tasks_of;
use treering_graph::NodeId;
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
    let mut recipe = Recipe::preset(preset).unwrap().scaled(scale).unwrap();
    recipe.directed = directed;
    let (graph, stream) = common::made(recipe);
    let tasks = tasks_of(&graph, &stream, Shown::Train).unwrap();
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
