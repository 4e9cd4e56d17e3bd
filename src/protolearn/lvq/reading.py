"""What a fitted classifier says about single samples: which prototypes and features decided, and what would change it.

Arrays: X (n, N) samples, W (k, N) prototypes, classes (k,) their class codes, A (s, M, N) or (s, N) matrices, slots
(k,) matrix of each prototype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, nnls
from sklearn.pipeline import Pipeline

from protolearn.core.types import Array, Floats, Indices

__all__ = ["Counterfactuals", "Explanation", "prototypes_in_units"]


@dataclass(frozen=True)
class Explanation:
    """Why samples were classified as they were.

    Attributes
    ----------
    classes : ndarray of shape (n_samples,)
        Predicted class of each sample.
    rivals : ndarray of shape (n_samples,)
        Class of the nearest prototype of another class.
    prototypes, rival_prototypes : ndarray of shape (n_samples,)
        Index of the nearest prototype, and of the nearest one of another class.
    distances, rival_distances : ndarray of shape (n_samples,)
        Squared distances to these two.
    contributions : ndarray of shape (n_samples, n_features)
        What each feature adds to ``rival_distances - distances``: positive where it speaks for the predicted class. The
        contributions of a sample add up to that difference.
    feature_names : ndarray of shape (n_features,)
        Names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> iris = load_iris(as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> explanation = model.explain(iris.data[:1])
    >>> str(explanation.classes[0]), str(explanation.rivals[0])
    ('setosa', 'versicolor')
    """

    classes: Array
    rivals: Array
    prototypes: Indices
    rival_prototypes: Indices
    distances: Floats
    rival_distances: Floats
    contributions: Floats
    feature_names: Array

    def table(self, sample: int = 0, n_features: int = 10) -> str:
        """Return the reasons for one sample as text, the weightiest features first.

        Parameters
        ----------
        sample : int, default=0
            Number of the sample.
        n_features : int, default=10
            How many features to list.

        Returns
        -------
        text : str
            A few lines.
        """
        parts = self.contributions[sample]
        total = np.abs(parts).sum() or 1.0
        lines = [
            f"{self.classes[sample]}, because prototype {self.prototypes[sample]} is at {self.distances[sample]:.3g} "
            f"and the nearest of another class ({self.rivals[sample]}, prototype {self.rival_prototypes[sample]}) at "
            f"{self.rival_distances[sample]:.3g}."
        ]
        order = np.argsort(-np.abs(parts), kind="stable")[:n_features]
        width = max(len(str(self.feature_names[i])) for i in order)
        for i in order:
            side = "for" if parts[i] >= 0 else "against"
            lines.append(f"  {self.feature_names[i]!s:<{width}}  {100 * abs(parts[i]) / total:5.1f} % {side}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Counterfactuals:
    """The smallest changes that give samples another class.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features)
        The changed samples.
    changes : ndarray of shape (n_samples, n_features)
        What was added to each sample.
    classes : ndarray of shape (n_samples,)
        Class of each changed sample.
    distances : ndarray of shape (n_samples,)
        Squared length of each change in the learned metric; infinite where no change was found.
    """

    samples: Floats
    changes: Floats
    classes: Array
    distances: Floats


def prototypes_in_units(model: Any) -> Floats:
    """Return the prototypes of a fitted classifier, or of a pipeline that ends in one, in the units of the data.

    Parameters
    ----------
    model : classifier or Pipeline
        Fitted. All steps of a pipeline before the last must have ``inverse_transform``.

    Returns
    -------
    prototypes : ndarray of shape (k, n_features)
        The prototypes as if they were samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import GLVQ
    >>> from protolearn.lvq import prototypes_in_units
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), GLVQ()).fit(X, y)
    >>> prototypes_in_units(pipeline)[0].round()
    array([5., 3., 1., 0.])
    """
    if not isinstance(model, Pipeline):
        return model.prototypes_
    W = model[-1].prototypes_
    for name, step in reversed(model.steps[:-1]):
        if step in (None, "passthrough"):
            continue
        if not hasattr(step, "inverse_transform"):
            raise ValueError(
                f"Step {name!r} of the pipeline has no inverse_transform, so its units cannot be restored."
            )
        W = step.inverse_transform(W)
    return np.asarray(W)


def contributions(X: Floats, W: Floats, A: Floats, slots: Indices, winners: Indices) -> Floats:
    """Return what each feature adds to the distance of each sample from its prototype ``winners`` (n,)."""
    parts = np.empty(X.shape)
    for p in np.unique(winners):
        rows = winners == p
        F = np.nan_to_num(X[rows] - W[p])
        matrix = A[slots[p]]
        parts[rows] = F * (F @ matrix.T @ matrix if matrix.ndim == 2 else F * matrix**2)
    return parts


def smallest_change(
    x: Floats,
    W: Floats,
    classes: Indices,
    A: Floats,
    slots: Indices,
    predict: Callable[[Floats], int],
    target: int | None,
) -> tuple[Floats, float]:
    """Return the smallest change of a sample that gives it another class (or class ``target``), and its squared length.

    With one matrix this is exact: for each prototype of another class, the nearest point that is nearer to it than
    to all prototypes of the present class. With several, it solves the same problem for pairs of prototypes and
    keeps what `predict` confirms. Lengths are measured with the matrix of the present winner.
    """
    present = predict(x)
    factors = [np.diag(matrix) if matrix.ndim == 1 else matrix for matrix in A]
    offsets = W - x
    distances = np.array([((factors[slots[p]] @ offsets[p]) ** 2).sum() for p in range(len(W))])
    own = np.flatnonzero(classes == present)
    winner = int(own[distances[own].argmin()])
    others = np.flatnonzero(classes != present if target is None else classes == target)
    own = own if target is None else np.flatnonzero(classes != target)
    best, shortest = np.zeros_like(x), np.inf
    for rival in others:
        for extra in (1e-9, 1e-6, 1e-3):
            if len(A) == 1:
                change = _to_cell(offsets, distances, factors[0], own, int(rival), extra)
            else:
                change = _across_border(
                    offsets, factors[slots[winner]], factors[slots[rival]], winner, int(rival), extra
                )
                change = (
                    change
                    if _reaches(predict, x + change, present, target)
                    else _along(offsets[rival], x, predict, target)
                )
            length = float(((factors[slots[winner]] @ change) ** 2).sum())
            if _reaches(predict, x + change, present, target):
                if length < shortest:
                    best, shortest = change, length
                break
    return best, shortest


def _reaches(predict: Callable[[Floats], int], x: Floats, present: int, target: int | None) -> bool:
    reached = predict(x)
    return reached != present if target is None else reached == target


def _to_cell(offsets: Floats, distances: Floats, omega: Floats, own: Indices, rival: int, extra: float) -> Floats:
    """Return the smallest change after which a rival is nearer than all of ``own``.

    In the view, ``eta = Omega delta``, these are half-spaces ``2 (v_rival - v_j) eta >= d_rival - d_j``: the
    least-distance problem of Lawson and Hanson, whose dual is solved by non-negative least squares.
    """
    normals = 2.0 * (offsets[rival] - offsets[own]) @ omega.T
    needed = distances[rival] - distances[own] + extra * (distances[rival] + distances[own])
    system = np.vstack([normals.T, needed])
    scale = np.abs(system).max() or 1.0
    weights, _ = nnls(system / scale, np.append(np.zeros(len(omega)), 1.0 / scale))
    slack = 1.0 - needed @ weights
    if slack <= 0:
        return np.zeros(offsets.shape[1])
    return np.linalg.lstsq(omega, weights @ normals / slack, rcond=1e-10)[0]  # nothing in directions it does not see


def _across_border(offsets: Floats, mine: Floats, theirs: Floats, winner: int, rival: int, extra: float) -> Floats:
    """Return the smallest change that makes the distances to two prototypes with matrices of their own equal.

    Stationary points solve ``(S + nu (Lam_K - Lam_J)) delta = nu (Lam_K o_K - Lam_J o_J)`` with offsets ``o = w - x``;
    the multiplier nu is the root of the difference of the distances.
    """
    L_J, L_K = mine.T @ mine, theirs.T @ theirs
    S = L_J + 1e-6 * (np.trace(L_J) + np.trace(L_K)) / len(L_J) * np.eye(len(L_J))
    pull = L_K @ offsets[rival] - L_J @ offsets[winner]
    roots = np.linalg.inv(np.linalg.cholesky(S))
    values, vectors = np.linalg.eigh(roots @ (L_K - L_J) @ roots.T)
    basis = vectors.T @ roots
    along = basis @ pull

    def change(nu: float) -> Floats:
        return basis.T @ (nu * along / (1.0 + nu * values))

    def excess(nu: float) -> float:
        delta = change(nu)
        to_rival, to_winner = theirs @ (offsets[rival] - delta), mine @ (offsets[winner] - delta)
        return float((1.0 + extra) * (to_rival**2).sum() - (1.0 - extra) * (to_winner**2).sum())

    most = 0.999999 * (-1.0 / values[0]) if values[0] < 0 else 1e6
    return change(brentq(excess, 0.0, most)) if excess(0.0) > 0 > excess(most) else np.zeros(len(L_J))


def _along(offset: Floats, x: Floats, predict: Callable[[Floats], int], target: int | None) -> Floats:
    """Return the smallest part of the way to a prototype after which the class has changed."""
    present = predict(x)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        if _reaches(predict, x + middle * offset, present, target):
            high = middle
        else:
            low = middle
    return high * offset
