//! Every formula against one that is written down plainly: dense matrices, explicit inverses, refits.

use faer::linalg::solvers::Llt;
use faer::prelude::Solve;
use faer::{Mat, Side};
use treering_data::Silent;
use treering_graph::{
    Dense, Direction, Features, Graph, NodeId, Origin, Parts, Propagation, Side as Way,
};

use super::embed::{Kept, Space};
use super::familiar::{Familiar, Ruler, Usual};
use super::head::{Blocks, Head};
use super::profile::Profile;
use super::router::{Router, Sums};
use super::{Parameters, Ring, Treering, gram};
use crate::checks::{small_graph, sparsely};
use crate::{Answer, Groups, Labelled, LearnError, Learner, Query, Shown, Stage, TrainingTask};

const NODES: usize = 30;
const COLUMNS: usize = 9;

fn task(direction: Direction, sparse: bool, number: u64) -> TrainingTask {
    let graph = small_graph(NODES, COLUMNS, direction);
    let graph = if sparse { sparsely(&graph) } else { graph };
    TrainingTask::new(graph, number, Shown::Train).unwrap()
}

fn unit(row: &mut [f64]) {
    let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|v| *v /= length);
    }
}

/// Rows of S^hop applied to unit rows of features, made unit again, by the definition.
fn plain_rows(task: &TrainingTask, hop: usize) -> Vec<Vec<f64>> {
    let graph = task.graph();
    let dense = graph.features().to_dense();
    let mut x: Vec<f64> = Vec::new();
    for node in 0..graph.nodes() {
        let mut row: Vec<f64> = dense.row(node).iter().map(|&v| f64::from(v)).collect();
        unit(&mut row);
        x.extend(row);
    }
    let smooth = Propagation::new(graph.arcs()).smooth(Way::Forward, &x, COLUMNS, hop);
    let mut rows: Vec<Vec<f64>> = smooth.chunks(COLUMNS).map(<[f64]>::to_vec).collect();
    rows.iter_mut().for_each(|row| unit(row));
    rows
}

#[test]
fn few_features_are_seen_as_they_are() {
    let task = task(Direction::Directed, true, 0);
    let nodes: Vec<NodeId> = NodeId::first(NODES).collect();
    let view = Space::new(COLUMNS, 100, 1)
        .view(task.graph(), &nodes, 3, Kept::LastHop, &|_| ())
        .unwrap();
    for (row, right) in view.rows.chunks(COLUMNS).zip(plain_rows(&task, 3)) {
        for (&value, right) in row.iter().zip(right) {
            assert!((f64::from(value) - right).abs() < 1e-5);
        }
    }
}

#[test]
fn a_projection_keeps_angles_nearly() {
    let columns = 3000;
    let space = Space::new(columns, 1024, 7);
    assert_eq!(space.width(), 1024);
    let graph = sparsely(&small_graph(NODES, columns, Direction::Undirected));
    let nodes: Vec<NodeId> = NodeId::first(NODES).collect();
    let view = space
        .view(&graph, &nodes, 0, Kept::LastHop, &|_| ())
        .unwrap();
    let dense = graph.features().to_dense();
    let mut largest = 0f64;
    for a in 0..NODES {
        for b in 0..a {
            let dot = |x: &[f32], y: &[f32]| -> f64 {
                x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum()
            };
            let cosine = dot(dense.row(a), dense.row(b))
                / (dot(dense.row(a), dense.row(a)) * dot(dense.row(b), dense.row(b))).sqrt();
            let row = |n: usize| &view.rows[n * 1024..(n + 1) * 1024];
            largest = largest.max((cosine - dot(row(a), row(b))).abs());
        }
    }
    // The deviation of a cosine is at most 1 / sqrt(1024); 435 pairs reach four of them.
    assert!(largest < 0.14, "{largest}");
    let other = Space::new(columns, 1024, 8)
        .view(&graph, &nodes, 0, Kept::LastHop, &|_| ())
        .unwrap();
    assert!(*view.rows != *other.rows);
}

/// The normal equations of the head, with every block made.
fn plain_head(task: &TrainingTask, hops: usize) -> Mat<f64> {
    let train = task.train();
    let count = train.nodes.len();
    let blocks: Vec<Vec<Vec<f64>>> = (0..=hops).map(|hop| plain_rows(task, hop)).collect();
    let width = (hops + 1) * COLUMNS + 1;
    let scale = 1.0 / ((hops + 1) as f64).sqrt();
    let z = Mat::from_fn(count, width, |i, j| match j + 1 == width {
        true => 1.0,
        false => blocks[j / COLUMNS][train.nodes[i].index()][j % COLUMNS] * scale,
    });
    let of_class = |class: u32| train.classes.iter().filter(|&&c| c == class).count() as f64;
    let weight = |i: usize| 0.5 / of_class(train.classes[i]);
    let weighted = Mat::from_fn(count, width, |i, j| z[(i, j)] * weight(i));
    let mut matrix = z.transpose() * &weighted;
    (0..width).for_each(|at| matrix[(at, at)] += 3.0 / count as f64);
    let target = Mat::from_fn(
        count,
        1,
        |i, _| if train.classes[i] == 0 { 1.0 } else { -1.0 },
    );
    matrix
        .llt(Side::Lower)
        .unwrap()
        .solve(weighted.transpose() * target)
}

#[test]
fn a_head_is_the_solution_of_its_normal_equations() {
    use Direction::{Directed, Undirected};
    // Dense features by products, sparse ones by conjugate gradients.
    for (direction, sparse) in [
        (Undirected, false),
        (Directed, false),
        (Undirected, true),
        (Directed, true),
    ] {
        let task = task(direction, sparse, 0);
        let train = task.train();
        let kept = if sparse {
            Kept::LastHop
        } else {
            Kept::EveryHop
        };
        let view = Space::new(COLUMNS, 100, 1)
            .view(task.graph(), &train.nodes, 3, kept, &|_| ())
            .unwrap();
        let head = Head::new(&Blocks::new(task.graph(), &view, &train.nodes), train, 2);
        let right = plain_head(&task, 3);
        assert_eq!(head.weights.len() + 1, right.nrows());
        for (at, &found) in head.weights.iter().chain(&head.bias).enumerate() {
            let right = right[(at, 0)];
            assert!(
                (f64::from(found) - right).abs() < 1e-4,
                "{at}: {found} {right}"
            );
        }
    }
}

#[test]
fn dense_and_sparse_features_make_the_same_head_in_any_space() {
    let head = |width: usize, sparse: bool| {
        let parameters = Parameters {
            width,
            rank: 2,
            // So that train nodes are more than columns.
            hops: 1,
            ..Parameters::default()
        };
        let mut learner = Treering::new(parameters).unwrap();
        let task = task(Direction::Undirected, sparse, 0);
        learner.learn(&[task], &Silent).unwrap();
        learner.rings[0].head.clone()
    };
    // A space narrower than the features shows them projected, and a head is made of features.
    for width in [COLUMNS - 1, COLUMNS] {
        let (dense, sparse) = (head(width, false), head(width, true));
        let both = dense.weights.iter().zip(&sparse.weights);
        both.for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{width}: {a} {b}"));
        assert_eq!(dense.weights.len(), sparse.weights.len());
    }
}

#[test]
fn several_outputs_are_found_at_once() {
    let task = task(Direction::Undirected, false, 0);
    let nodes = &task.train().nodes;
    let view = Space::new(COLUMNS, 100, 1)
        .view(task.graph(), nodes, 3, Kept::EveryHop, &|_| ())
        .unwrap();
    let blocks = Blocks::new(task.graph(), &view, nodes);
    let one: Vec<f64> = (0..nodes.len()).map(|i| (i % 5) as f64 - 2.0).collect();
    let three: Vec<f64> = one.iter().flat_map(|&t| [t, -2.0 * t, 0.0]).collect();
    let weights = vec![0.1; nodes.len()];
    let of = |targets: &[f64]| gram::solved(&blocks, targets, &weights, 0.01).unwrap();
    let (one, three) = (of(&one), of(&three));
    assert_eq!(three.bias, [one.bias[0], -2.0 * one.bias[0], 0.0]);
    let times = |factor: f32| one.weights.iter().map(move |weight| factor * weight);
    let wanted: Vec<f32> = times(1.0).chain(times(-2.0)).chain(times(0.0)).collect();
    assert_eq!(three.weights, wanted);
}

/// Rows that scatter in all directions, of three classes.
fn rows(count: usize, width: usize) -> (Vec<f32>, Labelled) {
    let value = |i: usize| {
        (((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0) * (1.0 + (i % width) as f32 / 4.0)
    };
    let rows = (0..count * width).map(value).collect();
    let labelled = Labelled {
        nodes: NodeId::first(count).collect(),
        classes: (0..count as u32).map(|i| i * i % 7 % 3).collect(),
    };
    (rows, labelled)
}

/// The scatter of a profile as a matrix.
fn matrix_of(profile: &Profile, width: usize) -> Mat<f64> {
    let directions = &profile.scatter.directions;
    Mat::from_fn(width, width, |i, j| {
        let along = directions
            .chunks(width)
            .map(|d| f64::from(d[i]) * f64::from(d[j]));
        along.sum::<f64>() + if i == j { profile.scatter.rest } else { 0.0 }
    })
}

fn plain_scatter(rows: &[f32], labelled: &Labelled, width: usize) -> Mat<f64> {
    let mut scatter = Mat::zeros(width, width);
    for class in 0..3u32 {
        let own: Vec<&[f32]> = rows
            .chunks(width)
            .zip(&labelled.classes)
            .filter(|(_, c)| **c == class)
            .map(|(row, _)| row)
            .collect();
        let mean =
            |at: usize| own.iter().map(|row| f64::from(row[at])).sum::<f64>() / own.len() as f64;
        for row in &own {
            for i in 0..width {
                for j in 0..width {
                    let z = |at: usize| f64::from(row[at]) - mean(at);
                    scatter[(i, j)] += z(i) * z(j) / own.len() as f64;
                }
            }
        }
    }
    scatter
}

fn assert_near(a: &Mat<f64>, b: &Mat<f64>, within: f64, what: &str) {
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            assert!(
                (a[(i, j)] - b[(i, j)]).abs() < within,
                "{what} {i} {j}: {} {}",
                a[(i, j)],
                b[(i, j)]
            );
        }
    }
}

#[test]
fn a_scatter_of_full_rank_is_that_of_the_definition() {
    // More rows than columns and fewer.
    for (count, width) in [(40, 6), (9, 12)] {
        let (rows, labelled) = rows(count, width);
        let profile = Profile::new(&rows, &labelled, 3, width, 5).unwrap();
        let right = plain_scatter(&rows, &labelled, width);
        assert_near(&matrix_of(&profile, width), &right, 1e-4, "full");
    }
}

#[test]
fn a_bounded_scatter_keeps_the_largest_directions_and_the_trace() {
    let (count, width, rank) = (200, 12, 4);
    let (rows, labelled) = rows(count, width);
    let profile = Profile::new(&rows, &labelled, 3, rank, 5).unwrap();
    assert_eq!(profile.scatter.directions.len(), rank * width);
    let right = plain_scatter(&rows, &labelled, width);
    let trace = |m: &Mat<f64>| (0..width).map(|at| m[(at, at)]).sum::<f64>();
    assert!((trace(&matrix_of(&profile, width)) - trace(&right)).abs() < 1e-4);
    let values = right.self_adjoint_eigen(Side::Lower).unwrap();
    for (at, direction) in profile.scatter.directions.chunks(width).enumerate() {
        let length: f64 = direction.iter().map(|&v| f64::from(v).powi(2)).sum();
        let right = values.S()[width - 1 - at];
        assert!(
            (length - right).abs() < 1e-3 * right,
            "{at}: {length} {right}"
        );
    }
    assert!(
        Profile::new(&rows, &labelled, 3, 0, 5)
            .unwrap()
            .scatter
            .directions
            .is_empty()
    );
}

/// Sixty rows of three classes, in a profile of full rank, in sums of it alone.
fn summed() -> (usize, Vec<f32>, Labelled, Profile, Sums) {
    let width = 6;
    let (rows, labelled) = rows(60, width);
    let profile = Profile::new(&rows, &labelled, 3, width, 5).unwrap();
    let mut sums = Sums::new(width);
    sums.add(&profile);
    (width, rows, labelled, profile, sums)
}

/// The squared distance of a row to a class mean, by a scatter that was taken apart.
fn plain_distance(solver: &Llt<f64>, row: &[f32], mean: &[f32]) -> f64 {
    let z = Mat::from_fn(row.len(), 1, |at, _| {
        f64::from(row[at]) - f64::from(mean[at])
    });
    let solved = solver.solve(&z);
    (0..row.len()).map(|at| z[(at, 0)] * solved[(at, 0)]).sum()
}

#[test]
fn ridge_scores_are_those_of_least_squares_on_all_rows() {
    let (width, rows, labelled, profile, sums) = summed();
    let scores = sums.scores(Router::Ridge).unwrap();
    // By hand: rows centred at the mean of class means, weights 1 / (classes x class size), targets 1 and 0 less their mean.
    let counts: Vec<f64> = profile.counts.iter().map(|&n| f64::from(n)).collect();
    let centre: Vec<f64> = (0..width)
        .map(|at| {
            (0..3)
                .map(|c| f64::from(profile.means[c * width + at]))
                .sum::<f64>()
                / 3.0
        })
        .collect();
    let z = Mat::from_fn(60, width, |i, j| f64::from(rows[i * width + j]) - centre[j]);
    let weight = |i: usize| 1.0 / (3.0 * counts[labelled.classes[i] as usize]);
    let weighted = Mat::from_fn(60, width, |i, j| z[(i, j)] * weight(i));
    let within = plain_scatter(&rows, &labelled, width);
    let ridge = (0..width).map(|at| within[(at, at)]).sum::<f64>() / 3.0 / 60.0;
    let mut matrix = z.transpose() * &weighted;
    (0..width).for_each(|at| matrix[(at, at)] += ridge);
    let target = Mat::from_fn(60, 3, |i, c| {
        f64::from(u8::from(labelled.classes[i] as usize == c))
    });
    let found = matrix
        .llt(Side::Lower)
        .unwrap()
        .solve(weighted.transpose() * target);
    let ours = scores.of(&rows, 60);
    for i in 0..60 {
        for c in 0..3 {
            let right: f64 = (0..width).map(|j| z[(i, j)] * found[(j, c)]).sum();
            let ours = f64::from(ours[i * 3 + c]);
            assert!((ours - right).abs() < 1e-4, "{ours} {right}");
        }
    }
}

#[test]
fn evidence_scores_differ_by_the_differences_of_squared_distances() {
    let (width, rows, labelled, profile, sums) = summed();
    let ours = sums.scores(Router::Evidence).unwrap().of(&rows, 60);
    let mut shared = plain_scatter(&rows, &labelled, width);
    shared *= faer::Scale(1.0 / 3.0);
    let ridge = (0..width).map(|at| shared[(at, at)]).sum::<f64>() / 60.0;
    (0..width).for_each(|at| shared[(at, at)] += ridge);
    let solver = shared.llt(Side::Lower).unwrap();
    let distance = |i: usize, c: usize| {
        let place = |at: usize| at * width..(at + 1) * width;
        plain_distance(&solver, &rows[place(i)], &profile.means[place(c)])
    };
    for i in 0..60 {
        for c in 1..3 {
            let right = (distance(i, 0) - distance(i, c)) / 2.0;
            let ours = f64::from(ours[i * 3 + c] - ours[i * 3]);
            assert!(
                (ours - right).abs() < 1e-3 * (1.0 + right.abs()),
                "{ours} {right}"
            );
        }
    }
}

#[test]
fn distances_are_those_of_the_inverse_scatter() {
    let width = 6;
    let (rows, labelled) = rows(60, width);
    for rank in [width, 2, 0] {
        let profile = Profile::new(&rows, &labelled, 3, rank, 5).unwrap();
        let mut scatter = matrix_of(&profile, width);
        let trace: f64 = (0..width).map(|at| scatter[(at, at)]).sum();
        (0..width).for_each(|at| scatter[(at, at)] += trace / 60.0);
        scatter *= faer::Scale(1.0 / 3.0);
        let solver = scatter.llt(Side::Lower).unwrap();
        let ours = Ruler::new(&profile).distances(&rows, 60);
        for (i, ours) in ours.into_iter().enumerate() {
            let to = |c: usize| {
                let place = |at: usize| at * width..(at + 1) * width;
                plain_distance(&solver, &rows[place(i)], &profile.means[place(c)])
            };
            let right = (0..3).map(to).fold(f64::INFINITY, f64::min);
            assert!(
                (ours - right).abs() < 1e-3 * (1.0 + right),
                "{rank}: {ours} {right}"
            );
        }
    }
}

#[test]
fn familiarity_is_the_share_of_stranger_groups() {
    let width = 6;
    let (rows, labelled) = rows(200, width);
    let profile = Profile::new(&rows, &labelled, 3, width, 5).unwrap();
    let usual = Usual::new(&profile, &rows, &labelled, &[], 1);
    assert_eq!(usual.nodes, 200);
    let known = Familiar::new([&usual].into_iter());
    let share = |size: usize, distance: f64| known.share(size, distance).unwrap();
    // Standardised distances of the nodes themselves: half of them lie above the median.
    let median = f64::from(usual.points[32]);
    assert!((share(1, median) - 0.5).abs() < 0.02);
    assert!(share(1, -1e9) > 0.99 && share(1, 1e3) < 0.01);
    // Stranger is never more familiar, and no two strange ones are the same.
    assert!(share(1, 1e3) > share(1, 2e3) && share(1, 2e3) > 0.0);
    // Means of groups scatter less, so the same distance is stranger for more nodes; sizes between lie between.
    let far = f64::from(usual.points[56]);
    assert!(share(1, far) > share(3, far) && share(3, far) > share(5, far));
    assert_eq!(share(50, 0.1), share(5000, 0.1));
    assert_eq!(Familiar::new([].into_iter()).share(1, 0.0), None);
}

fn learned(numbers: &[u64]) -> Treering {
    let mut learner = Treering::new(Parameters::default()).unwrap();
    let tasks: Vec<TrainingTask> = numbers.iter().map(|&n| varied(n)).collect();
    learner.learn(&tasks, &Silent).unwrap();
    learner
}

/// Tasks whose features differ.
fn varied(number: u64) -> TrainingTask {
    let graph = small_graph(NODES + 2 * number as usize, COLUMNS, Direction::Undirected);
    TrainingTask::new(graph, number, Shown::Train).unwrap()
}

fn asked(learner: &Treering, groups: Groups) -> Vec<Answer> {
    let graph = small_graph(NODES, COLUMNS, Direction::Undirected);
    let nodes = NodeId::first(NODES).collect();
    learner.predict(&Query::new(graph, nodes, groups)).unwrap()
}

#[test]
fn a_ring_that_goes_leaves_the_model_that_never_had_it() {
    let with = learned(&[0, 1, 2]);
    let rings: Vec<Ring> = [0, 2].map(|at| with.rings()[at].clone()).to_vec();
    let forgotten = Treering::restore(Parameters::default(), rings).unwrap();
    let never = learned(&[0, 2]);
    assert_eq!(forgotten.rings(), never.rings());
    for groups in [Groups::Single, Groups::All] {
        assert_eq!(asked(&forgotten, groups.clone()), asked(&never, groups));
    }
}

#[test]
fn tasks_learned_one_by_one_give_the_same_rings_as_together() {
    let together = learned(&[0, 1, 2]);
    let mut apart = Treering::new(Parameters::default()).unwrap();
    for number in 0..3 {
        apart.learn(&[varied(number)], &Silent).unwrap();
        // Asking in between must not change anything.
        asked(&apart, Groups::Single);
    }
    assert_eq!(together.rings(), apart.rings());
    assert_eq!(
        asked(&together, Groups::Single),
        asked(&apart, Groups::Single)
    );
}

fn at_stages(
    learner: &Treering,
    query: &Query,
    stages: &[Stage],
) -> Result<Vec<Vec<Answer>>, LearnError> {
    let mut all = Vec::new();
    learner.predict_at(query, stages, &mut |at, answers| {
        assert_eq!(at, all.len());
        all.push(answers);
    })?;
    Ok(all)
}

#[test]
fn earlier_stages_are_as_they_were() {
    let (all, first) = (learned(&[0, 1, 2]), learned(&[0, 1]));
    let graph = small_graph(NODES, COLUMNS, Direction::Undirected);
    let mut query = Query::new(graph, NodeId::first(NODES).collect(), Groups::Single);
    let right = first.predict(&query).unwrap();
    all.predict(&query).unwrap();
    query.seen = Some(2);
    assert_eq!(all.predict(&query).unwrap(), right);
    let stages = [3, 1, 2].map(|seen| Stage { seen, patch: None });
    let together = at_stages(&all, &query, &stages).unwrap();
    for (stage, found) in stages.into_iter().zip(together) {
        query.go_to(stage);
        assert_eq!(found, all.predict(&query).unwrap(), "{stage:?}");
    }
    let none = Stage {
        seen: 4,
        patch: None,
    };
    assert!(at_stages(&all, &query, &[none]).is_err());
    query.nodes.clear();
    assert_eq!(
        at_stages(&all, &query, &stages).unwrap(),
        [vec![], vec![], vec![]]
    );
}

#[test]
fn features_of_any_finite_size_are_seen_alike() {
    let graph = small_graph(NODES, COLUMNS, Direction::Undirected);
    let scaled = |by: f32| {
        let dense = graph.features().to_dense();
        let values: Vec<f32> = dense.values().iter().map(|&v| v * by).collect();
        let features = Dense::new(NODES, COLUMNS, values.into()).unwrap();
        let parts = Parts {
            arcs: graph.arcs().clone(),
            features: Features::Dense(features),
            labels: graph.labels().cloned(),
            names: graph.names().clone(),
            split: None,
            origin: Origin::default(),
        };
        let mut learner = Treering::new(Parameters::default()).unwrap();
        let graph = Graph::new(parts).unwrap();
        let task = TrainingTask::new(graph.clone(), 0, Shown::Train).unwrap();
        learner.learn(&[task], &Silent).unwrap();
        let nodes = NodeId::first(NODES).collect();
        let query = Query::new(graph, nodes, Groups::Single);
        learner.predict(&query).unwrap()
    };
    // The largest is 1, and the length of a row of them is beyond f32.
    for (a, b) in scaled(1.0).iter().zip(scaled(3e38)) {
        for (a, b) in a.probabilities.iter().zip(&b.probabilities) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}

/// A thread of a pool that waits for parallel work takes up other work of the pool: a lock that is held meanwhile would be waited for by its own holder.
#[test]
fn queries_at_once_on_one_pool_do_not_wait_for_each_other_forever() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.unwrap();
    for _ in 0..20 {
        let learner = learned(&[1, 2, 3]);
        let answers: Vec<Vec<Answer>> = pool.install(|| {
            use rayon::prelude::*;
            let ask = |_| asked(&learner, Groups::Single);
            (0..8).into_par_iter().map(ask).collect()
        });
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
