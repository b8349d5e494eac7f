//! The paper's tables and figures by name: which learners, parameters, protocols and orders each compares.

use serde_json::Value;
use treering_data::ClassOrder;
use treering_eval::Protocol;
use treering_eval::studies::Kind;
use treering_learn::plus_tp::SUFFIX;
use treering_learn::registry::{self, LEARNERS};
use treering_learn::treering;

use super::contenders::Changes;
use super::tables::Metric;

/// One table of the paper.
pub(super) struct Preset {
    pub(super) name: &'static str,
    /// What it shows, for lists and captions.
    pub(super) about: &'static str,
    pub(super) metrics: &'static [Metric],
    pub(super) place: Place,
    /// Parameters are chosen on validation nodes first.
    pub(super) grid: bool,
    /// What it finds out about tasks beside its runs.
    pub(super) studies: &'static [Kind],
    parts: fn() -> Vec<Part>,
}

/// Where the runs of a preset stand. Runs whose figures mean something else than those of others get a folder of their own, with a page of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Place {
    /// With all others.
    #[default]
    Among,
    /// Nothing is trained, so accuracy and cost say nothing.
    Untrained,
    /// One at a time, with all threads, because they are about time.
    Alone,
}

impl Place {
    pub(super) const ALL: [Place; 3] = [Place::Among, Place::Untrained, Place::Alone];

    /// The folder in the bench's.
    pub(super) fn folder(self) -> Option<&'static str> {
        match self {
            Place::Among => None,
            Place::Untrained => Some("task-id"),
            Place::Alone => Some("time"),
        }
    }
}

/// One row of a preset's table.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) label: String,
    pub(super) learner: String,
    /// Parameters that the user may set to something else.
    pub(super) defaults: Changes,
    /// Parameters that make the row what it is.
    pub(super) changed: Changes,
    pub(super) protocol: Protocol,
    pub(super) order: ClassOrder,
}

/// The preset that stands for those of the paper.
pub(super) const PAPER: &str = "paper";

const NOTHING: Preset = Preset {
    name: "",
    about: "",
    metrics: &[],
    place: Place::Among,
    grid: false,
    studies: &[],
    parts: Vec::new,
};

/// Those of the paper in its order, then ours.
pub(super) static PRESETS: &[Preset] = &[
    Preset {
        name: "main",
        about: "All methods. Joint learns all tasks together, and Oracle is Joint told the task of every test node",
        metrics: &[Metric::Aa, Metric::Af],
        parts: main,
        ..NOTHING
    },
    Preset {
        name: "plus-tp",
        about: "Methods with and without task-ID prediction (TP)",
        metrics: &[Metric::Aa, Metric::Af],
        parts: plus_tp,
        ..NOTHING
    },
    Preset {
        name: "ablation",
        about: "TPP without task-ID prediction, prompts or heads of its tasks",
        metrics: &[Metric::Aa, Metric::Af],
        parts: ablation,
        ..NOTHING
    },
    Preset {
        name: "prompt-size",
        about: "TPP by the number of tokens in a prompt",
        metrics: &[Metric::Aa],
        parts: prompt_size,
        ..NOTHING
    },
    Preset {
        name: "task-id",
        about: "Tasks recognised by feature means and by smoothing of s steps, all test nodes of a task together and node by node. Nothing is trained here: accuracy plays no part",
        metrics: &[Metric::TaskId],
        place: Place::Untrained,
        studies: &[Kind::ProfileDistances],
        parts: task_id,
        ..NOTHING
    },
    Preset {
        name: "orders",
        about: "TPP and Oracle by the order in which classes arrive",
        metrics: &[Metric::Aa, Metric::TaskId],
        parts: orders,
        ..NOTHING
    },
    Preset {
        name: "parameters",
        about: "Prompts beside a network for every task; stored numbers are those of the whole model, a backbone included, by the number of tasks",
        metrics: &[Metric::Stored, Metric::Aa],
        parts: parameters,
        ..NOTHING
    },
    Preset {
        name: "time",
        about: "Seconds by the clock for all tasks, one training at a time with all threads, seed 0: learning, and answering at every stage",
        metrics: &[Metric::LearnSeconds, Metric::PredictSeconds],
        place: Place::Alone,
        parts: time,
        ..NOTHING
    },
    Preset {
        name: "pair-difference",
        about: "How two tasks differ in structure and attributes (figure), and a task's embeddings before and after its prompt",
        studies: &[Kind::PairDifference, Kind::Embeddings],
        ..NOTHING
    },
    Preset {
        name: "groups",
        about: "TPP by how many test nodes of a task come together. Not in the paper",
        metrics: &[Metric::TaskId, Metric::Aa],
        parts: groups,
        ..NOTHING
    },
    Preset {
        name: "beyond",
        about: "Treering's own learner beside TPP and Joint, from a task's test nodes together to single nodes and tasks never learned. Not in the paper",
        metrics: &[Metric::Aa, Metric::TaskId, Metric::Auroc],
        parts: beyond,
        ..NOTHING
    },
    Preset {
        name: "routers",
        about: "Treering's own learner by its router and by how many test nodes of a task come together, beside TPP. Not in the paper",
        metrics: &[Metric::TaskIdByTask, Metric::Aa],
        parts: routers,
        ..NOTHING
    },
    Preset {
        name: "leak",
        about: "What the paper's random neighbours for isolated nodes tell about a node's task: TPP asked about single nodes with them and without. Not in the paper",
        metrics: &[Metric::TaskIdByTask, Metric::Aa],
        parts: leak,
        ..NOTHING
    },
    Preset {
        name: "grids",
        about: "Methods with parameters that the benchmark searches, chosen on validation nodes",
        metrics: &[Metric::Aa, Metric::Af],
        grid: true,
        parts: grids,
        ..NOTHING
    },
];

/// Presets that are not the paper's.
const OURS: [&str; 5] = ["groups", "beyond", "routers", "leak", "grids"];

impl Preset {
    pub(super) fn parts(&self) -> Vec<Part> {
        (self.parts)()
    }
}

/// Every name that can be asked for.
pub(super) fn names() -> Vec<&'static str> {
    let each = PRESETS.iter().map(|preset| preset.name);
    each.chain([PAPER]).collect()
}

/// The presets of these names, without repeats, in the order of the list.
pub(super) fn chosen(wanted: &[String]) -> Vec<&'static Preset> {
    let paper = wanted.iter().any(|name| name == PAPER);
    let is_wanted = |preset: &&Preset| {
        wanted.iter().any(|name| name == preset.name) || paper && !OURS.contains(&preset.name)
    };
    PRESETS.iter().filter(is_wanted).collect()
}

impl Part {
    fn new(label: &str, learner: &str) -> Self {
        let condensed = |(key, value): &(&str, u64)| ((*key).to_owned(), Value::from(*value));
        let host = learner.strip_suffix(SUFFIX).unwrap_or(learner);
        let reduced = REDUCED.iter().filter(|(name, _)| *name == host);
        Part {
            label: label.to_owned(),
            learner: learner.to_owned(),
            defaults: reduced.map(|(_, set)| condensed(set)).collect(),
            changed: Changes::new(),
            protocol: Protocol::Paper,
            order: ClassOrder::Ascending,
        }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.changed.push((key.to_owned(), value.into()));
        self
    }

    fn under(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    fn arriving(mut self, order: ClassOrder) -> Self {
        self.order = order;
        self
    }
}

/// Condensation with its published number of random networks takes longer than all other methods together; docs/REPRODUCIBILITY.md shows what fewer change.
const REDUCED: [(&str, (&str, u64)); 2] =
    [("cat", ("encoders", 500)), ("delome", ("networks", 300))];

fn oracle() -> Part {
    Part::new("Oracle", "joint").under(Protocol::Oracle)
}

fn main() -> Vec<Part> {
    // Ours came after the paper; the preset `beyond` has it.
    let of_paper = LEARNERS
        .iter()
        .filter(|entry| entry.name != treering::LEARNER);
    let each = of_paper.map(|entry| Part::new(entry.name, entry.name));
    each.chain([oracle()]).collect()
}

fn plus_tp() -> Vec<Part> {
    // Joint with task prediction is no method, and the others that recognise tasks by themselves have it already.
    let hosts = LEARNERS.iter().map(|entry| entry.name.to_owned());
    let hosts = hosts.filter(|name| {
        let plugged = format!("{name}{SUFFIX}");
        let built = registry::defaults(&plugged).and_then(|all| registry::build(&plugged, all));
        name != "joint" && built.is_ok()
    });
    let both = |name: String| {
        let plugged = format!("{name}{SUFFIX}");
        [Part::new(&name, &name), Part::new(&plugged, &plugged)]
    };
    hosts.flat_map(both).collect()
}

fn tpp(label: &str) -> Part {
    Part::new(label, "tpp")
}

fn ablation() -> Vec<Part> {
    vec![
        tpp("no task ID, prompt, head").with("routing", "most-confident"),
        tpp("task ID, no prompt, no head")
            .with("tokens", 0)
            .with("shared-head", true),
        tpp("task ID, no prompt, head").with("tokens", 0),
        tpp("task ID, prompt, no head").with("shared-head", true),
        tpp("task ID, prompt, head (TPP)"),
    ]
}

fn prompt_size() -> Vec<Part> {
    let size = |tokens: u64| tpp(&format!("k = {tokens}")).with("tokens", tokens);
    (1..=6).map(size).collect()
}

fn task_id() -> Vec<Part> {
    let untrained = |label: String| tpp(&label).with("epochs", 0).with("contrastive.epochs", 0);
    let kinds = |more: &str, protocol: Protocol| {
        let means = untrained(format!("feature means{more}")).with("profile", "feature-mean");
        let steps = |steps: u64| {
            untrained(format!("smoothing, s = {steps}{more}")).with("smoothing", steps)
        };
        let all = [means].into_iter().chain((0..=10).map(steps));
        all.map(|part| part.under(protocol)).collect::<Vec<_>>()
    };
    let together = kinds("", Protocol::Paper);
    [together, kinds(", node by node", Protocol::Single)].concat()
}

fn orders() -> Vec<Part> {
    let three = [
        (ClassOrder::Ascending, "ascending"),
        (ClassOrder::Descending, "descending"),
        (ClassOrder::Random, "random"),
    ];
    let both = |(order, name): (ClassOrder, &str)| {
        let mut oracle = oracle().arriving(order);
        oracle.label = format!("Oracle, {name}");
        [tpp(&format!("TPP, {name}")).arriving(order), oracle]
    };
    three.into_iter().flat_map(both).collect()
}

fn parameters() -> Vec<Part> {
    vec![
        Part::new("a network for every task", "task-specific"),
        tpp("prompts (TPP)"),
    ]
}

fn time() -> Vec<Part> {
    let names = ["twp", "ssm-uniform", "ssm-degree", "delome", "tpp"];
    names.map(|name| Part::new(name, name)).to_vec()
}

fn groups() -> Vec<Part> {
    let of = |size: u32| Some(tpp(&format!("groups of {size}")).under(Protocol::groups(size)?));
    let mut all = vec![tpp("single nodes").under(Protocol::Single)];
    all.extend([2, 5, 10, 20].into_iter().filter_map(of));
    all.push(tpp("all test nodes of a task"));
    all
}

fn beyond() -> Vec<Part> {
    let sizes = [2, 5, 10, 20, 50].into_iter().filter_map(Protocol::groups);
    let open = Protocol::open_groups(5);
    let fixed = [
        Protocol::Paper,
        Protocol::Oracle,
        Protocol::Mixed,
        Protocol::Connected,
        Protocol::Inductive,
        Protocol::Single,
    ];
    let under = |protocol: Protocol| {
        [treering::LEARNER, "tpp", "joint"]
            .map(|name| Part::new(&format!("{name}, {protocol}"), name).under(protocol))
    };
    let all = fixed.into_iter().chain(open).chain(sizes).flat_map(under);
    // Joint knows no groups: its answers for them are those for single nodes.
    all.filter(|part| part.learner != "joint" || !matches!(part.protocol, Protocol::Groups(_)))
        .collect()
}

fn routers() -> Vec<Part> {
    let mut sizes = vec![("single nodes".to_owned(), Protocol::Single)];
    let groups = [2, 5, 10, 20, 50].into_iter();
    sizes.extend(groups.filter_map(|size| {
        let protocol = Protocol::groups(size)?;
        Some((format!("groups of {size}"), protocol))
    }));
    sizes.push(("all test nodes of a task".to_owned(), Protocol::Paper));
    let kinds = |(size, protocol): (String, Protocol)| {
        let ours = ["ridge", "evidence", "prototype"].map(|router| {
            let part = Part::new(&format!("{router}, {size}"), treering::LEARNER);
            // The default is not spelled out, so that its runs are those of other presets.
            match router {
                "ridge" => part.under(protocol),
                other => part.with("router", other).under(protocol),
            }
        });
        let tpp = tpp(&format!("TPP, {size}")).under(protocol);
        ours.into_iter().chain([tpp])
    };
    sizes.into_iter().flat_map(kinds).collect()
}

fn leak() -> Vec<Part> {
    vec![
        tpp("real edges alone").under(Protocol::Single),
        tpp("with random neighbours").under(Protocol::Patched),
    ]
}

fn grids() -> Vec<Part> {
    let searched = LEARNERS
        .iter()
        .filter(|entry| treering_eval::runs::grid::of(entry.name).is_some());
    searched
        .map(|entry| Part::new(entry.name, entry.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_a_learner_that_can_be_built() {
        for preset in PRESETS {
            for part in preset.parts() {
                let changed = [part.defaults, part.changed].concat();
                let built = registry::complete(&part.learner, &changed)
                    .and_then(|all| registry::build(&part.learner, all));
                if let Err(error) = built {
                    panic!("{} {}: {error}", preset.name, part.label);
                }
            }
            assert!(!preset.parts().is_empty() || !preset.studies.is_empty());
        }
    }

    #[test]
    fn the_paper_is_all_but_ours_and_repeats_count_once() {
        let all = chosen(&["paper".into(), "main".into()]);
        let names: Vec<&str> = all.iter().map(|preset| preset.name).collect();
        assert_eq!(
            names,
            [
                "main",
                "plus-tp",
                "ablation",
                "prompt-size",
                "task-id",
                "orders",
                "parameters",
                "time",
                "pair-difference"
            ]
        );
        assert_eq!(chosen(&["grids".into()])[0].name, "grids");
    }

    #[test]
    fn rows_of_a_table_have_different_names() {
        for preset in PRESETS {
            let mut labels: Vec<String> = preset.parts().into_iter().map(|p| p.label).collect();
            let all = labels.len();
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), all, "{}", preset.name);
        }
    }
}
