//! The steps of a commit, by name, so that a test can make each of them fail or kill the process at it.

use std::fmt;
use std::io;
use std::str::FromStr;

/// Called when a step has been done; an error counts as the failure of that step.
pub type Hook = Box<dyn FnMut(Step) -> io::Result<()> + Send>;

macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident = $name:literal,)*) => {
        /// A step of a commit. Every one names what has just been done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Step { $($(#[$doc])* $step,)* }

        impl Step {
            /// All steps, in the order in which a commit takes them.
            pub const ALL: &[Step] = &[$(Step::$step,)*];

            /// The name of the step, such as `ring-half-written`.
            pub fn name(self) -> &'static str {
                match self { $(Step::$step => $name,)* }
            }
        }
    };
}

steps! {
    /// The backbone's file is there under its temporary name, empty. Backbones are written by the first commit only.
    BackboneWriting = "backbone-writing",
    /// Half of the backbone's bytes are written.
    BackboneHalfWritten = "backbone-half-written",
    /// All of the backbone's bytes are written.
    BackboneWritten = "backbone-written",
    /// The backbone's bytes are on the disk.
    BackboneSynced = "backbone-synced",
    /// The backbone has its final name.
    BackboneRenamed = "backbone-renamed",
    /// The backbone's name is on the disk.
    BackboneFolderSynced = "backbone-folder-synced",
    /// A ring's file is there under its temporary name, empty.
    RingWriting = "ring-writing",
    /// Half of a ring's bytes are written.
    RingHalfWritten = "ring-half-written",
    /// All of a ring's bytes are written.
    RingWritten = "ring-written",
    /// A ring's bytes are on the disk.
    RingSynced = "ring-synced",
    /// A ring has its final name.
    RingRenamed = "ring-renamed",
    /// A ring's name is on the disk.
    RingFolderSynced = "ring-folder-synced",
    /// The manifest's file is there under its temporary name, empty.
    ManifestWriting = "manifest-writing",
    /// Half of the manifest is written.
    ManifestHalfWritten = "manifest-half-written",
    /// The manifest is written.
    ManifestWritten = "manifest-written",
    /// The manifest's bytes are on the disk.
    ManifestSynced = "manifest-synced",
    /// The manifest has its final name: from here on the model is the new one, whatever happens.
    ManifestRenamed = "manifest-renamed",
    /// The manifest's name is on the disk.
    ManifestFolderSynced = "manifest-folder-synced",
    /// A file that the new manifest no longer names is gone.
    OldRemoved = "old-removed",
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Step, String> {
        let found = Step::ALL.iter().find(|step| step.name() == text);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = Step::ALL.iter().map(|step| step.name()).collect();
            let text = treering_data::shortened(text);
            format!(
                "`{text}` is not a step of a commit. Steps are {}",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_found_by_its_name_and_no_other_text_is() {
        for &step in Step::ALL {
            assert_eq!(step.to_string().parse(), Ok(step));
            let kebab = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(step.name().bytes().all(kebab), "{step}");
        }
        assert!("ring".parse::<Step>().unwrap_err().contains("ring-synced"));
    }
}
