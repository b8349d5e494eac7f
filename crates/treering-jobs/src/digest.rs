//! What a file or a folder holds, in one number.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes, and their SHA-256 as 64 hexadecimal digits. Of a folder, the sum of its files and the SHA-256 of a list of their names and digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// How many.
    pub bytes: u64,
    /// What they are.
    pub sha256: String,
}

/// Files that a folder has only while somebody works in it.
fn is_passing(name: &str) -> bool {
    name == "lock" || name.ends_with(".partial")
}

impl Digest {
    /// Of a file, or of all that is in a folder but locks and what is half written.
    ///
    /// # Errors
    /// The system refuses.
    pub fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            false => Digest::of_file(path),
            true => {
                let mut lines = String::new();
                let mut bytes = 0;
                for name in names(path)? {
                    let one = Digest::of(&path.join(&name))?;
                    bytes += one.bytes;
                    lines.push_str(&format!("{} {} {name}\n", one.sha256, one.bytes));
                }
                Ok(Digest {
                    bytes,
                    sha256: text(lines.as_bytes()),
                })
            }
        }
    }

    fn of_file(path: &Path) -> io::Result<Self> {
        const PIECE: usize = 1 << 20;
        let mut file = File::open(path)?;
        let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0, vec![0u8; PIECE]);
        loop {
            match file.read(&mut piece)? {
                0 => break,
                read => {
                    hash.update(&piece[..read]);
                    bytes += read as u64;
                }
            }
        }
        Ok(Digest {
            bytes,
            sha256: hex(&hash.finalize()),
        })
    }

    /// How many bytes are there, without reading them.
    ///
    /// # Errors
    /// The system refuses.
    pub fn size(path: &Path) -> io::Result<u64> {
        let there = fs::metadata(path)?;
        match there.is_dir() {
            false => Ok(there.len()),
            true => {
                let sizes = names(path)?.into_iter();
                sizes.map(|name| Digest::size(&path.join(name))).sum()
            }
        }
    }
}

/// The SHA-256 of some bytes.
pub(crate) fn text(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The names in a folder, in order.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !is_passing(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_digest() -> io::Result<()> {
        let place = tempfile::tempdir()?;
        let file = place.path().join("abc");
        fs::write(&file, "abc")?;
        let found = Digest::of(&file)?;
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((found.bytes, &found.sha256[..]), (3, known));
        Ok(())
    }

    #[test]
    fn a_folder_is_its_files_wherever_it_lies() -> io::Result<()> {
        let place = tempfile::tempdir()?;
        let make = |name: &str, inner: &str| -> io::Result<Digest> {
            let folder = place.path().join(name);
            fs::create_dir_all(folder.join("inner"))?;
            fs::write(folder.join("a"), "1")?;
            fs::write(folder.join("inner/b"), inner)?;
            Digest::of(&folder)
        };
        let first = make("x", "22")?;
        assert_eq!(first, make("y", "22")?);
        assert_eq!(first.bytes, 3);
        assert_ne!(first, make("z", "23")?);
        // Somebody works in it.
        fs::write(place.path().join("x/lock"), "")?;
        fs::write(place.path().join("x/.b.7.partial"), "4")?;
        assert_eq!(Digest::of(&place.path().join("x"))?, first);
        // A name changes what it is.
        fs::rename(place.path().join("x/a"), place.path().join("x/c"))?;
        assert_ne!(Digest::of(&place.path().join("x"))?, first);
        Ok(())
    }
}
