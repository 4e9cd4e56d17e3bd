"""Texts for the experiments: reading, a small fast compressor, and how well a map keeps topics together."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numba import njit
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from experiments._protocol import Array, data_path
from protolearn.core.lattices import Lattice
from protolearn.dissimilarities import Dissimilarities

__all__ = [
    "COLORS",
    "Phrases",
    "alike_neighbors",
    "draw_disc",
    "load_texts",
    "majority",
    "n_regions",
    "prepared",
    "same_by_chance",
    "size_in_bits",
    "stemmer",
]

COLORS = (
    *("#1b6ca8", "#e08e45", "#4a7c59", "#c8553d", "#7a5195", "#8c6d46", "#d4a5c9"),
    *("#2a9d8f", "#b5bd3c", "#0b2545", "#8fb8de", "#f2c14e", "#5c5c5c"),
)

STOP_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        "a about above after again against all also am an and any are as at be because been before being below between "
        "both but by can could did do does doing down during each few for from further had has have having he her here "
        "hers him his how i if in into is it its itself just me more most my myself no nor not now of off on once one "
        "only or other our ours out over own said same say says she should so some such than that the their theirs "
        "them themselves then there these they this those through to too under until up us very was we were what when "
        "where which while who whom why will with would you your yours ",
    )
)


def load_texts(name: str) -> list[dict[str, Any]] | None:
    """Return the records of a file of texts, or None if the data folder is not there."""
    path = data_path(f"{name}.jsonl.gz")
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def prepared(text: str) -> str:
    """Return a text in small letters, without stop words, and with stems of words where a stemmer is installed."""
    stem = stemmer() or str
    words = (stem(word) for word in re.findall(r"[a-z]+", text.lower()) if word not in STOP_WORDS)
    return " ".join(filter(None, words))


@lru_cache
def stemmer() -> Callable[[str], str] | None:
    """Return Porter's stemmer if the package snowballstemmer is there."""
    try:
        import snowballstemmer  # type: ignore[import-untyped]
    except ImportError:
        return None
    return lru_cache(maxsize=100_000)(snowballstemmer.stemmer("porter").stemWord)


# A small compressor: repeats of three letters and more are replaced by where and how long they are (LZ77)

MIN_MATCH = 3
N_PLACES = 1 << 10


class Phrases(Dissimilarities):
    """Short texts with the normalized compression distance by `size_in_bits`, block by block in compiled code.

    The same values as ``Dissimilarities(texts, "ncd", compressor=size_in_bits)``, many times faster.
    """

    def __init__(self, texts: list[str]) -> None:
        super().__init__(texts, "ncd", compressor=size_in_bits)

    def like(self, data: Any) -> Phrases:
        """Return a source with other texts."""
        return Phrases(data)

    def block(self, rows: ArrayLike, columns: ArrayLike | None = None) -> Array:
        """Return the dissimilarities of some texts to others, or to each other."""
        if columns is not None:
            return self.to(rows, self, columns)
        texts = self.objects(rows)
        self.n_computed += len(texts) * (len(texts) - 1) // 2
        return _ncd_of_all(*_joined(texts))

    def to(self, rows: ArrayLike, other: Dissimilarities, columns: ArrayLike) -> Array:
        """Return the dissimilarities of some texts to those of another source."""
        texts, others = self.objects(rows), other.objects(columns)
        self.n_computed += len(texts) * len(others)
        return _ncd(*_joined(texts), *_joined(others))


def size_in_bits(text: bytes) -> int:
    """Return the length of a text after compression."""
    letters = np.frombuffer(text, np.uint8)
    return int(_size(letters, len(letters), np.full(N_PLACES, -1, np.int64), 0))


def _joined(texts: list[str]) -> tuple[Array, Array, Array]:
    """Return all letters one after the other, where texts begin and end, and their sizes."""
    parts = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)])
    letters = np.frombuffer(b"".join(parts), np.uint8)
    return letters, ends, _sizes(letters, ends)


@njit(nogil=True, cache=True)
def _width(number: int) -> int:
    bits = 0
    while number > 0:
        number >>= 1
        bits += 1
    return bits


@njit(nogil=True, cache=True)
def _place(letters: Array, i: int) -> int:
    code = (np.int64(letters[i]) * 2654435) ^ (np.int64(letters[i + 1]) * 40503) ^ (np.int64(letters[i + 2]) * 9176)
    return int((code >> 3) & (N_PLACES - 1))


@njit(nogil=True, cache=True)
def _size(letters: Array, n: int, last: Array, start: int) -> int:
    """Return bits: a flag and eight for a letter; a flag, the place and the length (Elias) for a repeat.

    ``last`` remembers where three letters occurred, counted from ``start``; older entries belong to other texts.
    """
    bits = i = 0
    while i < n:
        length = 0
        if i + 2 < n:
            place = _place(letters, i)
            before = last[place] - start
            last[place] = start + i
            while before >= 0 and i + length < n and letters[before + length] == letters[i + length]:
                length += 1
        if length < MIN_MATCH:
            bits += 9
            i += 1
            continue
        bits += _width(i) + 2 * _width(length - MIN_MATCH + 1)
        for j in range(i + 1, min(i + length, n - 2)):
            last[_place(letters, j)] = start + j
        i += length
    return bits


@njit(nogil=True, cache=True)
def _sizes(letters: Array, ends: Array) -> Array:
    sizes = np.empty(len(ends) - 1, np.int64)
    for i in range(len(sizes)):
        part = letters[ends[i] : ends[i + 1]]
        sizes[i] = _size(part, len(part), np.full(N_PLACES, -1, np.int64), 0)
    return sizes


@njit(nogil=True, cache=True)
def _follows(x: Array, y: Array) -> bool:
    """Say whether x comes after y: the longer, or the later in the alphabet, as in `protolearn.dissimilarities.ncd`."""
    if len(x) != len(y):
        return len(x) > len(y)
    for i in range(len(x)):
        if x[i] != y[i]:
            return x[i] > y[i]
    return False


@njit(nogil=True, cache=True)
def _pair(x: Array, y: Array, sizes: tuple[int, int], both: Array, last: Array, start: int) -> float:
    if len(x) == len(y) and (x == y).all():
        return 0.0
    first, second = (y, x) if _follows(x, y) else (x, y)
    both[: len(first)] = first
    both[len(first) : len(first) + len(second)] = second
    joint = _size(both, len(x) + len(y), last, start)
    return max(joint - min(sizes), 0) / max(sizes)


@njit(nogil=True, cache=True)
def _ncd(a: Array, a_ends: Array, a_sizes: Array, b: Array, b_ends: Array, b_sizes: Array) -> Array:
    result = np.empty((len(a_sizes), len(b_sizes)))
    last, start = np.full(N_PLACES, -1, np.int64), 0
    both = np.empty(np.diff(a_ends).max() + np.diff(b_ends).max(), np.uint8)
    for i in range(len(a_sizes)):
        x = a[a_ends[i] : a_ends[i + 1]]
        for j in range(len(b_sizes)):
            y = b[b_ends[j] : b_ends[j + 1]]
            result[i, j] = _pair(x, y, (a_sizes[i], b_sizes[j]), both, last, start)
            start += len(both)
    return result


@njit(nogil=True, cache=True)
def _ncd_of_all(a: Array, ends: Array, sizes: Array) -> Array:
    n = len(sizes)
    result = np.zeros((n, n))
    last, start = np.full(N_PLACES, -1, np.int64), 0
    both = np.empty(2 * np.diff(ends).max(), np.uint8)
    for i in range(n):
        x = a[ends[i] : ends[i + 1]]
        for j in range(i):
            y = a[ends[j] : ends[j + 1]]
            result[i, j] = result[j, i] = _pair(x, y, (sizes[i], sizes[j]), both, last, start)
            start += len(both)
    return result


# How well a map keeps topics together


def majority(winners: Array, y: Array, n_nodes: int, n_classes: int) -> tuple[Array, Array, float]:
    """Return the commonest class of each node (-1: wins nothing), its number of texts, and the share of texts in it."""
    counts = np.zeros((n_nodes, n_classes), int)
    np.add.at(counts, (winners, y), 1)
    hits = counts.sum(axis=1)
    return np.where(hits > 0, counts.argmax(axis=1), -1), hits, counts.max(axis=1).sum() / hits.sum()


def alike_neighbors(lattice: Lattice, classes: Array) -> float:
    """Return the share of edges, of those between nodes that win anything, that join nodes of the same class."""
    ends = classes[lattice.edges]
    ends = ends[(ends >= 0).all(axis=1)]
    return float((ends[:, 0] == ends[:, 1]).mean())


def same_by_chance(lattice: Lattice, classes: Array, n_draws: int = 1000) -> Array:
    """Return `alike_neighbors` for classes that change places at random."""
    rng = np.random.default_rng(0)
    used = classes >= 0
    shuffled = classes.copy()
    shares = []
    for _ in range(n_draws):
        shuffled[used] = rng.permutation(classes[used])
        shares.append(alike_neighbors(lattice, shuffled))
    return np.array(shares)


def n_regions(lattice: Lattice, classes: Array) -> int:
    """Return the number of connected regions of nodes of one class."""
    a, b = lattice.edges.T
    alike = classes[a] == classes[b]
    graph = coo_array((np.ones(alike.sum()), (a[alike], b[alike])), shape=(lattice.n_nodes,) * 2)
    parts = connected_components(graph, directed=False)[1]
    return len(np.unique(parts[classes >= 0]))


def draw_disc(ax: Axes, lattice: Lattice, classes: Array, hits: Array, names: list[str]) -> None:
    """Draw the majority class of each node of a hyperbolic lattice; the area of a node grows with its texts."""
    ax.add_collection(LineCollection(list(lattice.coordinates[lattice.edges]), colors="0.85", linewidths=0.7, zorder=0))
    x, y = lattice.coordinates.T
    share = np.sqrt(hits / hits.max())
    for code, name in enumerate(names):
        chosen = classes == code
        ax.scatter(x[chosen], y[chosen], s=15 + 150 * share[chosen], color=COLORS[code], linewidth=0)
        ax.plot([], [], "o", color=COLORS[code], label=name)
    ax.scatter(x[classes < 0], y[classes < 0], s=8, color="white", edgecolor="0.7", linewidth=0.7)
    ax.set_aspect("equal")
    ax.axis("off")
