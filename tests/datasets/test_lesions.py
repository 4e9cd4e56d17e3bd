"""Colors of lesions follow their recipe, and the pictures have these colors inside and outside of their masks."""

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, label
from sklearn.preprocessing import scale as z_scores

from protolearn.datasets import make_lesion_images, make_lesions
from protolearn.datasets.images import _lab_to_rgb

SHIFTS = {"red": (-6, 13, 3), "white": (9, -6, -5), "blue": (-13, 1, -12), "brown": (-14, 5, 4)}
SKIN, SKIN_SPREAD = (68, 12, 17), (7, 3.5, 3.5)
SKIN_CORRELATION = [[1, -0.5, -0.2], [-0.5, 1, 0.3], [-0.2, 0.3, 1]]
FEW = (4, 3, 2, 3)


def lab_of(X):
    """Colors outside and inside in Lab, of samples that are not clipped."""
    color = pytest.importorskip("skimage.color")
    free = ((X > 0) & (X < 1)).all(axis=1)
    return color.rgb2lab(X[:, :3])[free], color.rgb2lab(X[:, 3:])[free], free


def precision(features, y, k=11):
    """Share of the k nearest samples that are of the same class, by a plain search."""
    Z = z_scores(features)
    D = np.square(Z[:, None] - Z).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    return np.mean(y[np.argsort(D, axis=1)[:, :k]] == y[:, None])


class TestLesions:
    def test_samples(self):
        X, y = make_lesions(random_state=0)
        assert X.shape == (211, 6)
        assert X.dtype == np.float64
        assert X.min() >= 0
        assert X.max() <= 1
        names, counts = np.unique(y, return_counts=True)
        assert dict(zip(names, counts)) == {"red": 82, "white": 46, "blue": 29, "brown": 54}
        assert np.mean(y[1:] == y[:-1]) < 0.5  # in random order

    def test_the_seed_decides(self):
        rng = np.random.RandomState(5)
        (X, y), (other, _) = make_lesions(random_state=rng), make_lesions(random_state=rng)
        again = make_lesions(random_state=5)
        np.testing.assert_array_equal(X, again[0])
        np.testing.assert_array_equal(y, again[1])
        assert not np.array_equal(X, other)

    def test_lab_to_rgb_is_that_of_scikit_image(self):
        color = pytest.importorskip("skimage.color")
        lab = np.random.RandomState(0).uniform((0, -60, -60), (100, 60, 60), (5000, 3))
        ours = _lab_to_rgb(lab)
        assert np.mean((ours == 0) | (ours == 1)) > 0.1  # colors that do not exist are among them
        lab[:, 2] = np.minimum(lab[:, 2], 199 * (lab[:, 0] + 16) / 116)  # no negative Z, at which it warns
        np.testing.assert_allclose(_lab_to_rgb(lab), color.lab2rgb(lab), atol=1e-5)
        np.testing.assert_allclose(_lab_to_rgb(np.array([[0.0, 0, 0], [100, 0, 0]])), [[0] * 3, [1] * 3], atol=1e-4)

    def test_skin_has_the_moments_of_the_recipe(self):
        outside, _, _ = lab_of(make_lesions((20_000,) * 4, random_state=0)[0])
        np.testing.assert_allclose(outside.mean(axis=0), SKIN, atol=0.4)  # the brightest are clipped
        np.testing.assert_allclose(outside.std(axis=0), SKIN_SPREAD, rtol=0.05)
        np.testing.assert_allclose(np.corrcoef(outside.T), SKIN_CORRELATION, atol=0.03)

    @pytest.mark.parametrize(("persistence", "scale"), [(0.6, 0.87), (1.0, 0.87), (0.0, 0.5)])
    def test_lesions_are_skin_times_persistence_plus_shift_plus_noise(self, persistence, scale):
        spread = (2.0, 1.0, 3.0)
        X, y = make_lesions((20_000,) * 4, persistence=persistence, scale=scale, spread=spread, random_state=1)
        outside, inside, free = lab_of(X)
        for name, shift in SHIFTS.items():
            mine = y[free] == name
            design = np.column_stack([outside[mine] - SKIN, np.ones(mine.sum())])
            weights, *_ = np.linalg.lstsq(design, inside[mine] - SKIN, rcond=None)
            np.testing.assert_allclose(weights[:3], persistence * np.eye(3), atol=0.06)
            np.testing.assert_allclose(weights[3], scale * np.array(shift), atol=0.25)
            np.testing.assert_allclose((inside[mine] - SKIN - design @ weights).std(axis=0), spread, rtol=0.06)

    def test_in_the_control_setting_only_shift_and_noise_are_added(self):
        X, y = make_lesions(persistence=1, spread=(0, 0, 0), random_state=2)
        outside, inside, free = lab_of(X)
        assert free.sum() > 150
        shifts = np.array([SHIFTS[name] for name in y[free]])
        np.testing.assert_allclose(inside - outside, 0.87 * shifts, atol=0.01)

    @pytest.mark.parametrize(("persistence", "of_colors", "of_differences"), [(0.6, 0.640, 0.729), (1.0, 0.609, 0.765)])
    def test_how_well_colors_and_their_differences_retrieve(self, persistence, of_colors, of_differences):
        """The rates are means over 200 samples from a program of its own; 40 have a standard error of 0.005."""
        rates = []
        for seed in range(40):
            X, y = make_lesions(persistence=persistence, random_state=seed)
            rates.append([precision(X, y), precision(X[:, 3:] - X[:, :3], y)])
        np.testing.assert_allclose(np.mean(rates, axis=0), [of_colors, of_differences], atol=0.015)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"counts": (3, 3, 3)}, r"counts=\(3, 3, 3\) must be 4 numbers, one for each of red, white, blue, brown"),
            ({"counts": 5}, "counts=5 must be 4 numbers"),
            ({"counts": (3, 3, 0, 3)}, "counts=0 must be an integer in"),
            ({"counts": (3, 3, 2.5, 3)}, "counts=2.5 must be an integer in"),
            ({"scale": -1}, "scale=-1 must be a number in"),
            ({"persistence": 1.1}, r"persistence=1.1 must be a number in \[0, 1\]"),
            ({"spread": 5}, "spread=5 must be 3 numbers, one for each of L, a, b"),
            ({"spread": (5, -1, 5)}, "spread=-1 must be a number in"),
        ],
    )
    @pytest.mark.parametrize("make", [make_lesions, make_lesion_images])
    def test_says_what_is_wrong(self, make, options, message):
        with pytest.raises(ValueError, match=message):
            make(**options)


class TestLesionImages:
    @pytest.fixture(scope="class")
    @staticmethod
    def pictures():
        return make_lesion_images((20, 20, 20, 20), random_state=0)

    def test_shapes_and_types(self):
        images, masks, y = make_lesion_images(FEW, size=20, random_state=0)
        assert images.shape == (12, 20, 20, 3)
        assert images.dtype == np.uint8
        assert masks.shape == (12, 20, 20)
        assert masks.dtype == bool
        assert y.shape == (12,)

    @pytest.mark.parametrize("size", [16, 33, 64])
    def test_means_of_the_regions_are_the_colors(self, size):
        options = {"scale": 0.8, "persistence": 0.7, "spread": (4, 4, 5), "random_state": 3}
        images, masks, y = make_lesion_images((30, 30, 30, 30), size=size, **options)
        X, labels = make_lesions((30, 30, 30, 30), **options)
        np.testing.assert_array_equal(y, labels)
        means = np.array([np.r_[picture[~mask].mean(0), picture[mask].mean(0)] for picture, mask in zip(images, masks)])
        off = np.abs(means - 255 * X)
        assert off.max() < 3
        assert off[(X < 0.95).all(axis=1)].max() < 0.5  # none of their pixels need be clipped

    def test_masks_are_spots_in_the_picture(self, pictures):
        _, masks, _ = pictures
        share = masks.mean(axis=(1, 2))
        assert share.min() > 0.05
        assert share.max() < 0.4
        for mask in masks:
            parts, n_parts = label(mask)
            assert n_parts >= 1
            assert np.bincount(parts[mask]).max() > 0.8 * mask.sum()
            rim = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
            assert rim.mean() < 0.1

    def test_outlines_are_uneven(self, pictures):
        """The outline of a disc or an ellipse, counted in sides of pixels, is as long as that of the box around it."""

        def n_bays(mask):
            (height, width), sides = np.ptp(np.argwhere(mask), axis=0) + 1, np.pad(mask, 1)
            outline = (sides[1:] != sides[:-1]).sum() + (sides[:, 1:] != sides[:, :-1]).sum()
            return (outline - 2 * (height + width)) // 2

        up, across = np.indices((64, 64)) - 31.3
        assert n_bays(np.hypot(up + 0.4 * across, across) < 20) == 0
        assert np.mean([n_bays(mask) > 0 for mask in pictures[1]]) > 0.5

    def test_the_border_is_soft(self):
        """From skin to lesion, colors change within a few pixels, not at once."""
        images, masks, _ = make_lesion_images((10,) * 4, scale=2, spread=(0, 0, 0), random_state=1)
        profiles = []
        for picture, mask in zip(images.astype(float), masks):
            outside, inside = picture[~mask].mean(axis=0), picture[mask].mean(axis=0)
            along = (picture - outside) @ (inside - outside) / np.square(inside - outside).sum()
            depth = np.where(mask, distance_transform_edt(mask), 1 - distance_transform_edt(~mask))
            profiles.append([along[np.abs(depth - place) <= 1].mean() for place in (-6, -1, 0.5, 2, 7)])
        profile = np.mean(profiles, axis=0)
        assert np.all(np.diff(profile) > 0)
        assert abs(profile[0]) < 0.1
        assert 0.3 < profile[2] < 0.7
        assert profile[4] > 0.9

    def test_skin_has_a_texture(self, pictures):
        images, masks, _ = pictures
        for picture, mask in zip(images.astype(float), masks):
            gray = picture.mean(axis=2)
            assert gray[~mask].std() > 2
            steps = np.diff(gray, axis=1)[~mask[:, 1:]]
            assert 0.5 < steps.std() < 1.4 * gray[~mask].std()  # neighbors are alike, but not the same

    def test_no_two_pictures_are_alike(self, pictures):
        images, masks, _ = pictures
        assert len({picture.tobytes() for picture in images}) == len(images)
        assert len({mask.tobytes() for mask in masks}) == len(masks)

    def test_the_seed_decides(self):
        for one, other in zip(make_lesion_images(FEW, random_state=4), make_lesion_images(FEW, random_state=4)):
            np.testing.assert_array_equal(one, other)
        assert not np.array_equal(
            make_lesion_images(FEW, random_state=5)[0], make_lesion_images(FEW, random_state=4)[0]
        )

    def test_small_pictures_are_refused(self):
        with pytest.raises(ValueError, match=r"size=15 must be an integer in .16, inf."):
            make_lesion_images(size=15)
