//! Progress for people: a bar on a terminal, now and then a plain line elsewhere, always on standard error.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use treering_data::{Progress, Silent};

/// Short work says nothing; a plain line comes at most this often.
const PLAIN_EVERY: Duration = Duration::from_secs(2);

/// The listener that fits where standard error goes.
pub(crate) fn listener(quiet: bool) -> Box<dyn Progress> {
    match (quiet, std::io::stderr().is_terminal()) {
        (true, _) => Box::new(Silent),
        (false, true) => Box::new(Bar(Mutex::new(None))),
        (false, false) => lines(""),
    }
}

/// A listener that says plain lines, each with a mark before it.
pub(crate) fn lines(mark: &'static str) -> Box<dyn Progress> {
    Box::new(Lines {
        mark,
        phase: Mutex::default(),
    })
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

    fn resume(&self, at: u64) {
        if let Ok(slot) = self.0.lock() {
            slot.iter().for_each(|bar| {
                bar.set_position(at);
                // What was done before took its time elsewhere.
                bar.reset_eta();
            });
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
    /// What was done before the clock of this phase began.
    before: u64,
    begun: Option<Instant>,
    told: Option<Instant>,
}

impl Phase {
    /// How far it is, and how long the rest will take if it goes on as so far.
    fn words(&self) -> String {
        if self.total == 0 {
            return format!("{} ...", self.what);
        }
        let percent = self.done.min(self.total) * 100 / self.total;
        let spent = self
            .begun
            .map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let here = self.done.saturating_sub(self.before);
        let left = match here {
            0 => String::new(),
            here => {
                let rest = self.total.saturating_sub(self.done) as f64;
                format!(", about {} left", duration(spent * rest / here as f64))
            }
        };
        format!("{}: {percent} %{left}", self.what)
    }
}

/// A time in its two largest units.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

struct Lines {
    mark: &'static str,
    phase: Mutex<Phase>,
}

impl Progress for Lines {
    fn begin(&self, what: &str, total: u64) {
        if let Ok(mut phase) = self.phase.lock() {
            // The clock runs on across phases, so that many short ones do not make many lines.
            let told = phase.told.or(Some(Instant::now()));
            *phase = Phase {
                what: what.to_owned(),
                total,
                done: 0,
                before: 0,
                begun: Some(Instant::now()),
                told,
            };
        }
    }

    fn advance(&self, by: u64) {
        let Ok(mut phase) = self.phase.lock() else {
            return;
        };
        phase.done += by;
        if phase.told.is_some_and(|told| told.elapsed() < PLAIN_EVERY) {
            return;
        }
        phase.told = Some(Instant::now());
        tell!("{}{}", self.mark, phase.words());
    }

    fn resume(&self, at: u64) {
        if let Ok(mut phase) = self.phase.lock() {
            phase.done = at;
            phase.before = at;
        }
    }

    fn end(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_from_what_this_phase_did_itself() {
        let begun = Instant::now().checked_sub(Duration::from_secs(30));
        let phase = |done, before| Phase {
            what: "smoothing".into(),
            total: 400,
            done,
            before,
            begun,
            told: None,
        };
        assert_eq!(
            phase(100, 0).words(),
            "smoothing: 25 %, about 1 min 31 s left"
        );
        assert_eq!(phase(300, 200).words(), "smoothing: 75 %, about 31 s left");
        assert_eq!(phase(200, 200).words(), "smoothing: 50 %");
    }

    #[test]
    fn times_have_two_units() {
        let told = [0.2, 61.0, 3599.5, 7265.0].map(duration);
        assert_eq!(told, ["1 s", "1 min 1 s", "1 h 0 min", "2 h 1 min"]);
    }
}
