#!/usr/bin/env python3
"""Scatter-add of 2^20 rows of 16 into 2^16 rows: ours and JAX's, in turns, and the ratio of the medians.

    jax_scatter.py build/release/bench/bench_gather [--rounds N]

Needs JAX (pip install jax). Both run on all cores of the machine, in f32, on the same indices in random order.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

NAME = "scatter-add of 16/ours"
ROWS, PICKED, WIDTH = 1 << 16, 1 << 20, 16


def ours_ms(bench):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        subprocess.run([bench, f"--benchmark_filter=^{NAME}", f"--benchmark_out={report.name}",
                        "--benchmark_out_format=json"], check=True, stdout=subprocess.DEVNULL)
        rows = json.load(report)["benchmarks"]
    median = next(row for row in rows if row.get("aggregate_name") == "median")
    return median["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1.0}[median["time_unit"]]


def jax_ms(calls=5):
    add = jax.jit(lambda updates, at: jnp.zeros((ROWS, WIDTH), jnp.float32).at[at].add(updates))
    generator = np.random.default_rng(1)
    updates = jnp.asarray(generator.random((PICKED, WIDTH), np.float32))
    at = jnp.asarray(generator.integers(0, ROWS, PICKED, np.int32))
    add(updates, at).block_until_ready()
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        add(updates, at).block_until_ready()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(ours_ms(options.bench))
        theirs.append(jax_ms())
    mine, peer = statistics.median(ours), statistics.median(theirs)
    print(f"scatter-add of 2^20 rows of 16 into 2^16: ours {mine:.1f} ms, JAX {jax.__version__} {peer:.1f} ms, "
          f"ratio {peer / mine:.1f}")


if __name__ == "__main__":
    main()
