"""Dissimilarities of proteins and other biological sequences, from the scores of their alignments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, number, option, positive
from protolearn.core.types import Indices
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed, optional
from protolearn.dissimilarities._sequences import Sequences, code_points

__all__ = ["Alignment", "alignment"]


def alignment(
    X: Any,
    Y: Any = None,
    *,
    matrix: Any = "BLOSUM62",
    gap_open: float = 11.0,
    gap_extend: float = 1.0,
    mode: str = "global",
    normalize: bool = True,
    n_jobs: int | None = None,
) -> Floats:
    """Dissimilarities of biological sequences from the scores of their best alignments.

    With the score ``s_ij`` of two sequences, and ``s_ii`` of a sequence with itself,
    ``1 - s_ij / sqrt(s_ii s_jj)``, or ``s_ii + s_jj - 2 s_ij`` if not normalized. The latter is meant as a square; maps
    take it as such with ``squared=True``.

    Parameters
    ----------
    X : list of str
        Sequences in the letters of the matrix.
    Y : list of str, optional
        Sequences to compare with; by default those of ``X`` with each other.
    matrix : str or Biopython matrix, default="BLOSUM62"
        Scores of substitutions: the name of a matrix of Biopython, such as ``"PAM250"``, ``"BLOSUM45"`` or, for DNA,
        ``"NUC.4.4"``; or an array with letters of ``Bio.Align.substitution_matrices``.
    gap_open : float, default=11.0
        Penalty of the first letter of a gap.
    gap_extend : float, default=1.0
        Penalty of each further letter of a gap.
    mode : {"global", "local"}, default="global"
        Align whole sequences (Needleman-Wunsch), or find the parts that fit best (Smith-Waterman).
    normalize : bool, default=True
        Measure scores relative to those of the sequences with themselves.
    n_jobs : int, optional
        Number of threads; by default as many as the matrix library may use.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities; what is below zero, which strange matrices can bring about, is set to zero.

    Notes
    -----
    Matrices come from Biopython: ``pip install 'protolearn[strings]'``.

    References
    ----------
    Gotoh, O. (1982). An improved algorithm for matching biological sequences. Journal of Molecular Biology 162,
    705-708.

    Examples
    --------
    >>> from protolearn.dissimilarities import alignment
    >>> alignment(["VLSPADKTNV", "VLSAADKTNV", "GLSDGEWQLV"]).round(2)
    array([[0.  , 0.14, 0.94],
           [0.14, 0.  , 0.96],
           [0.94, 0.96, 0.  ]])
    """
    return all_pairs(Alignment(matrix, gap_open, gap_extend, mode, normalize), X, Y, n_jobs=n_jobs)


@dataclass(frozen=True)
class Scored:
    """Sequences of codes, with the scores of their alignments with themselves."""

    sequences: Sequences
    own: Floats

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, rows: Any) -> Scored:
        return Scored(self.sequences[rows], self.own[rows])


@constrained(gap_open=positive, mode=option("global", "local"))
@dataclass(eq=False)
class Alignment(Measure):
    """Dissimilarity from the score of the best alignment."""

    name = "alignment"
    matrix: Any = "BLOSUM62"
    gap_open: float = 11.0
    gap_extend: float = 1.0
    mode: str = "global"
    normalize: bool = True
    letters: str = field(default="", init=False, repr=False)
    scores: Floats = field(default_factory=lambda: np.empty((0, 1)), init=False, repr=False)

    def __post_init__(self) -> None:
        number(0, self.gap_open).check("gap_extend", self.gap_extend, "; extending costs no more")
        matrix = _load(self.matrix) if isinstance(self.matrix, str) else self.matrix
        self.letters = "".join(matrix.alphabet)
        values = np.asarray(matrix, dtype=np.float64)
        if not np.array_equal(values, values.T):
            raise ValueError("matrix must be symmetric; take the mean of it and its transpose.")
        self.scores = np.column_stack([values, np.full(len(values), -1e9)])

    def encode(self, objects: Any, name: str = "X") -> Scored:
        """Return sequences as places in the alphabet, and align each with itself."""
        texts = [_text(one, f"{name}[{i}]") for i, one in enumerate(listed(objects, name))]
        points = code_points(texts)
        codes = self._places()[np.minimum(points.values.astype(np.int64), 256)]
        if (codes < 0).any():
            place = int((codes < 0).argmax())
            holder = int(np.searchsorted(points.starts, place, side="right")) - 1
            raise ValueError(
                f"{name}[{holder}] contains {chr(int(points.values[place]))!r}, which is not among the letters "
                f"{self.letters!r} of the matrix."
            )
        sequences = Sequences(codes, points.starts, points.lengths)
        own = self._own_scores(sequences)
        if self.normalize and (own <= 0).any():
            raise ValueError(
                f"{name}[{(own <= 0).argmax()}] has the score {own[own <= 0][0]:g} with itself, which nothing can be "
                "relative to; drop it, or set normalize=False."
            )
        return Scored(sequences, own)

    def block(self, a: Scored, b: Scored, n_threads: int = 1) -> Floats:
        """Return dissimilarities from scores."""
        scores = self._scores(a.sequences, b.sequences)
        if self.normalize:
            result = 1.0 - scores / np.sqrt(np.multiply.outer(a.own, b.own))
        else:
            result = np.add.outer(a.own, b.own) - 2.0 * scores
        return np.maximum(result, 0.0, out=result)

    def _own_scores(self, sequences: Sequences) -> Floats:
        """Align each sequence with itself: letter by letter, where no letter fits another better than itself."""
        fit, best = self.scores.diagonal(), self.scores.max(axis=1)
        holder = np.repeat(np.arange(len(sequences)), sequences.lengths)
        own = np.bincount(holder, fit[sequences.values], minlength=len(sequences)).astype(np.float64)
        for i in np.unique(holder[(fit < np.maximum(best, 0.0))[sequences.values]]):
            own[i] = self._scores(sequences[[i]], sequences[[i]])[0, 0]
        return own

    def _scores(self, a: Sequences, b: Sequences) -> Floats:
        from protolearn.dissimilarities._kernels import alignment_block

        result = np.empty((len(a), len(b)))
        order = np.argsort(b.lengths, kind="stable")
        gaps = float(self.gap_open), float(self.gap_extend)
        alignment_block(*a.parts, *b.parts, order, self.scores, *gaps, self.mode == "local", result)
        return result

    def _places(self) -> Indices:
        """Return the place of each character in the alphabet, -1 for those that are not in it."""
        places = np.full(257, -1, dtype=np.int64)
        places[list(self.letters.encode("latin-1"))] = np.arange(len(self.letters))
        return places


def _load(name: str) -> Any:
    matrices = optional("Bio.Align.substitution_matrices", "strings", "alignment")
    option(*matrices.load()).check("matrix", name, " or a matrix of Biopython")
    return matrices.load(name)


def _text(one: Any, name: str) -> str:
    if not isinstance(one, str | bytes):
        raise ValueError(f"{name} must be a str, got {type(one).__name__}.")
    return one if isinstance(one, str) else one.decode("latin-1")
