"""A cluster and a list for every test. Without Ray there is nothing to test here: `cargo xtask engines` installs it."""

import tempfile
from pathlib import Path

import pytest

from two_nodes import SOCKETS, Cluster, Jobs, treering

# Without Ray no file of this folder is even read.
try:
    import ray as _  # noqa: F401
except ImportError:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def material(tmp_path_factory):
    """A graph and a model of it."""
    place = tmp_path_factory.mktemp("material")
    treering("data", "synth", "demo", "-o", place / "graph.treering")
    treering("learn", place / "model", place / "graph.treering", "--classes-per-task", 2)
    return place


@pytest.fixture(scope="session")
def expected(material):
    """What one command says, without a list."""
    treering("predict", material / "model", material / "graph.treering", "-o", material / "answers.csv")
    return (material / "answers.csv").read_bytes()


@pytest.fixture
def jobs(tmp_path, material):
    return Jobs(tmp_path, material)


@pytest.fixture(scope="session")
def running():
    with tempfile.TemporaryDirectory(dir=SOCKETS, prefix="tr") as place:
        cluster = Cluster(Path(place))
        try:
            cluster.open()
            yield cluster
        finally:
            cluster.close()


@pytest.fixture
def cluster(running):
    """Two nodes, whatever the test before did to them."""
    running.ensure_node()
    return running
