//! What new tasks have to fit, asked before any work and before anything is written.

use std::collections::HashMap;
use std::path::Path;

use treering_data::shortened;
use treering_learn::{LearnError, Shown, TrainingTask};
use treering_store::{Fault, Manifest, RingEntry, check_name};

use super::tasks::Tasks;
use crate::failure::Failure;

/// A model, or the place where one will begin.
pub(super) struct Ground<'a> {
    pub(super) folder: &'a Path,
    pub(super) manifest: Option<&'a Manifest>,
    /// The ring that is learned anew: its name and classes are free.
    pub(super) replaced: Option<&'a RingEntry>,
}

impl<'a> Ground<'a> {
    /// The place where a model will begin.
    pub(super) fn new(folder: &'a Path) -> Self {
        Ground {
            folder,
            manifest: None,
            replaced: None,
        }
    }

    /// Refuses tasks that do not fit the model, or one another.
    pub(super) fn check(&self, tasks: &Tasks, names: &[String]) -> Result<(), Failure> {
        for name in names {
            let fault = match self.rings().any(|ring| ring.name == *name) {
                true => Err(Fault::DuplicateName { name: name.clone() }),
                false => check_name("ring", name),
            };
            fault.map_err(|fault| fault.at(self.folder))?;
        }
        for size in tasks.sizes() {
            self.check_width(size.columns)?;
        }
        for graph in tasks.given() {
            TrainingTask::new(graph.clone(), 0, Shown::Train)?;
        }
        self.check_classes(tasks)
    }

    /// The rings that will still be there.
    fn rings(&self) -> impl Iterator<Item = &RingEntry> {
        let replaced = self.replaced.map(|ring| ring.number);
        let rings = self.manifest.map_or(&[][..], |manifest| &manifest.rings);
        rings
            .iter()
            .filter(move |ring| Some(ring.number) != replaced)
    }

    fn check_classes(&self, tasks: &Tasks) -> Result<(), Failure> {
        let mut owner: HashMap<&str, String> = HashMap::new();
        for ring in self.rings() {
            let name = format!("ring {:04} (`{}`)", ring.number, shortened(&ring.name));
            owner.extend(ring.classes.iter().map(|class| (&class[..], name.clone())));
        }
        for class in (0..tasks.len()).flat_map(|task| tasks.classes(task)) {
            check_name("class", class).map_err(|fault| fault.at(self.folder))?;
            if let Some(ring) = owner.insert(class, "another task of this call".into()) {
                return Err(Failure::input(format!(
                    "class `{}` is in {ring} already. Learn that task as a whole again with --replace TASK, or name the classes that are \
                     new with --classes",
                    shortened(class)
                )));
            }
        }
        Ok(())
    }

    fn check_width(&self, found: usize) -> Result<(), Failure> {
        let expected = self
            .manifest
            .map_or(found, |manifest| manifest.feature_width);
        match (found == expected, found) {
            (false, _) => Err(LearnError::Width { found, expected }.into()),
            (true, 0) => Err(LearnError::NoFeatures.into()),
            (true, _) => Ok(()),
        }
    }
}
