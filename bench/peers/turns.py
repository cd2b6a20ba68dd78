"""Ours and its peers in processes of their own, which take turns."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import programs

ROUND_MS = 100  # what one turn takes, or a single run
FAR_BEHIND = 5  # a peer that takes as many times the best's time, and this long, has one turn:
SLOW_MS = 200


class Runner:
    """A process that has run its program once and runs it again when asked."""

    def __init__(self, name, command, threads):
        self.name = name
        self.errors = tempfile.TemporaryFile("w+")
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), NUMBA_NUM_THREADS=str(threads),
                           JAX_PLATFORMS="cpu", TORCHINDUCTOR_COMPILE_THREADS="1")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads]))
        self.rounds = []

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise RuntimeError(f"{self.name} has ended: " + self.errors.read().strip()[-600:])
        return json.loads(line)["ms"]

    def take(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        return self.answer()

    def warm(self):
        self.first = self.answer()[0]
        self.once = min(self.take(2))

    def turn(self):
        self.rounds.append(statistics.median(self.take(max(1, min(1000, round(ROUND_MS / self.once))))))

    def median(self):
        return statistics.median(self.rounds)

    def cpu_ns(self):
        """What all its threads have run for so far."""
        files = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def difference(got, expected, module):
    """What is wrong with outputs, or None: each element may be off by a part of the greatest that is expected."""
    if len(got) != len(expected):
        return f"{len(got)} outputs instead of {len(expected)}"
    for i, (a, b) in enumerate(zip(got, expected)):
        if a.shape != b.shape:
            return f"output {i} has the shape {a.shape} instead of {b.shape}"
        limit = getattr(module, "TOLERANCE", 1e-4 if b.dtype in (np.float32, np.complex64) else 1e-9)
        scale = max(np.nanmax(np.abs(np.where(np.isinf(b), 0, b)), initial=0), 1e-300)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        off = np.zeros(a.shape)
        off[~same] = np.abs(np.subtract(a[~same], b[~same], dtype=np.result_type(a, b, "f8")))
        share = np.mean(~(off <= limit * scale)) if off.size else 0
        if share > getattr(module, "MAY_DIFFER", 0):
            return f"{100 * share:.2g}% of output {i} is off, by up to {np.max(off) / scale:.2g} of its greatest number"
    return None


def read_outputs(path):
    with np.load(path) as file:
        return [file[name] for name in sorted(file.files, key=lambda name: int(name.removeprefix("arr_")))]


def commands(name, path, module, options, folder):
    """What runs each peer, and where its outputs are."""
    here = programs.HERE
    binary = options.build / "bench/peers"
    inputs = folder / "inputs.npz"
    all_of_them = {"ours": [binary / "bench_peers", name, inputs]}
    for peer in options.peers.split(","):
        if peer == "again":
            all_of_them[peer] = all_of_them["ours"]
        elif peer == "loop" and (path.parent / f"{name}_loop.cpp").exists():
            all_of_them[peer] = [binary / "bench_peers_loops", name, inputs]
        elif peer != "loop" and programs.has(module, peer):
            all_of_them[peer] = [sys.executable, here / "worker.py", peer, path, inputs]
    return {peer: [*command, folder / f"{peer}.npz"] for peer, command in all_of_them.items()}


def machine(options, total):
    """The machine's limits for arrays of so many bytes."""
    binary = options.build / "bench/peers/bench_peers"
    return json.loads(subprocess.run([binary, "--machine", str(int(total))], capture_output=True, check=True).stdout)


def floor_ms(work, rates):
    """The least that this work takes: its bytes at the speed of a copy, or its operations."""
    return 1e3 * max(work["bytes"] / rates["copy"], work.get("flops", 0) / rates[work.get("dtype", "f64")])


def wait_until_asleep(runners):
    """Threads look for work for a while after the last: OpenBLAS's for a tenth of a second, on a core of the next one."""
    for _ in range(100):
        before = [runner.cpu_ns() for runner in runners]
        time.sleep(0.01)
        if all(runner.cpu_ns() - ns < 1e6 for runner, ns in zip(runners, before)):
            return


def interleave(runners, rounds):
    for number in range(rounds):
        best = min((r.once for r in runners if r.name != "ours"), default=0)
        first = number % len(runners)
        for runner in runners[first:] + runners[:first]:
            if number > 0 and runner.name != "ours" and runner.once > max(SLOW_MS, FAR_BEHIND * best):
                continue
            wait_until_asleep(runners)
            runner.turn()


def measure(name, path, size, options):
    """Times by peer, what is wrong with each, and the floor."""
    module = programs.load(path)
    values = programs.inputs(module, size)
    failures = dict(getattr(module, "MISSING", {}))
    runners = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        np.savez(folder / "inputs.npz", **values)
        for peer, command in commands(name, path, module, options, folder).items():
            runner = Runner(peer, command, options.threads)
            try:
                runner.warm()
                runners.append(runner)
            except (RuntimeError, BrokenPipeError) as error:
                failures[peer] = str(error)
        if not any(runner.name == "numpy" for runner in runners):
            sys.exit(f"{name}: without NumPy's outputs there is nothing to compare with: {failures.get('numpy')}")
        expected = read_outputs(folder / "numpy.npz")
        for runner in runners:
            wrong = difference(read_outputs(folder / f"{runner.name}.npz"), expected, module)
            if wrong:
                failures[runner.name] = wrong
        if options.pause:
            subprocess.run(options.pause, shell=True, check=False)
        try:
            interleave(runners, options.rounds)
            work = module.work(**module.SIZES[size])
            held = sum(v.nbytes for v in values.values() if isinstance(v, np.ndarray)) + sum(a.nbytes for a in expected)
            rates = machine(options, held)
        finally:
            if options.resume:
                subprocess.run(options.resume, shell=True, check=False)
        for runner in runners:
            runner.close()
    return {"suite": path.parent.name, "name": name, "sizes": module.SIZES[size],
            "ms": {r.name: r.median() for r in runners},
            "first_ms": {r.name: r.first for r in runners}, "rounds": {r.name: r.rounds for r in runners},
            "floor_ms": floor_ms(work, rates), "rates": rates, "failures": failures}


def record(chosen, file):
    """Inputs and NumPy's outputs at the sizes of the tests, for bench_peers --check."""
    entries = {}
    for name, path in chosen.items():
        module = programs.load(path)
        values = programs.inputs(module, "test")
        entries |= {f"{name}/in/{key}": np.asarray(value) for key, value in values.items()}
        program = programs.program(module, "numpy")
        program.prepare(values)
        for i, output in enumerate(programs.outputs(program.run(program.fresh()))):
            entries[f"{name}/out/{i}"] = output
    np.savez_compressed(file, **entries)
    print(f"{len(chosen)} programs, {os.path.getsize(file)} bytes")
