//! `treering inspect`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use treering_data::{human_bytes, shortened};
use treering_learn::saved::{self, Keep, Parameters};
use treering_store::Model;

use super::heat::{heat_map, nearest_pair};
use super::learn::train_nodes;
use super::parameters::differences;
use crate::failure::Failure;
use crate::output::{Output, grouped, table};

/// The most tasks whose distances are drawn.
const DRAWN: usize = 40;

/// Flags of `treering inspect`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering inspect model/\n  treering inspect model/ --json | jq '.rings[].name'"
)]
pub(crate) struct Inspect {
    /// The folder of the model.
    model: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Inspect, output: &Output) -> Result<(), Failure> {
    let model = Model::open(&args.model)?;
    let learner = saved::load(&model)?;
    match args.json {
        true => output.json(&as_json(&model, &*learner)?),
        false => output.print(&describe(&model, &*learner)),
    }
}

fn describe(model: &Model, learner: &dyn Keep) -> String {
    let manifest = model.manifest();
    let mut text = format!(
        "learner     {} (treering {})\nfeatures    {} columns\nparameters  {}\n",
        manifest.learner,
        manifest.program,
        grouped(manifest.feature_width),
        parameters(&learner.parameters()),
    );
    if let Some(file) = &manifest.backbone {
        let trained = &manifest.facts["backbone"];
        let synthetic = match trained["synthetic"] == true {
            true => " (SYNTHETIC)",
            false => "",
        };
        text.push_str(&format!(
            "backbone    {}, trained on {}{synthetic}; contrast: {}\n",
            human_bytes(file.bytes),
            word(&trained["task"]),
            word(&trained["contrast"]),
        ));
    }
    text.push('\n');
    text.push_str(&rings(model, learner));
    text.push_str(&map(model, learner));
    text
}

fn rings(model: &Model, learner: &dyn Keep) -> String {
    let header = [
        "ring", "task", "classes", "train", "numbers", "bytes", "data",
    ];
    let mut listing = table(&header, &[0, 3, 4, 5]);
    for (at, entry) in model.manifest().rings.iter().enumerate() {
        let classes: Vec<String> = entry.classes.iter().map(|class| shortened(class)).collect();
        let synthetic = if entry.facts["synthetic"] == true {
            " (SYNTHETIC)"
        } else {
            ""
        };
        listing.add_row([
            format!("{:04}", entry.number),
            shortened(&entry.name),
            classes.join(", "),
            grouped(train_nodes(entry)),
            grouped(learner.numbers(at)),
            human_bytes(entry.file.bytes),
            word(&entry.facts["data"]) + synthetic,
        ]);
    }
    format!("{}\n", listing.trim_fmt())
}

fn map(model: &Model, learner: &dyn Keep) -> String {
    let names: Vec<String> = model
        .manifest()
        .rings
        .iter()
        .map(|r| shortened(&r.name))
        .collect();
    let distances = distances(learner);
    let Some((a, b, apart)) = nearest_pair(&distances) else {
        return String::new();
    };
    let mut text = "\ndistances between prototypes".to_owned();
    text.push_str(&match distances.len() > DRAWN {
        true => format!(" (too many to draw; --json has all {})\n", distances.len()),
        false => format!("\n{}", heat_map(&distances, &names)),
    });
    let (a, b) = (&names[a], &names[b]);
    text.push_str(&format!("nearest: {a} and {b} ({apart:.3})\n"));
    text
}

/// Between every two prototypes.
fn distances(learner: &dyn Keep) -> Vec<Vec<f64>> {
    let distance = |a: usize, b: usize| {
        let pairs = learner.prototype(a).iter().zip(learner.prototype(b));
        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    };
    let rings = 0..learner.rings();
    let row = |a: usize| rings.clone().map(|b| distance(a, b)).collect();
    rings.clone().map(row).collect()
}

/// What differs from the defaults.
fn parameters(parameters: &Parameters) -> String {
    let (defaults, whose) = match parameters {
        Parameters::Treering(_) => (Parameters::of(parameters.learner()), "the defaults"),
        Parameters::Tpp(_) => (Parameters::of(parameters.learner()), "the paper's"),
    };
    let defaults = defaults.map_or(Value::Null, |defaults| defaults.to_json());
    let changed = differences(&defaults, &parameters.to_json());
    let changed: Vec<String> = changed
        .iter()
        .map(|(name, _, value)| format!("{name} {}", word(value)))
        .collect();
    match changed.is_empty() {
        true => whose.into(),
        false => format!("{whose} but for {}", changed.join(", ")),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text),
        Value::Null => "unknown".into(),
        other => other.to_string(),
    }
}

fn as_json(model: &Model, learner: &dyn Keep) -> Result<Value, Failure> {
    let manifest = model.manifest();
    let entries = manifest.rings.iter().enumerate();
    let rings = entries
        .map(|(at, entry)| {
            Ok(json!({
                "ring": entry.number,
                "name": entry.name,
                "classes": entry.classes,
                "numbers": learner.numbers(at),
                "tensors": model.ring(entry)?.names(),
                "bytes": entry.file.bytes,
                "facts": entry.facts,
            }))
        })
        .collect::<Result<Vec<Value>, Failure>>()?;
    let backbone = manifest.backbone.as_ref().map(|file| {
        json!({ "bytes": file.bytes, "sha256": file.sha256, "facts": manifest.facts["backbone"] })
    });
    Ok(json!({
        "learner": manifest.learner,
        "program": manifest.program,
        "feature-width": manifest.feature_width,
        "parameters": manifest.parameters,
        "backbone": backbone,
        "rings": rings,
        "distances": distances(learner),
    }))
}
