"""Divergences between distributions of affinities, with their derivatives.

Every divergence here has the form ``D(p || q) = outer(sum_k terms(p_k, q_k))`` with one or a few sums. Embeddings use
this form: where most ``p`` are zero, only few terms depend on ``p``, and the others are a function of ``q`` alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, instance, option
from protolearn.core.threads import CACHED, block_size, cut, row_blocks
from protolearn.embedding._divergence_families import (
    Alpha,
    Beta,
    Bregman,
    CauchySchwarz,
    Csiszar,
    Divergence,
    Eta,
    Floats,
    Gamma,
    GeneralizedKullbackLeibler,
    GeneralizedRenyi,
    Hellinger,
    ItakuraSaito,
    KullbackLeibler,
    NeRV,
    Pull,
    Renyi,
    ReverseGeneralizedKullbackLeibler,
    ReverseKullbackLeibler,
    Tsallis,
)

__all__ = [
    "DIVERGENCES",
    "Alpha",
    "Beta",
    "Bregman",
    "CauchySchwarz",
    "Csiszar",
    "Divergence",
    "Eta",
    "Gamma",
    "GeneralizedKullbackLeibler",
    "GeneralizedRenyi",
    "Hellinger",
    "ItakuraSaito",
    "KullbackLeibler",
    "NeRV",
    "Pull",
    "Renyi",
    "ReverseGeneralizedKullbackLeibler",
    "ReverseKullbackLeibler",
    "Tsallis",
    "check_divergence",
    "get_divergence",
    "pairwise_divergences",
]

#: Divergences by name: the class of each, which is used with its default parameter.
DIVERGENCES: dict[str, type[Divergence]] = {
    "kl": KullbackLeibler,
    "gkl": GeneralizedKullbackLeibler,
    "reverse_kl": ReverseKullbackLeibler,
    "nerv": NeRV,
    "is": ItakuraSaito,
    "eta": Eta,
    "beta": Beta,
    "alpha": Alpha,
    "renyi": Renyi,
    "generalized_renyi": GeneralizedRenyi,
    "tsallis": Tsallis,
    "hellinger": Hellinger,
    "gamma": Gamma,
    "cauchy_schwarz": CauchySchwarz,
}


N_THIRDS = 45  # by which the nearest point of a segment is found, to the digits that a flat minimum has


A_DIVERGENCE = option(*DIVERGENCES) | instance(Divergence, "an instance of a divergence")


@constrained(divergence=A_DIVERGENCE)
def get_divergence(divergence: str | Divergence) -> Divergence:
    """Return the divergence with a given name, or the given divergence itself.

    Parameters
    ----------
    divergence : str or Divergence
        Key of ``DIVERGENCES``, for a divergence with its default parameter, or an instance of any divergence.

    Returns
    -------
    Divergence
        The divergence.

    Examples
    --------
    >>> from protolearn.embedding.divergences import get_divergence
    >>> get_divergence("gamma")
    Gamma(gamma=0.5)
    """
    return DIVERGENCES[divergence]() if isinstance(divergence, str) else divergence


def pairwise_divergences(
    P: ArrayLike, Q: ArrayLike | None = None, divergence: str | Divergence = "kl", *, pseudocount: float = 0.0
) -> Floats:
    """Compute the divergences between rows, for maps and embeddings of precomputed dissimilarities.

    Parameters
    ----------
    P : array-like of shape (n, d)
        Histograms, spectra or other non-negative rows. For divergences of densities (``"kl"``, ``"reverse_kl"``,
        ``"nerv"``, ``"renyi"``, ``"tsallis"``) each must sum to one: divide counts by their sum, or use ``"gkl"``.
    Q : array-like of shape (m, d), optional
        Rows to compare with; by default the rows of ``P`` are compared with each other.
    divergence : str or Divergence, default="kl"
        Key of ``DIVERGENCES``, or an instance of a divergence.
    pseudocount : float, default=0.0
        Constant added to all entries, for divergences that are infinite if there are zeros.

    Returns
    -------
    ndarray of shape (n, m)
        Divergences ``D(P[i] || Q[j])``. The matrix is not symmetric unless the divergence is.

    Examples
    --------
    >>> from protolearn.embedding.divergences import pairwise_divergences
    >>> pairwise_divergences([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], divergence="hellinger").round(3)
    array([[0.   , 0.293, 1.   ],
           [0.293, 0.   , 0.293],
           [1.   , 0.293, 0.   ]])
    """
    form = get_divergence(divergence).limit()
    P = _rows("P", P)
    Q = P if Q is None else _rows("Q", Q)
    result = np.empty((len(P), len(Q)))
    if _mixes_by_product(form):
        for rows in row_blocks(len(P), 8 * len(Q), CACHED):
            result[rows] = form._between(P[rows], Q, pseudocount)
        return result
    n_pairs = block_size(8 * P.shape[1], CACHED)
    for columns in cut(len(Q), n_pairs):
        for rows in row_blocks(len(P), len(Q[columns]), n_pairs):
            result[rows, columns] = form.value(P[rows, None], Q[columns], pseudocount)
    return result


def check_divergence(divergence: str | Divergence, random_state: Any = None) -> dict[str, bool]:
    """Test the properties of a divergence on random positive arrays.

    A property reported as False was violated in some draw. A property reported as True held in all of 2000 draws, which
    is not a proof.

    Parameters
    ----------
    divergence : str or Divergence
        Key of ``DIVERGENCES``, or an instance of a divergence.
    random_state : int, RandomState or None, default=None
        Seed of the random draws.

    Returns
    -------
    dict
        Whether each property holds. ``positive``: never negative. ``positive_for_densities``: never negative for arrays
        that sum to one. ``symmetric``: ``D(p, q) = D(q, p)``. ``convex_in_p`` and ``convex_in_q``: convex in one
        argument. ``scale_invariant``: independent of factors of p and of q. ``three_point``:
        ``D(p, g) = D(p, q) + D(q, g) + <p - q, v>`` with a vector v that depends on q and g alone. ``pythagoras``:
        ``D(p, g) >= D(p, q) + D(q, g)`` for all p of a convex set whose element q is nearest to g, for arrays that sum
        to one; the test uses line segments. Bregman divergences have the last two properties, gamma divergences the
        last.

    References
    ----------
    Kumar, M. A., Sundaresan, R. (2015). Minimization problems based on relative alpha-entropy I: forward projection.
    IEEE Transactions on Information Theory 61, 5063-5080. (Pythagoras for gamma divergences)

    Examples
    --------
    >>> from protolearn.embedding.divergences import check_divergence
    >>> [name for name, holds in check_divergence("kl", random_state=0).items() if holds]
    ['positive_for_densities', 'convex_in_p', 'convex_in_q', 'three_point', 'pythagoras']
    """
    divergence = get_divergence(divergence)
    rng = check_random_state(random_state)
    p, q, other = rng.gamma(0.5, size=(3, 2000, 3)) + 1e-3
    a, b = rng.uniform(0.1, 10.0, size=(2, 2000, 1))
    value = divergence.value
    between = value(p, q)
    return {
        "positive": _at_most(0.0, between),
        "positive_for_densities": _at_most(0.0, value(*(x / x.sum(axis=1, keepdims=True) for x in (p, q)))),
        "symmetric": bool(np.allclose(between, value(q, p), rtol=1e-8, atol=1e-10)),
        "convex_in_p": _at_most(value((p + other) / 2.0, q), (between + value(other, q)) / 2.0),
        "convex_in_q": _at_most(value(p, (q + other) / 2.0), (between + value(p, other)) / 2.0),
        "scale_invariant": bool(np.allclose(between, value(a * p, b * q), rtol=1e-8, atol=1e-10)),
        "three_point": _has_three_points(divergence, p, q, other),
        "pythagoras": _has_pythagoras(
            divergence, *(x / x.sum(axis=1, keepdims=True) for x in 0.1 + np.array([p, q, other]))
        ),
    }


def _has_three_points(divergence: Divergence, p: Floats, q: Floats, g: Floats) -> bool:
    """Return whether the excess of D(p, g) over D(p, q) + D(q, g) is linear in p - q."""
    rest = divergence.value(q, g)

    def excess(p: Floats) -> Any:
        with np.errstate(invalid="ignore"):  # of two infinite values, which are not linear
            return divergence.value(p, g) - divergence.value(p, q) - rest

    slopes = np.stack([excess(q + unit) for unit in np.eye(q.shape[1])], axis=1)
    if not np.isfinite(slopes).all():
        return False
    terms = (p - q) * slopes
    # the excess has the rounding of what it is left over from
    size = np.abs(terms).sum(axis=1) + sum(np.abs(divergence.value(*pair)) for pair in ((p, g), (p, q), (q, g)))
    return bool((np.abs(excess(p) - terms.sum(axis=1)) <= 1e-10 + 1e-8 * size).all())


def _has_pythagoras(divergence: Divergence, p: Floats, other: Floats, g: Floats) -> bool:
    """Return whether the way from the end p of a segment to g by the point nearest to g is no longer than the other."""

    def point(t: Floats) -> Floats:
        return p + t * (other - p)

    low, high = np.zeros((len(p), 1)), np.ones((len(p), 1))
    for _ in range(N_THIRDS):  # of the segment, the worse of which is cut off
        first, second = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        rises = (divergence.value(point(first), g) < divergence.value(point(second), g))[:, None]
        low, high = np.where(rises, low, first), np.where(rises, second, high)
    nearest = point((low + high) / 2.0)
    way = divergence.value(p, nearest) + divergence.value(nearest, g)
    straight = divergence.value(p, g)
    return bool((way <= straight + 1e-6 * (1.0 + np.abs(straight))).all())


def _at_most(lower: Any, upper: Any) -> bool:
    return bool((lower <= upper + 1e-10 + 1e-8 * np.abs(upper)).all())


def _mixes_by_product(form: Divergence) -> bool:
    """Return whether sums over products of powers are all that p and q have in common, with no digits to cancel."""
    return form._scalable and form.pull is not None and form.pull.p_power > 0.0 and form.pull.q_power > 0.0


def _rows(name: str, array: ArrayLike) -> Floats:
    rows = np.asarray(array, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"{name} has shape {rows.shape}; give a table with one histogram or spectrum in each row.")
    return rows
