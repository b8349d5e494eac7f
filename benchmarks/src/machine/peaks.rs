//! What the machine can do, with as many threads as the kernels that follow.

use super::Clock;
use super::gathers::{self, Gather};
use super::products::{self, Product};
use super::shapes::Shapes;
use crate::{fused, triad};

/// Numbers in each of the triad's three arrays: twelve times a cache of 32 MB in all.
const FAR: usize = 1 << 25;

/// Rates that bounds are taken from, and all that was measured on the way.
pub(crate) struct Peaks {
    pub threads: usize,
    /// Bytes a second.
    pub triad: f64,
    /// Flops a second of the fastest product in f32.
    pub single: f64,
    /// In f64.
    pub double: f64,
    pub lines: Vec<Line>,
    gathers: Vec<Gather>,
}

/// A line of the table.
pub(crate) struct Line {
    pub what: String,
    pub shape: String,
    pub seconds: f64,
    pub bytes: f64,
    pub flops: f64,
}

impl Peaks {
    pub(crate) fn measure(shapes: &Shapes, threads: usize) -> Self {
        eprintln!("peaks with {threads} threads");
        let mut lines = vec![triad_line(shapes.clock)];
        let triad = lines[0].bytes / lines[0].seconds;
        let gathers = gathers::measure(shapes);
        lines.extend(gathers.iter().map(gather_line));
        lines.push(fused_line(shapes.clock, threads));
        let products = products::measure(shapes);
        // The fastest of all shapes: a limit must not be a straw man.
        let fastest = |wide: bool| {
            let same = products.iter().filter(|product| product.wide == wide);
            let rates = same.map(|product| product.flops / product.seconds);
            rates.fold(0.0, f64::max)
        };
        let (single, double) = (fastest(false), fastest(true));
        lines.extend(products.into_iter().map(product_line));
        Peaks {
            threads,
            triad,
            single,
            double,
            lines,
            gathers,
        }
    }

    /// The rate of a bare gather of rows of this width out of so many.
    pub(crate) fn gather(&self, rows: usize, width: usize) -> Option<f64> {
        let found = self.gathers.iter();
        let found = found.filter(|gather| gather.rows == rows && gather.width == width);
        found.map(Gather::rate).next()
    }
}

fn triad_line(clock: Clock) -> Line {
    let (mut a, b, c) = (vec![0f32; FAR], vec![1f32; FAR], vec![2f32; FAR]);
    let mut bytes = 0.0;
    let seconds = clock.best(10, || bytes = triad(&mut a, &b, &c));
    Line {
        what: "triad".into(),
        shape: format!("3 x {} MB", FAR * 4 / 1_000_000),
        seconds,
        bytes,
        flops: 2.0 * FAR as f64,
    }
}

fn gather_line(gather: &Gather) -> Line {
    let size = gather.rows * gather.width * 4;
    Line {
        what: "gather of random rows".into(),
        shape: format!(
            "{} columns out of {} rows, {:.0} MB",
            gather.width,
            gather.rows,
            size as f64 / 1e6
        ),
        seconds: gather.seconds,
        bytes: gather.bytes,
        flops: 0.0,
    }
}

/// How fast multiply-adds are when nothing has to be fetched: what is above the rate of products is the price of fetching.
fn fused_line(clock: Clock, threads: usize) -> Line {
    let mut flops = 0.0;
    let seconds = clock.best(5, || flops = fused());
    Line {
        what: "bare multiply-adds".into(),
        shape: format!("in registers, {threads} at once"),
        seconds,
        bytes: 0.0,
        flops,
    }
}

fn product_line(product: Product) -> Line {
    Line {
        what: product.what.into(),
        shape: product.shape,
        seconds: product.seconds,
        bytes: 0.0,
        flops: product.flops,
    }
}
