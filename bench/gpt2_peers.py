#!/usr/bin/env python3
"""A training step of GPT-2's shape (124M parameters, batch 4, 64 tokens, f32): ours, JAX's and PyTorch's, in turns.

    gpt2_peers.py build/release/bench/bench_gpt2 [--rounds N] [--compile]

Needs JAX and PyTorch (pip install jax torch). All run on all cores; Adam's update is part of the step, and its state
is donated. PyTorch runs eagerly with its fused Adam; --compile adds torch.compile, which needs a C++ compiler and
Python's headers. Prints the median step of each, the ratio of the best peer's to ours, and ours over the floor: 191
GFLOP of products at the measured speed of a large product, and 28 bytes of memory per parameter.
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
import torch

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


class TorchBlock(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (h.view(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for h in self.qkv(self.n1(x)).chunk(3, -1))
        seen_by = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen_by.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.n2(x))))


class TorchModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Parameter(0.02 * torch.randn(WORDS, WIDTH))
        self.places = torch.nn.Parameter(0.02 * torch.randn(1024, WIDTH))
        self.blocks = torch.nn.Sequential(*(TorchBlock() for _ in range(DEPTH)))
        self.norm = torch.nn.LayerNorm(WIDTH)

    def forward(self, seen, following):
        x = torch.nn.functional.embedding(seen, self.words) + self.places[:TOKENS]
        logits = self.norm(self.blocks(x)) @ self.words.T
        return torch.nn.functional.cross_entropy(logits.view(-1, WORDS), following.reshape(-1))


def torch_seconds(steps, compiles=False):
    model = TorchModel()
    loss = torch.compile(model) if compiles else model
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    text = torch.randint(0, WORDS, (BATCH, TOKENS + 1))
    times = []
    for _ in range(steps + 1):
        start = time.perf_counter()
        adam.zero_grad(set_to_none=True)
        loss(text[:, :-1], text[:, 1:]).backward()
        adam.step()
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
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    runs = {"ours": lambda: ours_seconds(arguments.bench, 5),
            f"JAX {jax.__version__}": lambda: jax_seconds(5),
            f"PyTorch {torch.__version__}": lambda: torch_seconds(5)}
    if arguments.compile:
        runs["torch.compile"] = lambda: torch_seconds(5, compiles=True)
    times = {name: [] for name in runs}
    for _ in range(arguments.rounds):
        for name, run in runs.items():
            times[name].append(run())
    medians = {name: statistics.median(all_times) for name, all_times in times.items()}
    floor, speed, bandwidth = floor_seconds()
    ours = medians.pop("ours")
    print(f"ours {ours:.3f} s, " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in medians.items()))
    print(f"best peer over ours {min(medians.values()) / ours:.2f}; floor {floor:.3f} s "
          f"({speed / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.0f} GB/s), ours over it {ours / floor:.2f}")


if __name__ == "__main__":
    main()
