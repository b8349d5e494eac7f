//! The names of files in a model directory, and which of them are ours.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Fault, Result};
use crate::files::names_in;

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const BACKBONE: &str = "backbone.safetensors";
pub(crate) const RINGS: &str = "rings";
pub(crate) const LOCK: &str = "lock";
/// The ending of a file that is being written.
pub(crate) const PARTIAL: &str = ".partial";
const TENSORS: &str = ".safetensors";
const SLUG: usize = 40;

/// The part of a ring's name that can stand in a file's name everywhere: a help for people who look into the folder, nothing more.
fn slug(name: &str) -> String {
    let plain: String = name
        .to_ascii_lowercase()
        .chars()
        .filter(|&c| is_plain(c))
        .take(SLUG)
        .collect();
    if plain.is_empty() {
        "ring".into()
    } else {
        plain
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_'
}

/// The file of a new ring, relative to the model's folder.
pub(crate) fn ring_file(number: u32, name: &str) -> String {
    format!("{RINGS}/{number:04}-{}{TENSORS}", slug(name))
}

/// Whether `file` can be the file of ring `number`. It need not have the slug that we would choose today, but it lies in `rings/` and is
/// made of harmless characters.
pub(crate) fn is_file_of(number: u32, file: &str) -> bool {
    let name = file.strip_prefix(RINGS).and_then(|f| f.strip_prefix('/'));
    name.and_then(ring_number) == Some(number)
}

/// The number of the ring that a file in `rings/` is called after, when the name is one that we give.
fn ring_number(name: &str) -> Option<u32> {
    let (digits, slug) = name.strip_suffix(TENSORS)?.split_once('-')?;
    let number: u32 = digits.parse().ok()?;
    let plain = !slug.is_empty() && slug.len() <= SLUG && slug.chars().all(is_plain);
    (plain && number > 0 && digits == format!("{number:04}")).then_some(number)
}

/// Whether a name in `rings/` is one that a writer gives.
pub(crate) fn is_ring_name(name: &OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    ring_number(name.strip_suffix(PARTIAL).unwrap_or(name)).is_some()
}

/// Whether a name beside the manifest is one that only an unfinished writer leaves.
pub(crate) fn is_partial_name(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(PARTIAL));
    name == Some(MANIFEST) || name == Some(BACKBONE)
}

/// What a folder without a manifest is.
pub(crate) enum Beginning {
    Empty,
    /// A writer began a model here and did not finish it.
    Unfinished,
    /// Something that is not ours.
    Foreign(String),
}

/// Looks at a folder without a manifest. Only one in which a lock and our own names are found counts as begun by us: a file that merely
/// has such a name may be somebody's.
pub(crate) fn beginning(folder: &Path) -> Result<Beginning> {
    let fail = |error| Fault::Io(error).at(folder);
    let names = names_in(folder).map_err(fail)?;
    if names.is_empty() {
        return Ok(Beginning::Empty);
    }
    let mut locked = false;
    for name in &names {
        let path = folder.join(name);
        let there = match fs::symlink_metadata(&path) {
            Ok(there) => there,
            // A writer at work has just renamed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(fail(error)),
        };
        let ours = match name.to_str() {
            Some(LOCK) => there.is_file() && there.len() == 0,
            Some(RINGS) => there.is_dir() && only_rings(&path),
            _ => there.is_file() && (name == BACKBONE || is_partial_name(name)),
        };
        if !ours {
            return Ok(Beginning::Foreign(name.to_string_lossy().into_owned()));
        }
        locked |= name == LOCK;
    }
    match (locked, names.first()) {
        (false, Some(name)) => Ok(Beginning::Foreign(name.to_string_lossy().into_owned())),
        _ => Ok(Beginning::Unfinished),
    }
}

fn only_rings(folder: &Path) -> bool {
    let is_ring = |name: &OsStr| {
        let there = fs::symlink_metadata(folder.join(name));
        is_ring_name(name) && there.is_ok_and(|there| there.is_file())
    };
    names_in(folder).is_ok_and(|names| names.iter().all(|name| is_ring(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_plain_whatever_the_ring_is_called() {
        let names = [
            (
                "Paper topics, 2024",
                "rings/0007-papertopics2024.safetensors",
            ),
            ("../../etc/passwd", "rings/0007-etcpasswd.safetensors"),
            ("日本", "rings/0007-ring.safetensors"),
            ("a_b-C", "rings/0007-a_b-c.safetensors"),
        ];
        for (name, file) in names {
            assert_eq!(ring_file(7, name), file);
            assert!(is_file_of(7, file));
            assert!(!is_file_of(8, file));
        }
        let long = ring_file(123_456, &"x".repeat(200));
        assert_eq!(long, format!("rings/123456-{}.safetensors", "x".repeat(40)));
        assert!(is_file_of(123_456, &long));
    }

    #[test]
    fn paths_that_lead_elsewhere_are_no_ring_files() {
        let paths = [
            "/rings/0001-a.safetensors",
            "rings/../0001-a.safetensors",
            "rings/0001-a/../../b.safetensors",
            "rings//0001-a.safetensors",
            "rings/0001-.safetensors",
            "rings/0001-a.b.safetensors",
            "rings/1-a.safetensors",
            "rings/+001-a.safetensors",
            "rings/00001-a.safetensors",
            "rings\\0001-a.safetensors",
            "rings/0001-a.safetensors\0",
            "rings/0001-a.safetensors.partial",
            "0001-a.safetensors",
            "",
        ];
        for path in paths {
            assert!(!is_file_of(1, path), "{path}");
        }
        assert!(!is_file_of(0, "rings/0000-a.safetensors"));
    }
}
