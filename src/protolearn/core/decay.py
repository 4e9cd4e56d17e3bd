"""Treatment of weights that decay to negligible values.

Below the smallest normal number, products are many times slower on some processors, and their contribution is
negligible compared to the largest weight, which is near one. All code that computes decaying weights uses these
functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn.core.types import Array, Floats

__all__ = ["decayed", "flushed"]


def flushed(weights: Array, dtype: Any = None) -> Array:
    """Set weights below the smallest normal number of a type, their own by default, to zero, in place; return them.

    Examples
    --------
    >>> flushed(np.array([1.0, 1e-30, 1e-40], np.float32))
    array([1.e+00, 1.e-30, 0.e+00], dtype=float32)
    """
    weights[weights < np.finfo(weights.dtype if dtype is None else dtype).tiny] = 0.0
    return weights


def decayed(logs: Floats, dtype: Any = np.float64) -> Array:
    """Return weights of a type by their logarithms, zero below its smallest normal number.

    Examples
    --------
    >>> decayed(np.array([0.0, -80.0, -95.0]), np.float32)
    array([1.0000000e+00, 1.8048513e-35, 0.0000000e+00], dtype=float32)
    """
    return flushed(np.exp(logs).astype(dtype, copy=False))
