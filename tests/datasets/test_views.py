import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest, spearmanr
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from experiments.datasets import make_three_gaussians
from protolearn.datasets import make_evolved_sequences, make_noisy_histograms, make_spectra, make_three_tip_star
from protolearn.dissimilarities import hamming

# name: (generator, shape of the samples, number of classes)
GENERATORS = {
    "three_gaussians": (make_three_gaussians, (300, 3), 3),
    "three_tip_star": (make_three_tip_star, (3000, 10), 2),
    "spectra": (make_spectra, (3048, 1000), 200),
}


def error_of_neighbor(X, y, metric="euclidean"):
    neighbor = NearestNeighbors(n_neighbors=1, metric=metric).fit(X).kneighbors(return_distance=False)[:, 0]
    return np.mean(y[neighbor] != y)


class TestEveryGenerator:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_samples_and_classes(self, name):
        make, shape, n_classes = GENERATORS[name]
        X, y = make(random_state=0)
        assert X.shape == shape
        assert X.dtype == np.float64
        assert np.isfinite(X).all()
        sizes = np.bincount(y)
        assert len(sizes) == n_classes
        assert np.ptp(sizes) <= 1
        assert np.mean(y[1:] == y[:-1]) < 0.6

    @pytest.mark.parametrize(
        "make",
        [*(make for make, _, _ in GENERATORS.values()), make_evolved_sequences, make_noisy_histograms],
    )
    def test_the_seed_decides(self, make):
        rng = np.random.RandomState(3)
        first, second, again = make(random_state=rng), make(random_state=rng), make(random_state=3)
        for one, other in zip(first, again):
            np.testing.assert_array_equal(one, other)
        assert not np.array_equal(first[0], second[0])

    @pytest.mark.parametrize(
        ("make", "wrong", "message"),
        [
            (make_three_gaussians, {"n_per_class": 0}, "n_per_class=0 must be an integer in .1, inf."),
            (make_three_tip_star, {"n_per_cluster": 0}, "n_per_cluster=0 must be an integer in .1, inf."),
            (make_three_tip_star, {"noise": -1.0}, "noise=-1.0 must be a number in .0, inf."),
            (make_spectra, {"n_genera": 0}, "n_genera=0 must be an integer in .1, inf."),
            (make_noisy_histograms, {"image": "sun"}, r"image='sun' must be one of 'moon', 'dolphins', or an array"),
            (make_noisy_histograms, {"image": [[0.0, 2.0]]}, r"image has values from 0 to 2; scale it"),
            (make_noisy_histograms, {"noise": "salt"}, "noise='salt' must be one of 'contrast', 'uniform'"),
            (make_noisy_histograms, {"binning": "cut"}, "binning='cut' must be one of 'range', 'clip'"),
            (make_noisy_histograms, {"levels": [1, -1]}, r"levels=\[1, -1\] must be a one-dimensional array"),
            (make_evolved_sequences, {"sizes": (3, 0)}, "sizes=0 must be an integer in .1, inf."),
            (make_evolved_sequences, {"length": 0}, "length=0 must be an integer in .1, inf."),
        ],
    )
    def test_errors(self, make, wrong, message):
        with pytest.raises(ValueError, match=message):
            make(**wrong)


class TestThreeGaussians:
    def test_the_distribution(self):
        X, y = make_three_gaussians(2000, random_state=0)
        residuals = (X - np.outer(4.5 * (y - 1), [0, 1, 0])) / [4.0, 0.3, 6.0]
        for feature in residuals.T:
            assert kstest(feature, "norm").pvalue > 1e-3

    def test_principal_components_hide_the_classes(self):
        X, y = make_three_gaussians(random_state=0)
        assert error_of_neighbor(X, y) < 0.03
        assert error_of_neighbor(PCA(2).fit_transform(X), y) > 0.55


class TestThreeTipStar:
    def test_noise_hides_the_star(self):
        X, y = make_three_tip_star(random_state=0)
        assert error_of_neighbor(X[:, :2], y) < 0.13
        assert error_of_neighbor(X, y) > 0.33

    def test_three_tips_with_both_classes_side_by_side(self):
        X, y = make_three_tip_star(2000, n_noise=0, random_state=0)
        assert X.shape == (12000, 2)
        tips = 5.0 * np.exp(1j * np.radians([90, 210, 330]))
        places = X @ [1, 1j]
        tip = np.abs(places[:, None] - tips).argmin(axis=1)
        turned = places / (tips[tip] / 5.0)
        for which in range(3):
            assert np.bincount(y[tip == which]) == pytest.approx([2000, 2000], rel=0.1)
            for label in (0, 1):
                some = turned[(tip == which) & (y == label)]
                assert some.imag.mean() == pytest.approx(1.1 * (2 * label - 1), abs=0.15)
                assert some.imag.std() == pytest.approx(0.7, abs=0.1)
                assert some.real.mean() == pytest.approx(5.0, abs=0.2)

    def test_noise(self):
        X, _ = make_three_tip_star(noise=2.0, n_noise=3, random_state=0)
        assert X.shape == (3000, 5)
        np.testing.assert_allclose(X[:, 2:].std(axis=0), 2.0, rtol=0.05)


class TestSpectra:
    def test_sums_and_peaks(self):
        X, y = make_spectra(500, 10, 5, random_state=0)
        np.testing.assert_allclose(X.sum(axis=1), 1.0)
        assert X.min() == 0.0
        n_peaks = (X > 0).sum(axis=1)
        assert n_peaks.mean() == pytest.approx(0.85 * 66, abs=1.0)
        assert y.max() == 49

    def test_species_of_a_genus_share_peaks(self):
        X, y = make_spectra(2000, 10, 5, random_state=0)
        peaks = np.array([(X[y == species] > 0).any(axis=0) for species in range(50)]).astype(int)
        np.testing.assert_array_equal(peaks.sum(axis=1), 66)
        shared = peaks @ peaks.T
        related = np.equal.outer(np.arange(50) // 5, np.arange(50) // 5) & ~np.eye(50, dtype=bool)
        other = ~related & ~np.eye(50, dtype=bool)
        assert shared[related].mean() == pytest.approx(60 * 0.6**2 + 1, abs=1.5)
        assert shared[related].min() > shared[other].max()

    def test_heights(self):
        X, _ = make_spectra(300, 5, 2, random_state=0)
        logs = [np.log(row[row > 0]) for row in X]
        centered = np.concatenate([row - row.mean() for row in logs])
        assert centered.std() == pytest.approx(0.4, abs=0.02)

    def test_species_do_not_depend_on_the_seed_or_on_their_number(self):
        few, many = make_spectra(600, 3, 2, random_state=0), make_spectra(1200, 6, 2, random_state=1)
        for species in range(6):
            np.testing.assert_array_equal(*((X[y == species] > 0).any(axis=0) for X, y in (few, many)))

    def test_the_nearest_neighbor_is_of_the_same_species(self):
        X, y = make_spectra(random_state=0)
        assert error_of_neighbor(X, y) < 0.02


class TestNoisyHistograms:
    @pytest.mark.pairwise(binning=["range", "clip"], noise=["contrast", "uniform"], image=["moon", "dolphins"])
    def test_they_count_the_pixels_of_the_images(self, image, noise, binning):
        H, levels, images = make_noisy_histograms(
            image, noise=noise, binning=binning, n_bins=64, return_images=True, random_state=0
        )
        assert len(H) == len(levels) == len(images) == 10
        assert levels[0] == 0
        assert images.min() >= 0
        assert (images.max() <= 1) == (binning == "clip")
        width = max(1.0, images.max()) / 64
        for counts, pixels in zip(H, images):
            bins = np.minimum((pixels.ravel() / width).astype(int), 63)
            assert counts.sum() == pixels.size
            assert np.abs(counts - np.bincount(bins, minlength=64)).sum() <= 4  # pixels on the border of two bins

    def test_contrast_of_a_given_image(self):
        image = np.array([[0.1, 0.2], [0.5, 1.0]])
        H, levels, images = make_noisy_histograms(image, [0.5, 2], return_images=True)
        np.testing.assert_array_equal(levels, [0, 0.5, 2])
        np.testing.assert_allclose(images[0], image)
        np.testing.assert_allclose(images[2], image * (2 * (image - 0.1) + 1))
        np.testing.assert_array_equal(H.sum(axis=1), 4)

    def test_uniform_noise_is_drawn_for_each_pixel(self):
        image = np.full((100, 100), 0.25)
        _, _, images = make_noisy_histograms(image, [0.4, 2.0], noise="uniform", return_images=True, random_state=0)
        np.testing.assert_array_equal(images[0], image)
        for level, one in zip((0.4, 2.0), images[1:]):
            assert kstest((one.ravel() - 0.25) / level, "uniform").pvalue > 1e-3

    @pytest.mark.parametrize(
        ("image", "levels", "noise"),
        [("moon", None, "contrast"), ("dolphins", np.arange(1, 10) / 10, "contrast"), ("dolphins", None, "uniform")],
    )
    @pytest.mark.parametrize("binning", ["range", "clip"])
    def test_distances_grow_with_the_difference_of_levels(self, image, levels, noise, binning):
        H, _ = make_noisy_histograms(image, levels, noise=noise, binning=binning, random_state=0)
        D = cdist(np.sqrt(H), np.sqrt(H))  # Hellinger
        ideal = np.abs(np.subtract.outer(range(10), range(10)))
        assert np.mean([spearmanr(row, gaps)[0] for row, gaps in zip(D, ideal)]) > 0.85

    def test_the_generated_images_are_dark_and_bright(self):
        _, _, images = make_noisy_histograms("moon", [1], return_images=True, random_state=0)
        moon = images[0]
        assert moon[60:180, 110:210].mean() > 0.5
        assert moon[:, :60].mean() < 0.1


class TestEvolvedSequences:
    def test_sequences(self):
        sequences, y = make_evolved_sequences((5, 3), length=40, random_state=0)
        assert [len(one) for one in sequences] == [40] * 8
        assert set("".join(sequences)) <= set("ACDEFGHIKLMNPQRSTVWY")
        np.testing.assert_array_equal(np.bincount(y), [5, 3])

    def test_distances_are_the_lengths_of_branches(self):
        families, _ = make_evolved_sequences((1, 1), length=100_000, random_state=0)
        assert evolutionary(families)[0, 1] == pytest.approx(0.35, abs=0.01)
        for seed in range(5):
            pair, _ = make_evolved_sequences((2,), length=20_000, random_state=seed)
            assert 0.015 < evolutionary(pair)[0, 1] < 0.125

    def test_distances_add_up_in_a_tree(self):
        """Of the three ways to pair four sequences, the two longer ones have the same sum of distances."""
        sequences, _ = make_evolved_sequences((2, 1, 1), length=200_000, random_state=0)
        D = evolutionary(sequences)
        sums = sorted([D[0, 1] + D[2, 3], D[0, 2] + D[1, 3], D[0, 3] + D[1, 2]])
        assert sums[1] == pytest.approx(sums[2], rel=0.02)

    def test_families(self):
        sequences, y = make_evolved_sequences(random_state=0)
        np.testing.assert_array_equal(np.bincount(y), [72, 72, 39, 30, 13])
        D = evolutionary(sequences)
        assert np.isfinite(D).all()
        same = np.equal.outer(y, y)
        assert D[same].mean() < 0.6 * D[~same].mean()
        assert error_of_neighbor(D, y, "precomputed") < 0.02
        assert np.mean(y[1:] == y[:-1]) < 0.6


def evolutionary(sequences):
    return -19 / 20 * np.log(1 - 20 / 19 * hamming(sequences))
