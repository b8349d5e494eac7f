//! Studies of tasks beside the runs: a file each, done once.

use treering_data::Stream;
use treering_eval::runs::Folder;
use treering_eval::studies::Kind;

use super::series::Comparison;
use super::sets::DataSet;
use crate::Global;
use crate::failure::Failure;
use crate::progress::listener;

/// The seed of everything that a study draws.
const SEED: u64 = 0;

/// Studies every data set, as far as that is not done yet.
pub(super) fn study(
    kinds: &[Kind],
    comparison: &Comparison,
    folder: &Folder,
    global: &Global,
) -> Result<(), Failure> {
    for set in comparison.sets.iter().filter(|_| !kinds.is_empty()) {
        one(kinds, set, comparison, folder, global)?;
    }
    Ok(())
}

fn one(
    kinds: &[Kind],
    set: &DataSet,
    comparison: &Comparison,
    folder: &Folder,
    global: &Global,
) -> Result<(), Failure> {
    let graph = set.origin.load(global)?;
    let order = treering_data::ClassOrder::Ascending;
    let stream = Stream::plan(&graph, &comparison.options(order, SEED))?;
    for kind in kinds {
        let name = format!("studies/{}", kind.file_name(&set.id, &stream, SEED));
        if folder.has(&name) {
            continue;
        }
        if !global.quiet {
            tell!("studying the tasks of {}: {}", set.label, kind.name());
        }
        let study = kind.study(&graph, &set.id, &stream, SEED, &*listener(true))?;
        match study {
            Some(study) => {
                let text = serde_json::to_string(&study).map_err(Failure::system)?;
                folder.write(&name, &(text + "\n"))?;
            }
            None => tell!(
                "note: {}: a stream of one task has nothing to compare; {} is left out",
                set.label,
                kind.name()
            ),
        }
    }
    Ok(())
}
