"""PyG's and DGL's own graphs. `cargo xtask packages` installs both; elsewhere these are skipped."""

import numpy as np
import pytest

import treering


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def task(stream):
    return stream[1]


def answers(graph):
    model = treering.TreeRing(width=64, rank=8).learn(graph)
    return model.tasks_[0]["facts"]["train"], model.predict_proba(graph)


def check(task, graph):
    assert np.array_equal(graph.x, task.x) and np.array_equal(graph.edge_index, task.edge_index)
    assert list(graph.split) == list(task.split)
    trained, shares = answers(graph)
    wanted_trained, wanted = answers(task)
    # Classes are called by their numbers here.
    assert sorted(trained.values()) == sorted(wanted_trained.values())
    assert np.array_equal(shares, wanted)


def parts(torch, task):
    names = sorted(set(task.y))
    y = torch.tensor([names.index(name) for name in task.y])
    masks = {f"{role}_mask": torch.tensor(task.split == role) for role in ("train", "val", "test")}
    return torch.tensor(task.edge_index.astype(np.int64)), torch.tensor(np.array(task.x)), y, masks


def test_a_data_of_pyg(torch, task):
    data = pytest.importorskip("torch_geometric.data")
    edges, x, y, masks = parts(torch, task)
    check(task, treering.Graph(data.Data(edge_index=edges, x=x, y=y, **masks)))
    # As the loaders of OGB have labels, and as a training leaves features.
    column = data.Data(edge_index=edges, x=x.requires_grad_(), y=y.reshape(-1, 1), **masks)
    check(task, treering.Graph(column))
    weighted = data.Data(edge_index=edges, x=x, y=y, edge_weight=torch.full((edges.shape[1],), 2.0))
    assert set(treering.Graph(weighted).edge_weight) == {2.0}
    with pytest.raises(TypeError, match="no graph of a known kind"):
        treering.Graph(data.HeteroData())


def test_a_graph_of_dgl(torch, task):
    dgl = pytest.importorskip("dgl")
    edges, x, y, masks = parts(torch, task)
    graph = dgl.graph((edges[0], edges[1]), num_nodes=len(x))
    graph.ndata.update({"feat": x, "label": y, **masks})
    check(task, treering.Graph(graph))
    with pytest.raises(ValueError, match="feat"):
        treering.Graph(dgl.graph((edges[0], edges[1])))
