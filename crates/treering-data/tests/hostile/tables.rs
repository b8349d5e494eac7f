//! OGB tables that lie. Tables of the folder form are tested with their reader.

use std::path::Path;

use crate::common::{gz, ogb};
use crate::refused;

/// Replaces one file of a small OGB folder and wants a refusal.
fn table(file: &str, text: &str, words: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("ogbn_arxiv");
    ogb(&folder);
    gz(&folder.join(file), text);
    let mut words = words.to_vec();
    words.push(Path::new(file).file_name().unwrap().to_str().unwrap());
    refused(&folder, &words);
}

#[test]
fn rows_that_are_not_rows() {
    table(
        "raw/edge.csv.gz",
        "0,1\n1\n3,0\n",
        &["line 2", "1 fields where 2"],
    );
    table("raw/edge.csv.gz", "0,1\n\n3,0\n", &["line 2"]);
    table("raw/edge.csv.gz", "0;1\n1;2\n3;0\n", &["line 1", "`0;1`"]);
    table(
        "raw/edge.csv.gz",
        "0,1\n1,two\n3,0\n",
        &["line 2", "column `2`", "`two`"],
    );
    table(
        "raw/edge.csv.gz",
        "src,dst\n0,1\n1,2\n",
        &["line 1", "`src`"],
    );
    table(
        "raw/node-feat.csv.gz",
        "1,2\n3,4\n5\n6,7\n",
        &["line 3", "1 fields"],
    );
    table(
        "raw/node-feat.csv.gz",
        "1,2\n3,nan\n5,6\n6,7\n",
        &["line 2", "column `2`", "`nan`"],
    );
    table(
        "raw/node-feat.csv.gz",
        "1,2\n3,4\n5,6\n6,inf\n",
        &["line 4", "`inf`"],
    );
    table(
        "raw/node-feat.csv.gz",
        "1,2\n3,\n5,6\n6,7\n",
        &["line 2", "column `2`"],
    );
    table(
        "raw/node-label.csv.gz",
        "0\n1\nsports\n0\n",
        &["line 3", "`sports`"],
    );
    table(
        "raw/node-label.csv.gz",
        "0\n1\n0.5\n0\n",
        &["line 3", "`0.5`"],
    );
    table(
        "raw/node-label.csv.gz",
        "0\n1\n-3\n0\n",
        &["row 2", "-3 is negative"],
    );
}

#[test]
fn counts_that_do_not_fit() {
    table(
        "raw/edge.csv.gz",
        "0,1\n",
        &["1 rows, but 3", "num-edge-list"],
    );
    table(
        "raw/edge.csv.gz",
        "0,1\n1,2\n3,4\n",
        &["the end 4", "0 to 3"],
    );
    table("raw/edge.csv.gz", "0,1\n1,2\n3,-1\n", &["line 3", "`-1`"]);
    table(
        "raw/edge.csv.gz",
        "0,1\n1,2\n3,99999999999\n",
        &["line 3", "`99999999999`"],
    );
    table("raw/edge.csv.gz", "", &["nothing in it"]);
    table("raw/node-feat.csv.gz", "1\n2\n3\n", &["3 rows, but 4"]);
    table("raw/node-label.csv.gz", "1\n2\n", &["2 rows, but 4"]);
    table(
        "raw/num-node-list.csv.gz",
        "2\n2\n",
        &["2 numbers", "one graph"],
    );
    table("raw/num-node-list.csv.gz", "many\n", &["`many`"]);
}

#[test]
fn splits_that_do_not_fit() {
    table("split/time/train.csv.gz", "0\n9\n", &["line 2", "`9`"]);
    table(
        "split/time/valid.csv.gz",
        "0\n",
        &["line 1", "`0`", "one part"],
    );
}

#[test]
fn text_that_never_ends_a_line() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("endless");
    ogb(&folder);
    gz(&folder.join("raw/edge.csv.gz"), &"1".repeat(40_000_000));
    refused(&folder, &["edge.csv.gz", "longer than"]);
}

/// 80 MB of numbers against a limit of 64 MB: refused on the way, not at the end.
#[test]
fn tables_that_unpack_to_too_much() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("bomb");
    ogb(&folder);
    gz(&folder.join("raw/edge.csv.gz"), &"0,1\n".repeat(10_000_000));
    refused(&folder, &["edge.csv.gz", "64.0 MB are allowed"]);
}

#[test]
fn gzip_that_is_cut_or_is_not_gzip() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("cut");
    ogb(&folder);
    let file = folder.join("raw/edge.csv.gz");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 6]).unwrap();
    refused(&folder, &["edge.csv.gz", "damaged"]);
    std::fs::write(&file, "0,1\n1,2\n3,0\n").unwrap();
    refused(&folder, &["edge.csv.gz", "damaged"]);
    std::fs::remove_file(folder.join("raw/node-feat.csv.gz")).unwrap();
    ogb(&folder);
    std::fs::remove_file(folder.join("raw/node-feat.csv.gz")).unwrap();
    refused(&folder, &["node-feat.csv.gz", "no such file"]);
}
