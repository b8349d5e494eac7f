//! The official split of an OGB data set: `split/<scheme>/{train,valid,test}.csv.gz`, one node number a line.

use std::path::{Path, PathBuf};

use treering_graph::Role;

use super::table::read_table;
use crate::{Context, Fault, Result};

/// The split under `scheme`, or under the only scheme that is there; `None` where there is no split.
pub(super) fn read_split(
    folder: &Path,
    scheme: Option<&str>,
    nodes: usize,
    context: &Context<'_>,
) -> Result<Option<Vec<Role>>> {
    let Some(folder) = choose(&folder.join("split"), scheme)? else {
        return Ok(None);
    };
    let mut roles = vec![Role::None; nodes];
    for (name, role) in [
        ("train", Role::Train),
        ("valid", Role::Validation),
        ("test", Role::Test),
    ] {
        let file = folder.join(format!("{name}.csv.gz"));
        let table = read_table::<u32>(&file, Some(1), context)?;
        for (line, node) in (1u64..).zip(table.values) {
            let text = node.to_string();
            let slot = roles.get_mut(node as usize).ok_or_else(|| {
                let expected = "the number of a node";
                Fault::BadValue {
                    text: text.clone(),
                    expected,
                }
                .at(&file)
                .line(line)
            })?;
            if *slot != Role::None {
                let expected = "in one part of the split only";
                return Err(Fault::BadValue { text, expected }.at(&file).line(line));
            }
            *slot = role;
        }
    }
    Ok(Some(roles))
}

fn choose(splits: &Path, scheme: Option<&str>) -> Result<Option<PathBuf>> {
    let mut schemes: Vec<String> = match std::fs::read_dir(splits) {
        Ok(entries) => entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let folder = entry.file_type().ok()?.is_dir();
                folder.then(|| entry.file_name().to_string_lossy().into_owned())
            })
            .collect(),
        Err(_) => Vec::new(),
    };
    schemes.sort();
    match (scheme, &schemes[..]) {
        (Some(wanted), _) if schemes.iter().any(|name| name == wanted) => {
            Ok(Some(splits.join(wanted)))
        }
        (Some(_), _) => Err(Fault::Ambiguous {
            choices: schemes,
            flag: "--split-scheme",
        }
        .at(splits)),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(splits.join(only))),
        (None, _) => Err(Fault::Ambiguous {
            choices: schemes,
            flag: "--split-scheme",
        }
        .at(splits)),
    }
}
