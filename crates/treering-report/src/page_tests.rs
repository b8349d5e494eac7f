use serde_json::{Value, json};

use super::*;
use crate::fixture::{bench, done, failed};
use crate::summary::summarise;

fn made(bench: &Bench) -> String {
    page(bench, &summarise(&bench.lines)).unwrap()
}

/// The JSON that the script reads.
fn packed(page: &str) -> Value {
    let start = page.find("id=\"packed\">").unwrap() + "id=\"packed\">".len();
    let length = page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..start + length]).unwrap()
}

#[test]
fn nothing_from_the_data_becomes_markup() {
    let evil = "</script><script>alert(1)</script>";
    let run = done(evil, "ewc", "paper", 0, [90.0; 3]);
    let lost = failed(
        done(evil, "ewc", "paper", 1, [0.0; 3]),
        "<img src=x onerror=alert(2)>",
    );
    let page = made(&bench([run, lost]));
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(
        packed(&page)["matrices"][0]["scene"]
            .as_str()
            .unwrap()
            .contains(evil)
    );
}

#[test]
fn the_page_needs_nothing_else_and_marks_what_is_synthetic() {
    let page = made(&bench([done(
        "demo",
        "ewc",
        "paper",
        0,
        [90.0, 80.0, 70.0],
    )]));
    for word in ["src=", "@import", "url(", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    let links = page.matches("http").count();
    let own =
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
    assert_eq!(links, own);
    assert!(page.contains("demo is SYNTHETIC data"));
    assert!(page.contains(
        "<td>demo (SYNTHETIC)<td>paper<th scope=\"row\">ewc</th><td>1<td>75.0<td>-10.0<td>-"
    ));
    assert!(page.contains("treering bench --data &#x27;a&lt;b&#x27;"));
    assert!(page.contains("<dd>SHA-256 <code>sum-of-demo</code></dd>"));
}

#[test]
fn matrices_are_packed_in_tenths() {
    let page = made(&bench([done(
        "demo",
        "ewc",
        "paper",
        0,
        [90.04, 80.06, 70.0],
    )]));
    assert_eq!(
        packed(&page)["matrices"][0]["rows"],
        json!([[900], [801, 700]])
    );
}

#[test]
fn the_page_of_two_thousand_runs_stays_below_two_megabytes() {
    let learners: Vec<&str> = treering_learn::registry::LEARNERS
        .iter()
        .map(|entry| entry.name)
        .collect();
    let mut runs = Vec::new();
    for (data, tasks) in [
        ("topics", 35usize),
        ("coauthor", 7),
        ("clothing", 10),
        ("cora", 3),
    ] {
        for learner in learners
            .iter()
            .flat_map(|&name| [name.to_owned(), format!("{name}+tp")])
        {
            for protocol in ["paper", "single", "oracle"] {
                for seed in 0..5 {
                    runs.push(long(
                        done(data, &learner, protocol, seed, [90.0; 3]),
                        tasks,
                        seed,
                    ));
                }
            }
        }
    }
    assert!(runs.len() > 1900);
    let length = made(&bench(runs)).len();
    assert!(length < 2_000_000, "{length}");
}

/// A run of many tasks whose numbers have many digits.
fn long(mut run: Value, tasks: usize, seed: u64) -> Value {
    let entry = |stage: usize, task: usize| {
        100.0 / (1.3 + stage as f64 + task as f64 / 7.0 + seed as f64 / 3.0)
    };
    let rows: Vec<Vec<f64>> = (0..tasks)
        .map(|stage| (0..=stage).map(|task| entry(stage, task)).collect())
        .collect();
    run["learning_curve"] = rows
        .iter()
        .map(|row| row.iter().sum::<f64>() / row.len() as f64)
        .collect();
    run["matrix"] = json!(rows);
    run["tasks"] = tasks.into();
    run
}

#[test]
fn the_calibration_error_has_a_column_where_a_row_has_one() {
    let plain = done("cora", "ewc", "paper", 0, [90.0; 3]);
    let mut sure = done("cora", "mas", "paper", 0, [90.0; 3]);
    sure["calibration_error"] = json!(4.5);
    assert!(!made(&bench([plain.clone()])).contains("ECE"));
    let page = made(&bench([plain, sure]));
    assert!(page.contains("ECE %</button>"));
    // After macro-F1, and before the stored numbers.
    assert!(page.contains("<td>70.0<td>4.5<td>60"), "{page}");
    assert!(page.contains("<td>70.0<td>-<td>60"), "{page}");
}
