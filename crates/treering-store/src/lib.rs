//! The model directory: a manifest, a backbone, and one sealed file per ring.
//!
//! A tree never rewrites an old ring, and neither does this crate. A commit writes new files under names that were never used
//! before, makes sure that they are on the disk, and then replaces the manifest in one rename: after a kill at any instant the
//! model is the old one or the new one, complete. Whatever the manifest does not name is not part of the model.
//!
//! The crate knows nothing about learners. To it a ring is a list of named arrays ([`Tensor`]) and facts in JSON. [`Model`] reads,
//! [`Writer`] changes; any number of readers and at most one writer work on a folder at a time. `docs/model-directory.md` describes the
//! files.
//!
//! # Example
//! ```
//! use std::collections::BTreeMap;
//! use serde_json::json;
//! use treering_store::{Change, Model, NewModel, NewRing, Tensor, Writer, encode};
//!
//! let place = tempfile::tempdir()?;
//! let folder = place.path().join("model");
//! let nothing = BTreeMap::new();
//! let mut writer = Writer::create(&folder, NewModel {
//!     learner: "tpp".into(),
//!     parameters: json!({ "prompts": 3 }),
//!     feature_width: 2,
//!     facts: json!({}),
//!     backbone: Some(encode(&[Tensor::f32("w", &[2, 1], vec![0.5, -1.0])], &nothing)),
//! })?;
//! writer.commit(vec![Change::Add(NewRing {
//!     name: "first topics".into(),
//!     classes: vec!["art".into(), "law".into()],
//!     facts: json!({}),
//!     bytes: encode(&[Tensor::f64("mean", &[2], vec![1.0, 2.0])], &nothing),
//! })])?;
//!
//! let model = Model::open(&folder)?;
//! let mut ring = model.ring(model.find("first topics")?)?;
//! assert_eq!(ring.f64("mean", &[None])?, (vec![2], vec![1.0, 2.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod commit;
mod error;
mod files;
mod layout;
mod manifest;
mod model;
mod rules;
mod step;
mod tensors;
mod writer;

pub use error::{Fault, Result, StoreError};
pub use manifest::{FORMAT, FileEntry, Manifest, RingEntry};
pub use model::{Finding, Model};
pub use rules::{check_name, free_names};
pub use step::{Hook, Step};
pub use tensors::{Tensor, Tensors, Values, decode, encode};
pub use writer::{Change, NewModel, NewRing, Writer};
