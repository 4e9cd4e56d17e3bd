"""Patches are parts of their pictures, and those of unseen pictures are kept apart."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.datasets import cut_image_patches, texture_protocol


def numbered(*shapes, channels=3):
    """Pictures each of whose values tells where it is: picture, row, column, channel."""
    return [
        np.stack([1e6 * i + 1e3 * row + column + 0.1 * c for c in range(channels)], axis=-1)
        for i, (row, column) in enumerate(map(np.indices, shapes))
    ]


def place(patch):
    """Picture, row and column of the upper left pixel."""
    first = round(patch[0, 0, 0])
    return first // 10**6, first // 1000 % 1000, first % 1000


class TestCutPatches:
    @given(
        shapes=st.lists(st.tuples(st.integers(4, 9), st.integers(4, 9)), min_size=1, max_size=4),
        channels=st.integers(1, 4),
        size=st.integers(1, 4),
        wrap=st.booleans(),
        seed=st.integers(0, 100),
    )
    def test_patches_are_parts_of_their_pictures(self, shapes, channels, size, wrap, seed):
        images = numbered(*shapes, channels=channels)
        y = np.array(list("abcd"[: len(shapes)]))
        patches, labels, sources = cut_image_patches(images, y, 5, size=size, wrap=wrap, random_state=seed)
        assert patches.shape == (5 * len(shapes), size, size, channels)
        np.testing.assert_array_equal(sources, np.repeat(np.arange(len(shapes)), 5))
        np.testing.assert_array_equal(labels, y[sources])
        for patch, source in zip(patches, sources):
            picture, row, column = place(patch)
            assert picture == source
            whole = np.roll(images[source], (-row, -column), axis=(0, 1))  # the place is now the upper left corner
            np.testing.assert_array_equal(patch, whole[:size, :size])
            if not wrap:
                assert row + size <= shapes[source][0]
                assert column + size <= shapes[source][1]

    @pytest.mark.parametrize(("wrap", "n_rows", "n_columns"), [(False, 3, 5), (True, 5, 7)])
    def test_all_places_are_equally_likely(self, wrap, n_rows, n_columns):
        patches, _, _ = cut_image_patches(numbered((5, 7)), ["a"], 30_000, size=3, wrap=wrap, random_state=0)
        counts = np.zeros((5, 7))
        np.add.at(counts, tuple(np.array([place(patch)[1:] for patch in patches]).T), 1)
        expected = 30_000 / (n_rows * n_columns)
        np.testing.assert_allclose(counts[:n_rows, :n_columns], expected, atol=5 * np.sqrt(expected))
        assert counts.sum() == counts[:n_rows, :n_columns].sum()

    def test_a_patch_may_be_the_whole_picture(self):
        images = numbered((4, 4))
        patches, _, _ = cut_image_patches(images, [0], 2, size=4)
        np.testing.assert_array_equal(patches, [images[0]] * 2)

    @pytest.mark.parametrize("dtype", [np.uint8, np.float32])
    def test_the_type_stays(self, dtype):
        images = np.arange(2 * 6 * 6 * 3).reshape(2, 6, 6, 3).astype(dtype)
        assert cut_image_patches(images, [0, 1], 1, size=3)[0].dtype == dtype

    def test_pictures_are_left_alone(self):
        images = numbered((6, 6))
        patches, _, _ = cut_image_patches(images, [0], 4, size=3)
        patches[:] = 0
        np.testing.assert_array_equal(images[0], numbered((6, 6))[0])

    def test_the_seed_decides(self):
        images = numbered((40, 40), (50, 30))
        first, again, other = (cut_image_patches(images, [0, 1], 10, random_state=seed)[0] for seed in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)

    @pytest.mark.parametrize("cut", [cut_image_patches, texture_protocol])
    @pytest.mark.parametrize(
        ("images", "message"),
        [
            ([np.zeros((20, 20, 3)), np.zeros((20, 14, 3))], r"images\[1\] has 20 x 14 pixels, too few for .* size=15"),
            ([np.zeros((14, 20, 3)), np.zeros((20, 20, 3))], r"images\[0\] has 14 x 20 pixels"),
            ([np.zeros((20, 20, 3)), np.zeros((20, 20, 4))], r"images\[1\] has 4 channels .* but images\[0\] has 3"),
            ([np.zeros((20, 20, 3)), np.zeros((20, 20, 3), np.uint8)], r"images\[1\] has 3 channels of uint8, but"),
            (
                [np.zeros((20, 20, 3)), np.zeros((20, 20))],
                r"images\[1\] has shape \(20, 20\), .* an axis for the channel",
            ),
            (np.zeros((2, 20, 20)), r"images\[0\] has shape \(20, 20\), expected \(h, w, c\)"),
            ([np.zeros((20, 20, 3))], "inconsistent numbers of samples"),
        ],
    )
    @pytest.mark.parametrize("wrap", [False, True])
    def test_pictures_that_do_not_fit_are_named(self, cut, images, message, wrap):
        n_patches = (5,) if cut is cut_image_patches else ()
        with pytest.raises(ValueError, match=message):
            cut(images, ["a", "a"], *n_patches, wrap=wrap)

    def test_says_what_is_wrong(self):
        images = numbered((20, 20))
        with pytest.raises(ValueError, match=r"n_patches=0 must be an integer in .1, inf."):
            cut_image_patches(images, [0], 0)
        with pytest.raises(ValueError, match=r"size=0 must be an integer in .1, inf."):
            cut_image_patches(images, [0], 1, size=0)
        with pytest.raises(ValueError, match="images is empty"):
            cut_image_patches([], [], 1)


class TestTextureProtocol:
    SHAPES = ((20, 20), (18, 25), (30, 16), (20, 20), (17, 17), (20, 21), (22, 20), (16, 16), (20, 20), (24, 24))
    Y = np.array(["a", "b", "a", "b", "a", "c", "a", "c", "a", "a"])  # six, two, two

    def parts(self, **options):
        return texture_protocol(
            numbered(*self.SHAPES), self.Y, **({"n_train": 8, "n_test": 5, "n_unseen": 7, "random_state": 0} | options)
        )

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("wrap", [False, True])
    def test_no_unseen_picture_gives_a_patch_to_train_or_test_on(self, seed, wrap):
        parts = self.parts(random_state=seed, wrap=wrap)
        seen = set(range(10)) - set(parts.unseen)
        for name, pictures, n_patches in (("train", seen, 8), ("test", seen, 5), ("unseen", set(parts.unseen), 7)):
            X, y, sources = (getattr(parts, f"{kind}_{name}") for kind in ("X", "y", "sources"))
            assert X.shape == (n_patches * len(pictures), 15, 15, 3)
            np.testing.assert_array_equal(X // 1e6, np.broadcast_to(sources[:, None, None, None], X.shape))
            np.testing.assert_array_equal(y, self.Y[sources])
            np.testing.assert_array_equal(np.unique(sources), sorted(pictures))
            np.testing.assert_array_equal(np.bincount(sources)[sorted(pictures)], n_patches)

    @pytest.mark.parametrize(
        ("share", "counts"), [(1 / 3, (2, 1, 1)), (0.5, (3, 1, 1)), (0.01, (1, 1, 1)), (0.99, (5, 1, 1))]
    )
    def test_shares_are_of_each_class(self, share, counts):
        found = {}
        for seed in range(40):
            unseen = self.parts(unseen=share, random_state=seed, n_train=1, n_test=1, n_unseen=1).unseen
            assert np.all(np.diff(unseen) > 0)
            assert tuple(np.sum(self.Y[unseen] == label) for label in "abc") == counts
            found |= dict.fromkeys(unseen)
        assert len(found) == 10  # each picture is unseen at times

    def test_unseen_pictures_can_be_given(self):
        parts = self.parts(unseen=[8, 0, 3])
        np.testing.assert_array_equal(parts.unseen, [0, 3, 8])
        np.testing.assert_array_equal(np.unique(parts.sources_unseen), [0, 3, 8])
        np.testing.assert_array_equal(np.unique(parts.sources_train), [1, 2, 4, 5, 6, 7, 9])

    def test_train_and_test_are_drawn_apart(self):
        parts = self.parts(n_test=8)
        assert not np.array_equal(parts.X_train, parts.X_test)

    def test_the_seed_decides(self):
        one, same, other = (dataclasses.asdict(self.parts(random_state=seed)) for seed in (1, 1, 2))
        for name in one:
            np.testing.assert_array_equal(one[name], same[name])
        assert not np.array_equal(one["X_train"], other["X_train"])

    def test_the_sizes_of_the_document(self):
        y = np.repeat(list("abcde"), (8, 6, 6, 8, 7))
        images = [np.zeros((16, 16, 1))] * len(y)
        unseen = np.concatenate([np.flatnonzero(y == label)[:n] for label, n in zip("abcde", (4, 2, 2, 4, 3))])
        parts = texture_protocol(images, y, unseen=unseen)
        assert [len(X) for X in (parts.X_train, parts.X_test, parts.X_unseen)] == [3000, 1000, 750]

    @pytest.mark.parametrize(
        ("unseen", "message"),
        [
            (0.0, "unseen=0.0 must be a number in .0, 1."),
            (1.0, "unseen=1.0 must be a number in .0, 1."),
            ([], "must be a fraction of the images, or the indices of at least one"),
            ([0.5], "must be a fraction of the images, or the indices of at least one"),
            (np.arange(10) < 3, "must be a fraction of the images, or the indices of at least one"),
            ([[0, 1]], "must be a fraction of the images, or the indices of at least one"),
            ([0, 10], "unseen has indices from 0 to 10, but there are 10 images"),
            ([-1, 2], "unseen has indices from -1 to 2"),
            ([1, 3], "All images of class b are unseen"),
        ],
    )
    def test_pictures_that_cannot_be_kept_apart(self, unseen, message):
        with pytest.raises(ValueError, match=message):
            self.parts(unseen=unseen)

    def test_one_picture_cannot_be_seen_and_unseen(self):
        with pytest.raises(ValueError, match="Class c has only one image; it needs at least two"):
            texture_protocol(numbered((20, 20), (20, 20), (20, 20)), list("aac"))
