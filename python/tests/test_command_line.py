"""One model, two ways in: the package and the command line."""

import csv
import subprocess
import sys

import numpy as np

import treering


def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "treering", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_exit_codes_come_through():
    for arguments, code in ([["--version"], 0], [["inspect", "nothing"], 2], [["no-such-command"], 2]):
        done = subprocess.run([sys.executable, "-m", "treering", *arguments], capture_output=True, text=True)
        assert done.returncode == code, done


def test_models_cross_over_and_answer_to_the_bit(graph, stream, tmp_path):
    file = tmp_path / "graph.treering"
    graph.write(file)
    ours = treering.TreeRing(width=128, rank=16, seed=5)
    for place, task in enumerate(stream):
        task.write(tmp_path / f"{place}.treering")
        ours.learn(task)
        command("learn", tmp_path / "theirs", tmp_path / f"{place}.treering", *(["--width", 128, "--rank", 16, "--seed", 5] if place == 0 else []))
    ours.save(tmp_path / "ours")
    names = sorted(path.relative_to(tmp_path / "ours") for path in (tmp_path / "ours").rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path / "theirs") for path in (tmp_path / "theirs").rglob("*") if path.is_file())
    for name in names:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name
    theirs = treering.load(tmp_path / "theirs")
    assert np.array_equal(theirs.predict_proba(graph), ours.predict_proba(graph))
    said = ours._ask(graph, None, None)
    rows = list(csv.DictReader(command("predict", tmp_path / "ours", file).splitlines()))
    assert [row["class"] for row in rows] == list(ours.predict(graph))
    assert [row["task"] for row in rows] == list(ours.predict_task(graph))
    assert [float(row["confidence"]) for row in rows] == said["confidence"].tolist()
    assert [float(row["margin"]) for row in rows] == said["margin"].tolist()


def test_a_bench_gives_dicts_and_a_frame(graph, tmp_path):
    results = treering.bench(graph, ["treering", "finetune"], ["paper", "single"], seeds=1, out=tmp_path / "out", set=["finetune.epochs=2", "treering.width=64"])
    assert len(results) == 4 and {one["learner"] for one in results} == {"treering", "finetune"}
    assert all(one["status"] == "done" and one["synthetic"] for one in results)
    frame = results.frame()
    assert frame.shape[0] == 4 and set(frame["protocol"]) == {"paper", "single"}
    ours = treering.evaluate("treering", graph, ["paper", "single"], parameters={"width": 64})
    for one in ours:
        same = [other for other in results if other["learner"] == "treering" and other["protocol"] == one["protocol"]]
        assert one["aa"] == same[0]["aa"] and one["matrix"] == same[0]["matrix"]
