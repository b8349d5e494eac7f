"""Lists on Ray, as far as Ray itself is not needed; tests/engines has the rest."""

import argparse
import json
import subprocess
import sys

import pytest

from treering import ray

JOB = {"id": "empty-0001", "level": 0, "memory": 1000, "cost": {"cpu_seconds": 0.5}}


def written(path, *jobs):
    path.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    return str(path)


def test_a_list_is_read(tmp_path):
    jobs = ray.read_list(written(tmp_path / "list.jsonl", JOB, {**JOB, "id": "empty-0002", "level": 1}))
    assert [(job.id, job.level, job.memory, job.cost) for job in jobs] == [("empty-0001", 0, 1000, 0.5), ("empty-0002", 1, 1000, 0.5)]


@pytest.mark.parametrize("lines, said", [([], "there is no job"), ([JOB, JOB], "line 2: there are two jobs"), ([JOB, {"id": "x"}], "line 2: this is no job"), ([JOB, 7], "line 2: this is no job")])
def test_a_bad_list_is_named(tmp_path, lines, said):
    with pytest.raises(ray.Failure, match=said) as failure:
        ray.read_list(written(tmp_path / "list.jsonl", *lines))
    assert failure.value.code == 2 and str(tmp_path / "list.jsonl") in str(failure.value)


def test_a_list_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([sys.executable, "-m", "treering.ray", str(tmp_path / "nothing")], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {tmp_path}/nothing: No such file")


def test_who_has_no_ray_is_told_how_to_get_it(tmp_path, monkeypatch, capsys):
    # None in place of a module makes its import fail.
    monkeypatch.setitem(sys.modules, "ray", None)
    assert ray.main([written(tmp_path / "list.jsonl", JOB)]) == 2
    assert "pip install" in capsys.readouterr().err


def test_the_last_error_is_the_reason():
    assert ray.reason_in("note: this\nerror: one\nerror: two\nthree\n") == "two\nthree"
    assert ray.reason_in("a\nb\n") == "b" and ray.reason_in("") == ""


@pytest.mark.parametrize("text, bytes_", [("800MB", 800_000_000), ("1.5GiB", 3 << 29), ("2 gb", 2_000_000_000), ("7", 7)])
def test_sizes(text, bytes_):
    assert ray.size(text) == bytes_


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "many", "1XB"])
def test_what_is_no_size(text):
    with pytest.raises(argparse.ArgumentTypeError):
        ray.size(text)
