"""Views of digits: neighbor embeddings under two divergences, and whether to trust them."""

from __future__ import annotations

from protolearn import SONE, TSNE
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Block, Explorable, Gallery, Picture, Prose, Section, Table
from protolearn.cli._sections._digits_data import as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.types import Floats, Indices
from protolearn.embedding.divergences import Gamma
from protolearn.explore import explore
from protolearn.metrics import ViewQuality, view_quality
from protolearn.plotting import plot_embedding, plot_images, plot_quality

__all__ = ["views_section"]

N_DIGITS = 1000
EXAGGERATED = 250  # iterations of t-SNE before the divergence is minimized
GAMMA = Gamma(1.0)
PLAIN, ROBUST, ARRANGED = "t-SNE", "t-SNE, gamma divergence", "SONE"
NEAREST = 10  # neighbors that the table is about

Qualities = dict[str, ViewQuality]


def views_section(effort: Effort) -> Section:
    """Show digits by t-SNE under two divergences and by SONE, and measure the views."""
    X, y = load_samples(min(N_DIGITS, effort.n_digits))
    max_iter = EXAGGERATED + 5 * effort.max_iter
    models = {
        PLAIN: TSNE(max_iter=max_iter, random_state=0),
        ROBUST: TSNE(divergence=GAMMA, max_iter=max_iter, random_state=0),
        ARRANGED: SONE(max_iter=effort.max_iter // 2, random_state=0),
    }
    views = {name: model.fit_transform(X) for name, model in models.items()}
    qualities = {name: view_quality(X, view, y) for name, view in views.items()}
    blocks: list[Block] = [
        Prose(_introduction(X, qualities)),
        Gallery([_view(views[name], y, name) for name in (PLAIN, ROBUST)], "medium"),
        Explorable(
            "digits-view.html",
            "Explore this view",
            "Zoom in, lasso a cluster and look at its digits; color them by where the view tears neighbors apart.",
            lambda path: explore(models[PLAIN], X, y, images=as_images(1.0 - X), title="A view of digits", path=path),
        ),
        Prose(_on_trust(qualities)),
        _curves(qualities),
        _table(qualities),
        Prose(_on_structure()),
        _images(views[ARRANGED], X, y),
    ]
    return Section("views", "Views: every sample in one picture", blocks, {"X": X, "y": y, "views": views})


def _introduction(X: Floats, qualities: Qualities) -> str:
    return f"""
        Prototypes sum up data; a <em>view</em> shows every sample. It has no axes that mean anything: it puts samples
        that are neighbors in the data, here {len(X)} digits of {X.shape[1]} pixels, next to each other in the plane.
        Digits were not known by their names, which only color the points. In the view by <code>TSNE</code>,
        {1 - (qualities[PLAIN].nearest_neighbor_error or 0.0):.1%} of the nearest neighbors are the same digit.

        No plane has room for all neighbors. What a view does about it is decided by the divergence it minimizes, and
        any of a dozen can be chosen. On the left the usual one, of Kullback and Leibler, makes clusters with wide gaps.
        On the right a gamma divergence, for which small affinities count less: clusters fill the plane, and more of
        the nearest neighbors are kept.
    """


def _on_trust(qualities: Qualities) -> str:
    first, robust = (qualities[name].q_nx[0] for name in (PLAIN, ROBUST))
    return f"""
        How far can they be trusted? The curves tell how many neighbors in the data are neighbors in the view, for
        neighborhoods of any size, from a random view (0) to a perfect one (1). The very nearest neighbor is kept for
        {first:.0%} of the digits on the left and {robust:.0%} on the right. Far to the right all curves fall:
        distances between clusters mean little in any of these views.
    """


def _on_structure() -> str:
    return """
        <code>SONE</code> arranges samples among points that are given, a hexagon here. It keeps fewer neighbors, but
        it fills the shape that you want, with room to draw the samples themselves:
    """


def _view(view: Floats, y: Indices, name: str) -> Picture:
    ax = canvas(5.2, 5.2)
    plot_embedding(view, y, ax=ax)
    return Picture(to_png(ax), f"Digits as points in the plane, by {name}", f"<strong>{name}.</strong>")


def _curves(qualities: Qualities) -> Picture:
    ax = canvas(8.0, 3.8)
    plot_quality(qualities, ax=ax)
    return Picture(
        to_png(ax),
        "Curves of the share of common neighbors over the size of neighborhoods",
        "<strong>Neighbors that are kept</strong>, beyond chance. AUC is the area under a curve.",
    )


def _table(qualities: Qualities) -> Table:
    columns = ("view", "trustworthiness", "continuity", "same digit", "area under the curve")
    rows = [
        (
            name,
            f"{quality.trustworthiness[NEAREST - 1]:.3f}",
            f"{quality.continuity[NEAREST - 1]:.3f}",
            f"{_hits(quality):.3f}",
            f"{quality.auc:.3f}",
        )
        for name, quality in qualities.items()
    ]
    return Table(f"Measures of the views, for {NEAREST} neighbors", columns, rows)


def _hits(quality: ViewQuality) -> float:
    assert quality.neighborhood_hit is not None
    return float(quality.neighborhood_hit[NEAREST - 1])


def _images(view: Floats, X: Floats, y: Indices) -> Picture:
    ax = canvas(8.0, 7.0)
    plot_images(view, as_images(X), y, ax=ax, cmap="gray_r")
    return Picture(
        to_png(ax),
        "Images of digits at their places in a hexagon",
        "<strong>SONE.</strong> Frames have the color of the digit.",
    )
