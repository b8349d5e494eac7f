"""What models share: scikit-learn's manners over the native model."""

import inspect
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

import numpy as np

from treering import _native
from treering._nodes import labels, objects, selected
from treering._html import page
from treering._progress import painter

Folder = Union[str, "os.PathLike[str]"]


class Model:
    """What TreeRing and TPP share."""

    _learner = ""

    def __init__(self, **values: Any) -> None:
        self.progress = values.pop("progress", None)
        self._model = _native.Model(self._learner, self._changed(values))
        # As they were given, because scikit-learn's clone wants the very objects back.
        self._values = values

    @classmethod
    def _loaded(cls, folder: Folder, progress: Optional[bool]) -> "Model":
        """The model in a folder, whose learner is this one."""
        return cls._of(_native.Model.load(os.fspath(folder)), progress)

    @classmethod
    def _of(cls, native: _native.Model, progress: Optional[bool]) -> "Model":
        """A native model, whose learner is this one, with these manners."""
        model = cls(progress=progress)
        there = json.loads(native.parameters())
        model._model, model._values = native, {name: there[key] for name, key in cls._names().items()}
        return model

    @classmethod
    def _names(cls) -> Dict[str, str]:
        """The native names of the parameters, by their names in Python."""
        keys = json.loads(_native.defaults(cls._learner))
        return {key.replace(".", "_").replace("-", "_"): key for key in keys}

    @classmethod
    def _changed(cls, values: Dict[str, Any]) -> str:
        names = cls._names()
        unknown = [name for name in values if name not in names]
        if unknown:
            raise TypeError(f"{cls.__name__} has no parameter {unknown[0]}; there are {', '.join(names)}, progress")
        plain = {names[name]: _plain(name, value) for name, value in values.items()}
        return json.dumps(plain, allow_nan=False)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_values", {}):
            self.set_params(**{name: value})
        else:
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple:
        """A model is pickled and copied as what `save` writes."""
        return _revived, (type(self), self._values, self.progress, self._files())

    def _files(self) -> Dict[str, bytes]:
        """The files of the model's folder; none where nothing has been learned."""
        if not self.tasks_:
            return {}
        with tempfile.TemporaryDirectory() as place:
            folder = os.path.join(place, "model")
            self.save(folder)
            return {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """All parameters by name."""
        return {**self._values, "progress": self.progress}

    def set_params(self, **values: Any) -> "Model":
        """Changes parameters. Once something is learned only `progress`, and the router of TreeRing, can change."""
        progress = values.pop("progress", self.progress)
        if values:
            asked = {**self._values, **values}
            self._model.change(self._learner, self._changed(asked))
            self._values = asked
        self.progress = progress
        return self

    def __repr__(self) -> str:
        defaults = {name: value.default for name, value in inspect.signature(type(self)).parameters.items()}
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults.get(name)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        return page(repr(self), self.tasks_, self._model.prototypes())

    @property
    def tasks_(self) -> List[Dict[str, Any]]:
        """The tasks in the order of learning: name, classes, how many numbers are kept, and facts about the data."""
        return json.loads(self._model.tasks())

    @property
    def classes_(self) -> np.ndarray:
        """The names of all classes, in the order of learning."""
        return objects([name for task in self.tasks_ for name in task["classes"]])

    def learn(
        self, graph: _native.Graph, *, train: Any = None, val: Any = None, classes: Any = None, name: Optional[str] = None
    ) -> "Model":
        """Learns the classes of a graph as the next task. Nothing learned before changes by a bit.

        train: the nodes whose classes may be used, as a mask or as numbers; those of all nodes in neither train nor val are then looked at for nothing. Without
            it the train nodes of the graph's split, or every labelled node; nodes of other classes are then left out.
        val: nodes that are held out, likewise; or a share of every class's train nodes, such as 0.2.
        classes: the names of the task's classes; without it all that have a train node.
        name: what to call the task; task-N without it.
        """
        _is_graph(graph)
        share = None
        if isinstance(val, float):
            share, val = val, None
        roles = None
        if train is not None or val is not None:
            roles = _roles(graph, train, val)
        if classes is not None and len(classes) == 0:
            raise ValueError("classes is empty; name some, or leave it out for all that have a train node")
        chosen = [] if classes is None else [str(one) for one in ([classes] if isinstance(classes, str) else classes)]
        self._model.learn(graph, roles, share, chosen, name, painter(self.progress))
        return self

    partial_fit = learn

    def _ask(self, graph: _native.Graph, nodes: Any, groups: Any) -> Dict[str, np.ndarray]:
        return self._model.ask(*_asked(graph, nodes, groups), painter(self.progress))

    def predict(self, graph: _native.Graph, nodes: Any = None, groups: Any = None, *, reject: Optional[float] = None) -> np.ndarray:
        """The class of every node, by name: a text, also where classes were given as numbers. Nobody says which task a node belongs to.

        The likeliest task, and of its classes the likeliest. That is not always the class with the largest probability over all tasks.

        nodes: the nodes that are asked about, as a mask or as numbers; all without it.
        groups: what is known about them: None (nothing), "all" (they come from one task), or a label for every one of them; those
            with the same label come from one task.
        reject: answer "unknown" where a group is stranger than all but this share of known ones.
        """
        if reject is not None:
            if isinstance(reject, str) or not 0 < reject < 1:
                raise ValueError(f"reject is {reject}; it has to be more than 0 and less than 1, for instance 0.05")
            if not self._model.is_calibrated():
                raise ValueError("reject: a router that looks for the nearest prototype has no calibrated familiarity; use TreeRing with the router ridge")
        said = self._ask(graph, nodes, groups)
        names = self.classes_[said["class"]]
        if reject is not None:
            if np.isnan(said["familiarity"]).any():
                raise ValueError("reject: no class of the model has a second train node or a validation node to calibrate with; learn from more nodes")
            names[said["familiarity"] < reject] = "unknown"
        return names

    def predict_task(self, graph: _native.Graph, nodes: Any = None, groups: Any = None) -> np.ndarray:
        """The task of every node, by name."""
        names = objects([task["name"] for task in self.tasks_])
        return names[self._ask(graph, nodes, groups)["task"]]

    def predict_proba(self, graph: _native.Graph, nodes: Any = None, groups: Any = None) -> np.ndarray:
        """The probability of every class in the order of `classes_`, a row for every node.

        That of the task given the group, times that of the class given the task. Where the router has no probabilities (TPP, prototypes), the
        recognised task has all.
        """
        return self._model.probabilities(*_asked(graph, nodes, groups), painter(self.progress))

    def familiarity(self, graph: _native.Graph, nodes: Any = None, groups: Any = None) -> np.ndarray:
        """How much every node's group is like something learned; higher is more. Not a number where the router cannot say."""
        return self._ask(graph, nodes, groups)["familiarity"]

    def score(self, graph: _native.Graph, y: Any = None, nodes: Any = None, groups: Any = None) -> float:
        """Class-balanced accuracy, from 0 to 1, on nodes whose class is known.

        y: the class of every node that is asked about; without it the graph's own.
        """
        chosen = np.arange(graph.nodes) if nodes is None else selected(nodes, graph.nodes, "nodes")
        if y is None:
            if graph.y is None:
                raise ValueError("the graph has no classes to compare with; give y")
            truth = graph.y[chosen]
        else:
            numbers, classes = labels(y, len(chosen))
            truth = objects(classes + [""])[np.minimum(numbers, len(classes))]
        known = np.array([bool(one) for one in truth], dtype=bool)
        right = self.predict(graph, nodes, groups)[known] == truth[known]
        names, places = np.unique(truth[known], return_inverse=True)
        found = _native.balanced_accuracy(len(names), places.tolist(), right.tolist())
        if found is None:
            raise ValueError("no node that is asked about has a class; give y, or nodes that have one")
        return found

    def forget(self, task: str) -> "Model":
        """Takes a task out: TreeRing then answers, to the last bit, as if it had never seen it."""
        self._model.forget(task)
        return self

    def merge(self, *others: "Model") -> "Model":
        """A new model with the tasks of this one and of others, that were learned with the same parameters and seed."""
        with tempfile.TemporaryDirectory() as place:
            folders = []
            for number, model in enumerate((self, *others), start=1):
                if not isinstance(model, Model):
                    raise TypeError(f"a {type(model).__name__} cannot be merged; give models")
                folders.append(os.path.join(place, f"model-{number}"))
                model.save(folders[-1])
            out = os.path.join(place, "all")
            # The command line knows how; what it refuses, it says.
            command = [sys.executable, "-m", "treering", "merge", out, *folders]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                message = done.stderr.replace(place + os.sep, "").strip()
                raise _native.TreeringError(message[len("error: "):] if message.startswith("error: ") else message)
            return self._loaded(out, self.progress)

    def save(self, folder: Folder, *, force: bool = False) -> None:
        """Writes the model into a new folder, as the command line has it. force: in the place of a model that is there."""
        self._model.save(os.fspath(folder), force)


def _revived(kind: Any, values: Dict[str, Any], progress: Optional[bool], files: Dict[str, bytes]) -> Model:
    """What was pickled."""
    if not files:
        return kind(progress=progress, **values)
    with tempfile.TemporaryDirectory() as place:
        for name, content in files.items():
            path = Path(place, "model", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return kind._loaded(os.path.join(place, "model"), progress)


def _plain(name: str, value: Any) -> Any:
    """A number of numpy as one of Python."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"{name} is {value!r}; it has to be a number, a word, True or False")
    return value


def _is_graph(graph: Any) -> None:
    if not isinstance(graph, _native.Graph):
        raise TypeError(f"a {type(graph).__name__} is no treering.Graph; make one with treering.Graph(edge_index, x, y)")


def _roles(graph: _native.Graph, train: Any, val: Any) -> np.ndarray:
    """The role of every node out of masks; without a train mask every other labelled node trains."""
    roles = np.zeros(graph.nodes, dtype=np.uint8)
    if train is None:
        own = graph.split
        roles[:] = 1 if own is None else own == "train"
    else:
        roles[selected(train, graph.nodes, "train")] = 1
    if val is not None:
        held = selected(val, graph.nodes, "val")
        if train is not None and roles[held].any():
            raise ValueError("train and val have a node in common; give a node one role")
        roles[held] = 2
    return roles


def _asked(graph: Any, nodes: Any, groups: Any) -> tuple:
    """What the native model is asked: the graph, nodes, whether all belong together, and group numbers."""
    _is_graph(graph)
    chosen = None if nodes is None else selected(nodes, graph.nodes, "nodes")
    count = graph.nodes if chosen is None else len(chosen)
    if groups is None or isinstance(groups, str):
        if groups not in (None, "all"):
            raise ValueError(f"groups is {groups!r}; it has to be None, 'all', or a label for every node that is asked about")
        return graph, chosen, groups == "all", None
    given = np.asarray(groups)
    if given.shape != (count,):
        raise ValueError(f"groups has the shape {given.shape}; give one label for each of the {count} nodes that are asked about")
    if given.dtype == object:
        given = given.astype(str)
    numbers = np.unique(given, return_inverse=True)[1].reshape(-1)
    return graph, chosen, False, numbers.astype(np.uint32)
