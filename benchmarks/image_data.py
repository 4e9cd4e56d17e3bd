"""The data of the tasks for images: features with classes, patches of textures, pictures with masks."""

from __future__ import annotations

import numpy as np

__all__ = ["N_CLASSES", "Labeled", "Pictures", "features", "noise", "skin", "textures"]

Labeled = tuple[np.ndarray, np.ndarray]
Pictures = tuple[np.ndarray, np.ndarray]

N_CLASSES = 4
INFORMATIVE = 3  # directions in which the classes differ
NUISANCE = 3.0  # standard deviation in all others
SMALL, GRAIN = 64, 3.0  # size of pictures before they are enlarged, and the noise of a camera, in gray values


def features(n_images: int, n_features: int) -> Labeled:
    """Return features of images that differ in three hidden directions by class, and more in all others by chance."""
    rng = np.random.default_rng(0)
    centers = 2.0 * rng.standard_normal((N_CLASSES, INFORMATIVE))
    turn, _ = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    y = rng.integers(N_CLASSES, size=n_images)
    X = rng.standard_normal((n_images, n_features))
    X[:, INFORMATIVE:] *= NUISANCE
    X[:, :INFORMATIVE] += centers[y]
    return X @ turn, y


def textures() -> tuple[Labeled, Labeled, Labeled]:
    """Return patches 15 x 15 x 3 of five textures: 3,000 to train on, 1,000 to test on, 500 of unseen pictures."""
    from protolearn.datasets import make_color_textures, texture_protocol

    parts = texture_protocol(*make_color_textures(6, random_state=0), random_state=0)
    classes = np.unique(parts.y_train)
    return (
        (parts.X_train, np.searchsorted(classes, parts.y_train)),
        (parts.X_test, np.searchsorted(classes, parts.y_test)),
        (parts.X_unseen, np.searchsorted(classes, parts.y_unseen)),
    )


def skin(n_images: int, size: int) -> Pictures:
    """Return pictures of skin lesions with masks, enlarged, and grainy as photographs are."""
    from protolearn.datasets import make_lesion_images

    counts = [len(range(first, n_images, N_CLASSES)) for first in range(N_CLASSES)]
    images, masks, _ = make_lesion_images(counts, size=SMALL, random_state=0)
    large, inside = (array.repeat(size // SMALL, axis=1).repeat(size // SMALL, axis=2) for array in (images, masks))
    rng = np.random.default_rng(0)
    for image in large:
        image[:] = np.clip(image + GRAIN * rng.standard_normal(image.shape), 0, 255).round()
    return large, inside


def noise(n_images: int, size: int) -> Pictures:
    """Return pictures in which nearly every pixel has a color of its own, with the masks of lesions."""
    _, masks = skin(n_images, size)
    return np.random.default_rng(0).integers(256, size=(*masks.shape, 3), dtype=np.uint8), masks
