use super::*;

fn cell(values: &[f64]) -> Cell {
    Cell {
        spread: Spread::of(values),
        best: false,
        published: None,
    }
}

fn line(label: &str, reference: bool, cells: Vec<Cell>) -> Line {
    Line {
        protocol: Protocol::Paper,
        label: label.into(),
        replays: reference,
        reference,
        cells,
    }
}

/// Two data sets, one of the paper's; a reference, two methods that look equally good on AA, one without a result.
fn toy() -> Table {
    let column = |data: &str, metric| Column {
        data: data.into(),
        metric,
        published: data == "cora_full",
    };
    let mut ewc = cell(&[90.04]);
    ewc.published = published("main", "ewc", "cora_full", Metric::Aa);
    let mut table = Table {
        name: "main",
        caption: vec!["Shares in %.".into()],
        columns: vec![
            column("my_data", Metric::Aa),
            column("my_data", Metric::Stored),
            column("cora_full", Metric::Aa),
        ],
        lines: vec![
            line(
                "joint",
                true,
                vec![cell(&[99.0]), cell(&[1.0]), cell(&[99.0])],
            ),
            line("ewc", false, vec![cell(&[90.0, 92.0]), cell(&[70.0]), ewc]),
            line("a|b", false, vec![cell(&[91.02]), cell(&[60.0]), cell(&[])]),
        ],
    };
    table.mark_best();
    table
}

#[test]
fn the_best_is_bold_references_apart_and_equal_looks_are_equal() {
    let expected = "\
| method | replay | my_data AA | my_data stored/task | cora_full AA | cora_full AA (paper) |
|---|---|---:|---:|---:|---:|
| joint† | yes | 99.0 | 1 | 99.0 | - |
| ewc | no | **91.0 ± 1.4** | 70 | **90.0** | 52.6 ± 8.2 |
| a\\|b | no | **91.0** | **60** | - | - |

Shares in %.
";
    assert_eq!(markdown(&toy()), expected);
}

#[test]
fn latex_is_escaped_and_has_as_many_columns_as_it_says() {
    let text = latex(&toy());
    assert!(text.contains("\\begin{tabular}{llrrrr}"), "{text}");
    assert!(text.contains("\\multicolumn{2}{c}{my\\_data} & \\multicolumn{2}{c}{cora\\_full}"));
    assert!(text.contains("\\cmidrule(lr){3-4}\\cmidrule(lr){5-6}"));
    assert!(text.contains(
        "ewc & no & \\textbf{91.0 $\\pm$ 1.4} & 70 & \\textbf{90.0} & 52.6 $\\pm$ 8.2 \\\\"
    ));
    assert!(text.contains("joint$^\\dagger$ & yes"));
    assert!(text.contains("Shares in \\%."));
    let rows = text.lines().filter(|line| line.ends_with("\\\\"));
    for row in rows.skip(1) {
        assert_eq!(row.matches(" & ").count(), 5, "{row}");
    }
}

#[test]
fn csv_has_every_figure_with_all_digits() {
    let text = csv(&toy()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 9);
    let ewc: Vec<&str> = records[3].iter().collect();
    assert_eq!(ewc[..7], ["main", "ewc", "no", "no", "my_data", "AA", "91"]);
    assert_eq!(ewc[7].parse::<f64>().unwrap(), 2f64.sqrt());
    assert_eq!(ewc[8..], ["2", "yes", "", ""]);
    assert_eq!(
        records[5].iter().skip(10).collect::<Vec<_>>(),
        ["52.6", "8.2"]
    );
    assert_eq!(&records[8][6], "");
}

#[test]
fn a_zero_has_no_sign() {
    let mut table = toy();
    table.lines[1].cells[0] = cell(&[-0.01]);
    assert!(markdown(&table).contains("| ewc | no | 0.0 |"));
}

#[test]
fn the_best_is_sought_among_rows_that_are_told_the_same() {
    let mut table = toy();
    let column = table.columns.remove(0);
    table.columns = vec![column];
    let under = |protocol, label: &str, value: f64| Line {
        protocol,
        ..line(label, false, vec![cell(&[value])])
    };
    use Protocol::{Mixed, Paper, Single};
    table.lines = vec![
        under(Paper, "a", 90.0),
        under(Mixed, "a, mixed", 70.0),
        under(Paper, "b", 80.0),
        under(Mixed, "b, mixed", 75.0),
        under(Single, "alone", 99.0),
    ];
    table.mark_best();
    let best: Vec<bool> = table.lines.iter().map(|line| line.cells[0].best).collect();
    assert_eq!(best, [true, false, false, true, false]);
}
