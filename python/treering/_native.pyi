"""The native half. Use it through the package `treering`."""

from typing import Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

__version__: str

class TreeringError(ValueError):
    """A model that cannot be used as asked, or whose files are wrong."""

class Graph:
    """Arcs, features, and what is known about the nodes.

    Dense features that are float32 and contiguous are not copied: the array becomes read-only, because the graph reads it for as long as it lives.
    """

    def __init__(
        self,
        edge_index: Any,
        x: Any = None,
        y: Any = None,
        *,
        edge_weight: Any = None,
        directed: bool = False,
        split: Any = None,
        node_ids: Any = None,
        name: str = "python",
    ) -> None:
        """From arrays, or from a PyG `Data` or a DGL graph alone.

        edge_index: whole numbers of the shape (2, E), a scipy adjacency, or a table (pandas, pyarrow) with the columns src, dst and perhaps weight.
        x: a row for every node: numbers, a scipy matrix (features stay sparse), or a table.
        y: the class of every node: whole numbers (negative: none) or texts (None or empty: none).
        edge_weight: a number for every edge.
        directed: keep arcs as they are; else every arc gets its mirror image.
        split: train, val, test or an empty text for every node, or a dict of masks.
        node_ids: what the nodes are called outside.
        name: what the graph is called in models and results.
        """
    @property
    def nodes(self) -> int:
        """How many nodes there are."""
    @property
    def arcs(self) -> int:
        """How many arcs there are; an undirected edge is two."""
    @property
    def features(self) -> int:
        """How many feature columns there are."""
    @property
    def classes(self) -> List[str]:
        """The names of the classes."""
    @property
    def name(self) -> str:
        """What the graph is called."""
    @property
    def synthetic(self) -> bool:
        """Whether a generator made it up."""
    @property
    def x(self) -> Any:
        """The features: the array as it was given where it was not copied, else a copy; a scipy matrix where they are sparse."""
    @property
    def y(self) -> Optional[npt.NDArray[np.object_]]:
        """The class of every node by name, None where it has none; None where no class is known."""
    @property
    def edge_index(self) -> npt.NDArray[np.int64]:
        """Source and target of every arc."""
    @property
    def edge_weight(self) -> Optional[npt.NDArray[np.float32]]:
        """The weight of every arc; None where all are 1."""
    @property
    def split(self) -> Optional[npt.NDArray[np.object_]]:
        """train, val, test or an empty text for every node; None where there is no split."""
    @property
    def node_ids(self) -> npt.NDArray[np.object_]:
        """What every node is called outside."""
    def write(self, path: Any, *, force: bool = False) -> None:
        """Writes the graph: .treering, .npz, or a folder of tables. force: in the place of what is there."""

class Stream:
    def __init__(
        self, graph: Graph, classes_per_task: int = 2, order: str = "ascending", seed: int = 0, split_seed: Optional[int] = None
    ) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int) -> Graph: ...
    def describe(self) -> str: ...

class Task:
    """A task that a learner written in Python is to learn from."""

    @property
    def graph(self) -> Graph:
        """The task's graph; it has no classes and no split."""
    @property
    def train(self) -> npt.NDArray[np.int64]:
        """The train nodes."""
    @property
    def train_y(self) -> List[str]:
        """The class of every train node, by name."""
    @property
    def classes(self) -> List[str]:
        """The names of the task's classes."""

class Query:
    """Nodes that a learner written in Python is to classify."""

    @property
    def graph(self) -> Graph:
        """The graph; it has no classes and no split."""
    @property
    def nodes(self) -> npt.NDArray[np.int64]:
        """The nodes that are asked about."""
    @property
    def groups(self) -> npt.NDArray[np.int64]:
        """The group of every node: those with the same number are known to come from one task."""
    @property
    def tasks(self) -> Optional[npt.NDArray[np.int64]]:
        """The task of every node, by its place in the order of learning. Only the protocol oracle says it."""

class Model:
    def __init__(self, learner: str, changed: str) -> None: ...
    @staticmethod
    def load(folder: str) -> Model: ...
    def learner(self) -> str: ...
    def parameters(self) -> str: ...
    def change(self, learner: str, changed: str) -> None: ...
    def learn(
        self,
        graph: Graph,
        roles: Optional[npt.NDArray[np.uint8]],
        share: Optional[float],
        classes: List[str],
        name: Optional[str],
        painter: Any,
    ) -> None: ...
    def ask(
        self, graph: Graph, nodes: Optional[npt.NDArray[np.uint32]], together: bool, groups: Optional[npt.NDArray[np.uint32]], painter: Any
    ) -> Dict[str, npt.NDArray[Any]]: ...
    def probabilities(
        self, graph: Graph, nodes: Optional[npt.NDArray[np.uint32]], together: bool, groups: Optional[npt.NDArray[np.uint32]], painter: Any
    ) -> npt.NDArray[np.float64]: ...
    def is_calibrated(self) -> bool: ...
    def tasks(self) -> str: ...
    def prototypes(self) -> npt.NDArray[np.float64]: ...
    def forget(self, task: str) -> None: ...
    def save(self, folder: str, force: bool) -> None: ...

def read(path: str, painter: Any = None) -> Graph: ...
def synth(preset: str, changes: str, painter: Any = None) -> Graph: ...
def defaults(learner: str) -> str: ...
def evaluate(
    graph: Graph,
    learner: Any,
    changed: str,
    protocols: List[str],
    seeds: List[int],
    classes_per_task: int,
    order: str,
    split_seed: Optional[int],
    painter: Any,
) -> str: ...
def balanced_accuracy(classes: int, truth: List[int], right: List[bool]) -> Optional[float]: ...
def main(arguments: List[str], again: List[str]) -> int: ...
