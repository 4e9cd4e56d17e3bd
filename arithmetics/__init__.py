"""Other arithmetics: ways in which another processor would round, as far as this one can imitate them.

OpenBLAS, NumPy and Numba choose their kernels by the processor, so sums are added up in another order elsewhere, and
the last bits of a result differ. Neither tests nor results of the library may depend on them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ROOT", "Arithmetic", "arithmetics"]

ROOT = Path(__file__).parents[1]
BUILD = ROOT / ".arithmetics"  # compiled code, and what the runs have printed
SOURCE = Path(__file__).with_name("reordered.c")
COMPILER = ["gcc", "-std=c11", "-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared"]

# Families of processors that OpenBLAS has kernels for, and what a processor must be able to do to run them.
CORE_TYPES = {
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Sandybridge": {"avx"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
}


@dataclass(frozen=True)
class Arithmetic:
    """A name, and the environment variables that bring it about."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """All variables of a process; Numba keeps what it compiles for another processor apart."""
        target = self.settings.get("NUMBA_CPU_NAME")
        cache = {"NUMBA_CACHE_DIR": str(BUILD / f"numba-{target}")} if target else {}
        return {**os.environ, **cache, **self.settings}


def arithmetics() -> Iterator[Arithmetic]:
    """Yield all that this machine can do; the first is its own, the second the farthest from it that is real."""
    dispatched = _dispatched_features()
    generic = {"NUMBA_CPU_NAME": "generic"}
    plain = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)} if dispatched else {}
    able = [name for name, needed in CORE_TYPES.items() if needed <= _processor()]
    yield Arithmetic("own")
    yield Arithmetic("oldest", {**({"OPENBLAS_CORETYPE": able[0]} if able else {}), **generic, **plain})
    for name in able:
        yield Arithmetic(name, {"OPENBLAS_CORETYPE": name})
    yield Arithmetic("numba-generic", generic)
    if plain:
        yield Arithmetic("numpy-plain", plain)
    for n in ("1", "2"):
        yield Arithmetic(f"threads-{n}", {"OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n})
    yield Arithmetic("search", {"HYPOTHESIS_PROFILE": "search"})
    if library := _reordered():
        yield Arithmetic("reordered", {"LD_PRELOAD": str(library)})


def _processor() -> set[str]:
    """Return what the processor can do."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())


def _dispatched_features() -> list[str]:
    """Return the features of this processor for which NumPy has code of its own."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


def _reordered() -> Path | None:
    """Compile the products with reordered sums, if there is a compiler and NumPy calls them by these names."""
    from numpy._core import _multiarray_umath as core

    if shutil.which("gcc") is None or b"scipy_cblas_dgemm64_" not in Path(core.__file__).read_bytes():
        return None
    BUILD.mkdir(exist_ok=True)
    library = BUILD / "reordered.so"
    subprocess.run([*COMPILER, "-o", str(library), str(SOURCE)], check=True)
    return library
