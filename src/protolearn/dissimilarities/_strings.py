"""Sequences of symbols or numbers of any length, concatenated in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, integer, none, positive
from protolearn.core.types import Array, Indices
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed, rows_of

__all__ = [
    "Alphabet",
    "CyclicEdit",
    "Edit",
    "Hamming",
    "Jaccard",
    "Sequences",
    "code_points",
    "cyclic_edit",
    "edit",
    "hamming",
    "jaccard",
    "number_sequences",
]


@dataclass(frozen=True)
class Sequences:
    """The sequence i is ``values[starts[i] : starts[i] + lengths[i]]``."""

    values: Array
    starts: Indices
    lengths: Indices

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: Any) -> Sequences:
        return Sequences(self.values, self.starts[rows], self.lengths[rows])

    @property
    def parts(self) -> tuple[Array, Indices, Indices]:
        """Values, starts and lengths, for compiled loops."""
        return self.values, self.starts, self.lengths

    @staticmethod
    def cut(values: Array, lengths: Sequence[int]) -> Sequences:
        """Cut values into sequences of these lengths."""
        sizes = np.asarray(lengths, dtype=np.int64)
        return Sequences(values, np.cumsum(sizes) - sizes, sizes)


@dataclass
class Alphabet:
    """Tells sequences of numbers from sequences of symbols, and writes any hashable symbol as one character.

    Examples
    --------
    >>> alphabet = Alphabet()
    >>> first, second = alphabet.read([["to", "be"], ["be"]])
    >>> first[1] == second
    True
    """

    characters: dict[Any, str] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    def read(self, objects: Any, name: str = "X", *, numbers: bool = True) -> Sequences | list[str]:
        """Return sequences of numbers, or a string for each object; numbers can be read as symbols too."""
        items = listed(objects, name)
        self.kinds |= {kind for kind in map(_kind, items) if kind}
        if len(self.kinds) > 1:
            raise ValueError(f"{name} mixes {' and '.join(sorted(self.kinds))}; pass objects of one type.")
        if self.kinds == {"numbers"} and numbers:
            return number_sequences(items, name)
        if self.kinds == {"strings"}:
            return [one if len(one) else "" for one in items]
        if self.kinds == {"bytes"}:
            return [one.decode("latin-1") if len(one) else "" for one in items]
        return ["".join([self._character(symbol) for symbol in one]) for one in items]

    def _character(self, symbol: Any) -> str:
        return self.characters.setdefault(symbol, chr(len(self.characters)))


def code_points(texts: Any, dtype: type[np.generic] = np.float64) -> Sequences:
    """Return strings as sequences of their characters' numbers."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return Sequences.cut(np.frombuffer(joined, dtype="<u4").astype(dtype), [len(text) for text in texts])


def number_sequences(objects: Any, name: str, n_dimensions: int = 1) -> Sequences:
    """Return sequences of finite numbers, or of vectors of them if ``n_dimensions=2``."""
    parts = []
    for i, one in enumerate(objects):
        try:
            part = np.asarray(one, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}[{i}] must be a sequence of numbers: {error}") from error
        if part.ndim == 1 and n_dimensions == 2:
            part = part[:, None]
        if part.ndim != n_dimensions:
            raise ValueError(f"{name}[{i}] must be a sequence of numbers, got an array of shape {part.shape}.")
        if not np.isfinite(part).all():
            raise ValueError(f"{name}[{i}] contains NaN or infinity; impute or remove these values.")
        parts.append(part)
    empty = np.empty((0, 1)[:n_dimensions])
    return Sequences.cut(np.concatenate(parts) if parts else empty, [len(part) for part in parts])


def _kind(one: Any) -> str:
    """Return what an object is made of; an empty sequence may be of any kind."""
    if isinstance(one, str):
        return "strings"
    if isinstance(one, bytes):
        return "bytes"
    if not hasattr(one, "__len__"):
        raise ValueError(f"Objects must be strings or sequences, got {one!r}.")
    if len(one) == 0:
        return ""
    if isinstance(one, np.ndarray):
        return "numbers" if one.dtype.kind in "biuf" else "symbols"
    return "numbers" if all(isinstance(value, Number | np.ndarray) for value in one) else "symbols"


def edit(
    X: Any,
    Y: Any = None,
    *,
    indel: float = 1.0,
    substitution: float | None = None,
    period: float | None = None,
    normalize: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """Return edit distances, the smallest total cost of insertions, deletions and substitutions between two sequences.

    ``E[a, b] = min(E[a-1, b] + indel, E[a, b-1] + indel, E[a-1, b-1] + substitution(x_a, y_b))``, with
    ``E[a, 0] = a indel`` and ``E[0, b] = b indel`` [1]_.

    Parameters
    ----------
    X : list of sequences
        Strings, bytes, sequences of words or other symbols, or sequences of numbers.
    Y : list of sequences, optional
        Objects to compare with. By default, all pairs in ``X`` are compared.
    indel : float, default=1.0
        Cost of an insertion or deletion.
    substitution : float, optional
        Cost of a substitution by a different symbol. By default 1 for symbols; for numbers, their absolute difference.
    period : float, optional
        Period of numbers that are angles: the cost of a substitution is then the length of the shorter arc.
    normalize : bool, default=False
        Whether to divide distances by the length of the longer sequence.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Distances.

    Notes
    -----
    The distance is a metric unless it is normalized. If insertions, deletions and substitutions of symbols have equal
    costs, 64 cells of the recursion are computed at once, as the bits of a word [2]_.

    References
    ----------
    .. [1] Wagner, R., Fischer, M. (1974). The string-to-string correction problem. Journal of the ACM 21, 168-173.
    .. [2] Hyyro, H. (2003). A bit-vector algorithm for computing Levenshtein and Damerau edit distances. Nordic Journal
       of Computing 10, 29-39.

    Examples
    --------
    >>> from protolearn.dissimilarities import edit
    >>> edit(["kitten", "sitting", "kit"])
    array([[0., 3., 3.],
           [3., 0., 5.],
           [3., 5., 0.]])
    >>> edit([[10, 350]], [[350], [0, 350]], indel=60, period=360)
    array([[60., 10.]])
    """
    return all_pairs(Edit(indel, substitution, period, normalize), X, Y, n_jobs=n_jobs)


def cyclic_edit(
    X: Any,
    Y: Any = None,
    *,
    indel: float = 1.0,
    substitution: float | None = None,
    period: float | None = None,
    normalize: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """Return cyclic edit distances, the smallest edit distances over all rotations of the sequences.

    The contours of shapes are examples of cyclic sequences, since their starting points are arbitrary.

    Parameters
    ----------
    X : list of sequences
        Strings, bytes, sequences of words or other symbols, or sequences of numbers.
    Y : list of sequences, optional
        Objects to compare with. By default, all pairs in ``X`` are compared.
    indel : float, default=1.0
        Cost of an insertion or deletion.
    substitution : float, optional
        Cost of a substitution by a different symbol. By default 1 for symbols; for numbers, their absolute difference.
    period : float, optional
        Period of numbers that are angles: the cost of a substitution is then the length of the shorter arc.
    normalize : bool, default=False
        Whether to divide distances by the length of the longer sequence.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Distances.

    Notes
    -----
    It is sufficient to rotate the shorter one of the two sequences. Since optimal paths of different rotations need not
    cross, each path is searched between two known paths [1]_. This needs ``O(L^2 log L)`` steps instead of ``O(L^3)``
    for sequences of length L.

    References
    ----------
    .. [1] Maes, M. (1990). On a cyclic string-to-string correction problem. Information Processing Letters 35, 73-78.

    Examples
    --------
    >>> from protolearn.dissimilarities import cyclic_edit
    >>> cyclic_edit(["abcdef"], ["defabc", "efabxcd", "fedcba"])
    array([[0., 1., 4.]])
    """
    return all_pairs(CyclicEdit(indel, substitution, period, normalize), X, Y, n_jobs=n_jobs)


def hamming(X: Any, Y: Any = None, *, normalize: bool = True, n_jobs: int | None = None) -> Floats:
    """Return Hamming distances, the fraction or number of positions at which two sequences of equal length differ.

    Parameters
    ----------
    X : list of sequences
        Strings, bytes, or sequences of symbols or numbers such as the rows of a table; all of the same length.
    Y : list of sequences, optional
        Objects to compare with. By default, all pairs in ``X`` are compared.
    normalize : bool, default=True
        Whether to return the fraction of positions instead of their number.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import hamming
    >>> hamming(["karolin", "kathrin"], ["kerstin"], normalize=False)
    array([[3.],
           [4.]])
    """
    return all_pairs(Hamming(normalize), X, Y, n_jobs=n_jobs)


def jaccard(X: Any, Y: Any = None, *, ngram: int = 1, n_jobs: int | None = None) -> Floats:
    """Return Jaccard distances of sets, ``1 - |x and y| / |x or y|``; 0 for two empty sets.

    Parameters
    ----------
    X : list of sets, list of strings, or array-like of zeros and ones of shape (n, d)
        Sets of hashable elements; strings or sequences of words, as sets of their n-grams; or dense or sparse rows of
        zeros and ones that indicate the elements of each set.
    Y : as X, optional
        Objects to compare with. By default, all pairs in ``X`` are compared.
    ngram : int, default=1
        Length of the n-grams into which strings and sequences are split.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Distances, between 0 and 1.

    Examples
    --------
    >>> from protolearn.dissimilarities import jaccard
    >>> jaccard([{"red", "green"}], [{"red"}, {"red", "blue", "green", "gray"}])
    array([[0.5, 0.5]])
    >>> jaccard(["night"], ["nacht"], ngram=2).round(3)
    array([[0.857]])
    """
    return all_pairs(Jaccard(ngram), X, Y, n_jobs=n_jobs)


with_costs = constrained(indel=positive, substitution=positive | none, period=positive | none)


@with_costs
@dataclass(eq=False)
class CyclicEdit(Measure):
    """Edit distance of cycles."""

    name = "cyclic_edit"
    indel: float = 1.0
    substitution: float | None = None
    period: float | None = None
    normalize: bool = False
    alphabet: Alphabet = field(default_factory=Alphabet, init=False, repr=False)

    def encode(self, objects: Any, name: str = "X") -> Any:
        """Return sequences of numbers, or of the codes of symbols."""
        items = self.alphabet.read(objects, name, numbers=self.substitution is None)
        if not isinstance(items, Sequences):
            if self.period is not None and self.alphabet.kinds:
                raise ValueError(f"period={self.period} needs sequences of numbers and substitution=None.")
            return self._encode_symbols(items)
        return items if self.period is None else Sequences(items.values % self.period, items.starts, items.lengths)

    def block(self, a: Any, b: Any, n_threads: int = 1) -> Floats:
        """Return edit distances."""
        distances = self._distances(a, b, n_threads)
        return distances / np.maximum(np.maximum.outer(a.lengths, b.lengths), 1) if self.normalize else distances

    def _encode_symbols(self, texts: list[str]) -> Any:
        return code_points(texts)

    def _distances(self, a: Sequences, b: Sequences, n_threads: int) -> Floats:
        from protolearn.dissimilarities._kernels import cyclic_edit_block

        result = np.empty((len(a), len(b)))
        cyclic_edit_block(*a.parts, *b.parts, *self._costs(), result)
        return result

    def _costs(self) -> tuple[float, float, float, float]:
        """Return the cost of an indel, and factor, upper bound and period of the differences in a substitution."""
        if self.substitution is None and self.alphabet.kinds == {"numbers"}:
            return float(self.indel), 1.0, np.inf, np.inf if self.period is None else float(self.period)
        return float(self.indel), self._symbol_cost, 1.0, np.inf

    @property
    def _symbol_cost(self) -> float:
        return 1.0 if self.substitution is None else float(self.substitution)


@with_costs
@dataclass(eq=False)
class Edit(CyclicEdit):
    """Edit distance."""

    name = "edit"

    def _encode_symbols(self, texts: list[str]) -> Sequences:
        if self.indel != self._symbol_cost:
            return code_points(texts)
        self.tile, self.grain = 512, 64  # a pair takes little time
        return code_points(texts, np.int32)

    def _distances(self, a: Sequences, b: Sequences, n_threads: int) -> Floats:
        if a.values.dtype == b.values.dtype == np.int32:
            return self._by_counts(a, b)
        return self._by_recursion(a, b)

    def _by_counts(self, a: Sequences, b: Sequences) -> Floats:
        from protolearn.dissimilarities._bit_kernels import count_edits

        counts = count_edits(a, b) if len(a) <= len(b) else count_edits(b, a).T  # many of the second share a step
        return counts if self.indel == 1 else counts * float(self.indel)

    def _by_recursion(self, a: Sequences, b: Sequences) -> Floats:
        from protolearn.dissimilarities._kernels import edit_block

        a, b = (Sequences(one.values.astype(np.float64, copy=False), one.starts, one.lengths) for one in (a, b))
        result = np.empty((len(a), len(b)))
        edit_block(*a.parts, *b.parts, np.argsort(b.lengths, kind="stable"), *self._costs(), result)
        return result


@dataclass(eq=False)
class Hamming(Measure):
    """Share or number of positions that differ."""

    name = "hamming"
    normalize: bool = True
    length: int | None = field(default=None, init=False, repr=False)
    alphabet: Alphabet = field(default_factory=Alphabet, init=False, repr=False)

    def encode(self, objects: Any, name: str = "X") -> Floats:
        """Return numbers, or the codes of symbols, as rows."""
        items = self.alphabet.read(objects, name)
        sequences = items if isinstance(items, Sequences) else code_points(items)
        if len(sequences) and self.length is None:
            self.length = int(sequences.lengths[0])
        other = sequences.lengths != self.length
        if other.any():
            raise ValueError(
                f"{name}[{other.argmax()}] has length {sequences.lengths[other.argmax()]}, the first object "
                f"{self.length}; Hamming distances need equal lengths, edit distances do not."
            )
        return sequences.values.reshape(len(sequences), self.length or 0)

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Hamming distances."""
        from scipy.spatial.distance import cdist

        if not self.length:
            return np.zeros((len(a), len(b)))
        share = cdist(a, b, "hamming")
        return share if self.normalize else np.rint(share * self.length)


@constrained(ngram=integer(1))
@dataclass(eq=False)
class Jaccard(Measure):
    """One minus the size of the intersection over the size of the union."""

    name = "jaccard"
    ngram: int = 1
    codes: dict[Any, int] = field(default_factory=dict, init=False, repr=False)
    width: int | None = field(default=None, init=False, repr=False)

    def encode(self, objects: Any, name: str = "X") -> Sequences:
        """Return the codes of what is in each set."""
        if hasattr(objects, "shape") and len(objects.shape) == 2:
            return self._encode_rows(objects, name)
        items = listed(objects, name)
        if items and not any(isinstance(one, str | bytes | set | frozenset) or _has_words(one) for one in items):
            return self._encode_rows(items, name)
        sets = [sorted({self.codes.setdefault(part, len(self.codes)) for part in self._parts(one)}) for one in items]
        self._check_one_kind(name)
        return Sequences.cut(np.array([code for one in sets for code in one], dtype=np.int64), list(map(len, sets)))

    def block(self, a: Sequences, b: Sequences, n_threads: int = 1) -> Floats:
        """Return Jaccard distances."""
        from protolearn.dissimilarities._kernels import overlap_block

        result = np.empty((len(a), len(b)))
        width = max(len(self.codes), self.width or 0)
        overlap_block(*a.parts, *b.parts, width, result)
        union = np.add.outer(a.lengths, b.lengths) - result
        return (union - result) / np.maximum(union, 1)

    def _parts(self, one: Any) -> Any:
        if isinstance(one, set | frozenset) or self.ngram == 1:
            return one
        whole = one if isinstance(one, str | bytes) else tuple(one)
        return (whole[i : i + self.ngram] for i in range(len(whole) - self.ngram + 1))

    def _encode_rows(self, objects: Any, name: str) -> Sequences:
        from scipy.sparse import csr_array

        rows = csr_array(objects if hasattr(objects, "toarray") else rows_of(objects, name))
        rows.eliminate_zeros()
        if not (rows.data == 1).all():
            raise ValueError(
                f"{name} must contain only zeros and ones, or be a list of sets; use tanimoto for other vectors."
            )
        self.width = rows.shape[1] if self.width is None else self.width
        self._check_one_kind(name)
        if rows.shape[1] != self.width:
            raise ValueError(f"{name} has {rows.shape[1]} columns, the other objects {self.width}.")
        return Sequences.cut(rows.indices.astype(np.int64), np.diff(rows.indptr))

    def _check_one_kind(self, name: str) -> None:
        if self.codes and self.width is not None:
            raise ValueError(f"{name} mixes sets and rows of zeros and ones; pass objects of one type.")


def _has_words(one: Any) -> bool:
    return isinstance(one, list | tuple) and any(isinstance(part, str | bytes) for part in one[:1])
