"""What the tests share: one small graph, and a model that knows it."""

import numpy as np
import pytest

import treering


@pytest.fixture(scope="session")
def graph():
    return treering.synth("demo")


@pytest.fixture(scope="session")
def stream(graph):
    return treering.Stream(graph)


@pytest.fixture(scope="session")
def model(stream):
    """Not to be changed by a test."""
    model = treering.TreeRing(width=256, rank=32)
    for task in stream:
        model.learn(task)
    return model


@pytest.fixture
def arrays():
    """Six nodes in a ring, two classes."""
    edges = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    x = np.arange(18, dtype=np.float32).reshape(6, 3) / 10
    return edges, x, np.array([0, 0, 0, 1, 1, 1])
