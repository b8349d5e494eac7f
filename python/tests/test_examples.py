"""The examples run, and say what they should."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_quick_start(capsys):
    runpy.run_path(str(EXAMPLES / "quickstart.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "knows 6 tasks and 12 classes" in said and "the same answers: True" in said
    assert "'task-3'" not in said.splitlines()[-1]


def test_a_learner_of_ones_own(capsys):
    results = runpy.run_path(str(EXAMPLES / "own_learner.py"))["main"]()
    assert [one["protocol"] for one in results] == ["paper", "single"] * 2
    assert results[0]["aa"] > 60 and results[2]["aa"] > 80
