"""Computation of all dissimilarities: objects are encoded once, then compared block by block, in threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, integer, none
from protolearn.core.progress import Progress
from protolearn.core.threads import Threads, chunk_threads, cut
from protolearn.core.types import Floats
from protolearn.core.validation import require_memory

__all__ = ["Floats", "Measure", "all_pairs", "encoded_pairs", "listed", "optional", "rows_of"]

Tile = tuple[slice, slice]


class Measure(ABC):
    """A dissimilarity of two objects, with its parameters.

    ``encode`` converts a collection of objects to the input of ``block``: an object with a length that can be indexed
    by a slice or an array of indices. Collections that are compared are encoded by the same measure.

    Attributes
    ----------
    name : str
        Name of the metric.
    tile : int
        Maximum number of objects along a side of a block.
    grain : int
        Maximum number of objects along a side of a block on the diagonal, half of which is redundant.
    in_threads : bool
        Whether several blocks can be computed in parallel; otherwise, the computation of one block may use all threads.
    """

    name: str
    tile: int = 256
    grain: int = 16
    in_threads: bool = True

    @abstractmethod
    def encode(self, objects: Any, name: str = "X") -> Any:
        """Check and encode a collection of objects, called ``name`` in messages."""

    @abstractmethod
    def block(self, a: Any, b: Any, n_threads: int = 1) -> Floats:
        """Return the dissimilarities (len(a), len(b)) of two encoded collections."""

    def check(self, encoded: Any) -> int:
        """Require symmetric dissimilarities within a collection; return the number of pairs checked."""
        return 0


def all_pairs(measure: Measure, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0) -> Floats:
    """Return the dissimilarities (len(X), len(Y)) of objects; without Y, of all pairs in X."""
    a = measure.encode(X)
    if Y is None:
        measure.check(a)
    return encoded_pairs(measure, a, None if Y is None else measure.encode(Y, "Y"), n_jobs=n_jobs, verbose=verbose)


@constrained(n_jobs=integer() | none)
def encoded_pairs(measure: Measure, a: Any, b: Any = None, *, n_jobs: int | None = None, verbose: int = 0) -> Floats:
    """Return the dissimilarities of encoded collections; without b, of all pairs in a, each computed once."""
    others = a if b is None else b
    require_memory(
        f"A matrix of the dissimilarities of {len(a)} and {len(others)} objects",
        8 * len(a) * len(others),
        "use fewer objects, or protolearn.dissimilarities.Dissimilarities, which maps read in parts",
    )
    result = np.zeros((len(a), len(others)))
    tiles = list(_triangle(measure, 0, len(a)) if b is None else _rectangle(measure, 0, len(a), 0, len(b)))

    def compute(tile: Tile) -> int:
        rows, columns = tile
        part = measure.block(a[rows], others[columns], inner)
        n_pairs = part.size
        if b is None and rows == columns:
            part = np.triu(part, 1)
            part += part.T
            n_pairs = len(part) * (len(part) - 1) // 2
        elif b is None:
            result[columns, rows] = part.T
        result[rows, columns] = part
        return n_pairs

    with chunk_threads(n_jobs) as n_threads:
        outer, inner = (min(n_threads, max(1, len(tiles))), 1) if measure.in_threads else (1, n_threads)
        done = 0
        with _TilePairs(
            measure.name, len(a) * (len(a) - 1) // 2 if b is None else result.size, verbose, "pair"
        ) as progress:
            for n_pairs in Threads(outer).map(compute, tiles):
                done += n_pairs
                progress.step(done, n_pairs)
    return result


class _TilePairs(Progress):
    """Progress in pairs, of which there are so many that lines say their share, and the time."""

    def line(self, done: int, **values: float | None) -> str:
        """Return the line that is printed about some of the pairs."""
        return f"[{self.name}] {100 * done // (self.total or 1)}% of {self.total} pairs  {self.seconds:.1f} s"


def listed(objects: Any, name: str) -> list[Any]:
    """Return a collection as a list."""
    if isinstance(objects, str | bytes):
        raise ValueError(f"{name} is a single {type(objects).__name__}; pass a list of objects.")
    return list(np.asarray(objects) if getattr(objects, "ndim", 1) == 2 else objects)  # a data frame lists its columns


def rows_of(objects: Any, name: str, *, at_least: float = -np.inf) -> Floats:
    """Return vectors as the rows (n, d) of an array of finite numbers."""
    if hasattr(objects, "toarray"):
        raise ValueError(f"{name} is sparse; pass a dense array, {name}.toarray(), if it fits into memory.")
    try:
        rows = np.asarray(objects, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a table of numbers with a row for each object: {error}") from error
    if rows.ndim != 2:
        raise ValueError(f"{name} must be a table of numbers with a row for each object, got shape {rows.shape}.")
    wrong = ~np.isfinite(rows).all(axis=1)
    if wrong.any():
        raise ValueError(f"{name} contains NaN or infinity (first in row {wrong.argmax()}); impute or remove them.")
    low = rows.min(axis=1, initial=np.inf) < at_least
    if low.any():
        raise ValueError(f"{name} contains values below {at_least:g} (first in row {low.argmax()}).")
    return rows


def optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'protolearn[{extra}]'.") from error


def _rectangle(measure: Measure, top: int, bottom: int, left: int, right: int) -> Iterator[Tile]:
    return product(cut(bottom, measure.tile, top), cut(right, measure.tile, left))


def _triangle(measure: Measure, start: int, stop: int) -> Iterator[Tile]:
    """Cut the upper triangle of a square into two half as large, and a rectangle."""
    if stop - start <= measure.grain:
        if stop - start > 1:
            yield slice(start, stop), slice(start, stop)
        return
    middle = (start + stop) // 2
    yield from _rectangle(measure, start, middle, middle, stop)
    yield from _triangle(measure, start, middle)
    yield from _triangle(measure, middle, stop)
