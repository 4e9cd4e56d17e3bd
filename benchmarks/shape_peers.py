"""Who is compared on maps with a shape: functions ``fit(X, task) -> (mixture, epochs done)``.

A mixture has a row (weight, mean, covariance) for each prototype. For the task ``density`` a fit returns the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.maps import chunks
from benchmarks.registry import FLOOR, OURS, competitor
from benchmarks.shapes import ShapeTask

__all__: list[str] = []

Fitted = tuple[np.ndarray | None, int]

RANGES, RATES, VARIANCE = (2.0, 0.002), (0.5, 0.0002), 0.1  # Möller and Hoffmann 2004, sec. 4.2
NEGLIGIBLE = 1e-14  # units that learn at a smaller rate are left alone


@competitor(OURS, "matrix", package="protolearn", environment="own", threads=(1, 2))
@competitor(OURS, "matrix-scaling", package="protolearn", environment="own")
def our_matrix_neural_gas(X: np.ndarray, task: ShapeTask) -> Fitted:
    from protolearn import MatrixNeuralGas

    model = MatrixNeuralGas(
        task.n_prototypes, normalization="logdet", regularization="floor", init=task.init, max_iter=task.epochs
    )
    model.fit(X)
    return _mixture(model.weights_, model.prototypes_, model.covariances_), model.n_iter_


@competitor(f"{OURS} (MixturePPCA)", "matrix", package="protolearn", environment="own", threads=(1, 2))
def our_mixture(X: np.ndarray, task: ShapeTask) -> Fitted:
    model = our_density(X, task)
    return _mixture(model.weights_, model.prototypes_, model.covariances_), model.n_iter_


@competitor("scikit-learn (GaussianMixture)", "matrix", package="scikit-learn", environment="own", threads=(1, 2))
def sklearn_mixture(X: np.ndarray, task: ShapeTask) -> Fitted:
    model = sklearn_density(X, task)
    return _mixture(model.weights_, model.means_, model.covariances_), model.n_iter_


@competitor(OURS, "density", package="protolearn", environment="own", threads=(1, 2))
def our_density(X: np.ndarray, task: ShapeTask) -> Any:
    # With all directions it is the mixture of scikit-learn, fitted by the same steps.
    from protolearn import MixturePPCA

    return MixturePPCA(task.n_prototypes, task.n_components, init=task.init, max_iter=task.epochs, tol=0).fit(X)


@competitor("scikit-learn (GaussianMixture)", "density", package="scikit-learn", environment="own", threads=(1, 2))
def sklearn_density(X: np.ndarray, task: ShapeTask) -> Any:
    # Our start: equal weights, and balls with the variance of the samples, which is 1.
    from sklearn.mixture import GaussianMixture

    k, d = task.init.shape
    start = {
        "means_init": task.init,
        "weights_init": np.full(k, 1 / k),
        "precisions_init": np.tile(np.eye(d), (k, 1, 1)),
    }
    return GaussianMixture(k, covariance_type="full", tol=0, max_iter=task.epochs, **start).fit(X)


@competitor(OURS, "ngpca", package="protolearn", environment="own")
def our_online_ngpca(X: np.ndarray, task: ShapeTask) -> Fitted:
    from protolearn import NGPCA

    model = NGPCA(
        task.n_prototypes,
        task.n_components,
        n_steps=task.epochs,
        init=task.init,
        range_start=RANGES[0],
        range_end=RANGES[1],
        learning_rate_start=RATES[0],
        learning_rate_end=RATES[1],
        variance_start=VARIANCE,
        random_state=0,
    ).fit(X)
    return _mixture(model.weights_, model.prototypes_, model.covariances_), model.n_steps_


@competitor("NumPy, all units at once", "ngpca", package="numpy", environment="own")
def numpy_ngpca(X: np.ndarray, task: ShapeTask) -> Fitted:
    # The same rule, as one would write it: centers C (k, d), axes W (k, m, d), variances L (k, m), of the rest S (k,).
    rng = np.random.default_rng(0)
    k, m, d = task.n_prototypes, task.n_components, X.shape[1]
    C = task.init.copy()
    W = np.swapaxes(np.linalg.qr(rng.standard_normal((k, d, m)))[0], 1, 2)
    L, S = np.full((k, m), VARIANCE), np.full(k, VARIANCE)

    def look(x: np.ndarray) -> tuple[np.ndarray, ...]:
        gaps = x - C
        Y = (W @ gaps[:, :, None])[:, :, 0]
        rests = np.maximum((gaps**2).sum(axis=1) - (Y**2).sum(axis=1), 0)
        distances = (Y**2 / L + np.log(L)).sum(axis=1) + (d - m) * (rests / S + np.log(S / (d - m)))  # eq. 3
        return gaps, Y, rests, distances

    for step, sample in enumerate(rng.integers(len(X), size=task.epochs)):
        range_, rate = (start * (end / start) ** (step / task.epochs) for start, end in (RANGES, RATES))
        gaps, Y, rests, distances = look(X[sample])
        rates = rate * np.exp(-np.argsort(np.argsort(distances)) / range_)
        on = np.flatnonzero(rates >= NEGLIGIBLE)
        a, y, gap = rates[on, None], Y[on], gaps[on]
        C[on] += a * gap  # eq. 2
        S[on] += rates[on] * (rests[on] - S[on])  # eq. 5
        parts = y[:, :, None] * W[on]
        left = gap[:, None] - parts.cumsum(axis=1) + parts
        V = ((1 - a) * L[on])[:, :, None] * W[on] + (a * y)[:, :, None] * left  # eqs. A.1 and A.2
        L[on] = np.linalg.norm(V, axis=2)  # eq. A.3
        Q, R = np.linalg.qr(np.swapaxes(V, 1, 2))
        W[on] = np.swapaxes(Q, 1, 2) * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, :, None]

    winners = [look(x)[-1].argmin() for x in X]
    rest = (S / (d - m))[:, None, None]
    covariances = np.swapaxes(W, 1, 2) @ ((L[:, :, None] - rest) * W) + rest * np.eye(d)
    return _mixture(np.bincount(winners, minlength=k) / len(X), C, covariances), task.epochs


@competitor(OURS, "ngpca-batch", package="protolearn", environment="own", threads=(1, 2))
def our_batch_ngpca(X: np.ndarray, task: ShapeTask) -> Fitted:
    from protolearn import NGPCA

    model = NGPCA(
        task.n_prototypes, task.n_components, algorithm="batch", init=task.init, max_iter=task.epochs, random_state=0
    )
    return None, model.fit(X).n_iter_


@competitor(FLOOR, "ngpca-batch", package="numpy", environment="own", threads=(1, 2))
def subspace_products(X: np.ndarray, task: ShapeTask) -> Fitted:
    directions = np.ones((X.shape[1], task.n_prototypes * task.n_components), X.dtype)
    for _ in range(task.epochs):
        for rows in chunks(len(X)):
            X[rows] @ directions
    return None, task.epochs


def _mixture(weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    return np.column_stack([weights, means, covariances.reshape(len(means), -1)])
