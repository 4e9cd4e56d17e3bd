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
    3.0: "Long range: the prototypes move together; the lattice captures the position and orientation of the data.",
    1.5: "Shorter range: the lattice bends with the data.",
    0.3: "Short range: each prototype represents the samples around it, and neighbors on the lattice stay neighbors.",
}


def idea_section(effort: Effort) -> Section:
    """Show a lattice that unfolds over the data while the range shrinks."""
    X = make_wave(1000)
    maps = {final: SOM(LATTICE, range_end=final, max_iter=effort.max_iter).fit(X) for final in STAGES}
    before = f"""
        Take {len(X)} samples (gray) and {LATTICE.n_nodes} prototypes (black) that are connected by a <em>lattice</em>.
        Each sample attracts its nearest prototype and, less strongly, the neighbors of this prototype on the lattice.
        The <em>range</em> determines how many neighbors are attracted. It shrinks during training, and the lattice
        unfolds over the data.
    """
    after = """
        These data are two-dimensional, so the lattice can be drawn among the samples. Real data have many features and
        cannot be plotted directly, but their lattice can: this is a <em>self-organizing map</em> (SOM). <em>Neural
        gas</em> has no lattice; a sample also attracts its second nearest prototype, the third, and so on. In
        <em>k-means</em> a sample attracts its nearest prototype only.
    """
    pictures = [_picture(som, X, caption) for som, caption in zip(maps.values(), STAGES.values())]
    blocks: list[Block] = [Prose(before), Gallery(pictures, "medium"), Prose(after)]
    return Section("idea", "The idea in three figures", blocks, {"maps": maps, "X": X})


def make_wave(n_samples: int) -> Floats:
    """Return samples (n, 2) that fill a bent band."""
    along, across = np.random.default_rng(0).uniform(0.0, 1.0, (2, n_samples))
    return np.column_stack([4.0 * along, 0.6 * np.sin(2.0 * np.pi * along) + across])


def _picture(som: SOM, X: Floats, caption: str) -> Picture:
    ax = canvas(4.0, 2.3)
    plot_prototypes(som, X, voronoi=False, ax=ax)
    ax.set_axis_off()
    return Picture(
        to_png(ax), f"A lattice of prototypes over a wave of samples, trained to a range of {som.range_end}", caption
    )
