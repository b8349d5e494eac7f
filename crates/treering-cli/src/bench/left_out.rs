//! Classes that are in no task, in words.

use treering_data::{ClassOrder, DropReason, Dropped, Stream};

/// Names at most this many.
const NAMED: usize = 5;

/// What the streams of a data set leave out, one for every order; each thing once.
pub(super) fn told(streams: &[Stream], seeds: u64) -> Vec<String> {
    let mut all = Vec::new();
    for stream in streams {
        for reason in [
            DropReason::TooSmall,
            DropReason::NotInSplit,
            DropReason::Unpaired,
            DropReason::NotChosen,
        ] {
            let these: Vec<&Dropped> = stream
                .dropped
                .iter()
                .filter(|dropped| dropped.reason == reason)
                .collect();
            let changing = reason == DropReason::Unpaired
                && stream.options.order == ClassOrder::Random
                && seeds > 1;
            let said = match (these.is_empty(), changing) {
                (true, _) => continue,
                (_, true) => format!(
                    "{} with every seed, not always the same, {}",
                    count(these.len()),
                    reason.explain()
                ),
                (_, false) => format!("{}, {}", names(&these), reason.explain()),
            };
            if !all.contains(&said) {
                all.push(said);
            }
        }
    }
    all
}

fn count(classes: usize) -> String {
    match classes {
        1 => "1 class".to_owned(),
        more => format!("{more} classes"),
    }
}

fn names(these: &[&Dropped]) -> String {
    let name = |dropped: &&Dropped| {
        let nodes = if dropped.nodes == 1 { "node" } else { "nodes" };
        format!("{} ({} {nodes})", dropped.class, dropped.nodes)
    };
    let named: Vec<String> = these.iter().take(NAMED).map(name).collect();
    let more = match these.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = if these.len() == 1 { "class" } else { "classes" };
    format!("{word} {}{more}", named.join(", "))
}
