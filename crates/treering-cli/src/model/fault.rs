//! Faults on demand, in debug builds only: `TREERING_FAULT=STEP:kill` ends the process at a step of a commit, `STEP:full` makes the disk full
//! there. Tests use it to show that a model survives both.

use std::io;

use treering_store::{Step, Writer};

use crate::failure::Failure;

const VARIABLE: &str = "TREERING_FAULT";

pub(super) fn inject(writer: Writer) -> Result<Writer, Failure> {
    let Ok(wanted) = std::env::var(VARIABLE) else {
        return Ok(writer);
    };
    let wrong = |why: String| Failure::input(format!("{VARIABLE}: {why}"));
    let (step, kind) = wanted
        .split_once(':')
        .ok_or_else(|| wrong("it has to be STEP:kill or STEP:full".into()))?;
    let step: Step = step.parse().map_err(wrong)?;
    let kill = match kind {
        "kill" => true,
        "full" => false,
        other => return Err(wrong(format!("`{other}` is neither kill nor full"))),
    };
    Ok(
        writer.with_hook(Box::new(move |reached| match (reached == step, kill) {
            (false, _) => Ok(()),
            (true, true) => std::process::abort(),
            (true, false) => Err(io::ErrorKind::StorageFull.into()),
        })),
    )
}
