"""Data for embeddings: clusters, images, spectra, histograms and sequences with known structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_array, check_random_state

from protolearn.core.parameters import constrained, integer, number, option
from protolearn.core.types import Array, Bools, Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = [
    "make_evolved_sequences",
    "make_noisy_histograms",
    "make_spectra",
    "make_three_gaussians",
    "make_three_tip_star",
]

Labels = NDArray[np.intp]

CLASS_SEED = 9  # species are the same for every random_state

STACK_GAP = 4.5
STACK_SPREAD = np.array([4.0, 0.3, 6.0])

TIP_ANGLES = np.radians([90.0, 210.0, 330.0])
TIP_RADIUS, TIP_OFFSET = 5.0, 1.1  # of a cluster: along the axis of its tip, and across
TIP_LENGTH = 2.0  # standard deviation along it

N_BINS, GENUS_PEAKS, OWN_PEAKS = 1000, 60, 30
KEPT, DROPOUT, HEIGHT_SPREAD = 0.6, 0.15, 0.4

SCENE = (240, 320)  # pixels of the generated pictures

LETTERS = "ACDEFGHIKLMNPQRSTVWY"  # amino acids
BETWEEN, WITHIN = 0.35, (0.02, 0.12)  # substitutions per letter on a branch


@constrained(n_per_class=integer(1))
def make_three_gaussians(n_per_class: int = 100, *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make three flat, stacked Gaussian classes in space, which overlap in the plane of the principal components.

    Only the second feature separates the classes: its mean is -4.5, 0 or 4.5, with a standard deviation of 0.3. The
    first and the third feature have the same distribution in all classes and larger standard deviations (4 and 6), so
    the classes overlap in the plane of largest variance.

    Parameters
    ----------
    n_per_class : int, default=100
        Number of samples in each class.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0, 1 or 2.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 6.4, describes the data without numbers; the numbers here are chosen.

    Examples
    --------
    >>> from protolearn.datasets import make_three_gaussians
    >>> X, y = make_three_gaussians(random_state=0)
    >>> X.shape, X.var(axis=0).round().astype(int)
    ((300, 3), array([15, 14, 32]))
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(3 * n_per_class, np.ones(3), rng)
    X = STACK_SPREAD * rng.standard_normal((len(y), 3))
    X[:, 1] += STACK_GAP * (y - 1)
    return X, y


@constrained(n_per_cluster=integer(1), n_noise=integer(0), noise=number(0), width=number(0))
def make_three_tip_star(
    n_per_cluster: int = 500, *, n_noise: int = 8, noise: float = 3.6, width: float = 0.7, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make two overlapping classes of three clusters each that form a star with three tips, hidden by noisy features.

    In the plane of the first two features, each tip of the star consists of two elongated clusters side by side, one of
    each class. All other features are noise of larger variance. The nearest neighbor error is about 10% in the plane of
    the star and about 39% in all features.

    Parameters
    ----------
    n_per_cluster : int, default=500
        Number of samples in each of the six clusters.
    n_noise : int, default=8
        Number of noise features.
    noise : float, default=3.6
        Standard deviation of the noise features.
    width : float, default=0.7
        Standard deviation of a cluster across its tip, where the clusters of the two classes have distance 2.2. With
        0.55, the nearest neighbor error in the plane of the star is about 5%.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2 + n_noise)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 7.3.1. The numbers are chosen to give errors similar to those reported there.

    Examples
    --------
    >>> from protolearn.datasets import make_three_tip_star
    >>> X, y = make_three_tip_star(random_state=0)
    >>> X.shape, int(y.sum())
    ((3000, 10), 1500)
    """
    rng = check_random_state(random_state)
    cluster = labels_in_shares(6 * n_per_cluster, np.ones(6), rng)
    tip, y = np.divmod(cluster, 2)
    along, across = rng.standard_normal((2, len(y)))
    along = TIP_RADIUS + TIP_LENGTH * along
    across = TIP_OFFSET * (2 * y - 1) + width * across
    cos, sin = np.cos(TIP_ANGLES[tip]), np.sin(TIP_ANGLES[tip])
    star = np.column_stack([along * cos - across * sin, along * sin + across * cos])
    return np.hstack([star, noise * rng.standard_normal((len(y), n_noise))]), y


@constrained(n_samples=integer(1), n_genera=integer(1), n_species=integer(1))
def make_spectra(
    n_samples: int = 3048, n_genera: int = 40, n_species: int = 5, *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make peak spectra of many species, some of which are related.

    The spectra are a substitute for mass spectra of bacteria. Each species has 36 of the 60 peaks of its genus and 30
    peaks of its own. In a sample of a species, each peak is missing with probability 0.15, and the others have
    log-normal heights.

    Parameters
    ----------
    n_samples : int, default=3048
        Number of spectra, about equally many of each species.
    n_genera : int, default=40
        Number of genera.
    n_species : int, default=5
        Number of species in each genus.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The species are always the same.

    Returns
    -------
    X : ndarray of shape (n, 1000)
        The spectra in random order; each adds up to one.
    y : ndarray of shape (n,)
        The species, from 0 to ``n_genera * n_species - 1``; its genus is ``y // n_species``.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 9.7.2, shows data of this type; the data here are synthetic.

    Examples
    --------
    >>> from protolearn.datasets import make_spectra
    >>> X, y = make_spectra(random_state=0)
    >>> X.shape, len(set(y)), bool((X > 0).sum(axis=1).max() <= 66)
    ((3048, 1000), 200, True)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(n_genera * n_species), rng)
    peaks = np.concatenate([_species_of_genus(genus, n_species) for genus in range(n_genera)])
    seen = peaks[y] & (rng.uniform(size=(n_samples, N_BINS)) >= DROPOUT)
    X = np.where(seen, rng.lognormal(0.0, HEIGHT_SPREAD, (n_samples, N_BINS)), 0.0)
    return X / X.sum(axis=1, keepdims=True), y


@constrained(noise=option("contrast", "uniform"), binning=option("range", "clip"), n_bins=integer(1))
def make_noisy_histograms(
    image: Literal["moon", "dolphins"] | ArrayLike = "moon",
    levels: ArrayLike | None = None,
    *,
    noise: Literal["contrast", "uniform"] = "contrast",
    binning: Literal["range", "clip"] = "range",
    n_bins: int = 256,
    return_images: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make histograms of a gray image with increasing distortion.

    The histograms show whether a divergence increases with the difference of the levels; ideally, the matrix of all
    divergences is a band.

    Parameters
    ----------
    image : {"moon", "dolphins"} or array-like of shape (h, w), default="moon"
        An image with values from 0 to 1, or the name of a synthetic image: a bright disc with spots in a dark sky, or
        dark bodies in front of waves.
    levels : array-like of shape (m,), optional
        Levels of distortion. By default 1, 2, ..., 9 for contrast, and 50/255, 100/255, ..., 450/255 for uniform noise.
    noise : {"contrast", "uniform"}, default="contrast"
        Distortion of an image ``I`` at level ``l``: ``I (l (I - min I) + 1)``, or ``I + U`` with a random number ``U``
        between 0 and ``l`` for each pixel.
    binning : {"range", "clip"}, default="range"
        Treatment of values above 1: ``"range"`` extends the bins to all values of all levels, ``"clip"`` clips values
        at 1.
    n_bins : int, default=256
        Number of bins of a histogram.
    return_images : bool, default=False
        Whether to return the images as well.
    random_state : int, RandomState or None, default=None
        Seed for a reproducible image and noise.

    Returns
    -------
    histograms : ndarray of shape (m + 1, n_bins)
        Histograms (numbers of pixels) of the original image and of all levels.
    levels : ndarray of shape (m + 1,)
        The levels, the first of which is 0.
    images : ndarray of shape (m + 1, h, w)
        The images, only if `return_images` is true.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 9.2.4, does this with photographs.

    Examples
    --------
    >>> from protolearn.datasets import make_noisy_histograms
    >>> histograms, levels = make_noisy_histograms(random_state=0)
    >>> histograms.shape, levels
    ((10, 256), array([0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]))
    """
    rng = check_random_state(random_state)
    original = _picture(image, rng)
    strengths = np.concatenate([[0.0], _check_levels(levels, noise)])
    each = strengths[:, None, None]
    if noise == "contrast":
        images = original * (each * (original - original.min()) + 1.0)
    else:
        images = original + each * rng.uniform(size=(len(each), *original.shape))
    images = np.minimum(images, 1.0) if binning == "clip" else images
    highest = max(1.0, float(images.max()))
    histograms = np.array([np.histogram(one, n_bins, (0.0, highest))[0] for one in images])
    return (histograms, strengths, images) if return_images else (histograms, strengths)


@constrained(length=integer(1))
def make_evolved_sequences(
    sizes: Sequence[int] = (72, 72, 39, 30, 13), *, length: int = 300, random_state: Any = None
) -> tuple[list[str], Labels]:
    """Make families of amino acid sequences that have evolved from a common ancestor.

    The sequences are a substitute for globins. The ancestor of each family descends from the ancestor of a random
    earlier family, on a branch of 0.35 substitutions per letter, and each sequence descends from a random earlier
    sequence of its family, on a branch of 0.02 to 0.12 substitutions per letter. There are no insertions or deletions,
    so all sequences have the same length. The evolutionary distance of two sequences, the length of the path between
    them in this tree, is about ``-19/20 log(1 - 20/19 p)``, where ``p`` is the fraction of positions at which they
    differ.

    Parameters
    ----------
    sizes : sequence of int, default=(72, 72, 39, 30, 13)
        Number of sequences in each family.
    length : int, default=300
        Number of letters of a sequence.
    random_state : int, RandomState or None, default=None
        Seed for reproducible sequences.

    Returns
    -------
    sequences : list of str
        The sequences in random order.
    y : ndarray of shape (n,)
        The family of each sequence.

    See Also
    --------
    make_string_classes : Sequences of different lengths, with insertions and deletions.

    References
    ----------
    Jukes, T. H., Cantor, C. R. (1969). Evolution of protein molecules. In Mammalian Protein Metabolism, 21-132.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_evolved_sequences
    >>> from protolearn.dissimilarities import hamming
    >>> sequences, y = make_evolved_sequences(random_state=0)
    >>> D = -19 / 20 * np.log(1 - 20 / 19 * hamming(sequences))
    >>> same = np.equal.outer(y, y)
    >>> bool(D[same].mean() < 0.5 * D[~same].mean())
    True
    """
    integer(1).check_each("sizes", sizes)
    rng = check_random_state(random_state)
    ancestor = rng.randint(len(LETTERS), size=length)
    ancestors = _descendants(ancestor, len(sizes), (BETWEEN, BETWEEN), rng)
    codes = np.concatenate([_descendants(first, size, WITHIN, rng) for first, size in zip(ancestors, sizes)])
    order = rng.permutation(len(codes))
    alphabet = np.frombuffer(LETTERS.encode(), dtype=np.uint8)
    return [bytes(row).decode() for row in alphabet[codes[order]]], np.repeat(np.arange(len(sizes)), sizes)[order]


def _species_of_genus(genus: int, n_species: int) -> Bools:
    """Where the species of a genus have peaks (n_species, N_BINS); the first ones are the same for any number."""
    rng = np.random.RandomState([CLASS_SEED, genus])
    bins = rng.permutation(N_BINS)
    template, others = bins[:GENUS_PEAKS], bins[GENUS_PEAKS:]
    peaks = np.zeros((n_species, N_BINS), dtype=bool)
    for own in peaks:
        own[rng.choice(template, round(KEPT * GENUS_PEAKS), replace=False)] = True
        own[rng.choice(others, OWN_PEAKS, replace=False)] = True
    return peaks


def _picture(image: Any, rng: np.random.RandomState) -> Floats:
    """Return an image (h, w) with values from 0 to 1, generated if it is named."""
    if isinstance(image, str):
        option(*SCENES).check("image", image, ", or an array (h, w)")
        return np.clip(SCENES[image](rng), 0.0, 1.0)
    pixels = check_array(image, dtype=np.float64, input_name="image")
    if pixels.min() < 0 or pixels.max() > 1:
        raise ValueError(
            f"image has values from {pixels.min():g} to {pixels.max():g}; scale it to values from 0 to 1, for example "
            "divide by 255."
        )
    return pixels


def _moon(rng: np.random.RandomState) -> Floats:
    up, across = _coordinates()
    sky = 0.04 + 0.015 * rng.standard_normal(SCENE)
    disc = 0.6 + 0.12 * _texture(8.0, rng) + 0.03 * rng.standard_normal(SCENE)
    return np.where(np.hypot(up, across - 0.1) < 0.55, disc, sky)


def _dolphins(rng: np.random.RandomState) -> Floats:
    up, across = _coordinates()
    waves = 0.55 + 0.12 * np.sin(24.0 * up + 2.0 * _texture(20.0, rng)) + 0.03 * rng.standard_normal(SCENE)
    for height, place in ((-0.35, -0.6), (0.1, 0.15), (0.45, 0.7)):
        tilt = up - height - 0.2 * (across - place)
        body = np.hypot(tilt / 0.14, (across - place) / 0.42) < 1.0
        waves = np.where(body, 0.15 + 0.04 * _texture(4.0, rng), waves)
    return waves


SCENES = {"moon": _moon, "dolphins": _dolphins}


def _coordinates() -> tuple[Floats, Floats]:
    """Return how far up and across each pixel of a picture is from its middle, in halves of its height."""
    height, width = SCENE
    up, across = np.mgrid[:height, :width]
    return 1.0 - 2.0 * up / (height - 1), (2.0 * across - (width - 1)) / (height - 1)


def _texture(smoothness: float, rng: np.random.RandomState) -> Floats:
    """Return smooth noise of mean 0 and variance 1."""
    field = gaussian_filter(rng.standard_normal(SCENE), smoothness)
    return (field - field.mean()) / field.std()


def _check_levels(levels: ArrayLike | None, noise: str) -> Floats:
    if levels is None:
        return np.arange(1.0, 10.0) if noise == "contrast" else np.arange(50.0, 451.0, 50.0) / 255.0
    given = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if given.ndim != 1 or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"levels={levels!r} must be a one-dimensional array of nonnegative numbers.")
    return given


def _descendants(first: Array, n_sequences: int, branches: tuple[float, float], rng: np.random.RandomState) -> Array:
    """Return a sequence and others (n, length), each of which descends from a random one before it."""
    family = [first]
    for older in range(1, n_sequences):
        parent = family[rng.randint(older)]
        odds = 20.0 / 19.0 * rng.uniform(*branches)
        # A new letter drawn from all of them is the old one again in one of 20 cases.
        changed = rng.uniform(size=len(first)) < -np.expm1(-odds)
        family.append(np.where(changed, rng.randint(len(LETTERS), size=len(first)), parent))
    return np.array(family)
