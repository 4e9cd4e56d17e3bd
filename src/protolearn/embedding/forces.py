"""Forces on the points of a view: the divergence between the affinities of view and data, and its gradient."""

from __future__ import annotations

from typing import Any, Protocol

from protolearn.core.threads import Threads
from protolearn.core.types import Floats
from protolearn.embedding._exact import Exact, Gradient
from protolearn.embedding._fast import Fast
from protolearn.embedding.affinities import Kernel
from protolearn.embedding.divergences import Divergence

__all__ = [
    "Exact",
    "Fast",
    "Forces",
    "Gradient",
    "MakesForces",
]


class Forces(Protocol):
    """Interface of the forces that `SNE` and `TSNE` use: `Exact`, `Fast`, or your own, given as ``method``.

    Examples
    --------
    A view whose points are also attracted to given positions, here one for each class:

    >>> import numpy as np
    >>> from protolearn import TSNE
    >>> from protolearn.embedding.forces import Fast
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> places = 10.0 * np.array([[0.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[y]
    >>> class Anchored(Fast):
    ...     def step(self, points, *stage):
    ...         step = super().step(points, *stage)
    ...         return step._replace(gradient=step.gradient + 0.01 * step.mass / len(points) * (points - places))
    >>> view = TSNE(method=Anchored, random_state=0).fit_transform(X)
    >>> bool(view[y == 0, 1].mean() > 0 and view[y == 1, 0].mean() < view[y == 2, 0].mean())
    True
    """

    def step(
        self, points: Floats, divergence: Divergence, exaggeration: float = 1.0, mass: float | None = None
    ) -> Gradient:
        """Return the gradient of the divergence at points (n, d), with exaggerated attraction between neighbors.

        Affinities of the view are the kernel divided by its sum, or by ``mass`` if given.
        """

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence at points (n, d)."""


class MakesForces(Protocol):
    """Function or class, such as `Fast`, that creates `Forces` from the affinities of data.

    Examples
    --------
    Exact forces, also for many samples:

    >>> from protolearn import TSNE
    >>> from protolearn.embedding.forces import Exact
    >>> def exact(affinities, kernel, symmetric, threads):
    ...     return Exact(affinities.toarray(), kernel, symmetric)
    >>> view = TSNE(method=exact)
    """

    def __call__(self, affinities: Any, kernel: Kernel, symmetric: bool, threads: Threads, /) -> Forces:
        """Return the forces.

        Parameters
        ----------
        affinities : csr_array of shape (n, n)
            Affinities of the data, with a zero diagonal; all of them sum to 1 if symmetric, otherwise each row does.
        kernel : Kernel
            Kernel of the affinities in the view.
        symmetric : bool
            Whether affinities are joint (normalized over all pairs) or conditional (over each row).
        threads : Threads
            Threads that loops over points may use.
        """
