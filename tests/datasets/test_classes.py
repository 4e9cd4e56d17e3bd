import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.datasets import make_label_image, make_landsat_like
from protolearn.datasets import make_cigars, make_oblique_classes

# name: (generator, shape of the samples, number of classes, first class)
GENERATORS = {
    "cigars": (make_cigars, (600, 2), 2, 0),
    "oblique": (make_oblique_classes, (210, 16), 7, 0),
    "landsat": (make_landsat_like, (5600, 6), 14, 1),
    "image": (make_label_image, (200, 200, 6), 14, 1),
}


class TestEveryGenerator:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_shape_and_type(self, name):
        make, shape, n_classes, first = GENERATORS[name]
        X, y = make(random_state=0)
        assert X.dtype == np.float64
        assert X.shape == shape
        assert y.shape == shape[:-1]
        assert np.all(np.isfinite(X))
        np.testing.assert_array_equal(np.unique(y), np.arange(first, first + n_classes))

    @pytest.mark.parametrize("name", GENERATORS)
    def test_the_seed_decides(self, name):
        make = GENERATORS[name][0]
        rng = np.random.RandomState(3)
        first, second = make(random_state=rng), make(random_state=rng)
        for one, other in zip(first, make(random_state=3)):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(first, second):
            assert not np.array_equal(one, other)

    @pytest.mark.parametrize("name", ["cigars", "oblique", "landsat"])
    def test_sizes(self, name):
        make, shape, n_classes, first = GENERATORS[name]
        for n_per_class in (1, 17):
            X, y = make(n_per_class, random_state=0)
            assert X.shape == (n_classes * n_per_class, shape[1])
            np.testing.assert_array_equal(np.bincount(y)[first:], n_per_class)
        with pytest.raises(ValueError, match=r"n_per_class=0 must be an integer in .1, inf."):
            make(0)

    @pytest.mark.parametrize("name", ["cigars", "oblique", "landsat"])
    def test_samples_are_in_random_order(self, name):
        _, y = GENERATORS[name][0](random_state=0)
        assert np.mean(y[1:] == y[:-1]) < 0.6

    @pytest.mark.parametrize("name", ["oblique", "landsat"])
    def test_classes_do_not_depend_on_the_seed(self, name):
        make = GENERATORS[name][0]
        train, test = make(2000, random_state=0), make(2000, random_state=1)
        for label in np.unique(train[1]):
            one, other = (X[y == label] for X, y in (train, test))
            np.testing.assert_allclose(one.mean(axis=0), other.mean(axis=0), atol=0.15 * one.std(axis=0).max())
            np.testing.assert_allclose(one.std(axis=0), other.std(axis=0), rtol=0.1)


class TestCigars:
    """Points of the plane as complex numbers: a clockwise turn by an angle is a product with exp(-i angle)."""

    TURNS = np.exp(-1j * np.array([np.pi / 4, -np.pi / 6]))
    PLACES = np.array([1.5, -1.5])

    def covariance(self, label, variances):
        axes = np.array([[z.real, z.imag] for z in (self.TURNS[label], 1j * self.TURNS[label])])
        return sum(variance * np.outer(axis, axis) for variance, axis in zip(variances, axes))

    def center(self, label, rotate_means):
        z = self.PLACES[label] * (self.TURNS[label] if rotate_means else 1)
        return np.array([z.real, z.imag])

    @pytest.mark.parametrize("rotate_means", [True, False])
    @pytest.mark.parametrize(("scale", "variances"), [("std", (0.25, 9.0)), ("variance", (0.5, 3.0))])
    def test_moments(self, rotate_means, scale, variances):
        X, y = make_cigars(50_000, rotate_means=rotate_means, scale=scale, random_state=0)
        for label in (0, 1):
            np.testing.assert_allclose(X[y == label].mean(axis=0), self.center(label, rotate_means), atol=0.04)
            np.testing.assert_allclose(np.cov(X[y == label].T), self.covariance(label, variances), atol=0.1)

    def test_narrow_axes_are_the_main_directions_of_the_published_matrices(self):
        published = [[[0.5156, -0.4997], [-0.4997, 0.4844]], [[0.7195, 0.4492], [0.4492, 0.2805]]]
        X, y = make_cigars(5000, random_state=0)
        for label, matrix in enumerate(published):
            narrow = np.linalg.eigh(np.cov(X[y == label].T))[1][:, 0]
            assert abs(narrow @ np.linalg.eigh(matrix)[1][:, 1]) > 0.999

    def test_turning_the_means_only_moves_the_classes(self):
        (turned, y), (fixed, _) = (make_cigars(rotate_means=turn, random_state=0) for turn in (True, False))
        for label in (0, 1):
            move = self.center(label, True) - self.center(label, False)
            np.testing.assert_allclose((turned - fixed)[y == label], np.tile(move, (300, 1)), atol=1e-12)

    @pytest.mark.parametrize(
        ("rotate_means", "scale", "best"),
        [(True, "std", 0.912), (False, "std", 0.923), (True, "variance", 0.866), (False, "variance", 0.909)],
    )
    def test_accuracy_of_the_optimal_classifier(self, rotate_means, scale, best):
        X, y = make_cigars(50_000, rotate_means=rotate_means, scale=scale, random_state=0)
        variances = (0.25, 9.0) if scale == "std" else (0.5, 3.0)
        densities = [
            multivariate_normal(self.center(label, rotate_means), self.covariance(label, variances)).pdf(X)
            for label in (0, 1)
        ]
        assert np.mean(np.argmax(densities, axis=0) == y) == pytest.approx(best, abs=0.003)

    def test_unknown_scale_is_refused(self):
        with pytest.raises(ValueError, match="scale='sigma' must be one of 'std', 'variance'"):
            make_cigars(scale="sigma")


class TestObliqueClasses:
    class Diagonal(NearestCentroid):
        """Nearest class mean after each feature was divided by its spread within the classes."""

        def fit(self, X, y):
            self.spread_ = np.sqrt(np.mean([X[y == label].var(axis=0) for label in np.unique(y)], axis=0))
            return super().fit(X / self.spread_, y)

        def predict(self, X):
            return super().predict(X / self.spread_)

    def accuracies(self, n_per_class, seed, *models):
        X, y = make_oblique_classes(n_per_class, random_state=seed)
        X_test, y_test = make_oblique_classes(300, random_state=seed + 100)
        return [np.mean(model.fit(X, y).predict(X_test) == y_test) for model in models]

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize(("n_per_class", "shrinkage"), [(30, 0.05), (2000, 0.0)])
    def test_every_freedom_of_the_metric_pays(self, n_per_class, shrinkage, seed):
        # The optimal classifier of each kind stands for GLVQ (raw and scaled), GRLVQ, GMLVQ and LGMLVQ.
        raw, scaled, diagonal, full, local = self.accuracies(
            n_per_class,
            seed,
            NearestCentroid(),
            make_pipeline(StandardScaler(), NearestCentroid()),
            self.Diagonal(),
            LinearDiscriminantAnalysis(),
            make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=shrinkage)),
        )
        assert raw + 0.2 < scaled
        assert scaled + 0.02 < diagonal
        assert diagonal + 0.02 < full
        assert full + 0.05 < local
        assert local > 0.95

    def test_local_relevances_are_between_a_global_and_local_matrices(self):
        diagonal, naive, local = self.accuracies(
            2000, 0, self.Diagonal(), GaussianNB(), QuadraticDiscriminantAnalysis()
        )
        assert diagonal + 0.02 < naive < local - 0.02

    def test_large_features_tell_the_least(self):
        X, y = make_oblique_classes(500, random_state=0)
        spread = X.std(axis=0)
        assert 30 < spread[0] / spread[-1] < 300
        means = np.array([X[y == label].mean(axis=0) for label in range(7)])
        explained = means.var(axis=0) / X.var(axis=0)
        assert explained[:4].max() < 0.2 < explained[-4:].mean()


class TestLandsatLike:
    def test_bands_are_scaled(self):
        X, _ = make_landsat_like(2000, random_state=0)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)
        np.testing.assert_allclose(X.std(axis=0), 1, atol=0.03)

    def test_classes_lie_apart_in_three_directions(self):
        X, y = make_landsat_like(4000, random_state=0)
        means = np.array([X[y == label].mean(axis=0) for label in range(1, 15)])
        spread = np.linalg.svd(means, compute_uv=False)
        assert spread[2] > 5 * spread[3]

    def test_linear_discriminants_in_two_and_three_dimensions(self):
        X, y = make_landsat_like(random_state=0)
        X_test, y_test = make_landsat_like(random_state=1)

        def score(*steps):
            return make_pipeline(*steps, LinearDiscriminantAnalysis()).fit(X, y).score(X_test, y_test)

        assert score(LinearDiscriminantAnalysis(n_components=2)) == pytest.approx(0.80, abs=0.02)
        assert score(LinearDiscriminantAnalysis(n_components=3)) == pytest.approx(0.88, abs=0.02)
        assert score() == pytest.approx(score(LinearDiscriminantAnalysis(n_components=3)), abs=0.01)
        assert score(PCA(2)) < 0.6

    def test_brightness_varies_most_within_a_class(self):
        X, y = make_landsat_like(2000, random_state=0)
        within = np.vstack([X[y == label] - X[y == label].mean(axis=0) for label in range(1, 15)])
        variances = np.linalg.eigvalsh(np.cov(within.T))
        assert variances[-1] > 5 * variances[-2]


class TestLabelImage:
    # Bunte 2011, table 3.2
    PIXELS = np.array(
        [581424, 355145, 181036, 272282, 144334, 208152, 170196, 277778, 16667, 97502, 127464, 267495, 675048, 27556]
    )

    @pytest.mark.parametrize(("n_rows", "n_cols"), [(200, 200), (61, 97), (5, 3), (1, 1)])
    def test_class_shares_are_exact_up_to_rounding(self, n_rows, n_cols):
        image, labels = make_label_image(n_rows, n_cols, random_state=0)
        assert image.shape == (n_rows, n_cols, 6)
        counts = np.bincount(labels.ravel(), minlength=15)
        assert counts[0] == 0
        assert np.all(np.abs(counts[1:] - n_rows * n_cols * self.PIXELS / self.PIXELS.sum()) < 1)

    def test_classes_form_patches(self):
        def borders(smoothness):
            _, labels = make_label_image(smoothness=smoothness, random_state=0)
            return np.mean(labels[1:] != labels[:-1])

        assert borders(20) < 0.04 < 3 * borders(20) < borders(5)
        # Without smoothing, two neighbors agree as often as any two pixels.
        shares = self.PIXELS / self.PIXELS.sum()
        assert borders(0) == pytest.approx(1 - np.sum(shares**2), abs=0.01)

    def test_pixels_are_samples_of_their_class(self):
        image, labels = make_label_image(random_state=0)
        pixels, classes = image.reshape(-1, 6), labels.ravel()
        X, y = make_landsat_like(random_state=1)
        discriminant = LinearDiscriminantAnalysis().fit(X, y)
        found = balanced_accuracy_score(classes, discriminant.predict(pixels))
        assert found == pytest.approx(discriminant.score(*make_landsat_like(random_state=2)), abs=0.02)
        for label in (1, 9, 13):
            here, anywhere = pixels[classes == label], X[y == label]
            np.testing.assert_allclose(here.mean(axis=0), anywhere.mean(axis=0), atol=0.3)

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match=r"n_rows=0 must be an integer in .1, inf."):
            make_label_image(0)
        with pytest.raises(ValueError, match=r"smoothness=-1 must be a number in .0, inf."):
            make_label_image(smoothness=-1)
