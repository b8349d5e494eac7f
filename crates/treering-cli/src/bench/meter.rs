//! How far a bench is, on standard error: one line that moves on a terminal, a line a run elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use treering_data::ClassOrder;
use treering_eval::Asked;
use treering_eval::runs::{DataId, Record, RunSpec};

use crate::progress::duration;

/// How often a line tells of a run that is under way.
const HEARD_EVERY: Duration = Duration::from_secs(10);

/// Counts runs.
pub(super) struct Meter {
    show: Show,
    total: usize,
    labels: Vec<(DataId, String)>,
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
    /// When a run that is under way was last told about.
    heard: Option<Instant>,
    /// More words about runs, by their hashes.
    about: HashMap<String, String>,
}

impl Meter {
    pub(super) fn new(total: usize, labels: Vec<(DataId, String)>, quiet: bool) -> Self {
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
            labels,
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
            let name = self.name(&record.spec);
            tell!("[{done}/{}] {name}: {told}", self.total);
        }
    }

    /// How far a run is that takes long.
    pub(super) fn hear(&self, spec: &RunSpec, words: &str) {
        let name = self.name(spec);
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.set_message(format!("{} {name}: {words}", self.message(&state))),
            Show::Lines => {
                let due = |heard: Instant| heard.elapsed() >= HEARD_EVERY;
                if due(*state.heard.get_or_insert(self.started)) {
                    state.heard = Some(Instant::now());
                    tell!("{name}: {words}");
                }
            }
        }
    }

    /// Has runs called by these words too.
    pub(super) fn explain(&self, specs: &[RunSpec], words: &str) {
        if let Ok(mut state) = self.state.lock() {
            let each = specs.iter().map(|spec| (spec.hash(), words.to_owned()));
            state.about.extend(each);
        }
    }

    fn name(&self, spec: &RunSpec) -> String {
        let label = self.labels.iter().find(|(id, _)| *id == spec.data);
        let label = label.map_or(spec.data.name.as_str(), |(_, label)| label);
        let state = self.state.lock();
        let about = state
            .ok()
            .and_then(|state| state.about.get(&spec.hash()).cloned());
        match about {
            Some(about) => format!("{} {about}", name(label, spec)),
            None => name(label, spec),
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
            Show::Lines => tell!("note: {text}"),
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
pub(super) fn name(label: &str, spec: &RunSpec) -> String {
    let word = |value: serde_json::Result<serde_json::Value>| match value {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    };
    let asked = match spec.asked {
        Asked::Test => "",
        Asked::Validation => " validation",
    };
    let order = match spec.stream.order {
        ClassOrder::Ascending => String::new(),
        other => format!(" {}", word(serde_json::to_value(other))),
    };
    format!(
        "{label}{order} {} {}{asked} seed {}",
        spec.learner, spec.protocol, spec.seed
    )
}
