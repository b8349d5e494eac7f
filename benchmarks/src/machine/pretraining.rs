//! One epoch of contrastive training.

use serde_json::json;
use treering_data::Silent;
use treering_learn::TrainingTask;
use treering_learn::tpp::{Tpp, TppParameters};

use super::shapes::{Shapes, there};
use super::{Fallible, Once, Row, Work};

/// What an epoch must do, for m contrasted nodes, c columns and d hidden columns:
///
/// - 12 m^2 d flops for the contrast: two views with each other 2 m^2 d and each with itself m^2 d by symmetry, and four products of all similarities with a view.
/// - 48 m d^2 for two views through the projection head and back, 12 d^3 for the weights folded and unfolded, 8 m c d for the first layer there and back.
/// - 2 m^2 similarities are written and read once: 16 m^2 bytes. The corrupted view is smoothed anew, in the cache on this task; its bytes are not counted.
fn work(contrasted: usize, columns: usize, hidden: usize) -> Work {
    let (m, c, d) = (contrasted as f64, columns as f64, hidden as f64);
    Work {
        streamed: 16.0 * m * m,
        gathered: 0.0,
        single: 12.0 * m * m * d + 48.0 * m * d * d + 12.0 * d * d * d + 8.0 * m * c * d,
        double: 0.0,
    }
}

fn parameters(shapes: &Shapes, epochs: usize) -> TppParameters {
    let mut parameters = TppParameters::default();
    parameters.contrastive.epochs = epochs;
    parameters.contrastive.budget = shapes.budget;
    parameters
}

fn pretrain(task: &TrainingTask, parameters: TppParameters) -> Fallible<()> {
    Tpp::new(parameters)?.pretrain(task, &Silent)?;
    Ok(())
}

pub(super) fn rows(shapes: &Shapes, threads: usize) -> Fallible<Vec<Row>> {
    let task = there(&shapes.arxiv_task)?;
    let p = parameters(shapes, 0);
    let (nodes, columns) = (task.graph().nodes(), task.graph().features().columns());
    let contrasted = p.contrastive.contrasted(nodes);
    Ok(vec![Row {
        what: "pre-training epoch".into(),
        shape: format!("task 1 of arxiv-like: {nodes} nodes, {contrasted} contrasted"),
        threads,
        seconds: shapes.clock.epoch((1, 7), 3, |epochs| {
            pretrain(task, parameters(shapes, epochs))
        })?,
        work: work(contrasted, columns, p.hidden),
        gather: None,
        counts: json!({ "nodes": nodes, "contrasted": contrasted, "columns": columns, "hidden": p.hidden }),
    }])
}

pub(super) fn once(shapes: &Shapes) -> Fallible<Once<'_>> {
    let task = there(&shapes.arxiv_task)?;
    Ok(Box::new(move || pretrain(task, parameters(shapes, 20))))
}
