"""Gray patches behind filters: powers and nearest neighbors against plain Fourier transforms."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from protolearn import CIALVQ
from protolearn.applications import GrayPowers, gray_texture_classifier
from protolearn.datasets import cut_image_patches, make_color_textures
from protolearn.lvq import difference_of_gaussians_bank, gabor_bank

WEIGHTS = np.array([0.2989, 0.587, 0.114])


def plain_powers(patches, kernels, weights=WEIGHTS):
    """Return |sum_l G_l o F(gray)|^2 at all frequencies, filter by filter."""
    gray = np.fft.fft2(patches @ weights, norm="ortho")
    response = sum(gray * np.fft.fft2(np.fft.ifftshift(kernel)) for kernel in kernels)
    return (np.abs(response) ** 2).reshape(len(patches), -1)


@pytest.fixture(scope="module")
def textures():
    return cut_image_patches(*make_color_textures(2, size=64, random_state=0), 12, size=9, random_state=0)[:2]


@pytest.mark.parametrize("size", [(9, 9), (8, 8), (5, 8), (1, 7)])
def test_distances_are_those_of_all_frequencies(size):
    patches = np.random.default_rng(0).random((12, *size, 3))
    plain = plain_powers(patches, gabor_bank(size))
    ours = GrayPowers().fit_transform(patches)
    assert ours.shape[1] < plain.shape[1] or size[1] == 1
    expected = cdist(plain, plain)
    np.testing.assert_allclose(cdist(ours, ours) / expected.max(), expected / expected.max(), atol=1e-12)


def test_other_filters_and_weights():
    patches = np.random.default_rng(0).random((6, 7, 7, 4))
    kernels, weights = difference_of_gaussians_bank((7, 7)), (1.0, -0.5, 0.0, 2.0)
    plain = plain_powers(patches, kernels, np.array(weights))
    ours = GrayPowers(weights, kernels).fit_transform(patches)
    np.testing.assert_allclose(cdist(ours, ours), cdist(plain, plain), rtol=1e-9)


def test_one_neighbor_is_that_of_plain_powers(textures):
    X, y = textures
    train, test = np.arange(0, len(X), 2), np.arange(1, len(X), 2)
    plain = plain_powers(X, gabor_bank((9, 9)))
    nearest = cdist(plain[test], plain[train]).argmin(axis=1)
    model = gray_texture_classifier().fit(X[train], y[train])
    np.testing.assert_array_equal(model.predict(X[test]), y[train][nearest])


def test_shifts_and_lost_colors_change_nothing(textures):
    X, y = textures
    powers = GrayPowers().fit_transform(X)
    np.testing.assert_allclose(GrayPowers().fit_transform(np.roll(X, (3, -2), axis=(1, 2))), powers, rtol=1e-9)
    other = X + np.array([0.587, -0.2989, 0.0]) * np.random.default_rng(0).random((len(X), 9, 9, 1))
    assert np.abs(other - X).max() > 0.3
    np.testing.assert_allclose(GrayPowers().fit_transform(other), powers, rtol=1e-7, atol=1e-9 * powers.max())
    assert cross_val_score(gray_texture_classifier(), X, y, cv=3).mean() > 0.5


def test_powers_are_those_of_color_lvq_with_the_same_weights(textures):
    X, y = textures
    model = CIALVQ(1, structure="color", localization="global", max_iter=5, random_state=0).fit(X, y)
    weights = model.color_weights_[0]
    powers = GrayPowers(weights).fit_transform(X)
    full = model.powers(X)[:, 0].reshape(len(X), -1)
    np.testing.assert_allclose(cdist(powers, powers), cdist(full, full), rtol=1e-6, atol=1e-9 * full.max())


@pytest.mark.parametrize(
    ("patches", "message"),
    [
        (np.zeros((3, 5, 5)), r"expected \(n, height, width, 3\)"),
        (np.zeros((3, 5, 5, 1)), "a channel for each"),
        (np.full((3, 5, 5, 3), np.nan), "NaN or infinity"),
    ],
)
def test_wrong_patches_are_refused(patches, message):
    with pytest.raises(ValueError, match=message):
        GrayPowers().fit(patches)


def test_filters_of_another_size_are_refused():
    with pytest.raises(ValueError, match="the size of the patches"):
        GrayPowers(filters=gabor_bank((7, 7))).fit(np.zeros((3, 5, 5, 3)))


def test_is_cloned_with_its_parameters():
    weights = (1.0, 0.0, 0.0)
    assert clone(gray_texture_classifier(3, weights=weights)).get_params()["powers__weights"] == weights


def test_banks_have_names():
    patches = np.random.default_rng(0).random((4, 7, 7, 3))
    named = GrayPowers(filters="gaussians").fit_transform(patches)
    np.testing.assert_array_equal(
        named, GrayPowers(filters=difference_of_gaussians_bank((7, 7))).fit_transform(patches)
    )
    assert np.abs(named - GrayPowers().fit_transform(patches)).max() > 1e-3
    with pytest.raises(ValueError, match="filters='gauss' must be one of"):
        GrayPowers(filters="gauss").fit(patches)
