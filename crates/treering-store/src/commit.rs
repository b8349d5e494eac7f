//! The commit: all changes or none, at whatever instant the process ends.
//!
//! New files are written in full and are on the disk, names included, before the manifest that names them takes the place of the old one in one
//! rename. Before that rename every failure undoes what was written; after it the commit is done, and what remains is to
//! remove files that nobody names any more. These go only once the new manifest is sure to stay, because otherwise a power cut could bring
//! back a manifest whose files are gone.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Fault, Result};
use crate::files::sync_folder;
use crate::layout;
use crate::manifest::{FORMAT, FileEntry, Manifest, RingEntry};
use crate::model::Model;
use crate::step::Step;
use crate::tensors::decode;
use crate::writer::{Change, NewModel, NewRing, Writer};

/// The steps of writing one file: begun, half written, written, synced, renamed, folder synced.
type Steps = [Step; 6];
const BACKBONE: Steps = [
    Step::BackboneWriting,
    Step::BackboneHalfWritten,
    Step::BackboneWritten,
    Step::BackboneSynced,
    Step::BackboneRenamed,
    Step::BackboneFolderSynced,
];
const RING: Steps = [
    Step::RingWriting,
    Step::RingHalfWritten,
    Step::RingWritten,
    Step::RingSynced,
    Step::RingRenamed,
    Step::RingFolderSynced,
];
const MANIFEST: Steps = [
    Step::ManifestWriting,
    Step::ManifestHalfWritten,
    Step::ManifestWritten,
    Step::ManifestSynced,
    Step::ManifestRenamed,
    Step::ManifestFolderSynced,
];

/// Everything that a commit will do, known to be right before anything is written.
struct Plan {
    manifest: Manifest,
    text: String,
    /// The new rings and the content of their files.
    rings: Vec<(RingEntry, Vec<u8>)>,
}

impl Writer {
    /// Makes all changes, in their order, or none of them. Returns the rings that are new, in the order of the changes.
    ///
    /// After an error the model is as it was and the writer can be used again. The first commit of a new model may be without changes.
    ///
    /// # Errors
    /// When the changes do not make a model, when a ring's bytes are not those of a file that can be read again, or when the disk fails.
    pub fn commit(&mut self, changes: Vec<Change>) -> Result<Vec<RingEntry>> {
        if changes.is_empty() && self.model.is_some() {
            return Ok(Vec::new());
        }
        let plan = self.plan(changes)?;
        if let Err(error) = self.write(&plan) {
            self.undo(&plan);
            return Err(error);
        }
        self.finish(plan.manifest);
        Ok(plan.rings.into_iter().map(|(entry, _)| entry).collect())
    }

    fn plan(&self, changes: Vec<Change>) -> Result<Plan> {
        let mut manifest = match (self.manifest(), &self.head) {
            (Some(manifest), _) => manifest.clone(),
            (None, Some(head)) => first_manifest(head),
            // Cannot be: a writer has the one or the other.
            (None, None) => return Err(Fault::NotAModel.at(&self.folder)),
        };
        manifest.program = env!("CARGO_PKG_VERSION").into();
        let mut rings = Vec::new();
        for change in changes {
            let new = apply(&mut manifest, change).map_err(|fault| fault.at(&self.folder))?;
            rings.extend(new);
        }
        // A ring that was added and removed again is not written.
        let kept: HashSet<u32> = manifest.rings.iter().map(|ring| ring.number).collect();
        rings.retain(|(ring, _)| kept.contains(&ring.number));
        manifest.check().map_err(|fault| fault.at(&self.folder))?;
        for (ring, bytes) in &rings {
            decode(&self.folder.join(&ring.file.file), bytes)?;
        }
        let text = self.text_of(&manifest)?;
        Ok(Plan {
            manifest,
            text,
            rings,
        })
    }

    /// The manifest's text, once it is known that reading it gives the manifest again.
    fn text_of(&self, manifest: &Manifest) -> Result<String> {
        let path = self.folder.join(layout::MANIFEST);
        let text = manifest.to_text(&path)?;
        let why = match Manifest::parse(&path, text.as_bytes()) {
            Ok(again) if again == *manifest => return Ok(text),
            Ok(_) => "they would not come back as they are".into(),
            Err(error) => error.fault.to_string(),
        };
        Err(Fault::CannotHold { why }.at(&self.folder))
    }

    /// Everything up to the rename that makes the new model the model.
    fn write(&mut self, plan: &Plan) -> Result<()> {
        self.make_rings_folder()?;
        if let Some(head) = self.head.take() {
            let written = head.backbone.as_deref().map_or(Ok(()), |backbone| {
                self.write_file(layout::BACKBONE, backbone, &BACKBONE)
            });
            self.head = Some(head);
            written?;
        }
        for (ring, bytes) in &plan.rings {
            self.write_file(&ring.file.file, bytes, &RING)?;
        }
        let path = self.folder.join(layout::MANIFEST);
        let partial = partial_of(&path);
        self.fill(&partial, plan.text.as_bytes(), &MANIFEST)
            .and_then(|()| fs::rename(&partial, &path))
            .or_else(|error| match Manifest::read(&self.folder) {
                // Over a network a rename can succeed and yet be reported as failed.
                Ok(found) if found == plan.manifest => Ok(()),
                _ => Err(Fault::Io(error).at(&path)),
            })
    }

    fn make_rings_folder(&mut self) -> Result<()> {
        let path = self.folder.join(layout::RINGS);
        let fail = |error| Fault::Io(error).at(&path);
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => Ok(()),
            Ok(_) => Err(Fault::NotAFile.at(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&path).map_err(fail)?;
                sync_folder(&self.folder).map_err(fail)
            }
            Err(error) => Err(fail(error)),
        }
    }

    /// Writes a file of the model so that it is on the disk under its name.
    fn write_file(&mut self, name: &str, bytes: &[u8], steps: &Steps) -> Result<()> {
        let path = self.folder.join(name);
        let partial = partial_of(&path);
        self.fill(&partial, bytes, steps)
            .and_then(|()| fs::rename(&partial, &path))
            .and_then(|()| self.step(steps[4]))
            .and_then(|()| sync_folder(path.parent().unwrap_or(&self.folder)))
            .and_then(|()| self.step(steps[5]))
            .map_err(|error| Fault::Io(error).at(&path))
    }

    /// Writes a file under its temporary name and waits until its bytes are on the disk.
    fn fill(&mut self, partial: &Path, bytes: &[u8], steps: &Steps) -> io::Result<()> {
        remove(partial)?;
        let mut file = File::create_new(partial)?;
        self.step(steps[0])?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        file.write_all(first)?;
        self.step(steps[1])?;
        file.write_all(second)?;
        self.step(steps[2])?;
        file.sync_all()?;
        self.step(steps[3])
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        match &mut self.hook {
            Some(hook) => hook(step),
            None => Ok(()),
        }
    }

    /// Removes what a failed commit may have written. None of it has a name that the manifest knows; what cannot be removed is a leftover.
    fn undo(&self, plan: &Plan) {
        let backbone = self.head.as_ref().map(|_| layout::BACKBONE);
        let rings = plan.rings.iter().map(|(ring, _)| ring.file.file.as_str());
        for name in rings.chain(backbone) {
            let path = self.folder.join(name);
            let _ = remove(&partial_of(&path));
            let _ = remove(&path);
        }
        let _ = remove(&partial_of(&self.folder.join(layout::MANIFEST)));
    }

    /// The commit is done; nothing that happens here can change that.
    fn finish(&mut self, manifest: Manifest) {
        let named: HashSet<&str> = manifest.files().map(|entry| entry.file.as_str()).collect();
        let old = self.manifest().into_iter().flat_map(Manifest::files);
        let stale: Vec<PathBuf> = old
            .filter(|entry| !named.contains(entry.file.as_str()))
            .map(|entry| self.folder.join(&entry.file))
            .collect();
        self.stale.extend(stale);
        self.model = Some(Model::from_parts(&self.folder, manifest));
        self.head = None;
        // What stays because of an error is tried again by the next commit or the next writer.
        let _ = self.remove_stale();
    }

    fn remove_stale(&mut self) -> io::Result<()> {
        self.step(MANIFEST[4])?;
        sync_folder(&self.folder)?;
        self.step(MANIFEST[5])?;
        while let Some(path) = self.stale.last() {
            remove(path)?;
            self.stale.pop();
            self.step(Step::OldRemoved)?;
        }
        Ok(())
    }
}

/// Removes a file that need not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn partial_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(layout::PARTIAL);
    name.into()
}

fn first_manifest(head: &NewModel) -> Manifest {
    Manifest {
        format: FORMAT,
        program: String::new(),
        learner: head.learner.clone(),
        parameters: head.parameters.clone(),
        feature_width: head.feature_width,
        backbone: head
            .backbone
            .as_deref()
            .map(|bytes| FileEntry::new(layout::BACKBONE.into(), bytes)),
        next_ring: 1,
        rings: Vec::new(),
        facts: head.facts.clone(),
    }
}

/// Makes one change to a manifest; returns the ring that it brings.
fn apply(
    manifest: &mut Manifest,
    change: Change,
) -> std::result::Result<Option<(RingEntry, Vec<u8>)>, Fault> {
    match change {
        Change::Add(ring) => {
            let (entry, bytes) = number(manifest, ring)?;
            manifest.rings.push(entry.clone());
            Ok(Some((entry, bytes)))
        }
        Change::Replace { number: old, ring } => {
            let place = place_of(manifest, old)?;
            let (entry, bytes) = number(manifest, ring)?;
            manifest.rings[place] = entry.clone();
            Ok(Some((entry, bytes)))
        }
        Change::Remove { number: old } => {
            let place = place_of(manifest, old)?;
            manifest.rings.remove(place);
            Ok(None)
        }
    }
}

fn place_of(manifest: &Manifest, number: u32) -> std::result::Result<usize, Fault> {
    let place = manifest.rings.iter().position(|ring| ring.number == number);
    place.ok_or_else(|| Fault::NoRing {
        task: number.to_string(),
        near: manifest
            .rings
            .iter()
            .take(3)
            .map(|ring| ring.name.clone())
            .collect(),
    })
}

/// Gives a new ring its number and its file.
fn number(
    manifest: &mut Manifest,
    ring: NewRing,
) -> std::result::Result<(RingEntry, Vec<u8>), Fault> {
    let number = manifest.next_ring;
    manifest.next_ring = number.checked_add(1).ok_or(Fault::Full)?;
    let file = layout::ring_file(number, &ring.name);
    let entry = RingEntry {
        number,
        name: ring.name,
        classes: ring.classes,
        facts: ring.facts,
        file: FileEntry::new(file, &ring.bytes),
    };
    Ok((entry, ring.bytes))
}
