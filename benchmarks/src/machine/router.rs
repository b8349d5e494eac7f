//! The router of the learner `treering`: its scores from the rings, and rows that are scored.

use serde_json::json;
use treering_graph::{Graph, NodeId};
use treering_learn::treering::{Parameters, Ring, Treering};
use treering_learn::{Groups, Learner, Query};

use super::shapes::{Shapes, Words, there};
use super::{Clock, Fallible, Once, Row, Work};

pub(super) fn rows(shapes: &Shapes, threads: usize) -> Fallible<Vec<Row>> {
    let words = there(&shapes.words)?;
    Ok(vec![
        building(words, shapes.clock, threads)?,
        scoring(words, shapes.clock, threads)?,
    ])
}

/// A learner that has worked nothing out yet.
fn fresh(words: &Words) -> Fallible<Treering> {
    Ok(Treering::restore(
        Parameters::default(),
        words.rings.clone(),
    )?)
}

fn width(rings: &[Ring]) -> usize {
    rings.first().map_or(0, |ring| {
        ring.profile.means.len() / ring.profile.counts.len().max(1)
    })
}

fn classes(rings: &[Ring]) -> usize {
    rings.iter().map(Ring::classes).sum()
}

fn rank(ring: &Ring, width: usize) -> usize {
    ring.profile.scatter.directions.len() / width.max(1)
}

fn ask(graph: &Graph, nodes: usize) -> Query {
    let nodes = NodeId::first(nodes.min(graph.nodes())).collect();
    Query::new(graph.clone(), nodes, Groups::Single)
}

/// What building must do, for rows of w numbers, C classes and rings of r directions:
///
/// - Scatters: directions^T directions is symmetric, so w^2 r flops a ring; it is added to a sum in f64, of which half is read and written, 8 w^2
///   bytes, and the directions are read, 4 r w.
/// - Between classes: w^2 C flops in f64, by symmetry too. The factor: w^3 / 3. Scores: 2 w^2 C.
fn building_work(rings: &[Ring]) -> Work {
    let (w, all) = (width(rings) as f64, classes(rings) as f64);
    let ranks = || rings.iter().map(|ring| rank(ring, width(rings)) as f64);
    Work {
        streamed: ranks().map(|r| 8.0 * w * w + 4.0 * r * w).sum(),
        gathered: 0.0,
        single: ranks().map(|r| w * w * r).sum(),
        double: w * w * w / 3.0 + 3.0 * w * w * all,
    }
}

/// The first answer of a fresh learner and the second differ in the scores, which are then known.
fn building(words: &Words, clock: Clock, threads: usize) -> Fallible<Row> {
    let query = ask(&words.first, 1);
    let (mut cold, mut warm) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let learner = fresh(words)?;
        let answer = || Ok(learner.predict(&query).map(drop)?);
        cold = cold.min(clock.best_if(1, answer)?);
        warm = warm.min(clock.best_if(2, answer)?);
    }
    let rings = &words.rings;
    let counts = json!({ "width": width(rings), "classes": classes(rings), "rings": rings.len() });
    Ok(Row {
        what: "router, scores from rings".into(),
        shape: format!(
            "corafull-like: {} rings, rows of {}, {} classes",
            rings.len(),
            width(rings),
            classes(rings)
        ),
        threads,
        seconds: cold - warm,
        work: building_work(rings),
        gather: None,
        counts,
    })
}

/// What routing n nodes must do, for rows of w numbers, C classes in all, and for each node a ring of r directions and c classes:
///
/// - Scores of all classes: 2 w C flops. How usual the node is for its task: 2 w r flops along the directions, and 3 (w + r) c in f64 for distances.
/// - Rows are read for both: 8 w bytes. Directions are read once for each ring asked about.
fn scoring_work(rings: &[Ring], tasks: &[u32]) -> Work {
    let (w, all) = (width(rings) as f64, classes(rings) as f64);
    let mut asked = vec![false; rings.len()];
    let mut work = Work::default();
    for &task in tasks {
        let ring = &rings[task as usize];
        let (r, c) = (rank(ring, width(rings)) as f64, ring.classes() as f64);
        work.streamed += 8.0 * w;
        work.single += 2.0 * w * (all + r);
        work.double += 3.0 * (w + r) * c;
        asked[task as usize] = true;
    }
    for (ring, _) in rings.iter().zip(&asked).filter(|(_, asked)| **asked) {
        work.streamed += 4.0 * ring.profile.scatter.directions.len() as f64;
    }
    work
}

/// With the tasks that were found given, the same query is answered without the router.
fn scoring(words: &Words, clock: Clock, threads: usize) -> Fallible<Row> {
    let learner = fresh(words)?;
    let open = ask(&words.graph, usize::MAX);
    let answers = learner.predict(&open)?;
    let tasks: Vec<u32> = answers.iter().map(|answer| answer.task).collect();
    let mut known = open.clone();
    known.tasks = Some(tasks.clone());
    let time = |query: &Query| clock.best_if(4, || Ok(learner.predict(query).map(drop)?));
    let seconds = time(&open)? - time(&known)?;
    let rings = &words.rings;
    let counts = json!({ "width": width(rings), "classes": classes(rings), "rows": tasks.len() });
    Ok(Row {
        what: "router, rows scored".into(),
        shape: format!("corafull-like: {} rows of {}", tasks.len(), width(rings)),
        threads,
        seconds,
        work: scoring_work(rings, &tasks),
        gather: None,
        counts,
    })
}

/// Scores from the rings, and as many rows as take about as long.
pub(super) fn once(shapes: &Shapes) -> Fallible<Once<'_>> {
    let words = there(&shapes.words)?;
    let query = ask(&words.graph, usize::MAX);
    Ok(Box::new(move || {
        fresh(words)?.predict(&query)?;
        Ok(())
    }))
}
