"""The most informative plot of a fitted estimator that does not need samples, and its thumbnail for notebooks."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib import rc_context, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from protolearn.core.fitted import prototype_distances
from protolearn.core.lattices import from_distances
from protolearn.plotting._embedding import plot_embedding
from protolearn.plotting._features import class_codes, plot_graph, plot_prototypes
from protolearn.plotting._inputs import fitted_map, fitted_model
from protolearn.plotting._maps import plot_class_map, plot_u_matrix
from protolearn.plotting._objects import bare_plane, plot_prototype_view
from protolearn.plotting._relevances import columns_by_feature, plot_relevances
from protolearn.plotting._training import plot_learning_curve
from protolearn.plotting.style import INK, add_legend, class_colors, class_handles

__all__ = ["plot_model", "sketch"]

MOST_POINTS = 5000  # of a view that are drawn
MOST_PROTOTYPES = 1000  # whose distances are quickly scaled
MOST_RELEVANT = 10  # features that are shown by name
LONGEST = 24  # letters of a name
SIZE, DPI, COLORS = (3.6, 2.5), 144, 64  # of a sketch: inches, dots an inch, and different colors


def plot_model(model: Any, *, ax: Axes | None = None) -> Axes:
    """Show the most informative plot of a fitted estimator that does not need samples.

    - For an embedding: the positions, at most 5,000 of them.
    - For a map with a lattice: the class map if it has learned classes, otherwise the U-matrix.
    - For a classifier with relevances: the ten most relevant features.
    - For any other map: its prototypes with their graph; for any other classifier: its prototypes by class. Both are
      shown in the plane of two features or, if there are more, in the plane of classical scaling.
    - For all other estimators: the cost over the iterations.

    Parameters
    ----------
    model : fitted estimator
        Fitted map, classifier, transformer or embedding, or a Pipeline that ends in one.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    sketch : The same as a thumbnail, which notebooks show.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_model
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> plot_model(GMLVQ(random_state=0).fit(X, y)).get_xlabel()
    'relevance'
    """
    return _picture_of(model)[1](model, ax)


def sketch(model: Any) -> str:
    """Return the plot of `plot_model` as a thumbnail for HTML pages, on a white background.

    Parameters
    ----------
    model : fitted estimator
        Fitted map, classifier, transformer or embedding.

    Returns
    -------
    str
        An ``img`` element that contains the image and a description as alternative text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import sketch
    >>> sketch(SOM((4, 5), max_iter=5, random_state=0).fit(load_iris().data))[:31]
    '<img alt="U-matrix of the SOM" '
    """
    title, draw = _picture_of(model)
    with style.context("default"), rc_context({"font.size": 8}):
        figure = Figure(SIZE, DPI, layout="constrained")
        draw(model, figure.add_subplot())
        for text in figure.findobj(Text):
            text.set_parse_math(False)  # names are shown as they are
        drawn, small = BytesIO(), BytesIO()
        figure.savefig(drawn, format="png", bbox_inches="tight", pad_inches=0.08)
    image = Image.open(drawn).convert("RGB").quantize(COLORS)
    image.save(small, "PNG", optimize=True)
    return (
        f'<img alt="{escape(f"{title} of the {type(model).__name__}")}" width="{100 * image.width // DPI}" '
        'style="display: block; margin: 0.5em 0; max-width: 100%; background: white; border-radius: 4px" '
        f'src="data:image/png;base64,{b64encode(small.getvalue()).decode("ascii")}">'
    )


def _picture_of(model: Any) -> tuple[str, Callable[[Any, Axes | None], Axes]]:
    """Return a description of the plot, and the function that draws it."""
    inner = fitted_map(model)
    model = fitted_model(model)
    if hasattr(model, "embedding_"):
        return "View", _plot_positions
    if hasattr(inner, "lattice_"):
        known = hasattr(model, "label_distribution_")
        return ("Classes on the lattice", _plot_classes) if known else ("U-matrix", plot_u_matrix)
    if np.ptp(getattr(model, "relevances_", 0.0)) > 0:
        return "Most relevant features", _plot_most_relevant
    if hasattr(inner, "graph_"):
        return "Prototypes and their graph", _plot_network
    if np.ndim(getattr(model, "prototypes_", 0.0)) == 2:
        return "Prototypes by class", _plot_by_class
    if hasattr(model, "cost_history_"):
        return "Cost of each iteration", _plot_costs
    raise ValueError(f"{type(model).__name__} has no plot that works without samples; see protolearn.plotting.")


def _plot_positions(model: Any, ax: Axes | None) -> Axes:
    positions = np.asarray(fitted_model(model).embedding_)[:, :2]
    if len(positions) > MOST_POINTS:
        positions = positions[np.random.RandomState(0).choice(len(positions), MOST_POINTS, replace=False)]
    return plot_embedding(positions, ax=ax)


def _plot_classes(model: Any, ax: Axes | None) -> Axes:
    return plot_class_map(model, ax=ax)


def _plot_most_relevant(model: Any, ax: Axes | None) -> Axes:
    names, _ = columns_by_feature(model, np.shape(fitted_model(model).relevances_)[-1])
    short = [" ".join(name.split()) for name in names]
    short = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in short]
    return plot_relevances(model, short, min(MOST_RELEVANT, len(names)), ax=ax)


def _plot_network(model: Any, ax: Axes | None) -> Axes:
    if _is_flat(model):
        return plot_graph(model, ax=ax)
    _check_number(len(fitted_map(model).multiplicities_))
    return plot_prototype_view(model, "classical", ax=ax)


def _plot_by_class(model: Any, ax: Axes | None) -> Axes:
    if _is_flat(model):
        return plot_prototypes(model, ax=ax)
    model = fitted_model(model)
    _check_number(len(model.prototypes_))
    points = from_distances(prototype_distances(model)).coordinates
    ax = bare_plane(ax, points)
    colors = class_colors(len(model.classes_))
    own = INK if (codes := class_codes(model.prototype_labels_, model.classes_)) is None else colors[codes]
    ax.scatter(points[:, 0], points[:, 1], s=40, c=own, edgecolors="white", linewidths=0.7)
    add_legend(ax, class_handles(model.classes_, colors))
    return ax


def _plot_costs(model: Any, ax: Axes | None) -> Axes:
    return plot_learning_curve(model, ax=ax)


def _is_flat(model: Any) -> bool:
    """Return whether there are two features, so that their plane shows everything."""
    return np.shape(getattr(fitted_map(model), "prototypes_", ()))[1:] == (2,)


def _check_number(n_prototypes: int) -> None:
    if n_prototypes > MOST_PROTOTYPES:
        raise ValueError(f"plot_model shows at most {MOST_PROTOTYPES} prototypes, but the model has {n_prototypes}.")
