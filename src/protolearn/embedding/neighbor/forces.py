"""What moves the points of a view: the divergence of its affinities from those of the data, and the gradient."""

from __future__ import annotations

from typing import Any, Protocol

from protolearn.core.threads import Threads
from protolearn.core.types import Floats
from protolearn.embedding.divergences import Divergence
from protolearn.embedding.neighbor._exact import Exact, Step
from protolearn.embedding.neighbor._fast import Fast
from protolearn.embedding.neighbor.view import Kernel

__all__ = ["Exact", "Fast", "Forces", "MakesForces", "Step"]


class Forces(Protocol):
    """What `SNE` and `TSNE` ask of forces, those of their own (`Exact`, `Fast`) and others, given as ``method``.

    Examples
    --------
    A view whose points are also drawn to a place of their own, such as that on a map, with a part of the force:

    >>> import numpy as np
    >>> from protolearn import TSNE
    >>> from protolearn.embedding.neighbor.forces import Fast
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
    ) -> Step:
        """Return the gradient of the divergence at points (n, d), with the pull between neighbors exaggerated.

        Affinities of the view are the kernel over its sum, or over a mass that is given.
        """

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence at points (n, d)."""


class MakesForces(Protocol):
    """A function, or a class such as `Fast`, that makes `Forces` of the affinities of data.

    Examples
    --------
    Exact forces, also for many samples:

    >>> from protolearn import TSNE
    >>> from protolearn.embedding.neighbor.forces import Exact
    >>> def exact(affinities, kernel, symmetric, threads):
    ...     return Exact(affinities.toarray(), kernel, symmetric)
    >>> view = TSNE(method=exact)
    """

    def __call__(self, affinities: Any, kernel: Kernel, symmetric: bool, threads: Threads, /) -> Forces:
        """Return the forces.

        Parameters
        ----------
        affinities : csr_array of shape (n, n)
            Affinities of the data, with a zero diagonal; the sum of all is 1 if symmetric, else that of each row.
        kernel : Kernel
            Kernel of the affinities in the view.
        symmetric : bool
            How affinities are normalized.
        threads : Threads
            What loops over points may be spread over.
        """
