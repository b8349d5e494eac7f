//! What a person wants to know about a graph before using it.

use serde::Serialize;
use treering_graph::{Features, Graph, NodeId, Role};

/// The figures of `treering data stats`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// What the graph is called.
    pub name: String,
    /// The recipe, when it is synthetic.
    pub synthetic: Option<String>,
    /// Nodes.
    pub nodes: usize,
    /// Arcs as stored, loops counted.
    pub arcs: usize,
    /// Pairs of different nodes that an arc joins in at least one direction, where the graph is undirected.
    pub undirected_edges: Option<usize>,
    /// Whether some arc has no mirror image.
    pub directed: bool,
    /// Whether arcs have weights.
    pub weighted: bool,
    /// Arcs from a node to itself. Propagation ignores them and adds exactly one per node.
    pub self_loops: usize,
    /// Arcs between different nodes, by the number that there could be.
    pub density: f64,
    /// Feature columns.
    pub features: usize,
    /// Whether only non-zero features are stored.
    pub features_sparse: bool,
    /// Feature entries that are not 0.
    pub features_non_zero: usize,
    /// Their share.
    pub features_non_zero_share: f64,
    /// Nodes with no arc to or from another node.
    pub isolated: usize,
    /// Nodes that no other node sends an arc to.
    pub without_in_arcs: usize,
    /// Connected components, arcs taken as undirected.
    pub components: usize,
    /// Nodes in the largest component.
    pub largest_component: usize,
    /// Share of arcs that join two nodes of the same class, among arcs between different nodes that both have one.
    pub homophily: Option<f64>,
    /// Classes with their sizes, in class order.
    pub classes: Vec<ClassSize>,
    /// Nodes without a class.
    pub unlabelled: usize,
    /// Nodes per part of the data set's own split.
    pub split: Option<SplitSizes>,
}

/// A class and how many nodes it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassSize {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: usize,
}

/// Nodes per part of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SplitSizes {
    /// For training.
    pub train: usize,
    /// For validation.
    pub val: usize,
    /// For testing.
    pub test: usize,
    /// In no part.
    pub none: usize,
}

impl Stats {
    /// Counts everything.
    ///
    /// # Complexity
    /// A few passes over arcs and features.
    pub fn of(graph: &Graph) -> Stats {
        let arcs = graph.arcs();
        let nodes = graph.nodes();
        let self_loops = arcs.loops();
        let between = arcs.len() - self_loops;
        let directed = !arcs.is_symmetric();
        let (component_of, components) = arcs.components();
        let mut sizes = vec![0usize; components];
        component_of
            .iter()
            .for_each(|&component| sizes[component as usize] += 1);
        let entries = nodes as f64 * graph.features().columns() as f64;
        let non_zero = graph.features().non_zeros();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Stats {
            name: graph.origin().name.clone(),
            synthetic: graph.origin().synthetic.clone(),
            nodes,
            arcs: arcs.len(),
            undirected_edges: (!directed).then_some(between / 2),
            directed,
            weighted: arcs.weights().is_some(),
            self_loops,
            density: share(between as f64, nodes as f64 * (nodes as f64 - 1.0)),
            features: graph.features().columns(),
            features_sparse: matches!(graph.features(), Features::Sparse(_)),
            features_non_zero: non_zero,
            features_non_zero_share: share(non_zero as f64, entries),
            // A node without any arc is a component of its own.
            isolated: sizes.iter().filter(|&&size| size == 1).count(),
            without_in_arcs: arcs.isolated().count(),
            components,
            largest_component: sizes.into_iter().max().unwrap_or(0),
            homophily: homophily(graph),
            classes: classes(graph),
            unlabelled: graph
                .labels()
                .map_or(nodes, |labels| nodes - labels.sizes().iter().sum::<usize>()),
            split: graph.split().map(split_sizes),
        }
    }
}

fn homophily(graph: &Graph) -> Option<f64> {
    let labels = graph.labels()?;
    let (mut same, mut all) = (0u64, 0u64);
    for (target, source, _) in graph
        .arcs()
        .iter()
        .filter(|(target, source, _)| target != source)
    {
        let class = |node: usize| labels.class_of(NodeId(node as u32));
        if let (Some(a), Some(b)) = (class(target), class(source)) {
            all += 1;
            same += u64::from(a == b);
        }
    }
    (all > 0).then(|| same as f64 / all as f64)
}

fn classes(graph: &Graph) -> Vec<ClassSize> {
    let Some(labels) = graph.labels() else {
        return Vec::new();
    };
    let sizes = labels.sizes();
    let names = labels.names().iter().cloned();
    names
        .zip(sizes)
        .map(|(name, nodes)| ClassSize { name, nodes })
        .collect()
}

fn split_sizes(split: &[Role]) -> SplitSizes {
    let count = |role| split.iter().filter(|&&r| r == role).count();
    SplitSizes {
        train: count(Role::Train),
        val: count(Role::Validation),
        test: count(Role::Test),
        none: count(Role::None),
    }
}
