"""Banks of filters: their formulas, their symmetries, and what they let pass."""

import cmath
import math

import numpy as np
import pytest

from protolearn.lvq import difference_of_gaussians_bank, gabor_bank

SHAPES = [(15, 15), (7, 9), (6, 8), (5, 4), (1, 9), (8, 1), (1, 1)]


def gabor_value(x, y, angle, wavelength, bandwidth, aspect, phase):
    sigma = wavelength / math.pi * math.sqrt(math.log(2) / 2) * (2**bandwidth + 1) / (2**bandwidth - 1)
    along = x * math.cos(angle) + y * math.sin(angle)
    across = -x * math.sin(angle) + y * math.cos(angle)
    window = math.exp(-(along**2 + aspect**2 * across**2) / (2 * sigma**2))
    return window, window * math.cos(2 * math.pi * along / wavelength + phase)


def dft(kernel, fy, fx):
    """Return the response of a kernel to a wave of any frequency, in turns per pixel."""
    h, w = kernel.shape
    return sum(
        kernel[i, j] * cmath.exp(-2j * math.pi * (fy * (i - h // 2) + fx * (j - w // 2)))
        for i in range(h)
        for j in range(w)
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", [{}, {"bandwidth": 0.6, "aspect": 0.5, "phase": 0.7, "n_orientations": 5}])
def test_gabor_filters_follow_the_formula(shape, settings):
    wavelengths = (4.0, 6.5)
    bank = gabor_bank(shape, wavelengths=wavelengths, **settings)
    full = {"n_orientations": 6, "bandwidth": 1.0, "aspect": 1.0, "phase": 0.0} | settings
    n = full.pop("n_orientations")
    assert bank.shape == (2 * n, *shape)
    for number, kernel in enumerate(bank):
        scale, turn = divmod(number, n)
        for i, j in np.ndindex(shape):
            x, y = j - shape[1] // 2, i - shape[0] // 2
            expected = gabor_value(x, y, turn * math.pi / n, wavelengths[scale], **full)[1]
            assert kernel[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_default_bank_is_that_of_the_source():
    bank = gabor_bank()
    assert bank.shape == (12, 15, 15)
    assert np.array_equal(bank, gabor_bank((15, 15), n_orientations=6, wavelengths=(7, 7 * math.sqrt(2))))
    sigma = 7 * math.sqrt(math.log(2) / 2) * 3 / math.pi
    assert sigma == pytest.approx(0.56 * 7, rel=4e-3)
    # at one wavelength from the middle the wave is at its crest: only the window is left
    assert bank[0, 7, 14] == pytest.approx(math.exp(-(7**2) / (2 * sigma**2)), rel=1e-12)


@pytest.mark.parametrize("phase", [0.0, 0.4, math.pi / 2])
def test_a_right_angle_turns_the_kernel(phase):
    bank = gabor_bank((9, 9), n_orientations=6, wavelengths=(4.0,), aspect=0.6, phase=phase)
    for turn in range(3):
        # from angle to angle + 90 degrees the wave turns from x towards y, which points down
        assert np.allclose(bank[turn + 3], np.rot90(bank[turn], -1), atol=1e-14)
    assert not np.allclose(bank[1], np.rot90(bank[1], -1), atol=1e-3)


def test_transposition_mirrors_the_angle():
    bank = gabor_bank((9, 9), n_orientations=6, wavelengths=(4.0,), aspect=0.6)
    for turn in range(6):
        assert np.allclose(bank[turn].T, bank[(3 - turn) % 6], atol=1e-14)
    oblong = gabor_bank((5, 9), n_orientations=6, wavelengths=(4.0,), aspect=0.6)
    upright = gabor_bank((9, 5), n_orientations=6, wavelengths=(4.0,), aspect=0.6)
    for turn in range(6):
        assert np.allclose(oblong[turn].T, upright[(3 - turn) % 6], atol=1e-14)


def test_phase_decides_on_symmetry():
    odd = gabor_bank((9, 9), phase=math.pi / 2)
    even = gabor_bank((9, 9))
    assert np.allclose(even, even[:, ::-1, ::-1], atol=1e-14)
    assert np.allclose(odd, -odd[:, ::-1, ::-1], atol=1e-14)
    assert np.abs(odd).max() > 0.1


@pytest.mark.parametrize("shape", [(15, 15), (6, 8), (1, 9)])
@pytest.mark.parametrize("phase", [0.0, 0.7])
def test_removed_dc_leaves_no_response_to_uniform_pictures(shape, phase):
    kept = gabor_bank(shape, phase=phase)
    removed = gabor_bank(shape, phase=phase, remove_dc=True)
    assert np.allclose(removed.sum(axis=(1, 2)), 0.0, atol=1e-12)
    assert np.abs(kept.sum(axis=(1, 2))).max() > 1e-3
    n = 6
    for number, (before, after) in enumerate(zip(kept, removed)):
        scale, turn = divmod(number, n)
        window = np.empty(shape)
        for i, j in np.ndindex(shape):
            position = j - shape[1] // 2, i - shape[0] // 2
            window[i, j] = gabor_value(*position, turn * math.pi / n, 7 * math.sqrt(2) ** scale, 1.0, 1.0, phase)[0]
        lost = before - after
        assert np.allclose(lost * window.sum(), window * before.sum(), atol=1e-10)  # a multiple of the window


@pytest.mark.parametrize("bandwidth", [0.5, 1.0, 1.8])
def test_bandwidth_is_that_of_the_response_at_half_its_height(bandwidth):
    wavelength = 8.0
    # on a large grid nothing is cut off, and a complex wave has one peak only
    cosine, sine = (
        gabor_bank((129, 129), n_orientations=1, wavelengths=(wavelength,), bandwidth=bandwidth, phase=phase)[0]
        for phase in (0.0, -math.pi / 2)
    )
    profile = (cosine + 1j * sine).sum(axis=0)
    x = np.arange(129) - 64

    def height(octaves):
        return abs((profile * np.exp(-2j * np.pi * x * 2.0**octaves / wavelength)).sum())

    peak = height(0.0)
    ratio = 2**bandwidth
    low, high = math.log2(2 / (1 + ratio)), math.log2(2 * ratio / (1 + ratio))
    assert high - low == pytest.approx(bandwidth)
    assert height(low) / peak == pytest.approx(0.5, rel=1e-3)
    assert height(high) / peak == pytest.approx(0.5, rel=1e-3)
    assert height(low + 0.02) / peak > 0.5 > height(low - 0.02) / peak


def test_aspect_below_one_lengthens_the_window_along_the_stripes():
    bank = gabor_bank((41, 41), n_orientations=1, wavelengths=(6.0,), aspect=0.5)[0]
    middle = 20
    sigma = 6 / math.pi * math.sqrt(math.log(2) / 2) * 3
    column = bank[:, middle]  # x = 0, along the stripes
    assert column[middle + 5] == pytest.approx(math.exp(-(5**2) / (2 * (sigma / 0.5) ** 2)), rel=1e-12)
    assert bank[middle, middle + 6] == pytest.approx(math.exp(-(6**2) / (2 * sigma**2)), rel=1e-12)


def test_each_gabor_filter_answers_best_to_its_own_wave():
    bank = gabor_bank((31, 31), n_orientations=4, wavelengths=(5.0,))
    for turn, angle in enumerate(np.pi * np.arange(4) / 4):
        answers = [abs(dft(kernel, math.sin(angle) / 5, math.cos(angle) / 5)) for kernel in bank]
        assert np.argmax(answers) == turn


@pytest.mark.parametrize("shape", [(15, 15), (6, 8), (1, 9)])
def test_differences_of_gaussians_follow_the_formula(shape):
    scales, ratio = (0.8, 1.5), 2.0
    bank = difference_of_gaussians_bank(shape, scales=scales, ratio=ratio)
    assert bank.shape == (2, *shape)
    for kernel, scale in zip(bank, scales):
        inner, outer = np.empty(shape), np.empty(shape)
        for i, j in np.ndindex(shape):
            square = (i - shape[0] // 2) ** 2 + (j - shape[1] // 2) ** 2
            inner[i, j], outer[i, j] = (math.exp(-square / (2 * s**2)) for s in (scale, ratio * scale))
        assert np.allclose(kernel, inner / inner.sum() - outer / outer.sum(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("shape", [(15, 15), (7, 9), (6, 8)])
def test_differences_of_gaussians_are_blind_to_uniform_pictures_and_to_orientation(shape):
    bank = difference_of_gaussians_bank(shape)
    assert np.allclose(bank.sum(axis=(1, 2)), 0.0, atol=1e-14)
    assert (bank[:, shape[0] // 2, shape[1] // 2] > 0).all()
    assert np.allclose(np.swapaxes(bank, 1, 2), difference_of_gaussians_bank(shape[::-1]), atol=1e-15)
    square = difference_of_gaussians_bank((9, 9))
    assert np.allclose(square, np.rot90(square, axes=(1, 2)), atol=1e-15)


def test_ratio_of_the_default_scales_joins_the_bands():
    bank = difference_of_gaussians_bank((41, 41), scales=(1.0, 1.6), ratio=1.6)
    joined = difference_of_gaussians_bank((41, 41), scales=(1.0,), ratio=2.56)
    assert np.allclose(bank.sum(axis=0), joined[0], atol=1e-15)  # the outer Gaussian of one is the inner of the next


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"shape": (0, 5)}, "shape"),
        ({"shape": (5, 2.5)}, "shape"),
        ({"shape": (5,)}, "shape"),
        ({"shape": (5, 5, 3)}, "shape"),
        ({"n_orientations": 0}, "n_orientations"),
        ({"n_orientations": 2.0}, "n_orientations"),
        ({"wavelengths": ()}, "wavelengths"),
        ({"wavelengths": (3.0, -1.0)}, "wavelengths"),
        ({"wavelengths": (np.nan,)}, "wavelengths"),
        ({"bandwidth": 0}, "bandwidth"),
        ({"bandwidth": np.inf}, "bandwidth"),
        ({"aspect": 0}, "aspect"),
        ({"phase": np.nan}, "phase"),
        ({"phase": "half"}, "phase"),
    ],
)
def test_gabor_bank_names_a_bad_setting(settings, named):
    with pytest.raises(ValueError, match=named):
        gabor_bank(**settings)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"shape": (5, 0)}, "shape"),
        ({"shape": (5,)}, "shape"),
        ({"scales": ()}, "scales"),
        ({"scales": (1.0, 0.0)}, "scales"),
        ({"scales": (np.inf,)}, "scales"),
        ({"ratio": 1.0}, "ratio"),
        ({"ratio": np.nan}, "ratio"),
    ],
)
def test_bank_of_gaussians_names_a_bad_setting(settings, named):
    with pytest.raises(ValueError, match=named):
        difference_of_gaussians_bank(**settings)
