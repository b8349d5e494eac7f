use super::*;
use crate::fixture::{bench, done, failed};
use crate::summary::summarise;

fn shown(bold: bool) -> String {
    let mut runs = vec![
        done(
            "a data set with a long name, to see what becomes of it",
            "ewc",
            "paper",
            0,
            [90.0, 10.0, 92.5],
        ),
        done(
            "a data set with a long name, to see what becomes of it",
            "ewc",
            "paper",
            1,
            [90.0, 10.0, 92.5],
        ),
        done("demo", "task-specific+tp", "paper", 0, [100.0; 3]),
    ];
    for seed in 0..7 {
        let error = "no memory ".repeat(20) + "\u{1b}[31m";
        runs.push(failed(done("demo", "gem", "paper", seed, [0.0; 3]), &error));
    }
    let bench = bench(runs);
    terminal(&bench, &summarise(&bench.lines), bold)
}

#[test]
fn it_fits_eighty_columns_and_has_no_escape_signs() {
    let text = shown(false);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(shown(true).contains("\u{1b}[1m"));
}

#[test]
fn it_has_numbers_bars_and_curves() {
    let text = shown(false);
    let spaced = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(spaced).collect();
    assert!(
        lines.contains(&"ewc 2 51.2 ± 0.0 ████▋ -80.0 ± 0.0 - █▅".to_owned()),
        "{text}"
    );
    assert!(lines.contains(&"gem 0/7 - - -".to_owned()), "{text}");
    assert!(
        text.contains("demo is SYNTHETIC data.") && text.contains("and 2 more"),
        "{text}"
    );
}

#[test]
fn bars_and_curves_are_in_proportion() {
    assert_eq!(
        [0.0, 50.0, 100.0, 1e9].map(bar),
        ["", "████▌", "█████████", "█████████"]
    );
    let curve: Vec<Option<Spread>> = (0..35)
        .map(|at| Spread::of(&[f64::from(at) * 3.0]))
        .collect();
    let line = sparkline(&curve);
    assert_eq!(line.chars().count(), CURVE);
    assert!(line.starts_with('▁') && line.ends_with('█'), "{line}");
    assert_eq!(sparkline(&curve[..1]), "");
}
