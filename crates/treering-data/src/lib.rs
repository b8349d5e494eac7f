//! Data for Treering: readers, writers, synthetic graphs and task streams.

mod context;
mod error;
mod random;
mod read;
mod synth;

pub use context::{Context, Progress, Silent};
pub use error::{DataError, Fault, Result, Row, human_bytes};
pub use random::{Purpose, random};
pub use read::{Columns, Edges, Loaded, ReadOptions};
pub use synth::{FeatureKind, Preset, Recipe, RecipeError, SynthError, synthesize};
