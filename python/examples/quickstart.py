# %% [markdown]
# # Learn classes task by task
# A graph keeps growing new classes. Every batch of them is a task; nobody says later which task a node belongs to.

# %%
import tempfile
from pathlib import Path

import numpy as np

import treering

# %% [markdown]
# Data that a generator made up, so that this runs anywhere. `treering.read("cora.npz")` reads real data, `treering.Graph(edge_index, x, y)` takes arrays.

# %%
graph = treering.synth("demo")
stream = treering.Stream(graph, classes_per_task=2)
print(graph)
print(stream.tasks[0])

# %% [markdown]
# Learn the tasks one after the other. A task's graph has its own split: train nodes teach, the others wait.

# %%
model = treering.TreeRing()
for task in stream:
    model.learn(task)
print(model, "knows", len(model.tasks_), "tasks and", len(model.classes_), "classes")

# %% [markdown]
# Ask about the test nodes of the third task: node by node, and as a group that is known to come from one task.

# %%
task = stream[2]
test = task.split == "test"
alone = model.score(task, nodes=test)
together = model.score(task, nodes=test, groups="all")
print(f"node by node {alone:.3f}, as a group {together:.3f}")
print(model.predict(task, nodes=test)[:5], model.predict_task(task, nodes=test, groups="all")[:1])

# %% [markdown]
# Probabilities of all classes, and `unknown` where a node is like nothing learned.

# %%
shares = model.predict_proba(task, nodes=test)
print(shares.shape, shares.sum(axis=1).round(3)[:3])
strange = treering.Graph(np.array([[0], [1]]), np.random.default_rng(0).normal(size=(50, graph.features)) * 10)
print((model.predict(strange, reject=0.05) == "unknown").mean(), "of what is noise is unknown")

# %% [markdown]
# A model is a folder; the command line uses the same one. A task can be forgotten, exactly.

# %%
with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "model"
    model.save(folder)
    again = treering.load(folder)
    print("the same answers:", bool((again.predict(graph) == model.predict(graph)).all()))
model.forget("task-3")
print([task["name"] for task in model.tasks_])
