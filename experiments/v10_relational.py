"""V10: views of relational data with t-SONE, cat cortex and proteins.

Protocol (Bunte 2011, sec. 8.6.2, table 8.2, figs. 8.7 and 8.8): t-SONE, triangular mesh in a hexagon with 48 (cat
cortex) or 200 (proteins) sampling vectors, 500 epochs, n_k from 50 or 200 to 5, width of the kernel from 1e7 to 1000 or
2000; 10 random starts. t-SNE with perplexity 25, said to be the best of several that are not given (here PERPLEXITIES).
Leave-one-out 1-NN error in the view; Q and B over the size K of neighborhoods.

The 65 areas of the cat cortex are the document's data, 213 proteins are its 226 without the 13 "others", which makes
them easier: errors of proteins get no verdict. The document does not say whether it squares the dissimilarities: both
readings are run. The winner is the one with the smallest divergence, as in the document; the lowest mean, the nearest
image, the rule of the library (own neighborhoods) and its defaults stand beside it. A perplexity of 25 is more than a
third of 65 samples, against which the library warns. Nothing was tuned on these data. Perplexities of 5 and 45 were
left out, to save time, after a trial with two starts.

Rule, fixed after one start of t-SONE on each data set and before the full run: the error of cat cortex is reproduced if
it differs from the printed one by at most the larger of both standard deviations; it is "not worse" if at most one
printed standard deviation above. Quality is "comparable" if mean Q over all K differs by at most COMPARABLE. "Larger
deviation" compares the standard deviation of Q over starts, as the mean over K. Other comparisons are of means over K
(all, or "small": up to SMALL) and must be significant. "Intrusive" is a mean B above 0, "extrusive" below. The best
perplexity has the highest mean Q. Each statement is judged for both readings, with the printed winner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._folds import MISSING, READINGS, pairs, with_reading
from experiments._lvq import COLORS
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, holds, judge, report, row
from experiments._sone_views import (
    OURS,
    SETTINGS,
    WINNERS,
    Seen,
    draw_mean_curve,
    draw_view,
    larger_row,
    looked_at,
    stacked,
)
from protolearn import SONE, TSNE
from protolearn.metrics import nearest_neighbor_error

TITLE = "views of relational data"
STARTS = 10
PERPLEXITIES = (15.0, 25.0, 35.0)
BEST = 25.0
COMPARABLE = 0.05
SMALL = 10
TABLE = {  # sampling vectors, first n_k, last width of the kernel
    "catcortex": (48, 50, 1000.0),
    "protein213": (200, 200, 2000.0),
}
WORDS = {"catcortex": "cat cortex", "protein213": "proteins"}
PRINTED = {"catcortex": (0.13, 0.03), "protein213": (0.08, 0.03)}
SHOWN = {"catcortex": 0.09, "protein213": 0.04}
REMARKS = {
    "cat cortex: 1-NN error": "probably as the divergence prefers samples with few near neighbors; with D as distances "
    "and any other rule for the winner the error is within the printed deviation, or lower",
    "best perplexity": "perplexities differ by less than 0.01 in mean Q; those of the document are not given",
    "difference of mean Q": "our t-SNE has the higher Q for nearly all K",
    "deviation of Q": "random starts of our t-SNE end in nearly the same view",
    "mean B of t-SONE": "slightly intrusive, with each rule for the winner",
}

Found = dict[str, list[Seen]]  # by method and reading: a view for each start


def run(quick: bool = False) -> Result:
    rows, drawn = [], {}
    for name in TABLE:
        data = pairs(name)
        if data is None:
            print(MISSING)
            rows.append(row(f"{WORDS[name]}: 1-NN error", PRINTED[name][0], None, SKIPPED))
            continue
        runs = repeat(all_views, range(2 if quick else STARTS), name, *data, 20 if quick else 500)
        found = {method: [one[method] for one in runs] for method in runs[0]}
        rows += rows_of(name, found, *data)
        drawn[name] = for_picture(found, data[1])
        print(f"{WORDS[name]} done", flush=True)
    settings = SETTINGS | {
        "starts": "seed = number of the start",
        "table 8.2": {WORDS[name]: values for name, values in TABLE.items()},
        "perplexities": PERPLEXITIES,
        "readings": "D as distances: squared; D as squares: taken as they are",
        "rule": "see the script",
    }
    return report(settings, rows, drawn)


def all_views(seed: int, name: str, D: Array, y: Array, epochs: int) -> dict[str, Seen]:
    models = {
        with_reading(method, reading): model
        for reading, squared in READINGS.items()
        for method, model in methods(name, seed, epochs, squared).items()
    }
    return {method: looked_at(model, D, y, "precomputed") for method, model in models.items()}


def methods(name: str, seed: int, epochs: int, squared: bool) -> dict[str, Any]:
    n_vectors, n_first, width = TABLE[name]
    given: dict[str, Any] = {"metric": "precomputed", "squared": squared, "random_state": seed}
    printed: dict[str, Any] = {
        "structure": "hexagon",
        "n_sampling": n_vectors,
        "max_iter": epochs,
        "n_neighbors_start": n_first,
        "n_neighbors_end": 5,
        "scale_start": 1e7,
        "scale_end": width,
        "bandwidth": "radius",
        "init": "random",
    }
    maps: dict[str, Any] = {
        f"t-SONE, {words}": SONE(winner=winner, neighborhoods="winner", **printed, **given)
        for winner, words in WINNERS.items()
    }
    maps[f"t-SONE, {OURS}"] = SONE(**printed, **given)
    maps["t-SONE, defaults"] = SONE(**given)
    for perplexity in PERPLEXITIES:
        maps[tsne(perplexity)] = TSNE(perplexity=perplexity, init="random", n_jobs=1, **given)
    return maps


def tsne(perplexity: float) -> str:
    return f"t-SNE, perplexity {perplexity:g}"


def rows_of(name: str, found: Found, D: Array, y: Array) -> list[Row]:
    words, (mean, deviation) = WORDS[name], PRINTED[name]
    rows = [row(f"{words}: 1-NN error of the dissimilarities", None, nearest(D, y), NO_NUMBER)]
    for reading in READINGS:
        printed = with_reading(f"t-SONE, {WINNERS['divergence']}", reading)
        errors = stacked(found[printed], "error")
        if name == "catcortex":
            tolerance = max(deviation, errors.std(ddof=1))
            rows += [
                row(f"{words}: 1-NN error, {printed}", mean, errors, judge(errors, mean, tolerance, False)),
                row(
                    f"{words}: 1-NN error is not worse, {printed}",
                    f"at most {mean + deviation:.2f}",
                    errors,
                    holds(errors.mean() <= mean + deviation),
                ),
            ]
        else:
            rows.append(row(f"{words}: 1-NN error, {printed}", mean, errors, NO_NUMBER))
        rows.append(row(f"{words}: lowest 1-NN error, {printed}", SHOWN[name], float(errors.min()), NO_NUMBER))
        rows += claim_rows(name, found, reading)
        for method, runs in found.items():
            if method.endswith(reading) and method != printed:
                document = mean if method.startswith("t-SONE") else None
                rows.append(row(f"{words}: 1-NN error, {method}", document, stacked(runs, "error"), NO_NUMBER))
    rows += [
        row(f"{words}: mean Q, {method}", None, over_sizes(runs, "q"), NO_NUMBER) for method, runs in found.items()
    ]
    rows += [
        row(f"{words}: mean B, {method}", None, over_sizes(runs, "b"), NO_NUMBER) for method, runs in found.items()
    ]
    return rows


def nearest(D: Array, y: Array) -> float:
    return nearest_neighbor_error(D, y, metric="precomputed")


def over_sizes(runs: list[Seen], measure: str, largest: int | None = None) -> Array:
    """Return Q or B of all runs, as means over sizes of neighborhoods."""
    return stacked(runs, measure)[:, :largest].mean(axis=1)


def claim_rows(name: str, found: Found, reading: str) -> list[Row]:
    """Return rows on what the document says of t-SONE and t-SNE."""
    words = WORDS[name]
    sone, sne = (
        found[with_reading(f"t-SONE, {WINNERS['divergence']}", reading)],
        found[with_reading(tsne(BEST), reading)],
    )
    q, q_sne = over_sizes(sone, "q"), over_sizes(sne, "q")
    difference = abs(q.mean() - q_sne.mean())
    best = max(PERPLEXITIES, key=lambda p: over_sizes(found[with_reading(tsne(p), reading)], "q").mean())
    rows = [
        row(f"{words}: best perplexity of t-SNE, {reading}", f"{BEST:g}", f"{best:g}", holds(best == BEST)),
        row(
            f"{words}: difference of mean Q of t-SONE and t-SNE, {reading}",
            "comparable",
            difference,
            holds(difference <= COMPARABLE),
        ),
    ]
    if name == "catcortex":
        wider = stacked(sne, "q").std(axis=0).mean() - stacked(sone, "q").std(axis=0).mean()
        small, small_sne = over_sizes(sone, "b", SMALL), over_sizes(sne, "b", SMALL)
        return [
            *rows,
            row(f"{words}: deviation of Q of t-SNE - of t-SONE, {reading}", "above 0", wider, holds(wider > 0)),
            larger_row(
                f"{words}: B of t-SONE - of t-SNE, K up to {SMALL}, {reading}",
                "above 0 (t-SNE is more extrusive)",
                small,
                small_sne,
            ),
        ]
    b, b_sne = over_sizes(sone, "b").mean(), over_sizes(sne, "b").mean()
    return [
        *rows,
        larger_row(f"{words}: mean Q of t-SNE - of t-SONE, {reading}", "above 0", q_sne, q),
        row(f"{words}: mean B of t-SNE, {reading}", "above 0 (intrusive)", b_sne, holds(b_sne > 0)),
        row(f"{words}: mean B of t-SONE, {reading}", "below 0 (extrusive)", b, holds(b < 0)),
    ]


def for_picture(found: Found, y: Array) -> dict[str, Any]:
    """Return the curves of some methods and their views with the lowest error."""
    names = {
        f"t-SONE, {WINNERS['divergence']}": "t-SONE",
        f"t-SONE, {WINNERS['mean']}": "t-SONE, winner by mean",
        tsne(BEST): tsne(BEST),
    }
    chosen = {short: found[with_reading(name, next(iter(READINGS)))] for name, short in names.items()}
    best = {name: min(runs, key=lambda one: one.error) for name, runs in chosen.items()}
    return {
        "y": np.unique(y, return_inverse=True)[1],
        "q": {name: stacked(runs, "q") for name, runs in chosen.items()},
        "b": {name: stacked(runs, "b") for name, runs in chosen.items()},
        "points": {name: one.points for name, one in best.items()},
        "errors": {name: one.error for name, one in best.items()},
    }


def draw(result: Result) -> Figure:
    figure, axes = canvas(2, 5, (3.4, 3.2))
    for line, (name, drawn) in zip(axes, result["data"].items()):
        for ax, (method, points) in zip(line, drawn["points"].items()):
            draw_view(
                ax, points, drawn["y"], f"{WORDS[name]}, {method}\nbest start, error {drawn['errors'][method]:.2f}"
            )
        for ax, measure in zip(line[3:], "qb"):
            for color, (method, curves) in zip(COLORS, drawn[measure].items()):
                draw_mean_curve(ax, curves, color, method)
            ax.set_ylabel(f"{measure.upper()} (band: standard deviation)")
        line[3].legend(frameon=False, fontsize=7)
    return figure
