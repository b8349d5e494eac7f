//! Hostile files: every way in which data can lie that we could think of, made here, none of them kept on disk.
//!
//! Each must give an error that names the file, the place and the remedy; none may panic, hang or take memory that it only
//! claims to need. The last module flips and cuts valid files at random.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod archives;
mod mutations;
mod native;
mod places;
mod tables;

use std::path::Path;

use common::load;

/// Reads `path`, wants an error, and wants `words` in it.
fn refused(path: &Path, words: &[&str]) {
    let error = match load(path) {
        Ok(loaded) => panic!("{} was accepted: {:?}", path.display(), loaded.graph),
        Err(error) => error.to_string(),
    };
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    assert!(error.ends_with('.'), "no remedy: {error}");
}
