//! What a synthetic graph is made from: counts, shares and a seed. A recipe is plain data, so that it can be
//! written into the graph's origin and read back from there.

use serde::{Deserialize, Serialize};

use super::blocks;
use super::error::RecipeError;

/// The fewest nodes of a class, where there are enough nodes for it: a class must be able to fill a split.
const LEAST: usize = 5;

/// How full a block may become when a recipe is made smaller.
const FILL: f64 = 0.5;

/// A degree-corrected block model with class-dependent features.
///
/// # Example
/// ```
/// use treering_data::{Context, Recipe, Silent, synthesize};
/// let recipe = Recipe { seed: 5, ..Recipe::demo() };
/// let graph = synthesize(&recipe, &Context::new(&Silent, 100_000_000))?;
/// assert_eq!(graph.nodes(), recipe.nodes);
/// assert_eq!(graph.arcs().len() as u64, 2 * recipe.edges);
/// assert!(graph.origin().synthetic.is_some());
/// # Ok::<(), treering_data::SynthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What the graph is called.
    pub name: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of different undirected edges, or of different arcs where `directed`. Never a loop.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// The number of feature columns.
    pub features: usize,
    /// What features look like.
    pub feature_kind: FeatureKind,
    /// The number of classes.
    pub classes: usize,
    /// How many consecutive classes make a task, as streams have it. The last task may have fewer.
    pub classes_per_task: usize,
    /// Sizes of classes fall as 1 / rank^skew; 0 makes them equal.
    pub class_skew: f64,
    /// The exact number of nodes of the last class.
    pub last_class: Option<usize>,
    /// The share of edges inside a class.
    pub homophily: f64,
    /// The share of edges inside a task, whether inside a class or between classes of the task.
    pub task_share: f64,
    /// The exponent of the power law of degrees, above 2; from [`Recipe::EQUAL_DEGREES`] on, all nodes are alike.
    pub degree_exponent: f64,
    /// How hard features are. Gaussian: the standard deviation of the noise in every column, relative to the
    /// distance of two class means. Bag of words: the share of words from the common vocabulary instead of the
    /// class's topic.
    pub feature_noise: f64,
    /// The share of nodes that get no edge.
    pub isolated: f64,
    /// Where random numbers start.
    pub seed: u64,
}

/// What features look like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeatureKind {
    /// Sparse rows of ones: the words of a text.
    BagOfWords {
        /// How many different words a node has on average.
        words_per_node: f64,
    },
    /// Dense rows: the class's mean and noise; every column has about variance 1.
    Gaussian,
}

impl Recipe {
    /// The degree exponent from which on all nodes are alike. A finite number, because JSON knows no infinity.
    pub const EQUAL_DEGREES: f64 = 100.0;

    /// How many nodes each class has. Depends on the counts alone, never on the seed.
    ///
    /// Ranks are spread over the class numbers by a golden stride, so that a class's number does not tell its
    /// size.
    pub fn class_sizes(&self) -> Vec<usize> {
        let last = self.last_class.filter(|_| self.classes > 0);
        let free = self.classes - usize::from(last.is_some());
        let nodes = self.nodes.saturating_sub(last.unwrap_or(0));
        let mut sizes = apportion(nodes, &rank_weights(free, self.class_skew));
        sizes.extend(last);
        sizes
    }

    /// The task of a class.
    pub(super) fn task(&self, class: usize) -> usize {
        class / self.classes_per_task
    }

    /// The same kind of graph, larger or smaller.
    ///
    /// Nodes, edges and the last class scale; features, classes and shares stay. Where a smaller graph has no room
    /// for that many edges (pairs shrink faster than edges), it gets as many as fill half of its tightest block.
    ///
    /// # Errors
    /// A factor that is not above 0, or a result that [`Recipe::check`] refuses.
    pub fn scaled(&self, factor: f64) -> Result<Recipe, RecipeError> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(RecipeError::field("scale", factor, "above 0"));
        }
        self.check()?;
        if factor == 1.0 {
            return Ok(self.clone());
        }
        let least = (LEAST * self.classes).min(self.nodes);
        let nodes = ((self.nodes as f64 * factor).round() as usize).max(least);
        let mut scaled = Recipe {
            nodes,
            edges: (self.edges as f64 * factor).round() as u64,
            ..self.clone()
        };
        scaled.last_class = self.last_class.map(|size| match self.classes - 1 {
            0 => nodes,
            others => ((size as f64 * factor).round() as usize).clamp(1, nodes - others),
        });
        if factor < 1.0 {
            scaled.edges = scaled.edges.min(blocks::room(&scaled, FILL));
        }
        scaled.check()?;
        Ok(scaled)
    }
}

/// One weight for each class: the classes' ranks are the multiples of a stride without a common factor.
fn rank_weights(classes: usize, skew: f64) -> Vec<f64> {
    let golden = (classes as f64 * 0.618).round() as usize;
    let stride = (golden.max(1)..=classes)
        .find(|&stride| common_factor(stride, classes) == 1)
        .unwrap_or(1);
    (0..classes)
        // Half a turn on: the first class is one of middle size.
        .map(|class| (class * stride + classes / 2) % classes)
        .map(|rank| ((rank + 1) as f64).powf(-skew))
        .collect()
}

fn common_factor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_factor(b, a % b) }
}

/// Whole numbers that add up to `total`: the same least for all, the rest in proportion to the weights.
fn apportion(total: usize, weights: &[f64]) -> Vec<usize> {
    let least = total.checked_div(weights.len()).unwrap_or(0).min(LEAST);
    let rest = total - least * weights.len();
    let sum: f64 = weights.iter().sum();
    let (mut seen, mut given) = (0.0, 0);
    let share = |(index, weight): (usize, &f64)| {
        seen += weight;
        // Rounding the running sum, not the parts, keeps the total exact.
        let upto = match index + 1 == weights.len() {
            true => rest,
            false => ((rest as f64 * (seen / sum)).round() as usize).clamp(given, rest),
        };
        let part = upto - given;
        given = upto;
        least + part
    };
    weights.iter().enumerate().map(share).collect()
}
