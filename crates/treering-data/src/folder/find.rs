//! Which files of a folder hold the graph.

use std::path::{Path, PathBuf};

use super::describe;
use crate::{Fault, ReadOptions, Result};

/// How the file of a table may end.
const ENDINGS: [&str; 3] = ["parquet", "csv", "csv.gz"];

/// The files of one graph.
pub(super) struct Files {
    pub(super) nodes: PathBuf,
    pub(super) edges: PathBuf,
    pub(super) features: Option<PathBuf>,
    pub(super) description: Option<PathBuf>,
    /// Everything in the folder, for an error.
    pub(super) available: Vec<String>,
}

impl Files {
    /// Takes the files that the caller names, and looks for the others in the folder. Beside two named files there
    /// may be no folder at all.
    pub(super) fn find(dir: Option<&Path>, options: &ReadOptions) -> Result<Files> {
        let folder = dir.map(Folder::open).transpose()?;
        let table = |given: &Option<PathBuf>, other: &Option<PathBuf>, stem, flag| {
            if let Some(path) = given {
                return Ok(path.clone());
            }
            let found = folder
                .as_ref()
                .map(|f| f.table(stem, flag))
                .transpose()?
                .flatten();
            found.ok_or_else(|| {
                let place = dir.or(other.as_deref()).unwrap_or(Path::new("."));
                let name = ENDINGS
                    .map(|ending| format!("{stem}.{ending}"))
                    .join(" or ");
                let name = format!("{name}` or `{flag} FILE");
                let available = folder.as_ref().map_or(Vec::new(), |f| f.names.clone());
                Fault::MissingMember { name, available }.at(place)
            })
        };
        let available = folder.as_ref().map_or(Vec::new(), |f| f.names.clone());
        Ok(Files {
            available,
            nodes: table(&options.nodes_file, &options.edges_file, "nodes", "--nodes")?,
            edges: table(&options.edges_file, &options.nodes_file, "edges", "--edges")?,
            features: match &folder {
                Some(folder) => folder.table("features", "a folder that holds only one of them")?,
                None => None,
            },
            // The description belongs to the folder's own tables.
            description: folder
                .as_ref()
                .filter(|_| options.nodes_file.is_none() && options.edges_file.is_none())
                .and_then(|f| f.file(describe::FILE)),
        })
    }
}

/// Whether a folder has a table of nodes or of edges by its usual name.
pub fn is_folder(dir: &Path) -> bool {
    Folder::open(dir).is_ok_and(|folder| {
        ["nodes", "edges"]
            .iter()
            .any(|stem| !folder.tables(stem).is_empty())
    })
}

struct Folder<'a> {
    dir: &'a Path,
    names: Vec<String>,
}

impl<'a> Folder<'a> {
    fn open(dir: &'a Path) -> Result<Self> {
        let told = |error| Fault::from_io(error).at(dir);
        let mut names = Vec::new();
        for entry in dir.read_dir().map_err(told)? {
            names.push(
                entry
                    .map_err(told)?
                    .file_name()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        names.sort();
        Ok(Folder { dir, names })
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        let there = self.names.iter().any(|found| found == name);
        there.then(|| self.dir.join(name))
    }

    fn tables(&self, stem: &str) -> Vec<String> {
        let names = ENDINGS.map(|ending| format!("{stem}.{ending}"));
        names
            .into_iter()
            .filter(|name| self.names.contains(name))
            .collect()
    }

    /// The one table of that name, if there is any.
    fn table(&self, stem: &str, flag: &'static str) -> Result<Option<PathBuf>> {
        let choices = self.tables(stem);
        match &choices[..] {
            [] => Ok(None),
            [name] => Ok(Some(self.dir.join(name))),
            _ => Err(Fault::Ambiguous { choices, flag }.at(self.dir)),
        }
    }
}
