#!/usr/bin/env python3
"""The learned policy alone on vertex covers of unseen random graphs, beside greedy rules and the optimum.

AAR is the mean ratio of cover sizes to the optimum; beside it stand the ratio of independent sets, (n - cover) / (n - optimum),
and the same for min-degree greedy and for all nodes, as the cover's ratio hides much on dense graphs. Optima are those of
`labrys solve`, which says whether they are proven.

    cargo build --release --bins --examples
    python benches/learned_cover.py models/vertex-cover-er.safetensors --families er
"""

import argparse
import json
import os
import subprocess
import tempfile


def lines(*command):
    return [json.loads(line) for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--target", default="target/release")
    parser.add_argument("--labrys", help="another binary for the optima")
    parser.add_argument("--families", nargs="*", default=["er", "ba"])
    parser.add_argument("--nodes", type=int, nargs="*", default=[50, 100, 150, 200, 250])
    args = parser.parse_args()
    labrys = args.labrys or os.path.join(args.target, "labrys")
    print(f"{args.graphs} unseen graphs each; AAR (independent-set ratio)")
    print("graphs          policy            multi-node        min-degree        all nodes         optimum  proven")
    for family in args.families:
        shape = "0.15" if family == "er" else "4"
        for nodes in args.nodes:
            with tempfile.TemporaryDirectory() as folder:
                construct = os.path.join(args.target, "examples", "construct")
                found = lines(construct, args.model, family, str(nodes), shape, str(args.graphs), folder)
                solve = lambda i: lines(labrys, "solve", "vertex-cover", f"{folder}/{i}.txt", "--time-limit", "1s", "--json", "-q")[0]
                best = [solve(index) for index in range(args.graphs)]
            optimum = [one["objective"] for one in best]
            text = f"{family.upper()} {nodes:<10}"
            for key in ("policy", "adaptive", "min-degree", "nodes"):
                cover = mean(one[key] / o for one, o in zip(found, optimum))
                free = mean((one["nodes"] - one[key]) / (one["nodes"] - o) for one, o in zip(found, optimum))
                text += f"  {cover:.4f} ({free:.3f})  "
            print(text + f"  {mean(optimum):6.1f}  {sum(one['bound'] == one['objective'] for one in best)}/{len(best)}", flush=True)


if __name__ == "__main__":
    main()
