"""Allocation of a given number of bits to codebook, coefficients and their resolution."""

from __future__ import annotations

import zlib
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from protolearn.applications._bitstream import (
    LARGEST_BLOCK,
    MOST_PIXELS,
    MOST_PROTOTYPES,
    MOST_SIDE,
    Codebook,
    FreeLevels,
    Header,
    RangeLevels,
    best_subspaces,
    cut_blocks,
    join_blocks,
    members,
    pack,
    range_decode,
    range_encode,
    seal,
    unpack_bands,
    unseal,
)
from protolearn.core.estimator import Estimator, nothing_lost, unfinished
from protolearn.core.parameters import flag, integer, none, option, positive
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.maps import NGPCA, VQPCA, MatrixNeuralGas, MixturePPCA, NeuralGas, Ranks
from protolearn.metrics import psnr

__all__ = [
    "ImageCompressor",
    "decode_image",
]

LARGEST_SHARE = {False: 0.3, True: 0.5}  # of the side information, at a fixed rate and entropy coded


MOST_COMPONENTS = 24  # more, in larger blocks, are no better


MOST_CENTERS = 1024


ANY = 8  # bits of a coefficient where there is none, or where its step is sought


class Plan(NamedTuple):
    """Sizes of a codebook, and resolution of the coefficients."""

    block_size: int
    n_prototypes: int
    n_components: int
    coefficient_bits: int


def candidate_plans(method: str, entropy: bool, shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    """Yield plans worth comparing for images of these shapes, whose streams may take so many bytes together.

    At a fixed rate each uses the bytes up. What an entropy coder makes of a plan, only a trial can tell.

    Examples
    --------
    >>> next(candidate_plans("vq", False, [(256, 256)], allowed=8192))
    Plan(block_size=1, n_prototypes=1, n_components=0, coefficient_bits=8)
    >>> next(candidate_plans("pca", False, [(256, 256)], allowed=8192))
    Plan(block_size=4, n_prototypes=1, n_components=3, coefficient_bits=5)
    """
    channels = shapes[0][2] if len(shapes[0]) == 3 else 1
    if entropy:
        plans = _entropy_coded(method, channels)
    elif method == "vq":
        plans = _centers(shapes, allowed)
    else:
        plans = _components(method, channels, shapes, allowed)
    for plan in plans:
        if method == "vqpca" and plan.n_components == plan.block_size**2 * channels:
            continue  # every block would fit every prototype
        if sum(header.side_size for header in _headers(plan, shapes)) <= LARGEST_SHARE[entropy] * allowed:
            yield plan


def _centers(shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    for size in (1, 2, 3, 4):
        n = bisect(range(1, MOST_CENTERS + 1), allowed, key=lambda n: _fixed_size(Plan(size, n, 0, ANY), shapes))
        if n > 0:
            yield Plan(size, n, 0, ANY)


def _components(method: str, channels: int, shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    for size, n, bits in product((2, 4, 6, 8, 16), (1,) if method == "pca" else (1, 4, 16, 64), (5, 6)):
        numbers = range(1, size * size * channels + 1)
        k = bisect(numbers, allowed, key=lambda k: _fixed_size(Plan(size, n, k, bits), shapes))
        if 0 < k <= MOST_COMPONENTS:
            yield Plan(size, n, k, bits)


def _entropy_coded(method: str, channels: int) -> Iterator[Plan]:
    if method == "vq":
        for size, n in product((2, 3, 4), (16, 64, 256, MOST_CENTERS)):
            yield Plan(size, n, 0, ANY)
        return
    for size in (4, 8):
        area = size * size
        for k in sorted({area // 4, area // 2, area, area * channels}):
            yield Plan(size, 1, k, ANY)
        if method != "pca":
            yield Plan(size, 4, area // 2, ANY)
            yield Plan(size, 16, area // 4, ANY)


def _fixed_size(plan: Plan, shapes: Sequence[tuple[int, ...]]) -> int:
    return sum(header.fixed_size for header in _headers(plan, shapes))


def _headers(plan: Plan, shapes: Sequence[tuple[int, ...]]) -> list[Header]:
    return [Header(shape, *plan, has_codebook=True, checksum=0) for shape in shapes]


LOCAL: dict[str, Any] = {
    "matrix": partial(MatrixNeuralGas, regularization="floor"),
    "ngpca": partial(NGPCA, algorithm="batch"),
    "vqpca": VQPCA,
    "ppca": partial(MixturePPCA, init="k-means++"),
}


METHODS = (*LOCAL, "pca", "vq")


MOST_BLOCKS = 20_000  # that a codebook is learned from


TRIAL_EPOCHS, TRIAL_BLOCKS = 5, 5_000  # of the training when plans are compared


FINEST, USUAL, COARSEST = 2.0**-2, 2.0**4, 2.0**10  # steps of coefficients


SLACK = 0.02  # share of the bytes allowed that need not be used


FEW_TRIALS = 6  # of a step by interpolation, before halves of the interval are tried


class ImageCompressor(Estimator):
    r"""Image compression with local principal components, which adapt to the kind of block.

    An image is divided into blocks of ``block_size`` x ``block_size`` pixels; a block contains all color channels. A
    block x is coded by the index of a prototype w with orthonormal directions V, and by the coefficients
    :math:`V (x - w)`. It is decoded as

    .. math:: \hat x = w + V^\top V (x - w).

    Vector quantization (no directions) and global PCA (one prototype) are special cases. With n prototypes, k
    directions, T bits per coefficient and m pixels per block, the rate is :math:`(k T + \log_2 n) / m` bits per pixel,
    or less with entropy coding. The codebook takes the space of :math:`(k + 1) n` blocks with 8 bits per value.

    Parameters
    ----------
    method : {"matrix", "ngpca", "vqpca", "ppca", "pca", "vq"}, default="matrix"
        Method that learns the codebook: `MatrixNeuralGas`, `NGPCA`, `VQPCA`, `MixturePPCA`, global PCA (one prototype),
        or `NeuralGas` (no directions).
    n_prototypes : int, default=16
        Number n of prototypes; fewer are used if there are fewer distinct blocks.
    block_size : int, default=4
        Side length of a block in pixels, at most 16.
    n_components : int, default=4
        Number of directions k of each prototype.
    coefficient_bits : int, default=8
        Number T of bits per coefficient, at most 16. Coefficients are rounded to ``2**T`` steps between their smallest
        and largest value for this prototype and direction in the image. If ``entropy`` is true, all coefficients have
        the same step, the largest coefficient divided by ``2**(T - 1)``.
    assignment : {"reconstruction", "metric"}, default="reconstruction"
        Assignment of blocks to prototypes: ``"reconstruction"`` chooses the prototype that reconstructs the block best
        (if ``entropy`` is true, the best trade-off between bits and error), ``"metric"`` the nearest prototype in the
        metric of the map.
    entropy : bool, default=True
        Whether indices and coefficients are coded by an adaptive arithmetic coder instead of fixed numbers of bits.
        Files of the same quality are less than half as large, and the rate depends on the image.
    bpp : float, optional
        Maximum bits per pixel of the training images, including the codebook. If given, ``block_size``,
        ``n_prototypes``, ``n_components`` and ``coefficient_bits`` are ignored; several combinations that meet the rate
        are tried, and the one with the best image quality is used.
    max_iter : int, default=20
        Number of training epochs.
    random_state : int, RandomState instance or None, default=None
        Seed for reproducible training.
    verbose : int, default=0
        1 prints the combinations that are tried and chosen, 2 also the progress of training.

    Attributes
    ----------
    block_size_, n_prototypes_, n_components_, coefficient_bits_ : int
        The values used.
    prototypes_ : ndarray of shape (`n_prototypes_`, n_values)
        Prototypes before rounding.
    components_ : ndarray of shape (`n_prototypes_`, `n_components_`, n_values)
        Directions of the prototypes before rounding.
    estimator_ : object or None
        The fitted map, or the PCA if there is one prototype; None if every distinct block has its own prototype.
    step_ : float
        Quantization step of all coefficients if ``entropy`` is true, otherwise 0.
    bits_per_pixel_ : float
        Bits per pixel of the training images, including the codebook.
    n_channels_ : int
        Number of channels: 1 for gray images, 3 for color.

    See Also
    --------
    decode_image : Decodes a stream without a fitted compressor.

    Notes
    -----
    A stream contains a header, the codebook, the indices, the coefficients and a checksum. Decoding uses integers only,
    so a stream gives the same image on every machine. At most 20,000 blocks, drawn at random, are used for training. No
    color transform is applied first: the principal components of color blocks decorrelate the channels themselves, and
    better.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal, section 4.2.

    Kambhatla, Leen (1997). Dimension reduction by local principal component analysis. Neural Computation.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import ImageCompressor, decode_image
    >>> x = np.linspace(0, 8, 128)
    >>> image = (127 + 127 * np.sin(np.hypot.outer(x, x))).astype(np.uint8)
    >>> compressor = ImageCompressor(n_prototypes=4, n_components=2, coefficient_bits=6, random_state=0).fit(image)
    >>> stream = compressor.encode(image)
    >>> len(stream) < 2000, bool(compressor.bits_per_pixel_ == 8 * len(stream) / image.size)
    (True, True)
    >>> decode_image(stream).shape, compressor.score(image) > 35
    ((128, 128), True)
    """

    _constraints = {
        "method": option(*METHODS),
        "n_prototypes": integer(1, MOST_PROTOTYPES),
        "block_size": integer(1, LARGEST_BLOCK),
        "n_components": integer(1),
        "coefficient_bits": integer(1, 16),
        "assignment": option("reconstruction", "metric"),
        "entropy": flag,
        "bpp": positive | none,
        "max_iter": integer(1),
    }

    def __init__(
        self,
        method: str = "matrix",
        *,
        n_prototypes: int = 16,
        block_size: int = 4,
        n_components: int = 4,
        coefficient_bits: int = 8,
        assignment: str = "reconstruction",
        entropy: bool = True,
        bpp: float | None = None,
        max_iter: int = 20,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.n_prototypes = n_prototypes
        self.block_size = block_size
        self.n_components = n_components
        self.coefficient_bits = coefficient_bits
        self.assignment = assignment
        self.entropy = entropy
        self.bpp = bpp
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @nothing_lost
    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the codebook from one or several images.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, 3), or list of such arrays
            Images, of type uint8.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted compressor.
        """
        self._check_parameters()
        images = [check_image(image) for image in (X if isinstance(X, list | tuple) else [X])]
        if len({image.shape[2:] for image in images}) != 1:
            raise ValueError("Give at least one training image; all images must be gray, or all in color.")
        for plan in [self._given_plan()] if self.bpp is None else self._ranked_plans(images):
            self._train(images, plan, self.max_iter, MOST_BLOCKS)
            if self.bpp is None or self.bits_per_pixel_ <= self.bpp:
                return self
        raise ValueError(
            f"bpp={self.bpp} is too low for images this small, whose codebook takes a large part of the stream; "
            "raise bpp, or omit it and set block_size, n_prototypes and n_components."
        )

    def encode(self, image: ArrayLike, *, include_codebook: bool = True) -> bytes:
        """Compress an image to a stream of bytes.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, 3)
            Image of type uint8 and any size, gray or in color like the training images.
        include_codebook : bool, default=True
            Whether the stream contains the codebook and can be decoded by itself. Otherwise `decode_image` needs this
            compressor.

        Returns
        -------
        stream : bytes
            The compressed image.
        """
        picture = self._check_image(image)
        return self._write(picture.shape, cut_blocks(picture, self.block_size_), include_codebook)

    def decode(self, stream: bytes) -> NDArray[np.uint8]:
        """Decode a stream, with the codebook of this compressor if the stream has none.

        Parameters
        ----------
        stream : bytes
            Stream returned by `encode`.

        Returns
        -------
        image : ndarray of shape (height, width) or (height, width, 3)
            The decoded image.
        """
        check_is_fitted(self)
        return decode_image(stream, codebook=self)

    def reconstruct(self, image: ArrayLike, *, quantized: bool = True) -> Array:
        """Return an image after compression and decoding.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, 3)
            Image of type uint8.
        quantized : bool, default=True
            Whether codebook, coefficients and pixels are rounded. False shows the error without rounding.

        Returns
        -------
        decoded : ndarray of the shape of the image
            The decoded image, of type uint8 if quantized and float64 otherwise.
        """
        picture = self._check_image(image)
        blocks = cut_blocks(picture, self.block_size_)
        if quantized:
            indices, levels, steps = self._analyze(blocks)
            decoded: Array = self._codebook.reconstruct(indices, levels.restore(steps, indices))
            return join_blocks(decoded, picture.shape, self.block_size_)
        decoded = np.empty(blocks.shape)
        with chunk_threads(1):
            for i, own in members(self._assign(blocks, exact=True)):
                w, axes = self.prototypes_[i], self.components_[i]
                decoded[own] = w + (blocks[own] - w) @ axes.T @ axes
        return join_blocks(decoded, picture.shape, self.block_size_)

    def score(self, image: ArrayLike, y: None = None) -> float:
        """Return the peak signal-to-noise ratio of an image after compression.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, 3)
            Image of type uint8.
        y : None
            Ignored.

        Returns
        -------
        psnr : float
            Peak signal-to-noise ratio in decibels; larger is better.
        """
        return psnr(image, self.reconstruct(image))

    def rate(self, *, include_codebook: bool = True) -> float:
        """Return the bits per pixel of the training images.

        Parameters
        ----------
        include_codebook : bool, default=True
            Whether to include the size of the codebook.

        Returns
        -------
        rate : float
            Size of the streams in bits, divided by the number of pixels.
        """
        check_is_fitted(self)
        return self.bits_per_pixel_ - (0.0 if include_codebook else self._codebook_rate)

    def __sklearn_tags__(self) -> Tags:
        """Say that samples are images, not rows of a table."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    # Learning

    def _given_plan(self) -> Plan:
        n = 1 if self.method == "pca" else self.n_prototypes
        k = 0 if self.method == "vq" else self.n_components
        return Plan(self.block_size, n, k, self.coefficient_bits)

    def _ranked_plans(self, images: list[NDArray[np.uint8]]) -> list[Plan]:
        """Return the plans that meet the rate, those with the smallest error after a short training first."""
        assert self.bpp is not None
        trial, step, errors = clone(self), USUAL, {}
        shapes = [image.shape for image in images]
        for plan in candidate_plans(self.method, self.entropy, shapes, self.bpp * count_pixels(images) / 8):
            trial._train(images, plan, TRIAL_EPOCHS, TRIAL_BLOCKS, step)
            step = trial.step_ or USUAL  # that of the next plan is not far
            if trial.bits_per_pixel_ <= self.bpp:
                decoded = [trial.reconstruct(image).astype(np.float64) for image in images]
                errors[plan] = float(np.mean([np.square(one - image).mean() for one, image in zip(decoded, images)]))
                if self.verbose:
                    print(f"{plan}: {trial.bits_per_pixel_:.3f} bpp, mean squared error {errors[plan]:.2f}")
        return sorted(errors, key=errors.__getitem__)

    def _train(
        self, images: list[NDArray[np.uint8]], plan: Plan, max_iter: int, most_blocks: int, step: float = USUAL
    ) -> Self:
        """Learn a codebook as planned, and find the step of coefficients, from a guess, and the rate of images."""
        blocks = np.concatenate([cut_blocks(image, plan.block_size) for image in images])
        if plan.n_components > blocks.shape[1]:
            raise ValueError(
                f"n_components={plan.n_components}, but a block has only {blocks.shape[1]} values; "
                "choose fewer components or a larger block_size."
            )
        self.block_size_, self.coefficient_bits_ = plan.block_size, plan.coefficient_bits
        self.n_channels_ = images[0].size // count_pixels(images[:1])
        self._learn(blocks, plan, max_iter, most_blocks)
        self.n_prototypes_, self.n_components_, _ = self.components_.shape
        self._codebook = Codebook.quantized(self.prototypes_, self.components_)
        self._checksum = zlib.crc32(self._codebook.to_bytes())
        self.step_ = 0.0
        headers = [self._header(image.shape, True) for image in images]
        size = self._fit_step(images, step) if self.entropy else sum(header.fixed_size for header in headers)
        self.bits_per_pixel_ = 8 * size / count_pixels(images)
        self._codebook_rate = 8 * sum(header.codebook_size for header in headers) / count_pixels(images)
        return self

    def _learn(self, blocks: NDArray[np.uint8], plan: Plan, max_iter: int, most_blocks: int) -> None:
        """Find prototypes and components, and the map they come from."""
        n, k, m = plan.n_prototypes, plan.n_components, blocks.shape[1]
        rng = check_random_state(self.random_state)
        common: dict[str, Any] = {"random_state": rng.randint(2**31), "verbose": max(self.verbose - 1, 0)}
        kinds = _kinds(blocks, n)
        if len(blocks) > most_blocks:
            blocks = blocks[rng.choice(len(blocks), most_blocks, replace=False)]
        samples = blocks.astype(np.float64)
        self.estimator_: Any = None
        if len(kinds) <= n:
            self.prototypes_, self.components_ = kinds.astype(np.float64), np.empty((len(kinds), 0, m))
        elif self.method == "vq":
            kinds, counts = np.unique(samples, axis=0, return_counts=True)
            self.estimator_ = NeuralGas(min(n, len(kinds)), max_iter=max_iter, **common)
            self.prototypes_ = self.estimator_.fit(kinds, sample_weight=counts).prototypes_
            self.components_ = np.empty((len(self.prototypes_), 0, m))
        elif n == 1:  # what every method comes to
            with chunk_threads(1):
                self.estimator_ = PCA(k, svd_solver="covariance_eigh").fit(samples)
            self.prototypes_, self.components_ = self.estimator_.mean_[None], self.estimator_.components_[None]
        else:
            wide = max(1.0, n / 2)  # blocks fill their space: a wide start helps by 0.1 to 1.2 dB
            if self.method == "matrix":
                common |= {"init": "random", "neighborhood": Ranks((wide, 0.01))}
            elif self.method == "ngpca":
                common |= {"init": "random", "range_start": wide}
            with unfinished():  # a codebook that is nearly the best is as good
                self.estimator_ = LOCAL[self.method](n, n_components=k, max_iter=max_iter, **common).fit(samples)
            self.prototypes_, self.components_ = self.estimator_.prototypes_, self.estimator_.components_

    def _fit_step(self, images: list[NDArray[np.uint8]], guess: float) -> int:
        """Find the step of the coefficients, and return the bytes of all streams with it."""
        pictures = [(image.shape, cut_blocks(image, self.block_size_)) for image in images]

        def size(step: float) -> int:
            self.step_ = step
            return sum(len(self._write(*picture, include_codebook=True)) for picture in pictures)

        if self.bpp is None or self.n_components_ == 0:
            largest = 0.0
            for _, blocks in pictures:
                indices, values = self._coordinates(blocks)
                largest = np.abs(values * self._codebook.lengths[indices]).max(initial=largest)
            return size(float(np.clip(2.0 * largest / 2**self.coefficient_bits_, FINEST, COARSEST)))
        return _finest(size, self.bpp * count_pixels(images) / 8, guess)

    # Coding

    def _check_image(self, image: ArrayLike) -> NDArray[np.uint8]:
        check_is_fitted(self)
        picture = check_image(image)
        if (picture.shape[2] if picture.ndim == 3 else 1) != self.n_channels_:
            raise ValueError(
                f"The image has shape {picture.shape}, but the compressor was fitted to "
                f"{'gray images' if self.n_channels_ == 1 else 'images in color'}."
            )
        return picture

    def _coordinates(self, blocks: NDArray[np.uint8]) -> tuple[Indices, Floats]:
        """Return the index and the coefficients of each block."""
        with chunk_threads(1):  # sums in one order, whatever the number of cores
            indices = self._assign(blocks, exact=False)
            return indices, self._codebook.coefficients(blocks, indices)

    def _analyze(self, blocks: NDArray[np.uint8]) -> tuple[Indices, FreeLevels | RangeLevels, Indices]:
        """Return the index of each block, the levels that coefficients may have, and the level of each."""
        indices, values = self._coordinates(blocks)
        levels: FreeLevels | RangeLevels
        if self.step_ > 0:
            levels = FreeLevels.of(self._codebook, self.step_)
        else:
            levels = RangeLevels.fitted(values, indices, self.n_prototypes_, self.coefficient_bits_)
        return indices, levels, levels.quantize(values, indices)

    def _assign(self, blocks: NDArray[np.uint8], exact: bool) -> Indices:
        """Return the prototype of each block, by the codebook as it was learned or as it is rounded."""
        if self.assignment == "metric" and hasattr(self.estimator_, "predict"):
            return self.estimator_.predict(blocks.astype(np.float64))
        if exact:
            return best_subspaces(blocks, self.prototypes_, self.components_)
        return self._codebook.assign(blocks, self.step_)

    def _header(self, shape: tuple[int, ...], include_codebook: bool) -> Header:
        return Header(
            shape=shape,
            block_size=self.block_size_,
            n_prototypes=self.n_prototypes_,
            n_components=self.n_components_,
            coefficient_bits=0 if self.step_ > 0 else self.coefficient_bits_,
            has_codebook=include_codebook,
            checksum=self._checksum,
        )

    def _write(self, shape: tuple[int, ...], blocks: NDArray[np.uint8], include_codebook: bool) -> bytes:
        header = self._header(shape, include_codebook)
        codebook = self._codebook.to_bytes() if include_codebook else b""
        indices, levels, steps = self._analyze(blocks)
        if self.step_ > 0:
            body = range_encode(indices, steps, header)
        else:
            body = pack(indices, self.n_prototypes_) + pack(steps.ravel(), 2**self.coefficient_bits_)
        return seal(header.to_bytes() + codebook + levels.to_bytes() + body, header.least_size)


def decode_image(stream: bytes, *, codebook: ImageCompressor | None = None) -> NDArray[np.uint8]:
    """Decode a stream that `ImageCompressor.encode` has written.

    Parameters
    ----------
    stream : bytes
        The compressed image.
    codebook : ImageCompressor, optional
        Compressor that wrote the stream; required if the stream contains no codebook.

    Returns
    -------
    image : ndarray of shape (height, width) or (height, width, 3)
        The image, of type uint8.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import ImageCompressor, decode_image
    >>> image = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    >>> left, right = image[:, :32], image[:, 32:]
    >>> compressor = ImageCompressor(n_prototypes=4, n_components=1, random_state=0).fit(left)
    >>> stream = compressor.encode(right, include_codebook=False)
    >>> len(stream), bool(np.abs(decode_image(stream, codebook=compressor).astype(int) - right).max() <= 1)
    (139, True)
    """
    header, body = unseal(stream)
    n, k, m = header.n_prototypes, header.n_components, header.n_values
    if header.has_codebook:
        book = Codebook.from_bytes(body[: header.codebook_size], n, k, m)
        body = body[header.codebook_size :]
    else:
        book = _codebook_of(codebook, header)
    scale, body = body[: header.levels_size], body[header.levels_size :]
    levels: FreeLevels | RangeLevels
    if header.coefficient_bits == 0:
        levels, coded = FreeLevels.from_bytes(scale, n, k), range_decode(body, header)
    else:
        levels, coded = RangeLevels.from_bytes(scale, n, k, header.coefficient_bits), unpack_bands(body, header)
    size, image = header.block_size, np.empty(header.shape, np.uint8)
    for rows, (indices, steps) in zip(header.bands, coded):
        band = image[size * rows.start : size * rows.stop]
        band[:] = join_blocks(book.reconstruct(indices, levels.restore(steps, indices)), band.shape, size)
    return image


def _finest(size: Callable[[float], int], allowed: float, start: float) -> int:
    """Call ``size`` for steps, at last for the finest, to a few percent, whose streams are not larger than allowed.

    Sizes are nearly a power of the step, so that few trials are enough.
    """
    aim, power, trial = (1.0 - SLACK / 2) * allowed, 0.5, 0
    fine, step, coarse = np.log([FINEST, start, COARSEST])
    before = step, 0
    while True:
        found = size(float(np.exp(step)))
        if (1.0 - SLACK) * allowed <= found <= allowed:
            return found
        fine, coarse = (fine, step) if found <= allowed else (step, coarse)
        if coarse - fine <= SLACK:
            return found if found <= allowed else size(float(np.exp(coarse)))
        if trial > 0:
            power = max(0.1, np.log(before[1] / found) / (step - before[0]))
        before, trial = (step, found), trial + 1
        guess = step + np.log(found / aim) / power if trial < FEW_TRIALS else 0.5 * (fine + coarse)
        step = np.clip(guess, fine + SLACK / 2, coarse - SLACK / 2)


def _kinds(blocks: NDArray[np.uint8], n: int) -> NDArray[np.uint8]:
    """Return the different blocks, if they are no more than n; otherwise more than n of them."""
    some = np.unique(blocks[: 16 * n], axis=0)
    return some if len(some) > n else np.unique(blocks, axis=0)


def count_pixels(images: list[NDArray[np.uint8]]) -> int:
    """Return the number of pixels of all images."""
    return sum(image.shape[0] * image.shape[1] for image in images)


def check_image(image: ArrayLike) -> NDArray[np.uint8]:
    """Require an image with at least one pixel, gray or in color, of type uint8."""
    picture = np.asarray(image)
    if picture.dtype != np.uint8:
        raise ValueError(
            f"An image must have values from 0 to 255 of type uint8, not {picture.dtype}; convert it first."
        )
    if picture.ndim not in (2, 3) or picture.shape[2:] not in ((), (3,)) or picture.size == 0:
        raise ValueError(
            f"An image must have shape (height, width) or (height, width, 3), not {picture.shape}; "
            "remove the alpha channel, and give several images as a list."
        )
    if picture.shape[0] * picture.shape[1] > MOST_PIXELS or max(picture.shape) > MOST_SIDE:
        raise ValueError(
            f"An image of shape {picture.shape} is too large: at most {MOST_PIXELS:,} pixels, at most {MOST_SIDE:,} "
            "in a row or column; crop it."
        )
    return picture


def _codebook_of(compressor: ImageCompressor | None, header: Header) -> Codebook:
    if compressor is None:
        raise ValueError(
            "The stream has no codebook; give the compressor that wrote it: decode_image(stream, codebook=...)."
        )
    check_is_fitted(compressor)
    shape = (header.n_prototypes, header.n_components, header.n_values)
    if compressor._checksum != header.checksum or compressor._codebook.directions.shape != shape:
        raise ValueError("The stream was written with a different codebook; give the compressor that wrote it.")
    return compressor._codebook
