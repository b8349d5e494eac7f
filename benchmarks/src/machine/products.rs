//! Dense products as the project takes them, in the shapes that its kernels have.

use treering_learn::network::dense::{Into, product, view};
use treering_learn::network::number::Number;

use super::Clock;
use super::shapes::Shapes;

/// A product that was timed.
pub(crate) struct Product {
    /// Whether in f64.
    pub wide: bool,
    pub what: &'static str,
    pub shape: String,
    pub seconds: f64,
    pub flops: f64,
}

/// Rows, inner size, columns.
type Size = (usize, usize, usize);

/// How the two sides lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    /// a b
    Plain,
    /// a^T b
    LeftTurned,
    /// a b^T
    RightTurned,
}

const SQUARE: Size = (2000, 2000, 2000);

/// Two large ones, and the shapes that kernels have. Strips, pieces and widths are those of the code.
pub(crate) fn measure(shapes: &Shapes) -> Vec<Product> {
    use Sides::{LeftTurned, Plain, RightTurned};
    let single = |what, size, sides| timed::<f32>(shapes.clock, what, size, sides);
    let double = |what, size, sides| timed::<f64>(shapes.clock, what, size, sides);
    let mut all = vec![
        single("f32 product", SQUARE, Plain),
        double("f64 product", SQUARE, Plain),
    ];
    if shapes.arxiv_task.is_some() {
        let (m, d) = (shapes.budget, 256);
        all.push(single("similarities", (m, d, m), RightTurned));
        all.push(single("similarities x view", (m, m, d), Plain));
        all.push(single("projection head", (2 * m, d, 2 * d), Plain));
    }
    if let Some(task) = &shapes.products_task {
        let (t, c) = (task.train().nodes.len(), task.graph().features().columns());
        all.push(single("images of rows", (t, c, c), Plain));
        all.push(single("turned directions", (c, t, c), LeftTurned));
        // Three hops and the features themselves, and a one.
        let columns = 4 * c + 1;
        all.push(double(
            "normal equations",
            (columns, 2048, columns),
            LeftTurned,
        ));
    }
    if shapes.words.is_some() {
        all.push(single("scatter of a ring", (2048, 256, 2048), LeftTurned));
    }
    all
}

fn timed<T: Number>(clock: Clock, what: &'static str, size: Size, sides: Sides) -> Product {
    let (rows, inner, columns) = size;
    let number = |at: usize| T::from_f64(((at * 7919) % 2003) as f64 / 2003.0 - 0.5);
    let a: Vec<T> = (0..rows * inner).map(number).collect();
    let b: Vec<T> = (0..inner * columns).map(number).collect();
    let left = match sides {
        Sides::LeftTurned => view(&a, inner, rows).transpose(),
        _ => view(&a, rows, inner),
    };
    let right = match sides {
        Sides::RightTurned => view(&b, columns, inner).transpose(),
        _ => view(&b, inner, columns),
    };
    let mut out = vec![T::ZERO; rows * columns];
    let flops = 2.0 * rows as f64 * inner as f64 * columns as f64;
    let runs = ((50e9 / flops) as usize).clamp(4, 50);
    let seconds = clock.best(runs, || product(&mut out, Into::Replace, left, right));
    let turned = match sides {
        Sides::Plain => "",
        Sides::LeftTurned => ", left turned",
        Sides::RightTurned => ", right turned",
    };
    Product {
        wide: size_of::<T>() == size_of::<f64>(),
        what,
        shape: format!("{rows} x {inner} x {columns}{turned}"),
        seconds,
        flops,
    }
}
