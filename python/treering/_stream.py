"""A graph as a sequence of tasks."""

import json
from typing import Any, Dict, Iterator, List

from treering import _native


class Stream(_native.Stream):
    """A graph cut into tasks; see docs/streams.md. Tasks are graphs with a split of their own, made when they are asked
    for; a split that the graph has already is not looked at.

    Stream(graph, classes_per_task=2, order="ascending", seed=0, split_seed=None)
    """

    __slots__ = ()

    @property
    def tasks(self) -> List[Dict[str, Any]]:
        """What is known about every task: its number from 1, classes, and how many nodes it has for what."""
        return json.loads(self.describe())["tasks"]

    @property
    def dropped(self) -> List[Dict[str, Any]]:
        """Classes that are in no task, with the reason."""
        return json.loads(self.describe())["dropped"]

    def __iter__(self) -> Iterator[_native.Graph]:
        for place in range(len(self)):
            yield self[place]
