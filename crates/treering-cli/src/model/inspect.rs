//! `treering inspect`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use treering_data::{human_bytes, shortened};
use treering_learn::tpp::{Tpp, TppParameters, saved};
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
        true => output.json(&as_json(&model, &learner)),
        false => output.print(&describe(&model, &learner)),
    }
}

fn describe(model: &Model, learner: &Tpp) -> String {
    let manifest = model.manifest();
    let backbone = learner
        .backbone()
        .map_or(0, |b| b.first.len() + b.second.len());
    let trained = &manifest.facts["backbone"];
    let mut text = format!(
        "learner     {} (treering {})\nfeatures    {} columns\nparameters  {}\nbackbone    {} numbers, {}, trained on {}{}; contrast: {}\n\n",
        manifest.learner,
        manifest.program,
        grouped(manifest.feature_width),
        parameters(learner.parameters()),
        grouped(backbone),
        human_bytes(manifest.backbone.bytes),
        word(&trained["task"]),
        if trained["synthetic"] == true {
            " (SYNTHETIC)"
        } else {
            ""
        },
        word(&trained["contrast"]),
    );
    text.push_str(&rings(model, learner));
    text.push_str(&map(model, learner));
    text
}

fn rings(model: &Model, learner: &Tpp) -> String {
    let header = [
        "ring", "task", "classes", "train", "numbers", "bytes", "data",
    ];
    let mut listing = table(&header, &[0, 3, 4, 5]);
    for (entry, ring) in model.manifest().rings.iter().zip(learner.rings()) {
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
            grouped(ring.numbers()),
            human_bytes(entry.file.bytes),
            word(&entry.facts["data"]) + synthetic,
        ]);
    }
    format!("{}\n", listing.trim_fmt())
}

fn map(model: &Model, learner: &Tpp) -> String {
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
fn distances(learner: &Tpp) -> Vec<Vec<f64>> {
    let distance = |a: &[f64], b: &[f64]| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    };
    let rings = learner.rings();
    let row = |a: &treering_learn::tpp::Ring| {
        let all = rings.iter().map(|b| distance(&a.prototype, &b.prototype));
        all.collect()
    };
    rings.iter().map(row).collect()
}

/// What differs from the defaults.
fn parameters(parameters: &TppParameters) -> String {
    let changed = differences(&TppParameters::default(), parameters);
    let changed: Vec<String> = changed
        .iter()
        .map(|(name, _, value)| format!("{name} {}", word(value)))
        .collect();
    match changed.is_empty() {
        true => "the paper's".into(),
        false => format!("the paper's but for {}", changed.join(", ")),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text),
        Value::Null => "unknown".into(),
        other => other.to_string(),
    }
}

fn as_json(model: &Model, learner: &Tpp) -> Value {
    let manifest = model.manifest();
    let rings: Vec<Value> = manifest
        .rings
        .iter()
        .zip(learner.rings())
        .map(|(entry, ring)| {
            json!({
                "ring": entry.number,
                "name": entry.name,
                "classes": entry.classes,
                "numbers": ring.numbers(),
                "prompt": ring.prompt.is_some(),
                "bytes": entry.file.bytes,
                "facts": entry.facts,
            })
        })
        .collect();
    json!({
        "learner": manifest.learner,
        "program": manifest.program,
        "feature-width": manifest.feature_width,
        "parameters": manifest.parameters,
        "backbone": { "bytes": manifest.backbone.bytes, "sha256": manifest.backbone.sha256, "facts": manifest.facts["backbone"] },
        "rings": rings,
        "distances": distances(learner),
    })
}
