//! One job: a line of a list.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// What stands for the name under which the work writes.
pub const OUTPUT: &str = "{output}";

/// A job. It reads files, writes one file or folder, and remembers nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Unique in its list: letters, digits and `-`.
    pub id: String,
    /// All jobs of a level need all of the levels below.
    pub level: u32,
    /// Where the command is run: paths in it are relative to this.
    pub directory: PathBuf,
    /// What the program is called with; [`OUTPUT`] stands for the temporary name of the output.
    pub command: Vec<String>,
    /// What it reads.
    pub inputs: Vec<Input>,
    /// What it writes; relative to the folder of the list unless it is absolute.
    pub output: PathBuf,
    /// Bytes of memory that it takes at most, as far as is known before.
    pub memory: u64,
    /// What it will cost, roughly.
    pub cost: Cost,
    /// Whether something else under the name of its output may be replaced.
    #[serde(default)]
    pub replaces: bool,
    /// How many jobs the list has; a list writes it down, so that one that is cut short is known as such.
    #[serde(default)]
    pub of: usize,
}

/// Something that a job reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// A file or folder; relative to the folder of the list unless it is absolute.
    pub path: PathBuf,
    /// What it held when the list was made.
    #[serde(flatten)]
    pub source: Source,
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// It was there before, and held this.
    There(Digest),
    /// It is the output of another job.
    Made {
        /// Which one.
        job: String,
    },
}

impl Input {
    /// The output of another job.
    pub fn made_by(job: &Job) -> Self {
        Input {
            path: job.output.clone(),
            source: Source::Made {
                job: job.id.clone(),
            },
        }
    }
}

/// What a job costs: time of a processor, bytes read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Seconds of one processor.
    pub cpu_seconds: f64,
    /// Bytes of files that it reads.
    pub read: u64,
    /// Bytes that it writes.
    pub written: u64,
}

impl Job {
    /// What kind of job it is: its id without the number at its end.
    pub fn kind(&self) -> &str {
        self.id
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.id.is_empty() || self.id.len() > 100 || !self.id.chars().all(plain) {
            let id: String = self.id.chars().take(100).collect();
            return Some(format!(
                "`{id}` is no id; it has letters, digits and - only"
            ));
        }
        if self.command.is_empty() {
            return Some("it has no command".to_owned());
        }
        if self.output.file_name().is_none() {
            return Some("its output has no name".to_owned());
        }
        let cost = self.cost.cpu_seconds;
        if !(cost.is_finite() && cost >= 0.0) {
            return Some(format!("its cost is {cost} seconds"));
        }
        None
    }
}
