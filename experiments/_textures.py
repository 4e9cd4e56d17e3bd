"""Color textures for the experiments: pictures that can be laid side by side, in classes with enough of them."""

from __future__ import annotations

import numpy as np

from experiments._protocol import Array, load

__all__ = ["gimp_textures"]

# folders of too few pictures are left out: Animal, Fabric, Food, Paper, Plant
CLASSES = {"Stone": "stone", "Wood": "wood", "Water": "water and sky", "Sky": "water and sky"}


def gimp_textures() -> tuple[list[Array], Array] | None:
    """Return pictures (h, w, 3) with values from 0 to 1, and their classes; None if the data folder is not there.

    There are 15 pictures of stone, 13 of wood, and 7 of water and sky, of 40 to 156 pixels a side. They wrap around, so
    patches may be cut with ``wrap=True``.
    """
    arrays = load("textures_gimp")
    if arrays is None:
        return None
    labels = {key: CLASSES.get(key.partition("__")[0]) for key in sorted(arrays)}
    chosen = [key for key, label in labels.items() if label]
    return [arrays[key] / 255.0 for key in chosen], np.array([labels[key] for key in chosen])
