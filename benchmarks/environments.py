"""Where each competitor runs: our own environment, and one virtual environment for each group of peers.

The peers stay out of our environment, so that their dependencies cannot clash with ours. An environment and the
packages in it are made when a competitor first needs them.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

__all__ = [
    "ROOT",
    "error_line",
    "install",
    "installed_version",
    "interpreter",
    "machine",
    "thread_settings",
]

ROOT = Path(__file__).resolve().parent.parent

# The newest versions under which both sklvq and sklearn-lvq still fit.
OLDER = ["numpy==1.23.5", "scipy==1.10.1", "scikit-learn==1.2.2"]

# What pip is asked for where the bare name does not do: Somoclu builds against numpy without declaring it, prototorch
# imports a part of setuptools that newer ones lack, metric-learn calls scikit-learn in ways that newer ones refuse.
REQUIREMENTS = {
    "metric-learn": ["metric-learn==0.7.0", "scikit-learn<1.6"],
    "prosemble": ["prosemble[jax]"],
    "prototorch-models": ["prototorch-models==0.7.1", "setuptools<81"],
    "proto-dist-ml": ["proto-dist-ml==1.0.1", *OLDER],
    "scikit-learn-extra": ["scikit-learn-extra==0.3.0", *OLDER],
    "sklearn-lvq": ["sklearn-lvq==1.1.1", *OLDER],
    "sklvq": ["sklvq==0.1.2", *OLDER],
    "somoclu": ["--no-build-isolation", "--no-cache-dir", "somoclu"],
}
BUILD_TOOLS = ["numpy", "setuptools", "wheel"]

N_COPIED, N_COPIES = 1 << 24, 10  # numbers that are copied, far more than a cache holds, and how often


def interpreter(environment: str) -> Path:
    """Return the Python of an environment; ``"own"`` is the one that runs this."""
    return Path(sys.executable) if environment == "own" else ROOT / f".venv-{environment}" / "bin" / "python"


@cache
def install(package: str, environment: str) -> str | None:
    """Make sure that a package is there; return what went wrong in one line, or None."""
    if environment == "own" or installed_version(package, environment):
        return None
    try:
        if not interpreter(environment).exists():
            _run(sys.executable, "-m", "venv", str(ROOT / f".venv-{environment}"))
            _pip_install(environment, *BUILD_TOOLS)
        _pip_install(environment, *REQUIREMENTS.get(package, [package]))
    except subprocess.CalledProcessError as error:
        return f"installation failed: {error_line(error.stderr)}"
    return None


def installed_version(package: str, environment: str) -> str | None:
    """Return the version of a package in an environment, None if it is not there."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    try:
        return _run(str(interpreter(environment)), "-c", code).strip()
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None


def thread_settings(threads: int) -> dict[str, str]:
    """Return the environment variables that hold every numerical library to a number of threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    eigen = str(threads > 1).lower()
    xla = f"--xla_cpu_multi_thread_eigen={eigen} intra_op_parallelism_threads={threads}"
    return {**dict.fromkeys(names, str(threads)), "XLA_FLAGS": xla}


def machine() -> dict[str, object]:
    """Return the facts of the machine that a timing depends on."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    packages = ("numpy", "scipy", "scikit-learn", "numba", "protolearn")
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": f"{blas['name']} {blas['version']}",
        "core_type": _core_type(),
        "copy_gain": round(_copy_gain(), 2),
        "libraries": {package: installed_version(package, "own") for package in packages},
    }


def error_line(text: str) -> str:
    """Pick the line of an error output that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    exceptions = [line for line in lines if line.split(":")[0].endswith(("Error", "Exception"))]
    return (exceptions or lines or ["no message"])[-1][:160]


def _core_type() -> str:
    """Return the kind of processor for which the BLAS of NumPy has chosen its kernels in a new process."""
    code = "import numpy; from threadpoolctl import threadpool_info; print(threadpool_info()[0].get('architecture'))"
    return _run(sys.executable, "-c", code).strip()


def _copy_gain() -> float:
    """Return how many times as fast two threads copy memory as one: the limit of what only moves numbers."""
    given = np.ones(N_COPIED)
    made = np.empty_like(given)
    halves = list(zip(np.split(made, 2), np.split(given, 2)))

    def seconds(n_threads: int) -> float:
        with ThreadPoolExecutor(n_threads) as pool:
            times = []
            for _ in range(N_COPIES):
                started = time.perf_counter()
                list(pool.map(lambda half: np.copyto(*half), halves))
                times.append(time.perf_counter() - started)
        return min(times)

    return seconds(1) / seconds(2)


def _cpu_model() -> str:
    """Return the name of the processor, with family and model: several generations may share a name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    facts = {key.strip(): value.strip() for key, value in pairs}  # of the last core, like all others
    name, family, model = (facts.get(key, "") for key in ("model name", "cpu family", "model"))
    return f"{name} (family {family}, model {model})" if name else platform.processor()


def _pip_install(environment: str, *arguments: str) -> None:
    # An empty CUDAHOME keeps Somoclu's build on the CPU even where a CUDA compiler is around.
    environ = {**os.environ, "CUDAHOME": ""}
    _run(str(interpreter(environment)), "-m", "pip", "install", "--quiet", *arguments, environ=environ)


def _run(*command: str, environ: dict[str, str] | None = None) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environ).stdout
