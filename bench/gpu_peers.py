#!/usr/bin/env python3
"""The measurements of bench_gpu in PyTorch or JAX, under the same names.

    gpu_peers.py torch|jax [--quick] [--json FILE] [--only GROUP]... [--rounds N] [--seconds S]

GROUP: memory, products, calls, branches, training, compile. PyTorch is measured eager and compiled
(torch.compile), and as a CUDA graph where calls are counted; JAX under jit. Times are the host's
clock around calls that are submitted one after the other and waited for together, as in bench_gpu,
in float32 without TF32. Past S seconds nothing new is begun; what was left out is named.

Ends with 0; with 1 where something could not be measured; with 3 where the peer or its GPU is
missing.
"""
import argparse
import json
import os
import statistics
import sys
import time

GROUPS = ("memory", "calls", "products", "branches", "training", "compile")
ROW = 1024


class Missing(Exception):
    """The peer, or a GPU for it, is not there."""


def size_text(count):
    for unit in ("KiB", "MiB", "GiB"):
        count >>= 10
        if count < 1024:
            return f"{count}{unit}"
    raise ValueError("too large")


# --- the peers: how each makes arrays, compiles and waits


class Torch:
    name = "torch"

    def __init__(self):
        try:
            import torch
        except ImportError as error:
            raise Missing(f"PyTorch cannot be imported ({error})") from error
        if not torch.cuda.is_available():
            raise Missing(f"PyTorch {torch.__version__} finds no GPU")
        torch.set_float32_matmul_precision("highest")
        torch.set_grad_enabled(False)
        self.torch = torch
        self.version = torch.__version__
        self.gpu = torch.cuda.get_device_name(0)
        self.memory_bytes = torch.cuda.get_device_properties(0).total_memory
        self.math = torch

    def dtype(self, name):
        return {"f32": self.torch.float32, "bf16": self.torch.bfloat16}[name]

    def array(self, sizes, dtype="f32"):
        made = self.torch.empty(sizes, dtype=self.dtype(dtype), device="cuda")
        return made.uniform_(-1, 1)

    def wait(self, _):
        self.torch.cuda.synchronize()

    def variants(self, function, rarely=False):
        """(variant, callable): `rarely` leaves out what takes seconds to compile."""
        yield "torch eager", function
        if not rarely:
            # Each function has shapes of its own: nothing is gained from dynamic ones.
            self.torch.compiler.reset()
            yield "torch.compile", self.torch.compile(function, dynamic=False)

    def replayed(self, function, x):
        """A CUDA graph of one call."""
        function(x)
        self.torch.cuda.synchronize()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            function(x)
        return "torch CUDA graph", lambda _: graph.replay()

    def barrier(self, x):
        return x

    def compiled_now(self, function, arguments):
        self.torch.compiler.reset()
        self.torch.compile(function, dynamic=False)(*arguments)
        self.torch.cuda.synchronize()

    def copy(self, x):
        to = self.torch.empty_like(x)
        return lambda: to.copy_(x)

    def softmax(self, x):
        return self.torch.softmax(x, -1)

    def layer_norm(self, x, scale, shift):
        return self.torch.nn.functional.layer_norm(x, (ROW,), scale, shift)

    def rms_norm(self, x, scale):
        return self.torch.nn.functional.rms_norm(x, (ROW,), scale, 1e-5)

    def sum(self, x, axis=None):
        return self.torch.sum(x) if axis is None else self.torch.sum(x, axis)

    def relu(self, x):
        return self.torch.relu(x)

    def gelu(self, x):
        return self.torch.nn.functional.gelu(x, approximate="tanh")

    def maximum(self, x, number):
        return self.torch.clamp_min(x, number)

    def concatenate(self, arrays):
        return self.torch.cat(arrays, 1)


class Jax:
    name = "jax"

    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        try:
            import jax
        except ImportError as error:
            raise Missing(f"JAX cannot be imported ({error})") from error
        try:
            device = jax.devices("gpu")[0]
        except RuntimeError as error:
            raise Missing(f"JAX {jax.__version__} finds no GPU ({error})") from error
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax = jax
        self.math = jax.numpy
        self.version = jax.__version__
        self.gpu = device.device_kind
        self.memory_bytes = (device.memory_stats() or {}).get("bytes_limit", 1 << 34)
        self.seed = 0

    def array(self, sizes, dtype="f32"):
        self.seed += 1
        number = {"f32": self.math.float32, "bf16": self.math.bfloat16}[dtype]
        random = self.jax.jit(
            lambda key: self.jax.random.uniform(key, sizes, number, -1, 1))
        return random(self.jax.random.key(self.seed)).block_until_ready()

    def wait(self, last):
        self.jax.block_until_ready(last)  # a device runs its programs in order

    def variants(self, function, rarely=False):
        del rarely
        yield "jax.jit", self.jax.jit(function)

    def replayed(self, function, x):
        del function, x

    def barrier(self, x):
        return self.jax.lax.optimization_barrier(x)

    def compiled_now(self, function, arguments):
        # A new function each time, which jit has not seen.
        self.jax.jit(lambda *given: function(*given)).lower(*arguments).compile()

    def copy(self, x):
        return lambda: self.math.copy(x)

    def softmax(self, x):
        return self.jax.nn.softmax(x, -1)

    def layer_norm(self, x, scale, shift):
        mean = self.math.mean(x, -1, keepdims=True)
        variance = self.math.var(x, -1, keepdims=True)
        return (x - mean) * self.jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def rms_norm(self, x, scale):
        return x * self.jax.lax.rsqrt(self.math.mean(x * x, -1, keepdims=True) + 1e-5) * scale

    def sum(self, x, axis=None):
        return self.math.sum(x, axis)

    def relu(self, x):
        return self.jax.nn.relu(x)

    def gelu(self, x):
        return self.jax.nn.gelu(x, approximate=True)

    def maximum(self, x, number):
        return self.math.maximum(x, number)

    def concatenate(self, arrays):
        return self.math.concatenate(arrays, 1)


PEERS = {"torch": Torch, "jax": Jax}

# --- the functions, as in gpu_kernels.h and async_graphs.h


def chain(peer, x):
    y = (x * 1.5 + 0.25) * x - 2.0
    return peer.maximum(y * y + x, 0.5) * 0.125


def chain_of_32(peer, x, number):
    for i in range(8):
        x = peer.math.tanh(x * (number + i) + 0.5) - peer.maximum(x, number)
    return x


def cell(peer, x, w):
    def layer(y):
        return peer.relu(y @ w)

    return peer.concatenate(
        [layer(x), layer(layer(x)), layer(layer(layer(x))), layer(peer.math.tanh(x))])


def training_step(peer, p, x, target):
    w1, b1, w2, b2, w3, b3 = p
    where = peer.math.where
    h1 = peer.relu(x @ w1 + b1)
    h2 = peer.relu(h1 @ w2 + b2)
    error = h2 @ w3 + b3 - target
    loss = (error * error).mean()
    d3 = error * (2.0 / 1024)
    d2 = where(h2 > 0, d3 @ w3.T, 0.0)
    d1 = where(h1 > 0, d2 @ w2.T, 0.0)
    gradients = (x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0))
    return tuple(value - gradient * 1e-3 for value, gradient in zip(p, gradients)), loss


def first_params(peer):
    def weights(rows, columns):
        return peer.array((rows, columns)) * (1.0 / rows**0.5)

    return (weights(512, 2048), peer.array((2048,)) * 0, weights(2048, 512),
            peer.array((512,)) * 0, weights(512, 1), peer.array((1,)) * 0)


# --- measuring


class Session:
    def __init__(self, peer, arguments):
        self.peer = peer
        self.quick = arguments.quick
        self.rounds = 1 if arguments.quick else arguments.rounds
        self.end = time.monotonic() + arguments.seconds
        self.results, self.failed = [], []

    def add(self, name, variant, seconds, **more):
        print(f"  {name:34} {variant:18} {seconds * 1e6:12.2f} us", flush=True)
        self.results.append({"name": name, "variant": variant, "seconds": seconds, **more})

    def attempt(self, name, measure):
        """One failure leaves the others."""
        if time.monotonic() > self.end:
            self.failed.append({"name": name, "why": "no time left"})
            return
        try:
            measure()
        except Exception as error:  # whatever a peer throws
            print(f"  {name}: FAILED: {error}", flush=True)
            self.failed.append({"name": name, "why": f"{type(error).__name__}: {error}"[:500]})

    def each(self, submit):
        """Seconds that one of many takes: the median over rounds of about 5 ms."""

        def run(count):
            begin = time.perf_counter()
            for _ in range(count):
                last = submit()
            self.peer.wait(last)
            return (time.perf_counter() - begin) / count

        for _ in range(3):
            run(1)
        count = 1 if self.quick else max(1, min(1000, int(5e-3 / run(2))))
        return statistics.median(run(count) for _ in range(self.rounds))


def memory(session):
    sizes = [64 << 10] if session.quick else [mib << 20 for mib in (64, 1024, 1, 4, 16, 256, 4096)]
    for count, size in enumerate(sizes):
        for dtype in ("f32", "bf16"):
            session.attempt(f"memory/{dtype}/{size_text(size)}",
                            lambda: memory_of(session, dtype, size, rarely=count > 1))


def memory_of(session, dtype, size, rarely):
    peer = session.peer
    if 8 * size > peer.memory_bytes:
        raise ValueError("too large for this GPU's memory")
    x = peer.array((size // ROW // (4 if dtype == "f32" else 2), ROW), dtype)
    scale, shift = peer.array((ROW,), dtype), peer.array((ROW,), dtype)
    of = f"/{dtype}/{size_text(size)}"
    session.add("copy" + of, peer.name, session.each(peer.copy(x)), bytes=2 * size)
    kernels = [
        ("chain", 2, lambda x: chain(peer, x), (x,)),
        ("softmax", 2, peer.softmax, (x,)),
        ("layer_norm", 2, peer.layer_norm, (x, scale, shift)),
        ("rms_norm", 2, peer.rms_norm, (x, scale)),
        ("row_sum", 1, lambda x: peer.sum(x, 1), (x,)),
        ("column_sum", 1, lambda x: peer.sum(x, 0), (x,)),
        ("full_sum", 1, lambda x: peer.sum(x), (x,)),
    ]
    for name, passes, function, arguments in kernels:
        for variant, call in peer.variants(function, rarely):
            session.attempt(name + of, lambda: session.add(
                name + of, variant, session.each(lambda: call(*arguments)), bytes=passes * size))


def products(session):
    peer = session.peer
    forms = [
        ("matmul", lambda x, w, bias: x @ w),
        ("bias_relu", lambda x, w, bias: peer.relu(x @ w + bias)),
        ("bias_gelu", lambda x, w, bias: peer.gelu(x @ w + bias)),
    ]
    for dtype, largest in (("f32", 4096), ("bf16", 8192)):
        size = 64 if session.quick else 512
        while size <= (64 if session.quick else largest):
            arguments = (peer.array((size, size), dtype), peer.array((size, size), dtype),
                         peer.array((size,), dtype))
            for name, function in forms:
                # What torch.compile adds to a product is its epilogue: one size shows it.
                for variant, call in peer.variants(function, rarely=size != 4096):
                    whole = f"{name}/{dtype}/{size}"
                    session.attempt(whole, lambda: session.add(
                        whole, variant, session.each(lambda: call(*arguments)),
                        operations=2 * size**3))
            size *= 2


def calls(session):
    peer = session.peer
    x = peer.array((1024,))
    for count in (1, 10, 100):

        def many_tanh(x, count=count):
            for _ in range(count):
                x = peer.barrier(peer.math.tanh(x))
            return x

        variants = list(peer.variants(many_tanh, rarely=True))
        try:
            replayed = peer.replayed(many_tanh, x)
            variants += [replayed] if replayed else []
        except Exception as error:  # whatever a peer throws
            session.failed.append({"name": f"replay/{count}", "why": str(error)[:500]})
        for variant, call in variants:
            session.attempt(f"submit/{count}",
                            lambda: calls_of(session, str(count), variant, call, x))


def calls_of(session, count, variant, call, x):
    wait = session.peer.wait
    wait(call(x))
    submitted, alone = [], []
    for _ in range(session.rounds * 5):
        begin = time.perf_counter()
        for _ in range(16):
            last = call(x)
        submitted.append((time.perf_counter() - begin) / 16)
        wait(last)
        begin = time.perf_counter()
        wait(call(x))
        alone.append(time.perf_counter() - begin)
    session.add("submit/" + count, variant, statistics.median(submitted))
    session.add("call/" + count, variant, statistics.median(alone))


def branches(session):
    peer = session.peer
    x, w = peer.array((8, 128)), peer.array((128, 128))
    for variant, call in peer.variants(lambda x, w: cell(peer, x, w)):

        def one(call=call):
            last = call(x, w)
            peer.wait(last)
            return last

        session.attempt("branches/cell/8x128", lambda: session.add(
            "branches/cell/8x128", variant, session.each(one)))


def training(session):
    peer = session.peer
    batch = 8 if session.quick else 1024
    x, target = peer.array((batch, 512)), peer.array((batch, 1))
    for variant, call in peer.variants(lambda p, x, target: training_step(peer, p, x, target)):
        state = [first_params(peer)]

        def step(call=call, state=state):
            state[0], loss = call(state[0], x, target)
            return loss

        session.attempt("training_step", lambda: session.add(
            "training_step", variant, session.each(step)))


def compile_times(session):
    peer = session.peer
    x, matrix = peer.array((1 << 16,)), peer.array((64, 1024))
    p = first_params(peer)
    x32, target = peer.array((32, 512)), peer.array((32, 1))
    programs = [
        ("chain_of_32", lambda number: lambda x: chain_of_32(peer, x, number), (x,)),
        ("softmax", lambda number: lambda x: peer.softmax(x * number), (matrix,)),
        ("training_step",
         lambda number: lambda p, x, target: training_step(peer, p, x * number, target),
         (p, x32, target)),
    ]
    variant = {"torch": "torch.compile", "jax": "jax.jit"}[peer.name]
    for name, program, arguments in programs:

        def measure(name=name, program=program, arguments=arguments):
            seconds = []
            for i in range(1 if session.quick else 3):
                begin = time.perf_counter()
                peer.compiled_now(program(1 + 0.001 * i), arguments)
                seconds.append(time.perf_counter() - begin)
            session.add("compile/" + name, variant, statistics.median(seconds))

        session.attempt("compile/" + name, measure)


RUN = {"memory": memory, "calls": calls, "products": products, "branches": branches,
       "training": training, "compile": compile_times}


def write(file, everything):
    """All or nothing: a file beside it takes its place when it is whole."""
    unfinished = file + ".unfinished"
    with open(unfinished, "w", encoding="utf-8") as stream:
        json.dump(everything, stream, indent=1)
        stream.write("\n")
    os.replace(unfinished, file)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", action="append", choices=GROUPS, default=[])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    try:
        peer = PEERS[arguments.peer]()
    except Missing as missing:
        print(f"gpu_peers.py: nothing to measure: {missing}", file=sys.stderr)
        return 3
    print(f"{peer.name} {peer.version} on {peer.gpu}")
    session = Session(peer, arguments)
    for group in GROUPS:
        if arguments.only and group not in arguments.only:
            continue
        print(f"\n{group}")
        session.attempt(group, lambda: RUN[group](session))
        if arguments.json:  # after each, so that what is stopped leaves what it had
            write(arguments.json, {"program": peer.name, "version": peer.version,
                                   "gpu": peer.gpu, "quick": arguments.quick,
                                   "results": session.results, "failed": session.failed})
    return 1 if session.failed else 0


if __name__ == "__main__":
    sys.exit(main())
