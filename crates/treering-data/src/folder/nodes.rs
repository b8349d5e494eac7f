//! The table of nodes: what nodes are called, their classes, their split and their dense features.

use treering_graph::{Dense, GraphError, Labels, NodeNames, Role};

use super::choose::{FEATURES, ID, LABEL, SPLIT, check_header, check_usable, some_names};
use super::classes::Classes;
use super::describe::Description;
use super::ids::{Id, Ids};
use super::memory::Ledger;
use super::table::{Column, Kind, Rows, TableFile};
use crate::{Columns, Context, Fault, Result};

/// What the table of nodes says.
pub(super) struct Nodes {
    pub(super) names: NodeNames,
    /// The column that the names come from.
    pub(super) id_column: Option<String>,
    pub(super) labels: Option<Labels>,
    pub(super) split: Option<Vec<Role>>,
    /// Without columns where the features lie elsewhere.
    pub(super) features: Dense,
}

/// Which column is what.
struct Plan {
    id: Option<usize>,
    label: Option<usize>,
    split: Option<usize>,
    features: Chosen,
}

enum Chosen {
    Columns(Vec<usize>),
    List(usize),
}

/// Reads the table.
///
/// # Arguments
/// * `sparse`: the features lie in a table of their own.
pub(super) fn read<'a>(
    table: TableFile<'a>,
    columns: &Columns,
    described: Option<&Description>,
    sparse: bool,
    context: &'a Context<'a>,
    notes: &mut Vec<String>,
) -> Result<Nodes> {
    let path = table.path;
    let plan = plan(&table, columns, sparse, notes)?;
    if plan.id.is_none() {
        notes.push(format!(
            "{} has no column of ids ({}): nodes are numbered by their row, from 0. If a column holds them, name it with --id-column",
            path.display(),
            ID.words()
        ));
    }
    let listed = described.map(|described| &described.classes[..]);
    let mut reading = Reading {
        ids: Ids::Positions(0),
        classes: plan
            .label
            .map(|column| Classes::new(&table.columns[column].kind, listed)),
        split: plan.split.map(|_| Vec::new()),
        values: Vec::new(),
        width: match &plan.features {
            Chosen::Columns(columns) => Some(columns.len()),
            Chosen::List(_) => None,
        },
        plan,
    };
    let id_column = reading
        .plan
        .id
        .map(|column| table.columns[column].name.clone());
    let mut ledger = Ledger::new(context, path);
    let mut rows = table.rows(&reading.plan.used(), context)?;
    let mut count = 0;
    while rows.next()? {
        let bytes = reading.take(&rows, count)?;
        ledger.add(bytes)?;
        count += 1;
    }
    drop(rows);
    if count == 0 {
        return Err(Fault::Empty.at(path));
    }
    let nodes = reading
        .finish(count)
        .map_err(|error| Fault::Graph(error).at(path))?;
    Ok(Nodes { id_column, ..nodes })
}

/// What has been read so far.
struct Reading {
    plan: Plan,
    ids: Ids,
    classes: Option<Classes>,
    split: Option<Vec<Role>>,
    values: Vec<f32>,
    /// The number of features; the first list tells it.
    width: Option<usize>,
}

impl Reading {
    /// Takes what the current row says and tells how many bytes that needs.
    fn take(&mut self, rows: &Rows<'_>, row: usize) -> Result<usize> {
        let mut bytes = 0;
        let id = match self.plan.id {
            None => Id::Integer(row as i64),
            Some(column) => {
                let cell = rows.cell(column)?;
                Id::from_cell(cell).ok_or_else(|| rows.bad(column, cell, "a node id"))?
            }
        };
        bytes += self.ids.push(id);
        if let (Some(classes), Some(column)) = (&mut self.classes, self.plan.label) {
            let cell = rows.cell(column)?;
            let pushed = classes.push(cell);
            bytes += pushed.map_err(|expected| rows.bad(column, cell, expected))?;
        }
        if let (Some(split), Some(column)) = (&mut self.split, self.plan.split) {
            split.push(role(rows, column)?);
            bytes += size_of::<Role>();
        }
        Ok(bytes + self.take_features(rows)?)
    }

    fn take_features(&mut self, rows: &Rows<'_>) -> Result<usize> {
        let before = self.values.len();
        match &self.plan.features {
            Chosen::Columns(columns) => {
                for &column in columns {
                    self.values.push(rows.number(column)?);
                }
            }
            Chosen::List(column) => {
                rows.list(*column, &mut self.values)?;
                let found = self.values.len() - before;
                let expected = *self.width.get_or_insert(found);
                if found != expected {
                    let fault = width_fault(found, expected, "as many as in the first row");
                    return Err(rows.wrong(*column, fault));
                }
            }
        }
        Ok((self.values.len() - before) * size_of::<f32>())
    }

    fn finish(mut self, nodes: usize) -> std::result::Result<Nodes, GraphError> {
        self.values.shrink_to_fit();
        Ok(Nodes {
            names: self.ids.into_names(),
            id_column: None,
            labels: self.classes.map(Classes::finish).transpose()?,
            split: self.split,
            features: Dense::new(nodes, self.width.unwrap_or(0), self.values.into())?,
        })
    }
}

/// Another number of features than there should be.
pub(super) fn width_fault(found: usize, expected: usize, because: &str) -> Fault {
    Fault::LengthMismatch {
        what: "features".into(),
        found: found as u64,
        expected: expected as u64,
        because: because.into(),
    }
}

fn role(rows: &Rows<'_>, column: usize) -> Result<Role> {
    let cell = rows.cell(column)?;
    let word = match cell {
        super::table::Cell::Missing => Some(Role::None),
        cell => Role::from_word(&cell.to_string()),
    };
    word.ok_or_else(|| rows.bad(column, cell, "train, val, test or nothing"))
}

impl Plan {
    fn used(&self) -> Vec<usize> {
        let mut used: Vec<usize> = self.known().collect();
        match &self.features {
            Chosen::Columns(columns) => used.extend(columns),
            Chosen::List(column) => used.push(*column),
        }
        used
    }

    fn known(&self) -> impl Iterator<Item = usize> {
        [self.id, self.label, self.split].into_iter().flatten()
    }
}

fn plan(
    table: &TableFile<'_>,
    columns: &Columns,
    sparse: bool,
    notes: &mut Vec<String>,
) -> Result<Plan> {
    // Programs call unnamed columns 0, 1, 2, ...
    let counted = |(at, column): (usize, &Column)| column.name == at.to_string();
    check_header(table, table.columns.iter().enumerate().all(counted))?;
    let mut plan = Plan {
        id: ID.choose(table, columns.id.as_deref())?,
        label: LABEL.choose(table, columns.label.as_deref())?,
        split: SPLIT.choose(table, columns.split.as_deref())?,
        features: Chosen::Columns(Vec::new()),
    };
    for column in plan.known() {
        check_usable(table, column)?;
    }
    let remaining: Vec<usize> = (0..table.columns.len())
        .filter(|column| plan.known().all(|known| known != *column))
        .collect();
    plan.features = match &columns.features {
        Some(names) => named_features(table, names)?,
        None if sparse => {
            let why = "the features have a table of their own";
            note_unused(table, &remaining, why, notes);
            Chosen::Columns(Vec::new())
        }
        None => guessed_features(table, remaining, notes)?,
    };
    Ok(plan)
}

fn named_features(table: &TableFile<'_>, names: &[String]) -> Result<Chosen> {
    let named = names.iter().map(|name| FEATURES.named(table, name));
    let columns = named.collect::<Result<Vec<_>>>()?;
    if let [column] = columns[..]
        && table.columns[column].kind == Kind::List
    {
        return Ok(Chosen::List(column));
    }
    for &column in &columns {
        check_usable(table, column)?;
    }
    Ok(Chosen::Columns(columns))
}

/// The list column, where there is one, or else every column of numbers that is not something else by its name.
fn guessed_features(
    table: &TableFile<'_>,
    remaining: Vec<usize>,
    notes: &mut Vec<String>,
) -> Result<Chosen> {
    // A text may look like a list by chance, so its column must be called so too.
    let is_list =
        |column: &Column| column.kind == Kind::List && (!table.is_text() || FEATURES.fits(column));
    let (lists, others): (Vec<_>, Vec<_>) = remaining
        .into_iter()
        .partition(|&column| is_list(&table.columns[column]));
    match lists[..] {
        [] => {}
        [list] => {
            let why = format!("`{}` holds the features", table.columns[list].name);
            note_unused(table, &others, &why, notes);
            return Ok(Chosen::List(list));
        }
        _ => {
            let choices = lists
                .iter()
                .map(|&list| table.columns[list].name.clone())
                .collect();
            let flag = FEATURES.flag;
            return Err(Fault::Ambiguous { choices, flag }.at(table.path));
        }
    }
    let (numbers, texts): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|&column| table.columns[column].kind == Kind::Number);
    note_unused(table, &texts, "no numbers there", notes);
    // A second column of labels must not become a feature, and neither must the count of rows that some programs
    // put first.
    let (other, features): (Vec<_>, Vec<_>) = numbers.into_iter().partition(|&column| {
        let column = &table.columns[column];
        is_row_count(&column.name) || [ID, LABEL, SPLIT].iter().any(|part| part.fits(column))
    });
    let why = "by its name it is no feature; --feature-columns can say otherwise";
    note_unused(table, &other, why, notes);
    Ok(Chosen::Columns(features))
}

/// What pandas calls the index of a table when it writes it as a column.
fn is_row_count(name: &str) -> bool {
    name.is_empty() || name.starts_with("Unnamed: ") || name.starts_with("__index_level_")
}

fn note_unused(table: &TableFile<'_>, columns: &[usize], why: &str, notes: &mut Vec<String>) {
    if columns.is_empty() {
        return;
    }
    let names = columns
        .iter()
        .map(|&column| table.columns[column].name.as_str());
    let file = table.path.file_name().unwrap_or_default().to_string_lossy();
    notes.push(format!(
        "not used from {file}: {} ({why})",
        some_names(names)
    ));
}
