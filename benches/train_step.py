#!/usr/bin/env python3
"""One training step of the paper's graph network: ours against PyTorch on the CPU, in turn within one run.

4 graphs of 200 ops with the edges of the paper's four synthetic families, 32 wide, 16 rounds, forward, backward, clip, Adam.
PyTorch runs in two formulations: `equation` is equation 1 as written (gather, concatenate, MLP per edge, index_add);
`split` is the fastest that we know of, with the same algebra as ours: first layers split so that products are per node, second
layers folded into the update. The last two columns compare with the faster one, by least wall time and by CPU time: the two that a
busy machine distorts least. With several threads PyTorch waits by spinning, unless OMP_WAIT_POLICY=PASSIVE is set.

    pip install torch
    python benches/train_step.py --threads 1 2
"""

import argparse
import os
import statistics
import subprocess
import time

import torch

OPS, EDGES, HIDDEN, ROUNDS, LOGITS = 200, [995, 396, 400, 1620], 32, 16, 54
NODES = OPS * len(EDGES)


def linear(inputs, outputs, bias=True):
    return torch.nn.Linear(inputs, outputs, bias=bias)


def mlp(inputs, outputs):
    return torch.nn.Sequential(linear(inputs, HIDDEN), torch.nn.ReLU(), linear(HIDDEN, outputs))


def batch():
    """Node features, edge features, sources and targets; edges by target, as in our example."""
    ends = []
    for number, edges in enumerate(EDGES):
        pairs = torch.randint(0, OPS, (edges, 2)).sort(dim=1).values
        pairs = sorted(pairs.tolist(), key=lambda pair: (pair[1], pair[0]))
        ends += [(source + number * OPS, target + number * OPS) for source, target in pairs]
    sources, targets = torch.tensor(ends).T.contiguous()
    return torch.rand(NODES, 11), torch.rand(len(ends), 3), sources, targets


def sum_to(index, values):
    return torch.zeros(NODES, HIDDEN).index_add_(0, index, values)


class Equation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes, self.edges, self.head = mlp(11, HIDDEN), mlp(3, HIDDEN), mlp(HIDDEN, LOGITS)
        self.along, self.against, self.update = (mlp(3 * HIDDEN, HIDDEN) for _ in range(3))

    def forward(self, x, edge_x, sources, targets):
        h, e = self.nodes(x), self.edges(edge_x)
        for _ in range(ROUNDS):
            ends = torch.cat([h.index_select(0, sources), h.index_select(0, targets), e], 1)
            along, against = sum_to(targets, self.along(ends)), sum_to(sources, self.against(ends))
            h = h + self.update(torch.cat([h, along, against], 1))
        return self.head(h)


class Split(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes, self.edges, self.head = mlp(11, HIDDEN), mlp(3, HIDDEN), mlp(HIDDEN, LOGITS)
        self.state, self.edge = linear(HIDDEN, 5 * HIDDEN, bias=False), linear(HIDDEN, 2 * HIDDEN)
        self.messages, self.out = linear(2 * HIDDEN, HIDDEN), linear(HIDDEN, HIDDEN)

    def forward(self, x, edge_x, sources, targets):
        h = self.nodes(x)
        e, e_back = self.edge(self.edges(edge_x)).split(HIDDEN, 1)
        for _ in range(ROUNDS):
            s, t, s_back, t_back, own = self.state(h).split(HIDDEN, 1)
            along = torch.relu(s.index_select(0, sources) + t.index_select(0, targets) + e)
            against = torch.relu(s_back.index_select(0, sources) + t_back.index_select(0, targets) + e_back)
            received = torch.cat([sum_to(targets, along), sum_to(sources, against)], 1)
            h = h + self.out(torch.relu(own + self.messages(received)))
        return self.head(h)


class Torch:
    def __init__(self, network, data):
        self.network, self.data = network, data
        self.adam = torch.optim.Adam(network.parameters(), 1e-4)

    def times(self, steps):
        return [self.step() for _ in range(steps)]

    def step(self):
        wall, cpu = time.perf_counter(), time.process_time()
        self.adam.zero_grad()
        self.network(*self.data).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.adam.step()
        return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


class Ours:
    def __init__(self, program, threads, command="train"):
        environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process, self.command = subprocess.Popen([program], env=environment, **pipes), command

    def times(self, steps):
        print(self.command, steps, file=self.process.stdin, flush=True)
        return [tuple(map(float, pair.split("/"))) for pair in self.process.stdout.readline().split()]


def measure(program, threads, arguments):
    torch.set_num_threads(threads)
    data = batch()
    contestants = {
        "ours": Ours(program, threads),
        "torch split": Torch(Split(), data),
        "torch equation": Torch(Equation(), data),
    }
    results = {name: [] for name in contestants}
    for turn in range(arguments.turns + 1):
        for name, contestant in contestants.items():
            times = contestant.times(arguments.steps)
            results[name] += times if turn > 0 else []  # the first turn warms up
    figures = {}
    for name, times in results.items():
        walls, cpus = zip(*times)
        figures[name] = statistics.median(walls), min(walls), statistics.median(cpus)
    peers = [figure for name, figure in figures.items() if name != "ours"]
    best_wall, best_cpu = min(least for _, least, _ in peers), min(cpu for _, _, cpu in peers)
    for name, (median, least, cpu) in figures.items():
        ratios = f"{least / best_wall:.2f} | {cpu / best_cpu:.2f}"
        print(f"| {threads} | {name} | {median:.1f} | {least:.1f} | {cpu:.1f} | {ratios} |", flush=True)
    infer = Ours(program, threads, "infer").times(10)
    wall, cpu = (statistics.median(column) for column in zip(*infer[1:]))
    print(f"| {threads} | ours, inference on 10,000 ops and 25,000 edges | {wall:.1f} | | {cpu:.1f} | | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--turns", type=int, default=10, help="turns of every contestant")
    parser.add_argument("--steps", type=int, default=10, help="steps in a turn")
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "labrys-nn", "--example", "train_step"], cwd=root, check=True)
    program = os.path.join(root, "target", "release", "examples", "train_step")
    torch.manual_seed(0)
    print("| threads | step | median ms | least ms | CPU ms | wall ratio | CPU ratio |\n|---|---|---|---|---|---|---|")
    for threads in arguments.threads:
        measure(program, threads, arguments)


if __name__ == "__main__":
    main()
