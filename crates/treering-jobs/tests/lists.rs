//! What a list promises: jobs that are done stay done, damage is noticed, two at once do no harm.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Barrier;

use treering_jobs::{
    Cost, Digest, Done, Failed, Input, Job, JobsError, List, Source, State, parallel, slurm,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn job(id: &str, level: u32, inputs: Vec<Input>) -> Job {
    Job {
        id: id.into(),
        level,
        directory: "/".into(),
        command: vec!["write".into(), "{output}".into()],
        inputs,
        output: format!("parts/{id}").into(),
        memory: 1000,
        cost: Cost::default(),
        replaces: false,
        of: 0,
    }
}

/// One job, and one that needs it.
fn two(place: &Path) -> Result<List, JobsError> {
    let first = job("first", 0, Vec::new());
    let second = job("second", 1, vec![Input::made_by(&first)]);
    List::write(&place.join("jobs"), vec![first, second])
}

fn hello(output: &Path) -> io::Result<()> {
    fs::write(output, "hello")
}

fn never(_: &Path) -> io::Result<()> {
    Err(io::Error::other("it was done"))
}

#[test]
fn a_job_that_is_done_is_not_done_again() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    assert_eq!(list.perform("first", hello)?, Done::Now);
    assert_eq!(list.perform("first", never)?, Done::Before);
    // Neither by a program that reads the list anew.
    let again = List::read(&place.path().join("jobs"))?;
    assert_eq!(again.perform("first", never)?, Done::Before);
    let left: Vec<_> = fs::read_dir(list.folder().join("parts"))?.collect();
    assert_eq!(left.len(), 1, "{left:?}");
    Ok(())
}

#[test]
fn a_job_waits_for_what_it_needs() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    let early = list.perform("second", hello).expect_err("too early");
    assert!(
        matches!(&early, Failed::Jobs(JobsError::Needs { needs, damaged: false, .. }) if needs == "first"),
        "{early}"
    );
    list.perform("first", hello)?;
    assert_eq!(list.perform("second", hello)?, Done::Now);
    Ok(())
}

#[test]
fn an_output_that_was_cut_short_is_made_again_and_never_read() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    list.perform("first", hello)?;
    let output = list.folder().join("parts/first");
    for damage in ["hel", "hellO", "hello!"] {
        fs::write(&output, damage)?;
        assert!(matches!(list.state(&list.jobs()[0])?, State::Damaged(_)));
        let read = list.perform("second", hello).expect_err("damaged input");
        assert!(matches!(
            read,
            Failed::Jobs(JobsError::Needs { damaged: true, .. })
        ));
        assert_eq!(list.perform("first", hello)?, Done::Now);
    }
    fs::remove_file(&output)?;
    assert_eq!(list.perform("first", hello)?, Done::Now);
    // A seal that was cut short says nothing.
    fs::write(list.seal_file(&list.jobs()[0]), "{\"job\":")?;
    assert_eq!(list.state(&list.jobs()[0])?, State::Open);
    Ok(())
}

#[test]
fn work_that_fails_leaves_nothing() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    let half = |output: &Path| {
        fs::write(output, "hel")?;
        Err(io::Error::other("no more"))
    };
    let failed = list.perform("first", half).expect_err("it fails");
    assert_eq!(failed.to_string(), "no more");
    assert_eq!(fs::read_dir(list.folder().join("parts"))?.count(), 0);
    assert_eq!(list.state(&list.jobs()[0])?, State::Open);
    let nothing = list
        .perform("first", |_| io::Result::Ok(()))
        .expect_err("nothing there");
    assert!(matches!(nothing, Failed::Jobs(JobsError::Nothing(_))));
    Ok(())
}

#[test]
fn what_the_killed_left_is_swept_away() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    let left = list.folder().join("parts/.first.12345678-1-1-0.partial");
    fs::write(&left, "hal")?;
    // It is not taken for the output.
    assert_eq!(list.state(&list.jobs()[0])?, State::Open);
    list.perform("first", hello)?;
    assert!(!left.exists());
    Ok(())
}

#[test]
fn an_input_that_changed_is_refused() -> Outcome {
    let place = tempfile::tempdir()?;
    let data = place.path().join("data");
    fs::write(&data, "1")?;
    let input = Input {
        path: data.clone(),
        source: Source::There(Digest::of(&data)?),
    };
    let list = List::write(
        &place.path().join("jobs"),
        vec![job("only", 0, vec![input])],
    )?;
    fs::write(&data, "2")?;
    let changed = list.perform("only", hello).expect_err("it changed");
    assert!(changed.to_string().contains("has changed"), "{changed}");
    fs::remove_file(&data)?;
    let gone = list.perform("only", hello).expect_err("it is gone");
    assert!(gone.to_string().contains("is not there"), "{gone}");
    fs::write(&data, "1")?;
    assert_eq!(list.perform("only", hello)?, Done::Now);
    Ok(())
}

#[test]
fn two_copies_at_once_do_no_harm() -> Outcome {
    let place = tempfile::tempdir()?;
    for round in 0..60 {
        let only = job("only", 0, Vec::new());
        let list = List::write(&place.path().join(format!("jobs-{round}")), vec![only])?;
        let both = Barrier::new(2);
        let one = || {
            list.perform("only", |output| {
                both.wait();
                // Folders, which cannot be renamed over each other.
                fs::create_dir(output)?;
                fs::write(output.join("a"), "hello")
            })
        };
        let done = std::thread::scope(|scope| {
            let (a, b) = (scope.spawn(one), scope.spawn(one));
            [a.join(), b.join()]
        });
        for one in done {
            let one = one.map_err(|_| "a thread panicked")?;
            assert!(one.is_ok(), "{:?}", one.err().map(|e| e.to_string()));
        }
        assert!(matches!(list.state(&list.jobs()[0])?, State::Done(_)));
        let left: Vec<_> = fs::read_dir(list.folder().join("parts"))?.collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
    Ok(())
}

#[test]
fn a_list_is_not_overwritten_and_bad_lines_are_named() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    // The same one may be planned again.
    two(place.path())?;
    let other = List::write(list.folder(), vec![job("other", 0, Vec::new())]);
    assert!(matches!(other, Err(JobsError::Taken(_))));
    let good = fs::read_to_string(list.file())?;
    let cases = [
        ("{", "line 1"),
        ("{}\n", "line 1"),
        (
            good.lines().next().unwrap_or_default(),
            "has 1 jobs and should have 2",
        ),
        (
            &format!("{good}{good}")[..],
            "line 3: there are two jobs `first`",
        ),
        (
            &good.replace("\"level\":1", "\"level\":0"),
            "line 2: it needs job `first`",
        ),
        (&good.replace("\"second\"", "\"../second\""), "is no id"),
        (&good[..good.len() / 2], "line "),
    ];
    for (text, expected) in cases {
        fs::write(list.file(), text)?;
        let error = List::read(list.folder()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let none = List::read(&place.path().join("nowhere")).expect_err("nowhere");
    assert!(matches!(none, JobsError::NoList(_)));
    Ok(())
}

#[test]
fn scripts_name_every_job_once() -> Outcome {
    let place = tempfile::tempdir()?;
    let list = two(place.path())?;
    let submit = slurm(&list, "treering", 1)?;
    let text = fs::read_to_string(&submit)?;
    assert!(
        text.ends_with("level 0 1 \"$@\"\nlevel 1 1 \"$@\"\n"),
        "{text}"
    );
    let level = fs::read_to_string(list.folder().join("slurm/level-1.sbatch"))?;
    assert!(!level.replace("\"$@\"", "").contains('@'), "{level}");
    // 1000 bytes, and what the system takes.
    assert!(level.contains("--mem=65M"), "{level}");
    let line = parallel(&list, "treering", 2, 1)?;
    assert_eq!(line.matches("parallel ").count(), 2);
    assert_eq!(
        fs::read_to_string(list.folder().join("levels/1.ids"))?,
        "second\n"
    );
    Ok(())
}

#[test]
fn a_result_is_never_put_in_the_place_of_something_else() -> Outcome {
    let place = tempfile::tempdir()?;
    let result = place.path().join("result");
    let only = |replaces| Job {
        output: result.clone(),
        replaces,
        ..job("only", 0, Vec::new())
    };
    let list = List::write(&place.path().join("jobs"), vec![only(false)])?;
    fs::write(&result, "precious")?;
    let refused = list.perform("only", never).expect_err("it is taken");
    assert!(
        matches!(refused, Failed::Jobs(JobsError::Occupied { .. })),
        "{refused}"
    );
    fs::remove_file(&result)?;
    // It appears while the job works.
    let late = list.perform("only", |output| {
        fs::write(&result, "precious")?;
        hello(output)
    });
    assert!(matches!(
        late,
        Err(Failed::Jobs(JobsError::Occupied { .. }))
    ));
    assert_eq!(fs::read_to_string(&result)?, "precious");
    // A killed copy put it there and could not say so any more.
    fs::write(&result, "hello")?;
    fs::create_dir_all(list.folder().join("done"))?;
    assert_eq!(list.perform("only", hello)?, Done::Now);
    // Somebody went on with it.
    fs::write(&result, "hello, and more")?;
    let changed = list
        .perform("only", never)
        .expect_err("it is more than ours");
    assert!(
        matches!(changed, Failed::Jobs(JobsError::Occupied { .. })),
        "{changed}"
    );
    let force = List::write(&place.path().join("other"), vec![only(true)])?;
    assert_eq!(force.perform("only", hello)?, Done::Now);
    // A part is the list's own, whatever stands there.
    let list = two(place.path().join("parts").as_path())?;
    fs::create_dir_all(list.folder().join("parts/first/x"))?;
    assert_eq!(list.perform("first", hello)?, Done::Now);
    Ok(())
}
