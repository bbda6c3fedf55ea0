#!/usr/bin/env python3
"""structure2vec on one core: ours against PyTorch on the CPU, in turn within one run.

Equations 1 and 2 of RL4GO, K = 64, L = 2, on a SNAP graph; forward, and forward with backward for all parameters.
PyTorch runs in two formulations: `csr`, neighbours' sums as a sparse CSR product with a hand-written backward that uses
the symmetry of the graph (autograd's own would transpose it each time), and `gather`, by index_select and index_add.
The first round needs no sums, as embeddings start from 0, in both. All run on the same adjacency, with nodes numbered by
their names in the file and in breadth-first order. Ratios are to the faster formulation on the same numbering; least
processor time of all repeats, which a busy machine distorts least.

    pip install torch numpy
    cargo build --release -p labrys-combopt --example structure2vec
    python benches/structure2vec.py ../shared/data/graphs/snap/ego-Twitter.txt.gz
"""

import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import numpy as np
import torch


def read(path):
    """The undirected simple graph of an edge list, as CSR."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        pairs = np.array([line.split()[:2] for line in lines if line[0] not in "#%"], dtype=np.int64)
    _, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    n = int(ends.max()) + 1
    keys = np.unique(np.concatenate([ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]]))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(keys // n, minlength=n))])
    return n, offsets, keys % n


def breadth_first(n, offsets, columns):
    """The same graph with nodes numbered in breadth-first order."""
    order, seen = [], np.zeros(n, dtype=bool)
    for root in range(n):
        if not seen[root]:
            seen[root] = True
            order.append(root)
            for node in iter_from(order):
                near = columns[offsets[node] : offsets[node + 1]]
                near = near[~seen[near]]
                seen[near] = True
                order.extend(near.tolist())
    order = np.array(order)
    number = np.empty(n, dtype=np.int64)
    number[order] = np.arange(n)
    rows = [np.sort(number[columns[offsets[node] : offsets[node + 1]]]) for node in order]
    return n, np.concatenate([[0], np.cumsum([len(row) for row in rows])]), np.concatenate(rows)


def iter_from(order):
    """The last element of a growing list, and those that are appended while it is read."""
    at = len(order) - 1
    while at < len(order):
        yield order[at]
        at += 1


def write(path, n, offsets, columns):
    with open(path, "wb") as file:
        np.array([n, len(columns)], dtype="<u8").tofile(file)
        offsets.astype("<u8").tofile(file)
        columns.astype("<u4").tofile(file)


class Symmetric(torch.autograd.Function):
    """A product with a symmetric sparse matrix: its backward is the same product."""

    @staticmethod
    def forward(context, matrix, rows):
        context.matrix = matrix
        return matrix @ rows

    @staticmethod
    def backward(context, by_rows):
        return None, context.matrix @ by_rows.contiguous()


def sums(kind, graph):
    if kind == "csr":
        return lambda rows: Symmetric.apply(graph["csr"], rows)
    return lambda rows: torch.zeros_like(rows).index_add(0, graph["rows"], rows.index_select(0, graph["columns"]))


def score(near, graph, theta, layers):
    base = graph["x"] @ theta[0] + graph["degree"] @ (torch.relu(theta[1]) @ theta[2])
    rows = torch.relu(base)
    for _ in range(layers - 1):
        rows = torch.relu(base + near(rows) @ theta[3])
    common = torch.relu(rows.sum(0) @ theta[4])
    k = rows.shape[1]
    return torch.relu(rows @ theta[5]) @ theta[6][k:] + common @ theta[6][:k]


def best(repeats, body):
    """Least processor time, that of the kernel included: memory that is asked for anew each time costs some."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        body()
        times.append(time.process_time() - started)
    return min(times)


def tensors(n, offsets, columns):
    degrees = np.diff(offsets)
    return {
        "csr": torch.sparse_csr_tensor(
            torch.from_numpy(offsets.astype(np.int32)), torch.from_numpy(columns.astype(np.int32)), torch.ones(len(columns)), (n, n)
        ),
        "rows": torch.from_numpy(np.repeat(np.arange(n), degrees)),
        "columns": torch.from_numpy(columns),
        "x": (torch.arange(n) % 10 == 0).float()[:, None],
        "degree": torch.from_numpy(degrees).float()[:, None],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--dimension", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4, help="turns of ours and PyTorch's")
    parser.add_argument("--ours", default="target/release/examples/structure2vec")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    given = read(args.graph)
    k = args.dimension
    shapes = [(1, k), (1, k), (k, k), (k, k), (k, k), (k, k), (2 * k,)]
    theta = [(torch.rand(shape) * 2 - 1).mul_(0.1).requires_grad_() for shape in shapes]
    print(f"{given[0]} nodes, {len(given[2]) // 2} edges, K = {k}, L = {args.layers}, one thread, torch {torch.__version__}; milliseconds")
    for name, csr in (("by name", given), ("breadth first", breadth_first(*given))):
        least = measure(args, csr, theta)
        for what in ("forward", "both"):
            ms = {kind: 1e3 * min(least[kind, what]) for kind in ("labrys", "csr", "gather")}
            ratio = ms["labrys"] / min(ms["csr"], ms["gather"])
            print(f"{name:13} {what:8} labrys {ms['labrys']:7.1f}   torch csr {ms['csr']:7.1f}   torch gather {ms['gather']:7.1f}   ratio {ratio:.2f}")


def measure(args, csr, theta):
    """Seconds of ours and PyTorch's, in turn."""
    graph = tensors(*csr)

    def forward(near):
        with torch.no_grad():
            score(near, graph, theta, args.layers)

    def both(near):
        for parameter in theta:
            parameter.grad = None
        score(near, graph, theta, args.layers).mean().backward()

    least = {}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "graph.csr")
        write(file, *csr)
        for _ in range(args.rounds):
            command = [args.ours, file, str(args.dimension), str(args.layers), "3"]
            ours = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for what in ("forward", "both"):
                least.setdefault(("labrys", what), []).append(ours[what])
            for kind in ("csr", "gather"):
                for what, body in (("forward", forward), ("both", both)):
                    least.setdefault((kind, what), []).append(best(2, lambda: body(sums(kind, graph))))
    return least


if __name__ == "__main__":
    main()
