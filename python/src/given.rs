//! The parts of a graph, out of arrays that `treering._convert` has made plain.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use treering_graph::{
    Buffer, Dense, Direction, Features, Graph as Inner, Labels, NodeNames, Origin, Parts, Role,
    Sparse, build_arcs,
};

use crate::failure::{Failure, Outcome};
use crate::held::lend;

/// A part, if it is there.
pub(crate) fn optional<'py>(
    parts: &Bound<'py, PyDict>,
    key: &str,
) -> Outcome<Option<Bound<'py, PyAny>>> {
    Ok(parts.get_item(key)?.filter(|value| !value.is_none()))
}

/// A part that has to be there.
pub(crate) fn item<'py>(parts: &Bound<'py, PyDict>, key: &str) -> Outcome<Bound<'py, PyAny>> {
    optional(parts, key)?.ok_or_else(|| Failure::system(format!("a graph without {key}")))
}

/// What a graph is made of, out of Python's hands.
pub(crate) struct Given {
    ends: (Buffer<u32>, Buffer<u32>),
    weights: Option<Buffer<f32>>,
    direction: Direction,
    features: Features,
    labels: Option<(Buffer<u32>, Vec<String>)>,
    roles: Option<Buffer<u8>>,
    names: NodeNames,
    name: String,
}

impl Given {
    pub(crate) fn read(parts: &Bound<'_, PyDict>, directed: bool, name: &str) -> Outcome<Self> {
        let features = features(parts)?;
        let labels = match optional(parts, "labels")? {
            None => None,
            Some(labels) => Some((lend(&labels)?, item(parts, "classes")?.extract()?)),
        };
        let roles = optional(parts, "roles")?.map(|roles| lend(&roles));
        let names = match (optional(parts, "numbers")?, optional(parts, "names")?) {
            (Some(numbers), _) => NodeNames::Integers(lend(&numbers)?),
            (None, Some(names)) => NodeNames::Texts(names.extract()?),
            (None, None) => NodeNames::Positions(features.rows()),
        };
        let weights = optional(parts, "weights")?;
        Ok(Given {
            ends: (
                lend(&item(parts, "sources")?)?,
                lend(&item(parts, "targets")?)?,
            ),
            weights: weights.map(|weights| lend(&weights)).transpose()?,
            direction: match directed {
                true => Direction::Directed,
                false => Direction::Undirected,
            },
            features,
            labels,
            roles: roles.transpose()?,
            names,
            name: name.to_owned(),
        })
    }

    /// Puts the parts together, which checks them.
    pub(crate) fn build(self) -> Outcome<Inner> {
        let (sources, targets) = &self.ends;
        let weights = self.weights.as_deref();
        let nodes = self.features.rows();
        let (arcs, _) = build_arcs(nodes, sources, targets, weights, self.direction)?;
        let labels = self.labels.map(|(of, names)| Labels::new(of, names));
        Ok(Inner::new(Parts {
            arcs,
            features: self.features,
            labels: labels.transpose()?,
            names: self.names,
            split: self.roles.map(|numbers| roles(&numbers).into()),
            origin: Origin {
                name: self.name,
                synthetic: None,
            },
        })?)
    }
}

/// Roles by their numbers; `treering._convert` gives no others.
pub(crate) fn roles(numbers: &[u8]) -> Vec<Role> {
    let role = |&number: &u8| Role::ALL.get(usize::from(number)).copied();
    let roles = numbers
        .iter()
        .map(|number| role(number).unwrap_or(Role::None));
    roles.collect()
}

fn features(parts: &Bound<'_, PyDict>) -> Outcome<Features> {
    let (rows, columns): (usize, usize) = item(parts, "shape")?.extract()?;
    if let Some(dense) = optional(parts, "dense")? {
        return Ok(Features::Dense(Dense::new(rows, columns, lend(&dense)?)?));
    }
    let sparse = Sparse::from_unsorted(
        columns,
        lend(&item(parts, "offsets")?)?,
        lend(&item(parts, "indices")?)?,
        lend(&item(parts, "values")?)?,
    )?;
    Ok(Features::Sparse(sparse))
}
