"""Kernels of neighbor embeddings: the affinity of two points of a view as a function of their squared distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

__all__ = ["GaussianKernel", "Kernel", "StudentKernel"]


@dataclass(frozen=True)
class GaussianKernel:
    """Gaussian kernel of SNE, :math:`w(r) = e^{-r}` of the squared distance r.

    Examples
    --------
    >>> float(GaussianKernel().weights(0.0))
    1.0
    """

    longest_step: ClassVar[float] = 1.0  # that a point may make: more would take it out of reach of its neighbors

    def weights(self, squares: Any) -> Any:
        """Return w(r)."""
        return np.exp(-squares)

    def decay(self, squares: Any) -> Any:
        r"""Return the rate :math:`-\mathrm{d} \log w / \mathrm{d} r`."""
        return np.ones_like(squares)

    def power(self, exponent: float) -> tuple[str, float, float, float]:
        """Return :math:`w(r)^c` times the decay for compiled loops, by a form, its factor, scale and exponent."""
        return "exponential", 1.0, 1.0, -exponent

    def width(self, exponent: float) -> float:
        """Return the length scale of :math:`w^c` with the exponent c."""
        return 1.0 / np.sqrt(max(abs(exponent), 1.0))


@dataclass(frozen=True)
class StudentKernel:
    r"""Student kernel of t-SNE, :math:`w(r) = (1 + r / \nu)^{-(\nu + 1) / 2}` of the squared distance r.

    Parameters
    ----------
    dof : float
        Degrees of freedom :math:`\nu`: the fewer, the heavier the tail, and the farther apart neighbors may lie.

    Examples
    --------
    >>> float(StudentKernel().weights(1.0))
    0.5
    """

    dof: float = 1.0
    longest_step: ClassVar[float] = 5.0

    def weights(self, squares: Any) -> Any:
        """Return w(r)."""
        base = 1.0 + squares / self.dof
        return 1.0 / base if self.dof == 1.0 else base ** (-0.5 * (self.dof + 1.0))

    def decay(self, squares: Any) -> Any:
        r"""Return the rate :math:`-\mathrm{d} \log w / \mathrm{d} r`."""
        return 0.5 * (self.dof + 1.0) / (self.dof + squares)

    def power(self, exponent: float) -> tuple[str, float, float, float]:
        """Return :math:`w(r)^c` times the decay for compiled loops, by a form, its factor, scale and exponent."""
        return "power", 0.5 * (self.dof + 1.0) / self.dof, 1.0 / self.dof, -0.5 * exponent * (self.dof + 1.0) - 1.0

    def width(self, exponent: float) -> float:
        """Return the length scale of :math:`w^c` with the exponent c."""
        # By curvature the power of the exponent would be 0.5; errors of a grid, in units of the push, fall with it.
        return float(np.sqrt(self.dof) * max(0.5 * abs(exponent) * (self.dof + 1.0), 1.0) ** -0.375)


#: A kernel of the distance in a view.
Kernel = GaussianKernel | StudentKernel
