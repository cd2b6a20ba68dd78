"""The virtual environment of the peers, which scripts of this folder run in."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ("numpy", "numba", "jax", "torch")
# Variables by which a machine ties libraries to slower kernels or fewer threads than they would take.
SETTINGS = ("OPENBLAS_", "MKL_", "DNNL_", "ONEDNN_", "OMP_", "KMP_", "XLA_", "NUMBA_", "TORCH")


def enter(folder):
    """Goes on in the environment's Python, which has the peers; makes it where there is none.

    All run with their own settings, whatever the caller's environment says: with OPENBLAS_CORETYPE=Haswell NumPy's
    products take twice the time on a CPU with AVX-512.
    """
    for name in [name for name in os.environ if name.startswith(SETTINGS)]:
        del os.environ[name]
    python = folder / "bin/python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} in {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    if pathlib.Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])
