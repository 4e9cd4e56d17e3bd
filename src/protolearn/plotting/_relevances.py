"""Plots of learned feature relevances: relevances, relevance matrix, explanations of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from protolearn.core.parameters import constrained, integer, none
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import Explanation
from protolearn.plotting._bars import (
    MOST_NAMES,
    draw_bars,
    draw_columns,
    draw_dots,
    draw_heat_map,
    draw_image,
    entitle,
    label_size,
    whole_numbers,
)
from protolearn.plotting._inputs import check_names
from protolearn.plotting._matrices import column_names, columns_by_feature, matrices_of, select
from protolearn.plotting.style import INK, MUTED, OKABE_ITO, add_color_bar, axes_or_new

__all__ = ["plot_eigenvalues", "plot_explanation", "plot_relevance_matrix", "plot_relevances"]

FOR, AGAINST = OKABE_ITO[0], OKABE_ITO[3]
PALE = "#d4d4d4"


@constrained(n_features=integer(1) | none)
def plot_relevances(
    model: Any,
    feature_names: Sequence[str] | None = None,
    n_features: int | None = None,
    matrix: Any = None,
    *,
    sort: bool = True,
    shape: tuple[int, int] | None = None,
    cmap: str = "viridis",
    ax: Axes | None = None,
) -> Axes:
    """Show the relevance of each feature in the learned distance, in decreasing order.

    For a model with several matrices, bars show the mean, and dots the relevances of each matrix.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (n_features,) or (s, n_features)
        Fitted model with relevances, such as GRLVQ, GMLVQ or LGMLVQ; a Pipeline that ends in one; or the relevances
        themselves. Of a pipeline, the relevances of the columns of a categorical feature are added up. After steps that
        mix columns, such as PCA, relevances are those of the classifier's input columns.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    n_features : int, optional
        Number of most relevant features to show; all by default.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default all.
    sort : bool, default=True
        Whether to sort features by decreasing relevance; False keeps the order of the data, as for spectra.
    shape : tuple of int, optional
        Height and width of images whose pixels are the features; relevances are then shown as an image.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap for this image.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> from protolearn.plotting import plot_relevances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_relevances(GRLVQ(random_state=0).fit(X, y), n_features=2)
    >>> sorted(label.get_text() for label in ax.get_yticklabels())
    ['petal length (cm)', 'petal width (cm)']
    """
    stack, labels = matrices_of(model, "relevances_", 1, "relevances")
    values, parts, title = select(stack, labels, matrix)
    if shape is not None:
        if n_features is not None:
            raise ValueError("An image shows all features; give shape or n_features, not both.")
        return draw_image(ax, values, shape, "relevance", title, cmap=cmap)
    own_names, groups = columns_by_feature(model, len(values))
    values, parts = (np.stack([each[..., group].sum(axis=-1) for group in groups], -1) for each in (values, parts))
    columns, names = _chosen(values, check_names(feature_names, own_names), n_features, sort)
    if len(columns) <= MOST_NAMES:
        ax = axes_or_new(ax, 0.045 * len(columns))
        draw_bars(ax, values[columns], names, _bar_color(parts))
        draw_dots(ax, parts[:, columns].T, labels, across=True)
        ax.set_xlabel("relevance")
    else:
        ax = axes_or_new(ax, 0.5)
        draw_columns(ax, values[columns], 0, _bar_color(parts))
        draw_dots(ax, parts[:, columns].T, labels, first=0)
        ax.set(ylabel="relevance", xlabel=_order(sort))
    entitle(ax, title)
    return ax


@constrained(n_features=integer(1) | none)
def plot_relevance_matrix(
    model: Any,
    feature_names: Sequence[str] | None = None,
    n_features: int | None = None,
    matrix: Any = None,
    *,
    sort: bool = True,
    cmap: str = "RdBu",
    ax: Axes | None = None,
) -> Axes:
    """Show the relevance matrix: its diagonal as bars, and next to them the other entries as a heat map.

    An entry off the diagonal shows the interaction of two features: it is positive if differences of the same sign
    increase the distance, negative if they cancel out. The diagonal, which would dominate the color scale, is left
    blank in the heat map.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (n_features, n_features) or (s, n_features, n_features)
        Fitted model with a relevance matrix, such as GMLVQ, LGMLVQ or LLiRaMLVQ; a Pipeline that ends in one; or the
        matrix itself. Of a pipeline, each category has its own row.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    n_features : int, optional
        Number of most relevant features to show; all by default.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default their mean is shown.
    sort : bool, default=True
        Whether to sort features by decreasing relevance; False keeps the order of the data.
    cmap : str, default="RdBu"
        Name of a diverging Matplotlib colormap, whose center is zero.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes that enclose the plot. Their ``child_axes`` are the bars and the heat map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_relevance_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> bars, heat_map = plot_relevance_matrix(model).child_axes
    >>> float(heat_map.images[0].get_array().trace())
    0.0
    """
    stack, labels = matrices_of(model, "relevance_matrix_", 2, "a relevance matrix")
    whole, _, title = select(stack, labels, matrix)
    own_names = check_names(feature_names, column_names(model, len(whole)))
    columns, names = _chosen(whole.diagonal(), own_names, n_features, sort)
    entries = whole[np.ix_(columns, columns)]
    relevances = entries.diagonal().copy()
    ax = axes_or_new(ax, 0.8)
    ax.set_axis_off()
    bars, others = ax.inset_axes((0.0, 0.0, 0.27, 1.0)), ax.inset_axes((0.3, 0.0, 0.7, 1.0))
    draw_bars(bars, relevances, names, FOR)
    bars.set_xlabel("diagonal", fontsize="small")
    image = draw_heat_map(others, entries - np.diag(relevances), "auto", cmap)
    add_color_bar(ax, image, "off the diagonal")
    others.tick_params(left=False, labelleft=False)
    if len(columns) <= MOST_NAMES:
        others.set_xticks(range(len(columns)), names, rotation=90)
        others.tick_params(axis="x", labelsize=label_size(others, "x", len(columns)), length=0)
    else:
        others.xaxis.set_major_locator(whole_numbers())
        others.set_xlabel(_order(sort))
        bars.set_ylabel(_order(sort))
    entitle(ax, title)
    return ax


def plot_eigenvalues(model: Any, matrix: Any = None, *, ax: Axes | None = None) -> Axes:
    """Show the eigenvalues of the relevance matrix in decreasing order: the relevance of each direction.

    The eigenvalues sum to one. For a model with several matrices, bars show the mean, and dots the eigenvalues of each
    matrix.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (M,) or (s, M)
        Fitted model with a relevance matrix, such as GMLVQ, LGMLVQ or LLiRaMLVQ; a Pipeline that ends in one; or the
        eigenvalues themselves, in decreasing order.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default all.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_eigenvalues
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_eigenvalues(GMLVQ(random_state=0).fit(X, y))
    >>> len(ax.patches), round(float(sum(bar.get_height() for bar in ax.patches)), 6)
    (4, 1.0)
    """
    stack, labels = matrices_of(model, "eigenvalues_", 1, "eigenvalues of a relevance matrix")
    values, parts, title = select(stack, labels, matrix)
    ax = axes_or_new(ax, 0.5)
    draw_columns(ax, values, 1, _bar_color(parts))
    draw_dots(ax, parts.T, labels, first=1)
    ax.set(xlabel="direction", ylabel="eigenvalue")
    entitle(ax, title)
    return ax


@constrained(n_features=integer(1))
def plot_explanation(
    explanation: Explanation,
    sample: int = 0,
    n_features: int = 10,
    *,
    feature_names: Sequence[str] | None = None,
    shape: tuple[int, int] | None = None,
    cmap: str = "RdBu",
    ax: Axes | None = None,
) -> Axes:
    """Show which features supported the classification of a sample, and which opposed it.

    The bars sum to the difference between the distances to the nearest prototype of another class and to the winner.

    Parameters
    ----------
    explanation : Explanation
        Result of the method ``explain`` of a classifier, or of `protolearn.lvq.explain` for a pipeline.
    sample : int, default=0
        Index of the sample in the explanation.
    n_features : int, default=10
        Number of features to show, those with the largest contributions first; another bar shows the sum of all others.
    feature_names : sequence of str, optional
        Names of the features; by default those of the explanation.
    shape : tuple of int, optional
        Height and width of images whose pixels are the features; contributions are then shown as an image.
    cmap : str, default="RdBu"
        Name of a diverging Matplotlib colormap for this image.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_explanation
    >>> iris = load_iris(as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> ax = plot_explanation(model.explain(iris.data[:1]), n_features=2)
    >>> ax.get_yticklabels()[-1].get_text(), ax.get_title()
    ('2 others', 'setosa, not versicolor')
    """
    if not isinstance(explanation, Explanation):
        raise ValueError(
            f"explanation is of type {type(explanation).__name__}; give the result of the method explain of a "
            "classifier, as in plot_explanation(model.explain(X))."
        )
    n_samples = len(explanation.contributions)
    integer(-n_samples, n_samples - 1).check("sample", sample)
    parts = explanation.contributions[sample]
    winner, rival = explanation.classes[sample], explanation.rivals[sample]
    title = f"{winner}, not {rival}"
    if shape is not None:
        label = f"speaks for {rival} (-) or {winner} (+)"
        return draw_image(ax, parts, shape, label, title, cmap=cmap, diverging=True)
    order = np.argsort(-np.abs(parts), kind="stable")
    shown, others = order[:n_features], order[n_features:]
    names = list(check_names(feature_names, explanation.feature_names)[shown])
    values, colors = parts[shown], [FOR if part >= 0 else AGAINST for part in parts[shown]]
    if len(others):
        names, colors = [*names, f"{len(others)} others"], [*colors, MUTED]
        values = np.append(values, parts[others].sum())
    ax = axes_or_new(ax, 0.045 * len(names))
    draw_bars(ax, values, names, colors)
    ax.axvline(0, color=INK, linewidth=0.6)
    ax.set_xlabel(f"\N{LEFTWARDS ARROW} {rival}   speaks for   {winner} \N{RIGHTWARDS ARROW}", fontsize="small")
    entitle(ax, title)
    return ax


def _chosen(relevances: Floats, names: Array, n_features: int | None, sort: bool) -> tuple[Indices, list[str]]:
    """Return columns and names of the features to show: all, or the most relevant ones."""
    columns = np.argsort(-relevances, kind="stable")[:n_features]
    columns = columns if sort else np.sort(columns)
    return columns, [names[column] for column in columns]


def _order(sort: bool) -> str:
    return "features, the most relevant first" if sort else "feature"


def _bar_color(parts: Floats) -> str:
    """Return a color on which the dots of the parts, if there are any, stand out."""
    return PALE if len(parts) else FOR
