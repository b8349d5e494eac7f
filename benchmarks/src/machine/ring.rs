//! What learning a task with `treering` takes beside smoothing: its profile and its head.

use serde_json::json;
use treering_data::Silent;
use treering_learn::treering::{Parameters, Treering};
use treering_learn::{Learner, TrainingTask};

use super::shapes::{Shapes, there};
use super::{Clock, Fallible, Once, Row, Work};

/// Times that the profile turns its directions, and directions that it follows beside those kept.
const TURNS: f64 = 4.0;
const SPARE: usize = 16;

/// What a profile must do, for t train rows of w numbers, r directions kept and f followed:
///
/// - Rows times directions once more than there are turns, and back once a turn: 2 (2 turns + 1) t w f flops. A turn can do both on one reading of the
///   rows: 4 t w bytes each.
/// - Directions made orthonormal before and after each turn, about 4 w f^2 flops in f64 each; products of images t f^2 by symmetry, their
///   directions about 9 f^3 in f64, and 2 r f w.
/// - Distances of the train rows along the directions: 2 t w r.
fn profile_work(train: usize, width: usize, kept: usize) -> Work {
    let followed = (kept + SPARE).min(width) as f64;
    let (t, w, r, f) = (train as f64, width as f64, kept as f64, followed);
    Work {
        streamed: (TURNS + 1.0) * 4.0 * t * w,
        gathered: 0.0,
        single: 2.0 * (2.0 * TURNS + 1.0) * t * w * f
            + t * f * f
            + 2.0 * r * f * w
            + 2.0 * t * w * r,
        double: (TURNS + 1.0) * 4.0 * w * f * f + 9.0 * f * f * f,
    }
}

/// What a head by normal equations must do, for t train rows of w numbers (all hops and a one) and one output: products of columns by symmetry t w^2
/// and the right side 2 t w, the factor w^3 / 3, all in f64; rows are read once, in f32.
fn head_work(train: usize, width: usize) -> Work {
    let (t, w) = (train as f64, width as f64);
    Work {
        streamed: 4.0 * t * w,
        gathered: 0.0,
        single: 0.0,
        double: t * w * w + 2.0 * t * w + w * w * w / 3.0,
    }
}

fn learn(task: &TrainingTask, rank: usize) -> Fallible<()> {
    let parameters = Parameters {
        rank,
        ..Parameters::default()
    };
    let mut learner = Treering::new(parameters)?;
    learner.learn(std::slice::from_ref(task), &Silent)?;
    Ok(())
}

fn seconds(clock: Clock, task: &TrainingTask, rank: usize) -> Fallible<f64> {
    clock.best_if(8, || learn(task, rank))
}

/// Learning differs in the profile alone between many directions and none (which still follows [`SPARE`] of them, so that is taken off the work too), and in the head
/// alone between two classes and one.
pub(super) fn rows(shapes: &Shapes, threads: usize) -> Fallible<Vec<Row>> {
    let (two, one) = (
        there(&shapes.products_task)?,
        there(&shapes.products_class)?,
    );
    let (train, width) = (two.train().nodes.len(), two.graph().features().columns());
    let p = Parameters::default();
    let rank = p.rank.min(train).min(width);
    let clock = shapes.clock;
    let (bare, plain) = (seconds(clock, one, 0)?, seconds(clock, one, rank)?);
    let all = seconds(clock, two, rank)?;
    let columns = (p.hops + 1) * width + 1;
    let counts = json!({ "train": train, "width": width, "columns": columns });
    let row = |what: &str, shape: String, seconds: f64, work: Work| Row {
        what: what.into(),
        shape: format!("task 1 of products-like: {train} train rows of {shape}"),
        threads,
        seconds,
        work,
        gather: None,
        counts: counts.clone(),
    };
    let profile = profile_work(train, width, rank).without(profile_work(train, width, 0));
    Ok(vec![
        row("profile", width.to_string(), plain - bare, profile),
        row(
            "head, normal equations",
            columns.to_string(),
            all - plain,
            head_work(train, columns),
        ),
    ])
}

pub(super) fn once(shapes: &Shapes) -> Fallible<Once<'_>> {
    let task = there(&shapes.products_task)?;
    Ok(Box::new(move || learn(task, Parameters::default().rank)))
}
