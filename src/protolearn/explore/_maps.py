"""Part of a page that shows a map: the layout of its cells, their members and their prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from protolearn.core.fitted import edge_lengths, is_relational, prototype_distances, take_apart
from protolearn.core.lattices import Lattice, from_distances
from protolearn.core.neighbors import two_nearest
from protolearn.core.types import Array, Floats, Indices
from protolearn.explore._samples import columns_of, is_table
from protolearn.lvq import prototype_table
from protolearn.maps import ShapedMap

__all__ = ["map_part"]

BLOCK = 2**23  # distances that are in memory at a time
ROUNDING = 1e-9  # share of the largest distance, below which one is zero
DOT = 0.42  # radius of a dot, if the nearest other one is one unit away
STEPS = 60  # of stress majorization
ROUNDS = 500  # in which dots that touch are pushed apart, at most
SHEETS = {"rectangular": "rectangular sheet", "hexagonal": "hexagonal sheet"}
OTHERS = {"tree": "a tree", "hyperbolic": "a hyperbolic disc", "graph": "a graph"}


def map_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the data of a map for the page."""
    samples = take_apart(model).transform(X)
    winners, second, distances = _winners(last, samples)
    lattice: Lattice | None = getattr(last, "lattice_", None)
    edges = _edges(last) if lattice is None else lattice.edges
    positions = _spread(prototype_distances(last)) if lattice is None else _drawn(lattice)
    k, kind = len(positions), "graph" if lattice is None else lattice.kind
    lengths = edge_lengths(last, edges)
    quantization = float(np.mean(distances))
    topographic = None if lattice is None or k < 2 else float(np.mean(~lattice.touch(winners, second)))
    return {
        "kind": "map",
        "subtitle": _sentences(last, lattice, k, len(winners), quantization, topographic),
        "map": {
            "lattice": {
                "kind": kind,
                "periodic": lattice is not None and lattice.periodic,
                "shape": None if lattice is None or lattice.shape is None else list(lattice.shape),
                "radius": 0.5 if kind in SHEETS else _dot(positions, kind == "hyperbolic"),
            },
            "positions": positions,
            "edges": edges,
            "lengths": lengths,
            "strengths": None if lattice is not None else _strengths(last, edges),
            "heights": _heights(edges, lengths, k),
            "winners": winners,
            "distances": distances,
            "planes": _planes(model, last, X, winners, k),
            "quantization": quantization,
            "topographic": topographic,
        },
    }


def _winners(last: Any, samples: Any) -> tuple[Indices, Indices, Floats]:
    """Return the cell of each sample, its second nearest prototype, and its distance to the prototype of the cell."""
    winners = np.asarray(last.predict(samples))
    n, k = len(winners), len(last.multiplicities_)
    if isinstance(last.metric, str) and last.metric == "kernel" and np.shape(samples) == (n, n):
        samples = np.column_stack([samples, np.diag(samples)])  # distances need the kernel of each object with itself
    step = max(1, BLOCK // k) if hasattr(samples, "shape") else n
    second, distances = np.zeros_like(winners), np.empty(n)
    for start in range(0, n, step):
        part = slice(start, start + step)
        first = winners[part]
        rows = samples if step >= n else (samples.iloc if hasattr(samples, "iloc") else samples)[part]
        squares = np.array(last.distances(rows), np.float64)
        own = squares[np.arange(len(first)), first]
        squares[np.arange(len(first)), first] = -np.inf  # also if another is as near
        second[part] = two_nearest(squares)[1]
        if isinstance(last, ShapedMap):  # whose distances also tell of volumes, and may be negative
            own = np.nansum((_dense(rows) - last.prototypes_[first]) ** 2, axis=1)
        distances[part] = np.sqrt(np.maximum(own, 0.0))
    return winners, second, np.where(distances > ROUNDING * distances.max(), distances, 0.0)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)


def _edges(last: Any) -> Indices:
    """Return the pairs of prototypes (e, 2) that are the two nearest of a sample."""
    if last.graph_ is None:
        return np.empty((0, 2), np.intp)
    return np.argwhere(sparse.triu(sparse.csr_array(last.graph_), k=1).toarray() > 0)


def _strengths(last: Any, edges: Indices) -> Floats:
    """Return the share of samples between the two ends of each edge (e,), relative to the largest."""
    weights = np.asarray(last.graph_.toarray()[tuple(edges.T)], np.float64) if len(edges) else np.empty(0)
    return weights / weights.max(initial=1e-300)


def _heights(edges: Indices, lengths: Floats, k: int) -> Floats:
    """Return the mean distance (k,) of each prototype to its neighbors, the U-matrix; NaN without neighbors."""
    ends = edges.T.ravel()
    with np.errstate(invalid="ignore"):
        return np.bincount(ends, np.tile(lengths, 2), k) / np.bincount(ends, minlength=k)


def _drawn(lattice: Lattice) -> Floats:
    """Return where the nodes of a lattice are drawn; a long chain winds like a meander, to fill the page."""
    k = lattice.n_nodes
    if lattice.kind != "chain" or lattice.periodic:
        return lattice.coordinates
    columns = max(10, int(np.ceil(np.sqrt(2 * k))))
    row, column = np.divmod(np.arange(k), columns)
    return np.column_stack([np.where(row % 2, columns - 1 - column, column), -row])


def _spread(distances: Floats) -> Floats:
    """Return positions (k, 2) in the plane whose distances are like those given, at least one unit apart.

    Classical scaling comes first. Then stress, the sum of squared differences of distances, is minimized by
    majorization, and dots that are too near are pushed apart.

    Examples
    --------
    >>> _spread(np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])).shape
    (3, 2)
    """
    k = len(distances)
    given = (distances + distances.T) / 2
    np.fill_diagonal(given, 0.0)
    positions = np.array(from_distances(given).coordinates)
    for _ in range(STEPS):
        gaps = cdist(positions, positions)
        ratios = np.divide(given, gaps, out=np.zeros_like(gaps), where=gaps > 0)
        positions = (ratios.sum(axis=1)[:, None] * positions - ratios @ positions) / k  # Guttman transform
    # Dots that coincide are told apart by their number, along the golden angle.
    turns = np.arange(k) * np.pi * (3 - np.sqrt(5))
    positions += 1e-6 * (given.max() or 1.0) * np.column_stack([np.cos(turns), np.sin(turns)])
    radius = np.sqrt((positions**2).sum(axis=1).mean())
    return _apart(positions * (0.5 * np.sqrt(k) / radius if radius > 0 else 1.0))


def _apart(positions: Floats) -> Floats:
    """Push points away from each other until none is nearer than one unit to another, or almost."""
    for _ in range(ROUNDS):
        pairs = cKDTree(positions).query_pairs(1.0 - 1e-6, output_type="ndarray")
        if not len(pairs):
            break
        ways = positions[pairs[:, 0]] - positions[pairs[:, 1]]
        gaps = np.linalg.norm(ways, axis=1, keepdims=True)
        ways *= 0.5 * (1.02 - gaps) / gaps
        for place, sign in ((0, 1.0), (1, -1.0)):
            np.add.at(positions, pairs[:, place], sign * ways)
    return positions


def _dot(positions: Floats, hyperbolic: bool) -> float:
    """Return the radius of dots that do not touch; in the Poincaré disc, of one in the middle."""
    if len(positions) == 1:
        return DOT
    nearest, others = cKDTree(positions).query(positions, 2)
    nearest = nearest[:, 1]
    if hyperbolic:  # dots of the same size in the hyperbolic plane shrink toward the border of the disc
        scale = 1.0 - (positions**2).sum(axis=1)
        nearest = 2 * nearest / (scale + scale[others[:, 1]])
    return DOT * float(max(nearest.min(), 0.2 * np.median(nearest)))


def _planes(model: Any, last: Any, X: Any, winners: Indices, k: int) -> dict[str, Any] | None:
    """Return what each cell has of each column of the table: its prototype, or the mean of its members."""
    if not is_table(model, X):
        return None
    columns = columns_of(X)
    table = None if is_relational(last) else prototype_table(model)
    if table is None or table.note:  # a step of the pipeline cannot be undone
        return {"of": "members", "columns": [_mean(column, winners, k) for column in columns]}
    return {"of": "prototypes", "columns": [_read(column, values) for column, values in zip(columns, table.values.T)]}


def _read(column: dict[str, Any], values: Array) -> Array:
    """Return values of prototypes, or the codes of categories."""
    if "values" in column:
        return values.astype(np.float64)
    places = {name: code for code, name in enumerate(column["categories"])}
    return np.array([places.get(str(value), -1) for value in values])


def _mean(column: dict[str, Any], winners: Indices, k: int) -> Array:
    """Return the mean of each cell, NaN if it is empty, or its most frequent category, -1 if it is."""
    if "codes" in column:
        counts = np.zeros((k, len(column["categories"])))
        known = column["codes"] >= 0
        np.add.at(counts, (winners[known], column["codes"][known]), 1.0)
        return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    known = np.isfinite(column["values"])
    with np.errstate(invalid="ignore"):
        return np.bincount(winners[known], column["values"][known], k) / np.bincount(winners[known], minlength=k)


def _sentences(
    last: Any, lattice: Lattice | None, k: int, n: int, quantization: float, topographic: float | None
) -> str:
    """Return what the map is and how good it is, in words."""
    where = f"with {k:,} prototypes"
    if lattice is not None and lattice.shape is not None:
        where = "on a {} of {} × {} cells".format(SHEETS[lattice.kind], *lattice.shape)
        where += ", closed to a torus" if lattice.periodic else ""
    elif lattice is not None and lattice.kind == "chain":
        where = f"on a {'ring' if lattice.periodic else 'chain'} of {k:,} cells"
    elif lattice is not None:
        where = f"on {OTHERS[lattice.kind]} of {k:,} cells"
    parts = [
        f"{type(last).__name__} of {n:,} samples {where}.",
        f"Quantization error {quantization:.4g}: the mean distance of a sample from the prototype of its cell.",
    ]
    if topographic is not None:
        parts.append(
            f"Topographic error {100 * topographic:.1f} %: the share of samples whose two nearest prototypes are not "
            "neighbors on the map; lower is better."
        )
    return " ".join(parts)
