//! `treering merge`.

use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::shortened;
use treering_learn::saved;
use treering_store::{Change, Manifest, Model, NewModel, NewRing, RingEntry, Writer};

use super::parameters::differences;
use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering merge`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering learn a/ first.treering --name first &\n  treering learn b/ second.treering --name second & wait\n  \
    treering merge all/ a/ b/\n\n  treering learn base/ first.treering --learner tpp\n  cp -r base/ a/ && cp -r base/ b/\n  \
    treering learn a/ second.treering --name second &\n  treering learn b/ third.treering --name third & wait\n  \
    treering merge all/ a/ b/\n\n\
    Tasks are independent, so they can be learned apart, on several machines, with the same parameters and seed; with the learner tpp they need the same \
    backbone too, so models have to begin as copies of one. Rings keep their bytes and come in the order of the models; one that several models share is \
    taken once."
)]
pub(crate) struct Merge {
    /// The folder of the new model.
    out: PathBuf,
    /// The models to take rings from.
    #[arg(value_name = "MODEL", required = true, num_args = 1..)]
    models: Vec<PathBuf>,
}

pub(crate) fn run(args: &Merge, output: &Output) -> Result<(), Failure> {
    let rings = merge(&args.out, &args.models)?;
    output.print(&format!(
        "merged {rings} rings of {} models into {}\n",
        args.models.len(),
        args.out.display()
    ))
}

/// Makes a model of the rings of others; how many there are.
pub(super) fn merge(out: &Path, models: &[PathBuf]) -> Result<usize, Failure> {
    let models = models
        .iter()
        .map(|folder| Ok(Model::open(folder)?))
        .collect::<Result<Vec<Model>, Failure>>()?;
    let Some(first) = models.first() else {
        return Err(Failure::input("merge needs at least one model"));
    };
    for model in &models {
        check_same_ground(first, model)?;
        // Shapes too: a ring that cannot be used is not handed on.
        saved::load(model)?;
    }
    let mut taken: Vec<(&Model, &RingEntry)> = Vec::new();
    for model in &models {
        for ring in &model.manifest().rings {
            if !is_taken(&taken, model, ring)? {
                taken.push((model, ring));
            }
        }
    }
    let manifest = first.manifest().clone();
    let writer = Writer::create(
        out,
        NewModel {
            learner: manifest.learner,
            parameters: manifest.parameters,
            feature_width: manifest.feature_width,
            facts: manifest.facts,
            backbone: first.backbone_bytes()?,
        },
    )?;
    let changes = taken
        .iter()
        .map(|(model, ring)| {
            Ok(Change::Add(NewRing {
                name: ring.name.clone(),
                classes: ring.classes.clone(),
                facts: ring.facts.clone(),
                bytes: model.ring_bytes(ring)?,
            }))
        })
        .collect::<Result<Vec<Change>, Failure>>()?;
    let rings = super::prepared(writer)?.commit(changes)?;
    Ok(rings.len())
}

/// Rings stand on their backbone and on the parameters they were learned with.
fn check_same_ground(first: &Model, other: &Model) -> Result<(), Failure> {
    let (a, b) = (first.folder().display(), other.folder().display());
    let (here, there) = (saved::parameters(first)?, saved::parameters(other)?);
    if here.learner() != there.learner() {
        return Err(Failure::input(format!(
            "{b}: the learner of this model is {}, and that of {a} is {}. Learn the tasks of one again with the other's learner",
            there.learner(),
            here.learner()
        )));
    }
    if let Some((name, here, there)) = differences(&here.to_json(), &there.to_json()).first() {
        return Err(Failure::input(format!(
            "{b}: this model has {name} {there}, and {a} has {here}. Only models with the same parameters and seed can be merged"
        )));
    }
    let (here, there) = (first.manifest(), other.manifest());
    if here.feature_width != there.feature_width {
        return Err(Failure::input(format!(
            "{b}: this model is for {} feature columns, and {a} for {}. Only models of the same features can be merged",
            there.feature_width, here.feature_width
        )));
    }
    let hash = |manifest: &Manifest| manifest.backbone.as_ref().map(|file| file.sha256.clone());
    if hash(here) != hash(there) {
        return Err(Failure::input(format!(
            "{b}: this model has another backbone than {a}. Learn the tasks of one on a copy of the other"
        )));
    }
    Ok(())
}

/// Whether the very ring is there already; an error where another one stands in its way.
fn is_taken(
    taken: &[(&Model, &RingEntry)],
    model: &Model,
    ring: &RingEntry,
) -> Result<bool, Failure> {
    for (owner, known) in taken {
        if known.file.sha256 == ring.file.sha256 && known.classes == ring.classes {
            return Ok(true);
        }
        let class = ring
            .classes
            .iter()
            .find(|class| known.classes.contains(class));
        if let Some(class) = class {
            return Err(clash("class", class, owner.folder(), model.folder(), ring));
        }
        if known.name == ring.name {
            return Err(clash(
                "task",
                &ring.name,
                owner.folder(),
                model.folder(),
                ring,
            ));
        }
    }
    Ok(false)
}

fn clash(what: &str, name: &str, one: &Path, other: &Path, ring: &RingEntry) -> Failure {
    let remedy = match what {
        "task" => "Learn one of them under another name with --replace TASK --name NAME".to_owned(),
        _ => format!(
            "Remove it from a copy of one with `treering forget MODEL {:04}`",
            ring.number
        ),
    };
    Failure::input(format!(
        "{}: {what} `{}` is in {} too, with other bytes. {remedy}",
        other.display(),
        shortened(name),
        one.display()
    ))
}
