//! The table of edges.

use treering_graph::{Arcs, Direction};

use super::choose::{SOURCE, TARGET, WEIGHT, check_header, check_usable, some_names};
use super::ids::{Id, Index};
use super::memory::Ledger;
use super::table::{Cell, Kind, Rows, TableFile};
use crate::read::ArcList;
use crate::{Columns, Context, Fault, ReadOptions, Result};

struct Plan {
    source: usize,
    target: usize,
    weight: Option<usize>,
}

/// Reads the table and makes arcs of it.
pub(super) fn read<'a>(
    table: TableFile<'a>,
    options: &ReadOptions,
    index: &Index<'_>,
    nodes: usize,
    direction: Direction,
    context: &'a Context<'a>,
    notes: &mut Vec<String>,
) -> Result<Arcs> {
    let path = table.path;
    let mut plan = plan(&table, &options.columns, notes)?;
    check_first_line(&table, &plan, index)?;
    if options.ignore_weights && plan.weight.take().is_some() {
        notes.push("edge weights were left out".into());
    }
    let used: Vec<usize> = [Some(plan.source), Some(plan.target), plan.weight]
        .into_iter()
        .flatten()
        .collect();
    note_unused(&table, &used, options.ignore_weights, notes);
    let mut ledger = Ledger::new(context, path);
    let mut rows = table.rows(&used, context)?;
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    let mut weights = plan.weight.map(|_| Vec::new());
    while rows.next()? {
        sources.push(node(&rows, plan.source, index)?);
        targets.push(node(&rows, plan.target, index)?);
        if let (Some(weights), Some(column)) = (&mut weights, plan.weight) {
            weights.push(weight(&rows, column)?);
        }
        ledger.add(used.len() * size_of::<u32>())?;
    }
    drop(rows);
    let list = ArcList {
        file: path,
        nodes,
        sources: &sources,
        targets: &targets,
        weights: weights.as_deref(),
        direction,
    };
    let arcs = list.build(context, notes)?;
    drop((sources, targets, weights));
    ledger.give_back();
    Ok(arcs)
}

/// A table whose columns are called like two nodes has no line with names: taken for names, its first edge would be lost.
fn check_first_line(table: &TableFile<'_>, plan: &Plan, index: &Index<'_>) -> Result<()> {
    let is_node = |column: usize| {
        let name = table.columns[column].name.as_str();
        Id::from_cell(Cell::Text(name)).is_some_and(|id| index.find(&id).is_some())
    };
    if table.is_text() && is_node(plan.source) && is_node(plan.target) {
        let text = table.names().join(",");
        let expected = "a first line that names the columns";
        return Err(Fault::BadValue { text, expected }.at(table.path).line(1));
    }
    Ok(())
}

/// The node that a cell names.
pub(super) fn node(rows: &Rows<'_>, column: usize, index: &Index<'_>) -> Result<u32> {
    let cell = rows.cell(column)?;
    let id = Id::from_cell(cell).ok_or_else(|| rows.bad(column, cell, "a node id"))?;
    index.find(&id).ok_or_else(|| {
        let id = cell.to_string();
        rows.wrong(column, Fault::UnknownNode { id })
    })
}

fn weight(rows: &Rows<'_>, column: usize) -> Result<f32> {
    let weight = rows.number(column)?;
    if weight < 0.0 {
        let cell = rows.cell(column)?;
        return Err(rows.bad(column, cell, "a weight of 0 or more"));
    }
    Ok(weight)
}

fn plan(table: &TableFile<'_>, columns: &Columns, notes: &mut Vec<String>) -> Result<Plan> {
    let source = SOURCE.choose(table, columns.source.as_deref())?;
    let target = TARGET.choose(table, columns.target.as_deref())?;
    let weight = WEIGHT.choose(table, columns.weight.as_deref())?;
    let plan = match (source, target) {
        (Some(source), Some(target)) => Plan {
            source,
            target,
            weight,
        },
        (source, _) => in_order(table, columns, notes)?.ok_or_else(|| match source {
            None => SOURCE.required(table),
            Some(_) => TARGET.required(table),
        })?,
    };
    for column in [plan.source, plan.target].into_iter().chain(plan.weight) {
        check_usable(table, column)?;
    }
    Ok(plan)
}

/// A table of two columns, or three with numbers in the third, needs no names.
fn in_order(
    table: &TableFile<'_>,
    columns: &Columns,
    notes: &mut Vec<String>,
) -> Result<Option<Plan>> {
    let named = columns.source.is_some() || columns.target.is_some() || columns.weight.is_some();
    let weight = match &table.columns[..] {
        _ if named => return Ok(None),
        [_, _] => None,
        [_, _, third] if third.kind == Kind::Number => Some(2),
        _ => return Ok(None),
    };
    // Without this an edge in the first line would be taken for names, and lost.
    check_header(table, false)?;
    let what = match weight {
        None => "source and target",
        Some(_) => "source, target and weight",
    };
    let names = table.columns.iter().map(|column| column.name.as_str());
    notes.push(format!(
        "taken as {what}, in this order: {}",
        some_names(names)
    ));
    Ok(Some(Plan {
        source: 0,
        target: 1,
        weight,
    }))
}

fn note_unused(table: &TableFile<'_>, used: &[usize], no_weights: bool, notes: &mut Vec<String>) {
    let is_unused = |(at, column): &(usize, &super::table::Column)| {
        !(used.contains(at) || no_weights && WEIGHT.fits(column))
    };
    let unused: Vec<&str> = table
        .columns
        .iter()
        .enumerate()
        .filter(is_unused)
        .map(|(_, column)| column.name.as_str())
        .collect();
    if !unused.is_empty() {
        let file = table.path.file_name().unwrap_or_default().to_string_lossy();
        notes.push(format!(
            "not used from {file}: {}",
            some_names(unused.into_iter())
        ));
    }
}
