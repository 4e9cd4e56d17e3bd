"""How far the results of every estimator depend on the number of threads and on the processor.

``python -m arithmetics.repeatability`` fits all of them in several arithmetics, on one thread and on two, and prints
what differs: on other numbers of threads in the same arithmetic, and in other arithmetics.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arithmetics import BUILD, ROOT, Arithmetic, arithmetics

COMPARED = ("own", "oldest", "reordered")
COSTS = ("cost_", "cost_history_", "divergence_", "error_history_", "edge_error_")

Outputs = dict[str, NDArray[Any]]


def main() -> None:
    """Fit in all arithmetics and compare, or, with --record, fit in the present one."""
    parser = argparse.ArgumentParser(prog="python -m arithmetics.repeatability", description=__doc__)
    parser.add_argument("--record", type=Path, help="fit here and now, and write the results to this file")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], help="names of estimators")
    given = parser.parse_args()
    if given.record:
        np.savez(given.record, **_fit_all(given.n_jobs, given.only))
        return
    BUILD.mkdir(exist_ok=True)
    chosen = [arithmetic for arithmetic in arithmetics() if arithmetic.name in COMPARED]
    results = {(each.name, n): _recorded(each, n, given.only) for each in chosen for n in (1, 2)}
    for each in chosen:
        print(f"\n{each.name}: one thread and two")
        _print_comparison(results[each.name, 1], results[each.name, 2])
    for each in chosen[1:]:
        print(f"\n{chosen[0].name} and {each.name}, one thread")
        _print_comparison(results[chosen[0].name, 1], results[each.name, 1])


def _recorded(arithmetic: Arithmetic, n_threads: int, only: list[str]) -> Outputs:
    file = BUILD / f"repeatability-{arithmetic.name}-{n_threads}.npz"
    command = [sys.executable, "-m", "arithmetics.repeatability", "--record", str(file), "--n-jobs", str(n_threads)]
    threads = {"OPENBLAS_NUM_THREADS": str(n_threads), "OMP_NUM_THREADS": str(n_threads)}
    subprocess.run(
        [*command, *(["--only", *only] if only else [])], cwd=ROOT, env=arithmetic.environment | threads, check=True
    )
    with np.load(file) as stored:
        return dict(stored)


# Fitting


def _fit_all(n_jobs: int, only: list[str]) -> Outputs:
    """Return predictions, positions and costs of all estimators, by names such as ``iris GLVQ predictions``."""
    outputs: Outputs = {}
    for data, (X, y) in _data_sets().items():
        for model in _models(data):
            name = type(model).__name__
            if only and name not in only:
                continue
            if "n_jobs" in model.get_params():
                model.set_params(n_jobs=n_jobs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)
                outputs |= {f"{data} {name} {what}": np.asarray(value) for what, value in _outputs(model, X)}
    return outputs


def _outputs(model: Any, X: NDArray[Any]) -> list[tuple[str, Any]]:
    found = []
    if hasattr(model, "predict"):
        found.append(("predictions", model.predict(X)))
    if hasattr(model, "transform"):
        found.append(("positions", model.transform(X)))
    elif hasattr(model, "embedding_"):
        found.append(("positions", model.embedding_))
    histories = [np.ravel(getattr(model, name, [])) for name in COSTS]
    return found + [("cost", history[-1]) for history in histories if history.dtype == float and len(history)][:1]


def _data_sets() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return a table with many ties and duplicates, and one that is large enough for threads."""
    from sklearn.datasets import load_digits, load_iris
    from sklearn.preprocessing import scale

    iris, digits = load_iris(), load_digits()
    return {"iris": (scale(iris.data), iris.target), "digits": (digits.data / 16.0, digits.target)}


def _models(data: str) -> list[Any]:
    """Return all public estimators, with fewer steps than by default where many take long."""
    import protolearn as pl
    from protolearn.embedding.costs import tsne

    small = data == "iris"
    k = 6 if small else 30
    seed = {"random_state": 0}
    between = {"metric": "euclidean", **seed}
    shape = (1, 2, 2) if small else (8, 8, 1)
    view = pl.TSNE(perplexity=10, max_iter=100, **seed)
    models = [
        pl.KMeans(k, **seed),
        pl.NeuralGas(k, **seed),
        pl.SOM((3, 3), **seed),
        pl.MatrixKMeans(3, n_components=2, **seed),
        pl.MatrixNeuralGas(3, n_components=2, **seed),
        pl.MatrixSOM((2, 2), n_components=2, **seed),
        pl.NGPCA(3, 2, n_steps=2000, **seed),
        pl.VQPCA(3, 2, **seed),
        pl.MixturePPCA(3, 2, **seed),
        pl.MedianKMeans(k, **between),
        pl.MedianNeuralGas(k, max_iter=20, **between),
        pl.MedianSOM((3, 3), max_iter=20, **between),
        pl.RelationalKMeans(k, **between),
        pl.RelationalNeuralGas(k, max_iter=20, **between),
        pl.RelationalSOM((3, 3), max_iter=20, **between),
        pl.PairwiseAnnealing(5, max_iter=20, **between),
        pl.PrototypeClassifier(pl.NeuralGas(k, **seed)),
        pl.OutlierDetector(pl.NeuralGas(k, **seed)),
        pl.LVQ1(max_iter=10, **seed),
        pl.LVQ21(max_iter=10, **seed),
        pl.GLVQ(max_iter=20, **seed),
        pl.GRLVQ(max_iter=20, **seed),
        pl.LGRLVQ(max_iter=20, **seed),
        pl.GMLVQ(max_iter=20, **seed),
        pl.LGMLVQ(n_components=2, max_iter=10, **seed),
        pl.LLiRaMLVQ(max_iter=20, **seed),
        pl.LMNN(max_iter=10, **seed),
        pl.LFDA(),
        pl.CIALVQ(1, patch_shape=shape, max_iter=5, **seed),
        pl.SNE(perplexity=10, max_iter=100, **seed),
        view,
        pl.XOM(max_iter=3, **seed),
        pl.SONE(max_iter=3, **seed),
        pl.Charting(local_model=pl.MatrixNeuralGas(5, n_components=2, **seed)),
        pl.MappedEmbedding(cost=tsne(10.0), max_iter=10, **seed),
        pl.OutOfSample(view),
        pl.DiscriminativeEmbedding(embedding=view),
    ]
    return [*models, pl.MVU(n_neighbors=20, method="low_rank", max_iter=50, **seed)] if small else models


# Comparing


def _print_comparison(first: Outputs, second: Outputs) -> None:
    """Print what is not the same to the last bit, estimator by estimator, and a summary of all."""
    different = {name for name in first if not np.array_equal(first[name], second[name])}
    for name in sorted(different):
        print(f"  {name:45} {_difference(name, first[name], second[name])}")
    print(f"  {len(first) - len(different)} of {len(first)} results the same to the last bit")
    shares = [np.mean(first[name] == second[name]) for name in first if name.endswith("predictions")]
    if shares:
        print(f"  equal predictions: lowest {min(shares):.4f}, mean {np.mean(shares):.4f}")
    costs = [_relative(first[name], second[name]) for name in first if name.endswith("cost")]
    if costs:
        print(f"  costs: median difference {np.median(costs):.1e}, largest {max(costs):.1e}")


def _difference(name: str, first: NDArray[Any], second: NDArray[Any]) -> str:
    if name.endswith("predictions"):
        return f"{np.mean(first == second):.4f} equal"
    return f"{_relative(first, second):.1e} relative"


def _relative(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the largest difference, as a share of the largest value."""
    return float(np.abs(first - second).max() / (np.abs(first).max() or 1.0))


if __name__ == "__main__":
    main()
