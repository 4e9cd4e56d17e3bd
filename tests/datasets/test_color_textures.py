"""Made textures follow their recipes, and tiles of photographs are different places of them."""

import socket
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_sample_image

from protolearn.datasets import load_picture_textures, make_color_textures

CLASSES = ["bark", "brick", "tile", "fabric", "food"]
# class: darkest and brightest color, and how far the pattern goes from one to the other
COLORS = {
    "bark": ((0.18, 0.12, 0.08), (0.55, 0.43, 0.32), (0.0, 1.0)),
    "brick": ((0.35, 0.12, 0.08), (0.75, 0.62, 0.55), (0.3, 1.0)),
    "tile": ((0.25, 0.25, 0.25), (0.55, 0.62, 0.72), (0.0, 0.85)),
    "fabric": ((0.2, 0.15, 0.3), (0.6, 0.5, 0.75), (0.0, 1.0)),
    "food": ((0.45, 0.2, 0.02), (0.98, 0.65, 0.2), (0.0, 1.0)),
}
N = 24


@pytest.fixture(scope="module")
def textures():
    images, y = make_color_textures(N, random_state=0)
    return {label: images[y == label] for label in CLASSES}


def principal(picture):
    """Axes of the colors of a picture by their standard deviation, the largest first."""
    values, axes = np.linalg.eigh(np.cov(picture.reshape(-1, 3).T))
    return np.sqrt(values[::-1]), axes[:, ::-1].T


def pattern(picture):
    """Where the colors of pixels are between those of the darkest and the brightest ones, from 0 to 1."""
    axis = principal(picture)[1][0]
    place = picture @ (axis * np.sign(axis.sum()))
    low, high = np.quantile(place, [0.01, 0.99])
    return np.clip((place - low) / (high - low), 0, 1)


def runs(lines):
    """First and last index of all runs of true values, apart from those at the ends."""
    steps = np.flatnonzero(np.diff(np.r_[0, lines.astype(int), 0]))
    return [(first, last - 1) for first, last in steps.reshape(-1, 2) if first > 0 and last < len(lines)]


def joints(lines):
    """Where joints begin in a row of pixels; each must be two pixels wide."""
    found = runs(lines)
    assert all(last - first == 1 for first, last in found)
    return np.array([first for first, _ in found])


class TestColorTextures:
    def test_pictures(self):
        images, y = make_color_textures((2, 1, 3, 1, 2), size=32, random_state=0)
        assert images.shape == (9, 32, 32, 3)
        assert images.dtype == np.float64
        assert images.min() >= 0
        assert images.max() <= 1
        np.testing.assert_array_equal(y, np.repeat(CLASSES, (2, 1, 3, 1, 2)))
        assert make_color_textures(random_state=0)[0].shape == (20, 128, 128, 3)

    def test_the_seed_decides(self):
        first, again, other = (make_color_textures(1, size=20, random_state=seed)[0] for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)

    @pytest.mark.parametrize("label", CLASSES)
    def test_colors_lie_between_two_but_for_the_grain(self, textures, label):
        """Across the line between two colors there is only noise of 0.02, times the light of 0.7 to 1.3."""
        for picture in textures[label]:
            if picture.max() < 1 and picture.min() > 0:
                along, across, least = principal(picture)[0]
                assert along > 2 * across
                assert 0.7 * 0.019 < least <= across < 1.3 * 0.021

    @pytest.mark.parametrize("label", CLASSES)
    def test_the_two_colors(self, textures, label):
        low, high, ends = COLORS[label]
        expected = np.array([np.array(low) + (np.array(high) - low) * end for end in ends])
        found = []
        for picture in textures[label]:
            order = np.argsort(pattern(picture), axis=None, kind="stable")
            flat = picture.reshape(-1, 3)[order]
            found.append([flat[:60].mean(axis=0), flat[-60:].mean(axis=0)])
        # 24 pictures, whose colors vary by 0.05 and a tenth of their own; the grain shifts the ends
        np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=0.07)
        free = (expected > 0.15) & (expected < 0.8)  # colors near 0 and 1 are clipped and vary less
        spread = np.std(found, axis=0, ddof=1)[free]
        np.testing.assert_allclose(spread, np.hypot(0.05, 0.1 * expected[free]), atol=0.035)

    def test_bark_is_long_and_upright(self, textures):
        for picture in textures["bark"]:
            t = pattern(picture) - pattern(picture).mean()
            down, across = (t[4:] * t[:-4]).mean() / t.var(), (t[:, 4:] * t[:, :-4]).mean() / t.var()
            assert down > across + 0.3

    def test_bricks_are_laid_in_rows(self, textures):
        for picture in textures["brick"]:
            mortar = pattern(picture) > 0.75
            rows = joints(mortar.mean(axis=1) > 0.8)
            heights = np.diff(rows)
            assert np.ptp(heights) <= 1
            assert 12 - 1 < heights.mean() < 18 + 1
            starts = [joints(mortar[top + 2 : below].mean(axis=0) > 0.6) for top, below in pairwise(rows)]
            widths = np.concatenate([np.diff(columns) for columns in starts])
            assert np.ptp(widths) <= 1
            assert 26 - 1 < widths.mean() < 38 + 1
            for one, next_row in pairwise(starts):
                apart = np.abs(np.subtract.outer(one, next_row)).min()
                assert abs(apart - widths.mean() / 2) <= 1.5

    def test_tiles_are_square(self, textures):
        for picture in textures["tile"]:
            dark = pattern(picture) < 0.25
            periods = np.concatenate([np.diff(joints(dark.mean(axis=axis) > 0.8)) for axis in (0, 1)])
            assert np.ptp(periods) <= 1
            assert 18 - 1 < periods.mean() < 34 + 1

    def test_fabric_is_woven_at_all_angles(self, textures):
        """The product of sines of period p has its peak at a frequency of sqrt(2) / p."""
        frequencies, angles = [], []
        for picture in textures["fabric"]:
            t = pattern(picture)
            power = np.abs(np.fft.rfft2(t - t.mean()))
            row, column = np.unravel_index(power.argmax(), power.shape)
            up, across = np.fft.fftfreq(128)[row], np.fft.rfftfreq(128)[column]
            frequencies.append(np.hypot(up, across))
            angles.append(np.degrees(np.arctan2(up, across)) % 90)
        periods = np.sqrt(2) / np.array(frequencies)
        assert periods.min() > 3.1
        assert periods.max() < 6.2
        assert np.ptp(periods) > 1.5
        assert np.ptp(angles) > 45

    def test_food_is_grains_of_one_size_and_no_direction(self, textures):
        for picture in textures["food"]:
            t = pattern(picture) - pattern(picture).mean()
            power = np.square(np.abs(np.fft.fft2(t)))
            frequency = np.hypot(np.fft.fftfreq(128)[:, None], np.fft.fftfreq(128))
            middle = (frequency > 0.02) & (frequency < 0.15)
            assert power[middle].sum() > 0.85 * power.sum()
            down, across = ((t * np.roll(t, 3, axis)).mean() / t.var() for axis in (0, 1))
            assert abs(down - across) < 0.12

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_images": 0}, "n_images=0 must be an integer in"),
            ({"n_images": 1.5}, "n_images=1.5 must be an integer in"),
            ({"n_images": (1, 2, 3)}, r"n_images=\(1, 2, 3\) must be one number, or one for each of bark, brick, tile"),
            ({"n_images": (1, 2, 3, 4, 0)}, "n_images=0 must be an integer in"),
            ({"size": 15}, "size=15 must be an integer in .16, inf."),
        ],
    )
    def test_says_what_is_wrong(self, options, message):
        with pytest.raises(ValueError, match=message):
            make_color_textures(**options)


class TestPictureTextures:
    @pytest.fixture
    @staticmethod
    def photographs():
        data = pytest.importorskip("skimage.data")
        return {
            "fur": data.chelsea(),
            "gland": data.immunohistochemistry(),
            "leaves": load_sample_image("china.jpg"),
            "petals": load_sample_image("flower.jpg"),
            "stroma": data.immunohistochemistry(),
            "wood": data.coffee(),
        }

    def test_tiles_are_other_places_of_one_photograph(self, photographs):
        images, y = load_picture_textures()
        assert images.shape == (36, 40, 40, 3)
        assert images.dtype == np.float64
        np.testing.assert_array_equal(y, np.repeat(list(photographs), 6))
        covered = {photograph.tobytes(): np.zeros(photograph.shape[:2], int) for photograph in photographs.values()}
        for tile, label in zip(np.round(255 * images).astype(np.uint8), y):
            photograph = photographs[label]
            same = (photograph[:-39, :-39] == tile[0, 0]).all(axis=2)
            places = [
                (row, column)
                for row, column in np.argwhere(same)
                if np.array_equal(photograph[row : row + 40, column : column + 40], tile)
            ]
            assert len(places) == 1
            row, column = places[0]
            covered[photograph.tobytes()][row : row + 40, column : column + 40] += 1
        assert max(count.max() for count in covered.values()) == 1
        assert sum(count.sum() for count in covered.values()) == 36 * 40 * 40

    def test_nothing_is_downloaded(self, monkeypatch):
        pytest.importorskip("skimage.data")

        def refuse(*args, **kwargs):
            raise AssertionError("there is no network")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        load_picture_textures()

    def test_without_scikit_image(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "skimage", None)
        with pytest.raises(ImportError, match=r"need scikit-image: pip install 'protolearn\[images\]'"):
            load_picture_textures()
