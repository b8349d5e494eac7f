//! A step that fails leaves the old model or the new one, and a writer that can go on.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};

use treering_store::{Model, Step, Writer};

use crate::common::{Scenario, add, assert_clean, at_call, is_done, place, state};

#[test]
fn the_scenarios_take_every_step() {
    let taken: HashSet<Step> = Scenario::ALL
        .iter()
        .flat_map(|scenario| scenario.undisturbed().0)
        .collect();
    assert_eq!(taken, Step::ALL.iter().copied().collect());
}

#[test]
fn a_failure_at_any_step_leaves_the_old_model_or_the_new_one() {
    for scenario in Scenario::ALL {
        let (steps, new) = scenario.undisturbed();
        for at in 0..steps.len() {
            for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
                let context = format!("{scenario:?}, {} ({at})", steps[at]);
                let (_place, folder) = place();
                let writer = scenario.writer(&folder);
                let old = state(&folder);
                let mut writer = writer.with_hook(at_call(at, move |_| Err(Error::from(kind))));
                let result = writer.commit(scenario.changes());
                if is_done(&steps, at) {
                    assert!(result.is_ok(), "{context}");
                } else {
                    let error = result.unwrap_err();
                    assert!(error.is_system(), "{context}: {error}");
                    assert_eq!(state(&folder), old, "{context}");
                    assert_eq!(writer.model().is_some(), old.is_some(), "{context}");
                    if old.is_some() {
                        assert_clean(&folder);
                    }
                    writer.commit(scenario.changes()).unwrap();
                }
                assert_eq!(state(&folder), new, "{context}");
                assert_eq!(writer.manifest(), new.as_ref().map(|new| &new.0));
                // What a failure left is removed by the next commit.
                writer.commit(vec![add("later", &["l1"])]).unwrap();
                assert_clean(&folder);
            }
        }
    }
}

#[test]
fn a_failed_commit_leaves_nothing_but_the_lock_of_a_new_model() {
    let (_place, folder) = place();
    let writer = Scenario::First.writer(&folder);
    let full = |_| Err(Error::from(ErrorKind::StorageFull));
    let mut writer = writer.with_hook(at_call(15, full));
    let error = writer.commit(Scenario::First.changes()).unwrap_err();
    assert!(
        error.to_string().contains("make room on the disk"),
        "{error}"
    );
    drop(writer);
    let count = |folder| std::fs::read_dir(folder).unwrap().count();
    assert_eq!(count(folder.clone()), 2);
    assert_eq!(count(folder.join("rings")), 0);
    assert_eq!(std::fs::metadata(folder.join("lock")).unwrap().len(), 0);
}

#[test]
fn old_files_stay_until_the_new_manifest_is_sure_to_stay() {
    let (_place, folder) = place();
    let steps = Scenario::Replace.undisturbed().0;
    let renamed = steps.iter().position(|&s| s == Step::ManifestRenamed);
    let fail = |_| Err(Error::other("no sync"));
    let mut writer = Scenario::Replace
        .writer(&folder)
        .with_hook(at_call(renamed.unwrap(), fail));
    writer.commit(Scenario::Replace.changes()).unwrap();
    let old = folder.join("rings/0001-alpha.safetensors");
    assert!(old.exists());
    let leftovers = |model: Model| model.verify().into_iter().filter(|f| f.leftover).count();
    assert_eq!(leftovers(Model::open(&folder).unwrap()), 1);
    drop(writer);
    Writer::open(&folder).unwrap();
    assert!(!old.exists());
    assert_clean(&folder);
}
