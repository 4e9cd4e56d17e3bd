"""The part of a page that is about a view."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["view_part"]


def view_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return positions of the samples."""
    positions = np.asarray(last.embedding_, np.float64)[:, :2]
    n_samples = len(positions)
    return {
        "kind": "view",
        "subtitle": f"{type(last).__name__} of {n_samples:,} samples.",
        "view": {"positions": positions},
    }
