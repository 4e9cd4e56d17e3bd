"""Plots of the training of classifiers: learning curves, and margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from protolearn.core.fitted import take_apart
from protolearn.plotting._inputs import fitted_model
from protolearn.plotting._relevances import whole_numbers
from protolearn.plotting.style import MUTED, OKABE_ITO, add_legend, axes_or_new, class_colors, tidy

__all__ = ["plot_learning_curve", "plot_margins"]


def plot_learning_curve(models: Any, *, ax: Axes | None = None) -> Axes:
    """Show the cost over the iterations of training and, as dashed lines, the accuracy.

    The accuracy is recorded by fits with ``early_stopping``, and by LVQ1 and LVQ21, which have no cost. A dot marks the
    state that early stopping selected. A dotted line marks a change of the slope of the squashing function; costs
    before and after it are not comparable.

    Parameters
    ----------
    models : fitted classifier, or list or dict of these
        LVQ classifiers, or pipelines that end in one. The keys of a dict are names for the legend.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot: those of the cost if there is one, with the accuracy on the right axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ, GMLVQ
    >>> from protolearn.plotting import plot_learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_learning_curve([GLVQ(random_state=0).fit(X, y), GMLVQ(random_state=0).fit(X, y)])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['GLVQ', 'GMLVQ']
    """
    named = _named(models)
    costs = {name: model.cost_history_ for name, model in named.items() if hasattr(model, "cost_history_")}
    scores = {name: model.score_history_ for name, model in named.items() if hasattr(model, "score_history_")}
    kept = {name: int(np.argmax(values)) for name, values in scores.items() if values}
    for name, model in named.items():
        if hasattr(model, "error_history_"):
            scores[name] = [1.0 - error for error in model.error_history_]
    colors = dict(zip(named, class_colors(len(named))))
    ax = axes_or_new(ax)
    tidy(ax)
    ax.set_xlabel("iteration")
    ax.xaxis.set_major_locator(whole_numbers())
    if costs:
        starts = {name: getattr(named[name], "stage_starts_", []) for name in costs}
        _draw_curves(ax, costs, {}, colors, "-", starts)
        ax.set_ylabel("cost")
        for name, places in starts.items():
            for start in places:
                color = colors[name] if len(named) > 1 else MUTED
                ax.axvline(start - 0.5, color=color, linewidth=1.0, linestyle=":", zorder=0.5)
        if any(starts.values()):
            ax.set_xlabel("iteration (dotted line: the slope of the squashing function changes)")
    if scores:
        beside = ax.twinx() if costs else ax
        tidy(beside, hidden=("top", "left" if costs else "right"))
        _draw_curves(beside, scores, kept, colors, "--" if costs else "-")
        beside.set_ylabel("accuracy (dashed)" if costs else "accuracy")
    if len(named) > 1:
        add_legend(ax, [Line2D([], [], color=color, label=name) for name, color in colors.items()], above=True)
    return ax


def plot_margins(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    relative: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Show the cumulative distribution of margins, a measure of how safely samples are classified.

    The margin of a sample is the difference between its distances to the nearest prototype of another class and of its
    own class. It is negative if the sample is misclassified. The curve therefore passes zero at the error rate, and
    large margins shift it to the right.

    Parameters
    ----------
    model : fitted classifier
        An LVQ classifier, or a Pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Samples, for instance the training samples.
    y : array-like of shape (n_samples,)
        Class labels of the samples.
    X_test : array-like of shape (n_test, n_features), optional
        Other samples, for a second curve.
    y_test : array-like of shape (n_test,), optional
        Class labels of ``X_test``.
    relative : bool, default=True
        Whether to divide ``d_K - d_J`` by ``d_K + d_J``, which limits margins to the interval from -1 to 1.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> from protolearn.plotting import plot_margins
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_margins(GLVQ(random_state=0).fit(X[::2], y[::2]), X[::2], y[::2], X[1::2], y[1::2])
    >>> [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()]
    ['train', 'test']
    """
    parts = take_apart(model)
    model = fitted_model(model)
    if not hasattr(model, "margins"):
        raise ValueError(
            f"Cannot plot margins: {type(model).__name__} has no method margins. Give a fitted LVQ classifier, or a "
            "pipeline that ends in one."
        )
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together; give both, or neither.")
    sets = {"samples": (X, y)} if X_test is None else {"train": (X, y), "test": (X_test, y_test)}
    margins = {}
    for name, (given, truth) in sets.items():
        each = (parts.transform(given), truth)
        margins[name] = -model.relative_distance(*each) if relative else model.margins(*each)
    ax = axes_or_new(ax)
    tidy(ax)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    for (name, values), color in zip(margins.items(), (OKABE_ITO[0], OKABE_ITO[3])):
        ax.ecdf(values, color=color, linewidth=1.4, label=f"{name}: {np.mean(values <= 0):.1%} errors")
    ax.set(xlabel=f"{'relative ' if relative else ''}margin\n(below 0: misclassified)", ylabel="share of samples")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    add_legend(ax, ax.lines[1:])
    return ax


def _named(models: Any) -> dict[str, Any]:
    """Return fitted models by name: the keys given, or the names of their types, numbered if several are alike."""
    if isinstance(models, Mapping):
        named = {str(name): fitted_model(model) for name, model in models.items()}
    else:
        listed = [fitted_model(model) for model in (models if isinstance(models, list | tuple) else [models])]
        kinds = [type(model).__name__ for model in listed]
        numbers = [f" {1 + kinds[:i].count(kind)}" if kinds.count(kind) > 1 else "" for i, kind in enumerate(kinds)]
        named = {kind + number: model for kind, number, model in zip(kinds, numbers, listed)}
    if not named:
        raise ValueError("There is no model to show; give at least one.")
    for model in named.values():
        if not hasattr(model, "cost_history_") and not hasattr(model, "error_history_"):
            raise ValueError(
                f"Cannot plot a learning curve: {type(model).__name__} has no cost_history_. Give fitted LVQ "
                "classifiers, or pipelines that end in one."
            )
    return named


def _draw_curves(
    ax: Axes,
    curves: dict[str, Any],
    marked: dict[str, int],
    colors: dict[str, Any],
    style: str,
    breaks: Mapping[str, list[int]] = {},
) -> None:
    """Draw curves over the iterations, with a dot where they are marked, and a gap before each of some iterations."""
    for name, values in curves.items():
        dots = [marked[name]] if name in marked else ([0] if len(values) == 1 else [])
        before = np.array(breaks.get(name, []), dtype=np.intp) - 1
        steps = np.insert(np.arange(1.0, len(values) + 1), before, before + 0.5)
        values = np.insert(np.asarray(values, dtype=np.float64), before, np.nan)
        ax.plot(steps, values, style, color=colors[name], linewidth=1.4, marker="o", markersize=4.5, markevery=dots)
