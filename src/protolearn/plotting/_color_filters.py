"""Plots of classifiers of color textures: color filters, prototypes and their power spectra, for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from scipy.fft import fftshift

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Array, Floats
from protolearn.lvq import CIALVQ
from protolearn.plotting._inputs import fitted_model
from protolearn.plotting.style import INK

__all__ = ["plot_color_filters"]


@constrained(n_prototypes=integer(1))
def plot_color_filters(model: Any, *, n_prototypes: int = 4, cmap: str = "magma", ax: Any = None) -> Array:
    """Show the color filters of a texture classifier, and its prototypes with their power spectra.

    Each class has a row: first its color filter in the spatial domain (the real part of complex filters), where gray
    means zero weight; then its prototypes as patches, unless filters were learned; then the power spectra of the same
    prototypes, with frequency zero in the center.

    Parameters
    ----------
    model : CIALVQ
        Fitted CIALVQ, or a Pipeline that ends in one. Of the channels of a patch, the first three are shown as colors;
        with fewer than three channels, only the first is shown.
    n_prototypes : int, default=4
        Maximum number of prototypes to show for each class.
    cmap : str, default="magma"
        Name of a Matplotlib colormap for the power spectra.
    ax : array of Axes, optional
        Axes to draw into, of shape (n_classes, n_panels); a new figure by default.

    Returns
    -------
    ndarray of Axes, of shape (n_classes, n_panels)
        Axes with the plots.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, figure 5.5.

    Examples
    --------
    >>> from protolearn import CIALVQ
    >>> from protolearn.datasets import cut_image_patches, make_color_textures
    >>> from protolearn.plotting import plot_color_filters
    >>> X, y, _ = cut_image_patches(*make_color_textures(1, random_state=0), 20, size=9, random_state=0)
    >>> axes = plot_color_filters(CIALVQ(2, max_iter=5, random_state=0).fit(X, y))
    >>> axes.shape
    (5, 5)
    """
    model = fitted_model(model)
    if not isinstance(model, CIALVQ):
        raise ValueError(f"plot_color_filters shows a fitted CIALVQ, not a {type(model).__name__}.")
    slots = model.prototype_maps_
    members = [np.flatnonzero(model.prototype_labels_ == name)[:n_prototypes] for name in model.classes_]
    widest = max(map(len, members))
    patches = None if model.learn_filters else model.prototype_patches_
    n_kinds = 1 if patches is None else 2
    shape = (len(members), 1 + n_kinds * widest)
    if ax is None:
        size = (0.95 * shape[1] + 0.6, 1.0 * shape[0] + 0.35)
        axes = plt.subplots(*shape, figsize=size, squeeze=False, layout="constrained")[1]
    else:
        axes = np.asarray(ax, dtype=object)
        if axes.shape != shape:
            raise ValueError(f"ax has shape {axes.shape}, but there are {shape[0]} rows of {shape[1]} panels to draw.")
    filters = np.real(model.color_filters_)
    powers = fftshift(np.log1p(_relative(model.prototype_powers_)), axes=(1, 2))
    for row, mine, name in zip(axes, members, model.classes_):
        for panel in row:
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
        row[0].imshow(_picture(filters[slots[mine[0]]], center=0.0))
        row[0].set_ylabel(str(name), color=INK)
        for place, prototype in enumerate(mine):
            if patches is not None:
                row[1 + place].imshow(_picture(patches[prototype]))
            row[1 + (n_kinds - 1) * widest + place].imshow(powers[prototype], cmap=cmap)
    axes[0, 0].set_title("filter", color=INK, fontsize="small")
    if patches is not None:
        axes[0, 1].set_title("prototypes", color=INK, fontsize="small", loc="left")
    axes[0, 1 + (n_kinds - 1) * widest].set_title("their powers", color=INK, fontsize="small", loc="left")
    return axes


def _relative(powers: Floats) -> Floats:
    """Return powers in units of the typical one of each prototype."""
    typical = np.median(powers, axis=(1, 2), keepdims=True)
    return powers / np.where(typical > 0, typical, 1.0)


def _picture(values: Floats, center: float | None = None) -> Floats:
    """Return a patch with values in [0, 1] and three channels; around a center, which becomes gray, or stretched."""
    channels = values[..., :3] if values.shape[-1] >= 3 else np.repeat(values[..., :1], 3, axis=2)
    if center is None:
        low, high = channels.min(), channels.max()
    else:
        reach = np.abs(channels - center).max()
        low, high = center - reach, center + reach
    return np.clip((channels - low) / ((high - low) or 1.0), 0.0, 1.0)
