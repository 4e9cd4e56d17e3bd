"""Streams are what they say, to the bit; codebooks and assignments against slow oracles; damage is noticed."""

import tracemalloc
import zlib
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import gaussian_filter
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from protolearn.applications import ImageCompressor, decode_image
from protolearn.applications import _bitstream as bitstream
from protolearn.applications import compression as module
from protolearn.applications._bitstream import (
    FIELDS,
    Codebook,
    FreeLevels,
    Header,
    RangeLevels,
    cut_blocks,
    join_blocks,
    pack,
    packed_size,
    range_decode,
    range_encode,
    unpack,
)
from protolearn.applications.compression import candidate_plans
from protolearn.metrics import psnr

METHODS = ["matrix", "ngpca", "vqpca", "ppca", "pca", "vq"]
LOCAL = METHODS[:4]


def textured(height, width, channels=0, seed=0):
    """Smooth shades, edges and a fine texture."""
    rng = np.random.default_rng(seed)
    shape = (height, width, *([channels] if channels else []))
    sigma = [4, 4, *([0.5] if channels else [])]
    rows, columns = np.indices((height, width))
    picture = 500 * gaussian_filter(rng.normal(size=shape), sigma) + 120
    stripes = np.where(columns > width / 2, 25 * np.sin(0.7 * rows + 0.3 * columns), 60 * (rows > height / 3))
    picture += stripes.reshape(height, width, *[1] * (picture.ndim - 2))
    return np.clip(picture + 2 * rng.normal(size=shape), 0, 255).astype(np.uint8)


GRAY = textured(72, 96)
COLOR = textured(41, 50, 3)


def fitted(image=GRAY, method="matrix", **parameters):
    options = {"n_prototypes": 6, "max_iter": 8, "entropy": False, "random_state": 0, **parameters}
    return ImageCompressor(method, **options).fit(image)


# Bits


@given(st.integers(1, 70_000), st.data())
def test_packed_digits(base, data):
    digits = np.array(data.draw(st.lists(st.integers(0, base - 1), max_size=50)), np.int64)
    packed = pack(digits, base)
    assert len(packed) == packed_size(len(digits), base)
    np.testing.assert_array_equal(unpack(packed, base, len(digits)), digits)
    start = data.draw(st.integers(0, len(digits)))
    np.testing.assert_array_equal(unpack(packed, base, len(digits) - start, start), digits[start:])


@given(st.integers(2, 70_000))
def test_digits_take_hardly_more_than_their_information(base):
    bits = 8 * packed_size(100_000, base) / 100_000
    assert np.log2(base) <= bits <= 1.022 * np.log2(base)


def test_bits_stand_in_order():
    assert pack(np.array([1, 2, 0, 3, 1]), 4) == bytes([0b01_10_00_11, 0b01_000000])


@given(
    bits=st.integers(0, 11),
    columns=st.integers(1, 7),
    levels=arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(0, 4)), elements=st.integers(-65535, 65535)),
    seed=st.integers(0, 99),
    band=st.sampled_from([1, 50, 2**20]),
)
def test_entropy_coder_undoes_itself(bits, columns, levels, seed, band):
    indices = np.random.default_rng(seed).integers(2**bits, size=len(levels))
    rows = -(-len(levels) // columns)
    n_blocks = rows * columns
    levels = np.concatenate([levels, np.zeros((n_blocks - len(levels), levels.shape[1]), np.int64)])
    indices = np.concatenate([indices, np.zeros(n_blocks - len(indices), np.int64)])
    header = Header((rows, columns), 1, 2**bits, levels.shape[1], 0, True, 0)
    coded = range_encode(indices, levels, header)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bitstream, "HELD", 8 * band)  # whatever is decoded at a time
        found = [np.concatenate(parts) for parts in zip(*range_decode(coded, header))]
    np.testing.assert_array_equal(found[0], indices)
    np.testing.assert_array_equal(found[1], levels)


def test_entropy_coder_comes_near_the_entropy():
    """Independent symbols of a known distribution: no coder can do better, an adaptive one comes close."""
    rng = np.random.default_rng(0)
    shares = np.array([0.6, 0.2, 0.1, 0.05, 0.03, 0.01, 0.005, 0.005])
    entropy = -(shares @ np.log2(shares))
    indices = rng.choice(8, p=shares, size=40_000)
    coded = range_encode(indices, np.empty((40_000, 0), np.int64), Header((200, 200), 1, 8, 0, 0, True, 0))
    assert entropy < 8 * len(coded) / 40_000 < 1.05 * entropy


def test_entropy_coder_learns_from_neighbors():
    """Rows of equal indices cost next to nothing, though every index is as frequent as every other."""
    indices = np.repeat(np.random.default_rng(0).integers(16, size=50), 200)
    coded = range_encode(indices, np.empty((10_000, 0), np.int64), Header((50, 200), 1, 16, 0, 0, True, 0))
    assert len(coded) < 0.15 * packed_size(10_000, 16)


# Blocks


@given(st.integers(1, 20), st.integers(1, 20), st.sampled_from([(), (3,)]), st.integers(1, 7))
def test_blocks_of_any_picture(height, width, channels, size):
    image = np.random.default_rng(0).integers(256, size=(height, width, *channels), dtype=np.uint8)
    blocks = cut_blocks(image, size)
    np.testing.assert_array_equal(join_blocks(blocks, image.shape, size), image)
    per_row = -(-width // size)
    for number, block in enumerate(blocks):
        top, left = size * (number // per_row), size * (number % per_row)
        expected = [image[min(top + i, height - 1), min(left + j, width - 1)] for i in range(size) for j in range(size)]
        np.testing.assert_array_equal(block, np.ravel(expected))


@pytest.fixture(scope="module")
def book():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(5, 9, 3)))[0].swapaxes(1, 2)
    return Codebook.quantized(rng.uniform(0, 255, size=(5, 9)), axes)


def test_codebook_is_rounded_in_8_bits(book):
    assert book.centers.dtype == np.uint8
    np.testing.assert_array_equal(book.directions.max(axis=2), 127)
    again = Codebook.from_bytes(book.to_bytes(), 5, 3, 9)
    np.testing.assert_array_equal(again.centers, book.centers)
    np.testing.assert_array_equal(again.directions, book.directions)


def test_assignment_and_coefficients_are_those_of_least_squares(book):
    blocks = np.random.default_rng(1).integers(256, size=(60, 9), dtype=np.uint8)
    errors, best = np.empty((60, 5)), np.empty((60, 5, 3))
    for j, block in enumerate(blocks):
        for i in range(5):
            axes = book.directions[i].T / 128
            gap = block - book.centers[i].astype(float)
            best[j, i] = np.linalg.lstsq(axes, gap, rcond=None)[0]
            errors[j, i] = ((gap - axes @ best[j, i]) ** 2).sum()
    indices = book.assign(blocks)
    np.testing.assert_array_equal(indices, errors.argmin(axis=1))
    np.testing.assert_allclose(book.coefficients(blocks, indices), best[np.arange(60), indices], atol=1e-9)


def test_large_steps_make_cheap_coefficients_count(book):
    """With a step that is much larger than coefficients, error and size of the coefficients are one."""
    blocks = np.random.default_rng(1).integers(256, size=(60, 9), dtype=np.uint8)
    indices = book.assign(blocks, step=1e6)
    small = book.assign(blocks, step=1e-6)
    np.testing.assert_array_equal(small, book.assign(blocks))
    assert (indices != small).any()
    sizes = np.linalg.norm(book.coefficients(blocks, indices), axis=1)
    assert sizes.mean() < np.linalg.norm(book.coefficients(blocks, small), axis=1).mean()


def test_decoding_is_exact_rational_arithmetic(book):
    """Pixels are the exact value, rounded half up, in arithmetic without any rounding before."""
    rng = np.random.default_rng(2)
    indices = rng.integers(5, size=40)
    levels = RangeLevels(np.sort(rng.integers(-3000, 3000, size=(5, 3, 2)), axis=2).astype(np.int16), bits=5)
    steps = rng.integers(32, size=(40, 3))
    decoded = book.reconstruct(indices, levels.restore(steps, indices))
    for i, own, block in zip(indices, steps, decoded):
        for pixel in range(9):
            exact = Fraction(int(book.centers[i, pixel]))
            for j, step in enumerate(own.tolist()):
                low, high = (Fraction(int(end), 8) for end in levels.ends[i, j])
                value = low + (high - low) * (2 * step + 1) / 64
                exact += value * int(book.directions[i, j, pixel]) / 128
            assert block[pixel] == min(max(floor(exact + Fraction(1, 2)), 0), 255)


@given(st.integers(1, 16), st.integers(0, 99))
def test_coefficients_move_by_half_a_step_at_most(bits, seed):
    rng = np.random.default_rng(seed)
    indices = rng.integers(3, size=40)
    values = rng.normal(size=(40, 2)) * 10.0 ** rng.integers(-1, 3, size=2)
    levels = RangeLevels.fitted(values, indices, 3, bits)
    codes = levels.quantize(values, indices)
    assert codes.min() >= 0
    assert codes.max() < 2**bits
    widths = (levels.ends[..., 1].astype(int) - levels.ends[..., 0])[indices] / 8
    assert (np.abs(levels.restore(codes, indices) / 2**20 - values) <= widths / 2**bits / 2 + 1e-9).all()
    again = RangeLevels.from_bytes(levels.to_bytes(), 3, 2, bits)
    np.testing.assert_array_equal(again.ends, levels.ends)


def test_free_levels_are_as_far_apart_along_every_direction(book):
    levels = FreeLevels.of(book, 7.0)
    lengths = np.linalg.norm(book.directions / 128, axis=2)
    np.testing.assert_allclose(levels.steps / 2**20 * lengths, 7.0, rtol=1e-5)
    indices = np.zeros(201, np.int64)
    values = np.linspace(-50, 50, 201)[:, None] / lengths[0]
    codes = levels.quantize(values, indices)
    assert (np.abs(levels.restore(codes, indices) / 2**20 - values) * lengths[0] <= 0.6 * 7.0 + 1e-6).all()
    np.testing.assert_array_equal(codes, -codes[::-1])


# Streams


@pytest.mark.pairwise(image=[GRAY, GRAY[:33, :47], COLOR], method=METHODS, entropy=[False, True])
def test_stated_rate_is_the_real_one(image, method, entropy):
    compressor = fitted(image, method, entropy=entropy, coefficient_bits=5)
    n_pixels = image.shape[0] * image.shape[1]
    stream = compressor.encode(image)
    assert compressor.bits_per_pixel_ == compressor.rate() == 8 * len(stream) / n_pixels
    short = compressor.encode(image, include_codebook=False)
    assert compressor.rate(include_codebook=False) == pytest.approx(8 * len(short) / n_pixels, rel=1e-12)
    side = compressor.n_prototypes_ * (1 + compressor.n_components_) * compressor.prototypes_.shape[1]
    assert len(stream) - len(short) == side


@pytest.mark.parametrize(
    ("method", "n", "size", "k"), [("vq", 19, 1, 0), ("vq", 32, 2, 0), ("pca", 1, 8, 18), ("matrix", 16, 4, 4)]
)
def test_rate_is_that_of_the_formulas(method, n, size, k):
    """(k T + log2 n) / m, and (k + 1) n m T bits of codebook; what comes on top is below 2 %."""
    image = textured(256, 256)
    compressor = fitted(image, method, n_prototypes=n, block_size=size, n_components=max(k, 1), max_iter=1)
    m = size**2
    plain = (8 * k + np.log2(n)) / m
    whole = plain + (k + 1) * n * 8 * m / image.size
    assert plain <= compressor.rate(include_codebook=False) <= 1.02 * plain
    assert whole <= 8 * len(compressor.encode(image)) / image.size <= 1.02 * whole


@pytest.mark.parametrize("entropy", [False, True])
@pytest.mark.parametrize("image", [GRAY, COLOR], ids=["gray", "color"])
def test_the_same_bytes_and_pixels_each_time(image, entropy):
    compressor = fitted(image, entropy=entropy)
    with threadpool_limits(2):
        stream = compressor.encode(image)
        again = fitted(image, entropy=entropy).encode(image)
    with threadpool_limits(1):
        assert stream == again == clone(compressor).fit(image).encode(image)
    first, second = decode_image(stream), compressor.decode(stream)
    assert first.dtype == np.uint8
    assert first.shape == image.shape
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, compressor.reconstruct(image))


STREAMS = {
    "fixed": (
        (
            "504c4943010101040502000a0000000d0000000200000018031c6a27131b25333d2b3c404c3c4c414f40507d8995afa3b1bf"
            "cd9cabbac9687888987fff060f787fff05797ffdfe787dfaffd1343340f4f2536b120f70651512737fe0e9f304d2dee9f4ce"
            "dbe7f45664717f3b1e02967f614326644b32195945301c12fe6e052dfe6e02a8fbe902cafef600034000048445540215fffc"
            "150bf20f9130f52dc815"
        ),
        4139229457,
    ),
    "entropy": (
        (
            "504c4943010101040002000a0000000d0000000200000018031c6a27131b25333d2b3c404c3c4c414f40507d8995afa3b1bf"
            "cd9cabbac9687888987fff060f787fff05797ffdfe787dfaffd1343340f4f2536b120f70651512737fe0e9f304d2dee9f4ce"
            "dbe7f45664717f3b1e02967f614326644b32195945301c3bb6ad009621c50059b1ef0062a3c7008914c330c56105f377dcf4"
            "dac441651341c98b4baa"
        ),
        2106898125,
    ),
    "color": (
        (
            "504c4943010103020302000a0000000d00000001000000715b2c054241bd484db74b55b45a43a590d2709fce6188ba7881ca"
            "7feb7515f17f0ff11f0ffae90628fbdd02e6fc6a04e79e79e79c7bef1a628a2ef3b24409077a6354d160def6080b79c08460"
            "88b9"
        ),
        1644970972,
    ),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_old_give_the_same_picture_for_ever(kind):
    """On every machine, too: the checksums of the pixels were computed once."""
    stream, checksum = STREAMS[kind]
    assert zlib.crc32(decode_image(bytes.fromhex(stream)).tobytes()) == checksum


@pytest.mark.parametrize("method", METHODS)
def test_lossless_with_a_prototype_for_every_kind_of_block(method):
    image = GRAY.copy()
    image[:, 4:] = np.tile(image[:4, :4], (18, 23))
    n_kinds = len(np.unique(cut_blocks(image, 4), axis=0))
    compressor = fitted(image, method, n_prototypes=n_kinds)
    if method != "pca":  # which has one prototype
        assert compressor.n_prototypes_ == n_kinds
        np.testing.assert_array_equal(compressor.reconstruct(image), image)
        assert compressor.score(image) == np.inf


@pytest.mark.parametrize("image", [GRAY, COLOR], ids=["gray", "color"])
@pytest.mark.parametrize("entropy", [False, True])
def test_nearly_lossless_with_all_components(image, entropy):
    k = 4 * 4 * (3 if image.ndim == 3 else 1)
    decoded = fitted(image, "pca", n_components=k, coefficient_bits=14, entropy=entropy).reconstruct(image)
    assert np.abs(decoded.astype(int) - image).max() <= 1
    assert psnr(image, decoded) > 55


@pytest.mark.parametrize("method", LOCAL)
def test_one_prototype_is_global_pca(method):
    alone = fitted(GRAY, method, n_prototypes=1, n_components=3)
    model = module.LOCAL[method](1, n_components=3, max_iter=8, random_state=0).fit(cut_blocks(GRAY, 4).astype(float))
    np.testing.assert_allclose(alone.prototypes_, model.prototypes_, atol=1e-6)
    onto, expected = (axes.T @ axes for axes in (alone.components_[0], model.components_[0]))
    np.testing.assert_allclose(onto, expected, atol=1e-5)
    assert alone.encode(GRAY) == fitted(GRAY, "pca", n_components=3).encode(GRAY)


@pytest.mark.parametrize("method", METHODS)
def test_unquantized_picture_is_the_best_in_the_subspaces(method):
    """Every block is its projection to the nearest of the affine subspaces."""
    compressor = fitted(GRAY, method)
    blocks = cut_blocks(GRAY, 4).astype(float)
    errors = []
    for w, axes in zip(compressor.prototypes_, compressor.components_):
        projected = w + (blocks - w) @ axes.T @ axes
        errors.append(((blocks - projected) ** 2).sum(axis=1))
    decoded = cut_blocks(compressor.reconstruct(GRAY, quantized=False), 4)
    np.testing.assert_allclose(((blocks - decoded) ** 2).sum(axis=1), np.min(errors, axis=0), atol=1e-6)


def test_rounding_costs_little_at_8_bits():
    compressor = fitted()
    exact = psnr(GRAY, compressor.reconstruct(GRAY, quantized=False))
    assert exact - 0.3 < compressor.score(GRAY) < exact + 0.3


def test_assignment_by_reconstruction_is_better():
    by = {kind: fitted(assignment=kind) for kind in ("metric", "reconstruction")}
    np.testing.assert_array_equal(by["metric"].prototypes_, by["reconstruction"].prototypes_)
    assert by["reconstruction"].score(GRAY) > by["metric"].score(GRAY)
    assert by["reconstruction"].bits_per_pixel_ == by["metric"].bits_per_pixel_


def test_more_bits_make_a_better_picture():
    scores = [fitted(coefficient_bits=bits).score(GRAY) for bits in (2, 4, 6, 8)]
    assert scores == sorted(scores)
    scores = [fitted(n_components=k).score(GRAY) for k in (1, 3, 6, 12)]
    assert scores == sorted(scores)
    scores = [fitted(method="vq", n_prototypes=n).score(GRAY) for n in (2, 8, 32, 128)]
    assert scores == sorted(scores)


def test_local_components_are_better_than_global_ones():
    assert fitted(n_components=3).score(GRAY) > fitted(method="pca", n_components=3).score(GRAY) + 1


def test_entropy_coding_pays():
    image = textured(128, 128)
    plain, coded = (ImageCompressor(bpp=1.5, max_iter=3, random_state=0, entropy=e).fit(image) for e in (False, True))
    assert coded.score(image) > plain.score(image) + 1


# Rates


@pytest.mark.parametrize("method", ["matrix", "pca", "vq", "vqpca"])
@pytest.mark.parametrize("entropy", [False, True])
def test_rate_is_met(method, entropy):
    image = textured(96, 96)
    scores = []
    for bpp in (1.0, 2.0):
        compressor = ImageCompressor(method, bpp=bpp, entropy=entropy, max_iter=3, random_state=0).fit(image)
        rate = 8 * len(compressor.encode(image)) / image.size
        assert rate <= bpp
        if method != "vq" or not entropy:
            assert rate > (0.95 if entropy else 0.7) * bpp
        scores.append(compressor.score(image))
    assert scores[1] > scores[0] + 1


def test_best_of_the_plans_is_taken(capsys):
    """What is printed of the trials: the smallest error among them is that of the plan in use."""
    compressor = ImageCompressor(bpp=1.5, entropy=False, max_iter=1, random_state=0, verbose=1).fit(GRAY)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    best = min(lines, key=lambda line: float(line.split()[-1]))
    used = (compressor.block_size_, compressor.n_prototypes_, compressor.n_components_, compressor.coefficient_bits_)
    names = ("block_size", "n_prototypes", "n_components", "coefficient_bits")
    assert best.startswith("Plan(" + ", ".join(f"{name}={value}" for name, value in zip(names, used)) + ")")


@pytest.mark.parametrize("method", ["matrix", "vqpca", "pca", "vq"])
@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 8.0), st.integers(100, 600), st.sampled_from([(), (3,)]))
def test_plans_fit(method, bpp, side, channels):
    shape = (side, side + 7, *channels)
    allowed = bpp * shape[0] * shape[1] / 8
    for plan in candidate_plans(method, False, [shape], allowed):
        assert Header(shape, *plan, has_codebook=True, checksum=0).fixed_size <= allowed


def test_rate_that_cannot_be_met():
    with pytest.raises(ValueError, match=r"bpp=0.01 is too low"):
        ImageCompressor(bpp=0.01).fit(GRAY)


def test_at_most_so_many_blocks_are_learned_from(monkeypatch):
    monkeypatch.setattr(module, "MOST_BLOCKS", 50)
    compressor = fitted()
    assert len(compressor.estimator_.labels_) == 50
    assert compressor.score(GRAY) > 20


# Codebooks from elsewhere


@pytest.mark.parametrize("entropy", [False, True])
def test_codebook_of_another_picture(entropy):
    left, right = GRAY[:, :48], GRAY[:, 48:]
    compressor = fitted(left, entropy=entropy)
    stream = compressor.encode(right, include_codebook=False)
    decoded = decode_image(stream, codebook=compressor)
    np.testing.assert_array_equal(decoded, decode_image(compressor.encode(right)))
    np.testing.assert_array_equal(decoded, compressor.decode(stream))
    with pytest.raises(ValueError, match="has no codebook"):
        decode_image(stream)
    with pytest.raises(ValueError, match="a different codebook"):
        decode_image(stream, codebook=fitted(right, entropy=entropy))
    with pytest.raises(NotFittedError):
        decode_image(stream, codebook=ImageCompressor())


def test_several_pictures():
    pictures = [GRAY, GRAY[:40, :30].T.copy()]
    compressor = fitted(pictures)
    sizes = [len(compressor.encode(picture)) for picture in pictures]
    assert compressor.bits_per_pixel_ == 8 * sum(sizes) / sum(picture.size for picture in pictures)
    blocks = np.concatenate([cut_blocks(picture, 4) for picture in pictures])
    pca = fitted(pictures, "pca")
    np.testing.assert_allclose(pca.prototypes_[0], blocks.mean(axis=0), rtol=1e-12)


# Damage


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "entropy"])
def stream(request):
    return fitted(GRAY[:24, :32], entropy=request.param, coefficient_bits=5).encode(GRAY[:24, :32])


@settings(max_examples=60)
@given(st.data())
def test_a_wrong_bit_is_noticed(stream, data):
    place, bit = data.draw(st.integers(0, len(stream) - 1)), data.draw(st.integers(0, 7))
    wrong = bytearray(stream)
    wrong[place] ^= 1 << bit
    with pytest.raises(ValueError, match=r"starts with|version|checksum"):
        decode_image(bytes(wrong))


def test_a_lost_or_added_byte_is_noticed(stream):
    for length in [*range(60), len(stream) - 4, len(stream) - 1]:
        with pytest.raises(ValueError, match=r"starts with|checksum"):
            decode_image(stream[:length])
    with pytest.raises(ValueError, match="checksum"):
        decode_image(stream + b"\0")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_forged_header_makes_no_crash(stream, data):
    """With a valid checksum, a changed header is refused, or describes some picture."""
    wrong = bytearray(stream[:-4])
    for _ in range(data.draw(st.integers(1, 3))):
        wrong[data.draw(st.integers(5, FIELDS.size - 1))] = data.draw(st.integers(0, 255))
    try:
        decoded = decode_image(bytes(wrong) + zlib.crc32(wrong).to_bytes(4, "little"))
    except ValueError as error:
        assert "header" in str(error) or "codebook" in str(error) or "prototype" in str(error)  # noqa: PT017
    else:
        assert decoded.dtype == np.uint8


def sealed(header, body=b""):
    data = header.to_bytes() + body
    return data + zlib.crc32(data).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("shape", "changes", "body"),
    [
        ((2**14, 2**14), {}, 1),  # 34 bytes or less for a picture of 268 million pixels
        ((2**14, 2**14, 3), {"coefficient_bits": 0}, 4),
        ((2**27, 2), {}, 1),
        ((1, 2**16 + 1), {}, 1),
        ((4, 4), {"n_prototypes": 2**32 - 1}, 1),
        ((4, 4), {"block_size": 255}, 255**2),
        ((4, 4), {"n_components": 2**16 - 1, "coefficient_bits": 0}, 4),
    ],
)
def test_a_few_bytes_cannot_ask_for_much(shape, changes, body):
    given = {"block_size": 1, "n_prototypes": 1, "n_components": 0, "coefficient_bits": 8, **changes}
    stream = sealed(Header(shape, has_codebook=True, checksum=0, **given), bytes(body))
    tracemalloc.start()
    with pytest.raises(ValueError, match="header"):
        decode_image(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 + 4 * len(stream)


@pytest.mark.parametrize("entropy", [False, True])
def test_large_pictures_of_next_to_nothing_come_back(entropy):
    """Their streams are padded, so that they have the bytes that so many pixels need."""
    image = np.full((3000, 4000), 7, np.uint8)
    stream = ImageCompressor("vq", entropy=entropy).fit(image[:8, :8]).encode(image)
    assert len(stream) == -(-(image.size - 2**23) // 1000)
    np.testing.assert_array_equal(decode_image(stream), image)


@pytest.mark.parametrize("entropy", [False, True])
def test_decoding_a_row_at_a_time_changes_nothing(entropy, monkeypatch):
    stream = fitted(COLOR, "pca", entropy=entropy).encode(COLOR)
    whole = decode_image(stream)
    monkeypatch.setattr(bitstream, "HELD", 1)
    np.testing.assert_array_equal(decode_image(stream), whole)


@pytest.mark.parametrize("entropy", [False, True])
def test_decoding_takes_little_more_memory_than_picture_and_stream(entropy, monkeypatch):
    """Indices, coefficients and blocks of the whole picture are never there at once."""
    image = np.tile(GRAY, (6, 6))
    stream = fitted(GRAY, "pca", block_size=1, n_components=1, entropy=entropy).encode(image)
    monkeypatch.setattr(bitstream, "HELD", 8 * 2**12)
    decode_image(stream)
    tracemalloc.start()
    decode_image(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * (image.size + len(stream))


def test_other_files_and_versions(stream):
    with pytest.raises(ValueError, match=r"Not a compressed image .* starts with b'\\x89PNG'"):
        decode_image(b"\x89PNG\r\n\x1a\n" + stream)
    with pytest.raises(ValueError, match="starts with b''"):
        decode_image(b"")
    newer = stream[:4] + b"\x07" + stream[5:-4]
    with pytest.raises(ValueError, match="version 7, but this release reads only version 1"):
        decode_image(newer + zlib.crc32(newer).to_bytes(4, "little"))
    with pytest.raises(ValueError, match="not str"):
        decode_image("stream")
    np.testing.assert_array_equal(decode_image(bytearray(stream)), decode_image(memoryview(stream)))


# Manners


def test_parameters_are_left_alone():
    compressor = ImageCompressor("vq", n_prototypes=1000, bpp=None, coefficient_bits=16)
    before = compressor.get_params()
    compressor.fit(GRAY[:20, :20])
    assert compressor.get_params() == before
    assert compressor.n_prototypes_ == 25
    assert not [name for name in vars(clone(compressor)) if name.endswith("_")]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "jpeg"}, "method='jpeg' must be one of 'matrix'"),
        ({"assignment": "best"}, "assignment='best' must be one of"),
        ({"n_prototypes": 0}, "n_prototypes=0 must be an integer"),
        ({"block_size": 17}, "block_size=17 must be an integer in"),
        ({"n_components": 17}, "n_components=17, but a block has only 16 values"),
        ({"coefficient_bits": None}, "coefficient_bits=None must be an integer"),
        ({"bpp": 0}, "bpp=0 must be a number"),
        ({"max_iter": 0}, "max_iter=0 must be"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ImageCompressor(**parameters).fit(GRAY)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (GRAY / 255, "uint8, not float64"),
        (GRAY[0], r"not \(96,\)"),
        (np.zeros((8, 8, 4), np.uint8), r"not \(8, 8, 4\); remove the alpha channel"),
        (np.zeros((0, 8), np.uint8), r"not \(0, 8\)"),
        (np.broadcast_to(np.uint8(0), (2**14 + 1, 2**14)), "at most 268,435,456 pixels"),
        (np.broadcast_to(np.uint8(0), (2, 2**16 + 1)), "at most 65,536 in a row"),
        ([GRAY, COLOR], "must be gray, or all in color"),
        ([], "at least one"),
    ],
    ids=["float", "row", "transparent", "empty", "huge", "long", "mixed", "none"],
)
def test_wrong_pictures(image, message):
    with pytest.raises(ValueError, match=message):
        ImageCompressor().fit(image)


def test_pictures_of_the_other_kind():
    with pytest.raises(ValueError, match="fitted to gray images"):
        fitted(GRAY).encode(COLOR)
    with pytest.raises(NotFittedError):
        ImageCompressor().encode(GRAY)
    with pytest.raises(NotFittedError):
        ImageCompressor().rate()


def test_parameters_that_change_later_have_no_effect():
    compressor = fitted()
    before = compressor.encode(GRAY)
    assert compressor.set_params(entropy=True, coefficient_bits=2, block_size=8, n_prototypes=3).encode(GRAY) == before


def test_constant_picture():
    image = np.full((30, 50), 77, np.uint8)
    for entropy in (False, True):
        compressor = ImageCompressor(entropy=entropy).fit(image)
        np.testing.assert_array_equal(compressor.reconstruct(image), image)
        assert len(compressor.encode(image)) < 50


# The measure


def test_psnr():
    rng = np.random.default_rng(0)
    first, second = rng.integers(256, size=(2, 20, 30), dtype=np.uint8)
    error = sum((int(a) - int(b)) ** 2 for a, b in zip(first.ravel(), second.ravel())) / 600
    assert psnr(first, second) == pytest.approx(10 * np.log10(255**2 / error))
    assert psnr(first / 255, second / 255, peak=1) == pytest.approx(psnr(first, second))
    assert psnr(first, first) == np.inf
    with pytest.raises(ValueError, match=r"\(20, 30\) and \(30,\)"):
        psnr(first, first[0])
    with pytest.raises(ValueError, match="peak=0"):
        psnr(first, second, peak=0)
