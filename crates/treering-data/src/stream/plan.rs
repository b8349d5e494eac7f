//! The rules by which a graph becomes a stream.

use rand::seq::SliceRandom;
use thiserror::Error;
use treering_graph::{ClassId, Graph, Labels, NodeId, Role, TaskId};

use super::{
    ClassOrder, DropReason, Dropped, Grouping, SplitSource, Stream, StreamOptions, Task,
    split_counts,
};
use crate::nearest::nearest;
use crate::{Purpose, random};

/// Why a graph does not make a stream.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StreamError {
    /// No class is known.
    #[error("the graph has no labels, so it has no classes to make tasks of. Add a label column")]
    NoLabels,
    /// The data set's own split was asked for and there is none.
    #[error("the data has no split of its own. Use a random split, or add a split column")]
    NoSplit,
    /// A task of no class.
    #[error("{0} classes per task make no task. Ask for 1 or more")]
    ClassesPerTask(usize),
    /// Not one task comes together.
    #[error(
        "{usable} of {classes} classes can be split, and a task takes {wanted}. Use fewer classes per task, or more data"
    )]
    TooFewClasses {
        /// Classes that can be split.
        usable: usize,
        /// All classes.
        classes: usize,
        /// Classes in a task.
        wanted: usize,
    },
    /// A group names a class that is not there.
    #[error("there is no class `{name}`{}", did_you_mean(near))]
    UnknownClass {
        /// The name.
        name: String,
        /// Names that are there and look like it.
        near: Vec<String>,
    },
    /// A class is in two groups.
    #[error("the class `{name}` is in two groups. Every class belongs to one task")]
    ClassTwice {
        /// The name.
        name: String,
    },
}

fn did_you_mean(near: &[String]) -> String {
    match near.is_empty() {
        true => ". `treering data stats` lists the classes".into(),
        false => format!(". Did you mean {}?", near.join(" or ")),
    }
}

/// The nodes of each class by role: train, validation, test.
type Parts = [Vec<NodeId>; 3];

impl Stream {
    /// Plans a stream over `graph`.
    ///
    /// Classes too small to split are dropped first. Then the classes left over by the grouping are dropped, from the
    /// end of the ascending order, so that every order keeps the same classes. Then classes are ordered and grouped.
    ///
    /// # Errors
    /// See [`StreamError`].
    pub fn plan(graph: &Graph, options: &StreamOptions) -> Result<Stream, StreamError> {
        let labels = graph.labels().ok_or(StreamError::NoLabels)?;
        let members = members(labels);
        let mut dropped = Vec::new();
        let mut drop_class = |class: ClassId, reason| {
            dropped.push(Dropped {
                class: labels.name(class).to_owned(),
                nodes: members[class.index()].len(),
                reason,
            });
        };
        let mut parts: Vec<Option<Parts>> = Vec::new();
        for (class, nodes) in ClassId::first(members.len()).zip(&members) {
            let split = split_class(graph, options, class, nodes)?;
            match split {
                Ok(split) => parts.push(Some(split)),
                Err(reason) => {
                    drop_class(class, reason);
                    parts.push(None);
                }
            }
        }
        let usable: Vec<ClassId> = ClassId::first(members.len())
            .filter(|class| parts[class.index()].is_some())
            .collect();
        let groups = match &options.grouping {
            Grouping::PerTask(size) => {
                let (kept, left) = pair_up(&usable, *size, members.len())?;
                left.iter()
                    .for_each(|&class| drop_class(class, DropReason::Unpaired));
                let mut order = kept.to_vec();
                arrange(&mut order, options);
                order.chunks(*size).map(<[ClassId]>::to_vec).collect()
            }
            Grouping::Groups(names) => {
                let mut groups = find_groups(labels, names)?;
                for &class in usable
                    .iter()
                    .filter(|class| !groups.iter().flatten().any(|c| c == *class))
                {
                    drop_class(class, DropReason::NotChosen);
                }
                groups
                    .iter_mut()
                    .for_each(|group| group.retain(|class| usable.contains(class)));
                groups.retain(|group| !group.is_empty());
                if groups.is_empty() {
                    return Err(too_few(usable.len(), members.len(), 1));
                }
                arrange(&mut groups, options);
                groups
            }
        };
        let tasks = (0u32..)
            .zip(groups)
            .map(|(id, classes)| task(TaskId(id), classes, &mut parts));
        Ok(Stream {
            tasks: tasks.collect(),
            unlabelled: graph.nodes() - members.iter().map(Vec::len).sum::<usize>(),
            dropped,
            options: options.clone(),
        })
    }
}

fn members(labels: &Labels) -> Vec<Vec<NodeId>> {
    let mut members = vec![Vec::new(); labels.names().len()];
    for (node, &class) in (0u32..).zip(labels.raw()) {
        if class != Labels::NONE {
            members[class as usize].push(NodeId(node));
        }
    }
    members
}

fn split_class(
    graph: &Graph,
    options: &StreamOptions,
    class: ClassId,
    nodes: &[NodeId],
) -> Result<Result<Parts, DropReason>, StreamError> {
    Ok(match options.split {
        SplitSource::Random => random_split(nodes, options.split_seed, class),
        SplitSource::Own => own_split(graph.split().ok_or(StreamError::NoSplit)?, nodes),
    })
}

fn random_split(nodes: &[NodeId], seed: u64, class: ClassId) -> Result<Parts, DropReason> {
    let (train, validation, test) = split_counts(nodes.len());
    if validation == 0 || test == 0 || train == 0 {
        return Err(DropReason::TooSmall);
    }
    let mut shuffled = nodes.to_vec();
    // One stream of numbers per class: the split of a class does not depend on the other classes.
    shuffled.shuffle(&mut random(seed, Purpose::Split, u64::from(class.0)));
    let (first, rest) = shuffled.split_at(train);
    let (second, third) = rest.split_at(validation);
    Ok([first, second, third].map(sorted))
}

fn own_split(split: &[Role], nodes: &[NodeId]) -> Result<Parts, DropReason> {
    let part = |role| {
        nodes
            .iter()
            .copied()
            .filter(|node| split[node.index()] == role)
            .collect::<Vec<_>>()
    };
    let parts = [Role::Train, Role::Validation, Role::Test].map(part);
    match parts[0].is_empty() || parts[2].is_empty() {
        true => Err(DropReason::NotInSplit),
        false => Ok(parts),
    }
}

fn sorted(nodes: &[NodeId]) -> Vec<NodeId> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

fn pair_up(
    usable: &[ClassId],
    size: usize,
    classes: usize,
) -> Result<(&[ClassId], &[ClassId]), StreamError> {
    if size == 0 {
        return Err(StreamError::ClassesPerTask(size));
    }
    if usable.len() < size {
        return Err(too_few(usable.len(), classes, size));
    }
    Ok(usable.split_at(usable.len() / size * size))
}

fn too_few(usable: usize, classes: usize, wanted: usize) -> StreamError {
    StreamError::TooFewClasses {
        usable,
        classes,
        wanted,
    }
}

fn arrange<T>(items: &mut [T], options: &StreamOptions) {
    match options.order {
        ClassOrder::Ascending => {}
        ClassOrder::Descending => items.reverse(),
        ClassOrder::Random => items.shuffle(&mut random(options.seed, Purpose::Order, 0)),
    }
}

fn find_groups(labels: &Labels, groups: &[Vec<String>]) -> Result<Vec<Vec<ClassId>>, StreamError> {
    let mut used = vec![false; labels.names().len()];
    let mut find = |name: &String| {
        let Some(class) = labels.names().iter().position(|known| known == name) else {
            let near = nearest(name, labels.names().iter().map(String::as_str));
            let name = name.clone();
            return Err(StreamError::UnknownClass { name, near });
        };
        match std::mem::replace(&mut used[class], true) {
            true => Err(StreamError::ClassTwice { name: name.clone() }),
            false => Ok(ClassId(class as u32)),
        }
    };
    groups
        .iter()
        .map(|group| group.iter().map(&mut find).collect())
        .collect()
}

fn task(id: TaskId, classes: Vec<ClassId>, parts: &mut [Option<Parts>]) -> Task {
    let mut task = Task {
        id,
        classes,
        nodes: Vec::new(),
        roles: Vec::new(),
    };
    for class in &task.classes {
        let split = parts[class.index()].take().unwrap_or_default();
        for (role, nodes) in [Role::Train, Role::Validation, Role::Test]
            .into_iter()
            .zip(split)
        {
            task.roles.extend(nodes.iter().map(|_| role));
            task.nodes.extend(nodes);
        }
    }
    task
}
