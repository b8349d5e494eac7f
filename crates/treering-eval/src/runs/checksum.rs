//! What a graph is, in 64 digits.

use sha2::{Digest, Sha256};
use treering_graph::{Features, Graph};

use super::spec::hexadecimal;

/// SHA-256 over a graph's content: number of nodes, arcs with their weights, features, labels with the names of classes, split. What nodes
/// and the data are called does not count. The same data read from two layouts has one checksum as long as both keep features the same way (sparse or
/// dense).
pub fn checksum(graph: &Graph) -> String {
    let mut sum = Sum(Sha256::new());
    let arcs = graph.arcs();
    sum.number("nodes", graph.nodes());
    sum.bytes("offsets", bytemuck::cast_slice(arcs.offsets()));
    sum.bytes("sources", bytemuck::cast_slice(arcs.sources()));
    if let Some(weights) = arcs.weights() {
        sum.bytes("weights", bytemuck::cast_slice(weights));
    }
    sum.number("columns", graph.features().columns());
    match graph.features() {
        Features::Dense(dense) => sum.bytes("dense", bytemuck::cast_slice(dense.values())),
        Features::Sparse(sparse) => {
            sum.bytes("rows", bytemuck::cast_slice(sparse.offsets()));
            sum.bytes("indices", bytemuck::cast_slice(sparse.indices()));
            sum.bytes("values", bytemuck::cast_slice(sparse.values()));
        }
    }
    if let Some(labels) = graph.labels() {
        sum.bytes("labels", bytemuck::cast_slice(labels.raw()));
        for name in labels.names() {
            sum.bytes("class", name.as_bytes());
        }
    }
    if let Some(split) = graph.split() {
        let roles: Vec<u8> = split.iter().map(|&role| role as u8).collect();
        sum.bytes("split", &roles);
    }
    hexadecimal(&sum.0.finalize())
}

/// Every part goes in with its name and length, so that no two graphs give the same bytes.
struct Sum(Sha256);

impl Sum {
    fn bytes(&mut self, part: &str, bytes: &[u8]) {
        self.number(part, bytes.len());
        self.0.update(bytes);
    }

    fn number(&mut self, part: &str, number: usize) {
        self.0.update(part.as_bytes());
        self.0.update([0]);
        self.0.update((number as u64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use treering_graph::{Arcs, Dense, Graph, Labels, NodeNames, Origin, Parts, Role};

    use super::*;

    fn parts() -> Parts {
        let row = |values: [f32; 4]| Dense::new(2, 2, values.to_vec().into()).unwrap();
        let arcs = Arcs::from_rows(vec![0u64, 1, 2].into(), vec![1u32, 0].into(), None).unwrap();
        Parts {
            arcs,
            features: Features::Dense(row([1.0, 2.0, 3.0, 4.0])),
            labels: Some(Labels::new(vec![0u32, 1].into(), vec!["a".into(), "b".into()]).unwrap()),
            names: NodeNames::Positions(2),
            split: Some(vec![Role::Train, Role::Test].into()),
            origin: Origin::default(),
        }
    }

    fn sum(parts: Parts) -> String {
        checksum(&Graph::new(parts).unwrap())
    }

    #[test]
    fn every_part_of_the_content_counts_and_names_do_not() {
        let mut all = vec![parts(); 6];
        all[1].arcs = Arcs::none(2);
        let weights = Some(vec![1.0f32, 2.0].into());
        all[2].arcs =
            Arcs::from_rows(vec![0u64, 1, 2].into(), vec![1u32, 0].into(), weights).unwrap();
        all[3].features =
            Features::Dense(Dense::new(2, 2, vec![1.0f32, 2.0, 3.0, 5.0].into()).unwrap());
        all[4].labels =
            Some(Labels::new(vec![0u32, 1].into(), vec!["a".into(), "c".into()]).unwrap());
        all[5].split = None;
        let mut sums: Vec<String> = all.into_iter().map(sum).collect();
        sums.sort();
        sums.dedup();
        assert_eq!(sums.len(), 6);
        let renamed = Parts {
            names: NodeNames::Texts(vec!["x".into(), "y".into()]),
            origin: Origin {
                name: "other".into(),
                synthetic: None,
            },
            ..parts()
        };
        assert_eq!(sum(renamed), sum(parts()));
    }
}
