//! `treering run`: a list on this machine, a process for every job.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use clap::Args;
use treering_data::{Context, Progress, Silent, human_bytes};
use treering_jobs::{Job, List, State};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::{duration, listener};
use crate::{AGAIN, Global};

/// Set while a list is run and somebody may want to hear of it.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Says what becomes of a list that is interrupted.
pub(crate) fn tell_interrupted() {
    if RUNNING.load(Ordering::SeqCst) {
        tell!("interrupted; what is done stays done: call `treering run` again to go on");
    }
}

/// How often a job is tried that failed in a way that may pass.
const TRIES: usize = 3;

/// Flags of `treering run`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering plan jobs/ learn model/ graph.treering --classes-per-task 2\n  treering run jobs/\n  \
    treering run jobs/ --jobs 4 --memory 16GB\n\n\
    Call it again after an interruption: what is done is not done again. Every job has a process of its own; as many run at once as cores and memory \
    allow. The same list runs on Ray (`python -m treering.ray`), Slurm and GNU parallel (`treering plan --help`)."
)]
pub(crate) struct Run {
    /// The list, or its folder, as `treering plan` made it.
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// Jobs at once [default: every core, or --threads]. Each gets its share of the threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub(crate) fn run(args: &Run, global: &Global, output: &Output) -> Result<(), Failure> {
    let list = List::read(&args.list)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = global.threads.map_or(cores, usize::from);
    let jobs = args.jobs.map_or(threads, usize::from);
    let listener = listener(global.quiet);
    let runner = Runner {
        list: &list,
        jobs,
        threads: (threads / jobs).max(1),
        limit: global
            .memory
            .unwrap_or_else(|| Context::with_free_memory(&Silent).limit()),
        listener: &*listener,
        quiet: global.quiet,
    };
    let started = Instant::now();
    RUNNING.store(!global.quiet, Ordering::SeqCst);
    let (done, before) = runner.levels()?;
    RUNNING.store(false, Ordering::SeqCst);
    let took = duration(started.elapsed().as_secs_f64());
    let mut text = match (done, before) {
        (0, before) => format!("nothing to do: all {before} jobs were done before\n"),
        (done, 0) => format!("{done} jobs done in {took}\n"),
        (done, before) => format!("{done} jobs done in {took}, {before} were done before\n"),
    };
    let verb = if done == 0 { "there is" } else { "wrote" };
    for output in results(&list) {
        text.push_str(&format!("{verb} {}\n", output.display()));
    }
    output.print(&text)
}

/// The outputs that no job needs.
fn results(list: &List) -> Vec<PathBuf> {
    let needed: Vec<&String> = list.jobs().iter().flat_map(Job::needs).collect();
    let last = list.levels().pop().unwrap_or_default();
    let last = last.into_iter().filter(|job| !needed.contains(&&job.id));
    let outputs: Vec<PathBuf> = last.map(|job| list.path(&job.output)).collect();
    // Many of them are not results but pieces.
    if outputs.len() > 3 {
        Vec::new()
    } else {
        outputs
    }
}

struct Runner<'a> {
    list: &'a List,
    jobs: usize,
    threads: usize,
    limit: u64,
    listener: &'a dyn Progress,
    quiet: bool,
}

/// A job that failed, why, and whether that may pass.
type Lost<'a> = (&'a str, String, bool);

/// What the workers share.
#[derive(Default)]
struct Shared<'a> {
    waiting: VecDeque<&'a Job>,
    running: usize,
    taken: u64,
    failed: Vec<Lost<'a>>,
}

impl<'a> Runner<'a> {
    /// Runs all levels; how many jobs were done now and before.
    fn levels(&self) -> Result<(usize, usize), Failure> {
        let mut open: Vec<Vec<&Job>> = Vec::new();
        let mut before = 0;
        for job in self.list.jobs() {
            self.list.check_place(job)?;
        }
        for level in self.list.levels() {
            let mut missing = Vec::new();
            for job in level {
                match self.list.state(job)? {
                    State::Done(_) => before += 1,
                    State::Open => missing.push(job),
                    State::Damaged(why) => {
                        if !self.quiet {
                            tell!("note: the output of {}: {why}; it is made again", job.id);
                        }
                        missing.push(job);
                    }
                }
            }
            open.push(missing);
        }
        let all: u64 = open.iter().flatten().map(|job| weight(job)).sum();
        let count: usize = open.iter().map(Vec::len).sum();
        self.listener.begin(&format!("running {count} jobs"), all);
        for (number, mut level) in open.into_iter().enumerate() {
            level.sort_by(|a, b| b.cost.cpu_seconds.total_cmp(&a.cost.cpu_seconds));
            let failed = self.level(level);
            if !failed.is_empty() {
                self.listener.end();
                return Err(self.told(number, &failed));
            }
        }
        self.listener.end();
        Ok((count, before))
    }

    fn told(&self, level: usize, failed: &[Lost<'_>]) -> Failure {
        const MOST: usize = 10;
        let jobs = if failed.len() == 1 { "job" } else { "jobs" };
        let mut text = format!("{} {jobs} of level {level} failed", failed.len());
        for (id, why, _) in failed.iter().take(MOST) {
            text.push_str(&format!("\n  {id}: {why}"));
        }
        if failed.len() > MOST {
            text.push_str(&format!("\n  and {} more", failed.len() - MOST));
        }
        text.push_str("\nwhat is done stays done: mend the cause and call `treering run` again");
        match failed.iter().any(|(_, _, passing)| *passing) {
            true => Failure::system(text),
            false => Failure::input(text),
        }
    }

    /// Runs the jobs of a level; those that failed, and why.
    fn level(&self, jobs: Vec<&'a Job>) -> Vec<Lost<'a>> {
        let workers = self.jobs.min(jobs.len());
        let shared = Mutex::new(Shared {
            waiting: jobs.into(),
            ..Shared::default()
        });
        let freed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| self.work(&shared, &freed));
            }
        });
        let shared = shared.into_inner();
        shared.unwrap_or_else(PoisonError::into_inner).failed
    }

    fn work(&self, shared: &Mutex<Shared<'a>>, freed: &Condvar) {
        while let Some(job) = self.next(shared, freed) {
            let failed = self.tries(job).err();
            let mut state = locked(shared);
            state.running -= 1;
            state.taken -= job.memory;
            state
                .failed
                .extend(failed.map(|(why, passing)| (&job.id[..], why, passing)));
            drop(state);
            freed.notify_all();
            self.listener.advance(weight(job));
        }
    }

    /// The next job, once it fits: one that is too large for the limit is tried alone.
    fn next(&self, shared: &Mutex<Shared<'a>>, freed: &Condvar) -> Option<&'a Job> {
        let mut state = locked(shared);
        loop {
            let room = self.limit.saturating_sub(state.taken);
            let fits = |job: &&&Job| job.memory <= room;
            let place = match state.running {
                0 => (!state.waiting.is_empty()).then_some(0),
                _ => state.waiting.iter().position(|job| fits(&job)),
            };
            if state.waiting.is_empty() {
                return None;
            }
            if let Some(job) = place.and_then(|place| state.waiting.remove(place)) {
                if state.running == 0 && job.memory > self.limit && !self.quiet {
                    tell!(
                        "note: job {} may take {}, more than there is; it runs alone",
                        job.id,
                        human_bytes(job.memory)
                    );
                }
                state.running += 1;
                state.taken += job.memory;
                return Some(job);
            }
            state = freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tries(&self, job: &Job) -> Result<(), (String, bool)> {
        let mut last = self.one(job);
        for _ in 1..TRIES {
            match last {
                Err((_, true)) => last = self.one(job),
                _ => break,
            }
        }
        last
    }

    /// Has a job run by a process of its own; why it failed, and whether that may pass.
    fn one(&self, job: &Job) -> Result<(), (String, bool)> {
        let again = AGAIN.get().map_or(&[][..], |again| again);
        let Some((program, first)) = again.split_first() else {
            return Err(("the program does not know where it is".to_owned(), false));
        };
        let mut command = Command::new(program);
        command
            .args(first)
            .args(["--quiet", "--threads", &self.threads.to_string(), "exec"])
            .arg(self.list.file())
            .args(["--job", &job.id, "--end-with-input"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let system = |error: std::io::Error| (error.to_string(), true);
        let mut child = command.spawn().map_err(system)?;
        // Open until the child has ended: that is how it knows that we are there.
        let input = child.stdin.take();
        let mut errors = String::new();
        if let Some(mut told) = child.stderr.take() {
            let _ = told.read_to_string(&mut errors);
        }
        let status = child.wait().map_err(system)?;
        drop(input);
        match status.success() {
            true => Ok(()),
            false => Err((
                crate::bench::end_of(status, &errors),
                status.code() != Some(2),
            )),
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a job counts in progress.
fn weight(job: &Job) -> u64 {
    1 + (job.cost.cpu_seconds * 1000.0) as u64
}
