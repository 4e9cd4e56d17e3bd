"""V8: time over the number of samples.

Protocol (Bunte 2011, figs. 7.5 and 8.3): three-tip star, growing number of samples; LiRaM LVQ with 6 prototypes and 100
epochs, charting, XOM with 1500 steps, LLE and Isomap with 35 neighbors, MVU with 3, SNE with perplexity 30; SNE and
SONE with 1000 iterations. The document has curves without numbers and says: LVQ, charting and XOM grow linearly with
the number of samples, the others quadratically or worse; SONE linearly (with the nearest image as winner).

Here processor seconds of one thread, and the slope of a line through their logarithms, REPEATS times. Charting is timed
with a classifier that is trained before, on SIZES[0] samples.
"Fast" forces are ours and not in the document. An iteration of SONE is a sweep over 200 sampling vectors, and 1500
steps of XOM are ten sweeps over 150. For XOM, SONE and exact SNE the steps take the same time all along, so that a few
are timed, and the rest is calculated: "whole" is the fit with all steps, "steps" is without what comes before the
first one.

A first run timed too few steps of XOM to see them beside the distances, and that part was repeated with more.

Rule, fixed before the run: linear is a mean slope of at most LINEAR, quadratic or worse one of at least QUADRATIC.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from experiments._lvq import COLORS
from experiments._protocol import Array, canvas
from experiments._report import NO_NUMBER, Result, Row, reaches, report, row
from protolearn import GMLVQ, MVU, SNE, SONE, TSNE, XOM, Charting
from protolearn.datasets import make_three_tip_star
from protolearn.lvq import SGD

TITLE = "time over the number of samples"
SIZES = (480, 960, 1920, 3840)
REPEATS = 3
LONG_ENOUGH = 0.5  # seconds
LINEAR, QUADRATIC = 1.3, 1.7
PERPLEXITY = 30.0
ITERATIONS = 1000

Fit = Callable[[Array, Array, int], Any]  # samples, labels, number of steps


def lvq(X: Array, y: Array, steps: int) -> Any:
    solver = SGD(0.01, 0.001)
    return GMLVQ(prototypes_per_class=3, n_components=2, solver=solver, max_iter=steps, tol=0.0, random_state=0).fit(
        X, y
    )


def xom(X: Array, y: Array, steps: int) -> Any:
    return XOM(n_sampling=150, max_iter=steps, random_state=0).fit(X)


def sone(X: Array, y: Array, steps: int) -> Any:
    return SONE(n_sampling=200, winner="image", max_iter=steps, random_state=0).fit(X)


def sne(X: Array, y: Array, steps: int, kind: Any = SNE, method: str = "exact") -> Any:
    return kind(perplexity=PERPLEXITY, method=method, max_iter=steps, random_state=0, n_jobs=1).fit(X)


def tsne(X: Array, y: Array, steps: int) -> Any:
    return sne(X, y, steps, TSNE)


def fast_sne(X: Array, y: Array, steps: int) -> Any:
    return sne(X, y, steps, SNE, "fast")


def fast_tsne(X: Array, y: Array, steps: int) -> Any:
    return sne(X, y, steps, TSNE, "fast")


@lru_cache
def classifier() -> Any:
    return FrozenEstimator(lvq(*make_three_tip_star(SIZES[0] // 6, random_state=0), 100))


def charting(X: Array, y: Array, steps: int) -> Any:
    return Charting(local_model=classifier(), n_init=1, n_jobs=1).fit(X)


def mvu(X: Array, y: Array, steps: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the graph of three neighbors may be in parts, which are joined
        return MVU(n_neighbors=3, random_state=0, n_jobs=1).fit(X)


def lle(X: Array, y: Array, steps: int) -> Any:
    return LocallyLinearEmbedding(n_neighbors=35, n_components=2, random_state=0).fit(X)


def isomap(X: Array, y: Array, steps: int) -> Any:
    return Isomap(n_neighbors=35, n_components=2).fit(X)


# fit, what the document says, all steps, steps that are timed (two numbers: the rest is calculated), largest size
METHODS: dict[str, tuple[Fit, str | None, int, tuple[int, ...], int]] = {
    "LiRaM LVQ": (lvq, "linear", 100, (100,), SIZES[-1]),
    "XOM": (xom, "linear", 10, (10, 410), SIZES[-1]),
    "SONE": (sone, "linear", ITERATIONS, (5, 25), SIZES[-1]),
    "charting": (charting, "linear", 1, (1,), SIZES[-1]),
    "SNE": (sne, "quadratic or worse", ITERATIONS, (5, 25), SIZES[-2]),
    "t-SNE": (tsne, "quadratic or worse", ITERATIONS, (5, 25), SIZES[-2]),
    "LLE (scikit-learn)": (lle, "quadratic or worse", 1, (1,), SIZES[-1]),
    "Isomap (scikit-learn)": (isomap, "quadratic or worse", 1, (1,), SIZES[-2]),
    "MVU": (mvu, "quadratic or worse", 1, (1,), SIZES[-1]),
    "SNE, fast": (fast_sne, None, ITERATIONS, (ITERATIONS,), SIZES[-1]),
    "t-SNE, fast": (fast_tsne, None, ITERATIONS, (ITERATIONS,), SIZES[-1]),
}
REMARKS = {
    "MVU": "ours moves positions in ten dimensions, and does not solve for the matrix of all pairs, as the document",
}


def run(quick: bool = False) -> Result:
    sizes = SIZES[:2] if quick else SIZES
    compile_all()
    found = {}
    for name, (fit, _, steps, timed, largest) in METHODS.items():
        done = [n for n in sizes if n <= largest]
        repeats = range(2 if quick else REPEATS)
        values = np.array([[measured(fit, n, steps, timed) for n in done] for _ in repeats])
        parts = ("whole", "steps")[: len(timed)]
        found[name] = {"sizes": done} | {part: values[:, :, i] for i, part in enumerate(parts)}
        print(
            f"{name}: " + ", ".join(f"{n}: {s:.2f} s" for n, s in zip(done, values[:, :, 0].mean(axis=0))), flush=True
        )
    rows = [line for name in METHODS for line in rows_of(name, found[name])]
    settings = {
        "data": "make_three_tip_star, random_state 0, ten features",
        "seconds": f"of the processor, one thread, {REPEATS} repeats, each the least of the fits of half a second",
        "steps timed": {name: timed for name, (_, _, _, timed, _) in METHODS.items()},
        "perplexity": PERPLEXITY,
        "LVQ": "online, three prototypes per class, rank 2",
        "rule": f"linear: slope at most {LINEAR}; quadratic or worse: at least {QUADRATIC}",
    }
    return report(settings, rows, {"times": found})


def compile_all() -> None:
    """Run everything once, so that compilation is not timed."""
    X, y = make_three_tip_star(20, random_state=0)
    for fit, *_ in METHODS.values():
        fit(X, y, 3)


def measured(fit: Fit, n: int, steps: int, timed: tuple[int, ...]) -> tuple[float, float]:
    """Return the seconds of a whole fit, and of its steps alone."""
    X, y = make_three_tip_star(n // 6, random_state=0)
    needed = [seconds(fit, X, y, count) for count in timed]
    if len(timed) == 1:
        return needed[0], np.nan
    each = (needed[1] - needed[0]) / (timed[1] - timed[0])
    return needed[0] + (steps - timed[0]) * each, steps * each


def seconds(fit: Fit, X: Array, y: Array, steps: int) -> float:
    """Return the least processor time of as many fits as LONG_ENOUGH has room for."""
    found: list[float] = []
    while sum(found) < LONG_ENOUGH:
        start = time.process_time()
        fit(X, y, steps)
        found.append(time.process_time() - start)
    return min(found)


def rows_of(name: str, found: dict[str, Any]) -> list[Row]:
    said = METHODS[name][1]
    parts = [part for part in ("whole", "steps") if part in found]
    rows = []
    for part in parts:
        slopes = np.polyfit(np.log(found["sizes"]), np.log(found[part]).T, 1)[0]
        words = f"{name}, {part}" if len(parts) > 1 else name
        rows.append(row(f"{words}, slope", said, slopes, verdict(slopes, said)))
    last = found["sizes"][-1]
    return [*rows, row(f"{name}, {last} samples, seconds", None, found["whole"][:, -1], NO_NUMBER)]


def verdict(slopes: Array, said: str | None) -> str:
    if said is None:
        return NO_NUMBER
    return reaches(-slopes, -LINEAR) if said == "linear" else reaches(slopes, QUADRATIC)


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 1, (6.4, 4.4))
    for i, (name, found) in enumerate(result["data"]["times"].items()):
        style = "--" if i >= len(COLORS) else "-"
        axes[0, 0].plot(
            found["sizes"], np.mean(found["whole"], axis=0), f"o{style}", color=COLORS[i % len(COLORS)], label=name
        )
    axes[0, 0].set(xscale="log", yscale="log", xlabel="samples", ylabel="seconds of one thread")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
