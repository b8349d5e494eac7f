#!/usr/bin/env python3
"""TPP (Task Profiling and Prompting, NeurIPS 2024) as a user of PyTorch Geometric would write it, on the CPU.

Its layers, utilities and conventions: a `Data` for every task, cut out by `Data.subgraph`; dense features; `SGConv` on the sparse
adjacency that `ToSparseTensor` makes; `dropout_edge` and `mask_feature` for the corrupted view. `SGConv` remembers S^2 X where neither
graph nor features change (the first task without a prompt) and cannot where a prompt is added to the features. Reading, order, loss
and metrics are those of all peers (tpp_stream.py). Two things differ from tpp_torch.py, so compare distributions over seeds:

  the draw of arcs   `dropout_edge` removes each arc with probability 0.2 (the paper's text); tpp_torch.py a fixed count (the published code);
  random numbers     torch's one generator for everything.

The operator is the same on one-way arcs, too: `gcn_norm` divides by the root of the degree at the target of an arc, so by in-degrees at
both of its ends, and adds one self-loop to a node. `--check` compares that and more with tpp_torch.py on the data at hand.
"""

import tpp_options

ARGUMENTS = tpp_options.parse(
    "TPP in PyTorch Geometric on the CPU.",
    ("--check", "compare operator, prototypes, embeddings and logits with tpp_torch.py on this data, and stop"),
) if __name__ == "__main__" else None

import copy

import numpy as np
import torch
import torch.nn.functional as F

import tpp_stream
from tpp_stream import (
    DROP_ARCS, DROP_COLUMNS, HIDDEN, PRETRAIN_ADAM, PROJECTED, SMOOTHING_STEPS, TASK_ADAM, TOKENS,
    contrast, contrasted, train,
)

from torch_geometric import seed_everything
from torch_geometric.data import Data
from torch_geometric.nn import Linear, SGConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.nn.inits import glorot
from torch_geometric.transforms import ToSparseTensor
from torch_geometric.utils import degree, dropout_edge, mask_feature, spmm


class Encoder(torch.nn.Module):
    """ReLU(S^2 X W1) W2"""

    def __init__(self, width):
        super().__init__()
        self.conv = SGConv(width, HIDDEN, K=2, bias=False)
        # The same weights for the one graph whose features never change.
        self.remembering_conv = SGConv(width, HIDDEN, K=2, bias=False, cached=True)
        self.remembering_conv.lin = self.conv.lin
        self.out = Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, x, adj_t, remember=False):
        conv = self.remembering_conv if remember else self.conv
        return self.out(conv(x, adj_t).relu())


class Prompt(torch.nn.Module):
    """X + softmax(X A_w^T + b) Phi"""

    def __init__(self, width):
        super().__init__()
        self.tokens = torch.nn.Parameter(torch.empty(TOKENS, width))
        self.scorer = Linear(width, TOKENS)
        glorot(self.tokens)

    def forward(self, x):
        return x + self.scorer(x).softmax(dim=-1) @ self.tokens


class PyG:
    name = "pyg"

    def __init__(self, arguments, graph, tasks):
        seed_everything(arguments.seed)
        self.arguments = arguments
        arcs = graph.arcs.tocoo()
        edge_index = torch.from_numpy(np.stack([arcs.col, arcs.row]).astype(np.int64))
        features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        whole = Data(x=torch.from_numpy(features).float(), edge_index=edge_index)
        self.data = {task.number: whole.subgraph(torch.from_numpy(task.nodes)) for task in tasks}
        for data in self.data.values():
            data.adj_t = sparse(data.edge_index, data.num_nodes)
        self.encoder = Encoder(whole.num_features)
        # Every task starts from copies of these.
        self.prompt = Prompt(whole.num_features)
        self.head = Linear(HIDDEN, len(tasks[0].classes), weight_initializer="glorot", bias_initializer="zeros")
        self.learned = {}  # prompt (none for the first task) and head, by task number

    def pretrain(self, task):
        data = self.data[task.number]
        projector = torch.nn.Sequential(Linear(HIDDEN, PROJECTED), torch.nn.ELU(), Linear(PROJECTED, HIDDEN))

        def loss():
            edge_index, _ = dropout_edge(data.edge_index, p=DROP_ARCS)
            x, _ = mask_feature(data.x, p=DROP_COLUMNS, mode="col")
            nodes = contrasted(data.num_nodes, self.arguments.budget)
            u = self.encoder(data.x, data.adj_t, remember=True)[nodes]
            v = self.encoder(x, sparse(edge_index, data.num_nodes))[nodes]
            return contrast(F.normalize(projector(u)), F.normalize(projector(v)))

        parameters = [*self.encoder.parameters(), *projector.parameters()]
        losses = train(parameters, PRETRAIN_ADAM, self.arguments.pretrain_epochs, loss)
        self.encoder.requires_grad_(False)
        return losses

    def learn(self, task):
        prompt = copy.deepcopy(self.prompt) if task.number > 1 else None
        head = copy.deepcopy(self.head)
        parameters = [*head.parameters(), *(prompt.parameters() if prompt else [])]
        nodes = torch.from_numpy(task.train)
        target = torch.from_numpy(task.target[task.train])
        self.learned[task.number] = prompt, head
        train(parameters, TASK_ADAM, self.arguments.epochs, lambda: F.cross_entropy(self.logits(task, nodes, task.number), target))

    def logits(self, task, nodes, learned):
        data, (prompt, head) = self.data[task.number], self.learned[learned]
        x = data.x if prompt is None else prompt(data.x)
        embedding = self.encoder(x, data.adj_t, remember=prompt is None and task.number == 1)
        return head(embedding[nodes])

    def profile(self, task, nodes):
        data = self.data[task.number]
        return mean_profile(patch_isolated(data.edge_index, data.num_nodes), data.x, torch.from_numpy(nodes)).numpy()


def sparse(edge_index, num_nodes):
    """The transposed adjacency as torch.sparse has it, so that a layer needs no room for every arc."""
    # With a weight each, arcs that are there twice count twice.
    weight = torch.ones(edge_index.size(1))
    return ToSparseTensor()(Data(edge_index=edge_index, edge_weight=weight, num_nodes=num_nodes)).adj_t


def patch_isolated(edge_index, num_nodes):
    """Tie each node that no arc leads to to a random node that has one, by a pair of arcs."""
    has_arcs = degree(edge_index[1], num_nodes) > 0
    isolated, connected = (~has_arcs).nonzero().view(-1), has_arcs.nonzero().view(-1)
    if len(isolated) == 0 or len(connected) == 0:
        return edge_index
    partners = connected[torch.randint(len(connected), isolated.shape)]
    pairs = torch.stack([isolated, partners])
    return torch.cat([edge_index, pairs, pairs.flip(0)], dim=1)


def mean_profile(edge_index, x, nodes):
    """mean over the nodes of (S^s X)_i / sqrt(d_i), in float64"""
    smoothing, _ = gcn_norm(sparse(edge_index, len(x)).double(), num_nodes=len(x))
    z = x.double()
    for _ in range(SMOOTHING_STEPS):
        z = spmm(smoothing, z)
    in_degree = degree(edge_index[1], len(x), torch.float64) + 1  # with the self-loop
    return (z[nodes] / in_degree[nodes].sqrt().view(-1, 1)).mean(dim=0)


def check(arguments):
    """Both peers with the same weights on the same graphs: the largest differences, which should be rounding."""
    import tpp_torch

    tasks, graph = tpp_stream.read_tasks(arguments.stream), tpp_stream.Graph(arguments.data)
    pyg, plain = PyG(arguments, graph, tasks), tpp_torch.Straightforward(arguments, graph, tasks)
    encoder = [layer.weight.T.detach() for layer in (pyg.encoder.conv.lin, pyg.encoder.out)]
    plain.encoder = encoder
    worst = {}

    def differ(what, left, right):
        left, right = (torch.as_tensor(side).double() for side in (left, right))
        difference, largest = ((left - right).abs().max().item(), right.abs().max().item())
        worst[what] = max(worst.get(what, (0.0, 0.0)), (difference, largest))

    for task in tasks:
        data, adjacency = pyg.data[task.number], plain.adjacency[task.number]
        operator, _ = gcn_norm(data.adj_t.double(), num_nodes=data.num_nodes)
        differ("smoothing operator", operator.to_dense(), tpp_torch.smoothing_matrix(adjacency).toarray())
        patched = patch_isolated(data.edge_index, data.num_nodes)
        # The same random partners for both.
        weights = tpp_torch.sp.csr_matrix((np.ones(patched.size(1)), patched.flip(0).numpy()), shape=adjacency.shape)
        same = tpp_torch.with_loops(weights)
        profile = mean_profile(patched, data.x, torch.from_numpy(task.train))
        expected = plain.mean_profile(
            tpp_torch.smoothing_matrix(same), tpp_torch.in_degree(same), plain.features[task.number], task.train
        )
        differ("prototypes", profile, expected)
        prompt, head = copy.deepcopy(pyg.prompt), copy.deepcopy(pyg.head)
        pyg.learned[task.number] = (prompt if task.number > 1 else None), head
        plain.learned[task.number] = (
            tpp_torch.Prompt(prompt.tokens, prompt.scorer.weight, prompt.scorer.bias) if task.number > 1 else None,
            tpp_torch.Head(head.weight.T, head.bias),
        )
        test = torch.from_numpy(task.test)
        with torch.no_grad():
            differ("logits", pyg.logits(task, test, task.number), plain.logits(task, test, task.number))
    first = pyg.data[1]
    with torch.no_grad():
        differ("embeddings of the first task", pyg.encoder(first.x, first.adj_t), plain.view(tasks[0], encoder, slice(None)))
    for what, (difference, largest) in worst.items():
        print(f"{what}: differ by at most {difference:.3g} (largest value {largest:.3g})")


def main(arguments):
    if arguments.check:
        return check(arguments)
    result, _ = tpp_stream.run(arguments, PyG)
    print(tpp_stream.summary(result))
    tpp_stream.write(result, arguments.json)


if __name__ == "__main__":
    main(ARGUMENTS)
