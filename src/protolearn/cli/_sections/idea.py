"""What a map is, shown on samples in the plane."""

from __future__ import annotations

import numpy as np

from protolearn import SOM
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Block, Gallery, Picture, Prose, Section
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import hexagonal
from protolearn.core.types import Floats
from protolearn.plotting import plot_prototypes

__all__ = ["idea_section"]

LATTICE = hexagonal(6, 18)
STAGES = {
    3.0: "Long range: the prototypes move together; the net only knows where the data are and which way they run.",
    1.5: "Shorter range: the net bends with the data.",
    0.3: "Short range: each prototype takes care of the samples around it, and neighbors are still neighbors.",
}


def idea_section(effort: Effort) -> Section:
    """Show a lattice that unfolds over the data while the range shrinks."""
    X = make_wave(1000)
    maps = {final: SOM(LATTICE, range_end=final, max_iter=effort.max_iter).fit(X) for final in STAGES}
    before = f"""
        Take {len(X)} samples (gray) and {LATTICE.n_nodes} prototypes (black) that are knotted into a net, the
        <em>lattice</em>. Each sample pulls the prototype nearest to it towards itself, and with it, less strongly, the
        prototypes around it on the lattice. How far that pull reaches is the <em>range</em>. It shrinks during
        training, and the net unfolds over the data.
    """
    after = """
        Here the data are flat, so the net can be drawn among them. Real data have dozens of features and cannot be
        drawn, but the lattice still can: that is a <em>self-organizing map</em> (SOM). If we drop the lattice, and let
        the pull reach the second nearest prototype, the third and so on, it is <em>neural gas</em>; with no pull on
        others at all, it is <em>k-means</em>.
    """
    pictures = [_picture(som, X, caption) for som, caption in zip(maps.values(), STAGES.values())]
    blocks: list[Block] = [Prose(before), Gallery(pictures, "medium"), Prose(after)]
    return Section("idea", "The idea in three pictures", blocks, {"maps": maps, "X": X})


def make_wave(n_samples: int) -> Floats:
    """Return samples (n, 2) that fill a bent band."""
    along, across = np.random.default_rng(0).uniform(0.0, 1.0, (2, n_samples))
    return np.column_stack([4.0 * along, 0.6 * np.sin(2.0 * np.pi * along) + across])


def _picture(som: SOM, X: Floats, caption: str) -> Picture:
    ax = canvas(4.0, 2.3)
    plot_prototypes(som, X, voronoi=False, ax=ax)
    ax.set_axis_off()
    return Picture(
        to_png(ax), f"A net of prototypes over a wave of samples, trained to a range of {som.range_end}", caption
    )
