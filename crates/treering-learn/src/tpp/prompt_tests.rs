//! The gradients of prompts and heads, against differences and against autodiff.

use candle_core::{D, Device, Tensor};
use treering_graph::Direction;

use super::*;
use crate::Shown;
use crate::checks::{assert_close, dense_s, small_graph, sparsely, var};
use crate::network::dense::{product, view};

const COLUMNS: usize = 5;

fn parameters(tokens: usize, balanced: bool) -> TppParameters {
    TppParameters {
        hidden: 6,
        tokens,
        balanced_loss: balanced,
        seed: 4,
        ..TppParameters::default()
    }
}

fn backbone<T: Number>() -> Backbone<T> {
    Backbone::new(COLUMNS, 6, 2, &mut random(1, Purpose::Initialisation, 0))
}

fn set_tokens<T: Number>(session: &mut Session<'_, T>, tokens: &[T]) {
    let (count, hidden, features) = (
        session.count,
        session.backbone.hidden,
        session.backbone.features,
    );
    let mut out = vec![T::ZERO; count * hidden];
    product(
        &mut out,
        Into::Replace,
        view(tokens, count, features),
        view(&session.backbone.first, features, hidden),
    );
    session.product = padded(&out, hidden, session.width);
}

/// Directed and not, dense and sparse, several numbers of tokens, balanced and not.
fn each_case(check: impl Fn(&TrainingTask, &TppParameters)) {
    for direction in [Direction::Undirected, Direction::Directed] {
        let dense = small_graph(10, COLUMNS, direction);
        for graph in [dense.clone(), sparsely(&dense)] {
            for (tokens, balanced) in [(1, false), (3, true), (5, false)] {
                let task = TrainingTask::new(graph.clone(), 0, Shown::Train).unwrap();
                check(&task, &parameters(tokens, balanced));
            }
        }
    }
}

#[test]
fn gradients_equal_finite_differences() {
    each_case(|task, parameters| {
        let backbone = backbone::<f64>();
        let head = Head::start(2, backbone.hidden, 2);
        let mut session = Session::new(
            parameters,
            &backbone,
            task,
            parameters.tokens,
            head,
            false,
            8,
        )
        .unwrap();
        let tokens = session.tokens().to_vec();
        set_tokens(&mut session, &tokens);
        let found = session.gradients();
        let by_tokens: Vec<f64> = (0..tokens.len())
            .map(|at| {
                let slope = &session.slope[at / COLUMNS * 8..][..6];
                dot(slope, &backbone.first[at % COLUMNS * 6..][..6])
            })
            .collect();
        let h = 1e-6;
        let check =
            |found: &[f64],
             what: &str,
             move_by: &mut dyn FnMut(&mut Session<'_, f64>, usize, f64)| {
                for (at, &found) in found.iter().enumerate() {
                    let mut session = Session::new(
                        parameters,
                        &backbone,
                        task,
                        parameters.tokens,
                        Head::start(2, 6, 2),
                        false,
                        8,
                    )
                    .unwrap();
                    set_tokens(&mut session, &tokens);
                    move_by(&mut session, at, h);
                    let up = session.gradients().loss;
                    move_by(&mut session, at, -2.0 * h);
                    let right = (up - session.gradients().loss) / (2.0 * h);
                    assert!(
                        (found - right).abs() < 1e-7,
                        "{what}[{at}]: {found} {right}"
                    );
                }
            };
        check(&found.scorer, "scorer", &mut |session, at, by| {
            session.scorer.values[at] += by
        });
        check(&found.bias, "bias", &mut |session, at, by| {
            session.bias.values[at] += by
        });
        check(&found.head, "head", &mut |session, at, by| {
            session.head.values[at] += by
        });
        check(&found.head_bias, "head bias", &mut |session, at, by| {
            session.head_bias.values[at] += by
        });
        let mut moved = tokens.clone();
        check(&by_tokens, "tokens", &mut |session, at, by| {
            moved[at] += by;
            set_tokens(session, &moved);
            if by < 0.0 {
                moved[at] = tokens[at];
            }
        });
    });
}

#[test]
fn gradients_equal_autodiff_without_any_shortcut() -> candle_core::Result<()> {
    let graph = small_graph(10, COLUMNS, Direction::Directed);
    let task = TrainingTask::new(graph, 0, Shown::Train).unwrap();
    let parameters = parameters(3, false);
    let backbone = backbone::<f32>();
    let head = Head::start(2, 6, 2);
    let mut session =
        Session::new(&parameters, &backbone, &task, 3, head.clone(), false, 8).unwrap();
    let tokens = session.tokens().to_vec();
    set_tokens(&mut session, &tokens);
    let ours = session.gradients();

    let nodes = task.graph().nodes();
    let (phi, a) = (
        var(&tokens, (3, COLUMNS))?,
        var(&session.start.scorer, (3, COLUMNS))?,
    );
    let (b, wc, bc) = (
        var(&session.start.bias, (1, 3))?,
        var(&head.weights, (2, 6))?,
        var(&head.bias, (1, 2))?,
    );
    let x = Tensor::from_slice(
        task.graph().features().to_dense().values(),
        (nodes, COLUMNS),
        &Device::Cpu,
    )?;
    let scores = x.matmul(&a.t()?)?.broadcast_add(&b)?.exp()?;
    let alpha = scores.broadcast_div(&scores.sum_keepdim(D::Minus1)?)?;
    let s = dense_s(task.graph().arcs())?;
    let smooth = s.matmul(&s.matmul(&(x + alpha.matmul(&phi)?)?)?)?;
    let first = Tensor::from_slice(&backbone.first, (COLUMNS, 6), &Device::Cpu)?;
    let second = Tensor::from_slice(&backbone.second, (6, 6), &Device::Cpu)?;
    let logits = smooth
        .matmul(&first)?
        .relu()?
        .matmul(&second)?
        .matmul(&wc.t()?)?
        .broadcast_add(&bc)?;
    let chosen: Vec<u32> = task.train().nodes.iter().map(|node| node.0).collect();
    let logits =
        logits.index_select(&Tensor::from_slice(&chosen, chosen.len(), &Device::Cpu)?, 0)?;
    let labels = Tensor::from_slice(&task.train().classes, (chosen.len(), 1), &Device::Cpu)?;
    let loss = (logits.exp()?.sum(D::Minus1)?.log()? - logits.gather(&labels, 1)?.squeeze(1)?)?
        .mean_all()?;
    assert!((f64::from(loss.to_scalar::<f32>()?) - ours.loss).abs() < 1e-5);
    let gradients = loss.backward()?;

    let by_tokens: Vec<f32> = (0..tokens.len())
        .map(|at| {
            dot(
                &session.slope[at / COLUMNS * 8..][..6],
                &backbone.first[at % COLUMNS * 6..][..6],
            )
        })
        .collect();
    assert_close(&gradients, &phi, &by_tokens, "tokens")?;
    let by_scorer: Vec<f32> = (0..3)
        .flat_map(|token| (0..COLUMNS).map(move |column| (token, column)))
        .map(|(t, c)| ours.scorer[c * 3 + t])
        .collect();
    assert_close(&gradients, &a, &by_scorer, "scorer")?;
    assert_close(&gradients, &b, &ours.bias, "bias")?;
    assert_close(&gradients, &wc, &ours.head, "head")?;
    assert_close(&gradients, &bc, &ours.head_bias, "head bias")
}
