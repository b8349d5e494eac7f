"""From what other packages call a graph, down to plain numpy arrays.

Nothing here imports another package than numpy: objects are known by what they can do. `parts` is called by the native `Graph`.
"""

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from treering._nodes import array, labels, names, objects, roles

__all__ = ["objects", "parts", "sparse", "thaw"]

def parts(edge_index: Any, x: Any, y: Any, edge_weight: Any, split: Any, node_ids: Any) -> Dict[str, Any]:
    """All parts of a graph as arrays of the types that the native code reads."""
    if x is None:
        edge_index, x, y, edge_weight, split = _taken_apart(edge_index, y, edge_weight, split)
    # What is needed for a moment only, and what was made read-only for good; where there will be no graph, all goes back.
    lent: List[np.ndarray] = []
    kept: List[np.ndarray] = []
    found: Dict[str, Any] = {"lent": lent}
    try:
        found.update(_features(x, kept))
        nodes = found["shape"][0]
        found.update(_arcs(edge_index, edge_weight, nodes, lent))
        found.update(_known(y, split, node_ids, nodes))
    except BaseException:
        thaw(lent + kept)
        raise
    found["all"] = lent + kept
    return found


def _known(y: Any, split: Any, node_ids: Any, nodes: int) -> Dict[str, Any]:
    """What is known about nodes beside their features."""
    found: Dict[str, Any] = {}
    if y is not None:
        numbers, found["classes"] = labels(y, nodes)
        found["labels"] = _plain(numbers, np.uint32)
    if split is not None:
        found["roles"] = _plain(roles(split, nodes), np.uint8)
    if node_ids is not None:
        found.update(names(node_ids, nodes))
    if "numbers" in found:
        found["numbers"] = _plain(found["numbers"], np.int64)
    return found


def _taken_apart(data: Any, y: Any, weight: Any, split: Any) -> Tuple[Any, Any, Any, Any, Any]:
    """A PyG `Data` or a DGL graph, or anything of the same shape."""
    get = lambda name: getattr(data, name, None)  # noqa: E731
    if get("edge_index") is not None and get("x") is not None:
        arcs, x = data.edge_index, data.x
        weight = get("edge_weight") if weight is None else weight
    elif callable(get("edges")) and get("ndata") is not None:
        get = lambda name: data.ndata[name] if name in data.ndata else None  # noqa: E731
        arcs = np.stack([array(ends) for ends in data.edges()])
        x = get("feat") if get("feat") is not None else get("x")
        if x is None:
            raise ValueError("the graph's ndata has no `feat` and no `x`; put the features of the nodes there")
    else:
        raise TypeError(
            f"x is missing, and a {type(data).__name__} is no graph of a known kind; give edge_index and x, or an object with edge_index and x"
        )
    if y is None:
        y = get("y") if get("y") is not None else get("label")
    if split is None:
        masks = {role: get(f"{role}_mask") for role in ("train", "val", "test")}
        masks = {role: mask for role, mask in masks.items() if mask is not None}
        split = masks or None
    return arcs, x, y, weight, split


def sparse(offsets: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: Tuple[int, int]) -> Any:
    """Compressed rows as a scipy matrix."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError("the features are sparse, and scipy is not installed; `pip install scipy` brings it") from error
    return csr_matrix((values, indices.astype(np.int64), offsets.astype(np.int64)), shape=shape)


def thaw(lent: List[np.ndarray]) -> None:
    """Gives arrays back that were only needed while the graph was made."""
    # An array can only be writable where the one that it is a part of is.
    for given in sorted(lent, key=lambda one: len(_owners(one))):
        given.flags.writeable = True


def _owners(given: np.ndarray) -> List[np.ndarray]:
    """The array, that which it is a part of, and so on to the one that has the memory."""
    chain = [given]
    while isinstance(chain[-1].base, np.ndarray):
        chain.append(chain[-1].base)
    return chain


def _plain(values: np.ndarray, kind: Any, lent: Optional[List[np.ndarray]] = None) -> np.ndarray:
    """Contiguous and read-only: the array itself where that is possible, else a copy.

    lent: the list of those that can be made writable again.
    """
    made = np.require(values, dtype=kind, requirements=["C", "A"])
    if made is not values and not np.shares_memory(made, values):
        made.flags.writeable = False
        return made
    chain = _owners(made)
    if chain[-1].flags.writeable and chain[-1].base is not None:
        # Memory that numpy does not own can be written by its owner at any time.
        made = made.copy()
        made.flags.writeable = False
        return made
    for link in chain:
        if link.flags.writeable:
            link.flags.writeable = False
            if lent is not None:
                lent.append(link)
    return made


def _is_sparse(values: Any) -> bool:
    return hasattr(values, "tocsr") and hasattr(values, "tocoo")


def _columns(table: Any) -> Optional[List[str]]:
    """The names of a table's columns; None where it is no table."""
    if hasattr(table, "column_names"):
        return list(table.column_names)
    return [str(name) for name in table.columns] if hasattr(table, "columns") and hasattr(table, "iloc") else None


def _numbers(values: Any, what: str) -> np.ndarray:
    """Numbers that are real and not texts or objects."""
    made = array(values)
    if made.dtype.kind not in "fiub":
        raise TypeError(f"{what} has numbers of type {made.dtype}; give real numbers, such as float32")
    return made


def _features(x: Any, kept: List[np.ndarray]) -> Dict[str, Any]:
    if x is None:
        raise TypeError("x is missing; give the features of the nodes, a row each")
    if _is_sparse(x):
        return _sparse_features(x.tocsr(), kept)
    names = _columns(x)
    if names is not None and hasattr(x, "column_names"):
        x = np.stack([_numbers(x.column(name), f"column `{name}` of x") for name in names], axis=1)
    values = _numbers(x, "x")
    if values.ndim != 2:
        raise ValueError(f"x has {values.ndim} dimensions; give 2: a row for every node, a column for every feature")
    dense = _plain(values, np.float32, kept)
    return {"dense": dense, "shape": dense.shape}


def _sparse_features(rows: Any, kept: List[np.ndarray]) -> Dict[str, Any]:
    _numbers(rows.data, "x")
    if len(rows.indices) and (rows.indices.min() < 0 or rows.indices.max() > 0xFFFFFFFE):
        raise ValueError("x has a column number that is negative or too large; the matrix is damaged")
    if rows.indptr.min() < 0:
        raise ValueError("x has a negative row offset; the matrix is damaged")
    # The same bytes: a number that is not negative looks the same without a sign.
    indices = rows.indices.view(np.uint32) if rows.indices.dtype == np.int32 else rows.indices
    offsets = rows.indptr.view(np.uint64) if rows.indptr.dtype == np.int64 else rows.indptr
    return {
        "offsets": _plain(offsets, np.uint64, kept),
        "indices": _plain(indices, np.uint32, kept),
        "values": _plain(rows.data, np.float32, kept),
        "shape": rows.shape,
    }


def _arcs(edges: Any, weight: Any, nodes: int, lent: List[np.ndarray]) -> Dict[str, Any]:
    if _is_sparse(edges):
        if tuple(edges.shape) != (nodes, nodes):
            raise ValueError(f"the adjacency has the shape {tuple(edges.shape)}, and x has {nodes} rows; give a square of that many")
        listed = edges.tocoo()
        ends, weight = (listed.row, listed.col), listed.data if weight is None else weight
    else:
        names = _columns(edges)
        if names is not None:
            ends, weight = _edge_table(edges, names, weight)
        else:
            both = array(edges)
            if both.ndim != 2 or both.shape[0] != 2:
                raise ValueError(f"edge_index has the shape {both.shape}; give (2, E): a row of sources and a row of targets")
            ends = (both[0], both[1])
    found = {name: _node_numbers(end, nodes, lent) for name, end in zip(("sources", "targets"), ends)}
    if weight is not None:
        weights = _numbers(weight, "edge_weight")
        count = len(found["sources"])
        if weights.shape != (count,):
            raise ValueError(f"edge_weight has the shape {weights.shape}; give one number for each of {count} edges")
        found["weights"] = _plain(weights, np.float32, lent)
    return found


def _edge_table(edges: Any, names: List[str], weight: Any) -> Tuple[Tuple[np.ndarray, np.ndarray], Any]:
    missing = [name for name in ("src", "dst") if name not in names]
    if missing:
        raise ValueError(f"the table of edges has the columns {', '.join(names)}; it needs src and dst, and may have weight")
    column = (lambda name: array(edges.column(name))) if hasattr(edges, "column_names") else (lambda name: array(edges[name]))
    if weight is None and "weight" in names:
        weight = column("weight")
    return (column("src"), column("dst")), weight


def _node_numbers(ends: np.ndarray, nodes: int, lent: Optional[List[np.ndarray]] = None) -> np.ndarray:
    """Node numbers as the native code has them."""
    if ends.dtype.kind not in "iu" and ends.size:
        raise TypeError(f"edge_index has numbers of type {ends.dtype}; give whole numbers, such as int64")
    if ends.size and (ends.min() < 0 or ends.max() >= nodes):
        wrong = ends[(ends < 0) | (ends >= nodes)][0]
        raise ValueError(f"edge_index has the node {wrong}; x has {nodes} rows, so nodes are numbered 0 to {nodes - 1}")
    return _plain(ends, np.uint32, lent)
