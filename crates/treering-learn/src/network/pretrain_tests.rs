//! Contrastive training: its gradients, its corruption, what it does to a backbone.

use candle_core::{D, Device, Tensor};
use treering_graph::Direction;

use super::*;
use crate::checks::{assert_close, dense_s, small_graph, sparsely, var};

const NODES: usize = 9;
const COLUMNS: usize = 5;

fn memory<T: Number>() -> (Memory<T>, Spare<T>) {
    let room = Memory {
        room: Room::new(),
        projected: Vec::new(),
    };
    (room, Spare::new())
}

fn weights<T: Number>(hidden: usize, present: &[u32]) -> Weights<T> {
    let mut draws = random(5, Purpose::Initialisation, 9);
    let backbone = Backbone::new(COLUMNS, hidden, 2, &mut draws);
    Weights::new(&backbone, present, &mut draws)
}

/// Both storages of X, both orders of smoothing (hidden layer wider and narrower than X), all nodes and some of them.
fn each_case(check: impl Fn(&treering_graph::Graph, usize, Option<&[usize]>)) {
    let dense = small_graph(NODES, COLUMNS, Direction::Undirected);
    for graph in [&dense, &sparsely(&dense)] {
        for hidden in [3, 8] {
            for rows in [None, Some(&[0, 2, 3, 7, 8][..])] {
                check(graph, hidden, rows);
            }
        }
    }
}

fn corrupted(graph: &treering_graph::Graph, present: usize) -> (Arcs, Vec<bool>) {
    let mut draws = random(3, Purpose::Augmentation, 0);
    let options = Contrastive::default();
    let arcs = fewer_arcs(graph.arcs(), &options, &mut draws);
    assert!(
        arcs.len() < graph.arcs().len() && !arcs.is_symmetric(),
        "the check needs a directed view"
    );
    (arcs, (0..present).map(|column| column != 2).collect())
}

#[test]
fn gradients_equal_finite_differences() {
    each_case(|graph, hidden, rows| {
        let inputs = Inputs::<f64>::new(graph.features());
        let (arcs, kept) = corrupted(graph, inputs.present().len());
        let plain = View::new(graph.arcs(), None, &inputs, hidden, 2, NODES);
        let other = View::new(&arcs, Some(kept), &inputs, hidden, 2, NODES);
        let mut weights = weights::<f64>(hidden, inputs.present());
        let (_, gradients) = weights.gradients(&inputs, [&plain, &other], rows, 0.5, &mut memory());
        let h = 1e-6;
        for (part, gradient) in gradients.iter().enumerate() {
            for (at, found) in gradient.iter().enumerate() {
                let mut loss = |by: f64| {
                    let before = weights.parts[part][at];
                    weights.parts[part][at] += by;
                    let (loss, _) =
                        weights.gradients(&inputs, [&plain, &other], rows, 0.5, &mut memory());
                    weights.parts[part][at] = before;
                    loss
                };
                let right = (loss(h) - loss(-h)) / (2.0 * h);
                assert!(
                    (found - right).abs() < 1e-6 * right.abs().max(1.0),
                    "part {part}[{at}]: {found} {right}"
                );
            }
        }
    });
}

#[test]
fn gradients_equal_autodiff() -> candle_core::Result<()> {
    let graph = small_graph(NODES, COLUMNS, Direction::Undirected);
    let hidden = 8;
    let inputs = Inputs::<f32>::new(graph.features());
    let (arcs, kept) = corrupted(&graph, COLUMNS);
    let plain = View::new(graph.arcs(), None, &inputs, hidden, 2, NODES);
    let other = View::new(&arcs, Some(kept.clone()), &inputs, hidden, 2, NODES);
    let weights = weights::<f32>(hidden, inputs.present());
    let (loss, ours) = weights.gradients(&inputs, [&plain, &other], None, 0.5, &mut memory());

    let shapes = [
        (COLUMNS, hidden),
        (hidden, hidden),
        (hidden, 2 * hidden),
        (1, 2 * hidden),
        (2 * hidden, hidden),
        (1, hidden),
    ];
    let vars = weights
        .parts
        .iter()
        .zip(shapes)
        .map(|(part, shape)| var(part, shape))
        .collect::<candle_core::Result<Vec<_>>>()?;
    let x = Tensor::from_slice(
        graph.features().to_dense().values(),
        (NODES, COLUMNS),
        &Device::Cpu,
    )?;
    let mask: Vec<f32> = kept.iter().map(|&kept| f32::from(u8::from(kept))).collect();
    let masked = x.broadcast_mul(&Tensor::from_slice(&mask, (1, COLUMNS), &Device::Cpu)?)?;
    let project = |s: Tensor, x: &Tensor| -> candle_core::Result<Tensor> {
        let encoded = s
            .matmul(&s.matmul(x)?)?
            .matmul(&vars[0])?
            .relu()?
            .matmul(&vars[1])?;
        let z = encoded
            .matmul(&vars[2])?
            .broadcast_add(&vars[3])?
            .elu(1.0)?
            .matmul(&vars[4])?
            .broadcast_add(&vars[5])?;
        z.broadcast_div(&z.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?)
    };
    let (u, v) = (
        project(dense_s(graph.arcs())?, &x)?,
        project(dense_s(&arcs)?, &masked)?,
    );
    let off: Vec<f32> = (0..NODES * NODES)
        .map(|i| f32::from(u8::from(i / NODES != i % NODES)))
        .collect();
    let off = Tensor::from_vec(off, (NODES, NODES), &Device::Cpu)?;
    let one_side = |u: &Tensor, v: &Tensor| -> candle_core::Result<Tensor> {
        let similar = |a: &Tensor, b: &Tensor| (a.matmul(&b.t()?)? / 0.5)?.exp();
        let all = (similar(u, v)?.sum(D::Minus1)? + (similar(u, u)? * &off)?.sum(D::Minus1)?)?;
        all.log()? - ((u * v)?.sum(D::Minus1)? / 0.5)?
    };
    let total = ((one_side(&u, &v)? + one_side(&v, &u)?)?.sum_all()? / (2.0 * NODES as f64))?;
    assert!((f64::from(total.to_scalar::<f32>()?) - loss).abs() < 1e-5);
    let gradients = total.backward()?;
    for (part, var) in vars.iter().enumerate() {
        assert_close(&gradients, var, &ours[part], &format!("part {part}"))?;
    }
    Ok(())
}

#[test]
fn corruption_spares_loops_and_draws_the_published_count() {
    let graph = small_graph(60, 4, Direction::Undirected);
    let options = Contrastive::default();
    let expected = (0.2 * (graph.arcs().len() + graph.nodes()) as f64) as usize;
    let mut removed = Vec::new();
    for epoch in 0..200 {
        let arcs = fewer_arcs(
            graph.arcs(),
            &options,
            &mut random(1, Purpose::Augmentation, epoch),
        );
        removed.push(graph.arcs().len() - arcs.len());
    }
    assert!(removed.iter().all(|&count| count <= expected));
    // Drawn loops are spared, so on average 0.2 of the real arcs fall.
    let mean = removed.iter().sum::<usize>() as f64 / 200.0;
    assert!(
        (mean - 0.2 * graph.arcs().len() as f64).abs() < 1.5,
        "{mean}"
    );
    let kept = fewer_columns(10_000, &options, &mut random(1, Purpose::Augmentation, 0));
    let share = kept.iter().filter(|kept| !**kept).count() as f64 / 10_000.0;
    assert!((share - 0.3).abs() < 0.02, "{share}");
}

#[test]
fn training_lowers_the_loss_and_decays_absent_columns() {
    let graph = sparsely(&small_graph(40, COLUMNS, Direction::Undirected));
    let start: Backbone<f32> =
        Backbone::new(COLUMNS, 8, 2, &mut random(0, Purpose::Initialisation, 0));
    let mut backbone = start.clone();
    let options = Contrastive {
        epochs: 60,
        ..Contrastive::default()
    };
    let losses = pretrain(
        &mut backbone,
        graph.arcs(),
        graph.features(),
        &options,
        0,
        &treering_data::Silent,
    );
    assert!(losses[59] < losses[0] - 0.1, "{losses:?}");
    let mut absent = start.first[8..16].to_vec();
    decayed(&mut absent, options.adam, 60);
    assert_eq!(backbone.first[8..16], absent);
    assert_ne!(absent, start.first[8..16]);
}

#[test]
fn a_budget_below_the_nodes_contrasts_a_sample() {
    let options = Contrastive {
        budget: 10,
        ..Contrastive::default()
    };
    assert_eq!(options.contrasted(9), 9);
    assert_eq!(options.contrasted(40), 10);
    assert_eq!(
        Contrastive {
            exact: true,
            ..options
        }
        .contrasted(40),
        40
    );
}
