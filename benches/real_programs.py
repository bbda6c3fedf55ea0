#!/usr/bin/env python3
"""What `labrys compile -O` gains on whole programs: examples and their gradients, simplified only and rewritten as well, on one CPU thread.

    python benches/real_programs.py [--labrys target/release/labrys] [--only gmm] [--fp real] [--turns 5]

Each size is a program of its own: its main says the sizes, and the cost model goes by them. The two programs of a row run in turns; times
are the fastest of all, in CPU time: trust the ratios. Needs a C++ compiler.
"""

import argparse
import math
import pathlib
import tempfile

from gradients import BENCHMARKS, ROOT, compiled, run

# Repetitions and sizes as the drivers take them, and what main says instead of what the example says.
SIZES = {
    "gmm": (
        [(200, 1000, 10, 25), (50, 1000, 32, 25), (2, 1000, 128, 200)],
        [("(points 1000) (d 10) (gaussians 25)", "(points {0}) (d {1}) (gaussians {2})")],
    ),
    "lstm": (
        [(200, 100, 16), (50, 100, 64), (5, 100, 256)],
        [("(sequence (wave 16))", "(sequence (wave {0}))"), ("(first (start 4))", "(first (start {1}))")],
    ),
    "conv": (
        [(200, 100, 4), (50, 100, 32)],
        [("(seen (examples 100 20))", "(seen (examples 100 {0}))"), ("(first (start 4))", "(first (start {1}))")],
    ),
}


def program(name, sizes, changes):
    """The example with a main of these sizes."""
    text = (ROOT / f"examples/{name}.ks").read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{name}.ks does not say {old} once"
        text = text.replace(old, new.format(*sizes))
    return text


def row(arguments, name, sizes, changes, folder):
    """Ratios of the primal and of the gradient, after a line of the table."""
    source = folder / f"{name}.ks"
    source.write_text(program(name, sizes[1:], changes))
    function = BENCHMARKS[name][0]
    plain = compiled(arguments.labrys, f"{name}.plain", function, folder, source)
    optimised = compiled(arguments.labrys, f"{name}.optimised", function, folder, source, ["-O", "--fp", arguments.fp])
    best = [{}, {}]
    for _ in range(arguments.turns):
        for kept, made in zip(best, (plain, optimised)):
            for key, value in run(made, sizes).items():
                kept[key] = min(kept.get(key, math.inf), value) if key.endswith("_ms") else value
    before, after = best
    # The gradient of an LSTM 256 wide explodes over 100 steps, and rounding with it.
    for key, tolerance in (("value", 1e-9), ("length", 1e-6)):
        assert abs(before[key] - after[key]) <= tolerance * abs(before[key]), best
    ratios = [before[key] / after[key] for key in ("primal_ms", "gradient_ms")]
    sizes_named = ", ".join(f"{what} {size}" for what, size in zip(BENCHMARKS[name][1].split(", "), sizes[1:]))
    cells = [name, sizes_named]
    for key, ratio in zip(("primal_ms", "gradient_ms"), ratios):
        cells += [f"{before[key]:.3g} ms", f"{after[key]:.3g} ms", f"**{ratio:.2f}**"]
    return ratios, "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--labrys", default=ROOT / "target/release/labrys")
    parser.add_argument("--only", choices=SIZES, action="append")
    parser.add_argument("--fp", choices=["strict", "real", "fast"], default="real")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    lines, ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only or SIZES:
            rows, changes = SIZES[name]
            for sizes in rows:
                found, line = row(arguments, name, sizes, changes, pathlib.Path(folder))
                ratios += found
                lines.append(line)
    titles = ["program", "sizes", "primal", "with -O", "ratio", "gradient", "with -O", "ratio"]
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
    print("\n".join(lines))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)} ratios: {mean:.2f}; the least: {min(ratios):.2f}")


if __name__ == "__main__":
    main()
