"""Learners written in Python, under the protocols."""

import numpy as np
import pytest

import treering

PROTOCOLS = ["paper", "single", "groups:5", "mixed", "connected", "inductive", "open", "open:5", "oracle", "patched"]


class Nosy:
    """Says the first class of the task that it was told last, and looks at all that it is shown."""

    seen = []

    def learn(self, task):
        self.classes = task.classes
        assert task.graph.y is None and task.graph.split is None and task.graph.classes == []
        assert len(task.train) == len(task.train_y) < task.graph.nodes or set(task.train) == set(range(task.graph.nodes))
        assert set(task.train_y) == set(task.classes)
        assert {name for name in dir(task) if not name.startswith("_")} == {"graph", "train", "train_y", "classes"}

    def predict(self, query):
        assert query.graph.y is None and query.graph.split is None and query.graph.classes == []
        assert {name for name in dir(query) if not name.startswith("_")} == {"graph", "nodes", "groups", "tasks"}
        assert len(query.groups) == len(query.nodes)
        Nosy.seen.append((query.tasks is not None, len(set(query.groups))))
        return [self.classes[0]] * len(query.nodes)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_shows_no_label_and_gives_a_result(graph, protocol):
    Nosy.seen.clear()
    (result,) = treering.evaluate(Nosy, graph, protocol, seeds=[2])
    assert (result["protocol"], result["seed"], result["learner"]) == (protocol, 2, "python")
    # It knows one class of the last task, and nothing of the others.
    assert result["matrix"][-1] == [0.0] * 5 + [50.0] and result["aa"] == pytest.approx(50 / 6)
    assert result["task_id_accuracy"] is None and result["synthetic"]
    assert {told for told, _ in Nosy.seen} == {protocol == "oracle"}


def test_what_a_learner_raises_is_what_is_raised(graph):
    class Broken(Nosy):
        def predict(self, query):
            raise KeyError("my own fault")

    with pytest.raises(KeyError, match="my own fault"):
        treering.evaluate(Broken, graph)

    class Silent(Nosy):
        def predict(self, query):
            pass

    with pytest.raises(TypeError, match="predict gave a NoneType"):
        treering.evaluate(Silent, graph)

    class Short(Nosy):
        def predict(self, query):
            return []

    with pytest.raises(ValueError, match="gave 0 classes"):
        treering.evaluate(Short, graph)

    class Stranger(Nosy):
        def predict(self, query):
            return ["zebra"] * len(query.nodes)

    with pytest.raises(ValueError, match="zebra"):
        treering.evaluate(Stranger, graph)


def test_a_model_of_ours_can_be_the_learner_of_somebody(graph):
    class Wrapped:
        def __init__(self):
            self.model = treering.TreeRing(width=64)

        def learn(self, task):
            whole = np.full(task.graph.nodes, None, dtype=object)
            whole[task.train] = task.train_y
            x, edges = task.graph.x, task.graph.edge_index
            self.model.learn(treering.Graph(edges, x, whole, directed=True))

        def predict(self, query):
            return self.model.predict(query.graph, query.nodes, query.groups)

    theirs, ours = (treering.evaluate(one, graph, "single")[0] for one in (Wrapped, lambda: Wrapped()))
    assert theirs["aa"] == ours["aa"] > 60


def test_the_bench_takes_names_and_classes(graph, capfd):
    found = treering.bench(graph, ["finetune", Nosy], ["single", "oracle"], seeds=2, progress=True)
    assert [(one["learner"], one["protocol"], one["seed"]) for one in found[4:]] == [
        ("Nosy", protocol, seed) for seed in (0, 1) for protocol in ("single", "oracle")
    ]
    assert {one["learner"] for one in found[:4]} == {"finetune"} and {one["data"] for one in found} == {graph.name}
    assert "finetune" in capfd.readouterr().err
    assert len(found.frame()) == 8
    with pytest.raises(TypeError, match="preset"):
        treering.bench(graph, Nosy, preset="main")
    with pytest.raises(ValueError, match="no learner"):
        treering.bench(graph, 7)


class Blind:
    """Knows nodes by their place and by their name, and looks at nothing else."""

    def __init__(self):
        self.by_place, self.by_name, self.classes = {}, {}, []

    def learn(self, task):
        self.classes += task.classes
        assert list(task.graph.node_ids) == [str(at) for at in range(task.graph.nodes)] and list(task.train) == sorted(task.train)
        half = max(task.train) / 2
        # Where places told classes, the first half of the train nodes would all be of one.
        first = [name for node, name in zip(task.train, task.train_y) if node < half]
        assert len(set(first)) == len(task.classes)

    def predict(self, query):
        assert list(query.nodes) == sorted(query.nodes) and query.groups[0] == 0
        assert list(query.groups) == sorted(query.groups) or len(set(query.groups)) < len(query.groups)
        # One class after the other, in the order of places.
        parts = np.array_split(np.arange(len(query.nodes)), len(self.classes))
        return [name for name, part in zip(self.classes, parts) for _ in part]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_places_tell_nothing(graph, protocol):
    (result,) = treering.evaluate(Blind, graph, protocol)
    # What guessing gives: half of the nodes within a known task, a twelfth among all.
    assert result["aa"] < (75 if protocol == "oracle" else 45), result["matrix"]


def test_results_come_in_the_order_that_was_asked_for(graph, tmp_path):
    asked = ["inductive", "single", "oracle"]
    found = treering.evaluate("finetune", graph, asked, seeds=[3, 1])
    assert [(one["seed"], one["protocol"]) for one in found] == [(seed, name) for seed in (3, 1) for name in asked]
    treering.bench(graph, "finetune", "single", out=tmp_path / "out")
    found = treering.bench(graph, ["joint", "finetune"], ["oracle"], seeds=2, out=tmp_path / "out")
    assert [(one["learner"], one["protocol"], one["seed"]) for one in found] == [
        (name, "oracle", seed) for name in ("joint", "finetune") for seed in (0, 1)
    ]
    with pytest.raises(ValueError, match="at least one seed"):
        treering.evaluate("finetune", graph, seeds=0)


def test_a_preset_decides_on_learners(graph):
    found = treering.bench(graph, preset="leak", seeds=1, scale=None)
    assert {one["learner"] for one in found} and all(one["status"] == "done" for one in found)
    with pytest.raises(ValueError, match="no learner"):
        treering.bench(graph, [])
