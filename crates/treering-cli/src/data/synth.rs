//! `treering data synth`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treering_data::{FeatureKind, Recipe, check_target, nearest, synthesize, write};

use super::convert::{Layout, format_for};
use crate::Global;
use crate::failure::Failure;
use crate::output::{Output, grouped, table};
use crate::progress::listener;
use crate::source::context;

/// Flags of `treering data synth`. Those that are not given keep the preset's value.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering data synth --list\n  treering data synth demo -o demo.treering\n  \
    treering data synth arxiv-like --scale 0.1 --seed 3 -o small-arxiv.treering\n  \
    treering data synth demo --nodes 5000 --homophily 0.4 --task-share 0.6 -o hard.npz\n\n\
    Synthetic data says that it is synthetic: the recipe travels with the graph into every file and report."
)]
pub(crate) struct Synth {
    /// The preset to start from.
    #[arg(default_value = "demo")]
    preset: String,
    /// List the presets and stop.
    #[arg(long)]
    list: bool,
    /// Where to write: FILE.treering, FILE.npz, or a new folder. Without it only the recipe is printed.
    #[arg(short, long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The layout to write, where the ending of PATH does not tell.
    #[arg(long, value_name = "LAYOUT")]
    to: Option<Layout>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
    /// Size as a share of the preset's: scales nodes and edges, keeps features and classes.
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    scale: f64,
    /// Seed of everything random.
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    changes: Changes,
}

/// The recipe's values, one by one.
#[derive(Args)]
#[command(next_help_heading = "Recipe")]
struct Changes {
    /// Nodes.
    #[arg(long, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// Undirected edges, or arcs when directed. Exact.
    #[arg(long, allow_negative_numbers = true)]
    edges: Option<u64>,
    /// Make arcs instead of undirected edges.
    #[arg(long, value_name = "BOOL")]
    directed: Option<bool>,
    /// Feature columns.
    #[arg(long, allow_negative_numbers = true)]
    features: Option<usize>,
    /// Kind of features.
    #[arg(long, value_enum)]
    feature_kind: Option<Kind>,
    /// Words of a node, on average, for a bag of words.
    #[arg(long, allow_negative_numbers = true)]
    words_per_node: Option<f64>,
    /// Classes.
    #[arg(long, allow_negative_numbers = true)]
    classes: Option<usize>,
    /// Classes that share a task, for --task-share.
    #[arg(long, allow_negative_numbers = true)]
    classes_per_task: Option<usize>,
    /// How unequal classes are: sizes fall as rank to the power of minus this; 0 makes them equal.
    #[arg(long, allow_negative_numbers = true)]
    class_skew: Option<f64>,
    /// Nodes of the last class, exactly.
    #[arg(long, allow_negative_numbers = true)]
    last_class: Option<usize>,
    /// Share of edges inside a class.
    #[arg(long, allow_negative_numbers = true)]
    homophily: Option<f64>,
    /// Share of edges inside a task, those inside a class counted.
    #[arg(long, allow_negative_numbers = true)]
    task_share: Option<f64>,
    /// Exponent of the degree law, above 2; smaller means larger hubs.
    #[arg(long, allow_negative_numbers = true)]
    degree_exponent: Option<f64>,
    /// Noise of the features; 0 makes all nodes of a class alike.
    #[arg(long, allow_negative_numbers = true)]
    feature_noise: Option<f64>,
    /// Share of nodes without any edge.
    #[arg(long, allow_negative_numbers = true)]
    isolated: Option<f64>,
}

/// Kinds of features.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Sparse: the words of a text.
    BagOfWords,
    /// Dense: normally distributed numbers.
    Gaussian,
}

impl Changes {
    fn apply(&self, recipe: &mut Recipe) {
        fn set<T: Copy>(into: &mut T, from: Option<T>) {
            if let Some(value) = from {
                *into = value;
            }
        }
        set(&mut recipe.nodes, self.nodes);
        set(&mut recipe.edges, self.edges);
        set(&mut recipe.directed, self.directed);
        set(&mut recipe.features, self.features);
        set(&mut recipe.classes, self.classes);
        set(&mut recipe.classes_per_task, self.classes_per_task);
        set(&mut recipe.class_skew, self.class_skew);
        recipe.last_class = self.last_class.or(recipe.last_class);
        set(&mut recipe.homophily, self.homophily);
        set(&mut recipe.task_share, self.task_share);
        set(&mut recipe.degree_exponent, self.degree_exponent);
        set(&mut recipe.feature_noise, self.feature_noise);
        set(&mut recipe.isolated, self.isolated);
        const USUAL_WORDS: f64 = 20.0;
        let words = match recipe.feature_kind {
            FeatureKind::BagOfWords { words_per_node } => words_per_node,
            FeatureKind::Gaussian => USUAL_WORDS,
        };
        let words_per_node = self.words_per_node.unwrap_or(words);
        let bag = FeatureKind::BagOfWords { words_per_node };
        recipe.feature_kind = match (self.feature_kind, &recipe.feature_kind) {
            (Some(Kind::Gaussian), _) | (None, FeatureKind::Gaussian) => FeatureKind::Gaussian,
            _ => bag,
        };
    }
}

pub(crate) fn run(args: &Synth, global: &Global, output: &Output) -> Result<(), Failure> {
    if args.list {
        return output.print(&list());
    }
    let recipe = recipe(args)?;
    let Some(out) = &args.out else {
        return output.json(&recipe);
    };
    check_target(out, args.force)?;
    let format = format_for(out, args.to)?;
    let listener = listener(global.quiet);
    let context = context(global, &*listener);
    let graph = synthesize(&recipe, &context)?;
    write(&graph, out, format, args.force, &context)?;
    if !global.quiet {
        let (nodes, arcs) = (graph.nodes(), graph.arcs().len());
        tell!(
            "wrote {} (synthetic: {nodes} nodes, {arcs} arcs)",
            out.display()
        );
    }
    Ok(())
}

fn recipe(args: &Synth) -> Result<Recipe, Failure> {
    let Some(mut recipe) = Recipe::preset(&args.preset) else {
        let names = Recipe::presets().iter().map(|preset| preset.name);
        let near = nearest(&args.preset, names);
        let hint = match near.is_empty() {
            true => "`treering data synth --list` names them".to_owned(),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(Failure::input(format!(
            "there is no preset `{}`; {hint}",
            args.preset
        )));
    };
    if args.scale != 1.0 {
        recipe = recipe.scaled(args.scale)?;
    }
    args.changes.apply(&mut recipe);
    if args.changes.words_per_node.is_some() && recipe.feature_kind == FeatureKind::Gaussian {
        return Err(Failure::input(
            "--words-per-node is for --feature-kind bag-of-words; this recipe's features are Gaussian",
        ));
    }
    recipe.seed = args.seed.unwrap_or(recipe.seed);
    recipe.check()?;
    Ok(recipe)
}

fn list() -> String {
    let mut listing = table(
        &[
            "preset",
            "nodes",
            "edges",
            "features",
            "classes",
            "task 1",
            "what it is",
        ],
        &[1, 2, 3, 4, 5],
    );
    for preset in Recipe::presets() {
        let Some(recipe) = Recipe::preset(preset.name) else {
            continue;
        };
        let first: usize = recipe
            .class_sizes()
            .iter()
            .take(recipe.classes_per_task)
            .sum();
        listing.add_row([
            preset.name.to_owned(),
            grouped(recipe.nodes),
            grouped(recipe.edges as usize),
            grouped(recipe.features),
            grouped(recipe.classes),
            format!("{} nodes", grouped(first)),
            preset.about.to_owned(),
        ]);
    }
    format!("{}\n", listing.trim_fmt())
}
