"""What is known about nodes, as plain numpy arrays: classes, roles, ids, and which of them are meant."""

from typing import Any, Dict, List, Tuple

import numpy as np

# As the native code numbers them.
ROLES = {"": 0, "none": 0, "train": 1, "val": 2, "valid": 2, "validation": 2, "test": 3}
NO_CLASS = np.uint32(0xFFFFFFFF)
# How pandas calls whole numbers of which some may be missing.
INTEGERS = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}


def array(values: Any) -> np.ndarray:
    """Anything with numbers in it, without a copy where there is a way."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("an array has a mask of missing values; give a plain array, such as values.filled(...)")
    if hasattr(values, "detach"):  # a tensor, perhaps on another device
        values = values.detach().cpu()
    kind = str(getattr(values, "type", ""))
    if kind.startswith("dictionary") and hasattr(values, "cast"):
        # Texts by their numbers, in pyarrow: its own way to numpy takes what is missing for the last of them.
        values = values.cast(values.type.value_type)
    if hasattr(values, "null_count") and values.null_count:
        return objects(values.to_pylist())
    if hasattr(values, "to_numpy"):
        try:
            return values.to_numpy(zero_copy_only=False)
        except TypeError:  # pyarrow alone wants to be told that it may copy, and only some of it
            return values.to_numpy()
    return np.asarray(values)


def objects(values: list) -> np.ndarray:
    """A list as an array of objects."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def labels(y: Any, nodes: int) -> Tuple[np.ndarray, List[str]]:
    """The class of every node by number, and the names of the classes."""
    given = array(y)
    if given.ndim == 2 and 1 in given.shape:
        given = given.reshape(-1)
    if given.shape != (nodes,):
        raise ValueError(f"y has the shape {given.shape}; give one class for each of {nodes} nodes")
    if given.dtype.kind == "f" and hasattr(y, "isna") and str(y.dtype) in INTEGERS:
        given = objects([None if missing else int(value) for value, missing in zip(given, y.isna())])
    if given.dtype.kind in "iu":
        known = given >= 0
    elif given.dtype.kind in "USO":
        given = objects([_class_name(value) for value in given.tolist()])
        known = given != ""
    else:
        raise TypeError(f"y has values of type {given.dtype}; give whole numbers (negative: no class) or texts (None: no class)")
    classes, places = np.unique(given[known], return_inverse=True)
    numbers = np.full(nodes, NO_CLASS, dtype=np.uint32)
    numbers[known] = places.reshape(-1)
    return numbers, [str(name) for name in classes.tolist()]


def _class_name(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value < 0:
        return ""
    if isinstance(value, bytes):
        raise TypeError("y has bytes; decode them to texts")
    if isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"y has the value {value!r}; give whole numbers, texts or None")


def roles(split: Any, nodes: int) -> np.ndarray:
    """The role of every node by number, from words or from masks."""
    found = np.zeros(nodes, dtype=np.uint8)
    if isinstance(split, dict):
        for role, chosen in split.items():
            number = _role(role)
            places = selected(chosen, nodes, f"split[{role!r}]")
            if np.any((found[places] != 0) & (found[places] != number)):
                raise ValueError(f"split[{role!r}] has a node that is in another part too; give a node one role")
            found[places] = number
        return found
    words = array(split)
    if words.shape != (nodes,):
        raise ValueError(f"split has the shape {words.shape}; give one word for each of {nodes} nodes")
    found[:] = [_role("" if word is None else word) for word in words.tolist()]
    return found


def _role(word: Any) -> int:
    number = ROLES.get(word.strip().lower()) if isinstance(word, str) else None
    if number is None:
        raise ValueError(f"split has {word!r}; a role is train, val, test or an empty text")
    return number


def selected(chosen: Any, nodes: int, what: str) -> np.ndarray:
    """Node numbers from a mask or from numbers."""
    given = array(chosen)
    if given.dtype.kind == "b":
        if given.shape != (nodes,):
            raise ValueError(f"{what} is a mask of the shape {given.shape}; give one value for each of {nodes} nodes")
        return np.flatnonzero(given).astype(np.uint32)
    if given.ndim != 1:
        raise ValueError(f"{what} has {given.ndim} dimensions; give a mask, or a list of node numbers")
    if given.size == 0:
        return np.zeros(0, dtype=np.uint32)
    if given.dtype.kind not in "iu":
        raise TypeError(f"{what} has values of type {given.dtype}; give a mask of booleans, or node numbers")
    if given.min() < 0 or given.max() >= nodes:
        wrong = given[(given < 0) | (given >= nodes)][0]
        raise ValueError(f"{what} has the node {wrong}; nodes are numbered 0 to {nodes - 1}")
    if given.size == nodes > 2 and given.max() <= 1:
        raise ValueError(f"{what} has a 0 or 1 for every node, which would name nodes 0 and 1; for a mask give booleans, such as {what}.astype(bool)")
    return given.astype(np.uint32)


def names(node_ids: Any, nodes: int) -> Dict[str, Any]:
    """Whole numbers or texts."""
    given = array(node_ids)
    if given.shape != (nodes,):
        raise ValueError(f"node_ids has the shape {given.shape}; give one for each of {nodes} nodes")
    if given.dtype.kind in "iu" and not (given.size and given.max() > np.iinfo(np.int64).max):
        found: Dict[str, Any] = {"numbers": given.astype(np.int64)}
    else:
        given = objects([str(name) for name in given.tolist()])
        found = {"names": given.tolist()}
    if len(np.unique(given)) != nodes:
        raise ValueError("node_ids has one id twice; give every node its own")
    return found
