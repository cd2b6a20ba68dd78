#!/usr/bin/env python3
"""One peer's program in a process of its own, as bench_peers is for ours.

    worker.py PEER MODULE.py INPUTS.npz OUTPUTS.npz

runs once and writes the outputs; then for every number n that it reads runs n times and prints the times.
"""
import json
import pathlib
import sys
import time

import numpy as np

import programs


def plain(array):
    return array.item() if array.ndim == 0 else array


def main(peer, module, source, target):
    program = programs.program(programs.load(pathlib.Path(module)), peer)
    with np.load(source) as file:
        program.prepare({name: plain(file[name]) for name in file.files})

    def milliseconds():
        values = program.fresh()
        start = time.perf_counter()
        result = program.run(values)
        return 1e3 * (time.perf_counter() - start), result

    took, result = milliseconds()
    print(json.dumps({"ms": [took]}), flush=True)
    np.savez(target, *programs.outputs(result))
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            result = None
            took, result = milliseconds()
            times.append(took)
        print(json.dumps({"ms": times}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
