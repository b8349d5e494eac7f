//! `treering export`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use treering_data::{Fault, check_target, replace};
use treering_learn::saved;
use treering_store::{Model, Tensor, Tensors, encode};

use crate::Global;
use crate::failure::Failure;

/// Flags of `treering export`.
#[derive(Args)]
#[command(
    after_help = "Example:\n  treering export model/ -o model.safetensors\n\n\
    Tensors are called rings/0002.prototype, rings/0002.head.weights, ...; the manifest is in the metadata under `treering`. docs/model-directory.md \
    has the list, and a way to read it from Python."
)]
pub(crate) struct Export {
    /// The folder of the model.
    model: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE.safetensors")]
    out: PathBuf,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Export, global: &Global) -> Result<(), Failure> {
    super::check_outside(&args.model, &args.out)?;
    check_target(&args.out, args.force)?;
    let model = Model::open(&args.model)?;
    // Shapes too, not just checksums: what is handed on is sound.
    saved::load(&model)?;
    let backbone = model.backbone()?;
    let mut tensors = backbone.map_or_else(Vec::new, |backbone| named("backbone", backbone));
    for ring in &model.manifest().rings {
        let prefix = format!("rings/{:04}", ring.number);
        tensors.extend(named(&prefix, model.ring(ring)?));
    }
    let manifest = serde_json::to_string(model.manifest()).map_err(Failure::system)?;
    let bytes = encode(&tensors, &BTreeMap::from([("treering".into(), manifest)]));
    replace(&args.out, args.force, |partial| {
        std::fs::write(partial, &bytes).map_err(|error| Fault::from_io(error).at(partial))
    })?;
    if !global.quiet {
        tell!("wrote {} ({} tensors)", args.out.display(), tensors.len());
    }
    Ok(())
}

fn named(prefix: &str, tensors: Tensors) -> Vec<Tensor> {
    let renamed = tensors.into_vec().into_iter().map(|tensor| Tensor {
        name: format!("{prefix}.{}", tensor.name),
        ..tensor
    });
    renamed.collect()
}
