#!/usr/bin/env python3
"""Attention of 12 heads of 64 features, f32: ours with blocks of rows and without, and JAX's, in turns.

    attention_peers.py build/release/bench/bench_attention [--tokens 256 1024 4096] [--batches 1 4]

Needs JAX (pip install jax). All run on all cores. The floor is the products' operations (two products forward, five
backward) at the measured speed of a large product.
"""
import argparse
import os
import re
import statistics
import subprocess
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

HEADS, FEATURES = 12, 64


def attention(q, k, v):
    q, k, v = (x.reshape(*x.shape[:2], HEADS, FEATURES) for x in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(FEATURES)
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    return y.reshape(*y.shape[:2], HEADS * FEATURES)


def jax_ms(tokens, batch, backward, repetitions):
    rng = np.random.default_rng(0)
    x = [jnp.asarray(rng.normal(size=(batch, tokens, HEADS * FEATURES)).astype(np.float32)) for _ in range(4)]
    if backward:
        run = jax.jit(lambda q, k, v, d: jax.vjp(attention, q, k, v)[1](d))
    else:
        run = jax.jit(lambda q, k, v, d: attention(q, k, v))
    times = []
    for _ in range(repetitions + 1):
        start = time.perf_counter()
        jax.block_until_ready(run(*x))
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[1:])


def ours_ms(bench, tokens, batch, backward, repetitions):
    way = "backward" if backward else "forward"
    arguments = [bench, str(tokens), str(batch), way, str(repetitions)]
    output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return [float(number) for number in re.findall(r"([\d.]+) (?:ms|MB)", output)]


def product_speed():
    n = 2048
    a, b = np.random.rand(n, n).astype(np.float32), np.random.rand(n, n).astype(np.float32)
    a @ b
    start = time.perf_counter()
    for _ in range(5):
        a @ b
    return 5 * 2 * n**3 / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--tokens", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4])
    arguments = parser.parse_args()
    print("| tokens | batch | | blocks | without | JAX | floor | temporaries, blocks | without |")
    print("|---|---|---|---|---|---|---|---|---|")
    for tokens in arguments.tokens:
        for batch in arguments.batches:
            for backward in (False, True):
                repetitions = max(3, min(15, 4096 // tokens))
                blocks, held, without, held_without = ours_ms(arguments.bench, tokens, batch, backward, repetitions)
                theirs = jax_ms(tokens, batch, backward, repetitions)
                operations = (5 if backward else 2) * 2 * batch * HEADS * tokens**2 * FEATURES
                floor = 1e3 * operations / product_speed()
                print(f"| {tokens} | {batch} | {'backward' if backward else 'forward'} | {blocks:.1f} ms | "
                      f"{without:.1f} ms | {theirs:.1f} ms | {floor:.1f} ms | {held:.0f} MB | {held_without:.0f} MB |",
                      flush=True)


if __name__ == "__main__":
    main()
