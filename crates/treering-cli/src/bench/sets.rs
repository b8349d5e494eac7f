//! The data sets of a bench: found, read once to be sure of, and named by what they hold.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use treering_data::{ClassOrder, Recipe, Stream, StreamOptions, nearest};
use treering_eval::runs::{DataId, checksum};
use treering_graph::{Graph, Role};

use super::contenders::misplaced;
use super::left_out;
use crate::Global;
use crate::failure::Failure;
use crate::source::Source;

/// The folder of data that names stand for.
pub(super) const VARIABLE: &str = "TREERING_DATA";

/// The same, said by a list of jobs: a machine that runs one need not have the variable.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The folder of data, if there is one.
pub(super) fn data_folder() -> Option<PathBuf> {
    let said = || std::env::var_os(VARIABLE).map(PathBuf::from);
    FOLDER.get().cloned().or_else(said)
}

/// Sets the folder of data for all of this process.
pub(super) fn set_data_folder(folder: PathBuf) {
    FOLDER.get_or_init(|| folder);
}

/// Where data comes from; enough for another process to read it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    /// As it was asked for.
    named: String,
    data: String,
    scale: f64,
}

/// One data set.
pub(super) struct DataSet {
    pub(super) id: DataId,
    /// What it is called in the table: its name, unless another set of the bench has that name too.
    pub(super) label: String,
    pub(super) origin: Origin,
    pub(super) synthetic: bool,
    /// Memory that a job on it may take, as long as none is known.
    pub(super) guess: u64,
    /// What its streams leave out, in words.
    pub(super) left_out: Vec<String>,
    sizes: Vec<(ClassOrder, Size)>,
}

/// How much a stream holds.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) tasks: usize,
    pub(super) classes: usize,
}

/// What a bench wants from its data.
pub(super) struct Wanted<'a> {
    /// One stream for every order.
    pub(super) streams: &'a [StreamOptions],
    /// Validation nodes in every task.
    pub(super) validation: bool,
    /// How many streams of each order there will be.
    pub(super) seeds: u64,
}

impl Origin {
    /// Finds data by its path or name.
    pub(super) fn find(named: &str, scale: f64) -> Result<Self, Failure> {
        if named.trim().is_empty() {
            return Err(Failure::input(
                "data has an empty name; give a file, a folder or a name",
            ));
        }
        if named.ends_with(".toml") {
            return Err(misplaced("--data", named));
        }
        let folder = data_folder();
        let known = Path::new(named).exists() || Recipe::preset(named).is_some();
        let data = match (known, &folder) {
            (true, _) => named.to_owned(),
            (false, folder) => {
                let there = folder.as_deref().and_then(|folder| inside(folder, named));
                there.ok_or_else(|| not_there(named, folder.as_deref()))?
            }
        };
        Ok(Origin {
            named: named.to_owned(),
            data,
            scale,
        })
    }

    /// Whether the folder of data has something of this name.
    pub(super) fn in_folder(named: &str) -> bool {
        let folder = data_folder();
        folder.is_some_and(|folder| inside(&folder, named).is_some())
    }

    /// The file or folder; none of built-in data.
    pub(super) fn path(&self) -> Option<&Path> {
        Some(Path::new(&self.data)).filter(|path| path.exists())
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
    if named.contains(std::path::is_separator) {
        return Failure::input(format!("{named}: there is no such file or folder"));
    }
    let file = match Path::new(named).extension() {
        Some(_) => named.to_owned(),
        None => format!("{named}.npz"),
    };
    let mut names: Vec<String> = Recipe::presets()
        .iter()
        .map(|preset| preset.name.to_owned())
        .collect();
    let presets = names.join(", ");
    names.extend(folder.into_iter().flat_map(stems));
    let near = nearest(named, names.iter().map(String::as_str));
    let place = match folder {
        Some(folder) => format!("no {file} in {} ({VARIABLE})", folder.display()),
        None => format!("{VARIABLE} is not set to a folder that holds {file}"),
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
        wanted: &Wanted<'_>,
        global: &Global,
    ) -> Result<Self, Failure> {
        let graph = origin.load(global)?;
        let streams: Vec<Stream> = wanted
            .streams
            .iter()
            .map(|options| origin.stream(&graph, options, wanted.validation))
            .collect::<Result<_, _>>()?;
        let size = |stream: &Stream| {
            let classes = stream.tasks.iter().map(|task| task.classes.len());
            let size = Size {
                tasks: stream.tasks.len(),
                classes: classes.sum(),
            };
            (stream.options.order, size)
        };
        let name = &graph.origin().name;
        Ok(DataSet {
            id: DataId {
                name: name.clone(),
                checksum: checksum(&graph),
            },
            label: one_line(name),
            synthetic: graph.origin().synthetic.is_some(),
            guess: guess(&graph),
            left_out: left_out::told(&streams, wanted.seeds),
            sizes: streams.iter().map(size).collect(),
            origin,
        })
    }

    /// The size of its streams in some order.
    pub(super) fn size(&self, order: ClassOrder) -> Size {
        let found = self.sizes.iter().find(|(known, _)| *known == order);
        found.map(|(_, size)| *size).unwrap_or_default()
    }
}

/// A process with the data, and as much again three times for what a learner makes of it.
fn guess(graph: &Graph) -> u64 {
    const PROCESS: u64 = 64 << 20;
    let arcs = 4 * graph.arcs().len() as u64 + 8 * graph.nodes() as u64;
    PROCESS + 4 * (arcs + 4 * graph.features().numbers() as u64)
}

impl Origin {
    fn stream(
        &self,
        graph: &Graph,
        options: &StreamOptions,
        validation: bool,
    ) -> Result<Stream, Failure> {
        let stream = Stream::plan(graph, options).map_err(|error| {
            let Failure::Input(why) = Failure::from(error) else {
                return Failure::system("a stream cannot be planned");
            };
            Failure::input(format!("{}: {why}", self.data))
        })?;
        let without = |task: &&treering_data::Task| task.count(Role::Validation) == 0;
        match stream.tasks.iter().find(without).filter(|_| validation) {
            None => Ok(stream),
            Some(task) => Err(Failure::input(format!(
                "{}: task {} has no validation node to choose parameters by. Leave out --grid, or use --split random",
                self.data,
                task.id.0 + 1
            ))),
        }
    }
}

/// Calls sets of one name by what they were asked for by. The name itself stays in the specification of a run, so that a run is the same in any company.
pub(super) fn tell_apart(sets: &mut [DataSet]) {
    let names: Vec<String> = sets.iter().map(|set| set.id.name.clone()).collect();
    for set in sets {
        if names.iter().filter(|name| **name == set.id.name).count() > 1 {
            set.label = one_line(&set.origin.named);
        }
    }
}

/// A text without line breaks and the like.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
