#!/usr/bin/env python3
"""Graph continual-learning baselines in plain numpy, written from their descriptions alone.

    treering data stream cora.npz --seed 0 -o cora-0
    baselines_numpy.py --data cora.npz --stream cora-0 --learner ergnn --seed 0

An independent check of another implementation: same tasks and split (read from the stream's folder), own random draws.
All learners are the two-layer network logits = ReLU(B W1) W2 on rows of B = S^2 X, without biases. Prints average
accuracy (AA) and average forgetting (AF), class-balanced, with argmax over all classes seen so far.
"""

import argparse
import csv
import json
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy.sparse as sp

HIDDEN, EPOCHS, RATE, DECAY = 256, 200, 0.005, 5e-4
REAL = np.float32


# --- Tasks ---


class Task:
    """One task's graph: nodes in ascending order of their number in the data set."""

    def __init__(self, graph, features, nodes, labels, splits):
        order = np.argsort(nodes)
        nodes, self.labels, splits = nodes[order], labels[order], splits[order]
        self.X = features[nodes].toarray().astype(REAL)
        arcs = graph[nodes][:, nodes].tolil()
        arcs.setdiag(0)
        self.arcs = arcs.tocsr()  # ones, symmetric, without loops
        self.arcs.eliminate_zeros()
        self.train, self.test = np.flatnonzero(splits == "train"), np.flatnonzero(splits == "test")
        self.classes = np.unique(self.labels)
        self.S = smoothing(self.arcs)
        self.B = self.S @ (self.S @ self.X)

    def train_of(self, c):
        return self.train[self.labels[self.train] == c]


def smoothing(arcs):
    """S = D^-1/2 (A + I) D^-1/2"""
    looped = arcs + sp.identity(arcs.shape[0], format="csr")
    scale = sp.diags(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    return (scale @ looped @ scale).tocsr().astype(REAL)


def load(data, stream):
    with np.load(data) as archive:
        def csr(name):
            parts = [archive[f"{name}_{part}"] for part in ("data", "indices", "indptr")]
            return sp.csr_matrix(tuple(parts), shape=tuple(archive[f"{name}_shape"]))

        stored, features = csr("adj"), csr("attr")
    graph = (stored + stored.T).tocsr().astype(np.float64)
    graph.data[:] = 1
    with open(os.path.join(stream, "nodes.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    column = {name: np.array([int(row[name]) for row in rows]) for name in ("task", "node", "class")}
    splits = np.array([row["split"] for row in rows])
    tasks = []
    for number in np.unique(column["task"]):
        own = column["task"] == number
        tasks.append(Task(graph, features, column["node"][own], column["class"][own], splits[own]))
    assert np.array_equal(np.concatenate([t.classes for t in tasks]), np.arange(sum(len(t.classes) for t in tasks)))
    return tasks


# --- Network and optimiser ---


def uniform(random, rows, columns, bound):
    return random.uniform(-bound, bound, (rows, columns)).astype(REAL)


class Adam:
    """One moment pair per parameter; weight decay is added to the gradient."""

    def __init__(self, rate, decay=0.0):
        self.rate, self.decay, self.steps, self.moments = rate, decay, 0, []

    def step(self, parameters, gradients):
        self.steps += 1
        if not self.moments:
            self.moments = [[np.zeros_like(p), np.zeros_like(p)] for p in parameters]
        one, two = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for p, g, (m, v) in zip(parameters, gradients, self.moments):
            g = g + self.decay * p if self.decay else g
            m *= 0.9
            m += 0.1 * g
            v *= 0.999
            v += 0.001 * g * g
            p -= self.rate / one * m / (np.sqrt(v / two) + 1e-8)


class Net:
    def __init__(self, random, width, outputs):
        self.random = random
        self.W1 = uniform(random, width, HIDDEN, width**-0.5)
        self.W2 = uniform(random, HIDDEN, outputs, HIDDEN**-0.5)
        self.adam = Adam(RATE, DECAY)

    def grow(self, outputs):
        """Draws the outputs of new classes; what the optimiser knows of the old ones stays."""
        fresh = uniform(self.random, HIDDEN, outputs - self.W2.shape[1], HIDDEN**-0.5)
        self.W2 = np.hstack([self.W2, fresh])
        for i, moment in enumerate(self.adam.moments[1] if self.adam.moments else []):
            self.adam.moments[1][i] = np.hstack([moment, np.zeros_like(fresh)])

    def logits(self, rows):
        return np.maximum(rows @ self.W1, 0) @ self.W2

    def fit(self, rows, labels, weights_of_epoch, offset=0.0, epochs=EPOCHS):
        """Minimises the weighted sum of cross-entropies of logits + offset."""
        at = np.arange(len(rows))
        for epoch in range(epochs):
            h = np.maximum(rows @ self.W1, 0)
            delta = softmax(h @ self.W2 + offset)
            delta[at, labels] -= 1
            delta *= weights_of_epoch(epoch)[:, None]
            back = (delta @ self.W2.T) * (h > 0)
            self.adam.step([self.W1, self.W2], [rows.T @ back, h.T @ delta])


def softmax(z):
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return (z / z.sum(axis=1, keepdims=True)).astype(REAL)


def balanced(labels):
    """Weights that make the plain average of the mean losses of the classes present."""
    counts = np.bincount(labels)
    return (1 / counts[labels] / np.count_nonzero(counts)).astype(REAL)


def plain(labels):
    return np.full(len(labels), 1 / len(labels), dtype=REAL)


def always(weights):
    return lambda epoch: weights


# --- Learners: learn(task), then predict(task) ---


class Learner:
    def __init__(self, tasks, random, options):
        self.random, self.options, self.past, self.net = random, options, [], None
        self.width = tasks[0].X.shape[1]

    def learn(self, task):
        self.seen = int(task.classes.max()) + 1  # K_t
        if self.net is None:
            self.net = Net(self.random, self.width, self.seen)
        else:
            self.net.grow(self.seen)
        self.fit(task)
        self.past.append(task)

    def predict(self, task):
        return self.net.logits(task.B[task.test]).argmax(axis=1)


class Finetune(Learner):
    def fit(self, task):
        labels = task.labels[task.train]
        self.net.fit(task.B[task.train], labels, always(balanced(labels)))


class Joint(Learner):
    def fit(self, task):
        tasks = self.past + [task]
        self.net = Net(self.random, self.width, self.seen)
        labels = [t.labels[t.train] for t in tasks]
        weights = np.concatenate([balanced(y) for y in labels])
        self.net.fit(np.vstack([t.B[t.train] for t in tasks]), np.concatenate(labels), always(weights))


class TaskSpecific(Learner):
    """The true task is given."""

    def learn(self, task):
        net = Net(self.random, self.width, len(task.classes))
        labels = np.searchsorted(task.classes, task.labels[task.train])
        net.fit(task.B[task.train], labels, always(plain(labels)))
        self.past.append((task, net))

    def predict(self, task):
        net = next(net for t, net in self.past if t is task)
        return task.classes[net.logits(task.B[task.test]).argmax(axis=1)]


def choose_experience(task, sampler, budget, random):
    """Per class: up to `budget` training nodes, by coverage (CM, within 0.5) or at random."""
    chosen = []
    for c in task.classes:
        own = task.train_of(c)
        if sampler == "random":
            chosen.append(random.permutation(own)[:budget])
            continue
        others = task.train[task.labels[task.train] != c]
        counts = [int((np.linalg.norm(task.X[others] - task.X[i], axis=1) < 0.5).sum()) for i in own]
        chosen.append(own[np.argsort(counts, kind="stable")[:budget]])
    return np.concatenate(chosen)


class Ergnn(Learner):
    sampler, budget = "cm", 100

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows, self.labels = np.zeros((0, self.width), REAL), np.zeros(0, int)

    def fit(self, task):
        before = len(self.rows)
        chosen = choose_experience(task, self.sampler, self.budget, self.random)
        self.rows = np.vstack([self.rows, task.X[chosen]])  # alone with its loop: S^2 x = x
        self.labels = np.concatenate([self.labels, task.labels[chosen]])
        own = task.labels[task.train]
        if before == 0:
            self.net.fit(task.B[task.train], own, always(balanced(own)))
            return

        def weights(epoch):
            stored = before if epoch == 0 else len(self.rows)
            beta = stored / (stored + len(own))
            return np.concatenate([beta * balanced(own), (1 - beta) * balanced(self.labels)]).astype(REAL)

        now, first = weights(1), weights(0)
        rows = np.vstack([task.B[task.train], self.rows])
        self.net.fit(rows, np.concatenate([own, self.labels]), lambda epoch: now if epoch else first)


class ErgnnRandom(Ergnn):
    sampler = "random"


class Ssm(Learner):
    centres, per_hop = 60, 5

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows, self.labels = np.zeros((0, self.width), REAL), np.zeros(0, int)

    def fit(self, task):
        first = len(self.rows) == 0
        centres = np.concatenate([self.random.permutation(task.train_of(c))[: self.centres] for c in task.classes])
        retained = np.unique(self.retain(task, centres, self.per_hop * len(centres)))
        block = smoothing(task.arcs[retained][:, retained])
        smoothed = block @ (block @ task.X[retained])
        old_only = self.options.old_only
        stored = self.rows, self.labels
        self.rows = np.vstack([self.rows, smoothed[np.searchsorted(retained, centres)]])
        self.labels = np.concatenate([self.labels, task.labels[centres]])
        rows, labels = task.B[task.train], task.labels[task.train]
        if not first:
            extra = stored if old_only else (self.rows, self.labels)
            rows, labels = np.vstack([rows, extra[0]]), np.concatenate([labels, extra[1]])
        self.net.fit(rows, labels, always(balanced(labels)))


class SsmUniform(Ssm):
    def retain(self, task, centres, number):
        looped = (task.arcs + sp.identity(task.arcs.shape[0])).tocsr()
        retained, frontier = [centres], centres
        for _ in range(2):
            multiset = np.concatenate([looped[i].indices for i in frontier])
            frontier = np.unique(self.random.choice(multiset, number))
            retained.append(frontier)
        return np.concatenate(retained)


class SsmDegree(Ssm):
    def retain(self, task, centres, number):
        degree = np.asarray(task.arcs.sum(axis=1)).ravel() + 1
        retained, frontier = centres, centres
        for _ in range(2):
            near = np.unique(np.concatenate([task.arcs[i].indices for i in frontier]))
            candidates = np.setdiff1d(near, retained)
            if len(candidates) == 0:
                break
            chance = degree[candidates] / degree[candidates].sum()
            frontier = self.random.choice(candidates, min(number, len(candidates)), replace=False, p=chance)
            retained = np.concatenate([retained, frontier])
        return retained


def curvature(neighbours, i, j):
    """Balanced Forman curvature of the edge i - j in a simple graph."""
    Ni, Nj = neighbours[i], neighbours[j]
    low, high = sorted((len(Ni), len(Nj)))
    if low == 1:
        return 0.0
    triangles = len(Ni & Nj)
    U, V = Ni - Nj - {j}, Nj - Ni - {i}
    from_i = [len(neighbours[k] & V) for k in U]
    from_j = [len(neighbours[w] & U) for w in V]
    most = max(from_i + from_j, default=0)
    value = 2 / low + 2 / high - 2 + 2 * triangles / high + triangles / low
    if most:
        value += (np.count_nonzero(from_i) + np.count_nonzero(from_j)) / (most * high)
    return value


class Sem(Ssm):
    def retain(self, task, centres, number):
        neighbours = [set(task.arcs[i].indices.tolist()) for i in range(task.arcs.shape[0])]

        def best(arcs, how_many):
            return sorted(arcs, key=lambda arc: (-round(curvature(neighbours, *arc), 12), arc[1]))[:how_many]

        hop1 = {j for i in centres for _, j in best([(i, j) for j in neighbours[i]], self.per_hop)}
        retained = set(centres.tolist()) | hop1
        fresh = hop1 - set(centres.tolist())
        arcs = [(i, j) for i in fresh for j in neighbours[i] - retained]
        hop2 = {j for _, j in best(arcs, number)}
        return np.array(sorted(retained | hop2))


class Cat(Learner):
    per_class, encoders, inner = 60, 300, 512

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows, self.labels = np.zeros((0, self.width), REAL), np.zeros(0, int)

    def fit(self, task):
        rows, labels = self.condense(task)
        self.rows, self.labels = np.vstack([self.rows, rows]), np.concatenate([self.labels, labels])
        self.net.fit(self.rows, self.labels, always(plain(self.labels)))

    def shares(self, task):
        budget = self.per_class * len(task.classes)
        counts = [len(task.train_of(c)) for c in task.classes]
        shares = [max(1, budget * n // sum(counts)) for n in counts]
        at = 0
        while sum(shares) < budget:
            shares[at % len(shares)] += 1
            at += 1
        return shares

    def condense(self, task):
        shares = self.shares(task)
        labels = np.repeat(task.classes, shares)
        start = np.concatenate([self.random.choice(task.train_of(c), n) for c, n in zip(task.classes, shares)])
        used = slice(None) if self.options.all_columns else np.flatnonzero(task.X.any(axis=0))
        synthetic = task.X[start][:, used]
        real = sp.csr_matrix((task.S @ task.X)[task.train][:, used])
        real_labels = task.labels[task.train]
        adam = Adam(1e-3)
        for _ in range(self.options.encoders or self.encoders):
            W = uniform(self.random, synthetic.shape[1], self.inner, (6 / (self.width + self.inner)) ** 0.5)
            e_real = unit(np.maximum(real @ W, 0))[0]
            h = np.maximum(synthetic @ W, 0)
            e, length = unit(h)
            r = np.zeros_like(e)
            for c in task.classes:
                own = labels == c
                r[own] = 2 * (e[own].mean(axis=0) - e_real[real_labels == c].mean(axis=0)) / own.sum()
            back = (h > 0) * (r - (r * e).sum(axis=1, keepdims=True) * e) / length
            adam.step([synthetic], [back @ W.T])
        rows = np.zeros((len(labels), self.width), REAL)
        rows[:, used] = synthetic
        return rows, labels


def unit(h):
    length = np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-12)
    return h / length, length


class Delome(Learner):
    per_class, networks, raw_logits = 60, 100, False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.memory, self.counts = [], {}

    def fit(self, task):
        learned = self.learn_memory(task)
        counts = dict(self.counts)
        counts.update({c: len(task.train_of(c)) for c in task.classes})
        share = np.array([counts[c] for c in range(self.seen)], float)
        offset = np.log(share / share.sum() + 1e-12).astype(REAL)  # tau = 1
        parts = [(task.B[task.train], task.labels[task.train])] + self.memory
        weights = np.concatenate([plain(y) for _, y in parts])
        rows, labels = np.vstack([x for x, _ in parts]), np.concatenate([y for _, y in parts])
        self.net.fit(rows, labels, always(weights), offset)
        self.memory.append(learned)
        self.counts.update({c: int((learned[1] == c).sum()) for c in task.classes})

    def learn_memory(self, task):
        start = np.concatenate([self.random.permutation(task.train_of(c))[: self.per_class] for c in task.classes])
        labels = task.labels[start]
        used = slice(None) if self.options.all_columns else np.flatnonzero(task.X.any(axis=0))
        synthetic = task.X[start][:, used]
        real = task.B[:, used]
        most = max((labels == c).sum() for c in task.classes)
        adam = Adam(self.options.condense_rate)
        for _ in range(self.options.networks or self.networks):
            W1 = uniform(self.random, self.width, HIDDEN, self.width**-0.5)[used]
            W2 = uniform(self.random, HIDDEN, self.seen, HIDDEN**-0.5)
            for c in task.classes:
                own = np.flatnonzero(labels == c)
                gradient = np.zeros_like(synthetic)
                gradient[own] = len(own) / most * self.matching(W1, W2, synthetic[own], real[task.train_of(c)], c)
                adam.step([synthetic], [gradient])
        rows = np.zeros((len(labels), self.width), REAL)
        rows[:, used] = synthetic
        return rows, labels

    def pass_through(self, W1, W2, x, c):
        """Forward and backward of the mean loss, all rows of class c: h, mask, p, delta, a."""
        h = np.maximum(x @ W1, 0)
        p = np.zeros((len(x), W2.shape[1]), REAL) if self.raw_logits else softmax(h @ W2)
        delta = p.copy()
        delta[:, c] -= 1
        mask = h > 0
        return h, mask, p, delta, mask * (delta @ W2.T)

    def matching(self, W1, W2, x, real, c):
        """Gradient with respect to x of |g(x) - g(real)|^2 for the gradients g of W1 and W2."""
        h, mask, p, delta, a = self.pass_through(W1, W2, x, c)
        h_real, _, _, delta_real, a_real = self.pass_through(W1, W2, real, c)
        n = len(x)
        R1 = x.T @ a / n - real.T @ a_real / len(real)  # as W1, width x hidden
        R2 = h.T @ delta / n - h_real.T @ delta_real / len(real)  # as W2, hidden x outputs
        w = h @ R2 + (mask * (x @ R1)) @ W2  # what the squared distance wants of delta
        toward_logits = p * (w - (p * w).sum(axis=1, keepdims=True))
        toward_hidden = mask * (delta @ R2.T + toward_logits @ W2.T)
        return 2 / n * (toward_hidden @ W1.T + a @ R1.T)


class DelomeRaw(Delome):
    raw_logits = True


class Oodcil(Learner):
    """One detector per task with an extra output "not mine"; scores (1 - o) y_c, or y_c with --once."""

    budget = 100

    def learn(self, task):
        net = Net(self.random, self.width, len(task.classes) + 1)
        rows, labels = task.B[task.train], np.searchsorted(task.classes, task.labels[task.train])
        if self.past:
            foreign = np.vstack([buffered for _, _, buffered in self.past])
        else:
            foreign = self.augmented(task)
        other = np.full(len(foreign), len(task.classes))
        weights = np.concatenate([plain(labels), plain(other)])
        net.fit(np.vstack([rows, foreign]), np.concatenate([labels, other]), always(weights))
        chosen = choose_experience(task, self.options.sampler, self.budget, self.random)
        self.past.append((task, net, task.X[chosen]))

    def augmented(self, task):
        p_edge, p_column = self.options.ood_edges, self.options.ood_columns
        upper = sp.triu(task.arcs).tocoo()
        keep = self.random.random(upper.nnz) >= p_edge
        arcs = sp.csr_matrix((upper.data[keep], (upper.row[keep], upper.col[keep])), shape=task.arcs.shape)
        X = task.X * (self.random.random(self.width) >= p_column)
        if self.options.ood_shuffle:
            X = X[self.random.permutation(len(X))]
        S = smoothing(arcs + arcs.T)
        return (S @ (S @ X)).astype(REAL)[task.train]

    def predict(self, task):
        scores = []
        for _, net, _ in self.past:
            p = softmax(net.logits(task.B[task.test]))
            scores.append(p[:, :-1] if self.options.once else p[:, :-1] * (1 - p[:, -1:]))
        return np.hstack(scores).argmax(axis=1)


LEARNERS = {
    "finetune": Finetune, "joint": Joint, "task-specific": TaskSpecific, "ergnn": Ergnn, "ergnn-random": ErgnnRandom,
    "ssm-uniform": SsmUniform, "ssm-degree": SsmDegree, "sem": Sem, "cat": Cat, "delome": Delome,
    "delome-raw": DelomeRaw, "oodcil": Oodcil,
}


# --- The run ---


def balanced_accuracy(predicted, labels):
    return 100 * float(np.mean([np.mean(predicted[labels == c] == c) for c in np.unique(labels)]))


def run(tasks, kind, random, options):
    learner, matrix = kind(tasks, random, options), []
    for t, task in enumerate(tasks):
        learner.learn(task)
        matrix.append([balanced_accuracy(learner.predict(old), old.labels[old.test]) for old in tasks[: t + 1]])
    aa = float(np.mean(matrix[-1]))
    af = float(np.mean([matrix[-1][j] - matrix[j][j] for j in range(len(tasks) - 1)]))
    return aa, af, matrix


def self_test():
    """Curvature on the graphs of the card, and the matching gradient against finite differences."""
    def ring(n):
        return [{(i - 1) % n, (i + 1) % n} for i in range(n)]

    for graph, value in ((ring(4), 1), (ring(3), 1.5), (ring(5), 0), ([set(range(6)) - {i} for i in range(6)], 1.2)):
        assert abs(curvature(graph, 0, 1) - value) < 1e-12
    global REAL
    kept, REAL = REAL, np.float64
    random = np.random.default_rng(0)
    for kind in (Delome, DelomeRaw):
        d = kind.__new__(kind)
        W1, W2 = random.normal(size=(7, 5)), random.normal(size=(5, 4))
        x, real = random.normal(size=(3, 7)), random.normal(size=(6, 7))

        def distance(x):
            (h, _, _, de, a), (hr, _, _, dr, ar) = d.pass_through(W1, W2, x, 1), d.pass_through(W1, W2, real, 1)
            return ((x.T @ a / 3 - real.T @ ar / 6) ** 2).sum() + ((h.T @ de / 3 - hr.T @ dr / 6) ** 2).sum()

        gradient = d.matching(W1, W2, x, real, 1)
        for at in np.ndindex(x.shape):
            e = np.zeros_like(x)
            e[at] = 1e-6
            assert abs((distance(x + e) - distance(x - e)) / 2e-6 - gradient[at]) < 1e-4 * (1 + abs(gradient[at]))
    REAL = kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--stream", required=True, help="folder of `treering data stream`; %%d stands for the seed")
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draw", type=int, default=0, help="another draw of everything but tasks and split")
    parser.add_argument("--sampler", choices=("cm", "random"), default="cm", help="of OODCIL's buffer")
    parser.add_argument("--old-only", action="store_true", help="SSM, SEM: replay only earlier tasks' centres")
    parser.add_argument("--all-columns", action="store_true", help="CaT, DeLoMe: synthetic rows in every column")
    parser.add_argument("--encoders", type=int)
    parser.add_argument("--networks", type=int)
    parser.add_argument("--condense-rate", type=float, default=1e-4, help="DeLoMe: step of the synthetic rows")
    parser.add_argument("--once", action="store_true", help="OODCIL: score y_c instead of (1 - o) y_c")
    parser.add_argument("--ood-edges", type=float, default=0.2)
    parser.add_argument("--ood-columns", type=float, default=0.3)
    parser.add_argument("--ood-shuffle", action="store_true")
    options = parser.parse_args()
    self_test()
    stream = options.stream.replace("%d", str(options.seed))
    tasks = load(options.data, stream)
    for name in options.learner:
        began = time.process_time()
        number = list(LEARNERS).index(name)
        random = np.random.default_rng([options.seed, number, options.draw])
        aa, af, matrix = run(tasks, LEARNERS[name], random, options)
        rows = json.dumps([[round(a, 1) for a in row] for row in matrix])
        print(f"{name} seed {options.seed}: AA {aa:.2f} AF {af:.2f} {rows} {time.process_time() - began:.0f} s", flush=True)
