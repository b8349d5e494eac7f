"""Models: parameters, learning, asking, forgetting, putting together."""

import copy
import inspect
import io
import json
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

import treering
from treering import _native


@pytest.mark.parametrize("kind", [treering.TreeRing, treering.TPP])
def test_parameters_are_those_of_the_learner(kind):
    model = kind()
    given = model.get_params()
    defaults = json.loads(_native.defaults(kind._learner))
    assert {name.replace(".", "_").replace("-", "_"): value for name, value in defaults.items()} == {
        name: value for name, value in given.items() if name != "progress"
    }
    assert list(inspect.signature(kind).parameters) == list(given)
    assert {name: value.default for name, value in inspect.signature(kind).parameters.items()} == given
    assert repr(model) == f"{kind.__name__}()"
    other = clone(kind(seed=7))
    assert other.get_params()["seed"] == 7 and repr(other) == f"{kind.__name__}(seed=7)"
    assert model.set_params(seed=np.int64(3)).get_params()["seed"] == 3


def test_tasks_are_recognised_and_classes_found(model, stream, graph):
    assert [task["name"] for task in model.tasks_] == [f"task-{at}" for at in range(1, 7)]
    assert list(model.classes_) == [str(at) for at in range(12)]
    scores = []
    for place, task in enumerate(stream):
        test = task.split == "test"
        assert set(model.predict_task(task, test, groups="all")) == {f"task-{place + 1}"}
        scores.append(model.score(task, nodes=test, groups="all"))
        assert set(model.predict(task, test, groups="all")) <= set(task.classes)
    assert np.mean(scores) > 0.8


def test_numbers_and_masks_and_groups_say_the_same(model, stream):
    task = stream[3]
    test = task.split == "test"
    by_mask, by_number = model.predict(task, test), model.predict(task, np.flatnonzero(test))
    assert (by_mask == by_number).all() and (model.predict(task)[test] == by_mask).all()
    together = model.predict(task, test, groups="all")
    assert (model.predict(task, test, groups=["x"] * test.sum()) == together).all()
    assert (model.predict(task, test, groups=np.arange(test.sum())) == by_mask).all()


def test_probabilities_are_those_of_task_and_class(model, stream):
    task = stream[1]
    shares = model.predict_proba(task)
    assert shares.shape == (task.nodes, 12) and np.allclose(shares.sum(axis=1), 1, atol=1e-4)
    said = model._ask(task, None, None)
    at_answer = shares[np.arange(task.nodes), said["class"]]
    assert np.allclose(at_answer, said["confidence"], atol=1e-6)


def test_noise_is_unknown(model, graph, stream):
    noise = treering.Graph(np.zeros((2, 0), dtype=int), np.random.default_rng(1).normal(size=(40, graph.features)) * 20)
    assert set(model.predict(noise, groups="all", reject=0.05)) == {"unknown"}
    assert (model.familiarity(noise, groups="all") < 0.05).all()
    task = stream[0]
    known, strange = (model.predict(*asked, reject=0.05) == "unknown" for asked in ((task, task.split == "test"), (noise,)))
    assert known.mean() < 0.2 < strange.mean()


def test_what_is_shown_is_what_is_learned(graph):
    train = np.flatnonzero([one in ("0", "1") for one in graph.y])[:100]
    by_numbers = treering.TreeRing(width=64).learn(graph, train=train, name="first")
    assert by_numbers.tasks_[0]["name"] == "first"
    assert sum(by_numbers.tasks_[0]["facts"]["train"].values()) == 100
    by_classes = treering.TreeRing(width=64).partial_fit(graph, classes=["0", "1"], val=0.2)
    assert list(by_classes.classes_) == ["0", "1"]
    labelled = sum(one in ("0", "1") for one in graph.y)
    assert 0.75 * labelled < sum(by_classes.tasks_[0]["facts"]["train"].values()) < 0.85 * labelled


def learned(stream, places, **parameters):
    model = treering.TreeRing(width=128, rank=16, **parameters)
    for place in places:
        model.learn(stream[place], name=f"t{place}")
    return model


def test_forgetting_is_exact_and_merging_too(graph, stream):
    kept, forgetful = learned(stream, [0, 2]), learned(stream, [0, 1, 2])
    assert [task["name"] for task in forgetful.forget("t1").tasks_] == ["t0", "t2"]
    assert np.array_equal(forgetful.predict_proba(graph), kept.predict_proba(graph))
    merged = learned(stream, [0]).merge(learned(stream, [2]))
    assert isinstance(merged, treering.TreeRing)
    assert np.array_equal(merged.predict_proba(graph), kept.predict_proba(graph))
    forgetful.learn(stream[1])
    assert forgetful.tasks_[-1]["name"] == "task-4"
    with pytest.raises(treering.TreeringError, match="seed 1"):
        kept.merge(learned(stream, [1], seed=1))
    with pytest.raises(treering.TreeringError, match="only task"):
        learned(stream, [0]).forget("t0")


def test_the_router_of_a_model_can_change(graph, stream):
    model = learned(stream, [0, 1])
    ridge = model.predict_proba(graph)
    model.set_params(router="prototype")
    assert np.isnan(model.familiarity(graph)).all() or not model._model.is_calibrated()
    shares = model.predict_proba(graph)
    assert (shares.sum(axis=1) > 0.999).all() and ((shares > 0).sum(axis=1) <= 2).all()
    with pytest.raises(ValueError, match="reject"):
        model.predict(graph, reject=0.1)
    assert np.array_equal(model.set_params(router="ridge").predict_proba(graph), ridge)


def test_tpp_learns_and_comes_back(stream, tmp_path):
    model = treering.TPP(hidden=32, contrastive_epochs=5, epochs=20)
    for place in (0, 1):
        model.learn(stream[place])
    model.save(tmp_path / "model")
    again = treering.load(tmp_path / "model")
    assert isinstance(again, treering.TPP) and again.get_params() == model.get_params()
    assert np.array_equal(again.predict_proba(stream[1], groups="all"), model.predict_proba(stream[1], groups="all"))
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "model")
    again.learn(stream[2])
    again.save(tmp_path / "model", force=True)
    assert len(treering.load(tmp_path / "model").tasks_) == 3


def test_a_page_has_nothing_that_a_name_brought(graph):
    model = treering.TreeRing(width=16)
    assert "Nothing has been learned" in model._repr_html_()
    model.learn(graph, classes=["0", "1"], name="<script>alert(1)</script>")
    model.learn(graph, classes=["2", "3"], name='"><img src=x>')
    page = model._repr_html_()
    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;" in page and "<svg" in page and page.count("<rect") == 4


def test_replacing_leaves_the_new_model_and_nothing_else(tmp_path, stream):
    first = treering.TreeRing(width=64, rank=8).learn(stream[0])
    second = treering.TreeRing(width=64, rank=8).learn(stream[1])
    first.save(tmp_path / "model")
    second.save(tmp_path / "model", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert list(treering.load(tmp_path / "model").classes_) == list(second.classes_)


def test_a_model_that_cannot_say_what_is_usual_says_so():
    graph = treering.Graph(np.array([[0], [2]]), np.eye(3, dtype=np.float32), ["x", "y", None])
    model = treering.TreeRing().learn(graph)
    assert len(model.predict(graph)) == 3
    with pytest.raises(ValueError, match="second train node"):
        model.predict(graph, reject=0.1)


@pytest.mark.parametrize("kind", [treering.TreeRing, treering.TPP])
def test_models_can_be_pickled_and_copied(stream, kind):
    small = {"width": 64, "rank": 8} if kind is treering.TreeRing else {"hidden": 8, "contrastive_epochs": 2, "epochs": 2}
    model = kind(seed=3, progress=False, **small)
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert made.get_params() == model.get_params() and made.tasks_ == []
    model.learn(stream[0]).learn(stream[1], name="other")
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(made) is kind and made.get_params() == model.get_params() and made.tasks_ == model.tasks_
        assert np.array_equal(made.predict_proba(stream[1]), model.predict_proba(stream[1]))
    with pytest.raises(ValueError, match="in the task `other` already"):
        made.learn(stream[1])


def test_only_classes_of_train_and_validation_nodes_are_looked_at(graph):
    train = np.isin(graph.y, ["0", "1"]) & (np.arange(graph.nodes) % 2 == 0)
    hidden, permuted = graph.y.copy(), graph.y.copy()
    hidden[~train] = None
    permuted[~train] = np.random.default_rng(1).permutation(graph.y[~train])
    models = [
        treering.TreeRing(width=64, rank=8).learn(treering.Graph(graph.edge_index, graph.x, y, directed=True), train=train)
        for y in (graph.y, hidden, permuted)
    ]
    assert models[0].tasks_[0]["classes"] == ["0", "1"]
    shares = [model.predict_proba(graph) for model in models]
    assert np.array_equal(shares[0], shares[1]) and np.array_equal(shares[0], shares[2])


def test_a_name_that_is_taken_is_not_given_again(stream, tmp_path):
    model = treering.TreeRing(width=64, rank=8)
    for at in range(3):
        model.learn(stream[at])
    model.forget("task-1")
    model.save(tmp_path / "model")
    for made in (copy.deepcopy(model), treering.load(tmp_path / "model")):
        assert made.learn(stream[3]).tasks_[-1]["name"] == "task-4"
    named = treering.TreeRing(width=64, rank=8).learn(stream[0], name="task-2").learn(stream[1])
    assert named.tasks_[-1]["name"] == "task-3"


def test_what_a_kill_left_is_removed(stream, tmp_path):
    model = treering.TreeRing(width=64, rank=8).learn(stream[0])
    model.save(tmp_path / "model")
    (tmp_path / ".model.replacing-abc" / "new").mkdir(parents=True)
    with pytest.raises(FileExistsError, match="force=True"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_parameters_are_attributes():
    model = treering.TreeRing(width=64)
    assert model.width == 64 and model.router == "ridge"
    model.width = 32
    assert model.get_params()["width"] == 32 and clone(model).width == 32
    with pytest.raises(ValueError, match="router"):
        model.router = "bogus"
    with pytest.raises(AttributeError):
        model.height


def test_scores_take_classes_as_graphs_do(graph, model):
    right = model.score(graph)
    assert model.score(graph, y=graph.y.astype(int)) == right == model.score(graph, y=list(graph.y))
    with pytest.raises(TypeError, match="whole numbers"):
        model.score(graph, y=graph.y.astype(float))


@pytest.mark.parametrize("progress", [None, True])
def test_nobody_has_to_be_there_to_see_the_progress(stream, monkeypatch, progress):
    closed = io.StringIO()
    closed.close()
    for stderr in (None, closed):
        monkeypatch.setattr(sys, "stderr", stderr)
        assert len(treering.TreeRing(width=64, rank=8, progress=progress).learn(stream[0]).tasks_) == 1
