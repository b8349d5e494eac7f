//! Jobs from files to a file. A [`List`] is a file of JSON lines, one [`Job`] each; [`List::perform`] runs one: it checks the inputs, lets the work write under
//! a temporary name, renames, and seals. Whatever runs the list, on one machine or on many, calls nothing else, so a job can be run again, or twice at once,
//! without harm. `docs/jobs.md` describes the files.
//!
//! The crate knows nothing about what jobs do.
//!
//! # Example
//! ```
//! use treering_jobs::{Cost, Done, Job, List};
//!
//! let place = tempfile::tempdir()?;
//! let job = Job {
//!     id: "greet".into(),
//!     level: 0,
//!     directory: place.path().into(),
//!     command: vec!["greet".into(), "{output}".into()],
//!     inputs: Vec::new(),
//!     output: "parts/greeting".into(),
//!     memory: 1 << 20,
//!     cost: Cost::default(),
//!     replaces: false,
//!     of: 1,
//! };
//! let list = List::write(&place.path().join("jobs"), vec![job])?;
//! let work = |output: &std::path::Path| std::fs::write(output, "hello");
//! assert_eq!(list.perform("greet", work)?, Done::Now);
//! assert_eq!(list.perform("greet", work)?, Done::Before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod digest;
mod error;
mod forecast;
mod job;
mod list;
mod perform;
mod place;
mod scripts;
mod seal;
mod stamp;

pub use digest::Digest;
pub use error::{Failed, JobsError};
pub use forecast::{Cluster, Forecast, LevelForecast, Rates};
pub use job::{Cost, Input, Job, OUTPUT, Source};
pub use list::{LIST, List};
pub use perform::Done;
pub use scripts::{parallel, slurm};
pub use seal::{Seal, Spent, State};
pub use stamp::Stamp;
