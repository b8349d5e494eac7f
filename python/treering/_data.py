"""Graphs from files and generators."""

import json
import os
from typing import Any, Optional, Union

from treering import _native
from treering._progress import painter


def read(path: Union[str, "os.PathLike[str]"], *, progress: Optional[bool] = None) -> _native.Graph:
    """Reads a graph from whatever lies at a path: a .treering or .npz file, a folder of tables, an unpacked OGB data set."""
    return _native.read(os.fspath(path), painter(progress))


def synth(preset: str = "demo", *, progress: Optional[bool] = None, **recipe: Any) -> _native.Graph:
    """Makes a synthetic graph. Values of the recipe (docs/synthetic.md) can be changed by name; `scale` makes it larger or smaller."""
    return _native.synth(preset, json.dumps(recipe, allow_nan=False), painter(progress))
