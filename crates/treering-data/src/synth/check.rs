//! The ranges of a recipe's fields. Everything that draws relies on them and checks nothing again.

use std::fmt::Display;
use std::ops::RangeBounds;

use super::blocks;
use super::error::RecipeError;
use super::recipe::{FeatureKind, Recipe};

/// More classes than this are a mistake, and every class costs memory.
const MOST_CLASSES: usize = 65_536;

/// Node ids have 32 bits, and the last one stands for "none".
const MOST_NODES: usize = u32::MAX as usize - 1;

impl Recipe {
    /// Looks at every field and at whether the edges fit.
    ///
    /// # Errors
    /// The first field outside its range, with the range; more edges than there are pairs.
    pub fn check(&self) -> Result<(), RecipeError> {
        if self.name.trim().is_empty() {
            return Err(RecipeError::field("name", "empty", "a text"));
        }
        self.check_counts()?;
        self.check_shares()?;
        self.check_features()?;
        blocks::check_room(self, &self.class_sizes())
    }

    fn check_counts(&self) -> Result<(), RecipeError> {
        let most_classes = MOST_CLASSES.min(self.nodes);
        within("nodes", self.nodes, 1..=MOST_NODES, || {
            format!("1 to {MOST_NODES}")
        })?;
        within("classes", self.classes, 1..=most_classes, || {
            format!("1 to {most_classes}, at most one for each node")
        })?;
        within(
            "classes_per_task",
            self.classes_per_task,
            1..=self.classes,
            || format!("1 to {}, the number of classes", self.classes),
        )?;
        let Some(last) = self.last_class else {
            return Ok(());
        };
        let others = self.classes - 1;
        let least = if others == 0 { self.nodes } else { 1 };
        let most = self.nodes - others;
        within("last_class", last, least..=most, || {
            format!("{least} to {most}, which leaves a node for every other class")
        })
    }

    fn check_shares(&self) -> Result<(), RecipeError> {
        within("class_skew", self.class_skew, 0.0..=10.0, || {
            "0 to 10".into()
        })?;
        within("homophily", self.homophily, 0.0..=1.0, || "0 to 1".into())?;
        within("task_share", self.task_share, self.homophily..=1.0, || {
            format!("{} (`homophily`) to 1", self.homophily)
        })?;
        within("isolated", self.isolated, 0.0..1.0, || {
            "0 to 1, 1 not included".into()
        })?;
        let exponent = self.degree_exponent;
        if exponent > 2.0 && exponent <= 1000.0 {
            return Ok(());
        }
        let valid = format!(
            "above 2 and at most 1000 ({} makes all nodes alike)",
            Recipe::EQUAL_DEGREES
        );
        Err(RecipeError::field("degree_exponent", exponent, valid))
    }

    fn check_features(&self) -> Result<(), RecipeError> {
        within("features", self.features, 1..=MOST_NODES, || {
            format!("1 to {MOST_NODES}")
        })?;
        let most_noise = match self.feature_kind {
            FeatureKind::Gaussian => 1000.0,
            FeatureKind::BagOfWords { words_per_node } => {
                let most = self.features as f64;
                within("words_per_node", words_per_node, 1.0..=most, || {
                    format!("1 to {most}, the number of features")
                })?;
                1.0
            }
        };
        within(
            "feature_noise",
            self.feature_noise,
            0.0..=most_noise,
            || format!("0 to {most_noise}"),
        )
    }
}

/// NaN lies in no range.
fn within<T: PartialOrd + Display>(
    field: &'static str,
    value: T,
    range: impl RangeBounds<T>,
    valid: impl Fn() -> String,
) -> Result<(), RecipeError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(RecipeError::field(field, value, valid()))
}
