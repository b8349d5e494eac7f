//! A process that is killed leaves the old model or the new one, and no lock. The children are this test binary, told by an environment
//! variable what to do.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use treering_store::{Change, Fault, Model, Writer};

use crate::common::{
    Scenario, add, assert_clean, at_call, head, is_done, place, replace, state, two_rings,
};

const ORDER: &str = "TREERING_STORE_TEST_CHILD";

fn child(order: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::obey", "--nocapture"])
        .env(ORDER, format!("{order} {}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test but what a child does; without an order, nothing.
#[test]
fn obey() {
    let Ok(order) = std::env::var(ORDER) else {
        return;
    };
    let mut words = order.splitn(if order.starts_with("die") { 4 } else { 2 }, ' ');
    let mut word = || words.next().unwrap().to_owned();
    match word().as_str() {
        "die" => {
            let scenario: usize = word().parse().unwrap();
            let at: usize = word().parse().unwrap();
            let scenario = Scenario::ALL[scenario];
            let writer = scenario.writer(Path::new(&word()));
            let mut writer = writer.with_hook(at_call(at, |_| std::process::abort()));
            writer.commit(scenario.changes()).unwrap();
        }
        "hold" => {
            let _writer = Writer::open(Path::new(&word())).unwrap();
            println!("held");
            let _ = std::io::stdin().read(&mut [0]);
        }
        "try" => match Writer::open(Path::new(&word())) {
            Ok(_) => println!("opened"),
            Err(error) => println!("refused: {error}"),
        },
        "churn" => churn(Path::new(&word())),
        other => panic!("{other}"),
    }
}

/// Changes a model until somebody ends it. Ring `steady` stays, `moving` is replaced, and a pair comes and goes in one commit.
fn churn(folder: &Path) {
    let mut writer = Writer::open(folder).unwrap();
    println!("held");
    loop {
        let number = |writer: &Writer, name: &str| {
            let model = writer.model().unwrap();
            model.find(name).map(|ring| ring.number)
        };
        let moving = number(&writer, "moving").unwrap();
        writer
            .commit(vec![replace(moving, "moving", &["m"])])
            .unwrap();
        let changes = match (number(&writer, "left"), number(&writer, "right")) {
            (Ok(left), Ok(right)) => [left, right]
                .map(|number| Change::Remove { number })
                .to_vec(),
            _ => vec![add("left", &["l"]), add("right", &["r"])],
        };
        writer.commit(changes).unwrap();
    }
}

/// Waits for a child's word that it has the lock, past what the test harness prints.
fn wait_until_held(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("held")));
}

#[test]
fn a_kill_at_any_step_leaves_the_old_model_or_the_new_one() {
    for (number, scenario) in Scenario::ALL.into_iter().enumerate() {
        let (steps, new) = scenario.undisturbed();
        for at in 0..steps.len() {
            let context = format!("{scenario:?}, {} ({at})", steps[at]);
            let (_place, folder) = place();
            if !matches!(scenario, Scenario::First) {
                two_rings(&folder);
            }
            let old = state(&folder);
            let end = child(&format!("die {number} {at}"), &folder)
                .wait()
                .unwrap();
            assert_eq!(end.signal(), Some(6), "{context}: {end}");
            let done = is_done(&steps, at);
            assert_eq!(
                state(&folder),
                if done { new.clone() } else { old },
                "{context}"
            );
            if !done {
                // Nothing that the killed process left is in the way.
                let mut writer = scenario.writer(&folder);
                writer.commit(scenario.changes()).unwrap();
            }
            let mut writer = Writer::open(&folder).unwrap();
            assert_clean(&folder);
            assert_eq!(state(&folder), new, "{context}");
            writer.commit(vec![add("later", &["l1"])]).unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_time_leaves_a_whole_model() {
    let (_place, folder) = place();
    let mut writer = Writer::create(&folder, head()).unwrap();
    writer
        .commit(vec![add("steady", &["s"]), add("moving", &["m"])])
        .unwrap();
    drop(writer);
    let steady = std::fs::read(folder.join("rings/0001-steady.safetensors")).unwrap();
    let mut numbers = 0;
    for round in 0..25u64 {
        let mut child = child("churn", &folder);
        wait_until_held(&mut child);
        std::thread::sleep(Duration::from_micros(round * 701 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        let (manifest, ..) = state(&folder).unwrap();
        let mut names: Vec<&str> = manifest.rings.iter().map(|r| r.name.as_str()).collect();
        names.retain(|name| !["steady", "moving"].contains(name));
        assert!(names.is_empty() || names == ["left", "right"], "{names:?}");
        assert!(manifest.next_ring >= numbers);
        numbers = manifest.next_ring;
    }
    assert!(numbers > 3, "the children changed nothing");
    Writer::open(&folder).unwrap();
    assert_clean(&folder);
    assert_eq!(
        std::fs::read(folder.join("rings/0001-steady.safetensors")).unwrap(),
        steady
    );
}

#[test]
fn readers_see_whole_models_while_a_writer_commits() {
    let (_place, folder) = place();
    let mut writer = Writer::create(&folder, head()).unwrap();
    writer.commit(vec![add("moving", &["m"])]).unwrap();
    drop(writer);
    let mut child = child("churn", &folder);
    wait_until_held(&mut child);
    let mut whole = 0;
    for _ in 0..300 {
        let model = Model::open(&folder).unwrap();
        let rings: Result<Vec<_>, _> = model
            .manifest()
            .rings
            .iter()
            .map(|r| model.ring(r))
            .collect();
        match rings {
            Ok(_) => whole += 1,
            Err(error) => assert!(error.is_changed(), "{error}"),
        }
        model.backbone().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(whole > 0);
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let (_place, folder) = place();
    let writer = two_rings(&folder);
    let error = Writer::open(&folder).unwrap_err();
    assert!(matches!(*error.fault, Fault::Locked), "{error}");
    assert!(!error.is_system());
    let output = child("try", &folder).wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("refused") && said.contains("another process"),
        "{said}"
    );
    Model::open(&folder).unwrap().backbone().unwrap();
    drop(writer);
    let output = child("try", &folder).wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("opened"));
}

#[test]
fn a_killed_writer_holds_no_lock() {
    let (_place, folder) = place();
    two_rings(&folder);
    let mut child = child("hold", &folder);
    wait_until_held(&mut child);
    assert!(matches!(
        *Writer::open(&folder).unwrap_err().fault,
        Fault::Locked
    ));
    child.kill().unwrap();
    child.wait().unwrap();
    Writer::open(&folder).unwrap();
}

#[test]
fn two_cannot_create_one_model() {
    let (_place, folder) = place();
    let writer = Writer::create(&folder, head()).unwrap();
    let error = Writer::create(&folder, head()).unwrap_err();
    assert!(matches!(*error.fault, Fault::Locked), "{error}");
    let error = Model::open(&folder).unwrap_err();
    assert!(matches!(*error.fault, Fault::Unfinished), "{error}");
    drop(writer);
    two_rings(&folder);
}
