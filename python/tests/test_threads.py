"""Several threads, forks, Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import treering


def test_threads_get_right_answers(model, graph, stream):
    tasks = [stream[place] for place in range(6)]
    wanted = [model.predict_proba(task) for task in tasks]
    wrong = []

    def ask(place):
        for _ in range(3):
            if not np.array_equal(model.predict_proba(tasks[place]), wanted[place]):
                wrong.append(place)

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_learning_and_asking_at_once_is_either_before_or_after(stream, graph):
    # Several times, because it took some luck to meet two pieces of work that waited for each other.
    for _ in range(10):
        model = treering.TreeRing(width=128, rank=16).learn(stream[0])
        before = model.predict_proba(graph)
        seen = []
        ask = lambda: [seen.append(model.predict_proba(graph)) for _ in range(3)]
        threads = [threading.Thread(target=ask) for _ in range(3)]
        [thread.start() for thread in threads]
        model.learn(stream[1])
        [thread.join() for thread in threads]
        after = model.predict_proba(graph)
        assert len(seen) == 9
        assert all(np.array_equal(one, before) or np.array_equal(one, after) for one in seen)


def test_a_graph_that_another_thread_writes_to(stream, model):
    task = stream[0]
    x = np.array(task.x)
    graph = treering.Graph(task.edge_index, x)
    wanted, refused, stop = model.predict_proba(graph), [], threading.Event()

    def write():
        while not stop.is_set():
            try:
                x[:] = 0
            except ValueError:
                refused.append(True)

    thread = threading.Thread(target=write)
    thread.start()
    got = [model.predict_proba(graph) for _ in range(3)]
    stop.set()
    thread.join()
    assert refused and all(np.array_equal(one, wanted) for one in got)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_goes_on_after_a_fork(model, graph):
    wanted = model.predict_proba(graph)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(model.predict_proba(graph), wanted) else 1)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


CTRL_C = """
import os, signal, threading, time, numpy as np, scipy.sparse, treering
stream = treering.Stream(treering.synth("demo"))
{start}
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    {slow}
except KeyboardInterrupt:
    assert time.monotonic() - began < 3, "late"
    {then}
    print("stopped")
"""

OF_TPP = {
    "start": """
model = treering.TPP(hidden=64, contrastive_epochs=5, epochs=5).learn(stream[0])
before = model.predict_proba(stream[0])
slow = treering.TPP(hidden=64, contrastive_epochs=1000000)
""",
    "slow": "slow.learn(stream[0])",
    "then": """
    assert slow.tasks_ == [] and len(model.tasks_) == 1
    slow.set_params(contrastive_epochs=5, epochs=5).learn(stream[0])
    assert np.array_equal(slow.predict_proba(stream[0]), before)
""",
}

OF_TREERING = {
    "start": """
x = scipy.sparse.random(30000, 4000, density=0.02, format="csr", dtype=np.float32, random_state=1)
edges = np.random.default_rng(1).integers(0, 30000, (2, 300000))
graph = treering.Graph(edges, x, np.arange(30000) % 40)
model = treering.TreeRing()
""",
    "slow": "model.learn(graph)",
    "then": """
    assert model.tasks_ == []
    alone = treering.TreeRing().learn(stream[0]).predict_proba(stream[0])
    assert np.array_equal(model.learn(stream[0]).predict_proba(stream[0]), alone)
""",
}


@pytest.mark.parametrize("parts", [OF_TPP, OF_TREERING], ids=["tpp", "treering"])
def test_ctrl_c_stops_at_once_and_leaves_the_model_as_it_was(parts):
    code = CTRL_C.format(**parts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "stopped", done.stderr
