"""The benchmarks as Python modules: what a module says, and its program in a peer's form.

A module NAME.py in npbench/, pyhpc/, kernels/ or loops/ has

    SIZES             arguments of `data` and `work` by names of sizes; "test" is for the tests, the others are timed
    data(rng, ...)    the inputs by name: arrays, and numbers, which are part of what is compiled
    work(...)         {"bytes": ..., "flops": ...} that no program can do without, "dtype" if not f64
    numpy(np), numba(np), jax(jnp), torch(torch)
                      each returns the program, a function of the inputs that returns an array or a tuple
    INPLACE           names of inputs that programs of NumPy, Numba and torch overwrite
    COMPILED          True where torch.compile takes the program of torch, too
    MISSING           {peer: why there is none}
    TOLERANCE         of the greatest number of an output, if not 1e-9 of f64 and 1e-4 of f32
    MAY_DIFFER        the share of the elements that may be off by more; none if not given

What two of them have in common one takes from the other: from kernels.product import data, work.
"""
import importlib.util
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SUITES = ("pyhpc", "npbench", "kernels", "loops")
PEERS = {"numpy": "NumPy", "numba": "Numba", "jax": "JAX", "torch": "torch", "inductor": "torch.compile", "loop": "C++",
         "again": "ours again"}  # what runs of one program differ by


def files():
    """The modules' files by their names, in the order of the suites."""
    return {path.stem: path for suite in SUITES for path in sorted((HERE / suite).glob("*.py"))}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sizes(path, only):
    """The names of the module's sizes that are to be run."""
    known = load(path).SIZES
    return [size for size in known if (size == only if only else size != "test")]


def has(module, peer):
    if peer in getattr(module, "MISSING", {}):
        return False
    if peer == "inductor":
        return getattr(module, "COMPILED", False)
    return hasattr(module, peer)


def inputs(module, size):
    import numpy as np

    return module.data(np.random.default_rng(42), **module.SIZES[size])


def outputs(result):
    """What a program returned, as a list of NumPy's arrays."""
    import numpy as np

    return [np.asarray(each) for each in (result if isinstance(result, (tuple, list)) else (result,))]


def overwritten(module, peer):
    return getattr(module, "INPLACE", ()) if peer in ("numpy", "numba", "torch", "inductor") else ()


def program(module, peer):
    """A function that runs the module's program on inputs as NumPy has them, to its end: prepare(inputs) and run()."""
    return {"numpy": _Numpy, "numba": _Numba, "jax": _Jax, "torch": _Torch, "inductor": _Inductor}[peer](module)


class _Numpy:
    """Runs what the module's factory gives; subclasses say in which form."""

    peer = "numpy"

    def __init__(self, module):
        import numpy as np

        self.copied = overwritten(module, self.peer)
        self.call = self.compiled(module, np)

    def compiled(self, module, np):
        return module.numpy(np)

    def array(self, value):
        return value

    def copy(self, value):
        return value.copy()

    def finish(self, result):
        return result

    def prepare(self, values):
        self.values = {name: self.array(value) for name, value in values.items()}

    def fresh(self):
        """The inputs of one run: what the program overwrites is a copy."""
        return {name: self.copy(value) if name in self.copied else value for name, value in self.values.items()}

    def run(self, values):
        return self.finish(self.call(**values))


class _Numba(_Numpy):
    peer = "numba"

    def compiled(self, module, np):
        import numba

        function = module.numba(np)
        return function if hasattr(function, "py_func") else numba.njit(parallel=True)(function)


class _Jax(_Numpy):
    peer = "jax"

    def compiled(self, module, np):
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.function = module.jax(jax.numpy)

    def array(self, value):
        import numpy as np

        return self.jax.numpy.asarray(value) if isinstance(value, np.ndarray) else value

    def prepare(self, values):
        super().prepare(values)
        numbers = [name for name, value in self.values.items() if isinstance(value, (int, float))]
        self.call = self.jax.jit(self.function, static_argnames=numbers)

    def finish(self, result):
        return self.jax.block_until_ready(result)


class _Torch(_Numpy):
    peer = "torch"

    def compiled(self, module, np):
        import torch

        torch.set_grad_enabled(False)
        self.torch = torch
        return module.torch(torch)

    def array(self, value):
        import numpy as np

        return self.torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value

    def copy(self, value):
        return value.clone()


class _Inductor(_Torch):
    peer = "inductor"

    def compiled(self, module, np):
        return self.torch_compile(super().compiled(module, np))

    def torch_compile(self, function):
        return self.torch.compile(function, dynamic=False)
