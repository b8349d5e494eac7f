//! A model in memory: a learner, and what is remembered about its tasks. Folders are the crates' own; nothing is written in another way here.

use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use treering_data::{check_mapped, nearest, shortened};
use treering_graph::Graph;
use treering_learn::saved::{self, Keep, Parameters};
use treering_learn::{LearnError, Shown, TrainingTask};
use treering_store::{Change, Fault, Model, NewModel, NewRing, RingEntry, Writer, check_name};

use crate::failure::{Failure, Outcome};
use crate::work::Listener;

/// Stands for the folder in messages about a model that is in none.
const HERE: &str = "the model";

/// What is remembered about a task.
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) classes: Vec<String>,
    pub(crate) facts: Value,
}

/// A model.
pub(crate) struct State {
    pub(crate) learner: Box<dyn Keep>,
    pub(crate) tasks: Vec<Task>,
    /// The number that the next ring gets; the task's draws are seeded by it, as on the command line.
    next: u32,
    facts: Value,
    width: usize,
}

impl State {
    /// A model that has learned nothing.
    pub(crate) fn new(parameters: Parameters) -> Outcome<Self> {
        Ok(State {
            learner: parameters.build()?,
            tasks: Vec::new(),
            next: 1,
            facts: json!({}),
            width: 0,
        })
    }

    /// The model in a folder.
    pub(crate) fn load(folder: &Path) -> Outcome<Self> {
        let model = Model::open(folder)?;
        let manifest = model.manifest();
        let task = |ring: &RingEntry| Task {
            name: ring.name.clone(),
            classes: ring.classes.clone(),
            facts: ring.facts.clone(),
        };
        Ok(State {
            learner: saved::load(&model)?,
            tasks: manifest.rings.iter().map(task).collect(),
            next: manifest.next_ring,
            facts: manifest.facts.clone(),
            width: manifest.feature_width,
        })
    }

    /// Every class, in the order in which they were learned.
    pub(crate) fn classes(&self) -> Vec<String> {
        let classes = self.tasks.iter().flat_map(|task| &task.classes);
        classes.cloned().collect()
    }

    /// What a task is called where nobody says.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Refuses a task that does not fit, before any work.
    fn check(&self, name: &str, task: &TrainingTask) -> Outcome<()> {
        check_name("ring", name).map_err(|fault| fault.at(HERE))?;
        for class in task.classes() {
            check_name("class", class).map_err(|fault| fault.at(HERE))?;
        }
        for known in &self.tasks {
            if known.name == name {
                let name = name.to_owned();
                return Err(Fault::DuplicateName { name }.at(HERE).into());
            }
            let shared = |class: &&String| known.classes.contains(*class);
            if let Some(class) = task.classes().iter().find(shared) {
                return Err(Failure::value(format!(
                    "class `{}` is in the task `{}` already. Forget that task first, or name the classes that are new with classes=[...]",
                    shortened(class),
                    shortened(&known.name)
                )));
            }
        }
        let (found, expected) = (task.graph().features().columns(), self.width);
        match (self.tasks.is_empty(), found == expected) {
            (true, _) if found == 0 => Err(LearnError::NoFeatures.into()),
            (false, false) => Err(LearnError::Width { found, expected }.into()),
            _ => Ok(()),
        }
    }

    /// Learns a task. Where it does not come to its end, the model is as it was.
    pub(crate) fn learn(&mut self, graph: Graph, name: String, progress: &Listener) -> Outcome<()> {
        // As the command line does: validation nodes tell how sure an answer is, never what it is.
        let shown = match self.learner.calibrates() {
            true => Shown::TrainAndValidation,
            false => Shown::Train,
        };
        let task = TrainingTask::new(graph, u64::from(self.next), shown)?;
        self.check(&name, &task)?;
        let attempt = std::panic::AssertUnwindSafe(|| {
            self.learner.learn(std::slice::from_ref(&task), progress)
        });
        let done = std::panic::catch_unwind(attempt);
        let intact = check_mapped();
        if matches!(done, Ok(Ok(()))) && intact.is_ok() && !progress.is_abandoned() {
            self.remember(name, &task);
            return Ok(());
        }
        self.restore()?;
        intact?;
        match done {
            Ok(done) => Ok(done?),
            Err(reason) => std::panic::resume_unwind(reason),
        }
    }

    fn remember(&mut self, name: String, task: &TrainingTask) {
        let begins = self.tasks.is_empty() && self.next == 1;
        if begins {
            let head = saved::head(&*self.learner, task, &name);
            (self.facts, self.width) = (head.facts, head.feature_width);
        }
        self.tasks.push(Task {
            facts: saved::facts(&self.learner.parameters(), task, begins),
            classes: task.classes().to_vec(),
            name,
        });
        self.next += 1;
    }

    /// Back to the tasks that are remembered.
    fn restore(&mut self) -> Outcome<()> {
        if self.tasks.is_empty() {
            self.learner = self.learner.parameters().build()?;
        } else if self.learner.rings() != self.tasks.len() {
            self.learner = self.with(self.learner.parameters(), |_| true)?;
        }
        Ok(())
    }

    /// The same learner with another way of finding tasks, or with fewer of the tasks that are remembered.
    fn with(
        &self,
        parameters: Parameters,
        wanted: impl Fn(&Task) -> bool,
    ) -> Outcome<Box<dyn Keep>> {
        let tasks = self.tasks.iter().enumerate();
        let places: Vec<usize> = tasks
            .filter(|(_, task)| wanted(task))
            .map(|(at, _)| at)
            .collect();
        Ok(self.learner.with(parameters, &places)?)
    }

    /// Takes other parameters.
    pub(crate) fn change(&mut self, parameters: Parameters) -> Outcome<()> {
        if self.tasks.is_empty() {
            *self = State::new(parameters)?;
            return Ok(());
        }
        let mut there = self.learner.parameters();
        if let (Parameters::Treering(there), Parameters::Treering(asked)) =
            (&mut there, &parameters)
        {
            there.router = asked.router;
        }
        if there != parameters {
            return Err(Failure::model(
                "parameters stay as they were when a model began, but for the router of treering. Make a new model",
            ));
        }
        if parameters != self.learner.parameters() {
            self.learner = self.with(parameters, |_| true)?;
        }
        Ok(())
    }

    /// Takes a task out.
    pub(crate) fn forget(&mut self, task: &str) -> Outcome<()> {
        let names = || self.tasks.iter().map(|task| &task.name[..]);
        if !names().any(|name| name == task) {
            if self.tasks.is_empty() {
                return Err(LearnError::Nothing.into());
            }
            let mut near = nearest(task, names());
            if near.is_empty() {
                near = names().map(str::to_owned).collect();
            }
            return Err(Failure::model(format!(
                "there is no task `{}`; there are {}",
                shortened(task),
                near.join(", ")
            )));
        }
        if self.tasks.len() == 1 {
            return Err(Failure::model(format!(
                "`{}` is the only task of this model, and a model without tasks answers nothing. Make a new model instead",
                shortened(task)
            )));
        }
        self.learner = self.with(self.learner.parameters(), |known| known.name != task)?;
        self.tasks.retain(|known| known.name != task);
        Ok(())
    }

    /// Writes the model into a new folder.
    pub(crate) fn save(&self, folder: &Path) -> Outcome<()> {
        if self.tasks.is_empty() {
            return Err(LearnError::Nothing.into());
        }
        let parameters = self.learner.parameters();
        let head = NewModel {
            learner: parameters.learner().into(),
            parameters: parameters.to_json(),
            feature_width: self.width,
            facts: self.facts.clone(),
            backbone: self.learner.backbone(),
        };
        let add = |(at, task): (usize, &Task)| {
            Change::Add(NewRing {
                name: task.name.clone(),
                classes: task.classes.clone(),
                facts: task.facts.clone(),
                bytes: self.learner.ring(at),
            })
        };
        let changes = self.tasks.iter().enumerate().map(add).collect();
        Writer::create(folder, head)?.commit(changes)?;
        Ok(())
    }

    /// Writes the model in the place of another one.
    pub(crate) fn replace(&self, folder: &Path) -> Outcome<()> {
        if Model::open(folder).is_err() {
            return self.save(folder);
        }
        // Nobody else changes it meanwhile.
        let _writer = Writer::open(folder)?;
        let parent = folder
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let prefix = replacing(folder);
        // Whoever was killed while saving left one behind; nobody else is at it, since the lock is ours.
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let place = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent);
        let place = place.map_err(Failure::system)?;
        let new = place.path().join("new");
        self.save(&new)?;
        // In one step, so that there is a whole model at every moment; what was there is removed with the temporary folder.
        renameat_with(CWD, &new, CWD, folder, RenameFlags::EXCHANGE).map_err(|error| {
            Failure::system(format!(
                "{}: a model cannot be replaced in one step here ({error}), and is as it was. Save into a new folder",
                folder.display()
            ))
        })
    }
}

/// What the temporary folders of models that are being saved over are called.
fn replacing(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.replacing-")
}
