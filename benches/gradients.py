#!/usr/bin/env python3
"""Gradients of examples over their primals, on one CPU thread: Gaussian mixture model, LSTM, convolutional network.

    python benches/gradients.py [--labrys target/release/labrys] [--only gmm] [--jax]

The mixture model is also measured against C++ by hand and, with --jax (`pip install jax`), against JAX. Needs a C++ compiler. What
stands in one row takes turns in one process, but for JAX: trust the ratios.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

FLAGS = ["-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-pthread"]
ROOT = pathlib.Path(__file__).parent.parent
# The function that is derived, the names of the sizes, and the sizes after the number of repetitions.
BENCHMARKS = {
    "gmm": ("gmm", "N, d, K", [(200, 1000, 10, 25), (50, 1000, 32, 25), (2, 1000, 128, 200)]),
    "lstm": ("mean_square", "steps, width", [(100, 100, 16), (30, 100, 64), (5, 100, 256)]),
    "conv": ("loss", "pictures, filters", [(100, 100, 4), (30, 100, 32)]),
}


def compiled(labrys, name, function, folder, source=None, flags=()):
    """The emitted program, with a driver in the place of its main. Says how long `labrys compile` takes, and what it says."""
    code, made = folder / f"{name}.cpp", folder / name
    exports = ["--export", function, "--export", f"rev_{function}"]
    before = os.times().children_user
    command = [labrys, "compile", source or ROOT / f"examples/{name}.ks", "--emit", "c++", "-o", code, *flags, *exports]
    said = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr.strip()
    used = os.times().children_user - before
    text = code.read_text()
    print(f"{name}: labrys compile takes {used:.2f} s; {len(text.splitlines())} lines of C++ with the runtime", said, sep="; " if said else "")
    base = name.split(".")[0]
    drivers = [(ROOT / "benches/gradients" / part).read_text() for part in ("common.hpp", f"{base}.cpp")]
    code.write_text(text.replace("int main()", "int program_main();\nint program_main()") + "".join(drivers))
    subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, "-o", made, code], check=True)
    return made


def run(made, sizes):
    """What a driver says of a program: values, and the fastest of several runs in milliseconds of CPU time."""
    output = subprocess.run([made, *map(str, sizes)], check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def jax_times(repetitions, points, d, gaussians):
    import jax
    import jax.numpy as np
    import numpy

    jax.config.update("jax_enable_x64", True)
    rows, columns = numpy.tril_indices(d, -1)

    def objective(alphas, means, qs, ls, x):
        def gaussian(alpha, mean, q, lower):
            matrix = np.zeros((d, d)).at[rows, columns].set(lower) + np.diag(np.exp(q))
            y = (x - mean) @ matrix.T
            return alpha + np.sum(q) - 0.5 * np.sum(y * y, axis=1)

        terms = jax.vmap(gaussian)(alphas, means, qs, ls)
        prior = 0.5 * (np.sum(np.exp(2 * qs)) + np.sum(ls * ls))
        return np.sum(jax.scipy.special.logsumexp(terms, axis=0)) - points * jax.scipy.special.logsumexp(alphas) + prior

    random = numpy.random.default_rng(0)
    shapes = [(gaussians,), (gaussians, d), (gaussians, d), (gaussians, d * (d - 1) // 2), (points, d)]
    arguments = [random.uniform(-0.5, 0.5, shape) for shape in shapes]
    times = []
    for function in (jax.jit(objective), jax.jit(jax.grad(objective, argnums=(0, 1, 2, 3, 4)))):
        jax.block_until_ready(function(*arguments))
        best = 1e300
        for _ in range(repetitions):
            start = time.perf_counter()
            jax.block_until_ready(function(*arguments))
            best = min(best, time.perf_counter() - start)
        times.append(1e3 * best)
    return times


def measure(made, name, sizes, jax):
    ours = run(made, sizes)
    assert abs(ours["value"] - ours["by_hand"]) < 1e-9 * abs(ours["by_hand"]), ours
    primal, gradient = ours["primal_ms"], ours["gradient_ms"]
    cells = [*sizes[1:], f"{primal:.3g} ms", f"{gradient:.3g} ms", f"{gradient / primal:.2f}", f"{ours['peak_mb']} MB"]
    if name == "gmm":
        cells += [f"{ours['hand_ms']:.3g} ms", f"{primal / ours['hand_ms']:.2f}"]
        cells += [f"{ms:.3g} ms" for ms in jax_times(*sizes)] if jax else ["-", "-"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--labrys", default=ROOT / "target/release/labrys")
    parser.add_argument("--only", choices=BENCHMARKS, action="append")
    parser.add_argument("--jax", action="store_true")
    arguments = parser.parse_args()
    # One thread, as ours.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only or BENCHMARKS:
            function, names, rows = BENCHMARKS[name]
            made = compiled(arguments.labrys, name, function, pathlib.Path(folder))
            columns = [*names.split(", "), "primal", "gradient", "gradient / primal", "peak"]
            if name == "gmm":
                columns += ["by hand", "primal / by hand", "JAX primal", "JAX gradient"]
            print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
            for sizes in rows:
                measure(made, name, sizes, arguments.jax)


if __name__ == "__main__":
    main()
