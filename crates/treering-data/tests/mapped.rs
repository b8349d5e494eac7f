//! Mapped files and arrays in files.
#![allow(clippy::unwrap_used)]

use std::fs::File;

use treering_data::{
    Context, Large, ReadOptions, Recipe, Silent, WriteFormat, check_mapped, memory_limit, read,
    set_memory_limit, synthesize, write,
};
use treering_graph::Buffer;

/// One test, because what is mapped and how much memory there is concern the whole process.
#[test]
fn arrays_are_the_same_in_files_and_files_that_are_cut_are_noticed() {
    let zeros = |length: usize| Large::<f32>::zeros(length).unwrap();
    let fill = |array: &mut Large<f32>| {
        array.fill(10, |rows, out| {
            for (row, out) in rows.zip(out.chunks_mut(10)) {
                out.iter_mut().for_each(|value| *value += row as f32);
            }
        });
    };
    let mut here = zeros(1_000_000);
    fill(&mut here);
    assert_eq!(memory_limit(), u64::MAX);
    set_memory_limit(1 << 20);
    assert!(Large::<f32>::is_filed(1_000_000) && !Large::<f32>::is_filed(1000));
    let mut filed = zeros(1_000_000);
    fill(&mut filed);
    filed.release(0..1_000_000);
    fill(&mut filed);
    fill(&mut here);
    assert!(*here == *filed, "what was given back is still there");
    let buffer = Buffer::from(filed);
    assert!(buffer.window().is_some() && buffer[..] == here[..]);
    set_memory_limit(u64::MAX);

    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("g.treering");
    let recipe = Recipe::preset("products-like")
        .unwrap()
        .scaled(0.005)
        .unwrap();
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent)).unwrap();
    let context = Context::new(&Silent, 1 << 20);
    write(&graph, &path, WriteFormat::Native, false, &context).unwrap();
    let copy = place.path().join("copy.treering");
    std::fs::copy(&path, &copy).unwrap();
    let mapped = read(&path, &ReadOptions::default(), &context)
        .unwrap()
        .graph;
    assert!(
        mapped == graph,
        "a file that is given back as it is read reads the same"
    );
    check_mapped().unwrap();
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(1 << 16)
        .unwrap();
    // Without a guard this would end the program.
    let sum: f32 = mapped.features().to_dense().values().iter().sum();
    assert!(sum.is_finite() && mapped != graph);
    let error = check_mapped().unwrap_err().to_string();
    assert!(
        error.contains("g.treering") && error.contains("in use"),
        "{error}"
    );
    // It was told about, and is not told again.
    drop(mapped);
    check_mapped().unwrap();

    let mapped = read(&copy, &ReadOptions::default(), &context);
    let mapped = mapped.unwrap().graph;
    File::options()
        .write(true)
        .open(&copy)
        .unwrap()
        .set_len(77)
        .unwrap();
    drop(mapped);
    // Whoever asks afterwards still hears of it, once.
    assert!(
        check_mapped()
            .unwrap_err()
            .to_string()
            .contains("copy.treering")
    );
    check_mapped().unwrap();
}
