#!/usr/bin/env python3
"""TPP (Task Profiling and Prompting, NeurIPS 2024) in plain PyTorch on the CPU.

A second, independent implementation, written from the formulas alone, to check another one against. It reads a graph
(.npz, gnn-benchmark layout) and the tasks and split that `treering data stream FILE.npz --seed N -o FOLDER` wrote,
so that both implementations see the same nodes; everything else random (initialisation, augmentation, patching) is
its own.

How it goes, task by task (the order is in tpp_stream.py, with reading, loss and metrics):
  1. on the first task, train an encoder f(X) = ReLU(S^2 X W1) W2 by contrast, then freeze it;     -> pretrain()
  2. learn a head, and from the second task on also a prompt added to the features;                -> learn()
  3. store the task's prototype, a mean of smoothed features of the training nodes;                -> profile()
  4. for each task so far, find the nearest prototype to that of its test nodes and classify with
     that task's prompt and head: one row of the accuracy matrix.                                  -> logits()

The two modes differ in the order of multiplication only, and so in nothing but rounding and cost:
  Straightforward   the formulas as they stand, on dense features;
  Factorised        sparse features where the file has them so, and the graph applied to k or d columns instead of F.
"""

import functools

import tpp_options

ARGUMENTS = tpp_options.parse(
    "TPP in plain PyTorch on the CPU: an independent implementation.",
    ("--factorised", "the exact shortcut, on sparse features"),
    ("--check", "run both modes from one start, print how they differ"),
    ("--double", "float64 instead of float32, to tell rounding from error"),
) if __name__ == "__main__" else None

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F

import tpp_stream
from tpp_stream import (
    DROP_ARCS, DROP_COLUMNS, HIDDEN, PRETRAIN_ADAM, PROJECTED, SMOOTHING_STEPS, TASK_ADAM, TOKENS,
    contrast, contrasted, train,
)


# --- Randomness: one generator per purpose, so that drawing more for one never shifts another. ---


class Random:
    def __init__(self, seed):
        def state(purpose):
            return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])

        self.init = torch.Generator().manual_seed(state(0))
        self.augment = torch.Generator().manual_seed(state(1))
        self.patch = np.random.default_rng(state(2))
        self.sample = torch.Generator().manual_seed(state(3))

    def uniform(self, shape, bound):
        return (2 * torch.rand(shape, generator=self.init) - 1) * bound


# --- Graph operators ---


def with_loops(arcs):
    """A + I, CSR of ones; row i holds the arcs j -> i."""
    adjacency = (arcs + sp.identity(arcs.shape[0])).tocsr()
    adjacency.sort_indices()
    return adjacency


def smoothing_matrix(adjacency):
    """S = D^-1/2 (A + I) D^-1/2 in float64, with the in-degree on both sides also where arcs are one-way."""
    scale = sp.diags(1 / np.sqrt(in_degree(adjacency)))
    return (scale @ adjacency @ scale).tocsr()


def in_degree(adjacency):
    return np.asarray(adjacency.sum(axis=1)).ravel()


class Operator:
    """A constant sparse matrix, which keeps its transpose for the backward pass, if there is one.

    Autograd could derive the product itself, but would transpose and sort the matrix anew at each step.
    """

    def __init__(self, matrix):
        self.origin, self.matrix = matrix, torch_csr(matrix)

    @functools.cached_property
    def transposed(self):
        return torch_csr(self.origin.T)

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


def dense(features):
    return features.toarray() if sp.issparse(features) else features


# --- What both modes do ---


class Peer:
    """One run. The modes say how to multiply."""

    def __init__(self, arguments, graph, tasks):
        self.arguments, self.random = arguments, Random(arguments.seed)
        self.width, self.classes = graph.features.shape[1], len(tasks[0].classes)
        self.adjacency = {task.number: with_loops(graph.arcs[task.nodes][:, task.nodes]) for task in tasks}
        self.features = {task.number: graph.features[task.nodes].astype(np.float64) for task in tasks}
        self.S = {number: Operator(smoothing_matrix(adjacency)) for number, adjacency in self.adjacency.items()}
        self.learned = {}  # prompt (none for the first task) and head, by task number

    # (a)

    def pretrain(self, task):
        """GRACE-like contrast of the untouched graph with a corrupted one; labels unused, all nodes take part."""
        random = self.random

        def linear_init(rows, columns):
            return random.uniform((rows, columns), rows**-0.5)

        encoder = [linear_init(self.width, HIDDEN), linear_init(HIDDEN, HIDDEN)]
        projector = [
            linear_init(HIDDEN, PROJECTED), random.uniform((PROJECTED,), HIDDEN**-0.5),
            linear_init(PROJECTED, HIDDEN), random.uniform((HIDDEN,), PROJECTED**-0.5),
        ]
        parameters = [parameter.requires_grad_() for parameter in encoder + projector]

        def project(E):
            V1, c1, V2, c2 = projector
            return F.normalize(F.elu(E @ V1 + c1) @ V2 + c2)

        def loss():
            corrupted = Operator(smoothing_matrix(drop_arcs(self.adjacency[task.number], random.augment)))
            kept = (torch.rand(self.width, generator=random.augment) >= DROP_COLUMNS).to(torch.get_default_dtype())
            nodes = contrasted(len(task.nodes), self.arguments.budget, random.sample)
            u = project(self.view(task, encoder, nodes))
            v = project(self.view(task, encoder, nodes, corrupted, kept))
            return contrast(u, v)

        losses = train(parameters, PRETRAIN_ADAM, self.arguments.pretrain_epochs, loss)
        self.encoder = [weight.detach() for weight in encoder]
        # Every task starts from copies of these.
        self.initial = initial_prompt_and_head(self.width, self.classes, random)
        return losses

    # (b)

    def profile(self, task, nodes):
        adjacency = patch_isolated(self.adjacency[task.number], self.random.patch)
        return self.mean_profile(smoothing_matrix(adjacency), in_degree(adjacency), self.features[task.number], nodes)

    # (c)

    def learn(self, task):
        prompt, head = map(trainable_copy, self.initial)
        if task.number == 1:
            prompt = None  # the encoder was trained on this task
        parameters = head.parameters() + (prompt.parameters() if prompt else [])
        nodes = torch.from_numpy(task.train)
        target = torch.from_numpy(task.target[task.train])
        self.learned[task.number] = prompt, head
        train(parameters, TASK_ADAM, self.arguments.epochs, lambda: F.cross_entropy(self.logits(task, nodes, task.number), target))


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


def patch_isolated(adjacency, generator):
    """Tie each node that has only its self-loop to a random node that had more, by a pair of arcs."""
    degree = in_degree(adjacency)
    isolated, connected = np.flatnonzero(degree == 1), np.flatnonzero(degree > 1)
    if len(isolated) == 0 or len(connected) == 0:
        return adjacency
    partners = generator.choice(connected, size=len(isolated))
    ends = (np.concatenate([isolated, partners]), np.concatenate([partners, isolated]))
    return adjacency + sp.csr_matrix((np.ones(len(ends[0])), ends), shape=adjacency.shape)


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
    prompt = Prompt(
        random.uniform((TOKENS, width), (6 / (TOKENS + width)) ** 0.5),
        random.uniform((TOKENS, width), width**-0.5),
        random.uniform((TOKENS,), width**-0.5),
    )
    return prompt, Head(random.uniform((HIDDEN, classes), (6 / (HIDDEN + classes)) ** 0.5), torch.zeros(classes))


# --- The two modes ---


class Straightforward(Peer):
    name = "straightforward"

    def __init__(self, arguments, graph, tasks):
        super().__init__(arguments, graph, tasks)
        self.X = {number: to_torch(dense(features)) for number, features in self.features.items()}

    @staticmethod
    def encode(S, X, encoder):
        W1, W2 = encoder
        return torch.relu((S @ (S @ X)) @ W1) @ W2

    def view(self, task, encoder, nodes, corrupted=None, kept_columns=None):
        """Embeddings of some nodes of a task, of the untouched graph or of a corrupted one."""
        X = self.X[task.number]
        if corrupted is None:
            return self.encode(self.S[task.number], X, encoder)[nodes]
        return self.encode(corrupted, X * kept_columns, encoder)[nodes]

    def logits(self, task, nodes, learned):
        X, (prompt, head) = self.X[task.number], self.learned[learned]
        if prompt is not None:
            alpha = torch.softmax(X @ prompt.scorer.T + prompt.bias, dim=1)
            X = X + alpha @ prompt.tokens
        return self.encode(self.S[task.number], X, self.encoder)[nodes] @ head.weight + head.bias

    @staticmethod
    def mean_profile(smoothing, degree, features, nodes):
        """mean over the nodes of (S^s X)_i / sqrt(d_i)"""
        Z = dense(features)
        for _ in range(SMOOTHING_STEPS):
            Z = smoothing @ Z
        return (Z[nodes] / np.sqrt(degree[nodes])[:, None]).mean(axis=0)


class Factorised(Peer):
    name = "factorised"

    def __init__(self, arguments, graph, tasks):
        super().__init__(arguments, graph, tasks)
        self.X = {n: Operator(X) if sp.issparse(X) else to_torch(X) for n, X in self.features.items()}
        # Few dense columns are smoothed sooner than the d columns of X W1, and for the untouched graph once for all.
        self.smooth_first = not sp.issparse(graph.features) and self.width < HIDDEN
        self.smooth, self.hidden_without_prompt = {}, {}

    def view(self, task, encoder, nodes, corrupted=None, kept_columns=None):
        W1, W2 = encoder
        S = self.S[task.number] if corrupted is None else corrupted
        if kept_columns is not None:
            W1 = kept_columns[:, None] * W1  # zeroing columns of X is zeroing rows of W1
        if self.smooth_first:
            X = S @ (S @ self.X[task.number]) if corrupted is not None else self.smooth_features(task)
            before_relu = X[nodes] @ W1
        else:
            before_relu = (S @ (S @ (self.X[task.number] @ W1)))[nodes]
        return torch.relu(before_relu) @ W2

    def smooth_features(self, task):
        if task.number not in self.smooth:
            S = self.S[task.number]
            self.smooth[task.number] = S @ (S @ self.X[task.number])
        return self.smooth[task.number]

    def logits(self, task, nodes, learned):
        """S^2 (X + alpha Phi) W1 = S^2 X W1 + (S^2 alpha) (Phi W1): the first term is constant once W1 is frozen."""
        (W1, W2), (prompt, head) = self.encoder, self.learned[learned]
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


# --- The command line ---


def compare(one, other):
    """Largest absolute difference between two runs of what they learned, beside the largest value."""

    def flat(peer, index):
        return [p for pair in peer.learned.values() if pair[index] is not None for p in pair[index].parameters()]

    pairs = {
        "encoder weights": (one.encoder, other.encoder),
        "prompts": (flat(one, 0), flat(other, 0)),
        "heads": (flat(one, 1), flat(other, 1)),
        "prototypes": tuple([torch.from_numpy(p) for p in peer.prototypes] for peer in (one, other)),
    }
    shared = sorted(one.test_logits.keys() & other.test_logits.keys())
    pairs["test logits"] = tuple([peer.test_logits[key] for key in shared] for peer in (one, other))
    for name, (left, right) in pairs.items():
        if left:
            difference = max((a - b).abs().max().item() for a, b in zip(left, right))
            largest = max(a.abs().max().item() for a in left)
            print(f"  {name}: differ by at most {difference:.3g} (largest value {largest:.3g})")
    a, b = (torch.cat([peer.test_logits[key].argmax(dim=1) for key in shared]) for peer in (one, other))
    print(f"  test predictions that differ: {int((a != b).sum())} of {len(a)}")


def main(arguments):
    torch.set_default_dtype(torch.float64 if arguments.double else torch.float32)
    result, peer = tpp_stream.run(arguments, Factorised if arguments.factorised else Straightforward)
    print(tpp_stream.summary(result))
    if arguments.check:
        second, second_peer = tpp_stream.run(arguments, Straightforward if arguments.factorised else Factorised)
        print(f"\n{tpp_stream.summary(second)}\n\n{result['mode']} against {second['mode']}:")
        compare(peer, second_peer)
        cells = [abs(a - b) for left, right in zip(result["matrix"], second["matrix"]) for a, b in zip(left, right)]
        print(f"  accuracy matrix: differs by at most {max(cells):.3g} points")
    tpp_stream.write(result, arguments.json)


if __name__ == "__main__":
    main(ARGUMENTS)
