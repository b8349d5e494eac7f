//! Which nodes a query is about, and which of them belong together.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;

use treering_data::{Fault, shortened};
use treering_graph::{Graph, NodeId, NodeNames};
use treering_learn::{Answer, Groups};

use crate::failure::Failure;

/// Nodes by what they are called in the data.
struct Index(HashMap<String, NodeId>);

impl Index {
    fn new(names: &NodeNames) -> Self {
        let nodes = NodeId::first(names.len());
        Index(nodes.map(|node| (names.name(node), node)).collect())
    }

    fn find(&self, id: &str, place: &str) -> Result<NodeId, Failure> {
        self.0.get(id).copied().ok_or_else(|| {
            let id = shortened(id);
            Failure::input(format!(
                "{place}: there is no node `{id}` in the data. Write ids as the data has them"
            ))
        })
    }
}

/// The nodes of a query: all, those in a file with one id a line, or those in a list. A file goes before a list.
pub(super) fn nodes(wanted: Option<&str>, names: &NodeNames) -> Result<Vec<NodeId>, Failure> {
    let Some(wanted) = wanted else {
        return Ok(NodeId::first(names.len()).collect());
    };
    let path = Path::new(wanted);
    let (ids, place) = match path.is_file() {
        true => {
            let text = fs::read_to_string(path).map_err(|error| Fault::from_io(error).at(path))?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            (lines.map(str::to_owned).collect(), wanted)
        }
        false => {
            let ids: Vec<String> = wanted.split(',').map(|id| id.trim().to_owned()).collect();
            (ids, "--only")
        }
    };
    let index = Index::new(names);
    let mut seen = vec![false; names.len()];
    let mut nodes = Vec::with_capacity(ids.len());
    for id in ids {
        let node = index.find(&id, place)?;
        // Twice the same id asks the same question.
        if !std::mem::replace(&mut seen[node.index()], true) {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

/// The answers about the nodes that are wanted, in their order.
pub(super) fn pick(wanted: &[NodeId], asked: &[NodeId], answers: Vec<Answer>) -> Vec<Answer> {
    if wanted == asked {
        return answers;
    }
    let of_node: HashMap<NodeId, Answer> = asked.iter().copied().zip(answers).collect();
    wanted
        .iter()
        .filter_map(|node| of_node.get(node).cloned())
        .collect()
}

/// The nodes to ask about and their groups. A group is asked about as a whole, whichever of its nodes are `wanted`: its task is not to depend on what
/// is printed.
pub(super) fn groups(
    grouping: &str,
    wanted: &[NodeId],
    graph: &Graph,
) -> Result<(Vec<NodeId>, Groups), Failure> {
    let names = graph.names();
    if let Some(floor) = components_floor(grouping)? {
        return Ok(components(wanted, graph, floor));
    }
    match grouping {
        "single" => Ok((wanted.to_vec(), Groups::Single)),
        "all" => Ok((NodeId::first(names.len()).collect(), Groups::All)),
        file => {
            let path = Path::new(file);
            if !path.is_file() {
                return Err(Failure::input(format!(
                    "--groups: there is no file `{file}`; it has to be single, all, components, components:N, or a CSV file with the columns node and group"
                )));
            }
            from_file(path, wanted, names)
        }
    }
}

/// The fewest nodes of a component that count as a group; none where something else is asked for.
fn components_floor(grouping: &str) -> Result<Option<usize>, Failure> {
    let Some(rest) = grouping.strip_prefix("components") else {
        return Ok(None);
    };
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok(Some(1)),
        None => Ok(None),
        Some(number) => match number.parse() {
            Ok(floor) if floor > 0 => Ok(Some(floor)),
            _ => Err(Failure::input(format!(
                "--groups: `{}` is no number of nodes; write components:5, for instance",
                shortened(number)
            ))),
        },
    }
}

/// The components of the graph that have a wanted node; those below the floor node by node.
fn components(wanted: &[NodeId], graph: &Graph, floor: usize) -> (Vec<NodeId>, Groups) {
    let (component, count) = graph.arcs().components();
    let mut sizes = vec![0usize; count];
    component.iter().for_each(|&c| sizes[c as usize] += 1);
    let mut is_wanted = vec![false; count];
    let mut alone = vec![false; component.len()];
    for node in wanted {
        let of_node = component[node.index()] as usize;
        match sizes[of_node] >= floor {
            true => is_wanted[of_node] = true,
            false => alone[node.index()] = true,
        }
    }
    let mut numbers: Vec<Option<u32>> = vec![None; count];
    let (mut asked, mut given, mut next) = (Vec::new(), Vec::new(), 0);
    for node in NodeId::first(component.len()) {
        let of_node = component[node.index()] as usize;
        let known = match (is_wanted[of_node], alone[node.index()]) {
            (false, false) => continue,
            (true, _) => numbers[of_node],
            (false, true) => None,
        };
        let number = known.unwrap_or(next);
        next = next.max(number + 1);
        if is_wanted[of_node] {
            numbers[of_node] = Some(number);
        }
        asked.push(node);
        given.push(number);
    }
    (asked, Groups::Given(given))
}

fn from_file(
    path: &Path,
    wanted: &[NodeId],
    names: &NodeNames,
) -> Result<(Vec<NodeId>, Groups), Failure> {
    let place = path.display().to_string();
    let wrong = |why: String| Failure::input(format!("{place}: {why}"));
    let file = File::open(path).map_err(|error| Fault::from_io(error).at(path))?;
    let mut reader = csv::Reader::from_reader(file);
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
    let column = |name: &str| header.iter().position(|found| found.trim() == name);
    let (Some(node_column), Some(group_column)) = (column("node"), column("group")) else {
        let found: Vec<&str> = header.iter().collect();
        return Err(wrong(format!(
            "the first line is `{}`. It has to name the columns node and group",
            shortened(&found.join(","))
        )));
    };
    let index = Index::new(names);
    let mut of_node: Vec<Option<String>> = vec![None; names.len()];
    for record in reader.records() {
        let record = record.map_err(|error| wrong(format!("{error}. Correct the line")))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default().trim();
        let node = index.find(cell(node_column), &format!("{place}, line {line}"))?;
        let group = cell(group_column).to_owned();
        let before = of_node[node.index()].replace(group.clone());
        if before.is_some_and(|before| before != group) {
            let id = shortened(&names.name(node));
            return Err(Failure::input(format!(
                "{place}, line {line}: node `{id}` is in another group already. A node belongs to one task, so give it one group"
            )));
        }
    }
    if let Some(node) = wanted.iter().find(|node| of_node[node.index()].is_none()) {
        let id = shortened(&names.name(*node));
        return Err(wrong(format!(
            "node `{id}` has no group. Give every node one, or ask about fewer with --only"
        )));
    }
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let (mut asked, mut given) = (Vec::new(), Vec::new());
    for (node, group) in NodeId::first(names.len()).zip(of_node) {
        if let Some(group) = group {
            let next = numbers.len() as u32;
            asked.push(node);
            given.push(*numbers.entry(group).or_insert(next));
        }
    }
    Ok((asked, Groups::Given(given)))
}
