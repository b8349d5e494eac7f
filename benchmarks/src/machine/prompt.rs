//! One epoch of a task's prompt and head, as `tpp` trains it.

use serde_json::json;
use treering_data::Silent;
use treering_learn::TrainingTask;
use treering_learn::tpp::{Tpp, TppParameters};

use super::peaks::Peaks;
use super::shapes::{Shapes, there};
use super::{Fallible, Once, Row, Work, smoothing};

/// What an epoch must do, for n nodes, a arcs, c columns, t train nodes, k tokens, d hidden columns and 2 classes:
///
/// - X A^T and X^T of the gradient: X is read twice, 8 n c bytes; 4 n c k flops.
/// - `hops` steps of k columns there, and as many back.
/// - Train rows: what the frozen layer made of each is read, 4 t d bytes; k + 2 multiply-adds a number on the way there, twice that
///   on the way back, 6 (k + 2) t d flops. Shares and their gradient, 8 t k bytes.
/// - Tokens times W1 and their gradient: 4 c d bytes, 4 c d k flops.
fn work(task: &TrainingTask, parameters: &TppParameters) -> Work {
    let (nodes, arcs) = (task.graph().nodes(), task.graph().arcs().len());
    let (n, c) = (nodes as f64, task.graph().features().columns() as f64);
    let (t, k) = (task.train().nodes.len() as f64, parameters.tokens as f64);
    let (d, classes) = (parameters.hidden as f64, task.classes().len() as f64);
    let step = smoothing::work(nodes, arcs, parameters.tokens);
    let steps = 2.0 * parameters.hops as f64;
    Work {
        streamed: 8.0 * n * c + 4.0 * t * d + 8.0 * t * k + 4.0 * c * d + steps * step.streamed,
        gathered: steps * step.gathered,
        single: 4.0 * n * c * k
            + 6.0 * (k + classes) * t * d
            + 4.0 * c * d * k
            + steps * step.single,
        double: 0.0,
    }
}

/// A learner whose backbone is as it was drawn: what an epoch takes does not depend on its weights.
fn learner(task: &TrainingTask, epochs: usize) -> Fallible<Tpp> {
    let mut parameters = TppParameters {
        epochs,
        ..TppParameters::default()
    };
    parameters.contrastive.epochs = 0;
    let mut learner = Tpp::new(parameters)?;
    learner.pretrain(task, &Silent)?;
    Ok(learner)
}

fn train(task: &TrainingTask, epochs: usize) -> Fallible<()> {
    // Not the first task, which has no prompt.
    learner(task, epochs)?.train(std::slice::from_ref(task), false, &Silent)?;
    Ok(())
}

pub(super) fn rows(shapes: &Shapes, peaks: &Peaks, threads: usize) -> Fallible<Vec<Row>> {
    let task = there(&shapes.products_task)?;
    let parameters = TppParameters::default();
    let (nodes, arcs) = (task.graph().nodes(), task.graph().arcs().len());
    let trained = task.train().nodes.len();
    Ok(vec![Row {
        what: "prompt epoch".into(),
        shape: format!(
            "task 1 of products-like: {nodes} nodes, {arcs} arcs, {trained} train nodes"
        ),
        threads,
        seconds: shapes
            .clock
            .epoch((2, 22), 3, |epochs| train(task, epochs))?,
        work: work(task, &parameters),
        gather: peaks.gather(nodes, parameters.tokens),
        counts: json!({ "nodes": nodes, "arcs": arcs, "train": trained, "columns": task.graph().features().columns() }),
    }])
}

pub(super) fn once(shapes: &Shapes) -> Fallible<Once<'_>> {
    let task = there(&shapes.products_task)?;
    // Two hundred epochs, so that what is done once weighs as little as it does in a real training.
    Ok(Box::new(move || train(task, 200)))
}
