//! Data for Treering: readers, writers, synthetic graphs and task streams.
//!
//! Everything that comes in becomes one [`Graph`](treering_graph::Graph); everything that goes wrong on the way becomes
//! one [`DataError`] that names file, place and remedy. [`read`](fn@read) and [`write`](fn@write) are the two doors, [`Stream`] cuts a graph into tasks.

mod context;
mod error;
mod folder;
mod labelling;
mod mapped;
mod native;
mod nearest;
mod npz;
mod ogb;
mod open;
mod random;
mod read;
mod safe_header;
mod stats;
mod stream;
mod synth;
mod write;

pub use bytemuck::Pod;
pub use context::{Context, Progress, Silent};
pub use error::{DataError, Fault, Result, Row, human_bytes, shortened};
pub use folder::{Table, is_folder, read_folder, write_folder};
pub use mapped::{
    Large, check_mapped, give_freed_memory_back, memory_limit, memory_window, set_memory_limit,
};
pub use native::vouch_for;
pub use nearest::nearest;
pub use random::{Purpose, random};
pub use read::{Columns, Edges, FORMATS, Loaded, ReadOptions, read};
pub use safe_header::safetensors_header;
pub use stats::{ClassSize, SplitSizes, Stats};
pub use stream::{
    ClassOrder, DropReason, Dropped, Grouping, InterTask, SplitSource, Stream, StreamError,
    StreamOptions, Task, TaskSize, induced, split_counts,
};
pub use synth::{FeatureKind, Preset, Recipe, RecipeError, SynthError, synthesize};
pub use write::{WriteFormat, check_target, discard_partial, replace, write};
