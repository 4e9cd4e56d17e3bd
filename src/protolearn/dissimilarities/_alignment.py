"""Dissimilarities of proteins and other biological sequences, computed from alignment scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, number, option, positive
from protolearn.core.types import Indices
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed, optional
from protolearn.dissimilarities._strings import Sequences, code_points

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
    r"""Return dissimilarities of biological sequences, computed from the scores of their optimal alignments.

    The dissimilarity is :math:`1 - s_{ij} / \sqrt{s_{ii} s_{jj}}`, where :math:`s_{ij}` is the score of two sequences
    and :math:`s_{ii}` the score of a sequence with itself, or :math:`s_{ii} + s_{jj} - 2 s_{ij}` if not normalized. The
    latter is a squared dissimilarity; use ``squared=True`` in relational maps.

    Parameters
    ----------
    X : list of str
        Sequences over the alphabet of the matrix.
    Y : list of str, optional
        Sequences to compare with. By default, all pairs in ``X`` are compared.
    matrix : str or Biopython matrix, default="BLOSUM62"
        Substitution matrix: the name of a matrix in Biopython, such as ``"PAM250"``, ``"BLOSUM45"`` or, for DNA,
        ``"NUC.4.4"``; or an array of ``Bio.Align.substitution_matrices``.
    gap_open : float, default=11.0
        Penalty for the first letter of a gap.
    gap_extend : float, default=1.0
        Penalty for each further letter of a gap.
    mode : {"global", "local"}, default="global"
        Alignment of whole sequences (Needleman-Wunsch), or of the best matching parts (Smith-Waterman).
    normalize : bool, default=True
        Whether to normalize scores by the scores of the sequences with themselves.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities. Negative values, which unusual matrices can produce, are set to zero.

    Notes
    -----
    Named matrices need Biopython: ``pip install 'protolearn[strings]'``.

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
            raise ValueError("matrix must be symmetric; use the mean of the matrix and its transpose.")
        self.scores = np.column_stack([values, np.full(len(values), -1e9)])

    def encode(self, objects: Any, name: str = "X") -> Scored:
        """Return sequences as indices into the alphabet, and align each with itself."""
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
                f"{name}[{(own <= 0).argmax()}] has the score {own[own <= 0][0]:g} with itself, but normalization "
                "needs a positive score; remove the sequence, or set normalize=False."
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
