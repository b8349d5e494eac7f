"""Learners under protocols, one's own among them."""

import json
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from treering import _native
from treering._progress import painter


def evaluate(
    learner: Union[str, Callable[[], Any]],
    graph: _native.Graph,
    protocols: Union[str, Sequence[str]] = ("paper",),
    seeds: Union[int, Sequence[int]] = 1,
    *,
    classes_per_task: int = 2,
    order: str = "ascending",
    split_seed: Optional[int] = None,
    parameters: Optional[Dict[str, Any]] = None,
    progress: Optional[bool] = None,
) -> List[Dict[str, Any]]:
    """Lets a learner learn a graph's tasks one after the other, asks it after each, and gives a result for every seed and protocol.

    learner: the name of one that the bench has (`treering bench --list`), or a class (or function) that gives an object with
        `learn(task)` and `predict(query)` when it is called without arguments. A task has graph, train, train_y and classes; a query has
        graph, nodes and groups, and under `oracle` tasks. `predict` gives the name of a class for every node of the query. Nodes are shown in a random order,
        another one every time. A learner of one's own says nothing about what it has never learned, so protocols such as `open` give it no AUROC.
    protocols: what is shown, see docs/protocols.md.
    seeds: how many, from 0 on, or which.
    parameters: of a learner that has a name, by the names of docs/bench.md.
    """
    if isinstance(protocols, str):
        protocols = [protocols]
    chosen = list(range(seeds) if isinstance(seeds, int) else seeds)
    if not chosen or not list(protocols):
        raise ValueError("there is no run to do; give at least one seed and one protocol")
    if not isinstance(learner, str) and not callable(learner):
        raise TypeError(f"a {type(learner).__name__} is no learner; give a name, or a class with learn(task) and predict(query)")
    if not isinstance(learner, str) and parameters:
        raise TypeError("parameters are for learners that have a name; give what makes the learner a function that sets them")
    changed = json.dumps(parameters or {}, allow_nan=False)
    found = _native.evaluate(
        graph, learner, changed, list(protocols), list(chosen), classes_per_task, order, split_seed, painter(progress)
    )
    return json.loads(found)
