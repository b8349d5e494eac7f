//! A table as Markdown, LaTeX and CSV.

use super::{Cell, Column, Line, Table};

/// Marks a reference; the captions explain it.
const MARK: &str = "†";

/// For pages.
pub(crate) fn markdown(table: &Table) -> String {
    let safe = |text: &str| text.replace('|', "\\|").replace(char::is_control, " ");
    let mut header = vec!["method".to_owned(), "replay".to_owned()];
    for column in &table.columns {
        let title = format!("{} {}", safe(&column.data), column.metric.title());
        header.push(title.clone());
        header.extend(column.published.then(|| format!("{title} (paper)")));
    }
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = row(&header);
    text.push_str(&format!("|---|---|{}\n", "---:|".repeat(header.len() - 2)));
    for line in &table.lines {
        let mark = if line.reference { MARK } else { "" };
        let mut cells = vec![safe(&line.label) + mark, replay(line).to_owned()];
        for (column, cell) in table.columns.iter().zip(&line.cells) {
            let shown = shown(column, cell);
            cells.push(if cell.best {
                format!("**{shown}**")
            } else {
                shown
            });
            cells.extend(column.published.then(|| published(cell)));
        }
        text.push_str(&row(&cells));
    }
    let caption: Vec<String> = table.caption.iter().map(|told| safe(told)).collect();
    format!("{text}\n{}\n", caption.join(" "))
}

/// For papers; needs the package booktabs.
pub(crate) fn latex(table: &Table) -> String {
    let figures: usize = table.columns.iter().map(width).sum();
    let mut text = format!(
        "% \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\begin{{tabular}}{{ll{}}}\n\\toprule\n",
        escaped(&table.caption.join(" ")),
        "r".repeat(figures)
    );
    let (mut sets, mut rules, mut titles) = (String::new(), String::new(), String::new());
    let mut first = 3;
    for columns in table.columns.chunk_by(|a, b| a.data == b.data) {
        let span: usize = columns.iter().map(width).sum();
        let data = escaped(&columns[0].data);
        sets.push_str(&format!(" & \\multicolumn{{{span}}}{{c}}{{{data}}}"));
        rules.push_str(&format!("\\cmidrule(lr){{{first}-{}}}", first + span - 1));
        first += span;
        for column in columns {
            let title = column.metric.title();
            titles.push_str(&format!(" & {title}"));
            if column.published {
                titles.push_str(&format!(" & {title} (paper)"));
            }
        }
    }
    text.push_str(&format!(
        "& {sets} \\\\\n{rules}\nmethod & replay{titles} \\\\\n\\midrule\n"
    ));
    for line in &table.lines {
        let mark = if line.reference { "$^\\dagger$" } else { "" };
        text.push_str(&format!(
            "{}{mark} & {}",
            escaped(&line.label),
            replay(line)
        ));
        for (column, cell) in table.columns.iter().zip(&line.cells) {
            let shown = escaped(&shown(column, cell));
            match cell.best {
                true => text.push_str(&format!(" & \\textbf{{{shown}}}")),
                false => text.push_str(&format!(" & {shown}")),
            }
            if column.published {
                text.push_str(&format!(" & {}", escaped(&published(cell))));
            }
        }
        text.push_str(" \\\\\n");
    }
    text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
}

/// For programs: a record for every figure, with all its digits.
pub(crate) fn csv(table: &Table) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "table",
        "method",
        "replay",
        "reference",
        "data",
        "figure",
        "mean",
        "std",
        "runs",
        "best",
        "paper_mean",
        "paper_std",
    ])?;
    for line in &table.lines {
        for (column, cell) in table.columns.iter().zip(&line.cells) {
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            writer.write_record([
                table.name,
                &line.label,
                replay(line),
                if line.reference { "yes" } else { "no" },
                &column.data,
                column.metric.title(),
                &number(cell.spread.map(|spread| spread.mean)),
                &number(cell.spread.and_then(|spread| spread.std)),
                &cell.spread.map_or(0, |spread| spread.count).to_string(),
                if cell.best { "yes" } else { "no" },
                &number(cell.published.map(|figure| figure.mean)),
                &number(cell.published.and_then(|figure| figure.std)),
            ])?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn width(column: &Column) -> usize {
    1 + usize::from(column.published)
}

fn replay(line: &Line) -> &'static str {
    if line.replays { "yes" } else { "no" }
}

/// A figure as people read it; nothing has a minus sign before a zero.
fn shown(column: &Column, cell: &Cell) -> String {
    let Some(mut spread) = cell.spread else {
        return "-".to_owned();
    };
    let step = 10f64.powi(-(column.metric.decimals() as i32));
    if spread.mean.abs() < step / 2.0 {
        spread.mean = 0.0;
    }
    spread.text(column.metric.decimals())
}

fn published(cell: &Cell) -> String {
    match cell.published {
        Some(figure) => figure.text(),
        None => "-".to_owned(),
    }
}

/// A text that LaTeX shows as it is.
fn escaped(text: &str) -> String {
    let one = |letter: char| match letter {
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{letter}"),
        '±' => "$\\pm$".to_owned(),
        '†' => "$^\\dagger$".to_owned(),
        letter if letter.is_control() => " ".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(one).collect()
}
