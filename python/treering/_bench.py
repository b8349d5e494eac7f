"""The bench of the command line, from Python."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from treering import _native
from treering._data import read, synth
from treering._evaluate import evaluate
from treering._progress import is_shown

Words = Union[str, int, Sequence[Any]]

# What a learner of one's own can be asked under.
OWN_FLAGS = {"classes_per_task", "order", "split_seed"}


class Results(List[Dict[str, Any]]):
    """Results of a bench, a dict for every run; docs/bench.md says what stands in them."""

    def frame(self) -> Any:
        """The results as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("a frame needs pandas; `pip install pandas` brings it") from error
        return pandas.DataFrame(list(self))


def bench(
    data: Any,
    learner: Any = None,
    protocol: Optional[Words] = None,
    seeds: int = 1,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    progress: Optional[bool] = None,
    **flags: Any,
) -> Results:
    """Compares learners: what `treering bench` does in a process of its own, with its flags as keywords.

    data: a Graph, a path, the name of built-in data, or a list of them.
    learner: a name, a class of one's own as `evaluate` takes it, or a list of them; "treering" without it. Classes learn in this process, after the others, and
        their results are in no folder; of the flags they take classes_per_task, split_seed and one order.
    protocol: one or several; "paper" without it. A preset decides on learners and protocols itself, so leave both out where there is one.
    out: the folder of the results, where they are kept and gone on with; without it they are thrown away after they are read. Results are those of this call
        on test nodes, by data, learner, protocol and seed; of a preset, all that are in the folder.
    progress: whether to show what the bench says about it; None decides by where standard error goes.
    """
    if flags.get("preset") is None:
        learner = "treering" if learner is None else learner
        protocol = "paper" if protocol is None else protocol
    learners = [] if learner is None else _listed(learner)
    if not learners and flags.get("preset") is None:
        raise ValueError("there is no learner; name one")
    own = [one for one in learners if callable(one)]
    if own and not set(flags) <= OWN_FLAGS:
        raise TypeError(f"{min(set(flags) - OWN_FLAGS)} is for learners that have a name; classes take {', '.join(sorted(OWN_FLAGS))}")
    named = [one for one in learners if not callable(one)]
    found = _of_named(data, named, protocol, seeds, out, progress, flags) if named or not own else Results()
    for one in own:
        for graph in _listed(data):
            graph = _graph(graph)
            results = evaluate(one, graph, _words(protocol or ()), seeds, progress=progress, **flags)
            name = getattr(one, "__name__", type(one).__name__)
            found.extend({**result, "data": graph.name, "learner": name, "status": "done"} for result in results)
    return found


def _of_named(
    data: Any, learners: List[Any], protocol: Optional[Words], seeds: int, out: Any, progress: Optional[bool], flags: Dict[str, Any]
) -> Results:
    """The results of learners that the command line has."""
    with tempfile.TemporaryDirectory() as place:
        folder = os.fspath(out) if out is not None else os.path.join(place, "results")
        command = [sys.executable, "-m", "treering", "bench", "--out", folder, "--seeds", str(seeds)]
        command += ["--data", *_paths(data, place)]
        asked = {"learner": _words(learners), "protocol": _words(protocol or ())}
        for name, words in asked.items():
            command += [f"--{name}", *words] if words else []
        for name, value in flags.items():
            command += _flag(name, value)
        code, message = _run(command, is_shown(progress))
        lines = os.path.join(folder, "results.jsonl")
        if code == 2 or not os.path.exists(lines):
            message = message[message.rfind("error: ") + len("error: "):] if "error: " in message else message
            raise ValueError(message or "the bench had nothing to say; is a flag among the keywords that only prints?")
        with open(lines, encoding="utf-8") as text:
            found = [json.loads(line) for line in text]
        return Results(_ordered(found, asked, seeds) if all(asked.values()) else found)


def _ordered(found: List[Dict[str, Any]], asked: Dict[str, List[str]], seeds: int) -> List[Dict[str, Any]]:
    """Of all results of a folder those on test nodes that were asked for, in that order."""
    own = [one for one in found if one["asked"] == "test" and one["seed"] < seeds and all(one[key] in words for key, words in asked.items())]
    return sorted(own, key=lambda one: (one["data"], *(words.index(one[key]) for key, words in asked.items()), one["order"], one["seed"]))


def _graph(data: Any) -> _native.Graph:
    """A graph, or what lies at a path or is built in by that name; as the command line looks for it."""
    if isinstance(data, _native.Graph):
        return data
    return read(data) if os.path.exists(data) else synth(os.fspath(data))


def _listed(data: Any) -> List[Any]:
    return list(data) if isinstance(data, (list, tuple)) else [data]


def _run(command: List[str], shown: bool) -> Tuple[int, str]:
    """Runs a command; its exit code, and what it said on standard error, which is passed on where it is to be shown."""
    said = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace") as child:
        try:
            for line in child.stderr or ():
                said.append(line)
                if shown:
                    sys.stderr.write(line)
        except BaseException:
            # What is finished is kept in the folder; nothing goes on behind the back of whoever stopped it.
            child.terminate()
            raise
    return child.returncode, "".join(said).strip()


def _words(values: Words) -> List[str]:
    if isinstance(values, (list, tuple)):
        return [str(value) for value in values]
    return [str(values)]


def _paths(data: Any, place: str) -> List[str]:
    paths = []
    for number, one in enumerate(_listed(data)):
        if isinstance(one, _native.Graph):
            folder = os.path.join(place, str(number))
            os.mkdir(folder)
            path = os.path.join(folder, _file_name(one.name) + ".treering")
            one.write(path)
            paths.append(path)
        else:
            paths.append(os.fspath(one))
    return paths


def _file_name(name: str) -> str:
    """A graph's name as a file's: runs are called by it."""
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)[:80] or "graph"


def _flag(name: str, value: Any) -> List[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    # Once for every value: some flags take one at a time.
    return [part for word in _words(value) for part in (flag, word)]
