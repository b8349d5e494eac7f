//! The data that a command works on: a path, a pair of tables, or a built-in preset.

use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{
    Columns, Context, Edges, Loaded, ReadOptions, Recipe, nearest, read, read_folder, synthesize,
};

use crate::Global;
use crate::failure::Failure;
use crate::progress::listener;

/// The data of a command that was given none.
pub(crate) const DEFAULT: &str = "demo";

/// Flags that say where data comes from and how to read it.
#[derive(Args)]
pub(crate) struct Source {
    /// A file or folder, or the name of built-in synthetic data (`treering data synth --list`) [default: the
    /// built-in demo].
    #[arg(value_name = "DATA")]
    data: Option<String>,
    /// How large to make built-in data, as a share of its full size.
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    scale: f64,
    #[command(flatten)]
    reading: Reading,
}

/// Flags that say how to read data; each reader takes those that concern it.
#[derive(Args, Default, PartialEq)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Keep arcs as they are stored, without mirror images.
    #[arg(long, conflicts_with = "undirected")]
    directed: bool,
    /// Give every arc its mirror image.
    #[arg(long)]
    undirected: bool,
    /// Leave edge weights out.
    #[arg(long)]
    ignore_weights: bool,
    /// The split to take where an OGB folder has several.
    #[arg(long, value_name = "NAME")]
    split_scheme: Option<String>,
    /// The table of nodes (.parquet, .csv, .csv.gz), instead of nodes.* in a folder.
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// The table of edges, instead of edges.* in a folder.
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
    /// The column of node ids.
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,
    /// The column of classes.
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<String>,
    /// The column that says train, val or test.
    #[arg(long, value_name = "COLUMN")]
    split_column: Option<String>,
    /// The columns of features, or the one column of lists.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    feature_columns: Option<Vec<String>>,
    /// The column of edge starts.
    #[arg(long, value_name = "COLUMN")]
    source_column: Option<String>,
    /// The column of edge ends.
    #[arg(long, value_name = "COLUMN")]
    target_column: Option<String>,
    /// The column of edge weights.
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<String>,
}

impl Reading {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            edges: match (self.directed, self.undirected) {
                (true, _) => Edges::Directed,
                (_, true) => Edges::Undirected,
                _ => Edges::Auto,
            },
            ignore_weights: self.ignore_weights,
            split_scheme: self.split_scheme.clone(),
            columns: Columns {
                id: self.id_column.clone(),
                label: self.label_column.clone(),
                split: self.split_column.clone(),
                features: self.feature_columns.clone(),
                source: self.source_column.clone(),
                target: self.target_column.clone(),
                weight: self.weight_column.clone(),
            },
            nodes_file: self.nodes.clone(),
            edges_file: self.edges.clone(),
        }
    }
}

impl Source {
    /// Data by its name alone, read without further wishes.
    pub(crate) fn named(data: &str, scale: f64) -> Self {
        Source {
            data: Some(data.to_owned()),
            scale,
            reading: Reading::default(),
        }
    }

    /// Whether the caller said what to work on.
    pub(crate) fn is_named(&self) -> bool {
        self.data.is_some() || self.reading.nodes.is_some() || self.reading.edges.is_some()
    }

    /// Reads or makes the graph, and tells on standard error what a person should know about how.
    pub(crate) fn load(&self, global: &Global) -> Result<Loaded, Failure> {
        self.load_from(self.data.as_deref(), global)
    }

    /// The file or folder that was named, if it is there.
    pub(crate) fn path(&self) -> Option<&Path> {
        let path = self.data.as_deref().map(Path::new);
        path.filter(|path| path.exists())
    }

    /// All files and folders that are read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let tables = [&self.reading.nodes, &self.reading.edges];
        let tables = tables.into_iter().flatten().cloned();
        self.path()
            .map(Path::to_owned)
            .into_iter()
            .chain(tables)
            .collect()
    }

    /// As [`Source::load`], with the same flags and other data.
    pub(crate) fn load_from(
        &self,
        named: Option<&str>,
        global: &Global,
    ) -> Result<Loaded, Failure> {
        let listener = listener(global.quiet);
        let context = context(global, &*listener);
        let options = self.reading.options();
        let path = Path::new(named.unwrap_or_default());
        let tables = options.nodes_file.is_some() || options.edges_file.is_some();
        let loaded = match (tables, Recipe::preset(named.unwrap_or(DEFAULT))) {
            (true, _) if path.exists() => read_folder(Some(path), &options, &context)?,
            (true, _) if named.is_none() => read_folder(None, &options, &context)?,
            (true, _) => return Err(self.unknown()),
            (false, Some(_)) if !path.exists() && self.reading != Reading::default() => {
                return Err(Failure::input(format!(
                    "{} is built-in data; flags about reading are for files and folders",
                    named.unwrap_or(DEFAULT)
                )));
            }
            // A file or folder goes before a preset of the same name.
            (false, Some(recipe)) if !path.exists() => Loaded {
                graph: synthesize(&self.scaled(recipe)?, &context)?,
                format: "synthetic",
                notes: Vec::new(),
            },
            _ if !path.exists() => return Err(self.unknown()),
            _ if self.scale != 1.0 => {
                return Err(Failure::input(
                    "--scale is for built-in data; a file has the size it has",
                ));
            }
            _ => read(path, &options, &context)?,
        };
        if !global.quiet {
            if path.exists() && Recipe::preset(named.unwrap_or_default()).is_some() {
                let name = path.display();
                tell!("note: {name} is also the name of built-in data; what lies here was taken");
            }
            loaded.notes.iter().for_each(|note| tell!("note: {note}"));
        }
        Ok(loaded)
    }

    fn scaled(&self, recipe: Recipe) -> Result<Recipe, Failure> {
        match self.scale == 1.0 {
            true => Ok(recipe),
            false => Ok(recipe.scaled(self.scale)?),
        }
    }

    fn unknown(&self) -> Failure {
        let names: Vec<&str> = Recipe::presets().iter().map(|preset| preset.name).collect();
        let data = self.data.as_deref().unwrap_or_default();
        let near = nearest(data, names.iter().copied());
        let hint = match near.is_empty() {
            true => format!("built-in data is called {}", names.join(", ")),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        Failure::input(format!(
            "{data}: there is no such file, folder or built-in data; {hint}"
        ))
    }
}

/// The memory limit and the listener of a command.
pub(crate) fn context<'a>(
    global: &Global,
    listener: &'a dyn treering_data::Progress,
) -> Context<'a> {
    match global.memory {
        Some(limit) => Context::new(listener, limit),
        None => Context::with_free_memory(listener),
    }
}

/// A size such as `8GB`, `500MB`, `2GiB` or a plain number of bytes.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let units = [
        ("KIB", 1u64 << 10),
        ("MIB", 1 << 20),
        ("GIB", 1 << 30),
        ("TIB", 1 << 40),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let upper = text.trim().to_ascii_uppercase();
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((upper.strip_suffix(name)?, *unit)))
        .unwrap_or((upper.as_str(), 1));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit as f64) as u64),
        _ => Err("a size is a number with B, kB, MB, GB, KiB, MiB or GiB, such as 8GB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse_bytes("8GB"), Ok(8_000_000_000));
        assert_eq!(parse_bytes("1.5 kb"), Ok(1500));
        assert_eq!(parse_bytes("2GiB"), Ok(2 << 30));
        assert_eq!(parse_bytes("77"), Ok(77));
        for bad in ["", "much", "-1GB", "0", "nanGB", "infGB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
