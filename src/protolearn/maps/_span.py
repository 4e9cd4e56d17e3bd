"""Coordinates for maps with shapes that have more features than samples: those of the space in which samples differ.

Outside of that space, the *span*, all prototypes are at the same place, and what they know of their variance there is
the same in all directions. So one more coordinate stands for all of these, in which samples are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from protolearn.core.numerics import row_space
from protolearn.core.samples import Samples
from protolearn.core.shapes import Shapes
from protolearn.core.types import Array, Floats

__all__ = ["RowSpace"]


@dataclass(frozen=True)
class RowSpace:
    """Coordinates ``((x - center) scale) axes`` of samples, and a zero.

    Parameters
    ----------
    single : array of shape (m, d)
        The samples, as they are, that have a weight and stand for themselves only.
    center : array of shape (d,)
        Where coordinates are measured from.
    scale, balance : array of shape (d,)
        Factor on every feature; and that with which those that vary have equal variances.
    axes : array of shape (d, r)
        Orthonormal directions.
    """

    single: Array
    center: Floats
    scale: Floats
    balance: Floats
    axes: Floats

    @classmethod
    def of(cls, patch: Samples, scale: Floats, balance: Floats, past: Any, init: Any) -> RowSpace | None:
        """Return the span of samples, prototypes (so far, or to start from) and spreads; None if it is all."""
        center = patch.X.mean(axis=0, dtype=np.float64)
        points = [patch.X]
        axes = []
        if past is not None:
            points.append(past.positions)
            axes.append(past.shapes.axes[0])  # those of the others span the same space
        if not isinstance(init, str):
            points.append(np.asarray(init))
        if patch.spreads is not None:
            axes.append(patch.spreads.axes * scale)
        d = len(center)
        rows = [(part - center) * scale for part in points]
        size = max(np.abs(part).max() for part in rows) or 1.0
        rows += [size * part.reshape(-1, d) for part in axes]
        if sum(map(len, rows)) >= d:
            return None
        basis = row_space(np.concatenate(rows))
        basis = np.eye(d, 1) if basis is None else basis  # of samples that are all the same
        n_single = len(patch.X) - (0 if patch.spreads is None else len(patch.spreads))
        single = patch.X[:n_single][patch.weights[:n_single] > 0]
        return cls(single, center, scale, balance, basis)

    @property
    def n_hidden(self) -> int:
        """Number of directions outside of the span."""
        d, r = self.axes.shape
        return d - r

    def enter(self, X: Array) -> Floats:
        """Return points (n, d) in these coordinates (n, r + 1)."""
        return _with_zero((X - self.center) * self.scale @ self.axes)

    def leave(self, points: Floats) -> Floats:
        """Return points (n, r + 1) as features (n, d)."""
        return points[:, :-1] @ self.axes.T / self.scale + self.center

    def enter_samples(self, patch: Samples) -> Samples:
        """Return samples in these coordinates."""
        spreads = patch.spreads
        if spreads is not None:
            spreads = replace(spreads, axes=_with_zero(spreads.axes * self.scale @ self.axes))
        return replace(patch, X=self.enter(patch.X), spreads=spreads)

    def enter_model(self, model: Any) -> Any:
        """Return prototypes so far in these coordinates."""
        shapes = model.shapes
        k, q, _ = shapes.axes.shape
        inside = shapes.axes @ self.axes
        new = np.linalg.qr(inside[0].T, mode="complete")[0][:, q:].T  # directions that earlier samples did not have
        axes = np.concatenate([inside, np.tile(new, (k, 1, 1))], axis=1)
        variances = np.column_stack([shapes.variances, np.repeat(shapes.rest[:, None], len(new), axis=1)])
        shapes = Shapes(_with_zero(axes), variances, shapes.rest, shapes.swap_condition, self.n_hidden - 1)
        scale = np.ones(self.axes.shape[1] + 1)
        centers = self.enter(model.centers)
        return replace(model, positions=self.enter(model.positions), centers=centers, shapes=shapes, scale=scale)

    def leave_model(self, model: Any) -> Any:
        """Return what was learned in these coordinates as prototypes among features."""
        shapes = model.shapes
        shapes = Shapes(shapes.axes[:, :, :-1] @ self.axes.T, shapes.variances, shapes.rest, shapes.swap_condition)
        positions, centers = (
            self.leave(points).astype(self.single.dtype) for points in (model.positions, model.centers)
        )
        return replace(model, positions=positions, centers=centers, shapes=shapes, scale=self.scale)

    def euclidean(self) -> tuple[Floats, Floats]:
        """Return variances (r,) and axes (r, r + 1) of the shape that measures features as they are."""
        values, vectors = np.linalg.eigh((self.axes / (self.scale**2)[:, None]).T @ self.axes)
        return 1.0 / values, _with_zero(vectors.T)


def _with_zero(rows: Floats) -> Floats:
    """Append a coordinate that is zero to rows (..., r)."""
    return np.concatenate([rows, np.zeros((*rows.shape[:-1], 1))], axis=-1)
