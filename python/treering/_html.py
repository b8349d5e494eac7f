"""A model as a page for notebooks: a table of its tasks, and how far they are apart. Plain HTML without scripts."""

from html import escape
from typing import Any, Dict, List

import numpy as np

# More than so many tasks make no picture.
DRAWN = 60
CELL = 14


def page(title: str, tasks: List[Dict[str, Any]], prototypes: np.ndarray) -> str:
    """The page of a model."""
    head = f"<div><code>{escape(title)}</code>"
    if not tasks:
        return head + "<p>Nothing has been learned yet.</p></div>"
    return head + _table(tasks) + _map([task["name"] for task in tasks], prototypes) + "</div>"


def _table(tasks: List[Dict[str, Any]]) -> str:
    rows = []
    for task in tasks:
        facts = task["facts"]
        train = sum((facts.get("train") or {}).values())
        data = str(facts.get("data", "")) + (" (SYNTHETIC)" if facts.get("synthetic") else "")
        cells = [task["name"], ", ".join(task["classes"]), train, task["numbers"], data]
        rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    names = ("task", "classes", "train nodes", "numbers", "data")
    header = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _map(names: List[str], prototypes: np.ndarray) -> str:
    """Distances between prototypes: near is dark."""
    count = len(names)
    if count < 2:
        return ""
    if count > DRAWN:
        return f"<p>{count} tasks are too many to draw their distances.</p>"
    apart = np.array([np.linalg.norm(prototypes - row, axis=1) for row in prototypes])
    farthest = apart.max() or 1.0
    squares = []
    for row in range(count):
        for column in range(count):
            light = int(35 + 60 * apart[row, column] / farthest)
            about = escape(f"{names[row]} and {names[column]}: {apart[row, column]:.3f}")
            place = f'x="{column * CELL}" y="{row * CELL}" width="{CELL}" height="{CELL}"'
            squares.append(f'<rect {place} fill="hsl(150, 40%, {light}%)"><title>{about}</title></rect>')
    size = count * CELL
    picture = f'<svg width="{size}" height="{size}" role="img" aria-label="distances between tasks">{"".join(squares)}</svg>'
    return f"<p>Distances between tasks (dark is near; the farthest two are {farthest:.3f} apart)</p>{picture}"
