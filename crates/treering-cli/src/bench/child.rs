//! One training in a process of its own, so that its memory and processor time are its own and so is its end.

use std::io::{self, BufRead, Read};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use treering_data::{Progress, check_mapped};
use treering_eval::runs::{Job, Measured, RunResult, Taught, checksum};
use treering_eval::{Costs, Spent, cpu_seconds};

use super::sets::Origin;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::lines;
use crate::{AGAIN, Global, INTERRUPTED};

/// The name of the command that works a job off.
pub(super) const COMMAND: &str = "bench-job";

/// What begins a line about how far the work is.
const MARK: &str = "\u{1}";

/// The exit code of a process that was told to stop.
const STOPPED: i32 = 130;

/// What the process is told, in one line.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) origin: Origin,
    pub(super) job: Job,
}

/// What it says.
#[derive(Serialize, Deserialize)]
pub(super) enum Reply {
    /// A result for every run.
    Done(Vec<(RunResult, Measured)>),
    /// None of the runs has one.
    Failed(String),
}

/// The process itself: an order on standard input, a reply on standard output.
pub(crate) fn run(global: &Global, output: &Output) -> Result<(), Failure> {
    let started = Instant::now();
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(Failure::system)?;
    let order: Order = serde_json::from_str(&line).map_err(|error| {
        Failure::input(format!(
            "{COMMAND} is for the program itself; use `treering bench` ({error})"
        ))
    })?;
    end_with_parent();
    #[cfg(debug_assertions)]
    fault();
    let reply = match work(&order, started, global, &*lines(MARK)) {
        Ok(results) => Reply::Done(results),
        Err(why) => Reply::Failed(why),
    };
    output.print(&serde_json::to_string(&reply).map_err(Failure::system)?)
}

/// Whoever gave the order keeps this process's standard input open for as long as it lives.
pub(crate) fn end_with_parent() {
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = io::stdin().lock().read_to_end(&mut rest);
        std::process::exit(STOPPED);
    });
}

/// In debug builds a test can make jobs crash: `TREERING_FAULT=bench-job:kill`, or `bench-job:memory` for what happens when there is none left.
#[cfg(debug_assertions)]
fn fault() {
    match std::env::var("TREERING_FAULT").as_deref() {
        Ok("bench-job:kill") => std::process::abort(),
        Ok("bench-job:memory") => {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; 4096]>())
        }
        _ => {}
    }
}

pub(super) fn work(
    order: &Order,
    started: Instant,
    global: &Global,
    progress: &dyn Progress,
) -> Result<Vec<(RunResult, Measured)>, String> {
    let mut prepare = Spent {
        wall: started.elapsed().as_secs_f64(),
        cpu: cpu_seconds(),
    };
    let graph = prepare.on(|| {
        let graph = order.origin.load(global).map_err(reason)?;
        let sum = checksum(&graph);
        let wanted = order.job.specs.first().map(|spec| &spec.data.checksum);
        match wanted == Some(&sum) {
            true => Ok(graph),
            false => Err("the data has changed since the bench began; run it again".to_owned()),
        }
    })?;
    let done = order
        .job
        .run(&graph, progress)
        .map_err(|error| error.to_string())?;
    check_mapped().map_err(|error| error.to_string())?;
    let (threads, version) = (rayon::current_num_threads(), env!("CARGO_PKG_VERSION"));
    let measured = |costs: &Costs| Measured::new(prepare, costs, threads, version);
    let with = |(result, costs): Taught| (result, measured(&costs));
    Ok(done.into_iter().map(with).collect())
}

fn reason(failure: Failure) -> String {
    match failure {
        Failure::Input(why) | Failure::System(why) => why,
        Failure::Closed => "nobody is listening".to_owned(),
    }
}

/// Has an order worked off by a new process.
///
/// # Errors
/// No process can be started, or the bench is being interrupted.
///
/// # Arguments
/// * `hear`: hears how far it is.
pub(super) fn have_done(
    order: &Order,
    threads: usize,
    memory: Option<u64>,
    hear: &(dyn Fn(&str) + Sync),
) -> Result<Reply, Failure> {
    let again = AGAIN.get().map_or(&[][..], |again| again);
    let Some((program, first)) = again.split_first() else {
        return Err(Failure::system("the program does not know where it is"));
    };
    let mut command = Command::new(program);
    command
        .args(first)
        .args(["--quiet", "--threads", &threads.to_string()])
        .args(memory.map(|bytes| format!("--memory={bytes}")))
        .arg(COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::system)?;
    // Open until the child has ended: that is how it knows that we are there.
    let mut input = child.stdin.take();
    let text = serde_json::to_string(order).map_err(Failure::system)?;
    if let Some(input) = &mut input {
        // A child that is gone already says why by its end.
        let _ = io::Write::write_all(input, format!("{text}\n").as_bytes());
    }
    let errors = child.stderr.take();
    let (output, errors) = std::thread::scope(|scope| {
        let errors = scope.spawn(|| listen(errors, hear));
        let output = child.wait_with_output();
        (output, errors.join().unwrap_or_default())
    });
    let output = output.map_err(Failure::system)?;
    drop(input);
    if output.status.code() == Some(STOPPED) && interrupted() {
        return Err(Failure::system("interrupted"));
    }
    let reply = serde_json::from_slice(&output.stdout).ok();
    Ok(match reply.filter(|_| output.status.success()) {
        Some(reply) => reply,
        None => Reply::Failed(end_of(output.status, &errors)),
    })
}

/// Hands on how far the work is, and returns all else that was said.
fn listen(errors: Option<ChildStderr>, hear: &dyn Fn(&str)) -> String {
    let mut rest = String::new();
    let lines = errors.map(|errors| io::BufReader::new(errors).split(b'\n'));
    for line in lines.into_iter().flatten().map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        match line.strip_prefix(MARK) {
            Some(words) => hear(words),
            None => rest.extend([&*line, "\n"]),
        }
    }
    rest
}

/// Whether this process is told to stop too, as both are from a keyboard. One of the two hears it first.
fn interrupted() -> bool {
    const TRIES: usize = 20;
    (0..TRIES).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        INTERRUPTED.load(Ordering::SeqCst)
    })
}

/// Why a process ended that should not have.
pub(crate) fn end_of(status: ExitStatus, errors: &str) -> String {
    let told = match last_words(errors) {
        told if told.is_empty() => told,
        told => format!(": {told}"),
    };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let hint = match signal {
            9 => ": killed, as the system does when memory runs out. Try fewer --jobs",
            _ => "",
        };
        return format!("the process was ended by signal {signal}{hint}{told}");
    }
    match status.code() {
        Some(STOPPED) => "the process was told to stop".to_owned(),
        Some(code) => format!("the process ended with code {code}{told}"),
        None => format!("the process ended{told}"),
    }
}

/// What a process said about its end: where and why it panicked, else its last lines.
fn last_words(errors: &str) -> String {
    const LINES: usize = 3;
    const LETTERS: usize = 500;
    let lines: Vec<&str> = errors
        .lines()
        .take_while(|line| *line != "stack backtrace:")
        .filter(|line| !line.is_empty())
        .collect();
    let panicked = lines.iter().position(|line| line.contains("panicked at"));
    let told = match panicked {
        // What comes before names the thread by a number that is another one every time.
        Some(place) => {
            let from = lines[place].find("panicked at").unwrap_or(0);
            let next = lines.get(place + 1).unwrap_or(&"");
            format!("{} {next}", &lines[place][from..])
        }
        None => lines[lines.len().saturating_sub(LINES)..].join(" "),
    };
    told.chars().take(LETTERS).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::end_of;

    #[test]
    fn the_end_of_a_process_is_told_in_words() {
        let killed = end_of(ExitStatus::from_raw(9), "");
        assert!(
            killed.contains("signal 9") && killed.contains("--jobs"),
            "{killed}"
        );
        let errors =
            "thread 'main' (77) panicked at src/x.rs:1:2:\nindex out of bounds\nnote: more";
        let panicked = end_of(ExitStatus::from_raw(101 << 8), errors);
        let expected =
            "the process ended with code 101: panicked at src/x.rs:1:2: index out of bounds";
        assert_eq!(panicked, expected);
        let starved = end_of(
            ExitStatus::from_raw(6),
            "memory allocation of 77 bytes failed\n",
        );
        let expected = "the process was ended by signal 6: memory allocation of 77 bytes failed";
        assert_eq!(starved, expected);
    }
}
