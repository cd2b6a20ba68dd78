#!/usr/bin/env python3
"""Runs what JAX exports of its own op test harnesses, and compares with JAX's values. By hand:

    pip install jax absl-py
    tests/frontend/stablehlo/jax_harnesses.py FOLDER --command build/release/tools/anabranch [--only REGEX]

The harnesses (jax._src.internal_test_util.test_harnesses, part of the package) are exported once, to
FOLDER/NUMBER/main.mlir with .npz files beside it. Elements that NumPy has no dtype for go in and out
as f32 or i8, i32, and are converted inside the program. Results may differ by rounding; a line is
printed for each program that differs by more, and a table of counts by harness at the end.
"""
import argparse, collections, concurrent.futures, os, pathlib, re, subprocess, sys, zlib

os.environ["JAX_PLATFORMS"] = "cpu"
import numpy as np

STANDARD = {np.dtype(name) for name in
            "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()}
# By how much results may differ, relatively and absolutely. What is narrower than f32 is summed in other orders.
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "complex64": 2e-4, "float64": 1e-11, "complex128": 1e-10}


def exported(harness, folder):
    """Writes one harness; False where JAX itself has no such program on a CPU."""
    import jax, jax.numpy as jnp
    if any(limit.filter(device="cpu", dtype=harness.dtype) for limit in harness.jax_unimplemented):
        return False
    given = harness.dyn_args_maker(np.random.RandomState(zlib.crc32(harness.fullname.encode())))
    leaves, tree = jax.tree_util.tree_flatten(given)
    inputs, dtypes = [], []
    for leaf in map(np.asarray, leaves):
        dtypes.append(leaf.dtype)
        if leaf.dtype not in STANDARD:
            leaf = leaf.astype(np.int8 if "int" in str(leaf.dtype) else np.float32)
        inputs.append(leaf)

    def program(*arrays):
        arrays = [array.astype(dtype) for array, dtype in zip(arrays, dtypes)]
        results = harness.dyn_fun(*jax.tree_util.tree_unflatten(tree, arrays))
        return [r if np.dtype(r.dtype) in STANDARD else r.astype(jnp.int32 if "int" in str(r.dtype) else jnp.float32)
                for r in map(jnp.asarray, jax.tree_util.tree_leaves(results))]

    lowered = jax.jit(program, keep_unused=True).lower(*inputs)
    expected = [np.asarray(array) for array in lowered.compile()(*inputs)]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "inputs.npz", *inputs)
    np.savez(folder / "expected.npz", *expected)
    (folder / "name").write_text(f"{harness.group_name}\n{harness.fullname}")
    (folder / "main.mlir").write_text(lowered.as_text())
    return True


def export_all(root, only):
    import jax
    jax.config.update("jax_enable_x64", True)
    from jax._src.internal_test_util import test_harnesses
    for number, harness in enumerate(test_harnesses.all_harnesses):
        if re.search(only, harness.fullname) and not (root / str(number) / "main.mlir").exists():
            try:
                exported(harness, root / str(number))
            except Exception as error:
                print(f"not exported: {harness.fullname}: {str(error).splitlines()[:1]}", file=sys.stderr)


def difference(folder, command):
    """What is wrong with one program's results; None where nothing is."""
    name = (folder / "name").read_text()
    inputs = ["--input", folder / "inputs.npz"] if np.load(folder / "inputs.npz").files else []
    done = subprocess.run([command, "run", folder / "main.mlir", *inputs, "--output", folder / "results.npz"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        return (done.stderr or f"status {done.returncode}").strip()
    results, expected = np.load(folder / "results.npz"), np.load(folder / "expected.npz")
    for key in expected.files:
        want, got = np.atleast_1d(expected[key]), np.atleast_1d(results[key])
        if want.shape != got.shape or want.dtype != got.dtype:
            return f"{key}: {got.dtype}{got.shape} in place of {want.dtype}{want.shape}"
        if np.issubdtype(want.dtype, np.inexact):
            most = max([TOLERANCE[str(want.dtype)]] + [2e-2] * ("float16" in name) + [0.3] * bool(re.search("float[468]_", name)))
            with np.errstate(all="ignore"):
                alike = np.isclose(got, want, rtol=most, atol=most, equal_nan=True)
        else:
            alike = got == want
        if not alike.all():
            at = tuple(int(axis[0]) for axis in np.nonzero(~alike))
            return f"{key}: {(~alike).sum()} of {want.size} differ, first at {list(at)}: {got[at]} in place of {want[at]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--command", default="anabranch")
    parser.add_argument("--only", default="", help="names that match")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    choices = parser.parse_args()
    export_all(choices.folder, choices.only)
    cases = [case for case in sorted(choices.folder.iterdir(), key=lambda path: int(path.name))
             if re.search(choices.only, (case / "name").read_text().split("\n")[1])]
    passed, failed = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(choices.jobs) as pool:
        for case, wrong in zip(cases, pool.map(lambda case: difference(case, choices.command), cases)):
            group, name = (case / "name").read_text().split("\n")
            (failed if wrong else passed)[group] += 1
            if wrong:
                print(f"{case.name} {name}: {wrong}", flush=True)
    for group in sorted(passed | failed):
        print(f"{group:40} {passed[group]:5} passed {failed[group]:5} failed")
    print(f"{passed.total()} passed, {failed.total()} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
