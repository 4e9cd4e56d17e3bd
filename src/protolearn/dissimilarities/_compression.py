"""Normalized compression distance of texts: how much one text helps to compress another."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, function, option
from protolearn.core.types import Array, Indices
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed, optional

__all__ = ["Compression", "ncd"]

Size = Callable[[bytes], int]


def ncd(X: Any, Y: Any = None, *, compressor: str | Size = "bz2", n_jobs: int | None = None) -> Floats:
    """Return normalized compression distances of texts.

    The distance is ``(C(xy) - min(C(x), C(y))) / max(C(x), C(y))``, where ``C`` is the length after compression. Texts
    that share words and phrases compress better together. The distance needs no knowledge of the language and applies
    to any data that can be written as bytes.

    Parameters
    ----------
    X : list of str or bytes
        Texts; strings are encoded in UTF-8.
    Y : list of str or bytes, optional
        Texts to compare with. By default, all pairs in ``X`` are compared.
    compressor : {"bz2", "lzma", "zlib", "zstd"} or callable, default="bz2"
        Compression algorithm, or a function that returns the length of compressed bytes. A pair of texts must fit into
        the window of the algorithm: 900 kB for bz2, 32 kB for zlib. ``"zstd"`` needs the extra ``protolearn[zstd]``.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities, about 0 for texts with the same content and about 1, or slightly more, for texts that have
        nothing in common.

    Notes
    -----
    The compressed length depends slightly on the order of the two texts, and a text followed by itself is longer than
    the text alone. To obtain a symmetric matrix with a zero diagonal, the shorter text always comes first, and equal
    texts have distance 0. Compressed lengths of single texts are cached between calls.

    References
    ----------
    Cilibrasi, R., Vitányi, P. (2005). Clustering by compression. IEEE Transactions on Information Theory 51, 1523-1545.

    Examples
    --------
    >>> from protolearn.dissimilarities import ncd
    >>> sea = "the sea was calm and the wind was low over the gray water " * 3
    >>> ship = "the ship lay on the gray water and the wind was low " * 3
    >>> sums = "3.14159 2.71828 1.41421 1.61803 0.57721 " * 3
    >>> D = ncd([sea, ship, sums])
    >>> bool(D[0, 1] < D[0, 2])
    True
    """
    return all_pairs(Compression(compressor), X, Y, n_jobs=n_jobs)


@dataclass(frozen=True)
class Texts:
    """Texts as bytes, with the lengths of their compressed forms."""

    data: Array
    sizes: Indices

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, rows: Any) -> Texts:
        return Texts(self.data[rows], self.sizes[rows])


@constrained(compressor=option("bz2", "lzma", "zlib", "zstd") | function())
@dataclass(eq=False)
class Compression(Measure):
    """Normalized compression distance."""

    name = "ncd"
    compressor: str | Size = "bz2"
    tile = 32
    grain = 1

    def __post_init__(self) -> None:
        if callable(self.compressor):
            self.in_threads = False  # it may not be made for them
        if self.compressor == "zstd":
            optional("zstandard", "zstd", "compressor='zstd'")

    def encode(self, objects: Any, name: str = "X") -> Texts:
        """Compress single texts."""
        items = listed(objects, name)
        for i, one in enumerate(items):
            if not isinstance(one, str | bytes):
                raise ValueError(f"{name}[{i}] must be a str or bytes, got {type(one).__name__}.")
        data = np.empty(len(items), dtype=object)
        data[:] = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else bytes(one) for one in items]
        return Texts(data, np.array([_remembered_size(self.compressor, text) for text in data], dtype=np.int64))

    def block(self, a: Texts, b: Texts, n_threads: int = 1) -> Floats:
        """Compress pairs of texts."""
        size = _size_of(self.compressor)
        result = np.zeros((len(a), len(b)))
        for i, x in enumerate(a.data):
            for j, y in enumerate(b.data):
                if x != y:
                    first, second = (x, y) if (len(x), x) < (len(y), y) else (y, x)
                    low, high = sorted((a.sizes[i], b.sizes[j]))
                    result[i, j] = max(size(first + second) - low, 0) / high
        return result


def _bz2_size(data: bytes) -> int:
    return len(bz2.compress(data, min(9, 1 + len(data) // 99_000)))  # the smallest block that holds it all


def _lzma_size(data: bytes) -> int:
    window = {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": max(4096, len(data))}  # to set up no more than needed
    return len(lzma.compress(data, format=lzma.FORMAT_RAW, filters=[window]))


def _zlib_size(data: bytes) -> int:
    return len(zlib.compress(data, 9))


def _zstd_size(data: bytes) -> int:
    return len(optional("zstandard", "zstd", "compressor='zstd'").ZstdCompressor(level=9).compress(data))


_SIZES: dict[str, Size] = {"bz2": _bz2_size, "lzma": _lzma_size, "zlib": _zlib_size, "zstd": _zstd_size}


def _size_of(compressor: str | Size) -> Size:
    return _SIZES[compressor] if isinstance(compressor, str) else compressor


# Lengths of single texts, which block after block asks for; texts go by their digests so that they can be forgotten.
_REMEMBERED: OrderedDict[tuple[str | Size, bytes], int] = OrderedDict()
_MOST_REMEMBERED = 500_000


def _remembered_size(compressor: str | Size, text: bytes) -> int:
    key = compressor, blake2b(text, digest_size=16).digest()
    size = _REMEMBERED.pop(key, None)
    _REMEMBERED[key] = size = _size_of(compressor)(text) if size is None else size
    if len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.popitem(last=False)
    return size
