"""Sequences of symbols or numbers of any length, concatenated in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np

from protolearn.core.types import Array, Indices
from protolearn.dissimilarities._blocks import listed

__all__ = ["Alphabet", "Sequences", "code_points", "number_sequences"]


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
