"""Whatever comes in, an exception of a fitting kind comes out, with words that help."""

import numpy as np
import pytest
import scipy.sparse

import treering

EDGES = np.array([[0, 1, 2], [1, 2, 3]])
X = np.ones((4, 2), dtype=np.float32)
Y = np.array([0, 0, 1, 1])


def spoilt(value):
    x = X.copy()
    x[1, 1] = value
    return x


@pytest.mark.parametrize(
    "arguments, keywords, kind, words",
    [
        ((EDGES.astype(float), X), {}, TypeError, "whole numbers"),
        ((EDGES.astype(complex), X), {}, TypeError, "whole numbers"),
        ((EDGES.astype(str), X), {}, TypeError, "whole numbers"),
        ((EDGES.T, X), {}, ValueError, "(2, E)"),
        ((EDGES[0], X), {}, ValueError, "(2, E)"),
        ((EDGES - 1, X), {}, ValueError, "the node -1"),
        ((EDGES + 1, X), {}, ValueError, "the node 4"),
        ((EDGES + 2**40, X), {}, ValueError, "the node"),
        ((None, X), {}, (TypeError, ValueError), ""),
        ((EDGES, None), {}, TypeError, "x is missing"),
        ((EDGES, X.astype(complex)), {}, TypeError, "real numbers"),
        ((EDGES, X.astype(str)), {}, TypeError, "real numbers"),
        ((EDGES, X.astype(object)), {}, TypeError, "real numbers"),
        ((EDGES, X[0]), {}, ValueError, "dimensions"),
        ((EDGES, X[None]), {}, ValueError, "dimensions"),
        ((EDGES, spoilt(np.nan)), {}, ValueError, "NaN"),
        ((EDGES, spoilt(-np.inf)), {}, ValueError, "inf"),
        ((EDGES, X.astype(np.float64) * 1e300), {}, ValueError, "inf"),
        ((EDGES, scipy.sparse.csr_matrix(spoilt(np.nan))), {}, ValueError, "NaN"),
        ((scipy.sparse.eye(5).tocoo(), X), {}, ValueError, "square"),
        ((EDGES, X, Y[:3]), {}, ValueError, "4 nodes"),
        ((EDGES, X, Y.astype(float)), {}, TypeError, "y has values"),
        ((EDGES, X, [b"a", b"b", b"c", b"d"]), {}, TypeError, "y has"),
        ((EDGES, X, [object()] * 4), {}, TypeError, "y has the value"),
        ((EDGES, X), {"edge_weight": [1.0, 2.0]}, ValueError, "3 edges"),
        ((EDGES, X), {"edge_weight": [1.0, -2.0, 1.0]}, ValueError, "weight -2"),
        ((EDGES, X), {"edge_weight": [1.0, np.nan, 1.0]}, ValueError, "NaN"),
        ((EDGES, X), {"split": ["train"] * 3}, ValueError, "4 nodes"),
        ((EDGES, X), {"split": ["holiday"] * 4}, ValueError, "holiday"),
        ((EDGES, X), {"split": {"train": np.ones(3, bool)}}, ValueError, "mask"),
        ((EDGES, X), {"split": {"train": [0, 9]}}, ValueError, "the node 9"),
        ((EDGES, X), {"split": {"train": [0], "test": [0]}}, ValueError, "one role"),
        ((EDGES, X), {"node_ids": ["a", "a", "b", "c"]}, ValueError, "twice"),
        ((EDGES, X), {"node_ids": ["a"]}, ValueError, "4 nodes"),
        (("text", X), {}, ValueError, "(2, E)"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_graphs_refuse(arguments, keywords, kind, words):
    with pytest.raises(kind) as caught:
        treering.Graph(*arguments, **keywords)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "values, kind, words",
    [
        ({"width": 0}, ValueError, "width"),
        ({"width": -1}, ValueError, "width"),
        ({"width": 2.5}, ValueError, "width"),
        ({"router": "tea"}, ValueError, "tea"),
        ({"depth": 3}, TypeError, "depth"),
        ({"seed": None}, TypeError, "seed"),
        ({"rank": float("nan")}, ValueError, ""),
    ],
)
def test_parameters_refuse(values, kind, words):
    with pytest.raises(kind) as caught:
        treering.TreeRing(**values)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda model, graph: model.predict(X), TypeError, "treering.Graph"),
        (lambda model, graph: model.predict(treering.Graph(EDGES, X)), treering.TreeringError, "feature columns"),
        (lambda model, graph: model.predict(graph, nodes=[-1]), ValueError, "the node -1"),
        (lambda model, graph: model.predict(graph, nodes=[10**6]), ValueError, "the node 1000000"),
        (lambda model, graph: model.predict(graph, nodes=np.ones(3, bool)), ValueError, "mask"),
        (lambda model, graph: model.predict(graph, nodes=[0.5]), TypeError, "node numbers"),
        (lambda model, graph: model.predict(graph, groups="some"), ValueError, "groups"),
        (lambda model, graph: model.predict(graph, groups=[1, 2]), ValueError, "groups"),
        (lambda model, graph: model.predict(graph, reject=2), ValueError, "reject"),
        (lambda model, graph: model.learn(graph, train=np.ones(3, bool)), ValueError, "train"),
        (lambda model, graph: model.learn(graph, val=1.5), ValueError, "val"),
        (lambda model, graph: model.learn(graph, train=[0, 1], val=[1]), ValueError, "one role"),
        (lambda model, graph: model.learn(graph, classes=["zebra"]), ValueError, "zebra"),
        (lambda model, graph: model.learn(graph, classes=["0"]), ValueError, "already"),
        (lambda model, graph: model.learn(treering.Graph(EDGES, X, Y)), ValueError, ""),
        (lambda model, graph: model.learn(treering.Graph(EDGES, X)), ValueError, "labelled"),
        (lambda model, graph: model.forget("nobody"), treering.TreeringError, "task-1"),
        (lambda model, graph: model.score(graph, y=["0"]), ValueError, "y has"),
        (lambda model, graph: model.set_params(width=3), treering.TreeringError, "new model"),
        (lambda model, graph: model.merge("model"), TypeError, "str"),
        (lambda model, graph: treering.TreeRing().predict(graph), treering.TreeringError, "learn a task first"),
        (lambda model, graph: treering.TreeRing().save("nowhere"), treering.TreeringError, "learn a task first"),
        (lambda model, graph: treering.TPP().learn(treering.Graph(EDGES, X[:, :0], Y)), ValueError, "feature"),
        (lambda model, graph: treering.evaluate("nobody", graph), ValueError, "nobody"),
        (lambda model, graph: treering.evaluate("treering", graph, "nothing"), ValueError, "nothing"),
        (lambda model, graph: treering.evaluate(5, graph), TypeError, "int"),
        (lambda model, graph: treering.evaluate("treering", graph, seeds=[-1]), ValueError, "seed"),
        (lambda model, graph: treering.Stream(graph, -1), ValueError, "classes_per_task"),
        (lambda model, graph: treering.Stream(graph, 0), ValueError, "1 or more"),
        (lambda model, graph: treering.Stream(X), TypeError, "Graph"),
        (lambda model, graph: treering.bench("nothing-there"), ValueError, "nothing-there"),
    ],
)
def test_models_refuse_and_stay_as_they_are(model, graph, call, kind, words):
    before = model.predict(graph)
    with pytest.raises(kind) as caught:
        call(model, graph)
    assert words in str(caught.value)
    assert len(model.tasks_) == 6 and (model.predict(graph) == before).all()


def test_nothing_is_a_graph_too(model):
    empty = treering.Graph(np.zeros((2, 0), dtype=np.int64), np.zeros((0, 4), dtype=np.float32))
    assert (empty.nodes, empty.arcs) == (0, 0)
    with pytest.raises(ValueError):
        treering.TreeRing().learn(empty)
    asked = treering.synth("demo")
    assert len(model.predict(asked, nodes=[])) == 0
