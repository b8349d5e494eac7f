//! What the program would tell about ogbn-papers100M before it began: memory by the estimates that `--dry-run` prints, which follow from sizes alone.

use serde_json::{Value, json};
use treering_data::{TaskSize, memory_limit, set_memory_limit};
use treering_learn::memory;
use treering_learn::saved::Parameters;

/// As the data set's own page has them.
pub(super) const NODES: usize = 111_059_956;
const EDGES: usize = 1_615_685_872;
const COLUMNS: usize = 128;
const CLASSES: usize = 172;
const TRAIN: usize = 1_207_179;
const VALIDATION: usize = 125_265;

/// Machines, in GB; a program takes three quarters where nobody says how much.
const MACHINES: [u64; 4] = [24, 64, 128, 256];

/// One task of two classes that sees the whole graph.
fn task(arcs: usize) -> TaskSize {
    let tasks = CLASSES / 2;
    TaskSize {
        nodes: NODES,
        arcs,
        weights: false,
        columns: COLUMNS,
        entries: None,
        train: TRAIN / tasks,
        validation: VALIDATION / tasks,
        classes: 2,
    }
}

/// For both learners, edges in one direction and in both, and several machines: to learn a first task, and to answer about all nodes with all tasks learned.
pub(super) fn told() -> Value {
    let before = memory_limit();
    let mut all = Vec::new();
    let learners = [
        ("treering", Parameters::Treering(Default::default())),
        ("tpp", Parameters::Tpp(Default::default())),
    ];
    for (learner, parameters) in learners {
        for directions in [1, 2] {
            let size = task(directions * EDGES);
            // Of a mapped graph, arcs stay while they are gone over again and again.
            let arcs = TaskSize { columns: 0, ..size }.graph_bytes();
            for machine in MACHINES {
                set_memory_limit(machine * 750_000_000);
                all.push(json!({
                    "learner": learner,
                    "directions": directions,
                    "machine": machine * 1_000_000_000,
                    "limit": memory_limit(),
                    "learn": memory::to_learn(&parameters, &size, true),
                    "predict": arcs + memory::to_predict(&parameters, &size, NODES, CLASSES / 2),
                }));
            }
        }
    }
    set_memory_limit(before);
    all.into()
}
