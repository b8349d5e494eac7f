//! What is said with a table: what it shows, what learners know at the test, and how it was made.

use treering_data::ClassOrder;
use treering_eval::Protocol;

use super::series::{Comparison, Entrant, or_default};
use super::sets::DataSet;
use super::table::{Row, word};
use super::tables::Plan;

/// A sentence for each.
pub(super) fn caption(plan: &Plan, comparison: &Comparison, entrants: &[Entrant]) -> Vec<String> {
    let shown: Vec<&Entrant> = plan
        .lines
        .iter()
        .map(|line| &entrants[line.entrant])
        .collect();
    let mut told = Vec::new();
    if !plan.about.is_empty() {
        told.push(format!("{}.", plan.about));
    }
    let protocols: Vec<Protocol> = shown.iter().map(|one| one.protocol).collect();
    let protocols = or_default(&protocols, Protocol::Paper);
    let known: Vec<String> = protocols.iter().map(|&one| knows(one)).collect();
    told.push(format!("What is known at the test: {}.", known.join("; ")));
    if plan.lines.iter().any(|line| line.reference) {
        told.push("† marks references, which see all tasks at once or are told the task; they do not compete for the best figure, in bold.".into());
    } else if protocols.len() > 1 {
        told.push("The best figure of each protocol is in bold.".into());
    } else {
        told.push("The best figure is in bold.".into());
    }
    let orders: Vec<ClassOrder> = shown.iter().map(|one| one.order).collect();
    let orders = or_default(&orders, ClassOrder::Ascending);
    let orders: Vec<String> = orders.iter().map(word).collect();
    told.push(format!(
        "{}; classes arrive {}{}.",
        seeds(comparison.seeds),
        match orders.len() {
            1 => format!("in {} order", orders[0]),
            _ => "in the orders named".to_owned(),
        },
        comparison.unusual()
    ));
    let sets: Vec<String> = comparison.sets.iter().map(data).collect();
    told.push(format!("Data: {}.", sets.join("; ")));
    if let Some(reduced) = reduced(&shown) {
        told.push(reduced);
    }
    told.push(format!("Treering {}.", env!("CARGO_PKG_VERSION")));
    told
}

/// The rows of a table that have fewer runs than the others.
pub(super) fn fewer(plan: &Plan, by_set: &[&[Row]]) -> Option<String> {
    let mut told = Vec::new();
    for rows in by_set {
        for line in &plan.lines {
            let row = &rows[line.entrant];
            told.extend(
                row.fewer()
                    .map(|done| format!("{} {} {done}", row.data, line.label)),
            );
        }
    }
    (!told.is_empty()).then(|| format!("Fewer runs: {}.", told.join(", ")))
}

fn knows(protocol: Protocol) -> String {
    match protocol {
        Protocol::Groups(size) => format!(
            "{protocol}, a task's test nodes come in random groups of {}",
            size.get()
        ),
        Protocol::OpenGroups(size) => format!(
            "{protocol}, a task's test nodes come in random groups of {}, and groups of tasks come too that are not learned yet",
            size.get()
        ),
        other => format!("{other}, {}", other.listed().summary),
    }
}

fn seeds(seeds: u64) -> String {
    match seeds {
        1 => "One run, with seed 0".to_owned(),
        _ => format!(
            "Mean and standard deviation over {seeds} runs, with seeds 0 to {}",
            seeds - 1
        ),
    }
}

fn data(set: &DataSet) -> String {
    let size = set.size(ClassOrder::Ascending);
    let synthetic = if set.synthetic { "SYNTHETIC, " } else { "" };
    format!("{} ({synthetic}{} tasks)", set.label, size.tasks)
}

/// Parameters of all rows of a learner that are not at their defaults; those that tell rows apart are in their names.
fn reduced(shown: &[&Entrant]) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for one in shown {
        let name = &one.contender.name;
        let same = || shown.iter().filter(|other| other.contender.name == *name);
        for change in &one.contender.changed {
            let (key, value) = change;
            let text = format!("{name}.{key}={value}");
            let everywhere = same().all(|other| other.contender.changed.contains(change));
            if everywhere && !told.contains(&text) {
                told.push(text);
            }
        }
    }
    (!told.is_empty()).then(|| format!("Not at their defaults: {}.", told.join(", ")))
}
