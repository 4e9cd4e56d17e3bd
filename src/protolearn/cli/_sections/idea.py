"""What a map is, shown on samples in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protolearn import SOM
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Gallery, Picture, Prose, Section
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import rectangular
from protolearn.plotting import plot_prototypes

__all__ = ["idea_section"]

LATTICE = rectangular(5, 12)
STAGES = {
    4.0: "Long range: the prototypes move together; the lattice only knows where the data are and which way they run.",
    1.5: "Shorter range: the lattice bends with the data.",
    0.55: "Short range: each prototype takes care of the samples around it, and neighbours are still neighbours.",
}


def idea_section(effort: Effort) -> Section:
    """Show a lattice that unfolds over the data while the range shrinks."""
    X = make_arc(600)
    maps = [SOM(LATTICE, range_end=final, max_iter=effort.max_iter).fit(X) for final in STAGES]
    pictures = [Picture(_draw(som, X), _describe(final), caption) for som, (final, caption) in zip(maps, STAGES.items())]
    n_nodes = LATTICE.n_nodes
    prose = (
        f"Take {len(X)} samples (grey) and {n_nodes} prototypes (black) that are knotted into a net, the "
        "<em>lattice</em>. Each sample pulls the prototype nearest to it towards itself, and with it, less strongly, "
        "the prototypes around it on the lattice. How far that pull reaches is the <em>range</em>. It shrinks during "
        "training, and the net unfolds over the data.",
    )
    moral = (
        "Here the data are flat, so the net can be drawn among them. Real data have dozens of features and cannot be "
        "drawn, but the lattice still can: that is a <em>self-organising map</em> (SOM). If we drop the lattice, and let "
        "the pull reach the second nearest prototype, the third and so on, it is <em>neural gas</em>; with no pull on "
        "others at all, it is <em>k-means</em>.",
    )
    blocks = [Prose(prose), Gallery(pictures, "medium"), Prose(moral)]
    return Section("idea", "The idea in three pictures", blocks, {"maps": maps, "X": X})


def make_arc(n_samples: int) -> NDArray[np.float64]:
    """Return samples (n, 2) that fill a bent band."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(-0.1, 1.1, n_samples) * np.pi, rng.uniform(1.0, 2.0, n_samples)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _draw(som: SOM, X: NDArray[np.float64]) -> bytes:
    ax = canvas(4.0, 2.8)
    plot_prototypes(som, X, voronoi=False, ax=ax)
    ax.set_axis_off()
    return to_png(ax)


def _describe(final: float) -> str:
    return f"A net of prototypes over an arc of samples after training down to a range of {final:g}"
