"""Graph class-incremental learning: new classes arrive task by task, nothing learned before changes.

    import treering

    graph = treering.synth("demo")
    model = treering.TreeRing()
    for task in treering.Stream(graph):
        model.learn(task)
    model.predict(graph)
"""

from treering._bench import Results, bench
from treering._data import read, synth
from treering._evaluate import evaluate
from treering._models import TPP, TreeRing, load
from treering._native import Graph, TreeringError, __version__
from treering._stream import Stream

__all__ = [
    "Graph",
    "Results",
    "Stream",
    "TPP",
    "TreeRing",
    "TreeringError",
    "__version__",
    "bench",
    "evaluate",
    "load",
    "read",
    "synth",
]
