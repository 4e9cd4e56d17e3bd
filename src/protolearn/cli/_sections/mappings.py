"""Mappings to a view: a rolled sheet is unrolled by charting, and new digits are embedded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from protolearn import Charting, MappedEmbedding
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Block, Gallery, Picture, Prose, Section, Table
from protolearn.cli._sections._digits_data import as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.types import Floats, Indices
from protolearn.datasets import make_swiss_roll
from protolearn.metrics import trustworthiness
from protolearn.plotting import plot_charts, plot_embedding, plot_image_grid

__all__ = ["mappings_section"]

N_ROLL, N_CHARTS, N_MODELS = 1500, 25, 2
NEAREST = 12  # neighbors that the trustworthiness is about
TRAINED = 1 / 3  # part of the digits that maps are learned from
LINEAR, LOCAL = "linear", "linear on charts"

Labels = Indices


@dataclass(frozen=True)
class Digits:
    """Digits that a map is learned from, and new ones."""

    X: Floats
    y: Labels
    X_new: Floats
    y_new: Labels

    def right(self, view: Any) -> float:
        """Return how often the nearest learned digit in a view is the same as a new one."""
        nearest = KNeighborsClassifier(1).fit(view.transform(self.X), self.y)
        return float(nearest.score(view.transform(self.X_new), self.y_new))


def mappings_section(effort: Effort) -> Section:
    """Chart a rolled sheet, and map digits to the plane."""
    n_roll = min(N_ROLL, 2 * effort.n_digits)
    X, sheet, _ = make_swiss_roll(n_roll, random_state=0)
    new = make_swiss_roll(n_roll, random_state=1)[0]
    charting = Charting(n_charts=N_CHARTS, n_init=N_MODELS, random_state=0).fit(X)
    X_old, X_new, y_old, y_new = train_test_split(*load_samples(effort.n_digits), train_size=TRAINED, random_state=0)
    digits = Digits(X_old, y_old, X_new, y_new)
    views = {
        LINEAR: MappedEmbedding(mapping="linear", random_state=0).fit(digits.X),
        LOCAL: MappedEmbedding(random_state=0).fit(digits.X),
    }
    blocks: list[Block] = [
        Prose(_on_charts(X)),
        Gallery([_charts_in_space(charting, X), _unrolled(charting, sheet)], "medium"),
        Prose(_on_the_way_back(charting, new)),
        Prose(_on_digits(digits, len(views[LOCAL].mapping_.charts))),  # type: ignore[attr-defined]
        _table(digits, views),
        Gallery([_view(digits, view, name) for name, view in views.items()], "medium"),
        _grid(digits, views[LOCAL]),
    ]
    results = {"charting": charting, "new": new, "digits": digits, "views": views}
    return Section("mappings", "Mappings to a view and their inverse", blocks, results)


def _on_charts(X: Floats) -> str:
    return f"""
        A view by t-SNE is a set of positions, not a function of the features. A <em>mapping</em> is a function: it
        embeds new samples directly, and some mappings are invertible. Take {len(X)} points of a rolled sheet.
        Prototypes with a shape cover the sheet like flat tiles with two directions each, which are called
        <em>charts</em>. <code>Charting</code> rotates and stretches the charts such that they agree where they overlap,
        which unrolls the sheet.
    """


def _on_the_way_back(charting: Charting, new: Floats) -> str:
    places = charting.transform(new)
    return f"""
        The metric of the charts differs from that of the data by {charting.isometry_defect_:.2f}, the isometry defect;
        folds have a defect of 0.5 or more. The mapping has embedded {len(new)} new points of the roll, with a
        trustworthiness of {trustworthiness(new, places, n_neighbors=NEAREST):.4f}, where 1 means that their {NEAREST}
        nearest neighbors in the view are those on the roll. After mapping to the plane and back, points have moved by
        {_moved(charting, new):.2f}; the roll is {np.ptp(new[:, 0]):.0f} wide.
    """


def _on_digits(digits: Digits, n_charts: int) -> str:
    return f"""
        Digits do not lie on a single sheet. However, a mapping can be linear on each of many small charts and minimize
        the cost function of t-SNE. The mappings below were trained on {len(digits.X)} digits and embed
        {len(digits.X_new)} others. A linear mapping hardly separates the digits. A mapping with charts around
        {n_charts} prototypes of k-means separates them without using their labels.
    """


def _moved(charting: Charting, X: Floats) -> float:
    back = charting.inverse_transform(charting.transform(X))
    return float(np.linalg.norm(back - X, axis=1).mean())


def _table(digits: Digits, views: dict[str, Any]) -> Table:
    rows = [(name, f"{digits.right(view):.1%}") for name, view in views.items()]
    return Table("New digits embedded by mappings", ("mapping", "nearest training digit has the same class"), rows)


def _charts_in_space(charting: Charting, X: Floats) -> Picture:
    ax: Any = canvas(5.2, 4.6, space=True)
    plot_charts(charting, X, space="data", ax=ax)
    ax.view_init(12, -70)
    ax.set_title("")
    return Picture(
        to_png(ax), "A rolled sheet, covered by flat ellipses", f"<strong>{N_CHARTS} charts</strong> on the sheet."
    )


def _unrolled(charting: Charting, sheet: Floats) -> Picture:
    ax = canvas(5.2, 3.2)
    plot_embedding(charting, sheet[:, 0], ax=ax)
    return Picture(
        to_png(ax), "The sheet, flat in the plane", "<strong>The view.</strong> Colors are angles on the roll."
    )


def _view(digits: Digits, view: Any, name: str) -> Picture:
    ax = canvas(5.2, 5.2)
    plot_embedding(view.transform(digits.X_new), digits.y_new, ax=ax)
    return Picture(to_png(ax), f"New digits, by a mapping that is {name}", f"<strong>New digits</strong>, {name}.")


def _grid(digits: Digits, view: Any) -> Picture:
    ax = canvas(8.0, 7.0)
    places = view.transform(digits.X_new)
    plot_image_grid(places, as_images(digits.X_new), digits.y_new, n_cells=22, cmap="gray_r", ax=ax)
    return Picture(
        to_png(ax),
        "Images of new digits on a grid over the view",
        "<strong>New digits on a grid.</strong> Each cell shows the new digit nearest to its center.",
    )
