use super::super::spec::tests::example;
use super::super::{Measured, RunResult, RunSpec};
use super::*;
use crate::Protocol;

#[test]
fn a_run_comes_back_as_it_was_stored() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(&place.path().join("new/bench")).unwrap();
    let spec = example();
    assert!(matches!(folder.find(&spec).unwrap(), Found::Missing));
    let record = Record::failed(spec.clone(), "no luck".into());
    folder.store(&record).unwrap();
    let Found::Record(back) = folder.find(&spec).unwrap() else {
        panic!("it was stored")
    };
    assert_eq!(*back, record);
    assert_eq!(folder.records().unwrap().0, [record]);
}

#[test]
fn a_file_that_is_cut_short_counts_as_missing() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let spec = example();
    folder
        .store(&Record::failed(spec.clone(), "no luck".into()))
        .unwrap();
    let whole = fs::read(folder.file(&spec)).unwrap();
    for length in 0..whole.len() - 2 {
        fs::write(folder.file(&spec), &whole[..length]).unwrap();
        assert!(
            matches!(folder.find(&spec).unwrap(), Found::Damaged(_)),
            "{length}"
        );
        assert!(folder.records().unwrap().0.is_empty());
    }
}

#[test]
fn a_file_of_another_run_or_another_format_is_not_taken() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let (spec, mut other) = (example(), example());
    other.seed += 1;
    folder
        .store(&Record::failed(other.clone(), "no luck".into()))
        .unwrap();
    fs::copy(folder.file(&other), folder.file(&spec)).unwrap();
    assert!(matches!(folder.find(&spec).unwrap(), Found::Damaged(_)));
    assert_eq!(folder.records().unwrap().0.len(), 1);
    fs::write(folder.file(&spec), r#"{"format": 99}"#).unwrap();
    let told = folder.find(&spec).unwrap_err().to_string();
    assert!(
        told.contains("format 99") && told.contains("--out"),
        "{told}"
    );
}

#[test]
fn one_process_at_a_time_and_leftovers_go() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    assert!(matches!(
        Folder::open(place.path()),
        Err(FolderError::Busy(_))
    ));
    drop(folder);
    let leftover = place.path().join("runs/.0123.json.77.partial");
    fs::write(&leftover, "{").unwrap();
    Folder::open(place.path()).unwrap();
    assert!(!leftover.exists());
}

/// A result whose figures are those of its matrix.
fn result() -> RunResult {
    RunResult {
        synthetic: false,
        classes: Some(4),
        aa: Some(75.0),
        af: Some(-20.0),
        task_id_accuracy: None,
        task_id_by_task: Some(100.0),
        micro_accuracy: Some(70.0),
        macro_f1: Some(71.0),
        matrix: vec![vec![90.0], vec![70.0, 80.0]],
        learning_curve: vec![Some(90.0), Some(75.0)],
        stored: treering_learn::Stored {
            model: 10,
            memory: 5,
        },
        stored_floats_per_task: 7.5,
        open: None,
        calibration_error: None,
    }
}

fn measured() -> Measured {
    Measured {
        seconds: Default::default(),
        cpu_seconds: Default::default(),
        peak_memory_bytes: 1,
        threads: 1,
        version: "0".into(),
    }
}

#[test]
fn a_record_that_contradicts_itself_is_not_believed() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let good = Record::done(example(), result(), measured());
    folder.store(&good).unwrap();
    assert!(matches!(folder.find(&good.spec).unwrap(), Found::Record(_)));
    let edits: [fn(&mut Record); 8] = [
        |record| record.status = super::super::Status::Failed,
        |record| record.error = Some("no".into()),
        |record| record.result = None,
        |record| record.result.as_mut().unwrap().aa = Some(99.0),
        |record| record.result.as_mut().unwrap().af = None,
        |record| record.result.as_mut().unwrap().matrix[1][0] = 71.0,
        |record| record.result.as_mut().unwrap().matrix[1] = vec![75.0],
        |record| record.result.as_mut().unwrap().learning_curve[0] = None,
    ];
    for edit in edits {
        let mut record = good.clone();
        edit(&mut record);
        folder.store(&record).unwrap();
        let Found::Damaged(why) = folder.find(&good.spec).unwrap() else {
            panic!("{record:?} was believed")
        };
        assert!(!why.contains("struct"), "{why}");
        let (kept, odd) = folder.records().unwrap();
        assert_eq!((kept.len(), odd.len()), (0, 1));
    }
}

#[test]
fn only_open_has_an_auroc_and_it_is_that_of_its_stages() {
    let open = |auroc: Option<f64>, stages: &[Option<f64>]| {
        let stages = stages.to_vec();
        Some(crate::Open {
            auroc,
            stages,
            rejections: Vec::new(),
        })
    };
    let why = |protocol: Protocol, open: Option<crate::Open>| {
        let spec = RunSpec {
            protocol,
            ..example()
        };
        let result = RunResult { open, ..result() };
        Record::done(spec, result, measured()).contradiction()
    };
    let sound = || open(Some(60.0), &[Some(60.0), None]);
    assert_eq!(why(Protocol::Paper, None), None);
    assert_eq!(why(Protocol::Open, sound()), None);
    let groups = Protocol::open_groups(3).unwrap();
    assert_eq!(why(groups, sound()), None);
    assert!(why(groups, None).is_some());
    assert_eq!(why(Protocol::Open, open(None, &[None, None])), None);
    assert!(why(Protocol::Paper, sound()).is_some());
    assert!(why(Protocol::Open, None).is_some());
    for wrong in [
        open(Some(61.0), &[Some(60.0), None]),
        open(None, &[Some(60.0), None]),
        open(Some(60.0), &[Some(60.0)]),
        open(Some(160.0), &[Some(160.0), None]),
    ] {
        assert!(why(Protocol::Open, wrong.clone()).is_some(), "{wrong:?}");
    }
}

#[test]
fn rejections_and_calibration_errors_come_back_and_are_shares() {
    let spec = RunSpec {
        protocol: Protocol::Open,
        ..example()
    };
    let rejection = crate::Rejection {
        rate: 0.05,
        false_alarms: 25.0,
        detected: 50.0,
        accepted_accuracy: None,
        known: 4,
        unknown: 2,
    };
    let open = crate::Open {
        auroc: Some(60.0),
        stages: vec![Some(60.0), None],
        rejections: vec![rejection],
    };
    let good = RunResult {
        open: Some(open),
        calibration_error: Some(12.5),
        ..result()
    };
    let text = serde_json::to_string(&good).unwrap();
    assert_eq!(serde_json::from_str::<RunResult>(&text).unwrap(), good);
    let why =
        |result: &RunResult| Record::done(spec.clone(), result.clone(), measured()).contradiction();
    assert_eq!(why(&good), None);
    let line = Line::new(
        Record::done(spec.clone(), good.clone(), measured()),
        Vec::new(),
    );
    assert_eq!(
        (line.open, line.calibration_error),
        (good.open.clone(), Some(12.5))
    );
    let edits: [fn(&mut RunResult); 3] = [
        |wrong| wrong.calibration_error = Some(100.5),
        |wrong| wrong.open.as_mut().unwrap().rejections[0].known = 0,
        |wrong| wrong.open.as_mut().unwrap().rejections[0].detected = 51.0,
    ];
    for edit in edits {
        let mut wrong = good.clone();
        edit(&mut wrong);
        assert!(why(&wrong).is_some(), "{wrong:?}");
    }
}

#[test]
fn what_older_programs_wrote_about_open_is_read() {
    let text = r#"{"auroc": 60.0, "stages": [60.0, null]}"#;
    let open: crate::Open = serde_json::from_str(text).unwrap();
    assert_eq!((open.auroc, open.rejections.len()), (Some(60.0), 0));
    let written = serde_json::to_string(&open).unwrap();
    assert_eq!(written, r#"{"auroc":60.0,"stages":[60.0,null]}"#);
}

#[test]
fn a_result_without_an_auroc_has_the_bytes_it_always_had() {
    let text = serde_json::to_string(&result()).unwrap();
    assert!(text.ends_with("\"stored_floats_per_task\":7.5}"), "{text}");
    assert_eq!(serde_json::from_str::<RunResult>(&text).unwrap(), result());
    let line = Line::new(Record::done(example(), result(), measured()), Vec::new());
    let text = serde_json::to_string(&line).unwrap();
    assert!(
        text.contains("\"stored_floats_per_task\":7.5,\"measured\":"),
        "{text}"
    );
}

#[test]
fn results_name_every_grid_that_chose_a_run() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let spec = example();
    folder
        .store(&Record::done(spec.clone(), result(), measured()))
        .unwrap();
    let mut hashes = Vec::new();
    for values in [[1, 2], [1, 3]] {
        let values = serde_json::json!({ "rate": values });
        let mut grid = GridRecord::new(&spec, values.as_object().unwrap().clone());
        grid.test_runs = vec![spec.hash()];
        folder.store_grid(&grid).unwrap();
        hashes.push(grid.hash());
    }
    hashes.sort();
    assert!(folder.write_results().unwrap().is_empty());
    let text = fs::read_to_string(place.path().join(RESULTS)).unwrap();
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["chosen_by"], Value::from(hashes));
}
