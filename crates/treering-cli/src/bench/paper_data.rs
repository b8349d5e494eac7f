//! The paper's data sets, where presets look for them.

use super::sets::{Origin, VARIABLE};
use crate::failure::Failure;

/// What a data set may be called in the folder of data, and where it comes from.
struct Known {
    name: &'static str,
    called: &'static [&'static str],
    from: &'static str,
}

const KNOWN: [Known; 4] = [
    Known {
        name: "CoraFull",
        called: &["cora_full", "corafull"],
        from: "cora_full.npz of the gnn-benchmark collection; save it there under this name",
    },
    Known {
        name: "Arxiv",
        called: &["ogbn_arxiv", "ogbn-arxiv", "arxiv"],
        from: "the folder ogbn_arxiv that the Python package ogb unpacks",
    },
    Known {
        name: "Reddit",
        called: &["reddit"],
        from: "the folder with reddit_data.npz and reddit_graph.npz that DGL unpacks, called reddit",
    },
    Known {
        name: "Products",
        called: &["ogbn_products", "ogbn-products", "products"],
        from: "the folder ogbn_products that the Python package ogb unpacks",
    },
];

/// Adds what is there, and says of the rest how to obtain it.
pub(super) fn find(data: &mut Vec<String>) -> Result<Vec<String>, Failure> {
    let mut missing = Vec::new();
    for known in &KNOWN {
        let there = known.called.iter().find(|name| Origin::in_folder(name));
        match there {
            Some(name) => data.push((*name).to_owned()),
            None => missing.push(format!(
                "{} is not in the folder of {VARIABLE}: {}",
                known.name, known.from
            )),
        }
    }
    match data.is_empty() {
        false => Ok(missing),
        true => Err(Failure::input(format!(
            "none of the paper's data sets is there. Name data with --data, or put some into the folder that {VARIABLE} names:\n  {}",
            missing.join("\n  ")
        ))),
    }
}
