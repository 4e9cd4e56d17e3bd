"""Images: lesions found by plain colors and by a learned metric, and textures told apart in gray and in color."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from protolearn import CIALVQ
from protolearn.applications import (
    ColorDifference,
    ImageRetriever,
    RegionColors,
    RetrievalHits,
    RetrievalRates,
    contact_sheet,
    gray_texture_classifier,
    retrieval_rates,
)
from protolearn.cli._pictures import to_png
from protolearn.cli._report import Block, Picture, Prose, Section, Table
from protolearn.cli._sections._effort import FULL, Effort
from protolearn.core.convergence import unfinished
from protolearn.core.types import Floats
from protolearn.datasets import TexturePatches, make_color_textures, make_lesion_images, texture_protocol
from protolearn.plotting.style import class_colors, class_handles

__all__ = ["images_section"]

COUNTS = {"red": 82, "white": 46, "blue": 29, "brown": 54}
PLAIN, LEARNED = "colors as they are", "learned metric"
DIFFERENCES = "lesion minus skin"
SIZES = (1, 11, 25)  # numbers of results
SHOWN = 9  # results in a picture
N_PICTURES, N_PATCHES, PATCH = 12, 12, 11  # of each texture; of each picture; size of a patch
STEP = 2  # pixels from one patch of the mosaic to the next
GRAY, COLOR = "gray, nearest patch", "CIALVQ"

Labels = NDArray[np.str_]


def images_section(effort: Effort) -> Section:
    """Search for lesions, and classify patches of textures."""
    counts = [max(8, round(count * effort.n_digits / FULL.n_digits)) for count in COUNTS.values()]
    images, masks, y = make_lesion_images(counts, random_state=0)
    colors = RegionColors("rgb").fit_transform(list(zip(images, masks)))
    queries = np.array([np.flatnonzero(y == name)[0] for name in COUNTS])
    known = np.delete(np.arange(len(y)), queries)
    hits = {
        name: ImageRetriever(metric).fit(colors[known], y[known]).retrieve(colors[queries], SHOWN)
        for name, metric in ((PLAIN, "euclidean"), (LEARNED, "liram"))
    }
    rates = _rates(colors, y)

    pictures, classes = make_color_textures(N_PICTURES, size=64, random_state=1)
    parts = texture_protocol(pictures, classes, size=PATCH, n_train=N_PATCHES, n_unseen=20, random_state=0)
    models = {
        GRAY: gray_texture_classifier(),
        COLOR: CIALVQ(structure="diagonal", max_iter=effort.max_iter // 2, random_state=0),
    }
    with unfinished():  # so that the demo does not take long
        for model in models.values():
            model.fit(parts.X_train, parts.y_train)
    blocks: list[Block] = [
        Prose(_on_lesions(y, rates)),
        *(_sheet(images, y, queries, known, found, name) for name, found in hits.items()),
        _table(rates),
        Prose(_on_textures(parts, models)),
        _mosaic(pictures, classes, parts, models),
    ]
    results = {"colors": colors, "y": y, "queries": queries, "known": known, "hits": hits, "rates": rates}
    return Section("images", "Image search and textures", blocks, results | {"parts": parts, "models": models})


def _rates(colors: Floats, y: Labels) -> dict[str, RetrievalRates]:
    """Judge metrics by queries that they were not learned from."""
    features = {PLAIN: colors, DIFFERENCES: ColorDifference().fit_transform(colors), LEARNED: colors}
    return {
        name: retrieval_rates(
            ImageRetriever("liram" if name == LEARNED else "euclidean"),
            values,
            y,
            ks=SIZES,
            n_folds=min(10, min(np.unique(y, return_counts=True)[1])),
            n_starts=1,
            random_state=0,
        )
        for name, values in features.items()
    }


def _on_lesions(y: Labels, rates: dict[str, RetrievalRates]) -> str:
    plain, learned = (rates[name].at(SIZES[1]) for name in (PLAIN, LEARNED))
    return f"""
        A physician has a photograph of a skin lesion and looks for similar ones. The {len(y)} images in this example
        are synthetic: red, white, blue and brown spots on skin of different colors, each with a mask of the spot. An
        image is described by six numbers, the mean red, green and blue outside and inside the mask. In the Euclidean
        distance of these numbers, the nearest images are often those of similar skin. <code>ImageRetriever</code>
        learns from labeled images which combinations of colors matter: of {SIZES[1]} results, {learned:.0%} have the
        class of the query, instead of {plain:.0%}, for queries that were not used in training.
    """


def _on_textures(parts: TexturePatches, models: dict[str, Any]) -> str:
    errors = {name: 1 - model.score(parts.X_unseen, parts.y_unseen) for name, model in models.items()}
    return f"""
        Color also helps to recognize materials. Filters detect patterns in gray images, and colors are usually
        converted to gray with fixed weights. <code>CIALVQ</code> learns for each class how colors are converted to
        intensity, together with typical patches of {PATCH} × {PATCH} pixels. Patches are compared by their power
        spectra, which do not depend on the position of a pattern in the patch. Both methods below were trained on the
        same {len(parts.X_train)} patches of five textures. In new images, gray patches are misclassified in
        {errors[GRAY]:.0%} of all cases, and patches in color in {errors[COLOR]:.0%}.
    """


def _sheet(
    images: NDArray[np.uint8],
    y: Labels,
    queries: NDArray[np.intp],
    known: NDArray[np.intp],
    found: RetrievalHits,
    name: str,
) -> Picture:
    png = contact_sheet(list(images[queries]), found, list(images[known]), labels=y[queries], inches=1.0)
    return Picture(
        png,
        f"Four lesions with the {SHOWN} most similar ones next to each, by {name}",
        f"<strong>By {name}.</strong> Left: query. Right: results, nearest first; green is correct.",
    )


def _table(rates: dict[str, RetrievalRates]) -> Table:
    rows = [(name, *(f"{rate:.1%}" for rate in found.rates)) for name, found in rates.items()]
    return Table("Results of the class of the query", ("by", *(f"of the first {k}" for k in SIZES)), rows)


def _mosaic(pictures: Floats, classes: Labels, parts: TexturePatches, models: dict[str, Any]) -> Picture:
    """Draw an unseen picture of each class side by side, and below what the models take each place for."""
    names = np.unique(classes)
    whole = np.hstack([pictures[np.intersect1d(np.flatnonzero(classes == name), parts.unseen)[0]] for name in names])
    windows = sliding_window_view(whole, (PATCH, PATCH), axis=(0, 1))[::STEP, ::STEP]
    patches = np.moveaxis(windows, 2, -1).reshape(-1, PATCH, PATCH, 3)
    colors = class_colors(len(names))
    edge = PATCH // 2
    panels = {"new images": whole[edge:-edge, edge:-edge]}
    for name, model in models.items():
        codes = np.searchsorted(names, model.predict(patches)).reshape(windows.shape[:2])
        panels[name] = colors[codes]
    figure = Figure((8.0, 5.6), layout="constrained")
    for ax, (name, pixels) in zip(figure.subplots(len(panels), 1), panels.items()):
        ax.imshow(pixels)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, loc="left", fontsize="medium")
    figure.legend(handles=class_handles(names, colors), loc="outside lower center", ncols=len(names), frameon=False)
    return Picture(
        to_png(figure.axes[0]),
        "Five textures side by side, and the class of every patch of them as a color, by two methods",
        "<strong>Patch by patch.</strong> Five test images side by side, and the predicted class of the patch at each "
        "position. At the borders, patches show two textures.",
    )
