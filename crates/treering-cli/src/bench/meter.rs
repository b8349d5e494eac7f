//! How far a bench is, on standard error: one line that moves on a terminal, a line a run elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use treering_eval::Asked;
use treering_eval::runs::{Record, RunSpec};

/// Counts runs.
pub(super) struct Meter {
    show: Show,
    total: usize,
    started: Instant,
    state: Mutex<State>,
}

enum Show {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

#[derive(Default)]
struct State {
    done: usize,
    computed: usize,
    best: Option<(f64, String)>,
}

impl Meter {
    pub(super) fn new(total: usize, quiet: bool) -> Self {
        let show = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Show::Nothing,
            (false, false) => Show::Lines,
            (false, true) => {
                let bar = ProgressBar::new(total as u64);
                let template = "{pos}/{len} runs {bar:24} {msg}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.enable_steady_tick(Duration::from_millis(500));
                Show::Bar(bar)
            }
        };
        Meter {
            show,
            total,
            started: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// A run that was there already.
    pub(super) fn found(&self, record: &Record) {
        self.count(record, 0);
    }

    /// A run that was computed now.
    pub(super) fn finished(&self, record: &Record) {
        let done = self.count(record, 1);
        if let Show::Lines = self.show {
            let told = match (&record.error, record.aa()) {
                (Some(error), _) => format!("FAILED: {error}"),
                (None, Some(aa)) => format!("AA {aa:.2}"),
                (None, None) => "done".into(),
            };
            let name = name(&record.spec);
            eprintln!("[{done}/{}] {name}: {told}", self.total);
        }
    }

    fn count(&self, record: &Record, computed: usize) -> usize {
        let Ok(mut state) = self.state.lock() else {
            return 0;
        };
        state.done += 1;
        state.computed += computed;
        // What a grid finds on validation nodes is no result.
        let aa = record.aa().filter(|_| record.spec.asked == Asked::Test);
        if let Some(aa) = aa
            && state.best.as_ref().is_none_or(|(best, _)| aa > *best)
        {
            state.best = Some((aa, record.spec.learner.clone()));
        }
        if let Show::Bar(bar) = &self.show {
            bar.set_message(self.message(&state));
            bar.set_position(state.done as u64);
        }
        state.done
    }

    /// Time left, if the runs to come take as long as those computed so far; and the best so far.
    fn message(&self, state: &State) -> String {
        let each = self.started.elapsed().as_secs_f64() / state.computed as f64;
        let left = match state.computed {
            0 => String::new(),
            _ => {
                let seconds = each * self.total.saturating_sub(state.done) as f64;
                format!("{} left", duration(seconds))
            }
        };
        let best = state.best.as_ref();
        let best = best.map_or(String::new(), |(aa, learner)| {
            format!("  best AA {aa:.1} ({learner})")
        });
        left + &best
    }

    /// Says something beside the count.
    pub(super) fn note(&self, text: &str) {
        match &self.show {
            Show::Nothing => {}
            Show::Lines => eprintln!("note: {text}"),
            Show::Bar(bar) => bar.println(format!("note: {text}")),
        }
    }

    pub(super) fn end(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }
}

/// A time in its two largest units.
fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A run in a few words.
pub(super) fn name(spec: &RunSpec) -> String {
    let word = |value: serde_json::Result<serde_json::Value>| match value {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    };
    let asked = match spec.asked {
        Asked::Test => "",
        Asked::Validation => " validation",
    };
    format!(
        "{} {} {}{asked} seed {}",
        spec.data.name,
        spec.learner,
        word(serde_json::to_value(spec.protocol)),
        spec.seed
    )
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_have_two_units() {
        let told = [0.2, 61.0, 3599.5, 7265.0].map(duration);
        assert_eq!(told, ["1 s", "1 min 1 s", "1 h 0 min", "2 h 1 min"]);
    }
}
