//! The data sets of a bench: found, read once to be sure of, and named by what they hold.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use treering_data::{Recipe, Stream, StreamOptions, nearest};
use treering_eval::runs::{DataId, checksum};
use treering_graph::{Graph, Role};

use crate::Global;
use crate::failure::Failure;
use crate::source::Source;

/// The folder of data that names stand for.
const VARIABLE: &str = "TREERING_DATA";

/// Where data comes from; enough for another process to read it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    data: String,
    scale: f64,
}

/// One data set.
pub(super) struct DataSet {
    pub(super) id: DataId,
    pub(super) origin: Origin,
    pub(super) synthetic: bool,
}

impl Origin {
    /// Finds data by its path or name.
    pub(super) fn find(named: &str, scale: f64) -> Result<Self, Failure> {
        let folder = std::env::var_os(VARIABLE).map(PathBuf::from);
        let known = Path::new(named).exists() || Recipe::preset(named).is_some();
        let data = match (known, &folder) {
            (true, _) => named.to_owned(),
            (false, folder) => {
                let there = folder.as_deref().and_then(|folder| inside(folder, named));
                there.ok_or_else(|| not_there(named, folder.as_deref()))?
            }
        };
        Ok(Origin { data, scale })
    }

    pub(super) fn load(&self, global: &Global) -> Result<Graph, Failure> {
        let built_in = !Path::new(&self.data).exists();
        let scale = if built_in { self.scale } else { 1.0 };
        Ok(Source::named(&self.data, scale).load(global)?.graph)
    }
}

fn inside(folder: &Path, named: &str) -> Option<String> {
    let endings = ["", ".npz", ".treering"].iter();
    let path = endings
        .map(|ending| folder.join(format!("{named}{ending}")))
        .find(|path| path.exists())?;
    path.into_os_string().into_string().ok()
}

fn not_there(named: &str, folder: Option<&Path>) -> Failure {
    let mut names: Vec<String> = Recipe::presets()
        .iter()
        .map(|preset| preset.name.to_owned())
        .collect();
    let presets = names.join(", ");
    names.extend(folder.into_iter().flat_map(stems));
    let near = nearest(named, names.iter().map(String::as_str));
    let place = match folder {
        Some(folder) => format!("no {named}.npz in {} ({VARIABLE})", folder.display()),
        None => format!("{VARIABLE} is not set to a folder that holds {named}.npz"),
    };
    let hint = match near.is_empty() {
        true => format!("built-in data is called {presets}"),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    Failure::input(format!(
        "{named}: there is no such file or folder, and {place}; {hint}"
    ))
}

/// The names that files of a folder can be asked for by.
fn stems(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    entries.filter_map(|entry| stem(entry.path())).collect()
}

impl DataSet {
    /// Reads the data and sees whether every stream that the bench wants comes together.
    pub(super) fn new(
        origin: Origin,
        streams: &[StreamOptions],
        validation: bool,
        global: &Global,
    ) -> Result<Self, Failure> {
        let graph = origin.load(global)?;
        for options in streams {
            let stream = Stream::plan(&graph, options).map_err(|error| {
                let Failure::Input(why) = Failure::from(error) else {
                    return Failure::system("a stream cannot be planned");
                };
                Failure::input(format!("{}: {why}", origin.data))
            })?;
            let without = |task: &&treering_data::Task| task.count(Role::Validation) == 0;
            if let Some(task) = stream.tasks.iter().find(without).filter(|_| validation) {
                return Err(Failure::input(format!(
                    "{}: task {} has no validation node to choose parameters by. Leave out --grid, or use --split random",
                    origin.data,
                    task.id.0 + 1
                )));
            }
        }
        Ok(DataSet {
            id: DataId {
                name: graph.origin().name.clone(),
                checksum: checksum(&graph),
            },
            synthetic: graph.origin().synthetic.is_some(),
            origin,
        })
    }
}
