"""The virtual environment of the peers, which scripts of this folder run in."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ("numpy", "numba", "jax", "torch")


def enter(folder):
    """Goes on in the environment's Python, which has the peers; makes it where there is none."""
    python = folder / "bin/python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} in {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    if pathlib.Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])
