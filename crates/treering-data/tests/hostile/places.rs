//! Paths that are not what they should be.

use std::os::unix::fs::PermissionsExt;

use crate::common::{npz, ogb, small_npz};
use crate::refused;

#[test]
fn nothing_there_an_empty_file_an_empty_folder() {
    let place = tempfile::tempdir().unwrap();
    refused(
        &place.path().join("absent.npz"),
        &["absent.npz", "no such file"],
    );
    let empty = place.path().join("empty.npz");
    std::fs::write(&empty, "").unwrap();
    refused(&empty, &["empty.npz", "nothing in it"]);
    let folder = place.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    refused(&folder, &["folder", "a folder with nothing"]);
    std::fs::write(folder.join("readme.txt"), "hello").unwrap();
    refused(&folder, &["readme.txt"]);
}

#[test]
fn files_of_another_kind() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("picture.npz");
    for content in [
        &b"\x89PNG\r\n\x1a\n"[..],
        b"PK",
        b"PK\x03\x04",
        b"x",
        b"id,label\n1,a\n",
        &[0; 100],
    ] {
        std::fs::write(&path, content).unwrap();
        refused(&path, &["picture.npz"]);
    }
}

#[test]
fn a_folder_where_a_file_should_be_and_the_reverse() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("arxiv");
    ogb(&folder);
    std::fs::remove_file(folder.join("raw/node-feat.csv.gz")).unwrap();
    std::fs::create_dir(folder.join("raw/node-feat.csv.gz")).unwrap();
    refused(&folder, &["node-feat.csv.gz", "folder, not a file"]);
    let file = place.path().join("file");
    std::fs::write(&file, "x").unwrap();
    refused(&file.join("below.npz"), &["below.npz", "not a folder"]);
}

#[test]
fn no_permission() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("secret.npz");
    npz(&path, &small_npz());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    refused(&path, &["secret.npz", "ermission"]);
}
