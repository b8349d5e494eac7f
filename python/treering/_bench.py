"""The bench of the command line, from Python."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Union

from treering import _native

Words = Union[str, int, Sequence[Any]]


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
    learner: Words = "treering",
    protocol: Words = "paper",
    seeds: int = 1,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    **flags: Any,
) -> Results:
    """Compares learners in a process of its own: what `treering bench` does, with its flags as keywords.

    data: a Graph, a path, the name of built-in data, or a list of them.
    out: the folder of the results, where they are kept and gone on with; without it they are thrown away after they are read.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = os.fspath(out) if out is not None else os.path.join(place, "results")
        command = [sys.executable, "-m", "treering", "bench", "--out", folder, "--seeds", str(seeds)]
        command += ["--data", *_paths(data, place)]
        command += ["--learner", *_words(learner), "--protocol", *_words(protocol)]
        for name, value in flags.items():
            command += _flag(name, value)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = os.path.join(folder, "results.jsonl")
        if done.returncode == 2 or not os.path.exists(lines):
            message = done.stderr.strip()
            raise ValueError(message[message.rfind("error: ") + len("error: "):] if "error: " in message else message)
        with open(lines, encoding="utf-8") as text:
            return Results(json.loads(line) for line in text)


def _words(values: Words) -> List[str]:
    if isinstance(values, (list, tuple)):
        return [str(value) for value in values]
    return [str(values)]


def _paths(data: Any, place: str) -> List[str]:
    paths = []
    for number, one in enumerate(data if isinstance(data, (list, tuple)) else [data]):
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
