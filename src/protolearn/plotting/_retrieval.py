"""Plots of the quality of image retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from protolearn.plotting._relevances import whole_numbers
from protolearn.plotting.style import add_legend, axes_or_new, class_colors, tidy

__all__ = ["plot_retrieval_rates"]


def plot_retrieval_rates(rates: Any, *, ax: Axes | None = None) -> Axes:
    """Show the fraction of correct results over the number of results, with its errors.

    The light band around a curve is the standard error of the mean over the queries; the darker band is the standard
    deviation over random initializations, if there were several.

    Parameters
    ----------
    rates : RetrievalRates, or dict of these
        Result of `protolearn.applications.retrieval_rates`; the keys of a dict are names for the legend.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from protolearn.applications import ImageRetriever, retrieval_rates
    >>> from protolearn.datasets import make_lesions
    >>> from protolearn.plotting import plot_retrieval_rates
    >>> X, y = make_lesions(random_state=0)
    >>> names = ("liram", "euclidean")
    >>> ax = plot_retrieval_rates({name: retrieval_rates(ImageRetriever(name), X, y, n_starts=1) for name in names})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['liram', 'euclidean']
    """
    named = rates if isinstance(rates, Mapping) else {"": rates}
    if not named:
        raise ValueError("rates is empty; give at least one result of retrieval_rates.")
    for name, curve in named.items():
        if not hasattr(curve, "eps_data"):
            raise ValueError(f"rates[{name!r}] is a {type(curve).__name__}; expected a result of retrieval_rates.")
    ax = axes_or_new(ax)
    tidy(ax)
    for color, (name, curve) in zip(class_colors(len(named)), named.items()):
        for error, strength in ((curve.eps_data, 0.15), (curve.sigma_init, 0.35)):
            if error is not None:
                ax.fill_between(
                    curve.ks, curve.rates - error, curve.rates + error, color=color, alpha=strength, linewidth=0
                )
        ax.plot(curve.ks, curve.rates, color=color, linewidth=1.6, marker="." if len(curve.ks) < 30 else "", label=name)
    ax.margins(x=0.02)  # there is no k = 0
    ax.xaxis.set_major_locator(whole_numbers())
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set(xlabel="number of results k", ylabel="results of the class of the query")
    if isinstance(rates, Mapping):
        add_legend(ax, ax.lines)
    return ax
