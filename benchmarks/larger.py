"""Maps and classifiers of data larger than memory: time and memory by the number of rows, overhead, and dask-ml.

Each command is a program of its own, for a quiet machine::

    python -m benchmarks.larger rows /data/rows           # writes 10 GB of samples there, if they are not yet
    python -m benchmarks.larger overhead
    python -m benchmarks.larger peer

``rows`` fits a self-organizing map, and GMLVQ by L-BFGS, to 1, 5, 25 and 50 million rows on a cluster of two processes
with 1 GB each. It tells seconds of a pass over the data (an epoch, or a cost with its gradient), peak memory of each
worker, and bytes that were spilled. ``overhead`` fits both to a million samples in memory, and to the same array in
partitions on as many threads. ``peer`` runs k-means of dask-ml, in an
environment of its own, and ours, from the same start on the same partitions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.environments import ROOT, install, interpreter, machine
from protolearn.maps import Ranks

N_FEATURES, BLOCK = 50, 250_000  # a partition of float32 is 50 MB
MILLIONS = (1, 5, 25, 50)
FEW, MANY = 2, 6  # epochs of a short fit, and of one that is timed
N_ITERATIONS = 20


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    rows = commands.add_parser("rows")
    rows.add_argument("folder", type=Path)
    rows.add_argument("--millions", type=float, nargs="*", default=MILLIONS)
    for name in ("overhead", "peer"):
        command = commands.add_parser(name)
        command.add_argument("--samples", type=int, default=1_000_000)
        command.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(machine()), flush=True)
    if given.command == "rows":
        by_rows(given.folder, given.millions)
    elif given.command == "overhead":
        overhead(given.samples, given.threads)
    else:
        peer(given.samples, given.threads)


def by_rows(folder: Path, millions: list[float]) -> None:
    """Fit a map and a classifier to more and more rows on a cluster of two processes."""
    import dask.array as da

    write(folder, int(1e6 * max(millions)))
    for size in millions:
        X = da.from_npy_stack(str(folder), mmap_mode=None)[: int(1e6 * size)]
        for name, fit in (("SOM", _map_epochs), ("GMLVQ", _gradients)):
            report(model=name, rows=len(X), **_on_cluster(fit, X))


def write(folder: Path, n_samples: int) -> None:
    """Write standard normal samples as one file for each partition, unless there are as many already."""
    import dask.array as da

    if (folder / "info").exists() and len(da.from_npy_stack(str(folder))) >= n_samples:
        return
    draw = da.random.default_rng(0).standard_normal
    da.to_npy_stack(str(folder), draw((n_samples, N_FEATURES), chunks=(BLOCK, N_FEATURES), dtype=np.float32))


def _on_cluster(fit: Callable[[Any, int], float], X: Any) -> dict[str, Any]:
    """Return the seconds of a pass over the data and of a fit, and what the workers needed."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB"}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        fit(X[: 4 * BLOCK], FEW)  # compiles, on all workers
        begun = time.perf_counter()
        seconds_per_pass = fit(X, MANY)
        seconds = time.perf_counter() - begun
        peaks = client.run(_peak)
        spilled = [worker["metrics"]["spilled_bytes"]["disk"] for worker in client.scheduler_info()["workers"].values()]
    return {
        "seconds_per_pass": seconds_per_pass,
        "seconds": seconds,
        "peak_mb": [round(peak) for peak in sorted(peaks.values())],
        "spilled_bytes": spilled,
    }


def _map_epochs(X: Any, n_epochs: int) -> float:
    """Fit a map; return the seconds of an epoch."""
    from protolearn import SOM
    from protolearn.core.progress import Progress

    ends: list[float] = []
    with patch.object(Progress, "step", lambda *_, **values: ends.append(time.perf_counter())):
        SOM((10, 10), max_iter=n_epochs).fit(X)
    return float(np.median(np.diff(ends)))


def _gradients(X: Any, n_iterations: int) -> float:
    """Fit a classifier; return the seconds of a cost with its gradient."""
    from protolearn import GMLVQ
    from protolearn.lvq.problem import PartitionedProblem

    y = X.map_blocks(classes, drop_axis=1, dtype=np.int64, meta=np.empty(0, np.int64))
    seconds: list[float] = []
    sums = PartitionedProblem.sums

    def timed(*args: Any) -> Any:
        begun = time.perf_counter()
        found = sums(*args)
        seconds.append(time.perf_counter() - begun)
        return found

    with patch.object(PartitionedProblem, "sums", timed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few iterations do not converge
        GMLVQ(solver="lbfgs", max_iter=n_iterations).fit(X, y)
    return float(np.median(seconds))


def classes(X: np.ndarray) -> np.ndarray:
    """Return four classes, by the signs of two combinations of features."""
    return 2 * (X[:, :5].sum(axis=1) > 0) + (X[:, 5] > X[:, 6])


def _peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def overhead(n_samples: int, n_threads: int) -> None:
    """Fit maps and a classifier to samples in memory, and to the same in partitions."""
    import dask.array as da

    from protolearn import GMLVQ, SOM, KMeans, NeuralGas

    X = samples(n_samples)
    y = classes(X)
    chunk = -(-n_samples // (8 * n_threads))
    lazy = da.from_array(X, chunks=(chunk, N_FEATURES)), da.from_array(y, chunks=chunk)
    start = X[:100].astype(np.float64)
    for model in (
        KMeans(100, init=start, max_iter=N_ITERATIONS, tol=0.0, n_jobs=n_threads),
        SOM((10, 10), max_iter=N_ITERATIONS, n_jobs=n_threads),
        NeuralGas(100, init=start, max_iter=N_ITERATIONS, neighborhood=Ranks(settle=False), n_jobs=n_threads),
        GMLVQ(solver="lbfgs", max_iter=N_ITERATIONS, tol=0.0, n_jobs=n_threads),
    ):
        model.fit(X[:10_000], y[:10_000])  # compiles
        times = {"memory": [], "partitions": []}
        for _ in range(3):
            for name, data in (("memory", (X, y)), ("partitions", lazy)):
                begun = time.perf_counter()
                model.fit(*data)
                times[name].append(time.perf_counter() - begun)
        best = {name: min(values) for name, values in times.items()}
        report(model=type(model).__name__, **best, ratio=best["partitions"] / best["memory"])


def peer(n_samples: int, n_threads: int) -> None:
    """Run k-means of dask-ml and ours, in turns."""
    problem = install("dask-ml", "dask")
    if problem:
        sys.exit(f"dask-ml: {problem}")
    rows: list[dict[str, Any]] = []
    for _ in range(3):
        for name, python in (("protolearn", sys.executable), ("dask-ml", str(interpreter("dask")))):
            command = [python, "-m", "benchmarks.larger", name, str(n_samples), str(n_threads)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
    for name in ("protolearn", "dask-ml"):
        own = [row for row in rows if row["name"] == name]
        report(**min(own, key=lambda row: row["seconds_per_iteration"]))


def one_peer(name: str, n_samples: int, n_threads: int) -> None:
    """Fit k-means once for the compilers and once for the clock; needs nothing of ours but in our own turn."""
    import dask
    import dask.array as da

    X = samples(n_samples)
    lazy = da.from_array(X, chunks=(-(-n_samples // (4 * n_threads)), N_FEATURES))
    start = X[:100]

    def fit(data: Any, iterations: int) -> tuple[Any, int]:
        if name == "protolearn":
            from protolearn import KMeans

            model = KMeans(100, init=start, max_iter=iterations, tol=0.0, n_jobs=n_threads).fit(data)
            return model.prototypes_, model.n_iter_
        from dask_ml.cluster import KMeans as Peer

        fitted = Peer(100, init=start, max_iter=iterations, tol=0.0).fit(data)
        return fitted.cluster_centers_, fitted.n_iter_

    with dask.config.set(scheduler="threads", num_workers=n_threads):
        fit(lazy, 2)
        begun = time.perf_counter()
        few = fit(lazy, FEW)[1]
        middle = time.perf_counter()
        centers, many = fit(lazy, N_ITERATIONS)
        seconds = (time.perf_counter() - middle) - (middle - begun)
    inertia = sum(_squares(X[rows : rows + 10_000], np.asarray(centers)) for rows in range(0, n_samples, 10_000))
    print(json.dumps({"name": name, "seconds_per_iteration": seconds / (many - few), "inertia": inertia}))


def _squares(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of squared distances of samples to the nearest of centers."""
    X = X.astype(np.float64)
    squared = (X**2).sum(axis=1)[:, None] - 2.0 * X @ centers.T + (centers**2).sum(axis=1)
    return float(squared.min(axis=1).sum())


def samples(n_samples: int) -> np.ndarray:
    """Return standard normal samples."""
    return np.random.default_rng(0).standard_normal((n_samples, N_FEATURES), dtype=np.float32)


def report(**facts: Any) -> None:
    """Print a line of results."""
    print(json.dumps({name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}))
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] in ("protolearn", "dask-ml"):
        one_peer(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
