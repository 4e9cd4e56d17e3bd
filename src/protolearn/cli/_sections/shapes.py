"""Prototypes with a shape: ellipses, variation of digits, and image compression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image
from sklearn.model_selection import train_test_split

from protolearn import NGPCA, PrototypeClassifier
from protolearn.applications import ImageCompressor
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Block, Gallery, Picture, Prose, Section, Table
from protolearn.cli._sections._digits_data import load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.types import Floats
from protolearn.datasets import make_ring_line_square
from protolearn.metrics import psnr
from protolearn.plotting import plot_ellipses, plot_variation

__all__ = ["shapes_section"]

N_UNITS = 10
PER_CLASS, N_DIRECTIONS = 3, 5
BPP = 1.25
PART = (slice(60, 316), slice(20, 404))  # of the picture: sky, roofs and trees
CROP = (slice(70, 230), slice(40, 280))  # of that part
CODED = "with an entropy coder"
METHODS: dict[str, dict[str, Any]] = {  # the first three at 1.25 bpp, codebook apart; Arnonkijpanich 2010, sec. 4.2
    "vector quantization": {"method": "vq", "n_prototypes": 32, "block_size": 2, "entropy": False},
    "one PCA for all": {"method": "pca", "block_size": 8, "n_components": 10, "entropy": False},
    "local PCA": {"method": "matrix", "n_prototypes": 16, "block_size": 4, "n_components": 2, "entropy": False},
    CODED: {"method": "matrix", "bpp": BPP},
}


def shapes_section(effort: Effort) -> Section:
    """Fit ellipses with and without cooperation, digits with one map each, and compress a picture in three ways."""
    X, _ = make_ring_line_square(random_state=0)
    steps = 300 * effort.max_iter
    models = {
        algorithm: NGPCA(N_UNITS, 2, algorithm=algorithm, n_steps=steps, random_state=0).fit(X)
        for algorithm in ("two-stage", "online")
    }
    digits, y = load_samples(effort.n_digits)
    train, test, y_train, y_test = train_test_split(digits, y, test_size=0.3, stratify=y, random_state=0)
    classifier = PrototypeClassifier(
        NGPCA(PER_CLASS, N_DIRECTIONS, algorithm="batch", random_state=0), per_class=True
    ).fit(train, y_train)
    accuracy = float(np.mean(classifier.predict(test) == y_test))
    image = load_sample_image("china.jpg")[PART].mean(axis=2).round().astype(np.uint8)
    coded = {name: code(image, effort, **settings) for name, settings in METHODS.items()}
    blocks: list[Block] = [
        Prose(_introduction(models, X)),
        Gallery([_ellipses(models[name], X, name) for name in models], "medium"),
        Prose(_on_digits(accuracy, len(test))),
        _variation(classifier),
        Prose(_on_pictures(coded)),
        _table(coded),
        Gallery([_crop(image, "The original"), *(_crop(back, name) for name, (_, _, back) in coded.items())], "medium"),
    ]
    results = {"models": models, "X": X, "classifier": classifier, "test": test, "y_test": y_test, "coded": coded}
    return Section("shapes", "Prototypes with a shape", blocks, results | {"image": image})


def code(image: NDArray[np.uint8], effort: Effort, **settings: Any) -> tuple[float, float, NDArray[np.uint8]]:
    """Return bits for each pixel of the file, quality in decibels, and the decoded picture."""
    compressor = ImageCompressor(**settings, max_iter=max(5, effort.max_iter // 4), random_state=0).fit(image)
    stream = compressor.encode(image)
    decoded = compressor.decode(stream)
    return 8 * len(stream) / image.size, psnr(image, decoded), decoded


def _introduction(models: dict[str, NGPCA], X: Floats) -> str:
    together, apart = models["online"].score(X), models["two-stage"].score(X)
    return f"""
        A point is a poor description of an elongated region. Here every prototype is an ellipsoid with its own
        directions and a width along each of them, and a sample is assigned to the ellipsoid that describes it best.

        {len(X)} points on a ring, a line and a square are described by {N_UNITS} prototypes of this kind. On the left,
        the centers were learned first, by neural gas, and the ellipses were fitted afterwards; some of them cover empty
        space. On the right, centers and ellipses are learned together (<code>NGPCA</code>), and the ellipses follow the
        structures. The mean log-likelihood of a point increases from {apart:.2f} to {together:.2f}. The model is also a
        density: it detects outliers and completes vectors with missing values.
    """


def _on_digits(accuracy: float, n_test: int) -> str:
    return f"""
        Shapes improve classification. Each digit has its own map with {PER_CLASS} prototypes of {N_DIRECTIONS}
        directions, and a new digit is assigned to the class of the nearest ellipsoid: {accuracy:.1%} of {n_test} test
        digits are classified correctly. A direction can be shown as an image: it is one way in which handwriting of a
        digit varies.
    """


def _on_pictures(coded: dict[str, tuple[float, float, NDArray[np.uint8]]]) -> str:
    gain = coded["local PCA"][1] - coded["one PCA for all"][1]
    best = coded[CODED][1] - coded["local PCA"][1]
    return f"""
        Shapes also compress images. An image is divided into small blocks, and each block is described by the number of
        its prototype and a few coordinates along its directions: smooth blocks, edges and textures have different
        directions. At about {BPP} bits per pixel, instead of 8, the quality is {gain:.1f} decibels better than with one
        set of principal components for all blocks. An entropy coder, which spends the bits where the image needs them,
        gains another {best:.1f} decibels: <code>protolearn compress in.png out.plc --bpp {BPP}</code> does this for any
        image.
    """


def _ellipses(model: NGPCA, X: Floats, name: str) -> Picture:
    ax = canvas(4.6, 2.5)
    plot_ellipses(model, X, ax=ax)
    ax.set(aspect="equal", xlabel="", ylabel="")
    ax.set_axis_off()
    what = "Centers first, then shapes" if name == "two-stage" else "Centers and shapes together"
    return Picture(to_png(ax), f"{what}: ellipses over a ring, a line and a square", f"<strong>{what}.</strong>")


def _variation(classifier: PrototypeClassifier) -> Picture:
    two = int(np.flatnonzero(classifier.prototype_labels_ == 2)[0])
    axes = plot_variation(classifier, two, (8, 8))
    figure: Any = axes.ravel()[0].figure
    figure.set_size_inches(8.0, 1.3)
    return Picture(
        to_png(axes.ravel()[0]),
        "A prototype of the digit two in the middle, and how it changes along its first direction",
        "<strong>Variation of a two.</strong> The prototype, framed, and images up to two standard deviations away "
        "along its first direction; the direction itself is on the right.",
    )


def _table(coded: dict[str, tuple[float, float, NDArray[np.uint8]]]) -> Table:
    rows = [(name, f"{bits:.2f}", f"{quality:.1f}") for name, (bits, quality, _) in coded.items()]
    return Table("Compression of an image", ("method", "bits per pixel, with codebook", "PSNR (dB)"), rows)


def _crop(image: NDArray[np.uint8], name: str) -> Picture:
    part = image[CROP]
    ax = canvas(3.9, 3.9 * part.shape[0] / part.shape[1])
    ax.imshow(part, cmap="gray", vmin=0, vmax=255)
    ax.set_axis_off()
    return Picture(to_png(ax), f"Part of an image: {name}", f"<strong>{name[0].upper()}{name[1:]}.</strong>")
