#!/usr/bin/env python3
"""A training step of GPT-2's shape (124M parameters, batch 4, 64 tokens, f32): ours and JAX's, in turns.

    gpt2_peers.py build/release/bench/bench_gpt2 [--rounds N]

Needs JAX (pip install jax). Both run on all cores; Adam's update is part of the step, and its state is donated.
Prints the median step of each, their ratio, and ours over the floor: 191 GFLOP of products at the measured speed of
a large product, and 28 bytes of memory per parameter.
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

WORDS, WIDTH, DEPTH, HEADS, TOKENS, BATCH = 50257, 768, 12, 12, 64, 4


def first_model():
    keys = iter(jax.random.split(jax.random.key(0), 100))

    def dense(i, o):
        return {"w": 0.02 * jax.random.normal(next(keys), (i, o)), "b": jnp.zeros(o)}

    def norm():
        return {"g": jnp.ones(WIDTH), "b": jnp.zeros(WIDTH)}

    layers = [{"n1": norm(), "qkv": dense(WIDTH, 3 * WIDTH), "out": dense(WIDTH, WIDTH), "n2": norm(),
               "up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH)} for _ in range(DEPTH)]
    return {"words": dense(WORDS, WIDTH)["w"], "places": dense(1024, WIDTH)["w"], "layers": layers, "norm": norm()}


def normed(x, p):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["g"] + p["b"]


def loss(model, seen, following):
    x = model["words"][seen] + model["places"][:TOKENS]
    mask = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))
    for p in model["layers"]:
        q, k, v = (h.reshape(BATCH, TOKENS, HEADS, -1)
                   for h in jnp.split(normed(x, p["n1"]) @ p["qkv"]["w"] + p["qkv"]["b"], 3, -1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
        seen_by = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(BATCH, TOKENS, WIDTH)
        x = x + seen_by @ p["out"]["w"] + p["out"]["b"]
        hidden = jax.nn.gelu(normed(x, p["n2"]) @ p["up"]["w"] + p["up"]["b"], approximate=False)
        x = x + hidden @ p["down"]["w"] + p["down"]["b"]
    logits = normed(x, model["norm"]) @ model["words"].T
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), following[..., None], -1)
    return -picked.mean()


def step(model, m, v, t, seen, following):
    value, gradient = jax.value_and_grad(loss)(model, seen, following)
    t = t + 1
    m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, gradient)
    v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, gradient)
    model = jax.tree.map(lambda p, a, b: p - 1e-4 * (a / (1 - 0.9 ** t)) / (jnp.sqrt(b / (1 - 0.999 ** t)) + 1e-8),
                         model, m, v)
    return model, m, v, t, value


def jax_seconds(steps):
    run = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    model = first_model()
    state = (model, jax.tree.map(jnp.zeros_like, model), jax.tree.map(jnp.zeros_like, model), jnp.float32(0))
    text = np.random.default_rng(0).integers(0, WORDS, (BATCH, TOKENS + 1))
    seen, following = jnp.asarray(text[:, :-1]), jnp.asarray(text[:, 1:])
    times = []
    for _ in range(steps + 1):
        start = time.perf_counter()
        *state, value = run(*state, seen, following)
        value.block_until_ready()
        jax.block_until_ready(state)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def ours_seconds(bench, steps):
    output = subprocess.run([bench, str(steps)], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"anabranch ([\d.]+) s", output).group(1))


def floor_seconds():
    n = 2048
    a, b = np.random.rand(n, n).astype(np.float32), np.random.rand(n, n).astype(np.float32)
    a @ b
    start = time.perf_counter()
    for _ in range(5):
        a @ b
    speed = 5 * 2 * n**3 / (time.perf_counter() - start)
    big = np.zeros(1 << 27, np.float32)
    copy = np.empty_like(big)
    np.copyto(copy, big)
    start = time.perf_counter()
    np.copyto(copy, big)
    bandwidth = 2 * big.nbytes / (time.perf_counter() - start)
    return 191e9 / speed + 28 * 124e6 / bandwidth, speed, bandwidth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    ours, theirs = [], []
    for _ in range(arguments.rounds):
        ours.append(ours_seconds(arguments.bench, 5))
        theirs.append(jax_seconds(5))
    floor, speed, bandwidth = floor_seconds()
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"ours {mine:.3f} s, JAX {jax.__version__} {other:.3f} s, ratio {other / mine:.2f}; floor {floor:.3f} s "
          f"({speed / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.0f} GB/s), ours over it {mine / floor:.2f}")


if __name__ == "__main__":
    main()
