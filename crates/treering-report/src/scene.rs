//! A scene: data and how it becomes a stream. What is in one scene under one protocol can be compared.

use std::collections::BTreeSet;

use crate::colour::{Style, style};
use crate::summary::Row;

/// Rows on one stream.
pub(crate) struct Scene<'a> {
    /// What to call it.
    pub(crate) name: String,
    /// Whether a generator made the data up.
    pub(crate) synthetic: bool,
    /// In the order of the summary.
    pub(crate) rows: Vec<&'a Row>,
}

impl<'a> Scene<'a> {
    /// Rows under one protocol, for every protocol, in the order of the summary.
    pub(crate) fn by_protocol(&self) -> Vec<(&'a str, Vec<&'a Row>)> {
        let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
        for &row in &self.rows {
            match groups.last_mut() {
                Some((protocol, rows)) if *protocol == row.protocol => rows.push(row),
                _ => groups.push((&row.protocol, vec![row])),
            }
        }
        groups
    }

    /// The name with the mark of synthetic data.
    pub(crate) fn marked(&self) -> String {
        marked(&self.name, self.synthetic)
    }
}

/// A name with the mark of synthetic data.
pub(crate) fn marked(name: &str, synthetic: bool) -> String {
    match synthetic {
        true => format!("{name} (SYNTHETIC)"),
        false => name.to_owned(),
    }
}

/// Cuts rows into scenes. They are sorted by scene already.
pub(crate) fn scenes(rows: &[Row]) -> Vec<Scene<'_>> {
    let mut all: Vec<Scene<'_>> = Vec::new();
    for row in rows {
        let name = scene_name(row, rows);
        match all.last_mut() {
            Some(scene) if scene.name == name => scene.rows.push(row),
            _ => all.push(Scene {
                name,
                synthetic: row.synthetic,
                rows: vec![row],
            }),
        }
    }
    all
}

/// The data's name, and of the stream what is not the same everywhere.
pub(crate) fn scene_name(row: &Row, rows: &[Row]) -> String {
    let varies = |of: fn(&Row) -> String| {
        let values: BTreeSet<String> = rows.iter().map(of).collect();
        (values.len() > 1).then(|| of(row))
    };
    let parts = [
        Some(row.data.clone()),
        varies(|row| format!("{} order", row.order)),
        varies(|row| match row.classes_per_task {
            Some(classes) => format!("{classes} classes per task"),
            None => "tasks as given".to_owned(),
        }),
        varies(|row| format!("{} split", row.split)),
        varies(|row| match row.split_seed {
            Some(seed) => format!("split of seed {seed}"),
            None => "a split per seed".to_owned(),
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How learners are drawn: one colour for a learner with and without task prediction, the same in every figure.
pub(crate) struct Styles(Vec<String>);

impl Styles {
    pub(crate) fn new(rows: &[Row]) -> Self {
        let mut hosts: Vec<(usize, String)> = Vec::new();
        for row in rows {
            let host = host(&row.label);
            if !hosts.iter().any(|(_, known)| *known == host) {
                hosts.push((crate::summary::rank(&row.learner), host));
            }
        }
        hosts.sort();
        Styles(hosts.into_iter().map(|(_, host)| host).collect())
    }

    pub(crate) fn of(&self, label: &str) -> Style {
        let at = self.0.iter().position(|known| *known == host(label));
        style(at.unwrap_or(0), label.contains("+tp"))
    }
}

fn host(label: &str) -> String {
    label.replacen("+tp", "", 1)
}
