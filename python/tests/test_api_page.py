"""The API page says what the package has."""

import runpy
from pathlib import Path

import treering

HERE = Path(__file__).parents[1]


def test_the_page_is_up_to_date_and_complete():
    made = runpy.run_path(str(HERE / "tools" / "api.py"))["page"]()
    assert (HERE / "API.md").read_text(encoding="utf-8") == made, "run python tools/api.py"
    for name in treering.__all__:
        assert name.startswith("_") or f"`{name}" in made, name
