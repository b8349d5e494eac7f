//! Progress for people: a bar on a terminal, now and then a plain line elsewhere, always on standard error.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use treering_data::{Progress, Silent};

/// Short work says nothing; a plain line comes at most this often.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// The listener that fits where standard error goes.
pub(crate) fn listener(quiet: bool) -> Box<dyn Progress> {
    match (quiet, std::io::stderr().is_terminal()) {
        (true, _) => Box::new(Silent),
        (false, true) => Box::new(Bar(Mutex::new(None))),
        (false, false) => Box::new(Lines(Mutex::new(Phase::default()))),
    }
}

struct Bar(Mutex<Option<ProgressBar>>);

impl Progress for Bar {
    fn begin(&self, what: &str, total: u64) {
        let template = match total {
            0 => "{spinner} {msg} {elapsed}",
            _ => "{msg:32} {bar:32} {percent:>3} % {eta}",
        };
        let bar = match total {
            0 => ProgressBar::new_spinner(),
            total => ProgressBar::new(total),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        if let Ok(mut slot) = self.0.lock()
            && let Some(old) = slot.replace(bar)
        {
            old.finish_and_clear();
        }
    }

    fn advance(&self, by: u64) {
        if let Ok(slot) = self.0.lock() {
            slot.iter().for_each(|bar| bar.inc(by));
        }
    }

    fn end(&self) {
        if let Ok(mut slot) = self.0.lock()
            && let Some(bar) = slot.take()
        {
            bar.finish_and_clear();
        }
    }
}

#[derive(Default)]
struct Phase {
    what: String,
    total: u64,
    done: u64,
    told: Option<Instant>,
}

struct Lines(Mutex<Phase>);

impl Progress for Lines {
    fn begin(&self, what: &str, total: u64) {
        if let Ok(mut phase) = self.0.lock() {
            // The clock runs on across phases, so that many short ones do not make many lines.
            let told = phase.told.or(Some(Instant::now()));
            *phase = Phase {
                what: what.to_owned(),
                total,
                done: 0,
                told,
            };
        }
    }

    fn advance(&self, by: u64) {
        let Ok(mut phase) = self.0.lock() else { return };
        phase.done += by;
        if phase.told.is_some_and(|told| told.elapsed() < PLAIN_EVERY) {
            return;
        }
        phase.told = Some(Instant::now());
        match phase.total {
            0 => tell!("{} ...", phase.what),
            total => tell!("{}: {} %", phase.what, phase.done * 100 / total),
        }
    }

    fn end(&self) {}
}
