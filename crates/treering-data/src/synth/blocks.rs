//! Three kinds of edges, and how many of each there are and can be.
//!
//! Every kind has a quota of its own and is filled by itself, so the shares come out as asked even where
//! duplicates are frequent in one kind and rare in another.

use super::error::RecipeError;
use super::recipe::Recipe;

/// Where an edge lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Both ends in one class.
    SameClass,
    /// The ends in two classes of one task.
    SameTask,
    /// The ends in two tasks.
    AcrossTasks,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::SameClass, Kind::SameTask, Kind::AcrossTasks];

    /// For errors: "12 edges ...".
    pub(super) fn place(self) -> &'static str {
        match self {
            Kind::SameClass => "inside classes",
            Kind::SameTask => "between classes of one task",
            Kind::AcrossTasks => "between tasks",
        }
    }
}

/// How many edges of each kind the recipe asks for; they add up to `edges`.
pub(super) fn quotas(recipe: &Recipe) -> [u64; 3] {
    let share = |share: f64| ((recipe.edges as f64 * share).round() as u64).min(recipe.edges);
    let class = share(recipe.homophily);
    let task = share(recipe.task_share).max(class);
    [class, task - class, recipe.edges - task]
}

/// How many edges of each kind there can be between classes of these sizes.
pub(super) fn pairs(recipe: &Recipe, sizes: &[usize]) -> [u64; 3] {
    let within = |size: u64| {
        let ordered = size * size.saturating_sub(1);
        if recipe.directed {
            ordered
        } else {
            ordered / 2
        }
    };
    let sum = |part: &[usize]| part.iter().map(|&size| size as u64).sum::<u64>();
    let class: u64 = sizes.iter().map(|&size| within(size as u64)).sum();
    let task: u64 = sizes
        .chunks(recipe.classes_per_task)
        .map(|part| within(sum(part)))
        .sum();
    [class, task - class, within(sum(sizes)) - task]
}

/// Whether every kind's quota fits between classes of these sizes.
pub(super) fn check_room(recipe: &Recipe, sizes: &[usize]) -> Result<(), RecipeError> {
    let counts = quotas(recipe).into_iter().zip(pairs(recipe, sizes));
    match Kind::ALL
        .into_iter()
        .zip(counts)
        .find(|(_, (asked, pairs))| asked > pairs)
    {
        None => Ok(()),
        Some((kind, (asked, pairs))) => Err(RecipeError::TooManyEdges {
            place: kind.place(),
            asked,
            pairs,
        }),
    }
}

/// The number of edges that fills the tightest kind to `fill`.
pub(super) fn room(recipe: &Recipe, fill: f64) -> u64 {
    let shares = [
        recipe.homophily,
        recipe.task_share - recipe.homophily,
        1.0 - recipe.task_share,
    ];
    let connected = (1.0 - recipe.isolated).powi(2);
    pairs(recipe, &recipe.class_sizes())
        .into_iter()
        .zip(shares)
        .filter(|&(_, share)| share > 0.0)
        .map(|(pairs, share)| (pairs as f64 * connected * fill / share) as u64)
        .min()
        .unwrap_or(u64::MAX)
}
