//! Random changes, some of them wrong, some of them interrupted, against a model in memory.

use std::collections::HashSet;
use std::io::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use treering_store::{Change, Model, Writer, decode};

use crate::common::{assert_clean, head, place, ring};

/// A ring as the simple model remembers it.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    number: u32,
    name: String,
    classes: Vec<String>,
}

#[derive(Clone, Debug)]
enum Wish {
    Add(u8, Vec<u8>),
    /// The place in the list, past its end too.
    Replace(usize, u8, Vec<u8>),
    Remove(usize),
}

#[derive(Clone, Debug)]
struct Commit {
    wishes: Vec<Wish>,
    /// The step that fails, when the commit gets so far.
    fails_at: Option<usize>,
    reopen: bool,
}

fn wishes() -> impl Strategy<Value = Wish> {
    // Few names and classes, so that they collide now and then.
    let classes = || prop::collection::vec(0u8..24, 0..3);
    prop_oneof![
        3 => (0u8..12, classes()).prop_map(|(name, classes)| Wish::Add(name, classes)),
        1 => (0usize..5, 0u8..12, classes()).prop_map(|(at, name, classes)| Wish::Replace(at, name, classes)),
        1 => (0usize..5).prop_map(Wish::Remove),
    ]
}

fn commits() -> impl Strategy<Value = Commit> {
    let fails_at = prop_oneof![2 => Just(None), 1 => (0usize..30).prop_map(Some)];
    (
        prop::collection::vec(wishes(), 0..4),
        fails_at,
        any::<bool>(),
    )
        .prop_map(|(wishes, fails_at, reopen)| Commit {
            wishes,
            fails_at,
            reopen,
        })
}

fn words(classes: &[u8]) -> Vec<String> {
    classes
        .iter()
        .map(|class| format!("class {class}"))
        .collect()
}

/// The changes that the wishes ask for, and what they make of the rings, by the shortest code that can say it; `None` when they are not
/// to be granted.
fn granted(
    rings: &[Known],
    mut next: u32,
    wishes: &[Wish],
) -> (Vec<Change>, Option<(Vec<Known>, u32)>) {
    let mut rings = rings.to_vec();
    let mut changes = Vec::new();
    let mut allowed = true;
    for wish in wishes {
        let number = |rings: &[Known], at: usize| rings.get(at).map_or(9999, |ring| ring.number);
        match wish {
            Wish::Add(name, classes) | Wish::Replace(_, name, classes) => {
                let known = Known {
                    number: next,
                    name: format!("Ring {name}"),
                    classes: words(classes),
                };
                let classes: Vec<&str> = known.classes.iter().map(String::as_str).collect();
                let ring = ring(&known.name, &classes);
                next += 1;
                match wish {
                    Wish::Replace(at, ..) => {
                        changes.push(Change::Replace {
                            number: number(&rings, *at),
                            ring,
                        });
                        allowed &= *at < rings.len();
                        if let Some(place) = rings.get_mut(*at) {
                            *place = known;
                        }
                    }
                    _ => {
                        changes.push(Change::Add(ring));
                        rings.push(known);
                    }
                }
            }
            Wish::Remove(at) => {
                changes.push(Change::Remove {
                    number: number(&rings, *at),
                });
                allowed &= *at < rings.len();
                if *at < rings.len() {
                    rings.remove(*at);
                }
            }
        }
    }
    let mut seen = HashSet::new();
    let unique = rings
        .iter()
        .all(|ring| seen.insert(("name", ring.name.clone())))
        && rings
            .iter()
            .flat_map(|ring| &ring.classes)
            .all(|class| seen.insert(("class", class.clone())));
    (changes, (allowed && unique).then_some((rings, next)))
}

fn check(folder: &Path, rings: &[Known], next: u32) {
    let model = Model::open(folder).unwrap();
    let found: Vec<Known> = model
        .manifest()
        .rings
        .iter()
        .map(|ring| Known {
            number: ring.number,
            name: ring.name.clone(),
            classes: ring.classes.clone(),
        })
        .collect();
    assert_eq!(found, rings);
    assert_eq!(model.manifest().next_ring, next);
    for entry in &model.manifest().rings {
        let expected = ring(&entry.name, &[]).bytes;
        let tensors = model.ring(entry).unwrap().into_vec();
        assert_eq!(
            tensors,
            decode(Path::new("x"), &expected).unwrap().into_vec()
        );
    }
}

/// A writer whose steps fail once the countdown is over.
fn failing(writer: Writer, countdown: &Arc<AtomicUsize>) -> Writer {
    let countdown = Arc::clone(countdown);
    writer.with_hook(Box::new(move |_| {
        match countdown.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(Error::other("told to fail")),
            _ => Ok(()),
        }
    }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_commits_gives_the_model_that_it_should(commits in prop::collection::vec(commits(), 1..8)) {
        let (_place, folder) = place();
        let countdown = Arc::new(AtomicUsize::new(usize::MAX));
        let mut writer = failing(Writer::create(&folder, head()).unwrap(), &countdown);
        writer.commit(vec![]).unwrap();
        let (mut rings, mut next) = (Vec::new(), 1);
        for commit in commits {
            let (changes, after) = granted(&rings, next, &commit.wishes);
            countdown.store(commit.fails_at.unwrap_or(usize::MAX), Ordering::Relaxed);
            let result = writer.commit(changes);
            countdown.store(usize::MAX, Ordering::Relaxed);
            match (result, after) {
                (Ok(_), Some(after)) => (rings, next) = after,
                (Err(error), None) => prop_assert!(!error.is_system(), "{}", error),
                (Err(error), Some(_)) => prop_assert!(commit.fails_at.is_some() && error.is_system(), "{}", error),
                (Ok(_), None) => prop_assert!(false, "granted what it should not: {:?}", commit.wishes),
            }
            check(&folder, &rings, next);
            if commit.reopen {
                drop(writer);
                writer = failing(Writer::open(&folder).unwrap(), &countdown);
                assert_clean(&folder);
            }
        }
    }
}
