//! `treering merge`.

use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::shortened;
use treering_learn::tpp::saved;
use treering_store::{Change, Model, NewModel, NewRing, RingEntry, Writer};

use super::parameters::differences;
use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering merge`.
#[derive(Args)]
#[command(
    after_help = "Example:\n  treering learn base/ first.treering\n  cp -r base/ a/ && cp -r base/ b/\n  \
    treering learn a/ second.treering --name second &\n  treering learn b/ third.treering --name third & wait\n  \
    treering merge all/ a/ b/\n\n\
    Tasks after the first are independent given the backbone, so they can be learned apart, on several machines. Rings keep their bytes and come in \
    the order of the models; one that several models share is taken once."
)]
pub(crate) struct Merge {
    /// The folder of the new model.
    out: PathBuf,
    /// The models to take rings from.
    #[arg(value_name = "MODEL", required = true, num_args = 1..)]
    models: Vec<PathBuf>,
}

pub(crate) fn run(args: &Merge, output: &Output) -> Result<(), Failure> {
    let models = args
        .models
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
        &args.out,
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
    output.print(&format!(
        "merged {} rings of {} models into {}\n",
        rings.len(),
        models.len(),
        args.out.display()
    ))
}

/// Rings stand on their backbone and on the parameters they were learned with.
fn check_same_ground(first: &Model, other: &Model) -> Result<(), Failure> {
    let (a, b) = (first.folder().display(), other.folder().display());
    let changed = differences(&saved::parameters(first)?, &saved::parameters(other)?);
    if let Some((name, here, there)) = changed.first() {
        return Err(Failure::input(format!(
            "{b}: this model has {name} {there}, and {a} has {here}. Only models that began as copies of one can be merged"
        )));
    }
    if first.manifest().backbone.sha256 != other.manifest().backbone.sha256 {
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
