"""Views of digits: neighbor embeddings with two divergences, and their quality."""

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
            "Zoom in, select a cluster with the lasso and inspect its digits; color them by embedding quality.",
            lambda path: explore(models[PLAIN], X, y, images=as_images(1.0 - X), title="A view of digits", path=path),
        ),
        Prose(_on_trust(qualities)),
        _curves(qualities),
        _table(qualities),
        Prose(_on_structure()),
        _images(views[ARRANGED], X, y),
    ]
    return Section("views", "Views: an embedding of every sample", blocks, {"X": X, "y": y, "views": views})


def _introduction(X: Floats, qualities: Qualities) -> str:
    return f"""
        Prototypes summarize data; a <em>view</em> is an embedding that shows every sample. Its axes have no meaning: it
        places samples that are neighbors in the data, here {len(X)} digits of {X.shape[1]} pixels, next to each other
        in the plane. The labels were not used; they only color the points. In the view by <code>TSNE</code>,
        {1 - (qualities[PLAIN].nearest_neighbor_error or 0.0):.1%} of the nearest neighbors are the same digit.

        A plane cannot preserve all neighborhoods. The divergence that a view minimizes determines which errors it
        makes, and a dozen divergences are available. On the left, the usual Kullback-Leibler divergence yields clusters
        with wide gaps. On the right, a gamma divergence gives less weight to small affinities: clusters fill the plane,
        and more of the nearest neighbors are preserved.
    """


def _on_trust(qualities: Qualities) -> str:
    first, robust = (qualities[name].q_nx[0] for name in (PLAIN, ROBUST))
    return f"""
        How reliable are these views? The curves show which share of the neighbors in the data are neighbors in the
        view, for neighborhoods of any size, from a random view (0) to a perfect one (1). The nearest neighbor is kept
        for {first:.0%} of the digits on the left and {robust:.0%} on the right. For large neighborhoods all curves
        decrease: distances between clusters mean little in any of these views.
    """


def _on_structure() -> str:
    return """
        <code>SONE</code> arranges samples among given points, here a hexagon. It preserves fewer neighbors, but it
        fills a chosen shape and leaves room to draw the samples themselves:
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
        "<strong>Preserved neighbors</strong>, compared with chance. AUC is the area under a curve.",
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
        "Images of digits at their positions in a hexagon",
        "<strong>SONE.</strong> Frames have the color of the digit.",
    )
