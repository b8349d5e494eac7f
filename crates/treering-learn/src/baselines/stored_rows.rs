//! Rows of old tasks that a method trains on again.

use treering_graph::Features;

use crate::network::source::Source;

/// Rows with their classes, in the order they came. Sparse rows stay sparse.
#[derive(Clone, Debug, Default)]
pub struct StoredRows {
    features: Option<Features>,
    labels: Vec<u32>,
}

impl StoredRows {
    /// Adds rows; all have to be of one width.
    pub fn add(&mut self, rows: &Features, labels: &[u32]) {
        self.features = Some(match &self.features {
            None => rows.clone(),
            Some(before) => before.followed_by(rows),
        });
        self.labels.extend_from_slice(labels);
    }

    /// The class of each row.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The rows, once there are any.
    pub fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }

    /// The rows as a network reads them, once there are any.
    pub fn source(&self) -> Option<Source<'static, f32>> {
        self.features.as_ref().map(Source::rows_of)
    }

    /// Numbers that they take.
    pub fn numbers(&self) -> u64 {
        self.features
            .as_ref()
            .map_or(0, |features| features.numbers() as u64)
    }
}
