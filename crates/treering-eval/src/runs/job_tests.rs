use serde_json::Value;
use treering_data::{Context, Recipe, Silent, StreamOptions, synthesize};

use super::*;
use crate::runs::{DataId, checksum};
use crate::{Asked, Protocol};

fn spec(learner: &str, protocol: Protocol, changed: &[(&str, Value)]) -> RunSpec {
    let changed: Vec<(String, Value)> = changed
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    RunSpec {
        data: DataId {
            name: "toy".into(),
            checksum: "00".into(),
        },
        stream: StreamOptions::default(),
        learner: learner.into(),
        parameters: registry::complete(learner, &changed).unwrap(),
        revision: registry::entry(learner).unwrap().revision,
        tp_revision: tp_revision(learner),
        protocol,
        protocol_revision: protocol.revision(),
        asked: Asked::Test,
        seed: 0,
    }
}

fn results(job: &Job, graph: &Graph) -> Vec<RunResult> {
    let taught = job.run(graph, &Silent).unwrap();
    taught.into_iter().map(|(result, _)| result).collect()
}

fn tp_revision(learner: &str) -> Option<u32> {
    learner.ends_with(SUFFIX).then_some(1)
}

#[test]
fn one_training_serves_all_protocols_of_a_host_with_and_without_task_prediction() {
    let epochs = [("epochs", Value::from(3))];
    let specs = vec![
        spec("finetune", Protocol::Paper, &[]),
        spec("finetune+tp", Protocol::Paper, &[]),
        spec("finetune", Protocol::Oracle, &[]),
        spec("finetune", Protocol::Paper, &epochs),
        spec("joint", Protocol::Paper, &[]),
    ];
    let sizes: Vec<usize> = jobs(specs).iter().map(|job| job.specs.len()).collect();
    assert_eq!(sizes, [3, 1, 1]);
}

#[test]
fn two_kinds_of_task_prediction_are_two_trainings_and_the_host_joins_the_first() {
    let smoothing = [("tp-smoothing", Value::from(1))];
    let specs = vec![
        spec("finetune+tp", Protocol::Paper, &[]),
        spec("finetune+tp", Protocol::Paper, &smoothing),
        spec("finetune", Protocol::Paper, &[]),
        spec("finetune+tp", Protocol::Single, &smoothing),
    ];
    let jobs = jobs(specs);
    let learners =
        |job: &Job| -> Vec<String> { job.specs.iter().map(|spec| spec.learner.clone()).collect() };
    assert_eq!(learners(&jobs[0]), ["finetune+tp", "finetune"]);
    assert_eq!(learners(&jobs[1]), ["finetune+tp", "finetune+tp"]);
}

#[test]
fn other_data_seeds_and_streams_are_other_trainings() {
    let mut specs = vec![spec("finetune", Protocol::Paper, &[]); 4];
    specs[1].data.checksum = "01".into();
    specs[2].stream.split_seed = 1;
    specs[3].seed = 1;
    assert_eq!(jobs(specs).len(), 4);
}

#[test]
fn a_run_gives_the_same_alone_and_in_company() {
    let recipe = Recipe::demo().scaled(0.1).unwrap();
    let graph = synthesize(&recipe, &Context::new(&Silent, 1 << 30)).unwrap();
    let small = [("epochs", Value::from(5)), ("hidden", Value::from(8))];
    let mut specs: Vec<RunSpec> = [
        ("finetune", Protocol::Paper),
        ("finetune+tp", Protocol::Paper),
        ("finetune", Protocol::Oracle),
        ("finetune+tp", Protocol::Single),
        ("finetune+tp", Protocol::Mixed),
        ("finetune+tp", Protocol::Open),
    ]
    .map(|(learner, protocol)| spec(learner, protocol, &small))
    .to_vec();
    specs[3].asked = Asked::Validation;
    specs
        .iter_mut()
        .for_each(|spec| spec.data.checksum = checksum(&graph));
    let together = jobs(specs.clone());
    assert_eq!(together.len(), 1);
    let results = results(&together[0], &graph);
    for (spec, result) in specs.iter().zip(&results) {
        let alone = Job {
            specs: vec![spec.clone()],
        };
        assert_eq!(self::results(&alone, &graph)[0], *result);
        assert!(result.synthetic);
        assert_eq!(result.matrix.len(), 6);
        assert_eq!(result.classes, Some(12));
    }
    let routed: Vec<bool> = results
        .iter()
        .map(|result| result.task_id_accuracy.is_some())
        .collect();
    assert_eq!(routed, [false, true, false, true, true, true]);
    let open: Vec<bool> = results.iter().map(|result| result.open.is_some()).collect();
    assert_eq!(open, [false, false, false, false, false, true]);
    assert!(results[1].stored.model > results[0].stored.model);
    assert_eq!(
        results[0].stored_floats_per_task,
        results[0].stored.model as f64 / 6.0
    );
}

#[test]
fn learners_with_one_foundation_lay_it_once_and_give_the_same_as_alone() {
    let recipe = Recipe::demo().scaled(0.1).unwrap();
    let graph = synthesize(&recipe, &Context::new(&Silent, 1 << 30)).unwrap();
    let with = |more: &[(&str, Value)]| {
        let small = [
            ("epochs", Value::from(5)),
            ("hidden", Value::from(8)),
            ("contrastive.epochs", Value::from(3)),
        ];
        let mut spec = spec("tpp", Protocol::Paper, &[&small, more].concat());
        spec.data.checksum = checksum(&graph);
        spec
    };
    let specs = vec![
        with(&[]),
        with(&[("tokens", Value::from(1))]),
        with(&[("hidden", Value::from(9))]),
        with(&[("shared-head", Value::from(true))]),
        with(&[("contrastive.epochs", Value::from(4))]),
    ];
    let together = jobs(specs.clone());
    let sizes: Vec<usize> = together.iter().map(|job| job.specs.len()).collect();
    assert_eq!(sizes, [3, 1, 1]);
    let taught = together[0].run(&graph, &Silent).unwrap();
    for (spec, (result, costs)) in together[0].specs.iter().zip(&taught) {
        let alone = Job {
            specs: vec![spec.clone()],
        };
        assert_eq!(results(&alone, &graph)[0], *result);
        assert_eq!(costs.pretrain, taught[0].1.pretrain);
        assert!(costs.pretrain.wall > 0.0 && costs.learn.wall > 0.0 && costs.profile.wall > 0.0);
    }
    assert_ne!(taught[0].0, taught[1].0);
    // A job put together by hand does not mix what does not belong together.
    let mixed = Job { specs };
    assert_eq!(results(&mixed, &graph)[2], results(&together[1], &graph)[0]);
}

#[test]
fn inductive_runs_have_a_training_of_their_own() {
    let small = [("epochs", Value::from(3)), ("hidden", Value::from(8))];
    let specs = vec![
        spec("finetune", Protocol::Paper, &small),
        spec("finetune", Protocol::Inductive, &small),
        spec("finetune+tp", Protocol::Open, &small),
        spec("finetune+tp", Protocol::Inductive, &small),
        spec("finetune", Protocol::Connected, &small),
    ];
    let together = jobs(specs.clone());
    let protocols =
        |job: &Job| -> Vec<Protocol> { job.specs.iter().map(|spec| spec.protocol).collect() };
    let transductive = [Protocol::Paper, Protocol::Open, Protocol::Connected];
    assert_eq!(protocols(&together[0]), transductive);
    assert_eq!(protocols(&together[1]), [Protocol::Inductive; 2]);
    let recipe = Recipe::demo().scaled(0.05).unwrap();
    let graph = synthesize(&recipe, &Context::new(&Silent, 1 << 30)).unwrap();
    let found = results(
        &Job {
            specs: specs.clone(),
        },
        &graph,
    );
    for job in &together {
        for (spec, alone) in job.specs.iter().zip(results(job, &graph)) {
            let place = specs.iter().position(|known| known == spec).unwrap();
            assert_eq!(found[place], alone);
        }
    }
}

#[test]
fn a_runs_groups_are_drawn_from_its_seed_whatever_the_company() {
    let recipe = Recipe::demo().scaled(0.5).unwrap();
    let graph = synthesize(&recipe, &Context::new(&Silent, 1 << 30)).unwrap();
    let groups = |seed: u64| {
        // Without smoothing some small groups are taken for another task, and which depends on the draw.
        let poor = [("epochs", 2.into()), ("tp-smoothing", 0.into())];
        let mut run = spec("finetune+tp", Protocol::groups(2).unwrap(), &poor);
        run.seed = seed;
        results(&Job { specs: vec![run] }, &graph)
    };
    assert_eq!(groups(1), groups(1));
    // The learner's own seed is the same: only the groups differ.
    assert_ne!(groups(1), groups(2));
}
