//! A list for engines that others run: Slurm and GNU parallel. Both call `exec` and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::at;
use crate::{Job, JobsError, List, place};

/// What the system itself takes beside a job, so that one which takes what was planned is not killed.
const SPARE: u64 = 64 << 20;

/// Writes an array script for every level and `submit.sh`, which submits them one after the other, into `slurm/` in the folder of the list. Returns the latter.
///
/// # Arguments
/// * `program`: what runs treering on the machines of the cluster, as a shell reads it.
///
/// # Errors
/// The system refuses.
pub fn slurm(list: &List, program: &str, threads: usize) -> Result<PathBuf, JobsError> {
    let folder = list.folder().join("slurm");
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let mut submit = include_str!("submit.sh").to_owned();
    for (level, jobs) in by_level(list) {
        let text = include_str!("level.sbatch")
            .replace("@LEVEL@", &level.to_string())
            .replace("@THREADS@", &threads.to_string())
            .replace("@MEBIBYTES@", &mebibytes(&jobs).to_string())
            .replace("@COUNT@", &jobs.len().to_string())
            .replace("@IDS@", &quoted(&ids(list, level, &jobs)?))
            .replace("@LIST@", &quoted(&list.file()))
            .replace("@PROGRAM@", program);
        place::put(
            &folder.join(format!("level-{level}.sbatch")),
            text.as_bytes(),
        )?;
        submit.push_str(&format!("level {level} {} \"$@\"\n", jobs.len()));
    }
    let file = folder.join("submit.sh");
    place::put(&file, submit.as_bytes())?;
    Ok(file)
}

/// The command line that runs a list with GNU parallel, level after level.
///
/// # Arguments
/// * `jobs`: how many at once.
///
/// # Errors
/// The system refuses to write the files that the command reads.
pub fn parallel(
    list: &List,
    program: &str,
    jobs: usize,
    threads: usize,
) -> Result<String, JobsError> {
    let mut commands = Vec::new();
    for (level, own) in by_level(list) {
        let ids = ids(list, level, &own)?;
        // Of this list: the log of another one says nothing about its jobs.
        let hash: String = own.iter().map(|job| list.line(job)).collect();
        let hash = crate::digest::text(hash.as_bytes());
        let log = list
            .folder()
            .join(format!("levels/{level}-{}.joblog", &hash[..12]));
        commands.push(format!(
            "parallel --quote --jobs {jobs} --memfree {}M --retries 3 --halt soon,fail=10 --joblog {} --resume-failed --arg-file {} {program} exec {} --quiet --threads {threads} --job {{}}",
            mebibytes(&own),
            quoted(&log),
            quoted(&ids),
            quoted(&list.file()),
        ));
    }
    Ok(commands.join(" &&\n") + "\n")
}

fn by_level(list: &List) -> Vec<(u32, Vec<&Job>)> {
    let levels = list.levels().into_iter();
    levels
        .filter_map(|jobs| Some((jobs.first()?.level, jobs)))
        .collect()
}

/// Writes the ids of a level, one a line.
fn ids(list: &List, level: u32, jobs: &[&Job]) -> Result<PathBuf, JobsError> {
    let folder = list.folder().join("levels");
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let file = folder.join(format!("{level}.ids"));
    let text: String = jobs.iter().flat_map(|job| [&job.id, "\n"]).collect();
    place::put(&file, text.as_bytes())?;
    Ok(file)
}

fn mebibytes(jobs: &[&Job]) -> u64 {
    let most = jobs.iter().map(|job| job.memory).max().unwrap_or(0);
    most.saturating_add(SPARE).div_ceil(1 << 20)
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    match text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
