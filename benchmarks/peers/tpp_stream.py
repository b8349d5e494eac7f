"""What every TPP peer does alike: reading the graph and the tasks, going through the stream, the contrastive loss, the metrics, the report.

A peer is a class with
  name                                of the mode, for the report
  Peer(arguments, graph, tasks)       makes what it needs of the data
  pretrain(task) -> losses            trains the encoder on the first task
  learn(task)                         trains head and prompt of a task
  profile(task, nodes) -> vector      the prototype of some nodes of a task, in float64
  logits(task, nodes, learned)        of these nodes with the prompt and head of the task numbered `learned`
"""

import contextlib
import csv
import json
import os
import resource
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import torch

# What torch's sparse matrices and the PyTorch Geometric that goes with it say at every start, and nothing here can change.
warnings.filterwarnings("ignore", message="Sparse (CSR tensor support is in beta|invariant checks are implicitly)")
warnings.filterwarnings("ignore", message=".*torch.jit.script.* is deprecated")

HIDDEN = 256  # d
PROJECTED = 512  # inner width of the projector
TOKENS = 3  # k, tokens per prompt
SMOOTHING_STEPS = 3  # s, of the prototype
DROP_ARCS = 0.2
DROP_COLUMNS = 0.3
TEMPERATURE = 0.5
PRETRAIN_ADAM = dict(lr=1e-3, weight_decay=1e-5)  # torch's Adam adds weight decay to the gradient (L2), as wanted
TASK_ADAM = dict(lr=5e-3, weight_decay=5e-4)


# --- Data ---


class Graph:
    """The whole graph: `arcs` is a CSR of ones without the diagonal, whose row i holds the arcs j -> i."""

    def __init__(self, path):
        with np.load(path) as archive:
            def csr(name):
                parts = (archive[f"{name}_data"], archive[f"{name}_indices"], archive[f"{name}_indptr"])
                return sp.csr_matrix(parts, shape=tuple(archive[f"{name}_shape"].astype(np.int64)))

            stored = csr("adj")
            # Published files never say, and mean undirected edges, stored in one direction or in both.
            directed = "directed" in archive and bool(archive["directed"][0])
            # Sparse or dense, as the file has them.
            features = archive["attr_matrix"] if "attr_matrix" in archive else csr("attr")
        arcs = (stored.T if directed else stored + stored.T).tocoo()
        between = arcs.row != arcs.col
        arcs = sp.csr_matrix((np.ones(between.sum()), (arcs.row[between], arcs.col[between])), shape=arcs.shape)
        arcs.data[:] = 1  # an arc that is stored more than once is one arc
        self.arcs, self.features = arcs, features


class Task:
    """The nodes of a task, and which of them are for training and for the test, as positions among them."""

    def __init__(self, number, rows):
        self.number = number
        self.nodes = np.array([int(row["node"]) for row in rows])
        self.labels = np.array([int(row["class"]) for row in rows])  # position among all classes of the stream
        self.classes = np.unique(self.labels)
        splits = np.array([row["split"] for row in rows])
        self.train = np.flatnonzero(splits == "train")
        self.test = np.flatnonzero(splits == "test")
        self.target = np.searchsorted(self.classes, self.labels)  # position among the task's classes


def read_tasks(folder):
    with open(os.path.join(folder, "stream.json"), encoding="utf-8") as file:
        stream = json.load(file)
    if stream["options"]["inter_task"] != "dropped":
        raise SystemExit("this implementation knows only streams without edges between tasks")
    rows = [[] for _ in stream["tasks"]]
    with open(os.path.join(folder, "nodes.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[int(row["task"]) - 1].append(row)
    tasks = [Task(number, own) for number, own in enumerate(rows, start=1)]
    if len({len(task.classes) for task in tasks}) != 1:
        raise SystemExit("all tasks start from one head and so must have the same number of classes")
    return tasks


# --- Training ---


def train(parameters, adam, epochs, loss_of_epoch):
    """Steps of Adam on the losses that a function returns epoch by epoch, which come back."""
    optimiser = torch.optim.Adam(parameters, **adam)
    losses = []
    for _ in range(epochs):
        loss = loss_of_epoch()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def contrasted(nodes, budget, generator=None):
    """The nodes that an epoch contrasts: a slice of all, or as many as the budget allows, drawn anew."""
    if budget is None or nodes <= budget:
        return slice(None)
    return torch.randperm(nodes, generator=generator)[:budget]


def contrast(u, v):
    """Mean over nodes and both directions of -u_i.v_i/tau + ln(sum_j e^(u_i.v_j/tau) + sum_{j!=i} e^(u_i.u_j/tau)).

    Rows have length one, so no exponent exceeds 1/tau = 2 and the sums need no shift. Holds N x N numbers at once.
    """
    across = u @ v.T / TEMPERATURE
    agreement = across.diagonal()
    exp_across = across.exp()

    def others(z):
        within = (z @ z.T / TEMPERATURE).exp()
        return within.sum(dim=1) - within.diagonal()

    from_u = torch.log(exp_across.sum(dim=1) + others(u)) - agreement
    from_v = torch.log(exp_across.sum(dim=0) + others(v)) - agreement
    return (from_u + from_v).mean() / 2


# --- Metrics ---


def balanced_accuracy(predicted, labels, classes):
    return 100 * float(np.mean([np.mean(predicted[labels == c] == c) for c in classes]))


def average_accuracy(matrix):
    return float(np.mean(matrix[-1]))


def average_forgetting(matrix):
    """Mean change of a task's accuracy since it was learned, over all tasks but the last; below zero is forgetting."""
    if len(matrix) == 1:
        return 0.0
    return float(np.mean([matrix[-1][j] - matrix[j][j] for j in range(len(matrix) - 1)]))


# --- The run ---


class Clock:
    """Seconds by phase, of the processor (all threads) and of the wall."""

    def __init__(self):
        self.cpu, self.wall = {}, {}

    @contextlib.contextmanager
    def phase(self, name):
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - cpu
        self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall


def peak_memory():
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest  # Linux counts in KiB


def product_seconds():
    """Processor seconds of a product of two 2000 x 2000 matrices of float32, the best of three: how fast the machine is at this moment."""
    a = torch.full((2000, 2000), 0.5, dtype=torch.float32)
    out = torch.empty_like(a)
    spent = []
    for _ in range(3):
        start = time.process_time()
        torch.mm(a, a, out=out)
        spent.append(time.process_time() - start)
    return min(spent)


def evaluate_row(stage, tasks, peer, prototypes, cache):
    """Row `stage` of the accuracy matrix, and which task each test set was taken for; knows only tasks 1..stage."""
    known = np.stack(prototypes[:stage])
    accuracies, chosen = [], []
    for task in tasks[:stage]:
        query = peer.profile(task, task.test)
        choice = int(np.linalg.norm(known - query, axis=1).argmin()) + 1
        # Encoder, prompts and heads never change after they were learned, so a pair is classified once.
        if (task.number, choice) not in cache:
            with torch.no_grad():
                cache[task.number, choice] = peer.logits(task, torch.from_numpy(task.test), choice)
        predicted = tasks[choice - 1].classes[cache[task.number, choice].argmax(dim=1).numpy()]
        accuracies.append(balanced_accuracy(predicted, task.labels[task.test], task.classes))
        chosen.append(choice)
    return accuracies, chosen


def run(arguments, peer_class):
    """Returns the result for people and JSON, and the peer with what it learned."""
    torch.set_num_threads(arguments.threads)
    clock = Clock()
    with clock.phase("load"):
        tasks = read_tasks(arguments.stream)
        peer = peer_class(arguments, Graph(arguments.data), tasks)
    with clock.phase("pretraining"):
        losses = peer.pretrain(tasks[0])

    peer.prototypes, peer.test_logits = [], {}
    matrix, choices = [], []
    for task in tasks:
        with clock.phase("prompts"):
            peer.learn(task)
        with clock.phase("profiles"):
            peer.prototypes.append(peer.profile(task, task.train))
        with clock.phase("evaluation"):
            row, chosen = evaluate_row(task.number, tasks, peer, peer.prototypes, peer.test_logits)
        matrix.append(row)
        choices.append(chosen)

    id_accuracy = [100 * float(np.mean([c == j for j, c in enumerate(row, start=1)])) for row in choices]
    result = {
        "data": os.path.splitext(os.path.basename(arguments.data))[0],
        "seed": arguments.seed,
        "threads": arguments.threads,
        "torch": torch.__version__,
        "mode": peer.name,
        "precision": str(torch.get_default_dtype()).removeprefix("torch."),
        "epochs": arguments.epochs,
        "pretrain_epochs": arguments.pretrain_epochs,
        "contrasted_nodes": min(len(tasks[0].nodes), arguments.budget or sys.maxsize),
        "AA": average_accuracy(matrix),
        "AF": average_forgetting(matrix),
        "task_id_accuracy": id_accuracy[-1],
        "task_id_accuracy_by_row": id_accuracy,
        "misrouted": [
            {"stage": stage, "task": task, "chosen": choice}
            for stage, row in enumerate(choices, start=1)
            for task, choice in enumerate(row, start=1)
            if task != choice
        ],
        "matrix": matrix,
        "pretraining_loss": {"first": losses[0], "last": losses[-1]} if losses else None,
        "cpu_seconds": clock.cpu,
        "wall_seconds": clock.wall,
        "process_cpu_seconds": time.process_time(),  # with imports
        "peak_rss_bytes": peak_memory(),
        "product_2000_cpu_seconds": product_seconds(),
    }
    return result, peer


def summary(result):
    misrouted = ", ".join("stage {stage}: {task} -> {chosen}".format(**m) for m in result["misrouted"])
    seconds = ", ".join(f"{phase} {spent:.2f}" for phase, spent in result["cpu_seconds"].items())
    lines = [
        "{data}, seed {seed}, {mode}, {precision}, {threads} thread(s), torch {torch}".format(**result),
        "AA {AA:.2f}  AF {AF:.2f}  task-ID accuracy {task_id_accuracy:.1f} %".format(**result),
        f"misrouted: {misrouted or 'none'}",
        "last row: " + " ".join(f"{accuracy:.2f}" for accuracy in result["matrix"][-1]),
        f"CPU seconds: {seconds}; peak memory {result['peak_rss_bytes'] / 2**20:.0f} MiB",
    ]
    return "\n".join(lines)


def write(result, path):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
