#!/usr/bin/env python3
"""TPP (Task Profiling and Prompting, NeurIPS 2024) in plain PyTorch on the CPU, in one file.

A second, independent implementation, written from the formulas alone, to check another one against. It reads a graph
(.npz, gnn-benchmark layout) and the tasks and split that `treering data stream FILE.npz --seed N -o FOLDER` wrote,
so that both implementations see the same nodes; everything else random (initialisation, augmentation, patching) is
its own.

How it goes, task by task:
  1. on the first task, train an encoder f(X) = ReLU(S^2 X W1) W2 by contrast, then freeze it;     -> pretrain()
  2. learn a head, and from the second task on also a prompt added to the features;                -> learn_task()
  3. store the task's prototype, a mean of smoothed features of the training nodes;                -> prototype()
  4. for each task so far, find the nearest prototype to that of its test nodes and classify with
     that task's prompt and head: one row of the accuracy matrix.                                  -> evaluate_row()

The two modes differ in the order of multiplication only, and so in nothing but rounding and cost:
  Straightforward   the formulas as they stand, on dense features;
  Factorised        sparse features, and the graph applied to k or d columns instead of F.
"""

import argparse
import contextlib
import csv
import json
import os
import resource
import sys
import time
import warnings


def parse_arguments():
    parser = argparse.ArgumentParser(description="TPP in plain PyTorch on the CPU: an independent implementation.")
    parser.add_argument("data", help="the graph, an .npz of the gnn-benchmark layout")
    parser.add_argument("stream", help="the folder that `treering data stream DATA -o FOLDER` wrote")
    parser.add_argument("--seed", type=int, default=0, help="seed of initialisation, augmentation and patching")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--factorised", action="store_true", help="the exact shortcut, on sparse features")
    parser.add_argument("--check", action="store_true", help="run both modes from one start, print how they differ")
    parser.add_argument("--double", action="store_true", help="float64 instead of float32, to tell rounding from error")
    parser.add_argument("--json", metavar="OUT.json", help="also write the result here")
    parser.add_argument("--epochs", type=int, default=200, help="of prompts and heads, per task [default: 200]")
    parser.add_argument("--pretrain-epochs", type=int, default=200, help="of the encoder [default: 200]")
    return parser.parse_args()


ARGUMENTS = parse_arguments() if __name__ == "__main__" else None
if ARGUMENTS:
    # BLAS and OpenMP read these once, when they are loaded; torch.set_num_threads does not reach a pthread OpenBLAS.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(ARGUMENTS.threads)

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")

HIDDEN = 256  # d
PROJECTED = 512  # inner width of the projector
TOKENS = 3  # k, tokens per prompt
SMOOTHING_STEPS = 3  # s, of the prototype
DROP_ARCS = 0.2
DROP_COLUMNS = 0.3
TEMPERATURE = 0.5
PRETRAIN_ADAM = dict(lr=1e-3, weight_decay=1e-5)  # torch's Adam adds weight decay to the gradient (L2), as wanted
TASK_ADAM = dict(lr=5e-3, weight_decay=5e-4)


# --- Randomness: one generator per purpose, so that drawing more for one never shifts another. ---


class Random:
    def __init__(self, seed):
        def state(purpose):
            return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])

        self.init = torch.Generator().manual_seed(state(0))
        self.augment = torch.Generator().manual_seed(state(1))
        self.patch = np.random.default_rng(state(2))

    def uniform(self, shape, bound):
        return (2 * torch.rand(shape, generator=self.init) - 1) * bound


# --- Data ---


class Task:
    """One task: the sub-graph on its nodes, with exactly one self-loop each, and its split."""

    def __init__(self, number, adjacency, features, labels, classes, splits):
        self.number = number
        self.adjacency = adjacency  # A + I, CSR of ones; row i holds the arcs j -> i
        self.features = features  # CSR, as shipped
        self.labels = labels  # position of the node's class among all classes of the stream
        self.classes = classes
        self.train = np.flatnonzero(splits == "train")
        self.test = np.flatnonzero(splits == "test")
        self.smoothing = smoothing_matrix(adjacency)


def load(data_path, stream_path):
    with np.load(data_path) as archive:
        def csr(name):
            parts = (archive[f"{name}_data"], archive[f"{name}_indices"], archive[f"{name}_indptr"])
            return sp.csr_matrix(parts, shape=tuple(archive[f"{name}_shape"]))

        stored, features = csr("adj"), csr("attr").astype(np.float64)

    with open(os.path.join(stream_path, "stream.json"), encoding="utf-8") as file:
        stream = json.load(file)
    if stream["options"]["inter_task"] != "dropped":
        raise SystemExit("this implementation knows only streams without edges between tasks")
    with open(os.path.join(stream_path, "nodes.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    # An edge may be stored in one direction, in both, or more than once: keep each arc once, in both directions.
    graph = (stored + stored.T).tocsr()
    graph.data[:] = 1

    tasks = []
    number_of = np.array([int(row["task"]) for row in rows])
    for number in range(1, len(stream["tasks"]) + 1):
        own = [rows[i] for i in np.flatnonzero(number_of == number)]
        nodes = np.array([int(row["node"]) for row in own])
        labels = np.array([int(row["class"]) for row in own])
        adjacency = graph[nodes][:, nodes].tolil()
        adjacency.setdiag(1)  # replaces a loop that is there
        adjacency = adjacency.tocsr().astype(np.float64)
        adjacency.sort_indices()
        splits = np.array([row["split"] for row in own])
        tasks.append(Task(number, adjacency, features[nodes], labels, np.unique(labels), splits))
    if len({len(task.classes) for task in tasks}) != 1:
        raise SystemExit("all tasks start from one head and so must have the same number of classes")
    return tasks


# --- Graph operators ---


def smoothing_matrix(adjacency):
    """S = D^-1/2 (A + I) D^-1/2 in float64, with the in-degree on both sides also where arcs are one-way."""
    scale = sp.diags(1 / np.sqrt(in_degree(adjacency)))
    return (scale @ adjacency @ scale).tocsr()


def in_degree(adjacency):
    return np.asarray(adjacency.sum(axis=1)).ravel()


class Operator:
    """A constant sparse matrix, with its transpose at hand for the backward pass.

    Autograd could derive the product itself, but would transpose and sort the matrix anew at each step.
    """

    def __init__(self, matrix):
        self.matrix = torch_csr(matrix)
        self.transposed = torch_csr(matrix.T)

    def __matmul__(self, dense):
        return _ConstantProduct.apply(self, dense)


class _ConstantProduct(torch.autograd.Function):
    @staticmethod
    def forward(context, operator, dense):
        context.operator = operator
        return operator.matrix @ dense

    @staticmethod
    def backward(context, gradient):
        return None, context.operator.transposed @ gradient


def torch_csr(matrix):
    matrix = matrix.tocsr()
    parts = (torch.from_numpy(part.astype(np.int64)) for part in (matrix.indptr, matrix.indices))
    return torch.sparse_csr_tensor(*parts, to_torch(matrix.data), matrix.shape)


def to_torch(array):
    """In the precision of the run. Prototypes never pass here: they are in float64 in every run."""
    return torch.from_numpy(array).to(torch.get_default_dtype())


# --- The two modes ---


class Straightforward:
    name = "straightforward"

    def __init__(self, tasks):
        self.S = {task.number: Operator(task.smoothing) for task in tasks}
        self.X = {task.number: to_torch(task.features.toarray()) for task in tasks}

    @staticmethod
    def encode(S, X, encoder):
        W1, W2 = encoder
        return torch.relu((S @ (S @ X)) @ W1) @ W2

    def view(self, task, S, kept_columns, encoder):
        """Embeddings of all nodes of a task for pre-training."""
        return self.encode(S, self.X[task.number] * kept_columns, encoder)

    def logits(self, task, nodes, encoder, prompt, head):
        X = self.X[task.number]
        if prompt is not None:
            alpha = torch.softmax(X @ prompt.scorer.T + prompt.bias, dim=1)
            X = X + alpha @ prompt.tokens
        return self.encode(self.S[task.number], X, encoder)[nodes] @ head.weight + head.bias

    @staticmethod
    def mean_profile(smoothing, degree, features, nodes):
        """mean over the nodes of (S^s X)_i / sqrt(d_i)"""
        Z = features.toarray()
        for _ in range(SMOOTHING_STEPS):
            Z = smoothing @ Z
        return (Z[nodes] / np.sqrt(degree[nodes])[:, None]).mean(axis=0)


class Factorised:
    name = "factorised"

    def __init__(self, tasks):
        self.S = {task.number: Operator(task.smoothing) for task in tasks}
        self.X = {task.number: Operator(task.features) for task in tasks}
        self.hidden_without_prompt = {}

    def view(self, task, S, kept_columns, encoder):
        W1, W2 = encoder
        # Zeroing columns of X is zeroing rows of W1; S on d columns is cheaper than on F.
        return torch.relu(S @ (S @ (self.X[task.number] @ (kept_columns[:, None] * W1)))) @ W2

    def logits(self, task, nodes, encoder, prompt, head):
        """S^2 (X + alpha Phi) W1 = S^2 X W1 + (S^2 alpha) (Phi W1): the first term is constant once W1 is frozen."""
        W1, W2 = encoder
        S, X = self.S[task.number], self.X[task.number]
        if task.number not in self.hidden_without_prompt:
            self.hidden_without_prompt[task.number] = S @ (S @ (X @ W1))
        before_relu = self.hidden_without_prompt[task.number][nodes]
        if prompt is not None:
            alpha = torch.softmax(X @ prompt.scorer.T.contiguous() + prompt.bias, dim=1)
            before_relu = before_relu + (S @ (S @ alpha))[nodes] @ (prompt.tokens @ W1)
        return torch.relu(before_relu) @ (W2 @ head.weight) + head.bias

    @staticmethod
    def mean_profile(smoothing, degree, features, nodes):
        """The same mean read from the left: X^T (S^T)^s v, which smooths one column instead of F."""
        v = np.zeros(len(degree))
        v[nodes] = 1 / (np.sqrt(degree[nodes]) * len(nodes))
        for _ in range(SMOOTHING_STEPS):
            v = smoothing.T @ v
        return features.T @ v


# --- (a) Pre-training ---


def pretrain(task, mode, random, epochs):
    """GRACE-like contrast of the untouched graph with a corrupted one; labels unused, all nodes take part."""
    width = task.features.shape[1]

    def linear_init(rows, columns):
        return random.uniform((rows, columns), rows**-0.5)

    encoder = [linear_init(width, HIDDEN), linear_init(HIDDEN, HIDDEN)]
    projector = [
        linear_init(HIDDEN, PROJECTED), random.uniform((PROJECTED,), HIDDEN**-0.5),
        linear_init(PROJECTED, HIDDEN), random.uniform((HIDDEN,), PROJECTED**-0.5),
    ]
    parameters = [parameter.requires_grad_() for parameter in encoder + projector]
    optimiser = torch.optim.Adam(parameters, **PRETRAIN_ADAM)

    def project(E):
        V1, c1, V2, c2 = projector
        return F.normalize(F.elu(E @ V1 + c1) @ V2 + c2)

    every_column = torch.ones(width)
    losses = []
    for _ in range(epochs):
        corrupted = Operator(smoothing_matrix(drop_arcs(task.adjacency, random.augment)))
        kept_columns = (torch.rand(width, generator=random.augment) >= DROP_COLUMNS).to(every_column.dtype)
        u = project(mode.view(task, mode.S[task.number], every_column, encoder))
        v = project(mode.view(task, corrupted, kept_columns, encoder))
        loss = contrast(u, v)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return [weight.detach() for weight in encoder], losses


def drop_arcs(adjacency, generator):
    """Draw a fixed share of all arcs, self-loops among them, and delete the drawn ones that are no self-loops.

    The two directions of an edge are drawn separately, so the result is directed.
    """
    arcs = adjacency.tocoo()
    drawn = torch.randperm(arcs.nnz, generator=generator)[: int(DROP_ARCS * arcs.nnz)].numpy()
    keep = np.ones(arcs.nnz, dtype=bool)
    keep[drawn] = False
    keep |= arcs.row == arcs.col
    return sp.csr_matrix((arcs.data[keep], (arcs.row[keep], arcs.col[keep])), shape=arcs.shape)


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


# --- (b) Prototype ---


def prototype(task, nodes, mode, random):
    adjacency = patch_isolated(task.adjacency, random.patch)
    return mode.mean_profile(smoothing_matrix(adjacency), in_degree(adjacency), task.features, nodes)


def patch_isolated(adjacency, generator):
    """Tie each node that has only its self-loop to a random node that had more, by a pair of arcs."""
    degree = in_degree(adjacency)
    isolated, connected = np.flatnonzero(degree == 1), np.flatnonzero(degree > 1)
    if len(isolated) == 0 or len(connected) == 0:
        return adjacency
    partners = generator.choice(connected, size=len(isolated))
    ends = (np.concatenate([isolated, partners]), np.concatenate([partners, isolated]))
    return adjacency + sp.csr_matrix((np.ones(len(ends[0])), ends), shape=adjacency.shape)


# --- (c) Prompt and head ---


class Prompt:
    def __init__(self, tokens, scorer, bias):
        self.tokens, self.scorer, self.bias = tokens, scorer, bias  # Phi, A_w, b

    def parameters(self):
        return [self.tokens, self.scorer, self.bias]


class Head:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias  # Wc, bc

    def parameters(self):
        return [self.weight, self.bias]


def trainable_copy(part):
    return type(part)(*(parameter.clone().requires_grad_() for parameter in part.parameters()))


def initial_prompt_and_head(width, classes, random):
    """Every task starts from copies of these."""
    prompt = Prompt(
        random.uniform((TOKENS, width), (6 / (TOKENS + width)) ** 0.5),
        random.uniform((TOKENS, width), width**-0.5),
        random.uniform((TOKENS,), width**-0.5),
    )
    return prompt, Head(random.uniform((HIDDEN, classes), (6 / (HIDDEN + classes)) ** 0.5), torch.zeros(classes))


def learn_task(task, mode, encoder, initial_prompt, initial_head, epochs):
    # The encoder was trained on the first task, which therefore gets no prompt.
    prompt = trainable_copy(initial_prompt) if task.number > 1 else None
    head = trainable_copy(initial_head)
    parameters = head.parameters() + (prompt.parameters() if prompt else [])
    optimiser = torch.optim.Adam(parameters, **TASK_ADAM)
    train = torch.from_numpy(task.train)
    target = torch.from_numpy(np.searchsorted(task.classes, task.labels[task.train]))
    for _ in range(epochs):
        loss = F.cross_entropy(mode.logits(task, train, encoder, prompt, head), target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return prompt, head


# --- (d) Inference and metrics ---


def evaluate_row(stage, tasks, mode, encoder, prototypes, learned, cache, random):
    """Row `stage` of the accuracy matrix, and which task each test set was taken for; knows only tasks 1..stage."""
    known = np.stack(prototypes[:stage])
    accuracies, chosen = [], []
    for task in tasks[:stage]:
        query = prototype(task, task.test, mode, random)
        choice = int(np.linalg.norm(known - query, axis=1).argmin()) + 1
        # Encoder, prompts and heads never change after they were learned, so a pair is classified once.
        if (task.number, choice) not in cache:
            prompt, head = learned[choice - 1]
            with torch.no_grad():
                logits = mode.logits(task, torch.from_numpy(task.test), encoder, prompt, head)
            cache[task.number, choice] = logits
        predicted = tasks[choice - 1].classes[cache[task.number, choice].argmax(dim=1).numpy()]
        accuracies.append(balanced_accuracy(predicted, task.labels[task.test], task.classes))
        chosen.append(choice)
    return accuracies, chosen


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


def run(arguments, mode_class):
    """Returns the result for people and JSON, and what was learned, for --check."""
    random, clock = Random(arguments.seed), Clock()
    with clock.phase("load"):
        tasks = load(arguments.data, arguments.stream)
        mode = mode_class(tasks)
    with clock.phase("pretraining"):
        encoder, losses = pretrain(tasks[0], mode, random, arguments.pretrain_epochs)

    initial = initial_prompt_and_head(tasks[0].features.shape[1], len(tasks[0].classes), random)
    prototypes, learned, matrix, choices, cache = [], [], [], [], {}
    for task in tasks:
        with clock.phase("prompts"):
            learned.append(learn_task(task, mode, encoder, *initial, arguments.epochs))
        with clock.phase("profiles"):
            prototypes.append(prototype(task, task.train, mode, random))
        with clock.phase("evaluation"):
            row, chosen = evaluate_row(task.number, tasks, mode, encoder, prototypes, learned, cache, random)
        matrix.append(row)
        choices.append(chosen)

    id_accuracy = [100 * float(np.mean([c == j for j, c in enumerate(row, start=1)])) for row in choices]
    result = {
        "data": os.path.splitext(os.path.basename(arguments.data))[0],
        "seed": arguments.seed,
        "threads": arguments.threads,
        "torch": torch.__version__,
        "mode": mode.name,
        "precision": str(torch.get_default_dtype()).removeprefix("torch."),
        "epochs": arguments.epochs,
        "pretrain_epochs": arguments.pretrain_epochs,
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
    }
    return result, dict(encoder=encoder, learned=learned, prototypes=prototypes, test_logits=cache)


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


def compare(one, other):
    """Largest absolute difference between two runs of what they learned, beside the largest value."""

    def flat(learned, part):
        index = 0 if part == "prompts" else 1
        return [p for pair in learned if pair[index] is not None for p in pair[index].parameters()]

    pairs = {
        "encoder weights": (one["encoder"], other["encoder"]),
        "prompts": (flat(one["learned"], "prompts"), flat(other["learned"], "prompts")),
        "heads": (flat(one["learned"], "heads"), flat(other["learned"], "heads")),
        "prototypes": tuple([torch.from_numpy(p) for p in run["prototypes"]] for run in (one, other)),
    }
    shared = sorted(one["test_logits"].keys() & other["test_logits"].keys())
    pairs["test logits"] = tuple([run["test_logits"][key] for key in shared] for run in (one, other))
    for name, (left, right) in pairs.items():
        if left:
            difference = max((a - b).abs().max().item() for a, b in zip(left, right))
            largest = max(a.abs().max().item() for a in left)
            print(f"  {name}: differ by at most {difference:.3g} (largest value {largest:.3g})")
    a, b = (torch.cat([run["test_logits"][key].argmax(dim=1) for key in shared]) for run in (one, other))
    print(f"  test predictions that differ: {int((a != b).sum())} of {len(a)}")


def main(arguments):
    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(torch.float64 if arguments.double else torch.float32)
    result, state = run(arguments, Factorised if arguments.factorised else Straightforward)
    print(summary(result))
    if arguments.check:
        second, second_state = run(arguments, Straightforward if arguments.factorised else Factorised)
        print(f"\n{summary(second)}\n\n{result['mode']} against {second['mode']}:")
        compare(state, second_state)
        cells = [abs(a - b) for left, right in zip(result["matrix"], second["matrix"]) for a, b in zip(left, right)]
        print(f"  accuracy matrix: differs by at most {max(cells):.3g} points")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main(ARGUMENTS)
