"""Graphs from everything that people have, and back."""

from types import SimpleNamespace

import numpy as np
import pandas
import pyarrow
import pytest
import scipy.sparse

import treering


def same(one, other):
    assert np.array_equal(one.edge_index, other.edge_index)
    dense = lambda x: x if isinstance(x, np.ndarray) else x.toarray()  # noqa: E731
    assert np.array_equal(dense(one.x), dense(other.x))
    assert one.classes == other.classes
    assert (one.y is None and other.y is None) or list(one.y) == list(other.y)


def test_arrays_become_a_graph(arrays):
    edges, x, y = arrays
    graph = treering.Graph(edges, x, y, name="ring")
    assert (graph.nodes, graph.arcs, graph.features, graph.classes, graph.name) == (6, 12, 3, ["0", "1"], "ring")
    assert list(graph.y) == ["0"] * 3 + ["1"] * 3
    assert not graph.synthetic and graph.split is None and graph.edge_weight is None
    assert repr(graph) == 'Graph("ring": 6 nodes, 12 arcs, 3 features, 2 classes)'
    assert treering.Graph(edges, x, directed=True).arcs == 6


def test_the_same_graph_comes_out_of_every_package(arrays):
    edges, x, y = arrays
    wanted = treering.Graph(edges, x, y)
    adjacency = scipy.sparse.coo_matrix((np.ones(6), edges), shape=(6, 6))
    table = pandas.DataFrame({"src": edges[0], "dst": edges[1]})
    columns = {f"c{at}": x[:, at] for at in range(3)}
    for other in [
        treering.Graph(adjacency, x, y),
        treering.Graph(adjacency.tocsr(), scipy.sparse.csr_matrix(x), y),
        treering.Graph(table, pandas.DataFrame(columns), pandas.Series(y)),
        treering.Graph(pyarrow.Table.from_pandas(table), pyarrow.table(columns), pyarrow.array(y)),
        treering.Graph(edges.astype(np.int32), x.astype(np.float64), [str(one) for one in y]),
        treering.Graph(edges.astype(np.uint32), np.asfortranarray(x), y.astype(np.uint8)),
        treering.Graph(edges[:, ::-1], x[::1], y),
    ]:
        same(wanted, other)


class Tensor:
    """As torch has them, as far as is asked for."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


def test_objects_of_other_packages_are_known_by_their_shape(arrays):
    edges, x, y = arrays
    train, test = np.arange(6) % 2 == 0, np.arange(6) % 2 == 1
    wanted = treering.Graph(edges, x, y, split={"train": train, "test": test})
    pyg = SimpleNamespace(edge_index=Tensor(edges), x=Tensor(x), y=Tensor(y), train_mask=Tensor(train), test_mask=Tensor(test))
    ndata = {"feat": Tensor(x), "label": Tensor(y), "train_mask": Tensor(train), "test_mask": Tensor(test)}
    dgl = SimpleNamespace(edges=lambda: (Tensor(edges[0]), Tensor(edges[1])), ndata=ndata)
    for data in (pyg, dgl):
        graph = treering.Graph(data)
        same(wanted, graph)
        assert list(graph.split) == ["train", "test"] * 3


def test_features_are_not_copied_and_cannot_be_changed_meanwhile(arrays):
    edges, x, y = arrays
    graph = treering.Graph(edges, x, y)
    assert graph.x is x
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 5
    edges[0, 0] = 0  # index arrays are given back
    view = np.zeros((8, 3), dtype=np.float32)
    part = treering.Graph(edges, view[:6])
    assert np.shares_memory(part.x, view)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 5


def test_memory_that_numpy_does_not_own_is_copied(arrays):
    edges, x, _ = arrays
    memory = bytearray(x.tobytes())
    lent = np.frombuffer(memory, dtype=np.float32).reshape(6, 3)
    graph = treering.Graph(edges, lent)
    memory[:4] = b"\xff" * 4
    assert np.array_equal(graph.x, x)


def test_a_graph_survives_a_file(arrays, tmp_path):
    edges, x, y = arrays
    y = y.copy()
    y[5] = -1
    graph = treering.Graph(edges, x, y, edge_weight=np.arange(1, 7), node_ids=[f"n{at}" for at in range(6)], split=["train", "", "val", "test", None, ""])
    for name in ("a.treering", "tables"):
        graph.write(tmp_path / name)
        again = treering.read(tmp_path / name)
        same(graph, again)
        assert list(again.split) == ["train", "", "val", "test", "", ""]
        assert list(again.node_ids) == list(graph.node_ids)
        assert np.array_equal(again.edge_weight, graph.edge_weight)
    with pytest.raises(FileExistsError):
        graph.write(tmp_path / "a.treering")
    graph.write(tmp_path / "a.treering", force=True)


def test_files_that_are_not_there_or_no_graphs(tmp_path):
    with pytest.raises(FileNotFoundError):
        treering.read(tmp_path / "nothing.treering")
    with pytest.raises(FileNotFoundError):
        treering.load(tmp_path / "nothing")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ValueError, match="text.npz"):
        treering.read(tmp_path / "text.npz")


def test_recipes_can_be_changed():
    graph = treering.synth("demo", nodes=600, edges=900, seed=3)
    assert (graph.nodes, graph.arcs, graph.synthetic) == (600, 1800, True)
    assert treering.synth("demo", scale=0.5).nodes == 900
    with pytest.raises(ValueError, match="demo"):
        treering.synth("dmo")
    with pytest.raises(TypeError, match="nodes"):
        treering.synth("demo", node=5)
    with pytest.raises(ValueError, match="homophily"):
        treering.synth("demo", homophily=2.0)


def test_a_stream_is_a_sequence_of_graphs(graph, stream):
    assert len(stream) == 6 and len(list(stream)) == 6
    first, last = stream[0], stream[-1]
    assert first.classes == ["0", "1"] and last.classes == ["10", "11"]
    assert stream.tasks[0]["classes"] == ["0", "1"] and stream.tasks[0]["train"] == (first.split == "train").sum()
    with pytest.raises(IndexError):
        stream[6]
    with pytest.raises(ValueError, match="order"):
        treering.Stream(graph, order="sideways")
    assert treering.Stream(graph, 5).dropped[0]["reason"] == "unpaired"


MISSING = [
    lambda: pyarrow.array(["a", None, "b", "c", None, "a"]),
    lambda: pyarrow.array(["a", None, "b", "c", None, "a"]).dictionary_encode(),
    lambda: pyarrow.table({"y": pyarrow.array(["a", None, "b", "c", None, "a"]).dictionary_encode()})["y"],
    lambda: pandas.Series(["a", None, "b", "c", None, "a"], dtype="string"),
    lambda: pandas.Series(["a", None, "b", "c", None, "a"], dtype="category"),
    lambda: ["a", None, "b", "c", None, "a"],
]
NUMBERS = [
    lambda: pyarrow.array([1, None, 2, 3, None, 1]),
    lambda: pyarrow.table({"y": [1, None, 2, 3, None, 1]})["y"],
    lambda: pandas.Series([1, None, 2, 3, None, 1], dtype="Int64"),
    lambda: [1, -1, 2, 3, -1, 1],
]


@pytest.mark.parametrize("make", MISSING + NUMBERS)
def test_what_is_missing_has_no_class(arrays, make):
    edges, x, _ = arrays
    wanted = {"a": "a", "b": "b", "c": "c"} if make in MISSING else {"a": "1", "b": "2", "c": "3"}
    graph = treering.Graph(edges, x, make())
    assert list(graph.y) == [wanted.get(name) for name in ("a", None, "b", "c", None, "a")]


def test_columns_of_pyarrow_are_taken_whatever_they_are_made_of(arrays):
    edges, x, y = arrays
    words = pyarrow.array(["train", "test", None, "val", "train", ""])
    for split in (words, words.dictionary_encode(), pyarrow.table({"s": words})["s"]):
        graph = treering.Graph(edges, x, y, split=split, node_ids=pyarrow.array([f"n{at}" for at in range(6)]))
        assert list(graph.split) == ["train", "test", "", "val", "train", ""] and graph.node_ids[5] == "n5"
    mask = pyarrow.array([True, False] * 3)
    assert list(treering.Graph(edges, x, y, split={"train": mask}).split) == ["train", ""] * 3


def test_a_graph_that_cannot_be_made_gives_its_arrays_back(arrays):
    edges, x, y = arrays
    bad = x.copy()
    bad[2, 2] = np.nan
    rows = scipy.sparse.csr_matrix(x)
    rows.data[0] = np.inf
    for given, values in ((bad, bad), (rows, rows.data), (x, x)):
        with pytest.raises(ValueError):
            treering.Graph(edges, given, y if given is not x else y[:2])
        values[...] = 0


def test_masks_are_booleans(graph):
    with pytest.raises(ValueError, match="astype"):
        treering.TreeRing().learn(graph, train=np.arange(graph.nodes) % 2)
    with pytest.raises(TypeError, match="mask of missing values"):
        treering.Graph(graph.edge_index, np.ma.masked_array(np.array(graph.x)))
