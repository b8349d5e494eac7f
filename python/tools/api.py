"""Writes API.md out of the package's own words: signatures and docstrings of the modules, and of the stub for what is native.

python tools/api.py          writes the page
python tools/api.py --check  says whether it is up to date
"""

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
PAGE = HERE / "API.md"
PACKAGE = HERE / "treering"

# What the page has, in this order: a heading, the file, and the names in it.
CONTENT = [
    ("Graphs", "_native.pyi", ["Graph"]),
    ("Data", "_data.py", ["read", "synth"]),
    ("Streams", "_stream.py", ["Stream"]),
    ("Models", "_models.py", ["TreeRing", "TPP", "load"]),
    ("What models do", "_model.py", ["Model"]),
    ("Comparing learners", "_evaluate.py", ["evaluate"]),
    ("What a learner of your own is shown", "_native.pyi", ["Task", "Query"]),
    ("The bench", "_bench.py", ["bench", "Results"]),
    ("Errors", "_native.pyi", ["TreeringError"]),
]
START = """# The Python package, name by name

Made by `python tools/api.py` out of the package's own words; `tests/test_api_page.py` says when it has to be made again. [README.md](README.md) has the quick start.
"""


def page() -> str:
    """The whole page."""
    text = [START]
    for heading, file, names in CONTENT:
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        known = {node.name: node for node in tree.body if hasattr(node, "name")}
        text.append(f"## {heading}\n")
        text += [described(known[name], 3) for name in names]
    return "\n".join(text)


def described(node: ast.AST, level: int, owner: str = "") -> str:
    """A class with its public parts, or a function."""
    is_property = any(getattr(mark, "id", "") == "property" for mark in node.decorator_list)
    title = f"{owner}{node.name}"
    if isinstance(node, ast.FunctionDef):
        title += f" -> {ast.unparse(node.returns)}" if is_property else f"({arguments(node)})"
    text = f"{'#' * level} `{title}`\n\n{words(node)}"
    if isinstance(node, ast.ClassDef):
        parts = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        begin = [part for part in parts if part.name == "__init__" and node.name != "Model"]
        text += "".join(f"`{node.name}({arguments(part)})`\n\n{words(part)}" for part in begin)
        public = [part for part in parts if not part.name.startswith("_")]
        text += "".join(described(part, level + 1, f"{node.name}.") for part in public)
    return text


def arguments(function: ast.FunctionDef) -> str:
    """The arguments without self."""
    function.args.args = [one for one in function.args.args if one.arg != "self"]
    return ast.unparse(function.args)


def words(node: ast.AST) -> str:
    """The docstring, lists of arguments as lists."""
    said = ast.get_docstring(node) or ""
    lines, before = [], ""
    for line in said.splitlines():
        name, colon, rest = line.partition(": ")
        if colon and name.isidentifier() and before != "" and not line.startswith(" "):
            line = f"- `{name}`: {rest}"
        lines.append(line)
        before = line or " "
    return "\n".join(lines) + "\n\n" if lines else ""


if __name__ == "__main__":
    made = page()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == made else "API.md is out of date; run python tools/api.py")
    PAGE.write_text(made, encoding="utf-8")
