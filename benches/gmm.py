#!/usr/bin/env python3
"""The Gaussian mixture model of examples/gmm.ks: objective and gradient, against C++ by hand and JAX on one CPU thread.

    python benches/gmm.py [--labrys target/release/labrys] [--jax]

Needs a C++ compiler; --jax needs `pip install jax`. All of one row runs in one process after another on the same machine: trust the ratios.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

FLAGS = ["-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-pthread"]
SIZES = [(1000, 10, 25, 20), (1000, 32, 25, 10), (1000, 128, 200, 1)]
ROOT = pathlib.Path(__file__).parent.parent


def compiled(labrys, folder):
    """The emitted program, with a driver in the place of its main."""
    source = folder / "gmm.cpp"
    exports = ["--export", "gmm", "--export", "rev_gmm"]
    subprocess.run([labrys, "compile", ROOT / "examples/gmm.ks", "--emit", "c++", "-o", source, *exports], check=True)
    used = os.times().children_user
    text = source.read_text().replace("int main()", "int program_main();\nint program_main()")
    source.write_text(text + (ROOT / "benches/gmm/driver.cpp").read_text())
    made = folder / "gmm"
    subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, "-o", made, source], check=True)
    print(f"labrys compile: {used:.2f} s, {len(text.splitlines())} lines of C++ with the runtime")
    return made


def jax_times(points, d, gaussians, repetitions):
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--labrys", default=ROOT / "target/release/labrys")
    parser.add_argument("--jax", action="store_true")
    arguments = parser.parse_args()
    # One thread, as ours.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with tempfile.TemporaryDirectory() as folder:
        made = compiled(arguments.labrys, pathlib.Path(folder))
        print("| N | d | K | primal | by hand | primal / by hand | gradient | gradient / primal | peak | JAX primal | JAX gradient |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        for points, d, gaussians, repetitions in SIZES:
            output = subprocess.run([made, *map(str, (points, d, gaussians, repetitions))], check=True, capture_output=True, text=True)
            ours = json.loads(output.stdout)
            assert abs(ours["objective"] - ours["by_hand"]) < 1e-9 * abs(ours["by_hand"]), ours
            jax = jax_times(points, d, gaussians, repetitions) if arguments.jax else None
            peer = " | ".join(f"{ms:.3g} ms" for ms in jax) if jax else "- | -"
            primal, hand, gradient = ours["primal_ms"], ours["hand_ms"], ours["gradient_ms"]
            print(f"| {points} | {d} | {gaussians} | {primal:.3g} ms | {hand:.3g} ms | {primal / hand:.2f} | {gradient:.3g} ms | "
                  f"{gradient / primal:.2f} | {ours['peak_mb']} MB | {peer} |")


if __name__ == "__main__":
    main()
