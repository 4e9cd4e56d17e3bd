"""The state that a callback receives after every iteration of an embedding."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from protolearn.core.types import Floats

__all__ = [
    "ViewCallback",
    "ViewState",
]


class ViewState:
    """State passed to the ``callback`` of `SNE` and `TSNE` after an iteration.

    Parameters
    ----------
    iteration : int
        Number of the iteration, counted from 1, including iterations before a warm start.
    exaggeration : float
        Factor of the attraction between neighbors in this iteration.
    points : ndarray of shape (n_samples, n_components)
        Current positions, which later iterations change in place.
    value : callable
        Function that returns the divergence at these positions.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        A copy of the positions after this iteration.
    divergence : float
        Divergence of the view from the data, without exaggeration. It is computed on access, which takes about as long
        as an iteration.

    Examples
    --------
    >>> from protolearn import TSNE
    >>> from sklearn.datasets import load_iris
    >>> film = []
    >>> def follow(state):
    ...     if state.iteration % 100 == 0:
    ...         film.append(state.embedding)
    ...     return state.iteration == 300
    >>> view = TSNE(perplexity=20, callback=follow, random_state=0).fit(load_iris().data)
    >>> len(film), view.n_iter_
    (3, 300)
    """

    def __init__(self, iteration: int, exaggeration: float, points: Floats, value: Callable[[], float]) -> None:
        self.iteration = iteration
        self.exaggeration = exaggeration
        self._points = points
        self._value = value

    def __repr__(self) -> str:
        return f"ViewState(iteration={self.iteration}, exaggeration={self.exaggeration:g})"

    @cached_property
    def embedding(self) -> Floats:
        """Copy of the positions after this iteration."""
        return self._points.copy()

    @cached_property
    def divergence(self) -> float:
        """Divergence of the view from the data."""
        return self._value()


ViewCallback = Callable[[ViewState], bool | None]
