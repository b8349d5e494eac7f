//! How far a bench is, on standard error: one line that moves on a terminal, a line a run elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use treering_eval::Asked;
use treering_eval::runs::{Record, RunSpec};

/// Counts runs.
pub(super) struct Meter {
    show: Show,
    total: usize,
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
    best: Option<(f64, String)>,
}

impl Meter {
    pub(super) fn new(total: usize, quiet: bool) -> Self {
        let show = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Show::Nothing,
            (false, false) => Show::Lines,
            (false, true) => {
                let bar = ProgressBar::new(total as u64);
                let template = "{pos}/{len} runs {bar:24} {eta} left{msg}";
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
            state: Mutex::default(),
        }
    }

    /// A run that was there already.
    pub(super) fn found(&self, record: &Record) {
        self.count(record);
        if let Show::Bar(bar) = &self.show {
            // Nothing was spent on it, so it says nothing about the time left.
            bar.reset_eta();
        }
    }

    /// A run that was computed now.
    pub(super) fn finished(&self, record: &Record) {
        let done = self.count(record);
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

    fn count(&self, record: &Record) -> usize {
        let Ok(mut state) = self.state.lock() else {
            return 0;
        };
        state.done += 1;
        // What a grid finds on validation nodes is no result.
        let aa = record.aa().filter(|_| record.spec.asked == Asked::Test);
        if let Some(aa) = aa
            && state.best.as_ref().is_none_or(|(best, _)| aa > *best)
        {
            state.best = Some((aa, record.spec.learner.clone()));
        }
        if let Show::Bar(bar) = &self.show {
            if let Some((aa, learner)) = &state.best {
                bar.set_message(format!("  best AA {aa:.1} ({learner})"));
            }
            bar.set_position(state.done as u64);
        }
        state.done
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
